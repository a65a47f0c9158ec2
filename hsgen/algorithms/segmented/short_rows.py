"""Segmented sorts of rows of equal length that fit a work-group: in one launch, a work-group sorts each row.

The kernels need no offsets, no lists of segments and no scratch.  Only `hsgen.cuda` uses them, because it knows the
length of the rows, by which it chooses the kernel.  Bundles do not have these kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE
from hsgen.algorithms.radix.rankers import rank_arrays
from hsgen.algorithms.radix.reduce_scan import ReduceScan
from hsgen.algorithms.segmented.kernels import chip, ranking, valued
from hsgen.algorithms.segmented.params import Params
from hsgen.core.flags import FIRST
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, Grid, Guard, Literal, Plan, Step
from hsgen.core.sort import Sort

SMALL, LARGE, LONGEST = 4096, 16384, 32768
"""The most keys of a tile with the lanes of the target's radix sort or fewer, with `ITEMS` per lane, and of any tile.
"""
ITEMS = 16
"""The most keys of a lane in tiles of up to `LARGE` keys."""
LANES = 1024
"""The most lanes of a work-group in CUDA."""
FEW, MANY = 192, 1 << 14
"""For more than `MANY` rows of fewer than `FEW` keys, a segmented sort is used instead: here, most lanes would be idle.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The data of the kernel.

    shape: the parameters of the tile that holds a row.
    in_row: in an argsort, whether indices count from the start of the row, not from the start of the array.
    raw: whether the kernel loads zeros and NaNs from the source again to store their original bits.
    """

    shape: ReduceScan
    in_row: bool = False
    raw: bool = False


def shapes(p: Params) -> tuple[ReduceScan, ...]:
    """Return the parameters of the tiles, from the smallest to the largest; none for sequential lanes.

    With rankers that use subgroup operations, each subgroup has counters of its own.  Tiles can then have other numbers
    of lanes, from one subgroup to `LANES`, with the same number of keys per lane.  The largest tile has twice as many
    keys per lane, unless values move with keys: registers would not hold them.  Some tiles need more local memory than
    some GPUs have (`fitting`).
    """
    shape = chip(p)
    if not isinstance(shape, ReduceScan):
        return ()
    lanes = shape.work_group
    shape = replace(shape, items=max(1, min(p.chip.items, SMALL // lanes, ITEMS)))
    if shape.subgroup == 1:
        return (shape,)
    halves = [lanes >> i for i in range(lanes.bit_length()) if lanes >> i >= shape.subgroup and lanes % (1 << i) == 0]
    doubles = [n for i in (1, 2) if (n := lanes << i) <= LANES and n * shape.items <= LARGE]
    tiles = [replace(shape, work_group=n) for n in (*reversed(halves), *doubles) if n % shape.subgroup == 0]
    if tiles[-1].work_group == LANES and (p.signature.index or not p.signature.value_bytes):
        tiles.append(replace(tiles[-1], items=2 * shape.items))
    return tuple(_paired(tile) for tile in tiles)


def _paired(tile: ReduceScan) -> ReduceScan:
    """Return the tile with original slots of 16 bits, if local memory then holds more work-groups or a larger tile.

    On GPUs with 228 KiB of local memory, this is so for more than 8192 keys, and for more than 4096 keys of 64 bits.
    The tile needs an even number of keys per lane, and a lane for each digit.
    """
    large = tile.tile * tile.key.held > 2 * SMALL * 4
    return replace(tile, paired=large and tile.items % 2 == 0 and tile.work_group >= tile.radix)


def fitting(p: Params, local_bytes: int, *, in_row: bool, raw: bool) -> Iterator[Kernel]:
    """Yield the kernels that fit the local memory of a GPU, with fewer keys per lane where that makes one fit.

    Each kernel has a larger tile than the one before.
    local_bytes, in_row, raw: as in `specialize`.
    """
    most = 0
    for shape in shapes(p):
        one = kernel(p, shape, in_row=in_row, raw=raw)
        while one.local_bytes(p.key) > local_bytes and shape.tile > most:
            shape = replace(shape, items=shape.items - (2 if shape.paired else 1))
            one = kernel(p, shape, in_row=in_row, raw=raw)
        if shape.tile > most:
            most = shape.tile
            yield one


def kernel(p: Params, shape: ReduceScan, *, in_row: bool, raw: bool) -> Kernel:
    """Return the kernel for rows of at most `shape.tile` keys.

    in_row, raw: as in `Row`.
    """
    unranked = Kernel(
        name=f"row{shape.tile}",
        template="segmented_sort/row",
        summary=f"sort rows of up to {shape.tile} keys",
        work_group=shape.work_group,
        buffers=(SOURCE, DESTINATION, *valued(p)),
        arrays=rank_arrays(shape),
        algorithm="segmented_sort",
        params=p,
        data=Row(shape=shape, in_row=in_row, raw=raw and p.signature.index),
    )
    return replace(ranking(unranked, shape), resident=0)


def specialize(sort: Sort, local_bytes: int, *, in_row: bool = False, raw: bool = False) -> Sort | None:
    """Return the sort of short rows that corresponds to a segmented sort; None if there is none.

    There is none with a bit range, with segment ends, and for sequential lanes.  The result has an empty plan.  The
    function `plan` returns the plan for a number and a length of rows.

    local_bytes: the local memory of the GPU in bytes.  in_row, raw: as in `Row`.
    """
    p = sort.parts[0].params
    if sort.signature.bit_range or sort.signature.segment_ends:
        return None
    kernels = tuple(fitting(p, local_bytes, in_row=in_row, raw=raw)) if isinstance(p, Params) else ()
    return replace(sort, kernels=kernels, plan=Plan(steps=(), max_n=0, bits=sort.key.bits)) if kernels else None


def plan(sort: Sort, rows: int, length: int) -> Plan | None:
    """Return the plan for `rows` rows of `length` keys; None if the rows need a segmented sort.

    Rows that are longer than the largest tile need a segmented sort.  Many very short rows (`FEW`, `MANY`) also get a
    segmented sort, which is faster.  The argument of the kernel holds the length in the bits below the flags.
    sort: a result of `specialize`.
    """
    fitting = next((k for k in sort.kernels if isinstance(k.data, Row) and 0 < length <= k.data.shape.tile), None)
    if fitting is None or length >> FIRST or (length < FEW and rows > MANY):
        return None
    most = rows * length
    roles = {"source": "source", "destination": "destination", "values_in": "values", "values_out": "values_out"}
    step = Step(
        kernel=fitting.name,
        bindings=tuple(Binding(role=roles[b.name]) for b in fitting.buffers),
        guard=Guard(max_n=most),
        grid=Grid(x="number"),
        argument=Literal(value=length),
    )
    return Plan(steps=(step,), max_n=most, bits=sort.key.bits)
