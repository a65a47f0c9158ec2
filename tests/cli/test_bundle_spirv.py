"""SPIR-V in bundles: its source, bundles without a GLSL compiler, and the prefix of C names."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tools import GLSL, need, tool

import hsgen
from hsgen.bundle.manifest import digest
from hsgen.cli import main
from hsgen.emit import kernels as render
from hsgen.emit import spirv, spirv_text
from hsgen.system import resources
from hsgen.targets import target

ROOT = Path(hsgen.__file__).parent.parent
LANES = ROOT / "tests/device/lanes"
TINY = str(LANES / "lanes4.toml")
WORDS = "targets/lanes4/spirv/lanes4_bitonic_u32.c"
ALONE = f"no GLSL compiler is here; {spirv.install()}; or leave SPIR-V out with --glsl-only"
GENERATE = ("generate", "-t", TINY, "--api", "vulkan", "--key", "u32", "--algorithm", "auto")
CHECK = ("check", "-t", TINY)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run hsgen with this machine's GLSL compiler, or with the one that `glsl` names ("": no compiler)."""

    def call(*arguments: str | Path, glsl: str | None = None) -> tuple[int, str, str]:
        if glsl is None:
            monkeypatch.delenv("HSGEN_GLSL", raising=False)
        else:
            monkeypatch.setenv("HSGEN_GLSL", glsl)
        spirv.compiler.cache_clear()
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    yield call
    spirv.compiler.cache_clear()


@pytest.fixture
def compiler() -> spirv.Compiler:
    """The GLSL compiler of this machine."""
    spirv.compiler.cache_clear()
    found = spirv.compiler()
    need(GLSL)
    assert found
    return found


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of one sort with its SPIR-V; tests must not change it."""
    need(GLSL)
    folder = tmp_path_factory.mktemp("made") / "bundle"
    assert main([*GENERATE, "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def made(original: Path, compiler: spirv.Compiler, tmp_path: Path) -> Path:
    """A copy of that bundle."""
    return Path(shutil.copytree(original, tmp_path / "bundle"))


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Change a comment in the GLSL of all merge sorts, which changes the compiler's input."""

    def change() -> None:
        shutil.copytree(resources.templates(), tmp_path / "templates")
        path = tmp_path / "templates/bitonic/clean.j2"
        text = path.read_text(encoding="utf-8")
        assert "int start =" in text
        path.write_text(text.replace("int start =", "/* else */ int start ="), encoding="utf-8")
        monkeypatch.setattr(resources, "templates", lambda: tmp_path / "templates")
        render.environment.cache_clear()

    yield change
    render.environment.cache_clear()


