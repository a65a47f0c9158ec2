"""Evidence: the choices it applies to, its summary, and how it is written to a target's file."""

from __future__ import annotations

import tomllib

import pytest

from hsgen.core.errors import Usage
from hsgen.system import resources
from hsgen.targets import evidence
from hsgen.targets import target as targets
from hsgen.targets.isa import KINDS
from hsgen.tools.compile.budget import read

ROW = {
    "level": "cpu",
    "api": "opencl",
    "device": "Some CPU (Some runtime)",
    "driver": "1.2",
    "date": "2026-01-01",
    "result": "validate, auto of u32: 10 cases at 8 lanes, 0 failures",
}
FILE = """schema = 3
name = "x"

[bitonic.u32] # a choice
height = 8

# About the row below.
[[evidence]]
level = "device"
api = "opencl"
device = "A GPU"
driver = "3"
date = "2025-01-01"
result = "tune: u32 merge"
"""


def rows(text: str) -> list[dict[str, str]]:
    return list(tomllib.loads(text)["evidence"])


def test_the_hash_covers_only_choices() -> None:
    now = evidence.shapes(tomllib.loads(FILE))
    assert len(now) == 12
    assert evidence.shapes(tomllib.loads(FILE.replace("A GPU", "B").replace('"x"', '"y"').replace("# a", "# b"))) == now
    assert evidence.shapes(tomllib.loads(FILE.replace("height = 8", "height = 16"))) != now
    assert evidence.shapes(tomllib.loads(FILE + "\n[sort.u32]\nupto = []\n")) != now


def test_a_new_row_goes_to_the_end_and_gets_the_hash() -> None:
    after = evidence.recorded(FILE, "x.toml", ROW)
    assert after.startswith(FILE)
    assert rows(after) == [*rows(FILE), {**ROW, "shapes": evidence.shapes(tomllib.loads(FILE))}]
    assert evidence.recorded(after, "x.toml", ROW) == after


def test_into_a_file_without_rows() -> None:
    text = FILE.split("# About")[0]
    assert len(rows(evidence.recorded(text, "x.toml", ROW))) == 1


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({}, 1),
        ({"driver": "1.3", "date": "2026-02-02"}, 1),
        ({"device": "Another CPU (Some runtime)"}, 1),  # the runtime decides
        ({"device": "Some CPU (Another runtime)"}, 2),
        ({"level": "device"}, 2),
        ({"api": "vulkan"}, 2),
        ({"result": "validate, auto of u64: 10 cases at 8 lanes, 0 failures"}, 2),
        ({"result": "validate, auto of u32: 99 cases at 8 lanes, 0 failures"}, 1),
        ({"result": "tune: u32 merge"}, 2),
    ],
)
def test_the_same_tool_replaces_what_it_said_of_the_same(change: dict[str, str], count: int) -> None:
    text = evidence.recorded(FILE.split("# About")[0], "x.toml", ROW)
    after = rows(evidence.recorded(text, "x.toml", {**ROW, **change}))
    assert len(after) == count
    assert {k: v for k, v in after[-1].items() if k != "shapes"} == {**ROW, **change}


def test_a_narrow_run_leaves_what_was_said_of_other_sorts() -> None:
    other = {**ROW, "result": "validate, auto of u64: 10 cases at 8 lanes, 0 failures"}
    text = evidence.recorded(evidence.recorded(FILE, "x.toml", ROW), "x.toml", other)
    assert len(rows(text)) == 3
    after = rows(evidence.recorded(text.replace("height = 8", "height = 16"), "x.toml", other))
    assert [r["result"] for r in after] == ["tune: u32 merge", ROW["result"], other["result"]]
    assert after[1]["shapes"] != after[2]["shapes"]


def test_compilers_replace_their_own_rows_for_any_device() -> None:
    row = {**ROW, "level": "compiled", "device": "sm_80", "driver": "NVRTC 12.9", "result": "no kernel spills"}
    text = evidence.recorded(FILE, "x.toml", row)
    text = evidence.recorded(text, "x.toml", {**row, "device": "sm_80, sm_90", "driver": "NVRTC 13.0"})
    assert [r["device"] for r in rows(text)] == ["A GPU", "sm_80, sm_90"]
    assert len(rows(evidence.recorded(text, "x.toml", {**row, "driver": "nvcc 13.0"}))) == 3


def test_a_layout_that_cannot_be_edited_is_refused() -> None:
    text = FILE.split("# About")[0] + "[device]\na = 1\n"
    inline = (
        'evidence = [{level = "cpu", api = "opencl", device = "A", driver = "1", date = "1", result = "x"}]\n' + text
    )
    with pytest.raises(Usage, match=r"x.toml: evidence cannot be written; write each row as \[\[evidence\]\]"):
        evidence.recorded(inline, "x.toml", ROW)


