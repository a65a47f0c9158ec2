"""The kernels of a bitonic sort: block sorts, streaming flip and half merges, and the clean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from hsgen.algorithms.bitonic.kernel_data import BlockSort, Clean, LoopedBlock, RowBlock, Stream
from hsgen.algorithms.bitonic.lanes import lane_halves, merge_lanes
from hsgen.algorithms.bitonic.params import Params
from hsgen.algorithms.bitonic.passes import (
    Pass,
    clean_columns,
    flip_rows,
    full_steps,
    merge_runs,
    renumber,
    steps,
    swaps,
)
from hsgen.algorithms.bitonic.paths import first_level, path
from hsgen.algorithms.bitonic.rows import Row
from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE, VALUES_IN, VALUES_OUT, VALUES_TMP
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel
from hsgen.core.networks import halves, pow2_ceil, pow2_floor, sorting

ROW_BLOCK = "row_block"
PAIRS = Buffer(name="destination", type="pair")  # in scratch: where a sort with values merges pairs (key, index)


def _tile(p: Params, count: int) -> tuple[Array, ...]:
    return (Array(name="tile", type="pair" if p.valued else "key", count=count),) if count else ()


def _buffers(p: Params, *buffers: Buffer) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel that merges.  If kernels merge pairs, those replace the destination."""
    renamed = (PAIRS if b == DESTINATION and p.paired else b for b in buffers)
    return (*renamed, *([DEVICE_N] if p.signature.device_count else []))


def block_sort(p: Params, slabs: int) -> Kernel:
    """Return the kernel that sorts blocks of `slabs` slabs.  With `p.looped`, it also sorts smaller blocks."""
    split = full_steps if p.looped else steps
    tall = p.column_slabs(slabs)
    column, rows, spans = tall * p.height, slabs * p.height, slabs // tall
    runs: list[Pass] = []
    run = p.height
    while run < column:
        runs += merge_runs(run, rows, p.local_scale, split=split)
        run *= 2
    every = [2 << i for i in range(p.subgroup.bit_length() - 1)]
    levels = [merge_lanes(column, lanes, p.local_scale, p.registers, spans, split) for lanes in every]
    linear: list[Pass] = []
    run = column
    while run < rows:
        linear += with_lane_halves(merge_runs(run, rows, p.local_scale, mirror=True), p.subgroup)
        run *= 2
    pitch = column + p.bank_pad if p.subgroup > 1 else column
    data = BlockSort(
        slabs=slabs,
        tall=tall,
        column=column,
        pitch=pitch,
        sort=swaps(sorting(p.height)),
        runs=tuple(runs),
        levels=tuple(levels),
        linear=tuple(linear),
    )
    return Kernel(
        name=f"block_sort_{slabs}",
        template="bitonic/looped:block_sort" if p.looped else "bitonic/block_sort:block_sort",
        summary=f"sort blocks of {rows * p.subgroup} keys",
        work_group=slabs * p.subgroup,
        subgroup=p.subgroup,
        arrays=_tile(p, max(rows * p.subgroup, spans * pitch * p.subgroup)),
        buffers=_buffers(p, SOURCE, DESTINATION),
        algorithm="bitonic",
        params=p,
        data=LoopedBlock.of(data, p.height, p.subgroup) if p.looped else data,
    )


def row_block(p: Params) -> Kernel:
    """Return the kernel in which a sequential lane sorts each block of `p.block << argument` keys."""
    assert p.lane_block
    data = RowBlock(row=p.row, most=p.lane_block)
    values = () if not p.valued else (VALUES_OUT,) if p.signature.index else (VALUES_IN, VALUES_OUT)
    return Kernel(
        name=ROW_BLOCK,
        template="bitonic/row_block:block_sort",
        summary=f"sort blocks of up to {p.lane_block} keys, each in one lane",
        work_group=1,
        arrays=_tile(p, 2 * data.half) + _kept(p),
        buffers=_buffers(p, SOURCE, DESTINATION, *values),
        algorithm="bitonic",
        params=p,
        data=data,
        row=p.row,
        by_rows=True,
    )


def _kept(p: Params) -> tuple[Array, ...]:
    """The values of a block, in local memory until all of them are loaded: a sort in place overwrites them."""
    size = 0 if p.signature.index else p.signature.value_bytes
    return (Array(name="kept", type="value", count=p.lane_block, bytes=size),) if size else ()


def with_lane_halves(passes: Sequence[Pass], lanes: int) -> Sequence[Pass]:
    """Return the passes, with half stages between lanes at the end of the last pass, which holds adjacent rows."""
    if lanes == 1:
        return passes
    *most, last = passes
    note = f"{last.note}, then between lanes {lanes // 2} to 1 apart"
    return [*most, replace(last, note=note, ops=last.ops + lane_halves(len(last.rows), lanes))]


