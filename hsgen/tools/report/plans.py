"""The part of a report about a sort's plan: the launches for some counts, and all steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsgen.core.interpreter import launches, scratch_bytes
from hsgen.core.plan import UNCAPPED, Binding, Grid, Literal, Pass, Step
from hsgen.core.sort import Sort
from hsgen.targets import assembly
from hsgen.tools.report.drawing import count, power

_GETS = {
    "literal": "its argument",
    "bit_range": "the bit range",
    "pass_count": "the passes",
    "indirect_grids": "grids",
    "call_number": "the parts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The launches of an out-of-place sort of `n` keys.

    `launches` are (kernel, work-groups, lanes of a work-group, bytes).  `bytes` is the number of bytes that all
    launches move.  `share` is the number of bytes that a copy of the keys and values moves, divided by `bytes`.
    """

    n: int
    algorithm: str
    launches: list[tuple[str, int, int, int]]
    bytes: int
    scratch: int
    share: float

    @property
    def groups(self) -> list[tuple[str, int, int, int, int]]:
        """The launches as (kernel, repetitions, work-groups, lanes, bytes); equal consecutive launches are combined."""
        out: list[tuple[str, int, int, int, int]] = []
        for kernel, groups, lanes, moved in self.launches:
            if out and out[-1][0] == kernel and out[-1][2:4] == (groups, lanes):
                out[-1] = (kernel, out[-1][1] + 1, groups, lanes, out[-1][4] + moved)
            else:
                out.append((kernel, 1, groups, lanes, moved))
        return out


def counts(sort: Sort, requested: Sequence[int]) -> list[int]:
    """Return the counts whose launches are shown; by default some powers of two and the counts at crossovers.

    Counts above the sort's greatest count are left out.
    """
    if requested:
        return sorted({n for n in requested if n <= sort.plan.max_n})
    defaults = {1 << k for k in (10, 14, 17, 20, 24, 28)} | {p.min_n + d for p in sort.parts[1:] for d in (0, 1)}
    return sorted(n for n in defaults if n <= sort.plan.max_n)


def shown(sort: Sort, n: int) -> Shown:
    """Return the launches for `n` keys."""
    rows = [
        (x.step.kernel, x.groups, sort.kernel(x.step.kernel).work_group, assembly.moved(sort, x.step, n))
        for x in launches(sort.plan, n, in_place=False)
    ]
    total = sum(moved for _, _, _, moved in rows)
    least = 2 * n * (sort.item_bytes + sort.signature.value_bytes)
    part = next(p for p in sort.parts if n <= p.max_n)
    return Shown(
        n=n,
        algorithm=part.label or part.algorithm,
        launches=rows,
        bytes=total,
        scratch=scratch_bytes(sort, n),
        share=least / max(total, 1),
    )


def row(step: Step) -> tuple[str, ...]:
    """Return a step as a table row: kernel, counts, work-groups, kernel argument in two cells, and buffers.

    The first cell of the argument has its constant bits, and the second cell says where its other bits come from.
    """
    guard, argument = step.guard, step.argument
    place = {"any": "", "in": ", in place", "out": ", out of place"}[guard.place]
    bits = {"any": "", "whole": ", all bits", "part": ", a part of the bits"}[guard.range]
    bits += {"any": "", "exact": ", no float sums", "rounded": ", float sums"}[guard.reduction]
    bits += f", {guard.min_take} < k <= {guard.max_take}" if guard.max_take else ""
    gets = f"pass {argument.number}" if isinstance(argument, Pass) else _GETS[argument.kind]
    return (
        step.kernel,
        f"{power(guard.min_n)} < n <= {power(guard.max_n)}{place}{bits}",
        _groups(step.grid),
        f"{argument.flags | (argument.value if isinstance(argument, Literal) else 0):#x}",
        gets,
        ", ".join(_binding(b) for b in step.bindings),
    )


def _groups(grid: Grid) -> str:
    """Return the formula for the number of work-groups of a grid; terms without effect are left out."""
    if grid.fixed:
        return count(grid.cap)
    x = {"number": "parts", "rows": "length"}.get(grid.x, grid.x)
    add = f" {'+' if grid.add > 0 else '-'} {abs(grid.add)}" if grid.add else ""
    out = f"({x}{add})" if add else x
    out += f" / {grid.div}" if grid.div > 1 else ""
    out += f" * {grid.mul}" if grid.mul > 1 else ""
    out += " per row" if grid.x == "rows" else ""
    return out if grid.cap >= UNCAPPED else f"min({out}, {grid.cap})"


def _binding(b: Binding) -> str:
    """Return a text for a buffer of a step and its offset, such as scratch + 4 n."""
    at = [f"{b.per_n} n"] * bool(b.per_n) + [str(b.plus)] * bool(b.plus)
    return b.role + (f" + {' + '.join(at)}" if at else "")