def snapshot(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def record(folder: Path) -> dict[str, dict[str, str]]:
    """The manifest's record of the tiny target's SPIR-V."""
    found: dict[str, dict[str, str]] = json.loads((folder / "manifest.json").read_text())["targets"]["lanes4"]["spirv"]
    return found


def pointers(folder: Path) -> list[str]:
    """References to SPIR-V in the tiny target's C file: by descriptor and by address."""
    text = (folder / "targets/lanes4/lanes4.c").read_text()
    return re.findall(r"^ *(\w+),? /\* (?:SPIR-V: buffers by descriptor,|and by address) \*/$", text, re.MULTILINE)


def embedded(path: Path) -> list[bytes]:
    """The modules in a C file of SPIR-V, in file order."""
    text = path.read_text()
    found = re.findall(r"static const char \*const \w+\[\] = \{\n(.*?)\n0\};", text, re.DOTALL)
    modules = [spirv_text.decoded("".join(re.findall(r'"([^"]+)"', x))) for x in found]
    return [x for x in modules if x is not None]


def fake(folder: Path, body: str, version: str = "Glslang Version: 99:1.2.3") -> str:
    """Write a program called glslang; return its path."""
    path = folder / "glslang"
    path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; exit 0; fi\n{body}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_words_are_those_of_the_compiler_that_the_manifest_names(
    compiler: spirv.Compiler, made: Path, run: Run
) -> None:
    sort = target.find(TINY).sort("bitonic", "u32")
    source = render.render(sort, "vulkan")
    assert record(made)["bitonic_u32"]["compiler"] == compiler.identity
    assert f" by {compiler.identity}." in (made / WORDS).read_text()
    assert embedded(made / WORDS) == list(spirv.compile_all(sort, source, compiler).values())
    assert pointers(made) == ["hs_lanes4_bitonic_u32_spirv", "hs_lanes4_bitonic_u32_spirv_address"]
    code, out, err = run(*CHECK, "-o", made)
    assert code == 0 and "is up to date" in out and not err


def test_check_without_the_compiler_cannot_answer(
    compiler: spirv.Compiler, made: Path, run: Run, tmp_path: Path
) -> None:
    """A missing compiler and a different one are treated alike; other stale files are still reported."""
    for glsl in ("", fake(tmp_path, "exit 1")):
        for more, expected in (((), 3), (("--require",), 1)):
            code, out, err = run(*CHECK, "-o", made, *more, glsl=glsl)
            assert code == expected and not out
            assert f"{WORDS}: was compiled by {compiler.identity}, which is not here" in err
            assert "all but this SPIR-V is up to date" in err and "stale" not in err
    (made / "targets/lanes4/kernels/glsl/bitonic_u32.comp").write_text("mine")
    code, _, err = run(*CHECK, "-o", made, glsl="")
    assert code == 1 and "stale targets/lanes4/kernels/glsl/bitonic_u32.comp" in err


def test_without_a_compiler_words_are_kept(made: Path, run: Run, tmp_path: Path) -> None:
    before = snapshot(made)
    for glsl in ("", fake(tmp_path, "exit 1")):
        code, out, err = run(*GENERATE, "-o", made, glsl=glsl)
        assert code == 0 and out.startswith(f"{made} is up to date\n") and not err
        assert snapshot(made) == before


def test_without_a_compiler_no_bundle_is_begun(run: Run, tmp_path: Path) -> None:
    """One line says what to install, also for several sorts, and nothing is written."""
    folder = tmp_path / "bundle"
    for command, more in ((GENERATE, ""), ((*GENERATE, "--value", "v4", "--value", "none"), " (and 1 more)")):
        code, out, err = run(*command, "-o", folder, glsl="")
        assert (code, out, err) == (3, "", f"hsgen: {folder / WORDS}{more}: {ALONE}\n") and not folder.exists()
    assert run(*GENERATE, "-o", folder, "--dry-run", glsl="")[0] == 3 and not folder.exists()


@pytest.mark.parametrize("glsl", ["", None])
def test_a_bundle_of_glsl_only_refuses_to_compile_for_vulkan_alone(run: Run, tmp_path: Path, glsl: str | None) -> None:
    """Whether a compiler is here or not: the bundle is the same."""
    need("cc")
    folder = tmp_path / "bundle"
    command = ("generate", "-t", TINY, "--key", "u32", "--algorithm", "auto", "--glsl-only", "-o", folder)
    code, out, err = run(*command, glsl=glsl)
    assert code == 0 and out.startswith("wrote ") and not err
    assert (folder / "targets/lanes4/kernels/glsl/bitonic_u32.comp").is_file()
    assert record(folder) == {} and pointers(folder) == ["0", "0"]
    assert json.loads((folder / "manifest.json").read_text())["targets"]["lanes4"]["glsl_only"] is True
    before = snapshot(folder)
    for again in (CHECK, command[:-2], ("verify", folder)):
        where = () if again[0] == "verify" else ("-o", folder)
        code, _, err = run(*again, *where, glsl=glsl)
        assert code == 0 and not err and snapshot(folder) == before
    for api, refused in (("vulkan", True), ("opencl", False)):
        names = (folder / f"sources/{api}.txt").read_text().split()
        assert (WORDS in names) == refused
        parts = [n for n in names if n.startswith(("targets/", "src/hs.c"))]
        done = [
            subprocess.run(
                ["cc", "-std=c99", "-fsyntax-only", f"-I{folder / 'include'}", folder / n],
                capture_output=True,
                text=True,
                check=False,
            )
            for n in parts
        ]
        assert [n for n, d in zip(parts, done, strict=True) if d.returncode] == [WORDS] * refused
        assert all(spirv.install() in d.stderr for d in done if d.returncode)
    lists = [(folder / name).read_text() for name in ("CMakeLists.txt", "meson.build")]
    for text, head in zip(lists, ("add_library(hs_core", "hs_core = static_library"), strict=True):
        assert text.count(WORDS) == 1 and WORDS not in text.split(head)[1].split(")")[0]


def test_a_compiler_adds_missing_spirv(compiler: spirv.Compiler, made: Path, run: Run, tmp_path: Path) -> None:
    """A bundle of GLSL only becomes identical to one made with a compiler once its target is named without it."""
    folder = tmp_path / "later"
    assert run(*GENERATE, "--glsl-only", "-o", folder, glsl="")[0] == 0
    before = snapshot(folder)
    assert run("generate", "-t", TINY, "-o", folder, glsl="")[0] == 3 and snapshot(folder) == before
    assert run(*GENERATE, "-o", folder)[0] == 0
    assert snapshot(folder) == snapshot(made)
    assert run(*GENERATE, "--glsl-only", "-o", folder)[0] == 0
    assert snapshot(folder) == before


def test_glsl_only_goes_with_a_target_that_has_glsl(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    for command, said in (
        (("-t", TINY, "--api", "opencl"), "--glsl-only: no GLSL is generated for lanes4; omit it"),
        ((), "choose within a target; name it with -t"),
    ):
        code, out, err = run("generate", *command, "--glsl-only", "-o", folder)
        assert code == 2 and not out and said in err and err.count("\n") == 1 and not folder.exists()


def test_spirv_that_no_manifest_records_is_missing(made: Path, run: Run) -> None:
    """Such a bundle is one of a version that left SPIR-V out silently."""
    (made / WORDS).unlink()
    manifest = json.loads((made / "manifest.json").read_text())
    entry = manifest["targets"]["lanes4"]
    entry["spirv"] = {}
    del entry["files"][WORDS]
    (made / "manifest.json").write_text(json.dumps(manifest))
    code, out, err = run(*CHECK, "-o", made, glsl="")
    assert code == 1 and not out and f"missing {WORDS}" in err


def test_without_a_compiler_words_of_another_text_cannot_be_made(
    made: Path, run: Run, changed: Callable[[], None]
) -> None:
    """A bundle with SPIR-V keeps it."""
    before = snapshot(made)
    changed()
    code, _, err = run(*CHECK, "-o", made, glsl="")
    assert code == 1 and f"stale {WORDS}" in err
    code, out, err = run(*GENERATE, "-o", made, glsl="")
    assert code == 3 and not out
    assert err == f"hsgen: {made / WORDS}: {ALONE}\n"
    assert snapshot(made) == before


def test_without_a_compiler_tampered_words_stay(made: Path, run: Run) -> None:
    """`generate` does not modify a file that `verify` finds damaged."""
    (made / WORDS).write_text((made / WORDS).read_text() + "\n")
    before = snapshot(made)
    assert run("verify", made)[0] == 1
    assert run(*GENERATE, "-o", made, glsl="")[0] == 3
    assert snapshot(made) == before


def test_with_a_compiler_words_follow_the_text(made: Path, run: Run, changed: Callable[[], None]) -> None:
    before = record(made)["bitonic_u32"]
    changed()
    code, _, err = run(*CHECK, "-o", made)
    assert code == 1 and "stale targets/lanes4/kernels/glsl/bitonic_u32.comp" in err
    assert run(*GENERATE, "-o", made)[0] == 0
    after = record(made)["bitonic_u32"]
    assert after["glsl"] != before["glsl"] and after["compiler"] == before["compiler"]
    assert run(*CHECK, "-o", made)[0] == 0


def test_changed_words_are_found_and_replaced(made: Path, run: Run) -> None:
    before = snapshot(made)
    text = (made / WORDS).read_text()
    (made / WORDS).write_text(re.sub(r'\n"..', '\n"$$', text, count=1))
    assert (made / WORDS).read_text() != text
    code, _, err = run("verify", made)
    assert code == 1 and f"stale {WORDS}" in err
    for glsl in (None, ""):
        code, _, err = run(*CHECK, "-o", made, glsl=glsl)
        assert code == 1 and f"stale {WORDS}" in err
    code, out, err = run(*GENERATE, "-o", made)
    assert code == 0 and out.startswith(f"wrote {made / WORDS}\nSHA-256") and not err
    assert snapshot(made) == before


def test_words_that_are_not_the_compilers_are_stale(made: Path, run: Run) -> None:
    """With a compiler at hand, neither the file nor the manifest is trusted alone."""
    text = (made / WORDS).read_text()
    first = re.search(r'= \{\n((?:"[^"]+",?\n)+)0\};', text)
    assert first
    module = spirv_text.decoded("".join(re.findall(r'"([^"]+)"', first[1])))
    assert module
    other = spirv_text.encoded(module[:8] + bytes([module[8] ^ 1]) + module[9:])  # another generator
    ends = [i % spirv_text.LITERAL == spirv_text.LITERAL - 1 or i + 1 == len(other) for i in range(len(other))]
    lines = "".join(f'"{line}"{"," if end else ""}\n' for line, end in zip(other, ends, strict=True))
    (made / WORDS).write_text(text[: first.start(1)] + lines + text[first.end(1) :])
    manifest = (made / "manifest.json").read_text()
    wrong = digest((made / WORDS).read_bytes())
    (made / "manifest.json").write_text(manifest.replace(digest(text.encode()), wrong))
    assert run("verify", made)[0] == 0
    code, _, err = run(*CHECK, "-o", made)
    assert code == 1 and f"stale {WORDS}" in err and "stale manifest.json" in err
    assert run(*CHECK, "-o", made, glsl="")[0] == 3


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("kill -SEGV $$", "crashes with signal 11"),
        ('echo "ERROR: $8:7: no such thing" >&2; exit 2', "rejects it: ERROR: "),
        ("exit 2", "rejects it: no reason given"),
        ("echo fine", "produces no SPIR-V"),  # writes no file
        ('for o; do last=$o; done; echo nonsense > "$last"', "produces no SPIR-V"),
    ],
)
def test_a_compiler_that_fails_ends_in_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "bundle"
    code, out, err = run(*GENERATE, "-o", folder, glsl=fake(tmp_path, body))
    assert code == 1 and not out and err.count("\n") == 1
    where = "hsgen: targets/lanes4/kernels/glsl/bitonic_u32.comp: kernel block_sort_4: glslang "
    assert err.startswith(where + said) and not folder.exists()
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]


