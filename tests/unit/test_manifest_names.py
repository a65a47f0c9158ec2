"""A manifest may name only the files of a bundle with its targets, APIs and prefix."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import tiny

import hsgen
from hsgen.apis import APIS
from hsgen.bundle import contents
from hsgen.bundle.manifest import digest
from hsgen.bundle.manifest_parser import parse_manifest
from hsgen.core.errors import Usage
from hsgen.dialects.dialect import load
from hsgen.emit import c_files
from hsgen.emit.c_files import LONGEST_PREFIX, Named, check_prefix
from hsgen.emit.templates import environment
from hsgen.system import paths
from hsgen.targets import target

ROOT = Path(hsgen.__file__).parent.parent


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/etc/passwd", "..", "../up", "a/../b", "a/..", ".", "./a", "a/.", "a//b", "a/", "a\\b", "..\\up"),
        *("C:/a", "C:a", "c:\\a", "\\\\host\\share", "a\0b", "a\nb", "a\x1b[2Jb", "a b", "ä", "a\u202eb", "\ud800"),
        *(
            "CON",
            "con.txt",
            "a/NUL",
            "aux.c/b",
            "com1",
            "LPT9.json",
            "a.",
            "a./b",
            "a" * 256,
            "a/" * 600 + "b",
            "~",
            "a*",
        ),
    ],
)
def test_paths_that_mean_something_else_somewhere(path: str) -> None:
    with pytest.raises(ValueError):
        paths.parts(path)


def test_plain_paths() -> None:
    assert paths.parts("targets/intel-gen8/kernels/opencl/auto_u32.cl")[-1] == "auto_u32.cl"
    assert paths.parts(".hsgen-work") == [".hsgen-work"] and paths.parts("console/com10") == ["console", "com10"]


def test_paths_that_clash() -> None:
    assert paths.clash(["a", "b", "A"]) == ("A", "a")
    assert paths.clash(["a/b/c", "a/b"]) == ("a/b", "a/b/c")
    assert paths.clash(["a/b/c", "A/B"]) == ("A/B", "a/b/c")
    assert paths.clash(["a/b", "a/bc", "ab"]) is None


@pytest.mark.parametrize(
    "name", ["x" * 65, "a b", "../a", "a/b", "-a", ".a", "con", "NUL", "aux.1", "a.", "a\n", "hs_a", "", "ä"]
)
def test_names_of_targets_that_are_refused(name: str) -> None:
    assert paths.target_problem(name)
    _, manifest = tiny.bundle({"one": "a"})
    text = manifest.bytes().decode().replace('"one": {', json.dumps(name) + ": {")
    with pytest.raises(Usage, match="here: target ") as raised:
        parse_manifest(text.encode(), "here")
    assert len(raised.value.lines) == 1 and raised.value.lines[0].isprintable()


def test_names_of_targets_that_come_with_hsgen() -> None:
    assert not [n for n in target.names() if paths.target_problem(n)]
    assert paths.target_problem("x" * 64) is None


def test_a_prefix_has_a_length() -> None:
    assert check_prefix("a" * LONGEST_PREFIX)
    with pytest.raises(Usage, match="is too long; use at most 32 characters"):
        check_prefix("a" * (LONGEST_PREFIX + 1))


@pytest.mark.parametrize("apis", [(), ("opencl",), ("vulkan",), ("cuda",), ("metal",), tuple(APIS)])
@pytest.mark.parametrize("prefix", ["hs", "acme"])
def test_common_files_are_those_that_are_made(apis: tuple[str, ...], prefix: str) -> None:
    named = [Named(name="one", apis=apis, sorts=("bitonic_u32",), spirv=())]
    assert contents.common(prefix, apis) == set(c_files.common(named, prefix))


def test_kernels_end_as_dialects_say() -> None:
    for api in APIS.values():
        assert load(environment(), api.dialect).suffix == api.suffix


def test_the_committed_manifest_and_every_one_before_it_is_read() -> None:
    """Within the history of this clone."""
    parse_manifest((ROOT / "generated/manifest.json").read_bytes(), "generated")
    git = ["git", "-C", str(ROOT), "log", "-3", "--format=%H", "--", "generated/manifest.json"]
    known = subprocess.run(git, capture_output=True, text=True, check=False).stdout.split()
    for commit in known:
        show = ["git", "-C", str(ROOT), "show", f"{commit}:generated/manifest.json"]
        done = subprocess.run(show, capture_output=True, check=False)
        if done.returncode == 0:  # in a shallow clone the oldest may lack it
            assert parse_manifest(done.stdout, commit).targets


def changed(at: tuple[str, ...], path: Any, value: Any) -> bytes:
    """The manifest of a tiny bundle with one table entry added or replaced."""
    raw = json.loads(tiny.bundle({"one": "a"})[1].bytes())
    table = raw
    for word in at:
        table = table[word]
    table[path] = value
    return json.dumps(raw).encode()


HASH = digest(b"x")
COMMON, OF_TARGET = ("files",), ("targets", "one", "files")


@pytest.mark.parametrize(
    ("at", "path"),
    [
        *((at, p) for at in (COMMON, OF_TARGET) for p in ("../up", "/etc/passwd", "C:\\a", "a\0b", "manifest.json")),
        *((COMMON, p) for p in ("precious.txt", ".git/config", "Makefile", "src/main.c", "src/hs_cuda.cu", "license")),
        *((COMMON, p) for p in ("include/acme/acme.h", "LICENSE/x", "targets/one/one.c", ".hsgen-work/new/1")),
        *((OF_TARGET, p) for p in ("LICENSE", "targets/two/two.c", "targets/one", "targets/one/", "targets/one/mine")),
        *((OF_TARGET, f"targets/one/{p}") for p in ("one.cu", "one_cuda.cu", "one_metal.c", "ONE.c")),
        (OF_TARGET, "targets/one/kernels/cuda/bitonic_u32.cu"),
        *((OF_TARGET, f"targets/one/kernels/{p}_u32.c") for p in ("opencl/radixl", "opencl/merge", "opencl/../merge")),
        *((OF_TARGET, f"targets/one/{p}") for p in ("x/../one.c", "spirv/one_bitonic_u32.c", "plans/.json")),
    ],
)  # fmt: skip
def test_files_that_no_such_bundle_holds(at: tuple[str, ...], path: str) -> None:
    with pytest.raises(Usage, match=r"here: lists .*, which no such bundle holds; generate into another") as raised:
        parse_manifest(changed(at, path, HASH), "here")
    assert len(raised.value.lines) == 1 and raised.value.lines[0].isprintable()


def test_files_that_such_a_bundle_may_hold() -> None:
    for at, path in (
        (COMMON, "src/hs_opencl.c"),
        (COMMON, "src/hs_opencl_internal.h"),
        (OF_TARGET, "targets/one/plans/bitonic_u32.json"),
    ):
        assert parse_manifest(changed(at, path, HASH), "here").hashes[path] == HASH


def test_sorts_that_a_target_cannot_have() -> None:
    for sorts in (
        ["../x"],
        ["bitonic u32"],
        ["x)\nexecute_process("],
        ["bitonic"],
        ["a" * 300 + "_u32"],
        ["MERGE_u32"],
    ):
        with pytest.raises(Usage):
            parse_manifest(changed(("targets", "one"), "sorts", sorts), "here")
    spirv = {"radix_u32": {"glsl": HASH, "compiler": "x"}}
    with pytest.raises(Usage, match="lists 'radix_u32', which is no sort of it"):
        parse_manifest(changed(("targets", "one"), "spirv", spirv), "here")


def test_targets_that_differ_in_case_alone() -> None:
    _, manifest = tiny.bundle({"One": "a", "one": "a"})
    with pytest.raises(
        Usage, match=r"here: (lists targets/One/.* and targets/one/.*, which some systems cannot|target 'One')"
    ):
        parse_manifest(manifest.bytes(), "here")


@pytest.mark.parametrize(
    ("at", "word", "value"),
    [
        *(((), "schema", v) for v in (None, "3", 3.5, True, [], {}, -1, 4, 10**400)),
        *(((), "hsgen", v) for v in (3, None, "a\nb", "\x1b[2J", "x" * 201, "\ud800")),
        *(((), "prefix", v) for v in (None, 3, "cl", "a b", "x" * 40, "HS", "../a")),
        *(((), "files", v) for v in (None, [], "LICENSE", {"LICENSE": 3}, {"LICENSE": HASH.upper()})),
        *(((), "targets", v) for v in (None, [], 7, {"one": None}, {"one": []}, {"one": {}})),
        *((("targets", "one"), w, v) for w in ("keys", "apis", "values", "sorts") for v in ("u32", 3, [3], ["a b"])),
        *((("targets", "one"), "spirv", v) for v in ([], 3, {"bitonic_u32": 3}, {"bitonic_u32": {"glsl": HASH}})),
        *((("targets", "one"), "epilogue", v) for v in ("x", [3], {"a": 1})),
    ],
)  # fmt: skip
def test_values_of_another_kind(at: tuple[str, ...], word: str, value: Any) -> None:
    with pytest.raises(Usage) as raised:
        parse_manifest(changed(at, word, value), "here")
    assert len(raised.value.lines) == 1 and len(raised.value.lines[0]) < 400 and raised.value.lines[0].isprintable()


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[" * 100_000, b"1" * 10_000, b"null", b'"x"', b"NaN", b"{}"])
def test_texts_that_are_no_manifest(data: bytes) -> None:
    with pytest.raises(Usage, match="here: is not a manifest of hsgen"):
        parse_manifest(data, "here")
