"""Bundles of one header per API: deterministic, checked, verified, and converted from and to folders."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tools import GLSL, need

import hsgen
from hsgen.apis import APIS
from hsgen.bundle.manifest import digest
from hsgen.cli import main
from hsgen.emit import single_file, spirv, spirv_file

LANES = Path(hsgen.__file__).parent.parent / "tests/device/lanes"
TINY, OTHER = (str(LANES / f"{name}.toml") for name in ("lanes4", "lanes8"))
GENERATE = ("generate", "-t", TINY, "--key", "u32", "--algorithm", "bitonic")
HEADERS = {"hs_sort_opencl.h", "hs_sort_vulkan.h"}
ALONE = f"no GLSL compiler is here; {spirv.install()}; or leave SPIR-V out with --glsl-only"
WORDS = "targets/lanes4/spirv/lanes4_bitonic_u32.c"
EPILOGUE = "{% macro epilogue(i, key) %}report_words(0, key){% endmacro %}"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run hsgen with this machine's GLSL compiler, or without one."""

    def call(*arguments: str | Path, glsl: bool = True) -> tuple[int, str, str]:
        monkeypatch.delenv("HSGEN_GLSL", raising=False)
        if not glsl:
            monkeypatch.setenv("HSGEN_GLSL", "")
        spirv.compiler.cache_clear()
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    yield call
    spirv.compiler.cache_clear()


@pytest.fixture
def made(run: Run, tmp_path: Path) -> Path:
    """A bundle of single files with SPIR-V."""
    spirv.compiler.cache_clear()
    need(GLSL)
    assert run(*GENERATE, "--single-file", "-o", tmp_path / "made")[0] == 0
    return tmp_path / "made"


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a bundle."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_files_are_few_and_reproducible(made: Path, run: Run, tmp_path: Path) -> None:
    files = contents(made)
    examples = {"examples/sort_opencl.c", "examples/sort_vulkan.c"}
    assert set(files) == {"LICENSE", "README.md", "manifest.json", *HEADERS, *examples}
    manifest = json.loads(files["manifest.json"])
    assert manifest["layout"] == "single-file" and manifest["targets"]["lanes4"]["files"] == {}
    assert manifest["files"] == {p: digest(data) for p, data in files.items() if p != "manifest.json"}
    assert run(*GENERATE, "--single-file", "-o", tmp_path / "again")[0] == 0
    assert contents(tmp_path / "again") == files
    code, out, err = run("generate", "-t", TINY, "--key", "u32", "--algorithm", "bitonic", "-o", made)
    assert code == 0 and "is up to date" in out and not err  # it keeps its layout


def test_check_and_verify(made: Path, run: Run) -> None:
    """Any change is found: in a header, of a file that is missing or unknown, of the manifest."""
    assert run("check", "-t", TINY, "-o", made)[:2] == (0, f"{made} is up to date (6 files)\n")
    assert run("verify", made)[:2] == (0, f"{made} is as it was generated (6 files)\n")
    for name in sorted(HEADERS):
        text = (made / name).read_text()
        (made / name).write_text(text.replace("HS_OK = 0", "HS_OK = 7"))
        for command in (("check", "-t", TINY, "-o"), ("verify",)):
            code, _, err = run(*command, made)
            assert code == 1 and f"stale {name}" in err
        (made / name).write_text(text)
    (made / "hs_sort_cuda.h").write_text("")
    assert "unexpected hs_sort_cuda.h" in run("verify", made)[2]
    (made / "hs_sort_cuda.h").unlink()
    (made / "README.md").unlink()
    assert "missing README.md" in run("check", "-t", TINY, "-o", made)[2]
    assert run("generate", "-t", TINY, "-o", made)[0] == 0


def test_words_are_read_back(made: Path, run: Run) -> None:
    """Without a GLSL compiler SPIR-V stays; `check` says that it was not compared, and what is damaged is not kept."""
    before = contents(made)
    code, out, err = run(
        "generate", "-t", TINY, "-o", made, "--prefix", "acme", "--key", "u32", "--algorithm", "bitonic", glsl=False
    )
    assert code == 0 and not err and "hs_sort_vulkan.h" in out
    header = (made / "acme_sort_vulkan.h").read_bytes()
    section = single_file.section(before["hs_sort_vulkan.h"], WORDS)
    assert section is not None and spirv_file.well_formed(section)
    assert single_file.section(header, WORDS) == re.sub(rb"\bhs(?=[_/])", b"acme", section)
    code, _, err = run("check", "-t", TINY, "-o", made, glsl=False)
    assert code == 3 and "acme_sort_vulkan.h: was compiled by" in err
    assert run(*GENERATE, "-o", made, "--prefix", "hs")[0] == 0 and contents(made) == before
    damaged = before["hs_sort_vulkan.h"].replace(b'[] = {\n"', b'[] = {\n"#', 1)  # its first word is another
    assert damaged != before["hs_sort_vulkan.h"]
    (made / "hs_sort_vulkan.h").write_bytes(damaged)
    code, _, err = run(*GENERATE, "-o", made, "--prefix", "acme", glsl=False)
    assert (code, err) == (3, f"hsgen: {made / 'acme_sort_vulkan.h'}: {ALONE}\n")


