"""Radix sorts without a device: the numpy model shows that every plan sorts, stably; invalid tables are rejected.

- Plans of every kind of ranker and coordination, digits of 1 to 11 bits, both key types, in and out of place, at counts
  around every boundary, with look-backs that fail: the result is that of a stable sort by the sorted bits.
- The model can fail: every row of a plan is dropped or changed in turn, and each fault is noticed.
- Every launch finds its data in the scratch memory of the rule, up to the greatest counts.
- Every mistake in a table is named once, and following its hint mends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models.radix.model import Fault, run
from models.radix.shapes import table
from nightly import nightly, nightly_except, thinned
from radix_shapes import WAYS, Keys, boundary, failures, kinds, shape
from sorts import ROOMY, survivors
from steps import changed

from hsgen.algorithms import radix
from hsgen.algorithms.radix import portions
from hsgen.algorithms.radix.reduce_scan import large
from hsgen.algorithms.radix.words import MAX_N, MAX_WIDE, columns, words
from hsgen.core.device import Device
from hsgen.core.flags import DIRECT, REDO
from hsgen.core.interpreter import launches, offset
from hsgen.core.keys import KEYS
from hsgen.core.plan import Literal, Pass, PassCount, Plan, Step
from hsgen.tools.validate.cases import around


def expected(p: radix.Params, keys: Keys) -> Keys:
    """Return `keys` stably sorted by the bits that a shape sorts."""
    end = 8 * p.key.bytes if p.end is None else p.end
    field = (keys >> keys.dtype.type(p.begin)) & keys.dtype.type((1 << (end - p.begin)) - 1)
    sorted_: Keys = keys[np.argsort(field, kind="stable")]
    return sorted_


def check(p: radix.Params, plan: Plan, counts: list[int], failures: list[tuple[int, ...]], *, every: int = 1) -> int:
    """Sort keys of these counts with a plan, in and out of place and with each set of passes failing.

    A count gets every kind of keys, or one of `every` in turn.  Return the total number of failed passes.
    """
    failed = 0
    rng = np.random.default_rng(1)
    for number, n in enumerate(counts):
        for keys in list(kinds(rng, n, p.key.name))[number % every :: every]:
            right = expected(p, keys)
            for in_place in (False, True):
                for failing in failures:
                    out = run(p, plan, keys, in_place=in_place, failing=failing)
                    assert np.array_equal(out.keys, right), (n, in_place, failing)
                    assert out.failed <= set(failing)
                    failed += len(out.failed)
    return failed


WIDTHS = [
    *(("u32", b) for b in (1, 2, 4, 5, 7, 8, 10, 11)),
    *((k, b) for k in ("u8", "u16", "u64") for b in (3, 8, 11)),
]


@pytest.mark.parametrize(("way", "key", "bits"), thinned([(way, *x) for x in WIDTHS for way in WAYS], 3))
def test_plans_sort(way: str, key: str, bits: int) -> None:
    p = shape(key, bits=bits, **WAYS[way])
    assert radix.problems(p, ROOMY) == []
    counts = boundary(p)
    thin = counts[bits % 5 :: 5] if bits in (8, 11) else counts[bits % 9 :: 9]
    thin = [*thin, p.groups % 100 * p.tile + 1]
    failed = check(p, radix.plan(p), thin, failures(p) if bits > 3 else failures(p)[:2], every=5 if bits < 3 else 3)
    assert (failed > 0) == (p.looks_back and not p.forward_progress)


RANGES = [("u32", 8, 16, None), ("u64", 8, 32, None), ("u64", 5, 3, 40), ("u32", 11, 7, 18)]


@pytest.mark.parametrize(
    ("key", "bits", "begin", "end", "way"), thinned([(*x, way) for x in RANGES for way in WAYS], 3)
)
def test_a_part_of_the_bits_is_sorted_stably(way: str, key: str, bits: int, begin: int, end: int | None) -> None:
    p = shape(key, bits=bits, begin=begin, end=end, **WAYS[way])
    check(p, radix.plan(p), boundary(p), failures(p), every=5)


@pytest.mark.parametrize("key", KEYS)
def test_the_rows_for_large_counts_sort_small_ones_too(key: str) -> None:
    p = large(shape(key, large=True))
    check(p, radix.plan(p), boundary(p), [()])


def mutants(p: radix.Params, plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Yield plans with one row missing or wrong.

    A row that always repeats a pass, not only after a failure, changes nothing: no such mutant is made.
    """
    for i, step in enumerate(plan.steps):
        rows: dict[str, Step | None] = {"dropped": None, "runs too late": changed(step, min_n=step.guard.min_n + 1)}
        top = p.alone if step.kernel == "single" else p.stream or 0
        rows["ends too early"] = changed(
            step, max_n=step.guard.max_n - 1 if step.guard.max_n in (top, top - 1) else 2 * p.tile
        )
        if step.guard.place == "any":
            rows["only in place"] = changed(step, place="in")
        rows["only out of place"] = changed(step, place="out")
        given, number = step.argument, step.pass_number
        if not isinstance(given, Literal):
            rows["no pass"] = changed(step, argument=Literal(flags=given.flags))
        if isinstance(given, Pass | PassCount):
            rows["fewer bits"] = changed(step, bits=given.bits - 1)
        if number is not None:
            if step.kernel != "onesweep" and not given.flags & REDO:
                rows["never"] = changed(step, flags=given.flags | REDO)
            if step.kernel != "rows":
                rows["other pass"] = changed(step, number=number ^ 1)
        moves = step.kernel.startswith("scatter") and number is not None and (len(p.digits) - number) % 2 == 1
        if given.flags & DIRECT and (moves or step.kernel == "starts"):
            rows["not direct"] = changed(step, flags=given.flags & ~DIRECT)
        rows["other buffers"] = replace(step, bindings=step.bindings[::-1])
        if step.grid.div > 1:
            rows["a group too few"] = changed(step, add=step.grid.add - step.grid.div)
            rows["half the groups"] = changed(step, div=2 * step.grid.div)
        least = p.digits[number or 0][1] if step.kernel == "rows" else 0
        least = (1 << least) - 1 if least else (step.guard.max_n - 1) // p.tile
        if 1 < step.grid.cap < 2**32 - 1 and step.grid.cap - 1 <= least:
            rows["a lower cap"] = changed(step, cap=step.grid.cap - 1)
        if len(step.bindings) == 1:
            del rows["other buffers"]
        for what, row in rows.items():
            if step.guard.min_n < step.guard.max_n:
                steps = (*plan.steps[:i], *([row] if row else []), *plan.steps[i + 1 :])
                yield f"{i} {step.kernel} {given}: {what}", replace(plan, steps=steps)


