"""Prefix sums without a device: the numpy model shows that every plan sums; invalid tables are rejected.

- Both coordinations, lanes alone and work-groups, inclusive and exclusive, all numbers of columns, both element types,
  in and out of place, at counts around every boundary; look-backs in any order of accesses, some of which give up.
- The model can fail: every row of a plan is dropped in turn, and each fault is noticed.
- States hold all bits of a sum and are rejected if torn; scratch holds them up to the greatest counts.
- Every mistake in a table is named once, and following its hint mends it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models.scan import Fault, joined, pieces, run
from nightly import nightly
from numpy.typing import NDArray
from sorts import ROOMY, sort_by

from hsgen.algorithms import scan
from hsgen.algorithms.scan.words import COUNTED, STATES, SUMMED
from hsgen.core.errors import Usage
from hsgen.core.interpreter import launches
from hsgen.core.keys import KEYS, PLAIN, Signature
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.operations.scan import FLOAT, SUMMANDS, TYPES_OF_SUMS, exact_floats, sums
from hsgen.targets import target
from hsgen.tools.validate.cases import around

WORDS = ("u32", "u64")
Rows = NDArray[np.unsignedinteger[Any]]

DEVICE = replace(ROOMY, subgroups=(1,), shuffle=False)
SECTIONS: dict[str, Any] = {"items": 4, "coordination": "sections", "subgroup": 8}
PROMISED: dict[str, Any] = {"progress": "guaranteed", "subgroups": (8,), "shuffle": True}


def shape(key: str = "u32", **values: Any) -> scan.Params:
    """Return a shape with defaults: tiles of 32 rows, 5 work-groups."""
    small: dict[str, Any] = {"columns": 1, "exclusive": False, "items": 2, "work_group": 16, "groups": 5}
    return scan.Params(key=KEYS[key], **{"coordination": "scan", **small, **values})


def sort_of(p: scan.Params) -> Sort:
    """Return the sum of a shape."""
    return sort_by("scan", p, columns=p.columns)


def rows_of(p: scan.Params, n: int, kind: str = "random") -> Rows:
    """Return an input of one of the kinds of a validation."""
    flat = SUMMANDS[kind](np.random.default_rng(n), n * p.columns, np.dtype(f"u{p.key.bytes}"))
    return flat.reshape(n, p.columns)


def check(p: scan.Params, n: int, kind: str = "random", seed: int = 1, limit: int = 2**32 - 1) -> int:
    """Sum `n` rows in and out of place; return how often tiles were repeated."""
    sort, redone = sort_of(p), 0
    rows = rows_of(p, n, kind)
    expected = sums(sort, rows.reshape(-1)).reshape(n, p.columns)
    for in_place in (False, True):
        given = rows.copy()
        out, again = run(sort, given, in_place=in_place, seed=seed, limit=limit)
        assert np.array_equal(out, expected), (p, n, kind, in_place)
        assert in_place or np.array_equal(given, rows)
        redone += again
    return redone


WITHIN = ("sections", "local")
WAYS: dict[str, dict[str, Any]] = {
    "scan": {},
    "lookback": {"coordination": "lookback"},
    "endless": {"coordination": "lookback", "redo": False},
    "sections": {"items": 4, "coordination": "sections", "subgroup": 8, "section": 3, "withhold": 4},
    "local": {"items": 4, "coordination": "sections", "subgroup": 8, "section": 3, "local": True},
    "lanes alone wait": {"work_group": 1, "items": 32, "coordination": "lookback", "redo": False},
    "lanes alone": {"work_group": 1, "items": 32},
    "lanes alone look back": {"work_group": 1, "items": 32, "coordination": "lookback"},
}


def test_expected_values_are_the_sums_of_columns() -> None:
    rows = np.array([[1, 2**32 - 1], [2, 1], [3, 5]], np.uint32)
    for exclusive, expected in ((False, [1, 2**32 - 1, 3, 0, 6, 5]), (True, [0, 0, 1, 2**32 - 1, 3, 0])):
        sort = sort_of(shape(columns=2, exclusive=exclusive))
        assert sums(sort, rows.reshape(-1)).tolist() == expected
        assert sort.operation == "scan" and sort.item_bytes == 8


@pytest.mark.parametrize("name", target.names())
def test_every_target_has_the_sums_of_one_to_four_columns(name: str) -> None:
    """With a table or without, of all element types that the device adds; those without a table are valid ones."""
    found = target.find(name)
    types = [t for t in TYPES_OF_SUMS if found.device.int64 or not t.endswith("64")]
    for label, (columns, exclusive) in scan.DERIVED.items():
        for key in types:
            sort = found.sort(label, key)
            (p,) = [x.params for x in sort.parts]
            assert (p.columns, p.exclusive, p.floats) == (columns, exclusive, key == "f32")
            assert not (p.floats and p.looks) and sort.label == (key if p.floats else f"u{key[1:]}")
            assert scan.problems(p, found.device) == [] and p.tile >= 64, (label, key)
    assert set(found.derived("u32")) == {x for x in scan.DERIVED if (x, "u32") not in found.choices}
    for label, key in (("scan-x1", "f64"), ("scan-x1", "u16"), ("scan-x5", "u32")):
        with pytest.raises(Usage):
            found.sort(label, key)


def test_sums_without_a_table_follow_that_of_one_column() -> None:
    own = shape(items=12, coordination="lookback", groups=9)
    for columns, items in ((2, 6), (3, 4), (4, 3)):
        assert scan.derive(f"scan-x{columns}", {"scan-x1": own}, KEYS["u32"], DEVICE) == replace(
            own, columns=columns, items=items
        )
    own = shape(items=32, coordination="sections", work_group=64, subgroup=32)
    device = replace(ROOMY, progress="guaranteed")
    for columns, items in ((2, 16), (3, 8), (4, 8)):
        made = replace(own, columns=columns, items=items)
        assert scan.derive(f"scan-x{columns}", {"scan-x1": own}, KEYS["u32"], device) == made
    small = scan.derive("scan-x4ex", {}, KEYS["u64"], replace(DEVICE, local_bytes=600, work_group=300))
    assert small is not None and small.exclusive and scan.problems(small, replace(DEVICE, local_bytes=600)) == []
    assert scan.derive("scan-x1", {}, KEYS["u64"], replace(DEVICE, int64=False)) is None


def test_floats_of_validations_have_exact_sums() -> None:
    sort = replace(sort_of(shape(columns=2)), signature=Signature(floats=True))
    for n in (1, 1000, 300_000):
        keys = exact_floats(rows_of(shape(columns=2), n).reshape(-1), 2)
        exact = np.cumsum(keys.view(np.float32).reshape(-1, 2), axis=0, dtype=np.float64)
        assert np.array_equal(sums(sort, keys, FLOAT).view(np.float32).reshape(-1, 2), exact)
        assert not (keys == 1 << 31).any() and len(np.unique(keys)) > 1


# In the fast run, variants alternate between inclusive and exclusive.
@pytest.mark.parametrize(
    ("way", "exclusive"),
    [(w, e) if e == bool(i % 2) else nightly(w, e) for e in (False, True) for i, w in enumerate(WAYS)],
)
def test_every_plan_sums(way: str, exclusive: bool) -> None:
    for key in WORDS:
        for columns in (1, 2, 3, 4) if way in WITHIN else (1, 2, 3, 4, 7, 16):
            p = shape(key, columns=columns, exclusive=exclusive, **WAYS[way])
            test_counts = sorted(around(scan.test_counts(p, 11 * p.tile), 11 * p.tile))
            for number, n in enumerate(test_counts[:: 3 if columns > 2 else 1]):
                check(p, n, list(SUMMANDS)[number % len(SUMMANDS)], limit=7 if number % 2 else 2**32 - 1)


@pytest.mark.parametrize("seed", range(20))
def test_tiles_that_give_up_are_done_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    more = ({"starve": 3}, {"starve": 1}, {"spins": 1}, {"starve": 2, "withhold": 3}, {"withhold": 2, "spins": 5})
    for test in more:
        way = WAYS["lookback" if seed % 2 else "lanes alone look back"]
        chosen = {"columns": int(rng.integers(1, 5)), "exclusive": bool(seed & 2), **way, **test}
        p = shape("u64" if seed % 3 else "u32", **chosen)
        redone = check(p, 13 * p.tile + 5, seed=seed)
        assert redone == 2 or "starve" not in test
    patient = shape(withhold=2, spins=1 << 20, **WAYS["lookback"])
    assert check(patient, 13 * patient.tile + 5, seed=seed) == 0
    forward_progress = replace(patient, redo=False, spins=1)
    assert check(forward_progress, 13 * forward_progress.tile + 5, seed=seed) == 0


def test_with_forward_progress_no_pass_is_repeated() -> None:
    found = scan.specialize(
        {"u32": shape(**WAYS["lookback"])}, KEYS["u32"], PLAIN, replace(DEVICE, progress="guaranteed")
    )
    assert (
        found is not None
        and found.forward_progress
        and not scan.specialize({"u32": found}, KEYS["u32"], PLAIN, DEVICE).forward_progress
    )
    assert [k.name for k in scan.kernels(found)] == ["single", "begin", "lookback"]
    assert scan.plan(found).device_status is None and len(scan.plan(found).steps) == 3


@pytest.mark.parametrize("way", WAYS)
def test_every_row_of_a_plan_is_needed(way: str) -> None:
    p = shape(**WAYS[way], **({"starve": 3} if "look" in way else {}))
    sort = sort_of(p)
    rows = rows_of(p, 9 * p.tile + 3)
    expected = sums(sort, rows.reshape(-1)).reshape(rows.shape)
    assert np.array_equal(run(sort, rows, in_place=False)[0], expected)
    for step in sort.plan.steps:
        steps = tuple(s for s in sort.plan.steps if s is not step)
        n = p.tile if step.kernel == "single" else len(rows)
        broken = replace(sort, plan=replace(sort.plan, steps=steps))
        try:
            out, _ = run(broken, rows[:n], in_place=False)
        except (Fault, IndexError):
            continue
        assert not np.array_equal(out, expected[:n]), step.kernel


@pytest.mark.parametrize("key", WORDS)
def test_states_hold_every_bit_and_are_not_accepted_torn(key: str) -> None:
    p = shape(key)
    for value in (0, 1, 2**30 - 1, 2**30, 2**31, KEYS[key].greatest, KEYS[key].greatest // 3):
        words = pieces(p, value, SUMMED)
        assert joined(words) == (SUMMED, value) and len(words) == p.pieces and max(words) < 2**32
        assert joined([*pieces(p, 7, COUNTED)[:1], *words[1:]])[0] == 0


def test_scratch_holds_what_steps_use_up_to_the_greatest_count() -> None:
    for key in WORDS:
        for columns in (1, 7, 16):
            for way in WAYS.values():
                if way.get("coordination") == "sections" and columns > 4:
                    continue
                p = shape(key, columns=columns, **way)
                sort = sort_of(p)
                greatest = sort.plan.max_n
                assert greatest * columns < 2**31 and (greatest == 2**30 or (greatest + 1) * columns >= 2**31)
                for n in (p.tile + 1, 5 * p.tile, 100 * p.tile + 1, greatest):
                    tiles = -(-n // p.tile)
                    words = STATES + tiles * columns * p.pieces
                    need = 4 * words if p.states else min(tiles, p.groups) * columns * p.key.bytes
                    assert need <= sort.plan.scratch.bytes(n) and words < 2**31
                assert sort.plan.scratch.bytes(p.tile) == 0


@pytest.mark.parametrize("way", WAYS)
def test_one_launch_is_enough_for_a_tile(way: str) -> None:
    p = shape(**WAYS[way])
    plan = scan.plan(p)
    for n, expected in ((0, 0), (1, 1), (p.tile, 1), (p.tile + 1, len(plan.steps) - 1)):
        assert len(list(launches(plan, n, in_place=True))) == expected


def test_what_a_launch_moves() -> None:
    p = shape(columns=4)
    n = 40 * p.tile
    moved = {s.kernel: scan.moved(p, s, n) for s in scan.plan(p).steps}
    assert moved == {"single": 32 * n, "reduce": 16 * n + 80, "spine": 160, "scan": 32 * n + 80}
    p = replace(p, coordination="sections", subgroup=8)
    states = 4 * 40 * 4 * 2
    moved = {s.kernel: scan.moved(p, s, n) for s in scan.plan(p).steps}
    assert moved == {"single": 32 * n, "begin": states, "sections": 32 * n + 2 * states}
    p = replace(p, coordination="lookback")
    moved = {s.kernel: scan.moved(p, s, n) for s in scan.plan(p).steps}
    assert moved == {"single": 32 * n, "begin": states, "lookback": 32 * n + 3 * states, "settle": 0, "apply": 0}


@pytest.mark.parametrize(
    ("values", "facts", "names"),
    [
        ({"work_group": 512}, {"work_group": 256}, ["work_group"]),
        ({"coordination": "lookback"}, {"progress": "none"}, ["coordination"]),
        ({"work_group": 4, "columns": 5}, {}, ["work_group"]),
        ({"work_group": 1, "items": 8, "coordination": "lookback"}, {}, ["items"]),
        ({"work_group": 1, "groups": 2000}, {}, ["groups"]),
        ({"items": 100}, {"local_bytes": 4096}, ["items"]),
        ({"work_group": 8, "columns": 2}, {"work_group": 8}, ["work_group"]),
        ({"work_group": 512, "coordination": "lookback"}, {"work_group": 256, "progress": "none"}, None),
        (SECTIONS, PROMISED | {"progress": "started"}, ["coordination"]),
        (SECTIONS, PROMISED | {"shuffle": False}, ["subgroup"]),
        (SECTIONS | {"subgroup": 4}, PROMISED, ["subgroup"]),
        (SECTIONS | {"subgroup": 1}, PROMISED, ["subgroup"]),
        (SECTIONS | {"work_group": 12}, PROMISED, ["subgroup"]),
        (SECTIONS | {"items": 3, "columns": 2}, PROMISED, ["items"]),
        (SECTIONS | {"columns": 5}, PROMISED, ["columns"]),
        (SECTIONS | {"section": 17}, PROMISED, ["section"]),
        (SECTIONS | {"ahead": 2}, PROMISED, ["ahead"]),
        ({"local": True}, {}, ["local"]),
        (SECTIONS | {"local": True, "items": 100}, PROMISED | {"local_bytes": 4096}, ["items"]),
    ],
)
def test_what_cannot_work_is_named(values: dict[str, Any], facts: dict[str, Any], names: list[str] | None) -> None:
    found = scan.problems(shape(**values), replace(DEVICE, **facts))
    assert [name for name, _, _ in found] == (names or ["work_group", "coordination"])
    assert all(what and hint for _, what, hint in found)
    assert scan.problems(shape(), DEVICE) == []
    assert scan.problems(shape(**SECTIONS), replace(DEVICE, **PROMISED)) == []


def test_floats_keep_their_sections() -> None:
    """The order of additions is fixed there, as it is without look-back."""
    device, signature = replace(DEVICE, **PROMISED), Signature(floats=True)
    made = scan.specialize({"u32": shape(**SECTIONS)}, KEYS["u32"], signature, device)
    assert made is not None and made.floats and [k.name for k in scan.kernels(made)] == ["single", "begin", "sections"]
    other = scan.specialize({"u32": shape(**WAYS["lookback"])}, KEYS["u32"], signature, device)
    assert other is not None and not other.states


def test_tables_of_targets_make_scans() -> None:
    found = target.find("cpu")
    assert {"scan-x1", "scan-x4ex"} <= set(found.labels("u32")) and found.default("u32").operation == "sort"
    sort = found.sort("scan-x4ex", "u64")
    assert sort.operation == "scan" and sort.columns == 4 and sort.item_bytes == 32 and sort.file == "scan-x4ex_u64"
    text = render(sort, "opencl").text
    assert (
        "cpu/scan-x4ex_u64: scan-x4ex of u64 elements" in text
        and "hs_atomic_load(" not in text.split("hs_subgroup_id()")[-1]
    )
