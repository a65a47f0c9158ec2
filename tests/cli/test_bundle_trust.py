"""Bundles from other people: what their manifests and files must not be able to do, and how it is reported."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nightly import EVERY, nightly, thinned
from tools import GLSL, C, need

import hsgen
from hsgen.bundle.manifest import digest
from hsgen.bundle.store import read_manifest
from hsgen.cli import main
from hsgen.emit import spirv
from hsgen.engines import native
from hsgen.stages import epilogue
from hsgen.targets import target

ROOT = Path(hsgen.__file__).parent.parent
TINY = str(ROOT / "tests/device/lanes/lanes4.toml")
WORDS = "targets/lanes4/spirv/lanes4_bitonic_u32.c"
GENERATE = ("generate", "-t", TINY, "--api", "vulkan", "--key", "u32", "--algorithm", "bitonic")
COUNT = """{% set report_words = 1 %}
{% macro epilogue(key, report) %}
if ((hs_key_bits({{ key }}, 0) & 1u) != 0u) hs_atomic_add({{ report(0) }}, 1u);
{% endmacro %}
"""
OUT = "{{ cycler.__init__.__globals__.os.popen('touch FILE').read() }}"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run hsgen, with `glsl=""` without a GLSL compiler."""

    def call(*arguments: str | Path, glsl: str | None = None) -> tuple[int, str, str]:
        monkeypatch.delenv("HSGEN_GLSL", raising=False)
        if glsl is not None:
            monkeypatch.setenv("HSGEN_GLSL", glsl)
        spirv.compiler.cache_clear()
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        return code, *capsys.readouterr()

    yield call
    spirv.compiler.cache_clear()


