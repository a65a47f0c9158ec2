"""Plans: the interpretation of a row, and the guarantees of a merge sort's table.

- The interpreter: guards, positions, cap, negative and truncated counts, grids of two dimensions, refused counts;
  offsets of bindings, and the bytes of scratch.
- A merge plan names only existing kernels, sorts every count with exactly one block sort, and gives each merge
  level the lanes of exactly its spans; its launches are as many as the formula says, its numbers fit 32 bits.
- The table has no superfluous row: without any one of them, some count is no longer sorted (by the kernels' model).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.bitonic.memory import Fault
from models.bitonic.model import run
from shipped import sampled
from steps import changed

from hsgen.algorithms import bitonic
from hsgen.algorithms.bitonic.kernel_data import BlockSort, Clean, Stream
from hsgen.algorithms.bitonic.plan import level_of, lg_stride_of
from hsgen.core.errors import Usage
from hsgen.core.interpreter import Launch, launches, offset
from hsgen.core.interpreter import groups as groups_of
from hsgen.core.keys import KEYS
from hsgen.core.networks import pow2_ceil
from hsgen.core.plan import Binding, Grid, Guard, Literal, Plan, Step
from hsgen.core.scratch import Scratch, ScratchRule, scratch_of
from hsgen.core.sort import Part, Sort
from hsgen.targets import target
from hsgen.tools.validate.cases import around

STEP = Step(
    kernel="k",
    bindings=(Binding(role="destination"),),
    guard=Guard(min_n=10, max_n=1000),
    grid=Grid(),
)


def groups(step: Step, n: int) -> int:
    """Return the groups of a step that runs in place and out of place alike."""
    assert groups_of(step, n, in_place=True) == groups_of(step, n, in_place=False)
    return groups_of(step, n, in_place=True)


def grids(step: Step, n: int, limit: int = 2**32 - 1) -> list[tuple[int, tuple[int, int]]]:
    """Return groups and grid of every launch of a plan of one step."""
    found = launches(Plan(steps=(step,), max_n=1 << 40), n, limit, in_place=False)
    return [(each.groups, each.grid) for each in found]


def test_a_step_may_be_for_one_place_only() -> None:
    inside, outside = changed(STEP, place="in"), changed(STEP, place="out")
    assert groups_of(inside, 20, in_place=True) == groups_of(outside, 20, in_place=False) == 20
    assert groups_of(inside, 20, in_place=False) == groups_of(outside, 20, in_place=True) == 0
    plan = Plan(steps=(inside, outside, STEP), max_n=1000)
    assert [each.step.guard.place for each in launches(plan, 20, in_place=True)] == ["in", "any"]
    assert [each.step.guard.place for each in launches(plan, 20, in_place=False)] == ["out", "any"]


def test_bindings_have_their_offsets_rounded_up_to_1024_in_scratch() -> None:
    for role in ("source", "destination"):
        assert offset(Binding(role=role, plus=3, per_n=5), 7) == 38
    for plus, per_n, n, begin in (
        (0, 0, 9, 0),
        (1, 0, 9, 1024),
        (1024, 0, 9, 1024),
        (0, 4, 257, 2048),
        (5, 8, 0, 1024),
    ):
        assert offset(Binding(role="scratch", plus=plus, per_n=per_n), n) == begin


def test_scratch_by_its_rule() -> None:
    rule = scratch_of(min_n=10, plus=1000, per_n=4, unit=64, per_unit=100, units=3)
    assert [rule.bytes(n) for n in (0, 10, 11, 64, 65, 128, 129, 192, 193, 10**6)] == [
        *(0, 0, 1000 + 44 + 100, 1000 + 256 + 100, 1000 + 260 + 200, 1000 + 512 + 200),
        *(1000 + 516 + 300, 1000 + 768 + 300, 1000 + 772 + 300, 1000 + 4_000_000 + 300),
    ]
    assert Scratch().bytes(1 << 40) == 0


def test_scratch_is_the_greatest_of_its_rules() -> None:
    few = ScratchRule(min_n=10, max_n=100, plus=50, per_n=8, unit=16, per_unit=4, units=5)
    many = ScratchRule(min_n=100, per_n=4)
    scratch = Scratch((few, many))
    assert [scratch.bytes(n) for n in (10, 11, 100, 101, 217, 218, 1000)] == [0, 142, 870, 870, 870, 872, 4000]
    assert [scratch.after(1024).bytes(n) for n in (10, 11, 1000)] == [0, 1166, 5024]
    assert scratch.within(50, 90).rules == (replace(few, min_n=50, max_n=90),)
    assert scratch.within(100, 200).rules == (replace(many, max_n=200),)


def test_a_binding_is_bounded_in_scratch_only() -> None:
    here = Binding(role="scratch", plus=1024, per_n=4).bounded(1000)
    assert [offset(here, n) for n in (0, 256, 1000, 10**9)] == [1024, 2048, 5120, 5120]
    for other in (Binding(role="source"), Binding(role="scratch", plus=5)):
        assert other.bounded(7) == other


def test_a_step_runs_beyond_min_n_and_up_to_max_n() -> None:
    assert [groups(STEP, n) for n in (0, 9, 10, 11, 999, 1000, 1001)] == [0, 0, 0, 11, 999, 1000, 0]
    assert grids(STEP, 10) == [] and grids(STEP, 1001) == []
    assert grids(STEP, 11) == [(11, (11, 1))]


def test_groups_are_added_to_divided_multiplied_and_capped_in_this_order() -> None:
    step = changed(STEP, add=5, div=8, mul=3, cap=30)
    assert [groups(step, n) for n in (11, 18, 19, 74, 75, 83, 91, 1000)] == [6, 6, 9, 27, 30, 30, 30, 30]


def test_a_negative_add_may_leave_nothing_to_launch() -> None:
    step = changed(STEP, add=-20, div=4)
    assert [groups(step, n) for n in (20, 23, 24, 28)] == [0, 0, 1, 2]
    assert grids(step, 23) == [] and grids(step, 11) == []
    assert grids(step, 28) == [(2, (2, 1))]


def test_numbers_beyond_32_bits() -> None:
    step = changed(STEP, min_n=1 << 33, max_n=1 << 39, add=(1 << 34) - 1, div=1 << 34)
    assert groups(step, 1 << 33) == 0
    assert groups(step, (1 << 35) + 1) == 3


@given(st.integers(1, 1 << 32), st.sampled_from([1 << 16, 65535, 100000, 2**32 - 1]))
def test_a_grid_is_split_into_rows_that_fit(count: int, limit: int) -> None:
    """The rows fit, they hold all groups, and there are fewer unused groups than rows."""
    step = changed(STEP, min_n=0, max_n=1 << 40)
    if min(count, step.grid.cap) > limit * limit:
        with pytest.raises(Usage, match="do not fit a grid of"):
            grids(step, count, limit)
        return
    [(wanted, (width, rows))] = grids(step, count, limit)
    assert wanted == min(count, step.grid.cap)
    assert width <= limit
    assert 0 <= width * rows - wanted < rows
    if wanted <= limit:
        assert rows == 1
    assert rows <= limit


def test_grids_at_the_edge_of_a_limit() -> None:
    step = changed(STEP, max_n=1 << 40)
    assert grids(step, 65535, 65535) == [(65535, (65535, 1))]
    assert grids(step, 65536, 65535) == [(65536, (32768, 2))]
    assert grids(step, 65535 * 3, 65535) == [(65535 * 3, (65535, 3))]
    assert grids(step, 65535 * 3 + 1, 65535) == [(65535 * 3 + 1, (49152, 4))]


@pytest.mark.parametrize("n", [-1, 1001, 1 << 40])
def test_counts_that_a_plan_does_not_sort_are_refused(n: int) -> None:
    with pytest.raises(Usage, match="0 to 1000"):
        list(launches(Plan(steps=(STEP,), max_n=1000), n, in_place=True))


def test_steps_run_in_the_order_of_the_table() -> None:
    steps = tuple(changed(STEP, kernel=f"k{i}", min_n=10 * i) for i in range(5))
    found = launches(Plan(steps=steps, max_n=1000), 30, in_place=True)
    assert [each.step.kernel for each in found] == ["k0", "k1", "k2"]


def sort_of(subgroup: int, height: int, slabs: int, **values: int) -> Sort:
    """Return the sort of a shape that no target has; defaults are small."""
    small = {"clean_slabs": 1, "local_scale": 2, "flip_scale": 2, "half_scale": 2, "stream_group": subgroup}
    p = bitonic.Params(key=KEYS["u32"], subgroup=subgroup, height=height, slabs=slabs, **{**small, **values})
    plan = bitonic.plan(p)
    part = Part(algorithm="bitonic", params=p, min_n=0, max_n=plan.max_n)
    return Sort(target="any", algorithm="bitonic", key=p.key, kernels=bitonic.kernels(p), plan=plan, parts=(part,))


def shipped() -> list[Sort]:
    """Return the merge sorts of shipped targets."""
    targets = [target.find(name) for name in sampled()]
    return [t.sort(algorithm, key) for t in targets for algorithm, key in t.choices if algorithm == "bitonic"]


SMALL = [
    sort_of(1, 2, 1),
    sort_of(1, 6, 3, flip_scale=1, half_scale=1),
    sort_of(2, 2, 3, flip_scale=1, half_scale=1),
    sort_of(2, 4, 4, clean_slabs=4, stream_group=8),
    sort_of(4, 8, 16, clean_slabs=2, half_scale=1),
    sort_of(8, 4, 20, clean_slabs=16, flip_scale=3, stream_group=32),
]
SORTS = [*shipped(), *SMALL]


def names(sort: Sort) -> str:
    """Return the id of a test's sort."""
    p = params(sort)
    return sort.name if sort.target != "any" else f"{p.subgroup}x{p.height}x{p.slabs}"