@pytest.mark.parametrize(
    "p",
    [
        shape(bits=8),
        nightly(shape(bits=11)),
        shape("u64", bits=11, begin=42, coordination="lookback", single=50, split_above=1 << 30),
        nightly(shape(bits=11, coordination="lookback", single=50, split_above=1 << 30)),
        shape(bits=11, split_above=1 << 30, **WAYS["endless"]),
        nightly(shape(bits=8, begin=16, single=50, **WAYS["portions"])),
        shape(bits=8, begin=16, **WAYS["endless portions"]),
        shape(bits=11, **WAYS["folded"]),
        nightly(shape(bits=11, **WAYS["serial"])),
        shape(bits=8, **WAYS["lines"]),
    ],
    ids=lambda p: f"{p.key.name}-{p.STRATEGY}-{p.bits}-{p.work_group}-{p.subgroup}-{p.stream}-{p.redo}-{p.split_above}",
)
def test_every_fault_in_a_plan_is_noticed(p: radix.Params) -> None:
    plan = radix.plan(p)
    lines = around([p.stream], 1000) if p.stream else set()
    unit = portions.count(p) * p.tile
    more = {p.split_above, p.split_above + 1, unit, unit + 1, 2 * unit} if 0 < p.split_above < 1000 else set()
    counts = sorted({1, p.alone, p.alone + 1, p.tile + 1, p.groups * p.tile + 1, 5, *lines, *more})[::-1]
    lost: list[tuple[int, ...]] = [(0,), (len(p.digits) - 1,), ()] if p.looks_back and p.redo else [()]
    check(p, plan, counts, lost)
    tried, survived = survivors(mutants(p, plan), lambda mutant: check(p, mutant, counts, lost), Fault)
    assert tried > 30 and survived == [], survived