def test_forged_words_are_found(made: Path, run: Run) -> None:
    """Other code in the place of words is a difference, also if the manifest has its hash."""
    path, manifest = made / "hs_sort_vulkan.h", made / "manifest.json"
    old = path.read_text()
    at = old.index(f"/* end {WORDS} */")
    path.write_text(f"{old[:at]}int mine = 1;\n{old[at:]}")
    manifest.write_text(manifest.read_text().replace(digest(old.encode()), digest(path.read_bytes())))
    for arguments in (("verify", made), ("check", "-t", TINY, "-o", made)):
        for glsl in (True, False):
            code, _, err = run(*arguments, glsl=glsl)
            assert code == 1 and "stale hs_sort_vulkan.h" in err


def test_layouts_are_converted(made: Path, run: Run, tmp_path: Path) -> None:
    """To folders and back, without a GLSL compiler; both are what a new bundle has."""
    single = contents(made)
    assert run(*GENERATE, "-o", tmp_path / "folders")[0] == 0
    folders = contents(tmp_path / "folders")
    assert not HEADERS & set(folders) and WORDS in folders
    assert (
        run("generate", "-t", TINY, "--folders", "-o", made, "--key", "u32", "--algorithm", "bitonic", glsl=False)[0]
        == 0
    )
    assert contents(made) == folders
    assert run("check", "-t", TINY, "-o", made)[0] == 0
    command = ("generate", "-t", TINY, "--single-file", "-o", made, "--key", "u32", "--algorithm", "bitonic")
    assert run(*command, glsl=False)[0] == 0 and contents(made) == single


def test_targets_come_and_go(made: Path, run: Run) -> None:
    """Every header is of all targets, so a target that does not come with hsgen must be given again."""
    before = contents(made)
    code, _, err = run("generate", "-t", OTHER, "--key", "u32", "--algorithm", "bitonic", "-o", made)
    assert code == 2 and "target lanes4 does not come with hsgen; give its file with -t lanes4.toml" in err
    assert contents(made) == before
    both = ("generate", "-t", TINY, "-t", OTHER, "--key", "u32", "--algorithm", "bitonic", "-o", made)
    assert run(*both)[0] == 0
    assert b"begin targets/lanes8/lanes8.c */" in (made / "hs_sort_opencl.h").read_bytes()
    assert run(*GENERATE, "--remove", "lanes8", "-o", made)[0] == 0 and contents(made) == before


def test_without_a_compiler_no_header_is_begun(run: Run, tmp_path: Path) -> None:
    """One line for all sorts of the header."""
    more = ("--value", "none", "--value", "v4")
    for options in ((), more):
        code, out, err = run(*GENERATE, *options, "--single-file", "-o", tmp_path / "made", glsl=False)
        assert (code, out, err) == (3, "", f"hsgen: {tmp_path / 'made/hs_sort_vulkan.h'}: {ALONE}\n")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("glsl", [True, False])
def test_headers_of_glsl_only(run: Run, tmp_path: Path, glsl: bool) -> None:
    """Whether a compiler is here or not, they are the same; folders and headers turn into each other."""
    made, folders = tmp_path / "made", tmp_path / "folders"
    assert run(*GENERATE, "--glsl-only", "--single-file", "-o", made, glsl=glsl)[::2] == (0, "")
    assert run(*GENERATE, "--glsl-only", "-o", folders, glsl=glsl)[::2] == (0, "")
    single, other = contents(made), contents(folders)
    entry = json.loads(single["manifest.json"])["targets"]["lanes4"]
    assert entry["glsl_only"] is True and entry["spirv"] == {}
    assert b"/spirv/" not in single["hs_sort_vulkan.h"] and single["hs_sort_vulkan.h"].count(spirv.ABSENT.encode()) == 1
    for place in (made, folders):
        assert run("check", "-t", TINY, "-o", place, glsl=glsl)[::2] == (0, "")
        assert run("verify", place, glsl=glsl)[::2] == (0, "")
    convert = ("generate", "-t", TINY, "--key", "u32", "--algorithm", "bitonic", "--glsl-only", "-o")
    assert run(*convert, made, "--folders", glsl=glsl)[0] == 0 and contents(made) == other
    assert run(*convert, made, "--single-file", glsl=glsl)[0] == 0 and contents(made) == single