def params(sort: Sort) -> bitonic.Params:
    """Return the parameters of a merge sort."""
    (part,) = sort.parts
    assert isinstance(part.params, bitonic.Params)
    return part.params


def merged(sort: Sort, n: int, limit: int = 2**32 - 1) -> list[Launch]:
    """Return the launches of a merge sort, which are the same in place and out of place."""
    found = list(launches(sort.plan, n, limit, in_place=True))
    assert found == list(launches(sort.plan, n, limit, in_place=False))
    return found


def of_kind(sort: Sort, step: Step, kind: type) -> bool:
    """Return whether a step launches a kernel of this kind."""
    return isinstance(sort.kernel(step.kernel).data, kind)


def counts_of(sort: Sort) -> list[int]:
    """Return counts around all boundaries of the plan, the greatest one included."""
    p = params(sort)
    test_counts = {e for s in sort.plan.steps for e in (s.guard.min_n, s.guard.max_n)}
    return sorted({*around(test_counts, sort.plan.max_n), *around(bitonic.test_counts(p, 8 * p.block), 8 * p.block)})


def levelled(sort: Sort) -> Sort:
    """Return the same sort with bitonic levels only; test_merge_paths covers merge path."""
    p = replace(params(sort), path_from=None, path_walks=False)
    return replace(
        sort, kernels=tuple(bitonic.kernels(p)), plan=bitonic.plan(p), parts=(replace(sort.parts[0], params=p),)
    )


