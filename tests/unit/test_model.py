"""The model executes the kernels' data without a device, and shows that every shape sorts every count.

- Shipped targets and hypothesis-drawn shapes, at counts around every boundary, in and out of place, with a grid
  split into narrow rows: the result is numpy's, and nothing at or beyond n is written.
- Every input of zeros and ones for small shapes; for their merge levels every pair of sorted runs.
- Geometry: a pass covers each row of its spans once; it holds no more rows than a lane may; a row has a guard
  exactly where it can leave its span, and truncation dropped exactly the rows that are always outside.
- The model itself raises a fault at an illegal operation, so that a passing test has meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from bitonic_shapes import LOOPED, RAGGED, boundary, shape
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from models.bitonic.lanes import exchange, row_numbers, tile_pass
from models.bitonic.memory import Fault, Memory
from models.bitonic.model import run
from nightly import NIGHTLY, thinned
from numpy.typing import NDArray
from shipped import sampled
from sorts import ROOMY

from hsgen.algorithms import bitonic
from hsgen.algorithms.bitonic.kernel_data import BlockSort, Clean, Stream
from hsgen.algorithms.bitonic.passes import Pass
from hsgen.algorithms.bitonic.plan import level_of
from hsgen.algorithms.bitonic.rows import Flip, Half, Row, Swap
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KEYS
from hsgen.core.networks import pow2_ceil, pow2_floor
from hsgen.core.sort import Part, Sort
from hsgen.targets import target
from hsgen.tools.validate.cases import around

DEVICE = replace(
    ROOMY,
    subgroups=(1, 2, 4, 8, 16, 32, 64, 128),
    work_group=1 << 30,
    groups=1 << 30,
    local_bytes=1 << 40,
    progress="none",
)
GUARD = 7  # slots beyond the keys


def sort_of(p: bitonic.Params) -> Sort:
    """Return the sort of a shape that no target has."""
    parts = (Part(algorithm="bitonic", params=p, min_n=0, max_n=bitonic.plan(p).max_n),)
    return Sort(
        target="any", algorithm="bitonic", key=p.key, kernels=bitonic.kernels(p), plan=bitonic.plan(p), parts=parts
    )


@cache
def shipped() -> dict[str, Sort]:
    """Return the merge sorts of shipped targets, each shape once."""
    targets = [target.find(name) for name in sampled()]
    sorts = [t.sort(label, key) for t in targets for label, key in t.choices if target.algorithm(label) == "bitonic"]
    return {s.name: s for s in {s.parts[0].params: s for s in sorts}.values()}


def small_params() -> list[bitonic.Params]:
    """Return the ragged and the shipped shapes."""
    found = [s.parts[0].params for s in shipped().values()]
    return [*RAGGED, *LOOPED, *(p for p in found if isinstance(p, bitonic.Params))]


def inputs(p: bitonic.Params, n: int, rng: np.random.Generator) -> NDArray[np.unsignedinteger]:
    """Return keys (kinds, n + GUARD): random, few distinct, zeros and ones, zeros and greatest, all greatest."""
    top = p.key.greatest
    dtype = np.dtype(f"u{p.key.bytes}")
    keys = rng.integers(0, top, (5, n + GUARD), dtype, endpoint=True)
    keys[1] %= max(2, n // 4)
    keys[2] %= 2
    keys[3] = np.where(rng.random(n + GUARD) < rng.random(), dtype.type(0), dtype.type(top))
    keys[4] = top
    return keys


def check(sort: Sort, n: int, rng: np.random.Generator, limit: int = 2**32 - 1) -> None:
    """Sort `n` keys of every kind, out of place and in place."""
    p = sort.parts[0].params
    assert isinstance(p, bitonic.Params)
    keys = inputs(p, n, rng)
    given_ = keys.copy()
    out = run(sort, keys, n, limit=limit)
    assert (keys == given_).all(), "the source was written"
    assert (out[:, :n] == np.sort(keys[:, :n])).all(), f"{n} keys are not sorted"
    assert (out[:, n:] == run(sort, keys[:, n:], 0)).all(), "a slot at or beyond n was written"
    run(sort, keys, n, in_place=True, limit=limit)
    assert (keys[:, :n] == out[:, :n]).all(), f"{n} keys are not sorted in place"
    assert (keys[:, n:] == given_[:, n:]).all(), "a slot at or beyond n was written in place"


@pytest.mark.parametrize("name", thinned(shipped(), 3))
def test_shipped_shapes_sort(name: str) -> None:
    sort = shipped()[name]
    assert isinstance(sort.parts[0].params, bitonic.Params)
    for n in boundary(sort.parts[0].params)[len(name) % 2 :: 2]:
        check(sort, n, np.random.default_rng(n))


@pytest.mark.parametrize("p", thinned(RAGGED, 2), ids=lambda p: f"{p.subgroup}x{p.height}x{p.slabs}")
def test_ragged_shapes_sort(p: bitonic.Params) -> None:
    assert not bitonic.problems(p, DEVICE)
    for n in boundary(p):
        check(sort_of(p), n, np.random.default_rng(n))


@pytest.mark.parametrize("p", LOOPED, ids=lambda p: f"{p.subgroup}x{p.height}x{p.slabs}")
def test_block_sorts_with_loops_sort(p: bitonic.Params) -> None:
    """Also each width of the last block, and the counts around it."""
    assert not bitonic.problems(p, DEVICE) and p.looped
    slab = p.subgroup * p.height
    widths = around([slab << i for i in range(p.slabs.bit_length())], 1 << 30)
    for n in sorted({*boundary(p), *(base + w for base in (0, p.block) for w in widths)}):
        check(sort_of(p), n, np.random.default_rng(n))


@st.composite
def shapes(draw: st.DrawFn) -> bitonic.Params:
    """Draw a shape that `problems` accepts; its block has at most 8192 keys."""
    subgroup = 1 << draw(st.integers(0, 6))
    height = 2 * draw(st.integers(1, 32))
    slabs = draw(st.integers(1, max(1, min(32, 8192 // (subgroup * height)))))
    clean_slabs = 1 << draw(st.integers(0, pow2_ceil(slabs).bit_length() - 1))
    chunk = clean_slabs * pow2_floor(height) * subgroup
    p = bitonic.Params(
        key=KEYS[draw(st.sampled_from(["u32", "u64"]))],
        subgroup=subgroup,
        height=height,
        slabs=slabs,
        clean_slabs=clean_slabs,
        local_scale=draw(st.integers(1, 6)),
        flip_scale=draw(st.integers(1, 6)),
        half_scale=draw(st.integers(1, 6)),
        stream_group=subgroup << draw(st.integers(0, (chunk // subgroup).bit_length() - 1)),
        bank_pad=draw(st.integers(0, 3)),
    )
    if (looped := replace(p, compact=True)).looped:
        p = draw(st.sampled_from([p, looped]))
    assume(not bitonic.problems(p, DEVICE))
    return p


@settings(deadline=None, max_examples=60 if NIGHTLY else 20)
@given(p=shapes(), data=st.data())
def test_drawn_shapes_sort(p: bitonic.Params, data: st.DataObject) -> None:
    blocks = data.draw(st.integers(0, max(2, min(20, 12000 // p.block))), "blocks")
    rest = data.draw(st.sampled_from([-1, 0, 1]) | st.integers(0, p.block), "rest")
    limit = data.draw(st.sampled_from([2**32 - 1, 151]), "limit")  # 151 * 151 groups hold a key each, after padding
    check(sort_of(p), max(0, blocks * p.block + rest), np.random.default_rng(blocks), limit)


@pytest.mark.parametrize("scale", [1, 2, 3])
@pytest.mark.parametrize(
    ("subgroup", "height", "slabs"),
    [(1, 2, 1), (1, 2, 3), (1, 6, 1), (1, 4, 2), (1, 2, 5), (2, 2, 1), (2, 2, 3), (4, 2, 1), (2, 6, 1), (4, 2, 2)],
)
def test_small_shapes_sort_every_input(subgroup: int, height: int, slabs: int, scale: int) -> None:
    """All zeros and ones, up to 13 of them: block sorts, partial ones, and merges of up to 6 small blocks."""
    sort = sort_of(shape(subgroup, height, slabs, scale))
    for n in range(14 if scale == 2 else 12):
        keys = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.uint32)
        assert (run(sort, keys) == np.sort(keys)).all()


def pairs_of_runs(length: int, n: int) -> NDArray[np.uint32]:
    """Return all zeros and ones (inputs, n) that consist of a sorted run of `length` and a sorted rest."""
    left, right = (v.reshape(-1, 1) for v in np.mgrid[: length + 1, : n - length + 1])
    at = np.arange(n)
    return np.where(at < length, at >= left, at - length >= right).astype(np.uint32)


@pytest.mark.parametrize(
    "p",
    [
        shape(1, 6, 3, 2, stream_group=2),
        shape(2, 2, 5, 1),
        shape(2, 6, 3, 3, clean_slabs=2, stream_group=4),
        shape(4, 2, 3, 2),
        shape(4, 6, 1, 1),
        shape(8, 2, 1, 3),
        shape(2, 10, 1, 2, clean_slabs=1, stream_group=4),
    ],
    ids=lambda p: f"{p.subgroup}x{p.height}x{p.slabs}",
)
def test_streaming_merges_merge_every_pair_of_sorted_runs(p: bitonic.Params) -> None:
    """Flip, halves and clean of two levels, with virtual slots in front and any number of keys after.

    Without the rows of the block sort and of earlier levels, the runs are those created here.
    """
    whole = sort_of(p)
    for level in (0, 1):
        merges = [s for s in whole.plan.steps if not isinstance(whole.kernel(s.kernel).data, BlockSort)]
        steps = tuple(s for s in merges if level_of(s) == level)
        length = p.block << level
        sort = replace(whole, plan=replace(whole.plan, steps=steps))
        for n in {length + 1, length + 2, *range(length + 3, 2 * length, 3 + 4 * level), 2 * length - 1, 2 * length}:
            keys = pairs_of_runs(length, n)
            assert (run(sort, keys.copy(), in_place=True) == np.sort(keys)).all()


def tile_passes(kernel: Kernel) -> Iterator[tuple[Pass, int]]:
    """Yield the passes of a kernel over its tile, with the rows of the tile."""
    if isinstance(kernel.data, BlockSort):
        slab = len({r for op in kernel.data.sort if isinstance(op, Swap) for r in (op.lo, op.hi)})
        yield from ((each, kernel.data.slabs * slab) for each in (*kernel.data.columns, *kernel.data.linear))
    elif isinstance(kernel.data, Clean):
        yield from ((each, kernel.data.chunk // kernel.subgroup) for each in kernel.data.passes)


def check_pass(p: Pass, tile: int) -> None:
    """Check that the rows in their spans are each held once, and that exactly the necessary guards exist."""
    rows, span = row_numbers(p)
    early, late, beyond = rows < span, rows >= span + p.length, rows >= tile
    assert [row.front for row in p.rows] == early.any(axis=1).tolist()
    assert [row.end for row in p.rows] == late.any(axis=1).tolist()
    inside = ~early & ~late
    assert p.limit == (tile if (inside & beyond).any() else 0)
    held = np.sort(rows[inside & ~beyond])
    assert (held == np.arange(min(tile, p.spans * p.length))).all()


def check_stream(p: bitonic.Params, kernel: Kernel, level: int) -> None:
    """Check the rows and guards of a streaming kernel against the virtual span of a merge level.

    A flip's row i is i strides from the front, its mirror row as far from the end: truncation must drop those outside
    the keys of a full span and flag those across an end.  Half merges do not depend on the level, so theirs are
    unflagged only if a full span has no slots outside.
    """
    d = kernel.data
    assert isinstance(d, Stream)
    virtual, keys = 2 * pow2_ceil(p.block) << level, 2 * p.block << level
    front = (virtual - keys) // 2
    if not d.flip:
        ragged = front > 0
        assert d.rows == tuple(Row(i, 1, front=ragged, end=ragged) for i in range(1 << d.scale))
        return
    stride = virtual >> d.scale
    if not stride:
        return  # a span too small for this number of stages at once: no plan contains them
    lows = [(i, 1, i * stride) for i in range(1 << d.scale - 1)]
    lows += [(i, -1, virtual - (i + 1) * stride) for i in range(1 << d.scale - 1)]
    assert d.rows == tuple(
        Row(i, sign, front=low < front, end=low + stride > front + keys)
        for i, sign, low in lows
        if low + stride > front and low < front + keys
    )


def check_geometry(p: bitonic.Params) -> None:
    """Check the properties of a shape's passes that do not depend on keys."""
    for kernel in bitonic.kernels(p):
        for each, tile in tile_passes(kernel):
            check_pass(each, tile)
            assert len(each.rows) <= max(1 << p.local_scale, p.height)
        if isinstance(kernel.data, Clean):  # its first and last pass have the guards of memory instead
            assert not any(r.front or r.end for each in kernel.data.passes for r in each.rows)
            assert not any(each.mirror or each.limit for each in kernel.data.passes)
        if isinstance(kernel.data, Stream):
            assert len(kernel.data.rows) <= 1 << (p.flip_scale if kernel.data.flip else p.half_scale)
            for level in range(7):
                check_stream(p, kernel, level)


