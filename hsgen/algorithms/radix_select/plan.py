"""The launch plan of a selection."""

from __future__ import annotations

from hsgen.algorithms.radix_select.kernels import kernels
from hsgen.algorithms.radix_select.params import MAX_N, Params
from hsgen.core.plan import Binding, Grid, Guard, Literal, Plan, Step
from hsgen.core.scratch import scratch_of

_BOUND = {
    "source": Binding(role="source"),
    "destination": Binding(role="destination"),
    "values_in": Binding(role="values"),
    "values_out": Binding(role="values_out"),
    "words": Binding(role="scratch"),
}
_BY_ROW = ("row", "spine", "order")


def plan(p: Params) -> Plan:
    """Return the plan: one launch for rows up to `row_limit`; for longer rows, a launch for each digit and five others.

    Work-groups of these launches exit early if their row is done.
    """
    steps: list[Step] = []
    for kernel in kernels(p):
        guard = Guard(x="length", min_n=0 if kernel.name == "row" else p.row_limit, max_n=MAX_N)
        if kernel.name == "row":
            guard = Guard(x="length", max_n=p.row_limit)
        by_row = Grid(x="number")
        grid = by_row if kernel.name in _BY_ROW else Grid(add=p.tile - 1, div=p.tile, cap=p.groups)
        bindings = tuple(_BOUND[b.name] for b in kernel.buffers)
        for number in range(p.passes if kernel.name == "count" else 1):
            steps.append(
                Step(kernel=kernel.name, bindings=bindings, guard=guard, grid=grid, argument=Literal(value=number))
            )
    rows = -(-MAX_N // p.row_limit)
    scratch = scratch_of(min_n=p.row_limit, unit=p.row_limit, per_unit=4 * p.row_words + 8 * p.row_tiles, units=rows)
    return Plan(steps=tuple(steps), max_n=MAX_N, bits=p.key.bits, scratch=scratch)


def moved(p: Params, step: Step, n: int) -> int:
    """Return the least number of bytes that a launch moves: a row is read twice if it does not fit on chip.

    Accesses that only some keys need are not counted.
    """
    reads = {"row": 2 if n > p.capacity else 1, "sift": 1}
    return n * p.key.bytes * (reads.get(step.kernel, 0) + (step.kernel == "count" and step.argument == Literal()))


def test_counts(p: Params, greatest: int) -> list[int]:
    """Return the lengths up to `greatest` at which a selection takes another path, and multiples of tiles."""
    counts = {0, 1, greatest, p.capacity, 2 * p.capacity, p.row_limit, p.row_limit + p.tile, 2 * p.row_limit}
    return sorted(n for n in counts if n <= greatest)


def row_test_counts(p: Params, greatest: int) -> list[int]:
    """Return counts up to `greatest` that end in each row of lanes of a tile."""
    ends = (row * p.work_group + p.work_group // 2 for row in range(p.items))
    return [n for n in sorted({e + base for e in ends for base in (0, p.row_limit)}) if n <= greatest]
