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

LONGEST = 4096
"""The most keys of a row."""
ITEMS = 16
"""The most keys of a lane where one subgroup sorts a row."""


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
    """Return the tiles, the smallest first: of a subgroup, and of a work-group; none for sequential lanes."""
    if not isinstance(p.chip, ReduceScan):
        return ()
    whole = replace(chip(p), items=max(1, min(p.chip.items, LONGEST // p.chip.work_group)))
    assert isinstance(whole, ReduceScan)
    few = replace(whole, work_group=whole.subgroup, items=min(p.chip.items, ITEMS))
    return (few, whole) if 1 < few.tile < whole.tile and few.subgroup >= ITEMS else (whole,)


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
    return ranking(made, shape)


def specialize(sort: Sort, *, in_row: bool = False, raw: bool = False) -> Sort | None:
    """Return the sort of short rows of a segmented sort; None if it has none.

    Its plan has a step for each kernel, all for the greatest rows; `plan` returns that for rows of a length.
    """
    p = sort.parts[0].params
    made = [kernel(p, shape, in_row=in_row, raw=raw) for shape in shapes(p)] if isinstance(p, Params) else []
    return replace(sort, kernels=tuple(made), plan=Plan(steps=(), max_n=0, bits=sort.key.bits)) if made else None


def plan(sort: Sort, most: int, length: int) -> Plan | None:
    """Return the plan for rows of `length` keys, `most` keys in total; None if no kernel holds them.

    The kernel gets the length in the bits of its argument below the flags.
    """
    found = next((k for k in sort.kernels if isinstance(k.data, Row) and 0 < length <= k.data.shape.tile), None)
    if found is None or length >> FIRST:
        return None
    roles = {"source": "source", "destination": "destination", "values_in": "values", "values_out": "values_out"}
    step = Step(
        kernel=found.name,
        bindings=tuple(Binding(role=roles[b.name]) for b in found.buffers),
        guard=Guard(max_n=most),
        grid=Grid(x="number"),
        argument=Literal(value=length),
    )
    return Plan(steps=(step,), max_n=most, bits=sort.key.bits)