def test_passes_of_known_shapes_are_guarded_where_they_must_be() -> None:
    for p in small_params():
        check_geometry(p)


@settings(deadline=None, max_examples=100)
@given(p=shapes())
def test_passes_of_drawn_shapes_are_guarded_where_they_must_be(p: bitonic.Params) -> None:
    check_geometry(p)


@settings(deadline=None, max_examples=100)
@given(p=shapes())
def test_levels_differ_in_masks_only(p: bitonic.Params) -> None:
    """The template writes one loop over the levels, from the last one: its operations are those of every level."""
    for kernel in bitonic.kernels(p):
        if not isinstance(kernel.data, BlockSort) or not kernel.data.levels:
            continue
        first, *rest = kernel.data.levels[-1]
        assert not any(row.front or row.end for each in kernel.data.levels[-1] for row in each.rows)
        for level, (mine, *others) in enumerate(kernel.data.levels):
            assert others == rest and replace(mine, ops=first.ops) == first
            assert mine.ops == tuple(written_for(level, len(kernel.data.levels), first))


def written_for(level: int, levels: int, first: Pass) -> Iterator[Swap | Half | Flip]:
    """Yield what templates/bitonic/passes.j2 writes for a level."""
    for kind, numbers in first.lane_groups:
        if kind == "flip":
            yield from (Flip(a, b, (2 << level) - 1) for a, b, _ in numbers)
        elif kind == "half":
            for step in range(1, levels):
                yield from (Half(a, 1 << (level - step)) for a, _, _ in numbers if step <= level)
        else:
            yield from (Swap(a, b) for a, b, _ in numbers)