LEVELLED = [levelled(sort) for sort in SORTS]


@pytest.mark.parametrize("sort", LEVELLED, ids=names)
def test_rows_are_consistent(sort: Sort) -> None:
    kernels = {k.name: k for k in sort.kernels}
    assert len(kernels) == len(sort.kernels)
    for step in sort.plan.steps:
        assert tuple(b.role for b in step.bindings) == tuple(b.name for b in kernels[step.kernel].buffers)
        assert step.guard.place == "any"
        assert all(b.per_n == b.plus == 0 for b in step.bindings)
        assert 0 <= step.guard.min_n < step.guard.max_n <= sort.plan.max_n
        assert step.grid.div > 0 and step.grid.mul > 0 and step.grid.x == "n" and step.grid.add >= 0
        assert groups(step, step.guard.min_n) == 0 < groups(step, step.guard.min_n + 1)
        assert (
            groups(step, step.guard.max_n) < 1 << 31 and isinstance(step.argument, Literal) and step.argument.value >= 0
        )
    assert sort.plan.scratch.bytes(sort.plan.max_n) == 0 and sort.plan.device_status is None


@pytest.mark.parametrize("sort", SORTS, ids=names)
def test_nothing_is_launched_for_nothing(sort: Sort) -> None:
    assert merged(sort, 0) == []
    for n in (-1, sort.plan.max_n + 1):
        with pytest.raises(Usage):
            merged(sort, n)


@pytest.mark.parametrize("sort", [levelled(s) if params(s).lane_block else s for s in SORTS], ids=names)
def test_every_count_has_one_block_sort_that_covers_it(sort: Sort) -> None:
    """The smallest kernel whose block holds all keys, otherwise whole blocks; test_merge_paths has blocks by rows."""
    p = params(sort)
    sizes = [k.data.slabs * p.height * p.subgroup for k in sort.kernels if isinstance(k.data, BlockSort)]
    assert sizes == sorted(sizes) and sizes[-1] == p.block
    for n in counts_of(sort):
        first, *others = merged(sort, n) or [None]
        assert not any(of_kind(sort, each.step, BlockSort) for each in others)
        if first:
            data = sort.kernel(first.step.kernel).data
            assert isinstance(data, BlockSort)
            size = data.slabs * p.height * p.subgroup
            assert size == next((s for s in sizes if s >= n), p.block)
            assert (first.groups - 1) * size < n <= first.groups * size