def flip(p: Params, scale: int) -> Kernel:
    """Return the streaming kernel that runs a flip stage and then `scale` - 1 half stages.

    The virtual rows (`passes`) of a merge are 2**scale strides.  Row i of a column lies in the strides [i, i + 1).  Its
    mirror row lies in the strides [2**scale - 1 - i, 2**scale - i).  The virtual rows before the first key are the same
    fraction of all virtual rows at every level.  The kernel therefore has no code for rows that always lie in this
    fraction.
    """
    top, span = pow2_ceil(p.block), 1 << scale
    front = Fraction((top - p.block) * span, 2 * top)
    end = span - front
    rows, ops = flip_rows(scale, span)
    lows = [i if row.sign > 0 else span - 1 - i + span // 2 for i, row in enumerate(rows)]
    keep = [i for i, low in enumerate(lows) if low + 1 > front and low < end]
    number = {old: new for new, old in enumerate(keep)}
    guarded = tuple(Row(i % (span // 2), rows[i].sign, front=lows[i] < front, end=lows[i] + 1 > end) for i in keep)
    return _stream(p, Stream(flip=True, scale=scale, rows=guarded, ops=renumber(ops, number)))


def half(p: Params, scale: int) -> Kernel:
    """Return the streaming kernel that runs `scale` half stages."""
    inside = p.block == pow2_ceil(p.block)
    rows = tuple(Row(i, 1, front=not inside, end=not inside) for i in range(1 << scale))
    return _stream(p, Stream(flip=False, scale=scale, rows=rows, ops=swaps(halves(1 << scale))))


def _stream(p: Params, data: Stream) -> Kernel:
    return Kernel(
        name=stream_name(flip=data.flip, scale=data.scale),
        template="bitonic/stream:flip" if data.flip else "bitonic/stream:half",
        summary=f"{'flip' if data.flip else 'half'} merge, {data.scale} stage{'s' if data.scale > 1 else ''}",
        work_group=p.stream_group,
        subgroup=p.subgroup,
        buffers=_buffers(p, DESTINATION),
        algorithm="bitonic",
        params=p,
        data=data,
    )


def stream_name(*, flip: bool, scale: int) -> str:
    """Return the name of the streaming kernel with `scale` stages."""
    return f"{'flip' if flip else 'half'}_{scale}"


def clean(p: Params) -> Kernel:
    """Return the clean, the kernel that sorts bitonic chunks by the last half stages, down to adjacent keys."""
    rows = p.chunk // p.subgroup
    passes = with_lane_halves(clean_columns(rows, p.local_scale, rows), p.subgroup)
    shared = p.chunk if len(passes) > 1 or p.subgroup == 1 else 0
    return Kernel(
        name="clean",
        template="bitonic/clean:clean",
        summary=f"sort bitonic chunks of {p.chunk} keys",
        work_group=p.clean_slabs * p.subgroup,
        subgroup=p.subgroup,
        arrays=_tile(p, shared),
        buffers=_buffers(p, DESTINATION),
        algorithm="bitonic",
        params=p,
        data=Clean(chunk=p.chunk, passes=tuple(passes)),
    )


def _last(p: Params, name: str, summary: str, *buffers: Buffer) -> Kernel:
    return Kernel(
        name=name,
        template=f"bitonic/gather:{name}",
        summary=summary,
        work_group=p.stream_group,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        algorithm="bitonic",
        params=p,
    )


def gather(p: Params) -> Kernel:
    """Return the last kernel of a sort with values: it stores the sorted keys, and gathers the values by index."""
    pairs = Buffer(name="pairs", type="pair", read_only=True)
    values = () if p.signature.index else (VALUES_IN,)
    return _last(p, "gather", "store keys, gather values by their indices", pairs, DESTINATION, *values, VALUES_OUT)


def keep(p: Params) -> Kernel:
    """Return the kernel that copies the values to scratch, from which a sort in place gathers them at the end."""
    return _last(p, "keep", "copy the values", VALUES_IN, VALUES_TMP)


def small_blocks(p: Params) -> list[int]:
    """Return the sizes of the additional block sorts for fewer keys than a block, in slabs and ascending order.

    Each size is a quarter of the next, so no array takes more than four times the necessary work.  Blocks of fewer than
    128 keys would save nothing.  With `p.looped`, one kernel sorts blocks of every size, so there are no others.
    """
    if p.looped:
        return []
    out = []
    slabs = pow2_floor(p.slabs) // 4
    while slabs and slabs * p.height * p.subgroup >= 128:
        out.append(slabs)
        slabs //= 4
    return out[::-1]


def kernels(p: Params) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    if p.lane_block:
        return row_block(p), path(p)
    blocks = [block_sort(p, s) for s in [*small_blocks(p), p.slabs]]
    flips = [flip(p, s) for s in range(1, p.flip_scale + 1)]
    last = ([] if p.signature.index else [keep(p)]) + [gather(p)] if p.paired else []
    paths = [] if first_level(p) is None else [path(p)]
    return (*blocks, *flips, *(half(p, s) for s in range(1, p.half_scale + 1)), clean(p), *paths, *last)


def context(p: Params) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return {"top": pow2_ceil(p.block)}
