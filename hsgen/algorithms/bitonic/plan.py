"""The launch plan of a bitonic sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hsgen.algorithms.bitonic.kernel_data import Stream
from hsgen.algorithms.bitonic.kernels import ROW_BLOCK, kernels, small_blocks, stream_name
from hsgen.algorithms.bitonic.params import Params
from hsgen.algorithms.bitonic.passes import steps
from hsgen.algorithms.bitonic.paths import Path, first_level, lent, path
from hsgen.core.buffers import pair_bytes
from hsgen.core.networks import pow2_ceil
from hsgen.core.plan import Binding, Grid, Guard, Literal, Plan, Step
from hsgen.core.scratch import UNIT, Scratch, scratch_of

MAX_N = 1 << 29  # kernels index by signed 32-bit integers, and virtual rows reach up to index 4 n
MAX_ROWS_N = (1 << 30) - 1  # if all merges are by merge paths, indices reach up to 2 n
LEAST_TILE, TILES = 4096, 2
"""The least number of keys in a tile of a sequential lane, and the number of tiles into which few keys are divided.

Both were measured: docs/results/embedded-cpu.md.
"""
ALONE = 1  # the last level up to which one block may hold all keys
SOURCE, DESTINATION = Binding(role="source"), Binding(role="destination")
VALUES, VALUES_OUT = Binding(role="values"), Binding(role="values_out")


Buffers = tuple[Binding, ...]
"""The buffers of a level: of keys or pairs, and of values if these move with their keys."""


def argument(level: int, lg_stride: int) -> int:
    """Return the argument of a merge kernel: the level in bits 0 to 7, above it log2 of the stride or of the tile.

    At a level, runs have `block << level` keys.
    """
    return level | lg_stride << 8


def level_of(step: Step) -> int:
    """Return the level in the argument of a step."""
    return _value(step) & 255


def lg_stride_of(step: Step) -> int:
    """Return log2 of the stride in the argument of a step."""
    return _value(step) >> 8


def _value(step: Step) -> int:
    assert isinstance(step.argument, Literal)
    return step.argument.value


def plan(p: Params) -> Plan:
    """Return the launch plan: one block sort, then levels that merge runs of `block << level` keys.

    A bitonic level has one flip merge, as many half merges as it needs, and one clean.  A level by merge paths has one
    launch, which moves the keys to another buffer.  The number of such levels therefore determines to which buffer the
    block sort must store.  The plan has separate rows for each number of such levels, each for a range of counts.
    """
    steps_: list[Step] = []
    if p.paired and not p.signature.index:
        steps_.append(_by_key(p, "keep", (VALUES, _kept(p)), "in"))
    first = first_level(p)
    top = MAX_N if first is None else p.block << first
    steps_ += _between(p, 0, top, ())
    levels = 0
    most = greatest(p)
    while first is not None and top << levels < most:
        levels += 1
        least = row_block_level(p, levels) if p.lane_block else first
        steps_ += _between(p, top << (levels - 1), min(top << levels, most), range(least, first + levels))
    bit = _first_bit(p)
    return Plan(
        steps=tuple(steps_),
        max_n=most,
        first_bit=bit,
        bits=p.key.bits - bit,
        whole_words=bit > 0,
        scratch=scratch(p),
    )


def greatest(p: Params) -> int:
    """Return the greatest count that the sort supports."""
    return MAX_ROWS_N if p.lane_block else MAX_N


def row_block_level(p: Params, last: int) -> int:
    """Return the level b for which one lane sorts blocks of `p.block << b` keys, for up to `p.block << last` keys.

    Up to level `ALONE`, all keys are one block.  A merge of two blocks would take another launch, which costs more than
    a second lane saves.  More keys are two or more blocks.
    """
    most = (p.lane_block // p.block).bit_length() - 1
    return min(last if last <= ALONE else last - 1, most)


def _between(p: Params, low: int, high: int, paths: Sequence[int]) -> list[Step]:
    """Return the plan rows for counts above `low` up to `high`.

    paths: the levels that are merged by merge paths.
    """
    current: Buffers = (_work(p),)
    following: Buffers = (lent(p),)
    if p.carries:
        current, following = (*current, VALUES_OUT), (*following, _lent_values(p))
    if p.paired:
        end = following if len(paths) % 2 else current
    else:
        end, current, following = current, *((following, current) if len(paths) % 2 else (current, following))
    rows, level = _blocks(p, current, high)
    while p.block << level < (p.block << paths[0] if paths else high):
        rows += _level(p, level, current[0])
        level += 1
    for level in paths:
        rows.append(_path(p, level, current, following, high))
        current, following = following, current
    if p.paired:
        rows += _gathers(p, end[0])
    narrowed = (s.within(low, high) for s in rows)
    return [s for s in narrowed if not s.guard.empty]


def _blocks(p: Params, current: Buffers, high: int) -> tuple[list[Step], int]:
    """Return the plan rows of block sorts for counts up to `high`, and the level of the runs that the sorts leave.

    current: the buffers to which the block sorts store.
    """
    if p.lane_block:
        level = row_block_level(p, (high // p.block).bit_length() - 1)
        size = p.block << level
        values = () if p.signature.index or not p.valued else (VALUES,)
        bindings = (SOURCE, current[0], *values, *current[1:])
        return [_step(p, ROW_BLOCK, bindings, argument(level, 0), 0, MAX_ROWS_N, size - 1, size, 1)], level
    rows, least = [], 0
    for slabs in [*small_blocks(p), p.slabs]:
        size = slabs * p.height * p.subgroup
        most = MAX_N if slabs == p.slabs else size
        rows.append(_step(p, f"block_sort_{slabs}", (SOURCE, current[0]), 0, least, most, size - 1, size, 1))
        least = size
    return rows, 0


def _path(p: Params, level: int, current: Buffers, following: Buffers, high: int) -> Step:
    """Return the plan row of a level by merge paths, from buffers `current` to `following`, for up to `high` keys."""
    run, data = p.block << level, path(p).data
    assert isinstance(data, Path)
    tile, packed = data.tile, argument(level, 0)
    if p.lane_block:
        tile = min(data.tile, max(LEAST_TILE, high // TILES))
        packed = argument(level, tile.bit_length() - 1)
    tiles = -(-2 * run // tile)
    bindings = tuple(x for pair in zip(current, following, strict=True) for x in pair)
    return _step(p, "path", bindings, packed, run, greatest(p), 2 * run - 1, 2 * run, tiles)


def _first_bit(p: Params) -> int:
    """Return the lowest bit of the key in an element: 0, or the middle bit if a value is packed below the key."""
    return p.key.bits // 2 if p.signature.value == "packed" else 0


def scratch(p: Params) -> Scratch:
    """Return the rules for the size of scratch.

    With values, scratch holds pairs of a key and its original index, then a copy of the values, for sorts in place.
    Merge paths need a second buffer of keys or pairs in scratch, and of values if these move with their keys.
    """
    first = first_level(p)
    if p.carries and first is not None:
        return scratch_of(min_n=p.block << first, plus=UNIT, per_n=p.key.bytes + p.signature.value_bytes)
    if not p.valued:
        return Scratch() if first is None else scratch_of(min_n=p.block << first, per_n=p.key.bytes)
    values = 0 if p.signature.index else p.signature.value_bytes
    twice = 0 if first is None else 1
    return scratch_of(plus=(1 + twice) * 1024 + 16, per_n=(1 + twice) * pair_bytes(p.key) + values)


def _work(p: Params) -> Binding:
    """Return the binding of the buffer in which runs are merged: the destination, or pairs in scratch."""
    return Binding(role="scratch") if p.paired else DESTINATION


def _lent_values(p: Params) -> Binding:
    """Return the binding of the second buffer of values, which follows the second buffer of keys in scratch."""
    return Binding(role="scratch", per_n=p.key.bytes)


def _kept(p: Params) -> Binding:
    """Return the binding of the copy of the values, which follows the buffer of pairs in scratch."""
    return Binding(role="scratch", per_n=pair_bytes(p.key))


def _by_key(p: Params, kernel: str, bindings: tuple[Binding, ...], place: str) -> Step:
    group = p.stream_group
    step = _step(p, kernel, bindings, 0, 0, MAX_N, group - 1, group, 1)
    return replace(step, guard=replace(step.guard, place=place))


def _gathers(p: Params, end: Binding) -> list[Step]:
    """Return the last plan rows of a sort with values: they gather values in the order of the sorted pairs in `end`.

    A sort in place gathers from the copy of the values.
    """
    ends = (end, DESTINATION)
    if p.signature.index:
        return [_by_key(p, "gather", (*ends, VALUES_OUT), "any")]
    return [
        _by_key(p, "gather", (*ends, _kept(p), VALUES_OUT), "in"),
        _by_key(p, "gather", (*ends, VALUES, VALUES_OUT), "out"),
    ]


def _level(p: Params, level: int, work: Binding) -> list[Step]:
    """Return the plan rows of one bitonic level in the buffer `work`.

    The level runs only if there are several runs.  A last run without a partner is left as it is.
    """
    run = p.block << level
    lg_double = pow2_ceil(run).bit_length()
    lg_chunk = p.chunk.bit_length() - 1

    def row(kernel: str, lg_stride: int, columns_per_group: int, lg_columns: int) -> Step:
        per_span = max(1, (1 << lg_columns) // columns_per_group)
        return _step(p, kernel, (work,), argument(level, lg_stride), run, MAX_N, run - 1, 2 * run, per_span)

    out: list[Step] = []
    stages = lg_double - lg_chunk
    first = min(p.flip_scale, stages)
    rest = steps(stages - first, p.half_scale) if stages > first else []
    stride = lg_double
    for scale in [first, *rest]:
        stride -= scale
        out.append(row(stream_name(flip=not out, scale=scale), stride, p.stream_group, lg_double - scale))
    out.append(row("clean", lg_chunk, p.chunk, lg_double))
    return out


def _step(
    p: Params,
    kernel: str,
    bindings: tuple[Binding, ...],
    arg: int,
    min_n: int,
    max_n: int,
    add: int,
    div: int,
    mul: int,
) -> Step:
    return Step(
        kernel=kernel,
        bindings=(*bindings, *([Binding(role="count")] if p.signature.device_count else [])),
        guard=Guard(min_n=min_n, max_n=max_n),
        grid=Grid(add=add, div=div, mul=mul),
        argument=Literal(value=arg),
    )


def moved(p: Params, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` keys; a run without a partner moves none."""
    if p.carries:
        return 2 * n * (p.key.bytes + p.signature.value_bytes)
    entry = pair_bytes(p.key) if p.valued else p.key.bytes
    if step.kernel == "keep":
        return 2 * n * p.signature.value_bytes
    if step.kernel == "gather":
        return n * (entry + p.key.bytes + p.signature.value_bytes * (1 if p.signature.index else 2))
    if SOURCE in step.bindings:
        return n * (p.key.bytes + entry)
    if step.kernel == "path":
        return 2 * n * entry
    run = p.block << level_of(step)
    spans = (n + run - 1) // (2 * run)
    return 2 * min(n, 2 * run * spans) * entry


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the plan changes its launches, or a kernel its method.

    The counts are multiples of a slab, and the bounds of plan rows.  With further counts, the last run of a level is
    incomplete.
    """
    slab = p.height * p.subgroup
    counts = {0, 1, greatest, *range(0, min(4 * p.block, greatest) + 1, slab)}
    for step in plan(p).steps:
        if least := step.guard.min_n:
            counts.update((least, least + p.block, 3 * least // 2))
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest`, one for each row of each streaming kernel: only some lanes have a key in the row.

    The guard of the row then excludes the other lanes.  The counts are those of the first level that runs the kernel.
    """
    scales = {k.name: k.data.scale for k in kernels(p) if isinstance(k.data, Stream)}
    counts: dict[str, list[int]] = {}
    for step in plan(p).steps:
        stride = 1 << lg_stride_of(step)
        if step.kernel in scales and step.kernel not in counts:
            counts[step.kernel] = [step.guard.min_n + k * stride + stride // 2 for k in range(1 << scales[step.kernel])]
    return sorted(n for ends in counts.values() for n in ends if n <= greatest)