@pytest.mark.parametrize("sort", LEVELLED, ids=names)
def test_levels_have_their_stages_and_lanes(sort: Sort) -> None:
    """A flip, halves and a clean for each level with two runs: each stage once, each virtual slot in one lane."""
    p = params(sort)
    for n in counts_of(sort):
        rows = [each for each in merged(sort, n) if not of_kind(sort, each.step, BlockSort)]
        levels = [j for j in range(40) if p.block << j < n]
        assert sorted({level_of(each.step) for each in rows}) == levels
        assert rows == sorted(rows, key=lambda each: level_of(each.step))
        expected = 0
        for level in levels:
            run_, virtual = p.block << level, 2 * pow2_ceil(p.block) << level
            spans = -(-(n - run_) // (2 * run_))
            chunk = virtual
            *streams, clean = [each for each in rows if level_of(each.step) == level]
            for i, each in enumerate(streams):
                data = sort.kernel(each.step.kernel).data
                assert isinstance(data, Stream) and data.flip == (i == 0)
                chunk >>= data.scale
                assert chunk == 1 << lg_stride_of(each.step)
                assert each.groups * p.stream_group << data.scale == spans * virtual
            assert of_kind(sort, clean.step, Clean) and chunk == p.chunk
            assert clean.groups * p.chunk == spans * virtual
            stages = (virtual // p.chunk).bit_length() - 1
            expected += 2 + -(-max(0, stages - p.flip_scale) // p.half_scale)
        assert len(rows) == expected


@pytest.mark.parametrize("sort", LEVELLED, ids=names)
def test_indices_fit_signed_32_bit_numbers(sort: Sort) -> None:
    """At the greatest count, including the excess groups of a split grid: at most one grid row, 65535 wide."""
    p = params(sort)
    for each in merged(sort, sort.plan.max_n, 65535):
        group = each.grid[0] * each.grid[1] - 1
        data, level = sort.kernel(each.step.kernel).data, level_of(each.step)
        if isinstance(data, BlockSort):
            assert (group + 1) * data.slabs * p.height * p.subgroup < 1 << 31
            continue
        run_, virtual = p.block << level, 2 * pow2_ceil(p.block) << level
        lanes = p.chunk if isinstance(data, Clean) else p.stream_group << data.scale if isinstance(data, Stream) else 0
        span = group // (virtual // lanes) * 2 * run_
        assert span + 2 * run_ < 1 << 31  # the guard adds one run, the mirror rows begin at two
        assert virtual < 1 << 31


def keys_of(n: int) -> np.ndarray:
    """Return four kinds of keys: two random ones, descending ones, all ones but a zero at the end."""
    rng = np.random.default_rng(n)
    keys = rng.integers(0, 2**32, (4, n), np.uint32)
    keys[1] &= 1
    keys[2] = np.arange(n)[::-1]
    keys[3] = np.arange(n) < n - 1
    return keys


def sorts(sort: Sort, n: int, *, in_place: bool) -> bool:
    """Return whether the model sorts n keys of all kinds without a fault."""
    keys = keys_of(n)
    wanted = np.sort(keys)
    try:
        return bool((run(sort, keys, in_place=in_place) == wanted).all())
    except Fault:
        return False


INTEL = next(s for s in SORTS if s.name == "intel-gen8/bitonic_u32")


@pytest.mark.parametrize("sort", [*SMALL, INTEL], ids=names)
def test_no_row_can_be_dropped(sort: Sort) -> None:
    """The whole table sorts at every tested count; without any of its rows some count stays unsorted."""
    p = params(sort)
    most = (16 if p.block < 100 else 5) * p.block
    counts = sorted(
        {*around([e for s in sort.plan.steps for e in (s.guard.min_n, s.guard.max_n)], most), 3 * p.block, most}
    )
    for n in counts:
        assert sorts(sort, n, in_place=True) and sorts(sort, n, in_place=False)
    for i, row in enumerate(sort.plan.steps):
        if row.guard.min_n < most:
            steps = sort.plan.steps[:i] + sort.plan.steps[i + 1 :]
            less = replace(sort, plan=replace(sort.plan, steps=steps))
            assert not all(sorts(less, n, in_place=True) for n in counts if groups(row, n)), row


def test_shipped_targets_have_no_kernel_that_no_plan_uses() -> None:
    for sort in shipped():
        assert {k.name for k in sort.kernels} == {s.kernel for s in sort.plan.steps}