def unguarded(kernel: Kernel) -> Iterator[Kernel]:
    """Yield the kernel with one guard at a time removed, except those that the tile's limit implies."""
    d = kernel.data
    assert isinstance(d, BlockSort | Stream)
    if isinstance(d, Stream):
        yield from (replace(kernel, data=replace(d, rows=rows)) for rows in without_guard(d.rows))
        return
    for name in ("runs", "linear"):
        passes: tuple[Pass, ...] = getattr(d, name)
        for i, each in enumerate(passes):
            flags = ("front",) if each.limit and each.spans == 1 else ("front", "end")
            changed = [replace(each, rows=rows) for rows in without_guard(each.rows, flags)]
            changed += [replace(each, limit=0)] if each.limit else []
            for new in changed:
                yield replace(kernel, data=replace(d, **{name: (*passes[:i], new, *passes[i + 1 :])}))


def without_guard(rows: tuple[Row, ...], flags: tuple[str, ...] = ("front", "end")) -> Iterator[tuple[Row, ...]]:
    """Yield the rows without one of their guards of the kinds `flags`."""
    for i, row in enumerate(rows):
        for flag in flags:
            if getattr(row, flag):
                yield (*rows[:i], replace(row, **{flag: False}), *rows[i + 1 :])


@pytest.mark.parametrize(
    "p",
    [shape(2, 6, 3, 3), shape(1, 6, 5, 3), shape(2, 10, 5, 2), shape(4, 2, 5, 2)],
    ids=lambda p: f"{p.subgroup}x{p.height}x{p.slabs}",
)
def test_no_guard_of_a_row_can_be_taken_away(p: bitonic.Params) -> None:
    """Each guard of a block sort and of a flip is needed at some count, and the model notices.

    Half merges guard every row if blocks are no power of two: which rows need it depends on the stride.
    """
    sort = sort_of(p)
    used = {step.kernel for step in sort.plan.steps}
    tried = 0
    for whole in sort.kernels:
        half = isinstance(whole.data, Stream) and not whole.data.flip
        for kernel in unguarded(whole) if whole.name in used and not half and whole.name != "clean" else ():
            broken = replace(sort, kernels=tuple(kernel if k is whole else k for k in sort.kernels))
            with pytest.raises(AssertionError):
                for n in (p.block, 2 * p.block, 2 * p.block - 1, 4 * p.block - 1, 3 * p.block // 2):
                    check(broken, n, np.random.default_rng(1))
            tried += 1
    assert tried


def one_pass(p: Pass, slots: int, *, defined: bool = True) -> None:
    """Run a pass in a tile of single lanes."""
    tile_pass(p, Memory(np.zeros((1, 1, slots), np.uint32), defined=defined), 1)


FINE = Pass(note="", columns=2, stride=2, chunk=4, front=0, length=4, spans=2, rows=(Row(0, 1), Row(2, 1)), ops=())
"""Two spans of 4 rows, each two columns of two rows."""


def test_the_model_raises_where_a_pass_does_what_it_may_not_do() -> None:
    one_pass(FINE, 8)
    with pytest.raises(Fault, match="before it is written"):
        one_pass(FINE, 8, defined=False)
    with pytest.raises(Fault, match="outside 0 to 7"):
        one_pass(FINE, 7)
    with pytest.raises(Fault, match="outside its span"):
        one_pass(replace(FINE, rows=(Row(0, 1), Row(3, 1))), 9)
    with pytest.raises(Fault, match="outside its span"):
        one_pass(replace(FINE, front=1), 8)
    with pytest.raises(Fault, match="two lanes"):
        one_pass(replace(FINE, rows=(Row(0, 1), Row(1, 1))), 8)
    one_pass(replace(FINE, limit=7), 7)
    one_pass(replace(FINE, rows=(Row(0, 1, end=True), Row(2, 1, end=True)), length=3), 6)
    with pytest.raises(IndexError):
        one_pass(replace(FINE, ops=(Swap(0, 2),)), 8)
    with pytest.raises(IndexError):  # a single lane has no partner
        one_pass(replace(FINE, ops=(Half(0, 1),)), 8)


def test_the_model_raises_where_nothing_was_written() -> None:
    sort = sort_of(shape(2, 2, 1))
    merges = tuple(step for step in sort.plan.steps if len(step.bindings) == 1)
    with pytest.raises(Fault, match="before it is written"):
        run(replace(sort, plan=replace(sort.plan, steps=merges)), np.zeros(8, np.uint32))


@pytest.mark.parametrize("sign", [1, -1])
def test_guarded_rows_read_as_the_least_and_the_greatest_key(sign: int) -> None:
    """A row before its span never takes a key from a later one, a row after it none from an earlier one."""
    rows = (Row(0, 1, front=True), Row(2, 1, end=True)) if sign > 0 else (Row(1, -1, front=True), Row(3, -1, end=True))
    each = Pass(note="", columns=2, stride=2, chunk=4, front=1, length=2, spans=1, rows=rows, ops=(Swap(0, 1),))
    memory = Memory(np.array([[[5, 9, 7]]], np.uint32), defined=True)
    tile_pass(each, memory, 1)
    assert memory.keys.tolist() == [[[5, 9, 7]]]


def test_lanes_exchange_as_the_dialects_words_do() -> None:
    keys = np.array([[3, 1, 2, 0], [7, 4, 5, 6]], np.uint32)[None, None, :, None, :]
    assert exchange((Half(0, 1),), keys)[0, 0, :, 0].tolist() == [[1, 3, 0, 2], [7, 4, 5, 6]]
    assert exchange((Half(0, 2),), keys)[0, 0, :, 0].tolist() == [[2, 0, 3, 1], [7, 4, 5, 6]]
    assert exchange((Flip(0, 1, 3),), keys)[0, 0, :, 0].tolist() == [[3, 1, 4, 7], [0, 2, 5, 6]]
    assert exchange((Swap(1, 0),), keys)[0, 0, :, 0].tolist() == [[7, 4, 5, 6], [3, 1, 2, 0]]