def test_a_compiler_adds_the_words(made: Path, run: Run) -> None:
    """Once the target is named without --glsl-only."""
    before = contents(made)
    assert run(*GENERATE, "--glsl-only", "-o", made)[0] == 0
    bare = contents(made)
    assert bare["hs_sort_vulkan.h"] != before["hs_sort_vulkan.h"]
    assert run(*GENERATE, "-o", made, glsl=False)[0] == 3 and contents(made) == bare
    assert run(*GENERATE, "-o", made)[0] == 0 and contents(made) == before


def test_words_that_no_manifest_records(made: Path, run: Run) -> None:
    """The header is there, so it is not missing."""
    manifest = made / "manifest.json"
    raw = json.loads(manifest.read_text())
    raw["targets"]["lanes4"]["spirv"] = {}
    manifest.write_text(json.dumps(raw))
    code, out, err = run("check", "-t", TINY, "-o", made, glsl=False)
    assert code == 1 and not out and "stale hs_sort_vulkan.h" in err and "missing" not in err


def test_a_greatest_count_is_kept(run: Run, tmp_path: Path) -> None:
    """The manifest records it, `check` generates with it, and so does an update."""
    made, whole = tmp_path / "made", tmp_path / "whole"
    command = ("generate", "-t", TINY, "--key", "u32", "--api", "opencl", "--single-file", "-o")
    assert run(*command, made, "--max-n", "1000")[0] == 0 and run(*command, whole)[0] == 0
    single = contents(made)
    assert json.loads(single["manifest.json"])["targets"]["lanes4"]["max_n"] == 1000
    assert len(single["hs_sort_opencl.h"]) < len(contents(whole)["hs_sort_opencl.h"])
    assert run("check", "-t", TINY, "-o", made)[0] == 0 and run("verify", made)[0] == 0
    assert run(*command, made)[0] == 0 and contents(made) == single


@pytest.mark.parametrize(
    ("path", "at"),
    [
        ("src/hs.c", ("files",)),
        ("hs_sort_cuda.h", ("files",)),
        ("CMakeLists.txt", ("files",)),
        ("targets/lanes4/lanes4.c", ("targets", "lanes4", "files")),
        ("hs_sort_opencl.h", ("targets", "lanes4", "files")),
    ],
)
def test_a_manifest_lists_no_files_of_the_other_layout(made: Path, run: Run, path: str, at: tuple[str, ...]) -> None:
    manifest = made / "manifest.json"
    raw = json.loads(manifest.read_text())
    table = raw
    for word in at:
        table = table[word]
    table[path] = "0" * 64
    manifest.write_text(json.dumps(raw))
    code, _, err = run("verify", made)
    assert code == 2 and f"lists '{path}', which no such bundle holds" in err and err.count("\n") == 1


@pytest.mark.parametrize("layout", ["", "single", 1, None, ["folders"], True])
def test_layouts_that_are_not_known(made: Path, run: Run, layout: object) -> None:
    manifest = made / "manifest.json"
    raw = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**raw, "layout": layout}))
    code, _, err = run("verify", made)
    assert code == 2 and "is not a manifest of hsgen" in err


def test_a_report_reads_it(made: Path, run: Run, tmp_path: Path) -> None:
    code, _, err = run("report", "--bundle", made, "-t", TINY, "-o", tmp_path / "page.html")
    assert (code, err) == (0, "") and "6 and the manifest" in (tmp_path / "page.html").read_text()


def test_an_untrusted_epilogue_leaves_headers_unchecked(run: Run, tmp_path: Path) -> None:
    """Only the manifest has it: everything else is compared, as with folders."""
    (tmp_path / "e.j2").write_text(EPILOGUE)
    place = tmp_path / "made"
    command = ("generate", "-t", TINY, "--api", "opencl", "--key", "u32", "--epilogue", tmp_path / "e.j2")
    code, _, err = run(*command, "--single-file", "-o", place)
    assert code == 0, err
    code, _, err = run("check", "-t", TINY, "-o", place)
    assert code == 2 and "epilogue" in err
    rows = json.loads(run("check", "-t", TINY, "-o", place, "--json")[1])
    assert rows == [{"path": "hs_sort_opencl.h", "state": "unchecked"}]
    (place / "hs_sort_opencl.h").write_text("")
    code, _, err = run("check", "-t", TINY, "-o", place)
    assert code == 1 and "stale hs_sort_opencl.h" in err


def test_a_section_is_there_once() -> None:
    data = b'\n/* begin a */\n/* #include "x.h" */\nint x;\n/* end a */\n'
    assert single_file.section(data, "a") == b'#include "x.h"\nint x;\n'
    assert single_file.section(data, "b") is single_file.section(data + data, "a") is None
    assert single_file.section(b"\n/* end a */\n\n/* begin a */\n", "a") is None
    assert [single_file.name(a, "hs") for a in APIS.values() if a.spirv] == ["hs_sort_vulkan.h"]
