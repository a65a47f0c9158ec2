"""The pages about vendoring, the C API and CI are correct, and the names in them exist."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from building import (
    CONSUMERS,
    PREFIX,
    SMALL,
    WARNINGS,
    bundle,
    embedded_only,
    folder,
    need,
    objects,
    opencl,
    program,
    run,
    single,
    vulkan,
)
from doc_blocks import blocks, shell

from hsgen.apis import APIS
from hsgen.cli import group
from hsgen.emit import c_calls
from hsgen.engines.hosts import Host

ROOT = Path(__file__).resolve().parents[2]
VENDORING, C_API = (ROOT / "docs" / name for name in ("guides/vendoring.md", "reference/c-api.md"))
CI = ROOT / "docs/guides/ci.md"
HEADERS = sorted(p for p in (ROOT / "templates").glob("**/hs*.h") if not p.stem.endswith("_internal"))


@pytest.mark.device
def test_vendoring_as_the_document_says(embedded: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write every block that names its file, and run every block of sh."""
    need("cc", "c++", "cmake", "meson", "ninja", "pkg-config")
    opencl()
    for name, value in embedded_only().items():
        monkeypatch.setenv(name, value)
    sorted_by = []
    for language, text in blocks(VENDORING):
        if language == "sh":
            done = shell(text, tmp_path)
            assert done.returncode == 0, f"{text}\n{done.stdout}"
            if "success, sorted\n" in done.stdout:
                sorted_by.append(next(w for w in ("cmake", "ninja", "cc") if re.search(rf"^{w} ", text, re.MULTILINE)))
        else:
            named = re.match(r"(?:/\*|//|#) ([\w.]+)", text)
            assert named, f"a block of {language} that does not begin with the name of its file"
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
    assert sorted_by == ["cc", "cmake", "cmake", "cmake", "cc", "ninja", "cc"]
    include = f"-I{tmp_path / 'third_party/sorts/include'}"
    run("cc", "-std=c99", *WARNINGS, include, "-fsyntax-only", tmp_path / "main.c")
    run("c++", *WARNINGS, include, "-fsyntax-only", tmp_path / "sort.cpp")
    assert (tmp_path / "third_party/acme_sorts/include/acme/acme_opencl.h").is_file()
    assert not (tmp_path / "third_party/sorts/targets/cpu").exists()


def c_blocks(section: str) -> str:
    """The blocks of C below one heading of docs/reference/c-api.md."""
    below = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", C_API.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert below, section
    return "".join(re.findall(r"^```c\n(.*?)^```$", below[1], re.MULTILINE | re.DOTALL))


def c_program(section: str, begin: str, end: str) -> Path:
    """These blocks as a program."""
    path = folder("c_api") / "main.c"
    head = f'#define {section.upper()}\n#include "c_api.h"\n'
    path.write_text(f"{head}int main(void)\n{{\n{begin}{c_blocks(section)}{end}}}\n", encoding="utf-8")
    return path


@pytest.mark.device
def test_the_opencl_blocks_sort(embedded: Host) -> None:
    need("gcc")
    opencl()
    place = bundle("generic")
    path = c_program("OpenCL", "if (!begin()) return 1;\n", "return end(&sorted);\n")
    options = [f"-I{place / 'include'}", f"-I{CONSUMERS}", path, *objects(place, "gcc").values()]
    assert run(program("c_api", "gcc", *WARNINGS, *options, "-lOpenCL"), env=embedded_only()) == "sorted\n"


@pytest.mark.parametrize("section", ["Vulkan", "CUDA", "Metal"])
def test_other_blocks_compile(section: str) -> None:
    need("cc")
    if section == "Vulkan":
        vulkan()
    place = bundle("apple-m1" if section == "Metal" else "generic", apis=(section.lower(),))
    path = c_program(section, "", "return 0;\n")
    options = [f"-I{place / 'include'}", f"-I{CONSUMERS}", f"-I{CONSUMERS / 'stubs'}"]
    run("cc", *WARNINGS, *options, "-fsyntax-only", path)


