"""Budgets: written files are read back unchanged, and each kind of regression is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from offline import USE, small

from hsgen.core.errors import Usage
from hsgen.tools.compile import budget
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.results import TOGETHER, Missing, Place, Result


def result(
    kernel: str, device: str = "sm_80", compiler: str = "cuda", use: Use | None = USE, by: str = "A 1"
) -> Result:
    place = Place(target="small", compiler=compiler, device=device)
    return Result(place=place, identity=by, sort="bitonic_u32", kernel=kernel, use=use)


SPILLING = replace(USE, spill_bytes=8)
SILENT = Use(local_bytes=64)
FOUND = [
    result("one"),
    result("two", use=SPILLING),
    result("one", "sm_90", use=replace(USE, registers=50)),
    result("two", "sm_90", use=replace(USE, occupancy=1.0)),
    result("one", "skl", "ocloc", replace(SILENT, occupancy=2 / 3), "O 2"),
    result("two", "skl", "ocloc", SILENT, "O 2"),
    result("one", "vulkan1.1", "spirv", Use(), "spirv-val"),
]
TEXT = """# Kernels of small, as offline compilers report them: one number per device, occupancy in percent.
# `hsgen compile --budget` compares with this file, `hsgen compile --write-budget` writes it.
schema = 1
target = "small"

[cuda]
devices = ["sm_80", "sm_90"]
identities = ["A 1", "A 1"]

[cuda.registers]
"bitonic_u32 one" = [40, 50]
"bitonic_u32 two" = [40, 40]

[cuda.spills]
"bitonic_u32 two" = [8, 0]

[cuda.occupancy]
"bitonic_u32 one" = [50, 50]
"bitonic_u32 two" = [50, 100]

[ocloc]
devices = ["skl"]
identities = ["O 2"]

[ocloc.occupancy]
"bitonic_u32 one" = [67]

[ocloc.silent]
kernels = ["bitonic_u32 two"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_budget_is_written_and_read(file: Path) -> None:
    made = budget.recorded("small", FOUND)
    assert budget.text(made) == TEXT and budget.text(budget.read(file)) == TEXT
    assert budget.compare(budget.read(file), FOUND, complete=True) == ([], [])


def worse(file: Path, *changed: Result, whole: bool = False) -> list[str]:
    lines, notes = budget.compare(budget.read(file), changed, whole)
    assert notes == []
    return lines


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (result("one", use=replace(USE, spill_bytes=4)), "cuda sm_80: bitonic_u32 one: spills 4 bytes, recorded are 0"),
        (result("two", use=replace(USE, spill_bytes=12)), "sm_80: bitonic_u32 two: spills 12 bytes, recorded are 8"),
        (
            result("two", "sm_90", use=replace(SPILLING, occupancy=1.0)),
            "sm_90: bitonic_u32 two: spills 8 bytes, recorded are 0",
        ),
        (result("one", use=replace(USE, registers=41)), "one: takes 41 registers, recorded are 40"),
        (result("one", "sm_90", use=replace(USE, registers=51)), "one: takes 51 registers, recorded are 50"),
        (result("one", use=replace(USE, occupancy=0.49)), "one: has an occupancy of 49 %, recorded are 50 %"),
        (result("one", "skl", "ocloc", replace(SILENT, occupancy=0.5), "O 2"), "occupancy of 50 %, recorded are 67 %"),
        (result("two", "skl", "ocloc", replace(SILENT, spill_bytes=1), "O 2"), "two: spills 1 bytes, recorded are 0"),
        (result("three"), "cuda sm_80: bitonic_u32 three: is not in the budget; --write-budget writes it again"),
        (result("one", "sm_70"), "small: cuda sm_70: is not in the budget"),
    ],
)
def test_each_regression_is_reported(file: Path, changed: Result, line: str) -> None:
    (said,) = worse(file, changed)
    assert line in said


@pytest.mark.parametrize(
    "changed",
    [
        result("one", use=replace(USE, registers=39)),
        result("one", use=replace(USE, occupancy=0.75)),
        result("one", use=replace(USE, instructions=10**6, local_bytes=10**6)),
        result("two", use=SPILLING),
        result("two", use=USE),
        result("one", use=None),  # the failure itself is reported elsewhere
        result(TOGETHER, use=None),
        result("one", "vulkan1.1", "spirv", Use(), "spirv-val"),
    ],
)
def test_what_is_no_worse_is_fine(file: Path, changed: Result) -> None:
    assert worse(file, changed) == []


