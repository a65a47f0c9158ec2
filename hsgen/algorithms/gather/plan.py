"""The launch plan of a gather."""

from __future__ import annotations

from hsgen.algorithms.gather.params import MAX_N, Params
from hsgen.core.plan import Binding, Grid, Guard, Plan, Step

_WIDTHS = (2, 3, 5, 16)  # values of an item at which tests end in a tile, since counts of values are those of keys


def plan(p: Params) -> Plan:
    """Return the plan: one launch, with a work-group for each tile."""
    step = Step(
        kernel="gather",
        bindings=(Binding(role="source"), Binding(role="values"), Binding(role="values_out")),
        guard=Guard(max_n=MAX_N),
        grid=Grid(add=p.tile - 1, div=p.tile),
    )
    return Plan(steps=(step,), max_n=MAX_N, bits=p.key.bits)


def moved(p: Params, step: Step, n: int) -> int:
    """Return the memory traffic of the launch for items of one value, in bytes."""
    return n * (p.key.bytes + 2 * p.signature.value_bytes)


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which a work-group is added, for items of several sizes."""
    found = {0, 1, greatest, *(tiles * p.tile * width for tiles in (1, 2, 5) for width in (1, *_WIDTHS))}
    return sorted(n for n in found if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each batch of a tile."""
    if p.whole:
        return []
    ends = (batch * p.work_group + p.work_group // 2 for batch in range(p.tile // p.work_group))
    return [n for n in sorted({e + base for e in ends for base in (0, p.tile)}) if n <= greatest]