@pytest.mark.parametrize(("end", "bits"), [(32, b) for b in range(1, 12)] + [(64, b) for b in range(1, 12)])
def test_digits_are_as_few_and_as_even_as_their_width_allows(end: int, bits: int) -> None:
    p = shape("u32" if end == 32 else "u64", bits=bits)
    widths = [width for _, width in p.digits]
    assert len(widths) == -(-end // bits) and sum(widths) == end
    assert max(widths) <= bits and max(widths) - min(widths) <= 1 and widths == sorted(widths, reverse=True)
    assert [shift for shift, _ in p.digits] == [sum(widths[:i]) for i in range(len(widths))]
    assert p.radix == 1 << max(widths)


def test_known_digits() -> None:
    assert shape(bits=8).digits == ((0, 8), (8, 8), (16, 8), (24, 8))
    assert shape(bits=11).digits == ((0, 11), (11, 11), (22, 10))
    assert shape(bits=5).digits == ((0, 5), (5, 5), (10, 5), (15, 5), (20, 4), (24, 4), (28, 4))
    assert shape("u64", bits=11).digits == ((0, 11), (11, 11), (22, 11), (33, 11), (44, 10), (54, 10))
    assert shape("u64", bits=8, begin=32).digits == ((32, 8), (40, 8), (48, 8), (56, 8))
    assert shape(bits=8, begin=7, end=20).digits == ((7, 7), (14, 6))
    assert shape(bits=8, begin=7, end=20).radix == 128


def test_what_follows_from_a_shape() -> None:
    p = shape(items=15, work_group=256, single=None)
    assert (p.tile, p.alone, radix.block(p)) == (3840, 3840, 3840)
    assert (replace(p, single=0).alone, radix.block(replace(p, single=0))) == (0, 3840)
    assert radix.block(replace(p, single=100)) == 100
    serial = shape(ranker="serial", work_group=1, single=None)
    assert serial.alone == 0 and serial.folded and not replace(serial, work_group=2).folded
    assert serial.line == 16 and replace(serial, key=KEYS["u64"]).line == 8
    assert shape(subgroup=4, ranker="match_ballot").subgroups == 2
    notes = dict(radix.notes(shape(bits=11)))
    assert notes["digits"] == "passes of [11, 11, 10] bits, 2048 values"
    assert dict(radix.notes(shape()))["digits"] == "4 passes of 8 bits, 256 values"


def needs(p: radix.Params, kernel: str, n: int) -> dict[str, int]:
    """Return the bytes that a launch for `n` keys uses in each of its buffers in scratch."""
    wide = kernel.endswith("_wide")
    q = large(p) if wide else p
    tiles = -(-n // p.tile)
    least = tiles if n <= portions.whole(p) else -(-n // (portions.count(p) * p.tile))
    groups = portions.counted_groups(p) if p.looks_back and not wide else p.groups
    counted = min(tiles, groups) if kernel.removesuffix("_wide") in ("count", "rows", "scatter") else 0
    rows = p.radix * columns(p) * (least if kernel in ("onesweep", "histogram") else counted)
    return {
        "other": n * p.key.bytes,
        "words": 4 * words(q).tile_states.start + (0 if wide else 4 * rows),
        "table": 8 * (p.radix + rows),
    }


@pytest.mark.parametrize("key", nightly_except(KEYS, ("u8", "u64")))
@pytest.mark.parametrize(
    ("way", "more"), [(w, m) for w in WAYS for m in ({}, {"large": True}) if not m or "serial" not in WAYS[w].values()]
)
def test_every_launch_finds_what_it_needs_in_scratch(way: str, key: str, more: dict[str, bool]) -> None:
    p = shape(key, **WAYS[way], **more)
    plan = radix.plan(p)
    least = radix.plan(replace(p, large=False) if p.large else p).max_n
    counts = {*boundary(p), *around([least, 1 << 24, plan.max_n, *([1 << 32, 1 << 37] if p.large else [])], plan.max_n)}
    for n in counts:
        scratch = plan.scratch.bytes(n)
        for launch in launches(plan, n, in_place=False):
            step = launch.step
            kernel = next(k for k in radix.kernels(p) if k.name == step.kernel)
            need = needs(p, step.kernel, n)
            for buffer, binding in zip(kernel.buffers, step.bindings, strict=True):
                if binding.role == "scratch":
                    assert offset(binding, n) + need[buffer.name] <= scratch, (n, step.kernel, buffer.name)
            assert kernel.index64 == (n > least), (n, step.kernel)
        if plan.device_status and n > plan.device_status.min_n:
            assert offset(plan.device_status.binding, n) + 4 * plan.device_status.words <= scratch
            assert plan.device_status.words == len(p.digits)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("coordination", ["scan", "lookback"])
def test_from_2_to_the_30_on_every_row_is_one_of_the_large_plan(key: str, coordination: str) -> None:
    """Small counts prove these rows in the model; see above."""
    p = shape(key, large=True, coordination=coordination, single=None, items=16, work_group=64)
    plan, wide = radix.plan(p), radix.plan(large(p))
    assert plan.max_n == wide.max_n > 1 << 32
    for n in (MAX_N + 1, MAX_N + 2, (1 << 32) - 1, 1 << 32, (1 << 32) + 1):
        for in_place in (False, True):
            found = [x for x in launches(plan, n, in_place=in_place)]
            alike = [x for x in launches(wide, n, in_place=in_place)]
            assert [changed(x.step, min_n=0) for x in found] == [x.step for x in alike]
            assert [x.grid for x in found] == [x.grid for x in alike] and found
    names = [x.step.kernel for x in launches(plan, MAX_N, in_place=True)]
    assert names and not any(name.endswith("_wide") for name in names)
    assert all(s.guard.max_n <= MAX_N for s in plan.steps if not s.kernel.endswith("_wide"))


@pytest.mark.parametrize("key", KEYS)
def test_counters_of_large_sorts_do_not_wrap(key: str) -> None:
    """A work-group counts its keys in 32 bits for any n: its share must have fewer than 2^32."""
    for groups in (1, 5, 64, 1024, 65535):
        p = large(shape(key, large=True, groups=groups, items=16, work_group=256))
        n = radix.plan(p).max_n
        tiles = (n + p.tile - 1) // p.tile
        assert (tiles + groups - 1) // groups * p.tile < 1 << 32 and n >= min(MAX_WIDE, groups << 31)


@pytest.mark.parametrize("way", [*WAYS, "a key a lane"])
def test_indices_of_the_table_stay_below_2_to_the_31(way: str) -> None:
    """Kernels index with signed 32-bit numbers, also the table of tiles or chunks."""
    tiny = {"items": 1, "work_group": 1, "subgroup": 1, "coordination": "lookback", "single": 0}
    p = shape(bits=11, **WAYS.get(way, tiny))
    for q in (p, replace(p, groups=65535)):
        units = -(-radix.plan(q).max_n // q.tile)
        entries = q.radix * columns(q) * (units if q.looks_back else min(units, q.groups))
        assert words(q).tile_states.start + entries < 1 << 31


def test_the_work_group_that_sorts_alone_may_have_lanes_of_its_own() -> None:
    single, count, *_ = radix.kernels(shape(**WAYS["serial, one lane alone"]))
    assert (single.work_group, count.work_group) == (1, 4)
    assert next(a.count for a in single.arrays if a.name == "counts") == 2 * 256  # two sets, of a lane alone


def test_bytes_moved() -> None:
    """Four digits of 8 bits; with look-back 9 times the keys are read or written, otherwise 12 times."""
    n, tile = 1 << 20, 4096
    for coordination, times in (("lookback", 9), ("scan", 12)):
        p = shape(items=16, work_group=256, groups=64, coordination=coordination)
        parts: dict[str, int] = {}
        for x in launches(radix.plan(p), n, in_place=False):
            parts[x.step.kernel] = parts.get(x.step.kernel, 0) + radix.moved(p, x.step, n)
        table = 4 * 256 * 64
        rest = sum(parts.values()) - times * 4 * n
        assert rest == (
            4 * (table + 2 * table + table)
            if coordination == "scan"
            else 4 * 4 * 256 + 4 * 256 * (n // tile) + 8 * 4 * 256 + 4 * 12 * 256 * (n // tile)
        )
    p = shape(bits=11, groups=64, items=16, work_group=256)
    copies = [x for x in launches(radix.plan(p), n, in_place=True) if x.step.kernel == "copy"]
    assert [radix.moved(p, x.step, n) for x in copies] == [0]
    assert radix.moved(p, radix.plan(p).steps[0], 20) == 160


def test_edges_and_row_ends_lie_where_a_sort_changes_its_way() -> None:
    p = shape(single=None, ranker="match_ballot", subgroup=4)
    found = radix.test_counts(p, 1000)
    assert {0, 1, 16, 32, 64, 96, 128, 160, 192, 320, 1000} <= set(found) and found == sorted(set(found))
    assert max(radix.test_counts(p, 50)) == 50
    assert 70 in radix.test_counts(shape(**WAYS["lines"]), 1000)
    assert radix.row_test_counts(p, 1000) == [34, 38, 42, 46, 50, 54, 58, 62]
    assert radix.row_test_counts(shape(**WAYS["serial"]), 1000) == []


def flawed(values: dict[str, Any], device: Device = ROOMY) -> list[tuple[str, str, str]]:
    own = table({"ranker": "bitmask", "single": 0, **values})
    return list(dict.fromkeys([*radix.alone(own, device), *radix.problems(shape(**values), device)]))


LANES = {"ranker": "match_ballot", "subgroup": 8, "work_group": 64, "single": None}
SERIAL = {"ranker": "serial", "work_group": 4}
PLAIN = replace(ROOMY, shuffle=False, subgroups=(1,))


@pytest.mark.parametrize(
    ("values", "device", "key", "what", "hint", "mend"),
    [
        (
            LANES,
            PLAIN,
            "subgroup",
            "this device has no shuffle",
            'give 1, and the ranker "bitmask" or "radix_split"',
            [{"subgroup": 1, "ranker": r} for r in ("bitmask", "radix_split", "serial")],
        ),
        (
            LANES,
            replace(ROOMY, subgroups=(16, 32)),
            "subgroup",
            "this device has no subgroups of 8",
            "give 1 or one of 16, 32",
            [{"subgroup": 16}, {"subgroup": 32}],
        ),
        (
            {"work_group": 512},
            replace(ROOMY, work_group=256),
            "work_group",
            "512 lanes exceed the work-group limit of 256",
            "give at most 256",
            [{"work_group": 256}],
        ),
        (
            {"coordination": "lookback"},
            replace(ROOMY, progress="none"),
            "",
            'decoupled look-back needs work-groups that continue once started (device.progress = "started")',
            "choose another strategy",
            [{"coordination": "scan"}],
        ),
        (
            {**SERIAL, "subgroup": 8},
            ROOMY,
            "work_group",
            "a subgroup that walks a chunk is a work-group, 4 lanes are not 8",
            "give 8, or a subgroup of 1: every lane then walks its own chunk",
            [{"work_group": 8}, {"subgroup": 1}],
        ),
        (
            {**SERIAL, "work_group": 1, "groups": 300},
            ROOMY,
            "groups",
            "each of 300 lanes would sum 300 columns of counts",
            "give at most 256",
            [{"groups": 256}],
        ),
        (
            {**SERIAL, "subgroup": 4, "single_lanes": 1},
            ROOMY,
            "single_lanes",
            "subgroups that walk chunks take keys a row at a time",
            "leave it out, or give a subgroup of 1",
            [{"single_lanes": None}, {"subgroup": 1}],
        ),
        (
            {**SERIAL, "compact": True, "single": 20},
            ROOMY,
            "compact",
            "only a lane alone sorts in such a kernel",
            "give single_lanes = 1, or leave it out",
            [{"compact": None}, {"single_lanes": 1}],
        ),
        (
            {**SERIAL, "large": True},
            ROOMY,
            "large",
            "is no key of the strategy per_thread",
            "leave it out",
            [{"large": False}, {"ranker": "bitmask", "single": 0}],
        ),
        (
            {**SERIAL, "stream_from": 1000},
            ROOMY,
            "stream_from",
            "only work-groups of one lane collect keys",
            "leave it out, or give a work_group of 1",
            [{"stream_from": None}, {"work_group": 1}],
        ),
        (
            {**LANES, "subgroup": 1},
            ROOMY,
            "subgroup",
            "the ranker match_ballot needs subgroups",
            "give their width, or another ranker",
            [{"subgroup": 16}, {"ranker": "bitmask"}],
        ),
        (
            {"ranker": "radix_split", "subgroup": 4},
            ROOMY,
            "subgroup",
            "the ranker radix_split uses no subgroup operations",
            "give 1",
            [{"subgroup": 1}],
        ),
        (
            {**LANES, "work_group": 60},
            ROOMY,
            "work_group",
            "60 lanes are no whole subgroups",
            "give a multiple of 8",
            [{"work_group": 56}, {"work_group": 64}],
        ),
        (
            {**LANES, "ranker": "match_broadcast", "subgroup": 64},
            ROOMY,
            "ranker",
            "comparing with 64 lanes one by one does not pay",
            'give "match_ballot"',
            [{"ranker": "match_ballot"}],
        ),
        (
            {"items": 65},
            ROOMY,
            "items",
            "65 keys do not fit the registers of a lane",
            "give at most 64",
            [{"items": 64}],
        ),
        ({"single": 33}, ROOMY, "single", "one work-group holds 32 keys", "give at most 32", [{"single": 32}]),
        (
            {"stream_from": 1000},
            ROOMY,
            "stream_from",
            "is no key of the strategy reduce_scan",
            "leave it out",
            [{"stream_from": None}, {"ranker": "serial", "work_group": 1}],
        ),
        (
            {"items": 64, "work_group": 2000},
            ROOMY,
            "items",
            "a tile of 128000 keys is too large",
            "give at most 32",
            [{"items": 32}],
        ),
        (
            {"items": 16, "work_group": 64},
            replace(ROOMY, local_bytes=9475),
            "items",
            "scatter needs 9480 bytes of local memory, the device has 9475",
            "give fewer bits, items or lanes",
            [{"bits": 7}, {"items": 15}, {"work_group": 63}],
        ),
        (
            {"coordination": "lookback", "single": 0},
            replace(ROOMY, local_bytes=4095),
            "bits",
            "histogram needs 4096 bytes of local memory, the device has 4095",
            "give fewer bits, items or lanes",
            [{"bits": 7}],
        ),
    ],
)
def test_each_mistake_is_named_once_and_its_hint_mends_it(
    values: dict[str, Any], device: Device, key: str, what: str, hint: str, mend: list[dict[str, Any]]
) -> None:
    (found,) = [x for x in flawed(values, device) if x[0] == key] or [("", "", "")]
    assert found == (key, what, hint)
    for better in mend:
        assert flawed({**values, **better}, device) == [], better


def test_all_mistakes_of_a_shape_are_named_at_once() -> None:
    bad = {"items": 70, "single": 10**6, "stream_from": 5, "subgroup": 3, "coordination": "lookback"}
    found = flawed(bad, replace(ROOMY, progress="none"))
    assert sorted(key for key, _, _ in found) == [
        "",
        "items",
        "single",
        "stream_from",
        "subgroup",
        "subgroup",
    ]


def test_single_values_are_judged_alone_where_others_are_wrong() -> None:
    device = replace(ROOMY, progress="none", work_group=64)
    found = list(radix.alone({"strategy": "onesweep", "work_group": 65, "subgroup": 2, "bins": 64}, device))
    assert [key for key, _, _ in found] == ["subgroup", "work_group", "bins"]
    assert list(radix.alone({}, device)) == []