def declared() -> set[str]:
    """The public functions of the headers."""
    texts = [p.read_text(encoding="utf-8") for p in HEADERS if p.parent.name == "bundle"]
    texts += [c_calls.completed(api, name) for api in APIS.values() if api.extends is None for name in api.headers]
    text = "".join(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL) for text in texts)
    return set(re.findall(r"^(?:static inline )?[\w ]+[ *](hs_\w+)\((?!.*\}$)", text, re.MULTILINE))


def test_every_function_and_status_is_documented() -> None:
    found = declared()
    assert {"hs_status_text", "hs_groups", "hs_opencl_sort", "hs_vulkan_descriptors", "hs_cuda_sort_of"} <= found
    text = C_API.read_text(encoding="utf-8")
    assert {f for f in found if not re.search(rf"`[^`\n]*\b{f}\b", text)} == set()
    statuses = re.findall(
        r"^    (HS_\w+)(?: = 0)?,? ", (ROOT / "templates/bundle/hs.h").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert (
        len(statuses) >= 13 and [s for s in re.findall(r"^\| `(HS_\w+)` \| ", text, re.MULTILINE)][:13] == statuses[:13]
    )


@pytest.mark.parametrize("path", [VENDORING, C_API], ids=lambda p: p.name)
def test_names_in_the_documents_exist(path: Path) -> None:
    place, headers = bundle("generic", "apple-m1", "webgpu", apis=()), single("generic", "apple-m1", "webgpu", apis=())
    files = [*place.rglob("*"), *headers.glob("*")]
    known = "".join(p.read_text(encoding="utf-8") for p in files if p.suffix in (".h", ".md", ".txt", ".build"))
    words = set(re.findall(r"\b(?:hs|HS)_\w+|(?<=/)hs_\w+\.h", path.read_text(encoding="utf-8")))
    assert len(words) > 5
    assert {w for w in words - {"hs_", "hs_hip_"} if not re.search(rf"\b{w}\b", known)} == set()
    for file in re.findall(r"`(\w+\.h)`", path.read_text(encoding="utf-8")):
        assert (place / "include/hs" / file).is_file() or (headers / file).is_file(), file


@pytest.mark.parametrize(
    ("prefix", "apis"),
    [(p, (a,)) for p, a in (("hs", "opencl"), ("hs", "vulkan"), ("hs", "cuda"), ("hs", "metal"), (PREFIX, "opencl"))]
    + [("hs", ()), (PREFIX, ("metal",))],
)
def test_readme_of_a_bundle_names_what_it_has(prefix: str, apis: tuple[str, ...]) -> None:
    place = bundle("apple-m1" if apis == ("metal",) else "generic", apis=apis, prefix=prefix)
    text = (place / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:include|src|examples|targets)/[\w./]*)`", text):
        assert "NAME" in name or (place / name).exists(), name
    for name in re.findall(r"`(\w+/\w+\.h)`", text):
        assert (place / "include" / name).is_file(), name
    known = "".join(p.read_text(encoding="utf-8") for p in place.rglob("*") if p.suffix in (".h", ".txt", ".build"))
    found = set(re.findall(rf"\b{prefix}_\w+", text))
    assert len(found) > 4 and {name for name in found if not re.search(rf"\b{name}\b", known)} == set()


def test_readme_line_builds(tmp_path: Path) -> None:
    """The line in a bundle's README, with its example as the program; other files in the folder are not compiled."""
    need("cc")
    opencl()
    place = bundle("generic")
    (line,) = re.findall(r"^- With OpenCL: `(.*)`$", (place / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    place = Path(shutil.copytree(place, tmp_path / "sorts"))
    for wrong in ("src/x.c", "targets/x/x.c", "targets/generic/spirv/x.c"):
        (place / wrong).parent.mkdir(exist_ok=True)
        (place / wrong).write_text("#error this is compiled\n", encoding="utf-8")
    run("sh", "-c", line.replace("program.c", "examples/sort_opencl.c") + f" -o {tmp_path / 'sort'}", cwd=place)


def yaml_lines(text: str) -> list[tuple[int, str]]:
    """A simple check of YAML: lines with their indent, which is even and grows by one level at a time."""
    rows = []
    for line in text.splitlines():
        if line.strip():
            indent = len(line) - len(line.lstrip(" "))
            assert "\t" not in line and indent % 2 == 0, line
            assert indent <= (rows[-1][0] + 4 if rows else 0), line
            assert re.match(r"^(- )?([\w-]+:( .*)?|.*\S)$", line.strip()) and line.count('"') % 2 == 0, line
            assert not re.match(r'^(- )?[\w-]+: [^"\'\[]*: ', line.strip()), f"a second colon needs quotes: {line}"
            rows.append((indent, line.strip()))
    return rows


def test_hooks_are_what_the_document_says() -> None:
    rows = yaml_lines((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    hooks: list[dict[str, str]] = []
    for _, line in rows:
        if line.startswith("- "):
            hooks.append({})
        key, value = line.removeprefix("- ").split(": ", 1)
        hooks[-1][key] = value
    assert [h["id"] for h in hooks] == ["hsgen-check", "hsgen-generate", "hsgen-verify"]
    for hook in hooks:
        program_name, command = hook["entry"].split()
        assert program_name == "hsgen" and command in group.commands and hook["id"] == f"hsgen-{command}"
        assert (hook["language"], hook["pass_filenames"]) == ("python", "false")
        assert f"`{hook['id']}`" in CI.read_text(encoding="utf-8") or f"id: {hook['id']}" in CI.read_text(
            encoding="utf-8"
        )


def test_snippets_of_ci() -> None:
    snippets = blocks(CI)
    assert [language for language, _ in snippets] == ["yaml", "yaml", "yaml", "groovy", "make", "yaml"]
    for language, text in snippets:
        if language == "yaml":
            yaml_lines(text)
    everything = "".join(text for _, text in snippets)
    commands = re.findall(r"hsgen (check|verify)\b([^|\n']*)", everything)
    assert len(commands) == 4
    for name, rest in commands:
        known = {o for p in group.commands[name].params for o in p.opts}
        assert set(re.findall(r"(?<!\S)--?[a-z]+", rest)) <= known, rest
    assert "--require" in {o for p in group.commands["check"].params for o in p.opts}


def test_the_lines_for_ci_take_3_for_a_success(tmp_path: Path) -> None:
    """With a fake hsgen that exits with each of its exit codes."""
    github = re.search(r"- run: (hsgen check .*)", CI.read_text(encoding="utf-8"))
    make = re.search(r"^\t(hsgen check .*)$", CI.read_text(encoding="utf-8"), re.MULTILINE)
    jenkins = re.search(r"sh '(hsgen check .*)'", CI.read_text(encoding="utf-8"))
    assert github and make and jenkins
    for line in (github[1], jenkins[1], make[1].replace("$$", "$")):
        for code, expected in ((0, 0), (1, 1), (2, 1), (3, 0)):
            out = run("sh", "-c", f"hsgen() {{ return {code}; }}\n({line}) && echo fine || echo wrong")
            assert out == ("fine\n" if expected == 0 else "wrong\n"), (line, code)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_programs_of_pages_compile_without_warnings(path: Path, compiler: str) -> None:
    """Those in C99 that include the headers of a bundle, under the warnings that projects enable."""
    need(compiler)
    texts = re.findall(r"^```c\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for text in (text for text in texts if re.search('#include "hs/hs_(opencl|vulkan).h"', text)):
        api = "vulkan" if "hs_vulkan.h" in text else "opencl"
        {"vulkan": vulkan, "opencl": opencl}[api]()
        file = folder("page") / "program.c"
        file.write_text(text, encoding="utf-8")
        include = f"-I{bundle(SMALL, apis=('opencl', 'vulkan')) / 'include'}"
        run(compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", include, "-fsyntax-only", file)