@pytest.mark.parametrize(
    ("old", "new", "whole"),
    [
        ('driver = "3"', '# a word on it\ndriver = "3"', False),
        ("[[evidence]]", "[[ evidence ]] # the first", True),
        ('result = "tune: u32 merge"', 'result = """\n# tuned\n[by hand]"""', False),
    ],
)
def test_rows_of_any_layout_are_kept_and_never_torn(old: str, new: str, whole: bool) -> None:
    text = FILE.replace(old, new)
    after = evidence.recorded(text, "x.toml", ROW)
    assert after.startswith(text) and rows(after)[:1] == rows(text) and len(rows(after)) == 2
    again = {**rows(text)[0], "date": "2026-03-03"}
    if whole:
        assert [r["date"] for r in rows(evidence.recorded(text, "x.toml", again))] == ["2026-03-03"]
    else:
        with pytest.raises(Usage, match="evidence cannot be written"):
            evidence.recorded(text, "x.toml", again)


def test_what_rows_add_up_to() -> None:
    now = "a" * 12
    old = {**ROW, "level": "device", "device": "GPU (Driver)", "api": "cuda", "shapes": "b" * 12}
    have = [{**ROW, "shapes": now}, {**ROW, "api": "vulkan", "shapes": now}, old]
    assert evidence.cell(have, now, "cpu") == "OpenCL, Vulkan: Some CPU (Some runtime 1.2)"
    assert evidence.cell(have, now, "device") == "CUDA: GPU (older shapes)"
    assert evidence.cell(have, now, "compiled") == "-"
    # older rows are ignored once a current one exists
    assert evidence.standing([*have, {**old, "device": "New", "shapes": now}], now, "device") == {"cuda": ["New"]}


@pytest.mark.parametrize(
    ("device", "driver", "listed"),
    [
        ("AMD EPYC (Intel(R) OpenCL)", "2026.22.10.0.01_160000", "AMD EPYC (Intel(R) OpenCL 2026.22.10)"),
        ("A (Intel(R) OpenCL, as C++ for OpenCL)", "2026.22", "A (Intel(R) OpenCL 2026.22, as C++ for OpenCL)"),
        (
            "llvmpipe (LLVM 15.0.6, 512 bits) on A (llvmpipe)",
            "Mesa 25.0.7-2~bpo12+1 (LLVM 15.0.6)",
            "llvmpipe (LLVM 15.0.6, 512 bits) on A (llvmpipe Mesa 25.0.7)",
        ),
        ("A (PoCL)", "3.1+debian", "A (PoCL 3.1)"),
        ("A (B)", "unknown", "A (B unknown)"),
        ("A", "1.2", "A"),
    ],
)
def test_tables_name_the_processor_the_runtime_and_its_version(device: str, driver: str, listed: str) -> None:
    row = {**ROW, "device": device, "driver": driver, "shapes": "a" * 12}
    assert evidence.standing([row], "a" * 12, "cpu") == {"opencl": [listed]}


def test_a_device_without_a_row_is_distinguished() -> None:
    other = {**ROW, "level": "device", "device": "GPU (Driver)", "driver": "7"}
    compiled = {**ROW, "level": "compiled", "device": "sm_90", "driver": "NVRTC 12.9"}
    rows = [ROW, {**ROW, "result": "tune: u32"}, other, compiled]
    assert evidence.unnamed(rows, "opencl", "Some CPU (Some runtime)", "1.2") == ""
    assert evidence.unnamed(rows, "opencl", "GPU (Driver)", "7") == ""
    of = "evidence in OpenCL is of Some CPU (Some runtime), 1.2 and GPU (Driver), 7; this is "
    assert evidence.unnamed(rows, "opencl", "Some CPU (Some runtime)", "1.3") == f"{of}Some CPU (Some runtime), 1.3"
    assert evidence.unnamed(rows, "opencl", "sm_90", "NVRTC 12.9") == f"{of}sm_90, NVRTC 12.9"
    assert evidence.unnamed(rows, "vulkan", "A", "1") == "evidence in Vulkan is of no device; this is A, 1"


@pytest.mark.parametrize("name", targets.names())
def test_rows_of_every_target_can_be_written(name: str) -> None:
    text = (resources.targets() / f"{name}.toml").read_text(encoding="utf-8")
    after = evidence.recorded(text, name, {**ROW, "device": "New (new)"})
    assert rows(after)[-1]["device"] == "New (new)"
    assert evidence.recorded(after, name, {**ROW, "device": "New (new)"}) == after


@pytest.mark.parametrize("name", targets.names())
def test_evidence_of_local_compilers_is_up_to_date(name: str) -> None:
    """Compilers and CPU runtimes are available everywhere: `hsgen compile --record`, `hsgen validate --record`."""
    found = targets.find(name)
    old = [r for r in found.evidence if r["level"] != "device" and r.get("shapes") != found.shapes]
    assert not old, f"{name}: older shapes: {old}"


@pytest.mark.parametrize("name", [n for n in targets.names() if targets.find(n).isa])
def test_what_compiled_is_what_the_budget_records(name: str) -> None:
    found = targets.find(name)
    budget = read(resources.targets() / "budgets" / f"{name}.toml")
    rows = {(d, r["api"]) for r in found.evidence if r["level"] == "compiled" for d in r["device"].split(", ")}
    assert rows == {(d, KINDS[c].api) for c, devices in found.isa.items() for d in devices}
    assert set(budget.columns) == {(c, d) for c, devices in found.isa.items() for d in devices}
    uses = [(k, use) for column in budget.columns.values() for k, use in column.kernels.items()]
    spilling = [k for k, use in uses if use["spills"]]
    assert not spilling, f"{name}: {spilling} spill"