def test_a_cache_that_cannot_be_written_is_done_without(
    made: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file/in"))
    code, _, err = run(*GENERATE, "-o", tmp_path / "other")
    assert code == 0 and err.count("\n") == 1 and "results are kept for this run only" in err
    assert snapshot(tmp_path / "other") == snapshot(made)


EVERY = sorted(n for n in target.names() if "vulkan" in target.find(n).apis)


def valid(found: target.Target, compiler: spirv.Compiler, folder: Path) -> None:
    """Validate every module of a target with spirv-val."""
    validator = tool("spirv-val")
    for algorithm, key in found.choices:
        sort = found.sort(algorithm, key)
        made = spirv.compile_all(sort, render.render(sort, "vulkan"), compiler)
        assert {m.address for m in made} == {False, True}
        for module, data in made.items():
            file = folder / "module.spv"
            file.write_bytes(data)
            command = [validator, "--target-env", f"vulkan{sort.vulkan}", file]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (module, done.stdout + done.stderr)
            version = {"1.1": 3, "1.2": 5, "1.3": 6}[sort.vulkan]
            assert data[4:8] == bytes([0, version, 1, 0]), module


@pytest.mark.nightly  # the fast run validates those of a small target
@pytest.mark.parametrize("name", EVERY)
def test_modules_are_valid(compiler: spirv.Compiler, tmp_path: Path, name: str) -> None:
    valid(target.find(name), compiler, tmp_path)


@pytest.mark.parametrize("version", ["1.1", "1.2", "1.3"])
def test_modules_are_of_the_version_that_the_target_names(
    compiler: spirv.Compiler, tmp_path: Path, version: str
) -> None:
    text = Path(TINY).read_text().replace("[device]", f'[device]\nvulkan = "{version}"')
    valid(target.parse(text, "lanes4", "lanes4.toml"), compiler, tmp_path)


def test_words_of_an_older_bundle_are_kept(made: Path, run: Run) -> None:
    """Its file of SPIR-V has no name of the target, and is replaced by one that has."""
    old = f"{WORDS.rpartition('/')[0]}/bitonic_u32.c"
    words = embedded(made / WORDS)
    (made / WORDS).rename(made / old)
    manifest = made / "manifest.json"
    manifest.write_text(manifest.read_text().replace(WORDS, old))
    assert run("verify", made)[0] == 0
    code, out, err = run(*GENERATE, "-o", made, glsl="")
    assert code == 0 and not err and f"wrote {made / WORDS}\n" in out and f"removed {made / old}\n" in out
    assert embedded(made / WORDS) == words and not (made / old).exists()


# The prefix


def c_files(folder: Path) -> list[Path]:
    """The C files of a bundle that a project compiles."""
    return [p for pattern in ("src/*.c", "targets/*/*.c", "targets/*/spirv/*.c") for p in sorted(folder.glob(pattern))]


def compiles(folder: Path) -> None:
    """Check the syntax of the bundle's C files as C and as C++."""
    for command in (["gcc", "-std=c99"], ["g++", "-std=c++11", "-xc++"]):
        need(command[0])
        warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", f"-I{folder / 'include'}"]
        command += [*warnings, "-fsyntax-only", *map(str, c_files(folder))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_bundle_keeps_its_prefix(made: Path, run: Run, tmp_path: Path) -> None:
    """SPIR-V files too; a target added later changes no file of an existing one."""
    folder = tmp_path / "named"
    assert run(*GENERATE, "-o", folder, "--prefix", "acme")[0] == 0
    before = snapshot(folder)
    assert run("generate", "-t", LANES / "pairs4.toml", "-o", folder)[0] == 0
    after = snapshot(folder)
    assert json.loads(after["manifest.json"])["prefix"] == "acme"
    assert {p: d for p, d in after.items() if p.startswith("targets/lanes4/")} == {
        p: d for p, d in before.items() if p.startswith("targets/lanes4/")
    }
    assert "include/acme/acme_vulkan.h" in after and not any(p.startswith("include/hs/") for p in after)
    for path in c_files(folder):
        assert not re.search(r"\b(hs_|HS_)", path.read_text()), path
    compiles(folder)
    assert embedded(folder / WORDS) == embedded(made / WORDS)


def test_another_prefix_changes_all_targets(made: Path, run: Run) -> None:
    """The SPIR-V itself stays the same, so no compiler is needed."""
    both = ("-t", TINY, "-t", LANES / "pairs4.toml", "-o", made)
    assert run("generate", *both, "--api", "vulkan")[0] == 0
    before = snapshot(made)
    code, _, err = run("generate", *both, "--api", "vulkan", "--prefix", "acme")
    assert code == 0 and not err
    for path in c_files(made):
        assert not re.search(r"\b(hs_|HS_)", path.read_text()), path
    assert not (made / "include/hs").exists() and not (made / "src/hs.c").exists()
    assert run("check", *both)[0] == 0
    compiles(made)
    code, _, err = run("generate", *both, "--api", "vulkan", "--prefix", "hs", glsl="")
    assert code == 0 and not err
    assert snapshot(made) == before


def test_another_prefix_reaches_targets_that_are_not_named(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    assert run("generate", "-t", "cpu", "-t", "intel-gen8", "--api", "opencl", "--key", "u32", "-o", folder)[0] == 0
    assert run("generate", "-t", "cpu", "-o", folder, "--prefix", "acme")[0] == 0
    for path in c_files(folder):
        outside = re.sub(r'^ +"(?:\\.|[^"\\])*",$', "", path.read_text(), flags=re.MULTILINE)  # except OpenCL text
        assert not re.search(r"\b(hs_|HS_)", outside), path
    assert run("check", "-o", folder)[0] == 0


def test_a_target_from_a_file_must_be_named_for_another_prefix(made: Path, run: Run) -> None:
    """Its C names change with the prefix, and only its file defines them."""
    before = snapshot(made)
    code, out, err = run("generate", "-t", "cpu", "-o", made, "--prefix", "acme")
    assert code == 2 and not out and err.count("\n") == 1
    assert "target lanes4 does not come with hsgen; give its file with -t" in err
    assert snapshot(made) == before


@pytest.mark.parametrize("prefix", ["", "Acme", "9sort", "a-b", "a b", "_a", "a__b", "a_", "ä", "hs\n"])
def test_a_bad_prefix_is_refused(run: Run, tmp_path: Path, prefix: str) -> None:
    code, out, err = run(*GENERATE, "-o", tmp_path / "bundle", "--prefix", prefix)
    assert code == 2 and not out and err.count("\n") == 1
    assert "cannot start C names; use lower-case letters" in err
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_without_targets_still_compiles(made: Path, run: Run) -> None:
    code, _, err = run("generate", "--remove", "lanes4", "-o", made)
    assert code == 0 and not err
    assert not (made / "targets").exists()
    assert [p.name for p in c_files(made)] == ["hs.c", "hs_call.c", "hs_match.c", "hs_plan.c", "hs_targets.c"]
    compiles(made)
    assert run("check", "-o", made)[0] == 0


# Bundles of version 0.1.0


def test_a_bundle_of_the_first_schema_is_read_and_refreshed(run: Run, tmp_path: Path) -> None:
    """Version 0.1.0 wrote kernels and plans, but no C files."""
    folder, kernels = tmp_path / "bundle", "targets/cpu/kernels/opencl/bitonic_u32.cl"
    old = {
        "LICENSE": b"free\n",
        "README.md": b"read\n",
        kernels: b"// sort\n",
        "targets/cpu/plans/radix_u64.json": b"old\n",
    }
    for path, data in old.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    entry = {"keys": ["u32"], "apis": ["opencl"], "algorithms": ["bitonic"]}
    manifest = {
        "schema": 1,
        "hsgen": "0.1.0",
        "files": {p: digest(d) for p, d in old.items() if "/" not in p},
        "targets": {"cpu": {**entry, "files": {p: digest(d) for p, d in old.items() if "/" in p}}},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    assert run("verify", folder)[0] == 0
    code, _, err = run("check", "-o", folder)
    assert code == 1 and f"stale {kernels}" in err and "missing include/hs/hs.h" in err
    assert (
        run("generate", "-t", "intel-gen8", "--api", "opencl", "--key", "u64", "--algorithm", "auto", "-o", folder)[0]
        == 0
    )
    assert run("check", "-o", folder)[0] == 0
    new = json.loads((folder / "manifest.json").read_text())
    assert new["schema"] == 3 and new["prefix"] == "hs"
    assert new["targets"]["cpu"]["keys"] == ["u32"] and new["targets"]["cpu"]["sorts"] == ["bitonic_u32"]
    assert not (folder / "targets/cpu/plans/radix_u64.json").exists()
    assert (folder / "include/hs/hs_targets.h").read_text().count("extern const hs_sort ") == 2