def test_of_another_version_only_new_spills_count(file: Path) -> None:
    found = [
        result("one", use=replace(USE, registers=200, occupancy=0.1), by="A 2"),
        result("two", use=replace(USE, spill_bytes=100), by="A 2"),
        result("one", "sm_90", use=replace(USE, spill_bytes=4), by="A 2"),
    ]
    lines, notes = budget.compare(budget.read(file), found, complete=False)
    assert lines == ["small: cuda sm_90: bitonic_u32 one: spills 4 bytes, recorded are 0"]
    assert notes == [
        f"small: cuda {d}: recorded with A 1, compiled with A 2: only spills count" for d in ("sm_80", "sm_90")
    ]


def test_a_recorded_kernel_that_is_no_more(file: Path) -> None:
    assert worse(file, result("one")) == []
    assert worse(file, result("one"), whole=True) == [
        "small: cuda sm_80: bitonic_u32 two: is only in the budget; --write-budget writes it again"
    ]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("schema = 1", "schema = 2", "schema is 2, not 1; --write-budget writes it again"),
        ("[40, 50]", "[40]", "is not what hsgen writes"),
        ("[40, 50]", "[40, 50, 60]", "is not what hsgen writes"),
        ("[40, 50]", '["a", "b"]', "is not what hsgen writes"),
        ('identities = ["O 2"]', "", "is not what hsgen writes (KeyError: 'identities')"),
        ('target = "small"', "target = 7", "is not what hsgen writes"),
        ("[cuda]", "[cuda", "--write-budget writes it again"),
    ],
)
def test_a_file_that_is_no_budget(file: Path, old: str, new: str, line: str) -> None:
    assert old in TEXT
    file.write_text(TEXT.replace(old, new), encoding="utf-8")
    with pytest.raises(Usage) as e:
        budget.read(file)
    assert f"budget {file}: " in e.value.lines[0] and line in e.value.lines[0] and len(e.value.lines) == 1


def test_files_and_folders_of_budgets(tmp_path: Path) -> None:
    found, folder = small(), tmp_path / "new" / "budgets"
    assert budget.write(folder, [found], FOUND, []) == []
    assert (folder / "small.toml").read_text(encoding="utf-8") == TEXT
    assert budget.write(tmp_path / "other.toml", [found], FOUND, []) == []
    assert (tmp_path / "other.toml").read_text(encoding="utf-8") == TEXT
    for path in (folder, tmp_path / "other.toml"):
        known = budget.load(path, [found])
        assert budget.compared(known, FOUND, complete=True) == ([], [])
    (folder / "small.toml").unlink()
    lines, _ = budget.compared(budget.load(folder, [found]), FOUND, complete=True)
    assert lines == [
        f"small: {where}: is not in the budget; --write-budget writes it again"
        for where in ("cuda sm_80", "cuda sm_90", "ocloc skl")
    ]


def test_a_budget_is_not_written_of_a_part(tmp_path: Path) -> None:
    found, file = small(), tmp_path / "small.toml"
    for results, missing in (
        ([*FOUND, result("three", use=None)], []),
        (FOUND, [Missing(target="small", compiler="amdgcn", devices=("gfx900",), install="pip")]),
    ):
        lines = budget.write(file, [found], results, missing)
        assert lines == [f"budget {file}: not written: not every kernel was compiled for every device"]
    assert budget.write(file, [found], FOUND[-1:], []) == []  # it has a check alone
    assert list(tmp_path.iterdir()) == []


def test_budgets_that_do_not_fit(tmp_path: Path, file: Path) -> None:
    found = small()
    for path, targets, line in (
        (tmp_path / "none", [found], "none: no such folder; --write-budget makes it"),
        (tmp_path / "none.toml", [found], "none.toml: cannot be read (No such file or directory)"),
        (file, [found, replace(found, name="other")], "a file holds one target; name it with -t, or give a folder"),
        (file, [replace(found, name="other")], "is of target small, not other"),
    ):
        with pytest.raises(Usage) as e:
            budget.load(path, targets)
        assert line in e.value.lines[0]
    with pytest.raises(Usage, match="cannot be written"):
        budget.write(file / "within" / "small.toml", [found], FOUND, [])
