"""What a report says of a plan: the launches of some counts, and every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hsgen.core.flags import ALONE, GRIDS, LAST, PARTS, SPAN
from hsgen.core.interpreter import launches, scratch_bytes
from hsgen.core.spec import UNCAPPED, Binding, Sort, Step
from hsgen.targets import assembly
from hsgen.tools.report.drawing import count, power

_GETS = {ALONE: "its argument", SPAN: "the bit range", LAST: "the passes", GRIDS: "grids", PARTS: "the parts"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The launches for one count out of place; `share` is what a copy of the keys moves, over `bytes`."""

    n: int
    algorithm: str
    launches: list[tuple[str, int, int, int]]
    bytes: int
    scratch: int
    share: float

    @property
    def groups(self) -> list[tuple[str, int, int, int, int]]:
        """The launches, those alike that follow each other as one: kernel, times, work-groups, lanes and bytes."""
        out: list[tuple[str, int, int, int, int]] = []
        for kernel, groups, lanes, moved in self.launches:
            if out and out[-1][0] == kernel and out[-1][2:4] == (groups, lanes):
                out[-1] = (kernel, out[-1][1] + 1, groups, lanes, out[-1][4] + moved)
            else:
                out.append((kernel, 1, groups, lanes, moved))
        return out


def counts(sort: Sort, asked: Sequence[int]) -> list[int]:
    """Return the counts to show: those asked for that the sort takes, else some powers of two and the crossovers."""
    if asked:
        return sorted({n for n in asked if n <= sort.plan.max_n})
    some = {1 << k for k in (10, 14, 17, 20, 24, 28)} | {p.min_n + d for p in sort.parts[1:] for d in (0, 1)}
    return sorted(n for n in some if n <= sort.plan.max_n)


def shown(sort: Sort, n: int) -> Shown:
    """Return what `n` keys take."""
    made = [
        (x.step.kernel, x.groups, sort.kernel(x.step.kernel).work_group, assembly.moved(sort, x.step, n))
        for x in launches(sort.plan, n, in_place=False)
    ]
    total = sum(moved for _, _, _, moved in made)
    least = 2 * n * (sort.item_bytes + sort.form.value_bytes)
    part = next(p for p in sort.parts if n <= p.max_n)
    return Shown(
        n=n,
        algorithm=part.label or part.algorithm,
        launches=made,
        bytes=total,
        scratch=scratch_bytes(sort, n),
        share=least / max(total, 1),
    )


def row(step: Step) -> tuple[str, ...]:
    """Return a row of a plan as the table has it: kernel, counts, work-groups, argument, what it gets, buffers."""
    place = {"any": "", "in": ", in place", "out": ", out of place"}[step.place]
    bits = {"any": "", "whole": ", all bits", "part": ", a part of the bits"}[step.range]
    gets = f"pass {step.number}" if step.number >= 0 else _GETS[step.number]
    return (
        step.kernel,
        f"{power(step.min_n)} < n <= {power(step.max_n)}{place}{bits}",
        _groups(step),
        f"{step.argument:#x}",
        gets,
        ", ".join(_binding(b) for b in step.bindings),
    )


def _groups(step: Step) -> str:
    """The formula of a grid, without what changes nothing."""
    if step.div == 1 and step.mul >= step.cap:
        return count(step.cap)
    add = f" {'+' if step.add > 0 else '-'} {abs(step.add)}" if step.add else ""
    out = f"({step.x}{add})" if add else step.x
    out += f" / {step.div}" if step.div > 1 else ""
    out += f" * {step.mul}" if step.mul > 1 else ""
    return out if step.cap >= UNCAPPED else f"min({out}, {step.cap})"


def _binding(b: Binding) -> str:
    """A buffer of a step, with where it begins."""
    at = [f"{b.per_n} n"] * bool(b.per_n) + [str(b.plus)] * bool(b.plus)
    return b.role + (f" + {' + '.join(at)}" if at else "")
