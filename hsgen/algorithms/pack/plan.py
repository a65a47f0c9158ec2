"""The launch plan of a pack."""

from __future__ import annotations

from hsgen.algorithms.pack.params import MAX_N, Params
from hsgen.core.plan import Binding, CallNumber, Grid, Guard, Plan, Step
from hsgen.operations.pack import ROLES


def plan(p: Params) -> Plan:
    """Return the plan: one launch, with a work-group for each tile."""
    step = Step(
        kernel="pack",
        bindings=tuple(Binding(role=role) for role in (*ROLES, "destination")),
        guard=Guard(max_n=MAX_N),
        grid=Grid(add=p.tile - 1, div=p.tile),
        argument=CallNumber(),
    )
    return Plan(steps=(step,), max_n=MAX_N, bits=p.key.bits)


def moved(p: Params, step: Step, n: int) -> int:
    """Return the memory traffic of the launch for columns that fill the key, in bytes."""
    return 2 * n * p.key.bytes


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which a work-group is added."""
    return sorted(n for n in {0, 1, greatest, *(tiles * p.tile for tiles in (1, 2, 5))} if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of lanes of a tile."""
    ends = range(p.work_group // 2, p.tile, max(p.work_group, p.tile // 16))
    return [n for n in sorted({e + base for e in ends for base in (0, p.tile)}) if n <= greatest]