def edit(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def forged(folder: Path, path: str, data: bytes) -> None:
    """Replace a file along with its hash."""
    (folder / path).write_bytes(data)

    def change(manifest: dict[str, Any]) -> None:
        for part in (manifest, *manifest["targets"].values()):
            if path in part["files"]:
                part["files"][path] = digest(data)

    edit(folder, change)


# Epilogues


@pytest.fixture(scope="session")
def counting_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of two targets, one of which has an epilogue, and the epilogue's file next to the bundle."""
    place = tmp_path_factory.mktemp("counting")
    (place / "odd.j2").write_text(COUNT, encoding="utf-8")
    merge = ("--api", "opencl", "--key", "u32", "--algorithm", "bitonic", "-o", str(place / "bundle"))
    assert main(["generate", "-t", "cpu", *merge]) == 0
    assert main(["generate", "-t", "generic", "--epilogue", str(place / "odd.j2"), *merge]) == 0
    return place


@pytest.fixture
def counting(counting_made: Path, tmp_path: Path) -> Path:
    """A copy of that bundle."""
    shutil.copytree(counting_made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "bundle"


def test_an_epilogue_that_only_the_manifest_knows_is_not_rendered(
    counting: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything else is checked, but the command does not succeed: not with 3 either, which many scripts accept."""

    def never(text: str) -> None:
        raise AssertionError(f"rendered: {text}")

    monkeypatch.setattr(epilogue, "_read", never)
    for more in ((), ("--require",), ("--json",)):
        code, out, err = run("check", "-o", counting, *more)
        assert code == 2 and "target generic: has an epilogue that only the manifest holds; give its file" in err
        assert len(err.splitlines()) == 1
        if more == ("--json",):
            rows = json.loads(out)
            assert {r["state"] for r in rows} == {"unchecked"}
            assert "targets/generic/generic.c" in [r["path"] for r in rows]
    assert run("verify", counting)[0] == 0
    before = {p: p.read_bytes() for p in counting.rglob("*") if p.is_file()}
    for command in (("generate",), ("generate", "-t", "generic"), ("generate", "--prefix", "acme")):
        code, _, err = run(*command, "-o", counting)
        assert code == 2 and "only the manifest holds" in err and len(err.splitlines()) == 1
    code, _, err = run("report", "--bundle", counting, "-o", counting.parent / "page.html")
    assert code == 2 and "only the manifest holds" in err and len(err.splitlines()) == 1
    assert run("generate", "-t", "intel-gen8", "--api", "opencl", "-o", counting, "--dry-run")[0] == 0
    assert {p: p.read_bytes() for p in counting.rglob("*") if p.is_file()} == before
    (counting / "LICENSE").write_text("else", encoding="utf-8")
    assert run("check", "-o", counting)[0] == 1


def test_commands_succeed_with_a_trusted_epilogue(counting: Path, run: Run) -> None:
    file = counting.parent / "odd.j2"
    assert run("check", "-o", counting, "--trust-epilogue")[0] == 0
    assert run("generate", "-o", counting, "--trust-epilogue")[0] == 0
    assert run("generate", "-t", "generic", "--api", "opencl", "--epilogue", file, "-o", counting)[0] == 0
    page = counting.parent / "page.html"
    report = ("report", "--bundle", counting, "--no-compile", "-o", page)
    assert run(*report, "-t", "generic", "--trust-epilogue")[0] == 0
    assert "epilogue" in page.read_text(encoding="utf-8")
    assert run(*report, "-t", "cpu")[0] == 0  # which has no epilogue


@pytest.mark.parametrize("where", ["macro", "top"])
def test_a_hostile_epilogue_has_no_effect(counting: Path, run: Run, where: str) -> None:
    sentinel = counting.parent / "sentinel"
    way = OUT.replace("FILE", str(sentinel))
    text = COUNT.replace("{% endmacro", f"{way}{{% endmacro") if where == "macro" else way + COUNT
    edit(counting, lambda m: m["targets"]["generic"].update(epilogue=text.splitlines()))
    for command in (("check", "-o"), ("check", "--trust-epilogue", "-o"), ("generate", "-o"), ("verify",)):
        run(*command, counting)
    code, _, err = run("generate", "--trust-epilogue", "-o", counting)
    assert code == 2 and "epilogue: access to attribute '__init__' of" in err and len(err.splitlines()) == 1
    assert run("report", "--trust-epilogue", "--bundle", counting, "-o", counting.parent / "page.html")[0] == 2
    assert not sentinel.exists() and not (counting.parent / "page.html").exists()


def test_spirv_is_taken_from_a_bundle_but_no_epilogue(
    counting: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`validate --bundle` renders only the epilogue of the command line."""
    need(C)
    edit(counting, lambda m: m["targets"]["generic"].update(epilogue=["{{ 1 / 0 }}"]))
    manifest = read_manifest(counting)
    built: list[dict[str, bytes]] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(native, "_build", lambda api, command, units, files, place: built.append(files))
    native.library("opencl", [target.find("generic")], "u32", bundle=(counting, manifest), algorithms=["bitonic"])
    assert built and not any(b"epilogue" in data for path, data in built[0].items() if path.startswith("targets/"))


# SPIR-V


@pytest.fixture(scope="session")
def words_made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a bundle with SPIR-V."""
    need(GLSL)
    folder = tmp_path_factory.mktemp("words") / "bundle"
    assert main([*GENERATE, "-o", str(folder)]) == 0
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def made(words_made: dict[str, bytes], tmp_path: Path) -> Path:
    for path, data in words_made.items():
        (tmp_path / "bundle" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bundle" / path).write_bytes(data)
    return tmp_path / "bundle"


CODE = b'\n__attribute__((constructor)) static void x(void) { system("id"); }\n'
FORGERIES: dict[str, Callable[[bytes], bytes]] = {
    "code at the end": lambda d: d + CODE,
    "code at the beginning": lambda d: CODE + d,
    "code between arrays": lambda d: d.replace(b"\n/* ", CODE + b"\n/* ", 1),
    "an end of the comment": lambda d: d.replace(b" as SPIR-V", b"*/ int x; /* as SPIR-V", 1),
    "a line more of the comment": lambda d: d.replace(b"#include", b"#include <evil.h>\n#include", 1),
    "another include": lambda d: d.replace(b'"hs/hs_targets.h"', b'"../../../evil.h"', 1),
    "a macro": lambda d: d.replace(b"extern const", b"#define hs_spirv evil\nextern const", 1),
    "an expression among literals": lambda d: d.replace(b'",\n"', b'" + (system(0), 0),\n"', 1),
    "a name among literals": lambda d: d.replace(b'",\n"', b'", evil,\n"', 1),
    "a comment among literals": lambda d: d.replace(b'",\n"', b'", /* */\n"', 1),
    "an escape in a literal": lambda d: re.sub(rb'\n"..', b'\n"\\\\n', d, count=1),
    "another character in a literal": lambda d: re.sub(rb'\n"..', b'\n"?c', d, count=1),
    "another array": lambda d: re.sub(
        rb"\nconst", b'\nstatic const char *const x[] = {\n"##",\n0};\n\nconst', d, count=1
    ),
    "spaces": lambda d: re.sub(rb'\n"(.)', rb'\n"\1 ', d, count=1),
    "another size": lambda d: re.sub(rb"\{0, (\d+)", rb"{0, \g<1>0", d, count=1),
    "a size in octal": lambda d: re.sub(rb"\{0, (\d)", rb"{0, 0\1", d, count=1),
    "a word where text is": lambda d: re.sub(rb"\{0, (\d{2})", rb"{x, \1", d, count=1),
    "a number without its last digit": lambda d: re.sub(rb'",\n0\};', b'~",\n0};', d, count=1),
    "a file for another file": lambda d: d.replace(b"bitonic_u32", b"bitonic_u64"),
    "no words": lambda d: b"",
}


DIGITS = bytes(c for c in range(35, 127) if c not in b"?\\")


def numbers(text: bytes) -> list[int]:
    """The numbers in a text of SPIR-V."""
    found, value, scale = [], 0, 1
    for c in text:
        value += DIGITS.index(c) * scale
        scale *= 18
        if DIGITS.index(c) < 72:
            found.append(value)
            value, scale = 0, 1
    return found


def digits(number: int) -> bytes:
    """A number as text."""
    found = []
    while number >= 72:
        found.append(72 + (number - 72) % 18)
        number = (number - 72) // 18
    return bytes(DIGITS[d] for d in [*found, number])


def changed(change: Callable[[list[int]], list[int]]) -> Callable[[bytes], bytes]:
    """Change the numbers of the first module of a file: those of its header, doubled, then for
    each instruction its kind, where that is new its length and opcode, and operands."""

    def made(data: bytes) -> bytes:
        found = re.search(rb'= \{\n((?:"[^"\n]+",?\n)+)0\};', data)
        assert found
        text = b"".join(map(digits, change(numbers(b"".join(re.findall(rb'"([^"]+)"', found[1]))))))
        return data[: found.start(1)] + b'"%b",\n' % text + data[found.end(1) :]

    return made


def with_number(at: int, value: int) -> Callable[[bytes], bytes]:
    return changed(lambda n: [*n[:at], value, *n[at + 1 :]])


def at_entry(offset: int, value: int) -> Callable[[bytes], bytes]:
    """Change a number of the entry point, the first instruction with the opcode 15, for the execution model 5."""

    def entry(n: list[int]) -> int:
        return next(i for i in range(5, len(n)) if n[i + 2 : i + 4] == [15, 2 * 5]) + offset

    return changed(lambda n: [*n[: entry(n)], value, *n[entry(n) + 1 :]])


MODULES: dict[str, Callable[[bytes], bytes]] = {
    "another magic number": with_number(0, 2 * 119734788),
    "another version": with_number(1, 2 * 66305),
    "a reserved word": with_number(4, 2),
    "ids without end": with_number(3, 1),  # the word -1
    "a word of more than 32 bits": with_number(3, 2**32),
    "a kind out of order": with_number(5, 1),
    "an instruction without words": with_number(6, 0),
    "an instruction of 65536 words": with_number(6, 65536),
    "an opcode of 17 bits": with_number(7, 65537),
    "an instruction beyond the end": changed(lambda n: [*n[:-2], 9, *n[-1:]]),
    "an entry point of another kind": at_entry(3, 2 * 4),
    "another entry point": at_entry(5, 2 * 0x6E69616E),
    "an array under another name": lambda d: d.replace(b"block_sort_4[]", b"block_sort_3[]"),
    "an array in place of another": lambda d: re.sub(
        rb"(\{0, \d+, \w+\}),\n    \{0, \d+, \w+\}", rb"\1,\n    \1", d, count=1
    ),
}


@pytest.mark.parametrize("name", thinned([*FORGERIES, *MODULES], 6))
def test_only_spirv_words_are_trusted(made: Path, run: Run, words_made: dict[str, bytes], name: str) -> None:
    """Even with a matching hash, such a file is neither up to date nor copied into the new bundle."""
    good = words_made[WORDS]
    bad = {**FORGERIES, **MODULES}[name](good)
    assert bad != good
    forged(made, WORDS, bad)
    code, _, err = run("verify", made)
    assert (code == 1 and f"stale {WORDS}" in err) if name in FORGERIES and "file" not in name else code in (0, 1)
    for glsl in (None, ""):
        code, _, err = run("check", "-t", TINY, "-o", made, glsl=glsl)
        assert code == 1 and f"stale {WORDS}" in err
    before = {p: p.read_bytes() for p in made.rglob("*") if p.is_file()}
    code, _, err = run(*GENERATE, "-o", made, glsl="")
    assert code in (2, 3) and len(err.splitlines()) == 1
    assert {p: p.read_bytes() for p in made.rglob("*") if p.is_file()} == before
    assert run(*GENERATE, "-o", made)[0] == 0
    assert {p.relative_to(made).as_posix(): p.read_bytes() for p in made.rglob("*") if p.is_file()} == words_made


def test_spirv_words_are_kept_in_a_file_of_another_version(made: Path, run: Run, words_made: dict[str, bytes]) -> None:
    """A file that another version of hsgen wrote around the same words is rewritten without a compiler."""
    forged(made, WORDS, re.sub(rb"by hsgen [^;]*;", b"by hsgen 0.3.9;", words_made[WORDS]))
    assert run("verify", made)[0] == 0
    assert run("check", "-t", TINY, "-o", made, glsl="")[0] == 1
    assert run(*GENERATE, "-o", made, glsl="")[0] == 0
    assert (made / WORDS).read_bytes() == words_made[WORDS]


@pytest.mark.parametrize("compiler", thinned(["x */ int y; /*", "", "x\ny", "x\\", "x" * 101, "??/", "\u202e"], 4))
def test_a_compiler_is_a_name_and_a_version(made: Path, run: Run, compiler: str) -> None:
    edit(made, lambda m: m["targets"]["lanes4"]["spirv"]["bitonic_u32"].update(compiler=compiler))
    for command in (("check", "-t", TINY, "-o"), (*GENERATE, "-o"), ("verify",)):
        code, _, err = run(*command, made)
        assert code == 2 and len(err.splitlines()) == 1 and "is not a manifest" in err


# Files outside the manifest


@pytest.mark.parametrize(
    "path",
    [
        "targets/x/spirv/x.c",
        "targets/lanes4/x.c",
        ".hidden",
        "targets/lanes4/.x.c",
        "src/x.c",
        "a/b/c",
        "sources/x.txt",
    ],
)
def test_unknown_files_are_reported(made: Path, run: Run, path: str) -> None:
    (made / path).parent.mkdir(parents=True, exist_ok=True)
    (made / path).write_text("int x;\n", encoding="utf-8")
    for command in (("check", "-t", TINY, "-o"), ("verify",)):
        code, _, err = run(*command, made, glsl="")
        assert code == 1 and f"unexpected {path}" in err


def test_empty_folders_links_and_special_files_are_reported(made: Path, run: Run, tmp_path: Path) -> None:
    def said(word: str, expected: int) -> None:
        for command in (("check", "-t", TINY, "-o"), ("verify",)):
            code, _, err = run(*command, made, glsl="")
            assert code == expected and word in err

    (made / "targets/empty/spirv").mkdir(parents=True)
    said("unexpected targets/empty/spirv/", 1)
    (made / "targets/empty/spirv").rmdir()
    (made / "targets/empty").rmdir()
    (tmp_path / "else").mkdir()
    (made / "targets/linked").symlink_to(tmp_path / "else")
    said("targets/linked", 2)
    (made / "targets/linked").unlink()
    os.mkfifo(made / "targets/pipe")
    said("targets/pipe", 2)


# One hash of all files


def test_generate_prints_the_hash_that_verify_expects(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    chosen = ("-t", "generic", "--api", "opencl", "--key", "u32", "--algorithm", "bitonic", "-o", folder)
    code, out, _ = run("generate", *chosen, "--dry-run")
    promised = out.splitlines()[-1]
    code, out, _ = run("generate", *chosen)
    hash_ = digest((folder / "manifest.json").read_bytes())
    assert code == 0 and out.splitlines()[-1] == f"SHA-256 of manifest.json: {hash_}" == promised
    code, out, _ = run("generate", *chosen)
    assert out.splitlines() == [f"{folder} is up to date", promised]
    code, out, _ = run("generate", *chosen, "--json")
    assert json.loads(out) == [{"path": "manifest.json", "state": "unchanged", "dry_run": False, "sha256": hash_}]
    (folder / "LICENSE").unlink()
    code, out, _ = run("generate", *chosen, "--json")
    assert [(r["path"], r["state"]) for r in json.loads(out)] == [
        ("LICENSE", "written"),
        ("manifest.json", "unchanged"),
    ]
    assert json.loads(out)[0]["sha256"] == digest((folder / "LICENSE").read_bytes())

    for expected in (hash_, hash_.upper()):
        assert run("verify", folder, "--expect", expected)[0] == 0
    code, _, err = run("verify", folder, "--expect", "0" * 64)
    assert code == 1 and len(err.splitlines()) == 1 and f"has the SHA-256 {hash_}, not {'0' * 64}" in err
    for wrong in ("", "0" * 63, "0" * 65, "g" * 64, hash_ + "\n"):
        code, _, err = run("verify", folder, "--expect", wrong)
        assert code == 2 and len(err.splitlines()) == 1 and "is no SHA-256" in err
    forged(folder, "src/hs.c", b"int x;\n")  # files that the manifest does not mention
    assert run("verify", folder)[0] == 0
    assert run("verify", folder, "--expect", hash_)[0] == 1


# Random changes


def mutate(manifest: dict[str, Any], rng: random.Random) -> str:
    """Change a meaningful part of a manifest; return a description."""
    entry = rng.choice(list(manifest["targets"].values()))
    hostile = rng.choice(
        [
            "*/ int x; /*", "../../x", "/etc/passwd", "a;b", "$(touch x)", "${x}", "@x@", "\\", '"', "x" * 5000, "",
            "\n", "\u202e", "\ud800", "con", "hs_x", "auto_u32", "digest_u32", "bitonic_u64", "-o", "--help", "0",
            "bitonic_u32_v4",
        ]
    )  # fmt: skip
    what = rng.choice(["epilogue", "compiler", "glsl", "sorts", "choice", "name", "prefix", "kind", "word", "files"])
    if what == "epilogue":
        line = rng.choice([OUT, "{{ 9 ** 9 ** 9 }}", "{% for a in range(99999) %}{% for b in range(9) %}x{% endfor %}"])
        line = rng.choice([line, hostile, "{% macro epilogue(i) %}" + line + "{% endmacro %}", COUNT])
        entry["epilogue"] = rng.choice([line.splitlines(), [line], line, [hostile, line]])
    elif what in ("compiler", "glsl"):
        for record in entry.get("spirv", {}).values():
            record[what] = hostile
    elif what == "sorts":
        entry["sorts"] = rng.choice([[hostile], [*entry["sorts"], hostile], entry["sorts"][:-1], entry["sorts"] * 2])
    elif what == "choice":
        word = rng.choice(["keys", "apis", "algorithms", "values", "orders", "features"])
        more = rng.choice([hostile, "u64", "vulkan", "radix", "v4", "descending", "count", "changes", "segmented_sort"])
        entry[word] = rng.choice([[more], [*entry[word], more], [], entry[word] * 2])
    elif what == "name":
        manifest["targets"][hostile] = entry
    elif what == "prefix":
        manifest["prefix"] = rng.choice([hostile, "acme", "hs", "cuda", "x" * 33])
    elif what == "kind":
        place = rng.choice([manifest, entry])
        place[rng.choice(sorted(place))] = rng.choice([None, 1, 1e300, [], {}, [[]], {"x": {}}, True, hostile])
    elif what == "word":
        manifest[rng.choice(["hsgen", "schema"])] = rng.choice([hostile, 1, 2, 3, 4, 10**30])
    else:
        files = rng.choice([manifest, entry])["files"]
        files[rng.choice([hostile, "manifest.json", "targets/x/x.c", *files])] = rng.choice([hostile, "0" * 64])
    return what


@pytest.mark.parametrize("rounds", [20, nightly(3000 if EVERY else 400)])
def test_changed_manifests_end_in_lines(
    rounds: int, counting: Path, words_made: dict[str, bytes], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HSGEN_SEED repeats a run: the changes, and the commands that read the results."""
    seed = int(os.environ.get("HSGEN_SEED") or random.SystemRandom().randrange(2**32))
    print(f"HSGEN_SEED={seed}")
    rng = random.Random(seed)
    sentinel = counting.parent / "sentinel"
    monkeypatch.chdir(counting.parent)
    commands = [
        ("check", "-o"),
        ("check", "--trust-epilogue", "-t", TINY, "-o"),
        ("check", "--diff", "--epilogue", "odd.j2", "-o"),
        ("generate", "--trust-epilogue", "--dry-run", "-o"),
        ("generate", "--dry-run", "--prefix", "acme", "-t", TINY, "-o"),
        ("generate", "--dry-run", "-t", "cpu", "-o"),
        ("verify",),
        ("report", "--no-compile", "--trust-epilogue", "-o", "page.html", "--bundle"),
    ]
    for path, data in words_made.items():
        if path.startswith("targets/"):
            (counting / path).parent.mkdir(parents=True, exist_ok=True)
            (counting / path).write_bytes(data)
    entry = json.loads(words_made["manifest.json"])["targets"]["lanes4"]
    good = json.loads((counting / "manifest.json").read_text(encoding="utf-8"))
    good["targets"]["lanes4"] = entry
    kept = {p: p.read_bytes() for p in counting.rglob("*") if p.is_file() and p.name != "manifest.json"}
    for _ in range(rounds):
        manifest = json.loads(json.dumps(good))
        what = [mutate(manifest, rng)]
        while rng.random() < 0.3 and what[-1] != "kind":  # which may leave little
            what.append(mutate(manifest, rng))
        text = json.dumps(manifest).replace("FILE", str(sentinel))
        (counting / "manifest.json").write_text(text, encoding="utf-8")
        command = rng.choice(commands)
        code, _, err = run(*command, counting, glsl=rng.choice([None, ""]))
        where = f"HSGEN_SEED={seed}: {what}, {command}: {code}\n{err}"
        assert code in (0, 1, 2, 3) and (code == 0 or err), where
        lines = err.partition("\n--- ")[0].splitlines()  # before the difference that `check` shows of an edited file
        assert all(line.startswith("hsgen: ") and line.isprintable() for line in lines), where
        assert code != 2 or len(err.splitlines()) <= 3, where
        assert not sentinel.exists(), where
        assert {p: p.read_bytes() for p in kept} == kept, where
        assert {p.name for p in counting.parent.iterdir()} <= {"bundle", "odd.j2", "page.html"}, where
