"""`hsgen compile`: its output, its exit codes, and one clear line for each error."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from offline import TEXT, USE, Fake, small

from hsgen import __version__
from hsgen.cli import compile as compiling
from hsgen.cli import main
from hsgen.targets import target

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A fake CUDA compiler."""
    made = Fake()
    monkeypatch.setattr(compiling, "COMPILERS", {"cuda": made, "ocloc": Fake(name="ocloc", version=None)})
    return made


def compiled(capsys: Capture, *more: str, code: int = 0) -> tuple[str, list[str]]:
    """stdout, and stderr without progress."""
    assert main(["compile", "-t", "small.toml", *more]) == code
    out, err = capsys.readouterr()
    return out, [line for line in err.splitlines() if line.startswith("hsgen: ")]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["-t", "gen99"], "target gen99: unknown; known are "),
        (["-t", "small.toml", "-t", "small.toml"], "target small: named twice; name it once"),
        (["-t", "cpu"], "target cpu: names no such compiler and device to compile for; give it a table [isa]"),
        (["-t", "small.toml", "--compiler", "radv"], "it has cuda sm_80 sm_90"),
        (["-t", "small.toml", "--device", "sm_75"], "names no such compiler and device to compile for; it has cuda"),
        (["-t", "small.toml", "--device", "sm_81"], "--device sm_81: no compiler supports it; did you mean sm_8"),
        (
            ["-t", "small.toml", "--device", "zzz999"],
            "--device zzz999: no compiler supports it; docs/guides/compile.md lists",
        ),
        (
            ["-t", "small.toml", "--compiler", "icc"],
            "'icc' is not one of 'cuda', 'ocloc', 'amdgcn', 'hip', 'radv', 'spirv'",
        ),
        (["-t", "small.toml", "--key", "u64"], "target small: has no key u64; it has u8, u16, u32"),
        (
            ["-t", "small.toml", "--algorithm", "scan-x9"],
            "target small: has no algorithm scan-x9; it has auto, bitonic",
        ),
        (["-t", "small.toml", "--algorithm", "bitonic", "--feature", "bit-range"], "target small: no bitonic"),
        (["--algorithm", "no-such"], "nothing to compile: no target has such kernels"),
        (["-t", "small.toml", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["-t", "small.toml", "--timeout", "0"], "Invalid value for '--timeout'"),
        (["-t", "small.toml", "--json", "--markdown"], "only one of them can be printed"),
        (["-t", "small.toml", "--budget", "nowhere"], "budget nowhere: no such folder; --write-budget makes it"),
        (["-t", "small.toml", "--budget", "no.toml"], "budget no.toml: cannot be read (No such file or directory)"),
        (["-t", "small.toml", "--budget", "small.toml"], "budget small.toml: schema is 3, not 1"),
        (["-t", "small.toml", "--budget", "b", "--key", "i32"], "plain sorts of all algorithms; only --key u8, u16"),
        (["-t", "small.toml", "--budget", "b", "--value", "v4"], "--budget and --write-budget cover plain sorts"),
        (["-t", "small.toml", "--write-budget", "b", "--key", "u32"], "--write-budget: records all kernels"),
        (["-t", "small.toml", "-t", "cpu", "--budget", "b.toml"], "a file holds one target; name it with -t"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], line: str, capsys: Capture, fake: Fake, folder: Path) -> None:
    assert main(["compile", *arguments]) == 2
    out, err = capsys.readouterr()
    assert line in err and err.count("\n") == 1 and not out, err
    assert [p.name for p in folder.iterdir()] == ["small.toml"] and fake.asked == []


