"""Rows of equal length that a work-group holds: one launch, a work-group for each row.

These kernels need no offsets, no lists and no scratch memory.  They are in no bundle: the host chooses them by the
length of rows, which it must know (`hsgen.cuda`).
"""

from __future__ import annotations

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

LONGEST, ITEMS = 4096, 16
"""The most keys of a row, and of a lane."""
FEW, MANY = 192, 1 << 14
"""More than `MANY` rows of fewer than `FEW` keys would leave most lanes idle: many rows of a work-group at once, as a
segmented sort has them, then take less time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The body of a kernel.

    shape: the parameters of its tile.  in_row: an index is that in the row, not in the whole array.  raw: sorted keys
    are read again from the source, with the bits that they had.
    """

    shape: ReduceScan
    in_row: bool = False
    raw: bool = False


def shapes(p: Params) -> tuple[ReduceScan, ...]:
    """Return the tiles, the smallest first; none for sequential lanes.

    Lanes that vote or compare keep counts for each subgroup, so that a shorter row takes fewer lanes, down to one
    subgroup, and not fewer keys of each.
    """
    whole = chip(p)
    if not isinstance(whole, ReduceScan):
        return ()
    lanes = whole.work_group
    whole = replace(whole, items=max(1, min(p.chip.items, LONGEST // lanes, ITEMS)))
    if whole.subgroup == 1:
        return (whole,)
    halves = [lanes >> i for i in range(lanes.bit_length()) if lanes >> i >= whole.subgroup and lanes % (1 << i) == 0]
    return tuple(replace(whole, work_group=n) for n in reversed(halves) if n % whole.subgroup == 0)


def kernel(p: Params, shape: ReduceScan, *, in_row: bool, raw: bool) -> Kernel:
    """Return the kernel for rows up to a tile; see `Row`."""
    made = Kernel(
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
    return replace(ranking(made, shape), resident=0)


def specialize(sort: Sort, *, in_row: bool = False, raw: bool = False) -> Sort | None:
    """Return the sort of short rows of a segmented sort; None if it has none, or for a bit range or segments with ends.

    It has no plan of its own: `plan` returns that for rows of a length, which takes the place of a bit range.
    """
    p = sort.parts[0].params
    if sort.signature.bit_range or sort.signature.segment_ends:
        return None
    made = [kernel(p, shape, in_row=in_row, raw=raw) for shape in shapes(p)] if isinstance(p, Params) else []
    return replace(sort, kernels=tuple(made), plan=Plan(steps=(), max_n=0, bits=sort.key.bits)) if made else None


def plan(sort: Sort, rows: int, length: int) -> Plan | None:
    """Return the plan for `rows` rows of `length` keys; None if no kernel holds a row, or rows are too short and many.

    The kernel gets the length in the bits of its argument below the flags.
    """
    found = next((k for k in sort.kernels if isinstance(k.data, Row) and 0 < length <= k.data.shape.tile), None)
    if found is None or length >> FIRST or (length < FEW and rows > MANY):
        return None
    most = rows * length
    roles = {"source": "source", "destination": "destination", "values_in": "values", "values_out": "values_out"}
    step = Step(
        kernel=found.name,
        bindings=tuple(Binding(role=roles[b.name]) for b in found.buffers),
        guard=Guard(max_n=most),
        grid=Grid(x="number"),
        argument=Literal(value=length),
    )
    return Plan(steps=(step,), max_n=most, bits=sort.key.bits)
