"""`--max-n` on the command line: what a bundle then holds, keeps and refuses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from nightly import nightly
from tools import OPENCL, need

from hsgen.bundle.build import build
from hsgen.bundle.manifest import choose
from hsgen.cli import main
from hsgen.core.scratch import ANY_N
from hsgen.targets import target

GENERATE = ("generate", "-t", "cpu", "--key", "u32")
EMBEDDED = "Intel(R) OpenCL"
SMALL = str(Path(__file__).parents[1] / "vendor/consumers/small.toml")
"""A target whose kernels compile quickly."""


def run(*arguments: str | Path) -> int:
    return main([str(a) for a in arguments])


def recorded(folder: Path) -> int | None:
    """The greatest count in the manifest."""
    found: int | None = json.loads((folder / "manifest.json").read_text())["targets"]["cpu"].get("max_n")
    return found


def greatest(folder: Path) -> set[int]:
    """The greatest counts of the sorts of a bundle, as its C file and its plans have them."""
    text = (folder / "targets/cpu/cpu.c").read_text()
    found = {int(n) for n in re.findall(r"^    (\d+)u, /\* the greatest count \*/$", text, re.MULTILINE)}
    assert found == {json.loads(p.read_text())["max_n"] for p in folder.glob("targets/cpu/plans/*.json")}
    return found


@pytest.mark.parametrize(("text", "n"), [("2^20", 1 << 20), ("1048576", 1 << 20), ("1", 1), ("2^62", 1 << 62)])
def test_a_bundle_records_the_greatest_count(tmp_path: Path, text: str, n: int) -> None:
    folder, whole = tmp_path / "some", tmp_path / "whole"
    assert run(*GENERATE, "-o", whole) == run(*GENERATE, "--max-n", text, "-o", folder) == 0
    assert recorded(folder) == n and recorded(whole) is None
    assert greatest(folder) == {min(n, most) for most in greatest(whole)}
    for command in (("check",), ("verify", folder), ("generate",)):
        assert run(*command, *(() if command[0] == "verify" else ("-o", folder))) == 0
    for path in folder.glob("targets/cpu/kernels/*/*"):
        assert f" --max-n {n}\n" in path.read_text()


def test_the_greatest_count_is_kept_until_another_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "bundle"
    assert run(*GENERATE, "--max-n", "1000", "-o", folder) == 0
    assert run("generate", "-t", "cpu", "--key", "u64", "-o", folder) == 0
    assert recorded(folder) == 1000 and greatest(folder) == {1000}
    assert run("generate", "-t", "cpu", "--max-n", "2000", "-o", folder) == 0
    assert recorded(folder) == 2000 and greatest(folder) == {2000}
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"max_n": 2000', '"max_n": 2001'))
    capsys.readouterr()
    assert run("check", "-o", folder) == 1 and "stale targets/cpu/cpu.c" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "2^63", "-1", "many", "1.5", ""])
def test_no_count(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert run(*GENERATE, f"--max-n={text}", "-o", tmp_path / "bundle") == 2
    err = capsys.readouterr().err
    assert "--max-n" in err and err.count("\n") == 1 and not (tmp_path / "bundle").exists()


@pytest.mark.parametrize("value", ["0", "-1", "true", "1.5", '"1000"', str(2**63)])
def test_no_count_in_a_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str) -> None:
    folder = tmp_path / "bundle"
    assert run(*GENERATE, "--max-n", "1000", "-o", folder) == 0
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"max_n": 1000', f'"max_n": {value}'))
    capsys.readouterr()
    assert run("check", "-o", folder) == 2 and "is not a manifest" in capsys.readouterr().err


def test_without_a_target_and_with_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("generate", "--max-n", "1000", "-o", tmp_path / "bundle") == 2
    assert run("validate", "-t", "cpu", "--max-n", "1000", "--record") == 2
    err = capsys.readouterr().err
    assert "name it with -t" in err and "omit --record" in err


def test_code_shrinks() -> None:
    """By more than half for nvidia-hopper and u32 up to 2^16."""
    found = target.find("nvidia-hopper")
    sizes = []
    for max_n in (1 << 16, 1 << 20, ANY_N):
        choice = replace(choose(found, ["u32"], [], []), max_n=max_n)
        files, _ = build({found.name: (found, choice)}, lambda sort, source: None, "hs")
        sizes.append(sum(len(data) for path, data in files.items() if path.startswith("targets/")))
    assert sizes[0] <= sizes[1] < sizes[2] / 2


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "runtime", "options", "n"),
    [
        (SMALL, "c", (), 1000),
        nightly("intel-gen8", "c", (), 1000),
        nightly("intel-gen8", "python", ("--feature", "bit-range", "--value", "v4"), 1 << 12),
    ],
)
def test_limited_sorts_run(
    embedded: object, capsys: pytest.CaptureFixture[str], name: str, runtime: str, options: tuple[str, ...], n: int
) -> None:
    if runtime == "c":
        need(OPENCL)
    command = ("validate", "-t", name, "--key", "u32", "--device", EMBEDDED, "--runtime", runtime)
    assert run(*command, "--max-n", str(n), *options, "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["failures"] == 0 and row["greatest_n"] == n


@pytest.mark.device
@pytest.mark.parametrize(
    ("name", "runtime"),
    [(SMALL, "python"), (SMALL, "c"), nightly("intel-gen8", "python"), nightly("intel-gen8", "c")],
)
def test_more_keys_are_refused(embedded: object, capsys: pytest.CaptureFixture[str], name: str, runtime: str) -> None:
    if runtime == "c":
        need(OPENCL)
    command = ("bench", "-t", name, "--key", "u32", "--device", EMBEDDED, "--runtime", runtime, "--rounds", "1")
    assert run(*command, "--max-n", "1000", "--sizes", "999,1000") == 0
    capsys.readouterr()
    assert run(*command, "--max-n", "1000", "--sizes", "1000,1001") == 2
    label = "bitonic" if name == SMALL else "auto"
    assert f"sizes up to 1001: {Path(name).stem}/{label}_u32 sorts up to 1000 keys" in capsys.readouterr().err