def test_a_table_of_kernels_and_one_of_devices(capsys: Capture, fake: Fake) -> None:
    fake.uses["flip_1"] = replace(USE, registers=33, occupancy=None)
    out, said = compiled(capsys, "--algorithm", "bitonic")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["small:"] and lines[1][:3] == ["sort", "kernel", "compiler"] and said == []
    kernels = [k.name for k in small().sort("bitonic", "u32").kernels]
    rows = lines[2 : 2 + len(kernels)]
    assert [row[1] for row in rows] == kernels
    flip = next(row for row in rows if row[1] == "flip_1")
    assert flip == ["bitonic_u32", "flip_1", "cuda", "sm_80", "sm_90", "33", "0", "1024", "-", "100"]
    assert rows[0] == ["bitonic_u32", kernels[0], "cuda", "sm_80", "sm_90", "40", "0", "1024", "50", "%", "100"]
    assert lines[-2:] == [
        ["small", "cuda", d, str(len(kernels)), "0", "0", "40", "50", "%", "Fake", "1"] for d in ("sm_80", "sm_90")
    ]


def test_by_default_sorts_without_tables_are_compiled_too(capsys: Capture, fake: Fake) -> None:
    """Except when an option names something that only some sorts have."""
    fake.uses["alone"] = replace(USE, spill_bytes=8)
    out, said = compiled(capsys, "--device", "sm_80", "--key", "u32", code=1)
    assert [line.split(":")[1] for line in said] == [" small/segmented_sort_u32", " small/segmented_sort_u32_v4"]
    assert {"merge_path_u32", "merge_path_u32_v4", "digest_u32"} < {row.split()[0] for row in out.splitlines() if row}
    out, _ = compiled(capsys, "--device", "sm_80", "--value", "v4")
    assert "auto_u32_v4" in out and "segmented_sort" not in out


def test_only_devices_are_listed_for_several_targets(capsys: Capture, fake: Fake, folder: Path) -> None:
    (folder / "other.toml").write_text(TEXT.replace('"small"', '"other"'), encoding="utf-8")
    out, _ = compiled(capsys, "-t", "other.toml")
    assert [line.split()[0] for line in out.splitlines()] == ["target", "small", "small", "other", "other"]
    more, _ = compiled(capsys, "-t", "other.toml", "--all")
    assert more.endswith(out) and "small:\n" in more and "other:\n" in more and "flip_1" in more


def test_a_spill_is_an_error(capsys: Capture, fake: Fake) -> None:
    fake.uses["flip_1"] = replace(USE, spill_bytes=16)
    out, said = compiled(capsys, "--device", "sm_90", code=1)
    assert said == [
        "hsgen: small/auto_u32: kernel flip_1: cuda sm_90: spills 16 bytes; choose a smaller scale, height or items"
    ]
    assert next(line.split()[5] for line in out.splitlines() if " flip_1 " in line) == "16"


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("refuse", "refuses flip_1; the log is "),
        ("crash", "crashes with signal 6; the log is "),
        ("hang", "takes longer than 0.5 seconds"),
        ("leave out", "Fake 1 omits flip_1; the log is "),
    ],
)
def test_a_kernel_that_fails_is_an_error_and_the_others_have_numbers(
    fault: str, line: str, capsys: Capture, fake: Fake
) -> None:
    fake.faults["flip_1"] = fault
    only = ("--algorithm", "bitonic", "--device", "sm_80", "--timeout", "0.5")
    out, said = compiled(capsys, *only, code=1)
    assert len(said) == 1 and f"hsgen: small/bitonic_u32: kernel flip_1: cuda sm_80: {line}" in said[0]
    rows = {row[1]: row for row in map(str.split, out.splitlines()) if row and row[0] == "bitonic_u32"}
    assert rows.pop("flip_1")[4] == "failed" and {row[4] for row in rows.values()} == {"40"}


def test_json_has_everything(capsys: Capture, fake: Fake) -> None:
    fake.faults["flip_1"] = "refuse"
    with_missing = TEXT.replace("[isa]", '[isa]\nocloc = ["skl"]')
    Path("small.toml").write_text(with_missing, encoding="utf-8")
    out, said = compiled(capsys, "--json", "--algorithm", "bitonic", code=1)
    found: dict[str, Any] = json.loads(out)
    assert (found["schema"], found["hsgen"]) == (1, __version__)
    assert found["missing"] == [
        {"target": "small", "compiler": "ocloc", "devices": ["skl"], "install": "pip install fake"}
    ]
    assert [(c["compiler"], c["device"], c["identity"], c["jobs"], c["kept"]) for c in found["compilers"]] == [
        ("cuda", d, "Fake 1", 1, 0) for d in ("sm_80", "sm_90")
    ]
    row = {"target": "small", "compiler": "cuda", "device": "sm_80", "sort": "bitonic_u32"}
    good, bad = found["kernels"][0], next(k for k in found["kernels"] if k["kernel"] == "flip_1")
    use = {"registers": 40, "spill_bytes": 0, "local_bytes": 1024, "instructions": 100, "occupancy": 0.5}
    assert good == {**row, "kernel": good["kernel"], **use, "problem": None, "log": None}
    assert Path(bad.pop("log")).is_file()
    assert bad == {**row, "kernel": "flip_1", **dict.fromkeys(use), "problem": "refuses flip_1"}
    assert any("ocloc: nothing here compiles for skl (target small); pip install fake" in line for line in said)
    fake.faults.clear()
    again, _ = compiled(capsys, "--json", "--algorithm", "bitonic")
    third, _ = compiled(capsys, "--json", "--algorithm", "bitonic")
    assert {c["kept"] for c in json.loads(third)["compilers"]} == {1}
    assert json.loads(again)["kernels"] == json.loads(third)["kernels"]


def test_json_is_as_documented(capsys: Capture, fake: Fake) -> None:
    found = json.loads(compiled(capsys, "--json", "--device", "sm_80")[0])
    text = (Path(__file__).parents[2] / "docs/reference/json.md").read_text(encoding="utf-8")
    section = text.split("## `hsgen compile --json`")[1].split("\n## ")[0]
    document, row = (dict(re.findall(r"^\| `(\w+)` \| (.*)\|$", t, re.M)) for t in section.split("| field |")[1:])
    assert list(found) == list(document) and {tuple(k) for k in found["kernels"]} == {tuple(row)}
    (by,) = found["compilers"]
    assert set(re.findall(r"`(\w+)`", document["compilers"])) == set(by)


def test_a_missing_compiler_is_reported_and_required(capsys: Capture, fake: Fake) -> None:
    line = "hsgen: cuda: nothing here compiles for sm_80, sm_90 (target small); pip install fake"
    fake.version = None
    out, said = compiled(capsys, code=3)
    assert (out, said) == ("", [line, "hsgen: nothing could be compiled here"])
    assert compiled(capsys, "--require", code=1)[1] == [line, line]
    fake.version = "Fake 1"
    Path("small.toml").write_text(TEXT.replace("[isa]", '[isa]\nocloc = ["skl"]'), encoding="utf-8")
    some = "hsgen: ocloc: nothing here compiles for skl (target small); pip install fake"
    out, said = compiled(capsys)
    assert "sm_90" in out and said == [some]
    assert compiled(capsys, "--require", code=1)[1] == [some, some]


def test_a_budget_is_written_kept_and_missed(capsys: Capture, fake: Fake, folder: Path) -> None:
    fake.uses["flip_1"] = replace(USE, spill_bytes=8)
    compiled(capsys, "--write-budget", "budgets", code=1)  # spills are reported, but recorded
    first = (folder / "budgets" / "small.toml").read_bytes()
    assert compiled(capsys, "--budget", "budgets")[1] == []
    assert compiled(capsys, "--budget", "budgets/small.toml", "--key", "u32")[1] == []
    compiled(capsys, "--write-budget", "budgets", code=1)
    assert (folder / "budgets" / "small.toml").read_bytes() == first
    fake.uses["clean"] = replace(USE, registers=41)
    fake.options = "-O1"
    assert compiled(capsys, "--budget", "budgets", code=1)[1] == [
        f"hsgen: small: cuda {d}: auto_u32 clean: takes 41 registers, recorded are 40" for d in ("sm_80", "sm_90")
    ]
    fake.version = "Fake 2"
    assert compiled(capsys, "--budget", "budgets")[1] == [
        f"hsgen: small: cuda {d}: recorded with Fake 1, compiled with Fake 2: only spills count"
        for d in ("sm_80", "sm_90")
    ]


def test_markdown_is_the_same_whenever_it_is_made(capsys: Capture, fake: Fake) -> None:
    fake.uses["flip_1"] = replace(USE, spill_bytes=8)
    pages = [compiled(capsys, "--markdown", code=1)[0] for _ in range(2)]
    assert pages[0] == pages[1] and "    hsgen compile --target small.toml --markdown\n" in pages[0]
    assert "2 pairs of a target and a device: 2 spills, no failures." in pages[0] and "flip_2" not in pages[0]
    assert re.search(r"^\| cuda \| sm_90 \| \d+ \| 40 \| 1 \| 50 % \| auto_u32 \w+ \| Fake 1 \|$", pages[0], re.M)
    some = ("--device", "sm_90", "--key", "i32", "--order", "both")
    shown = "--target small.toml --device sm_90 --key i32 --order both --markdown"
    assert f"    hsgen compile {shown}\n" in compiled(capsys, *some, "--markdown", code=1)[0]
    whole = compiled(capsys, "--markdown", "--all", code=1)[0]
    assert (
        "| auto_u32 | flip_1 | 40 (**8**) 50 % | 40 (**8**) 50 % |" in whole
        and "| auto_u32 | clean | 40 50 % |" in whole
    )


def test_types_and_values_are_other_sorts(capsys: Capture, fake: Fake) -> None:
    out, _ = compiled(capsys, "--value", "v4", "--key", "f32", "--algorithm", "radix", "--json")
    assert {k["sort"] for k in json.loads(out)["kernels"]} == {"radix_u32_v4"}


def rows(folder: Path) -> list[dict[str, str]]:
    return list(target.find(str(folder / "small.toml")).evidence)


def test_what_compiled_without_spills_is_recorded(fake: Fake, folder: Path, capsys: Capture) -> None:
    compiled(capsys, "--record")
    (row,) = rows(folder)
    assert row["level"] == "compiled" and row["api"] == "cuda" and row["device"] == "sm_80, sm_90"
    assert re.fullmatch(r"compile: \d+ kernels, none spills, at most 40 registers", row["result"])
    assert row["shapes"] == small().shapes and row["driver"] == fake.identity("sm_80")
    compiled(capsys, "--record")
    assert rows(folder) == [row]


@pytest.mark.parametrize("more", [["--device", "sm_80"], ["--key", "u32"], ["--algorithm", "bitonic"]])
def test_a_part_is_not_recorded(fake: Fake, folder: Path, capsys: Capture, more: list[str]) -> None:
    _, lines = compiled(capsys, "--record", *more, code=2)
    assert lines == [
        "hsgen: --record: is about all plain sorts on all devices; omit --record, or the options that narrow them"
    ]
    assert rows(folder) == []


def test_spills_are_not_recorded(fake: Fake, folder: Path, capsys: Capture) -> None:
    fake.uses["clean"] = replace(USE, spill_bytes=8)
    compiled(capsys, "--record", code=1)
    assert rows(folder) == []


def test_a_comparison_does_not_overwrite_the_budget(fake: Fake, folder: Path, capsys: Capture) -> None:
    compiled(capsys, "--write-budget", "b.toml")
    before = (folder / "b.toml").read_text(encoding="utf-8")
    fake.uses["clean"] = replace(USE, registers=99)
    _, lines = compiled(capsys, "--budget", "b.toml", "--write-budget", "b.toml", code=2)
    assert lines == ["hsgen: --budget and --write-budget: both are b.toml; compare first, then write"]
    assert (folder / "b.toml").read_text(encoding="utf-8") == before
