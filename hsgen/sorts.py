"""Sorts as wholes: putting algorithms together by count, and asking all parts of a sort the same question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from hsgen.algorithms import ALGORITHMS, Algorithm
from hsgen.errors import Usage
from hsgen.plan import launches
from hsgen.spec import Kernel, Outcome, Part, Plan, Scratch, Sort, Step


def assemble(parts: Sequence[Part], where: str) -> tuple[tuple[Kernel, ...], Plan, tuple[Part, ...]]:
    """Return kernels, plan and parts of a sort in which each part serves its counts, in ascending order.

    The last part reaches as far as its own plan does.

    Raises:
        Usage: a part but the last cannot sort as many keys as it shall, or two parts need subgroups of different
            widths or bring different kernels of one name.
    """
    kernels: dict[str, Kernel] = {}
    steps: list[Step] = []
    scratches: list[Scratch] = []
    outcomes: list[Outcome] = []
    placed: list[Part] = []
    for part in parts:
        made = ALGORITHMS[part.algorithm]
        plan = made.plan(part.params)
        top = min(part.max_n, plan.max_n)
        if top < part.max_n and part is not parts[-1]:
            raise Usage(f"{where}: {part.algorithm} sorts up to {plan.max_n} keys; give no crossover beyond it")
        mine = [replace(s, min_n=max(s.min_n, part.min_n), max_n=min(s.max_n, top)) for s in plan.steps]
        mine = [s for s in mine if s.min_n < s.max_n]
        used = {s.kernel for s in mine}
        for kernel in made.kernels(part.params):
            if kernel.name in used and kernels.setdefault(kernel.name, kernel) != kernel:
                raise Usage(f"{where}: two of the algorithms have a kernel {kernel.name}; give them the same shape")
        steps += mine
        placed.append(replace(part, max_n=top))
        if plan.scratch != Scratch() and top > plan.scratch.min_n:
            scratches.append(replace(plan.scratch, min_n=max(plan.scratch.min_n, part.min_n)))
        if plan.outcome:
            outcomes.append(replace(plan.outcome, min_n=max(plan.outcome.min_n, part.min_n)))
    widths = sorted({k.subgroup for k in kernels.values() if k.subgroup > 1})
    if len(widths) > 1:
        raise Usage(
            f"{where}: its algorithms use subgroups of {widths[0]} and of {widths[1]} lanes; give them one width"
        )
    plan = Plan(
        steps=tuple(steps),
        max_n=placed[-1].max_n,
        scratch=_largest(scratches),
        outcome=replace(outcomes[0], words=max(o.words for o in outcomes)) if outcomes else None,
    )
    return tuple(kernels.values()), plan, tuple(placed)


def _largest(rules: Sequence[Scratch]) -> Scratch:
    """A rule that gives at least as many bytes as every one of `rules`, and none where all give none."""
    if not rules:
        return Scratch()
    return Scratch(
        min_n=min(r.min_n for r in rules),
        plus=max(r.plus for r in rules),
        per_n=max(r.per_n for r in rules),
        unit=min(r.unit for r in rules),
        per_unit=max(r.per_unit for r in rules),
        units=max(r.units for r in rules),
    )


def _made(part: Part) -> tuple[Algorithm, Any]:
    return ALGORITHMS[part.algorithm], part.params


def block(sort: Sort) -> int:
    """Return the keys that one work-group sorts: the count around which validations are dense."""
    made, params = _made(sort.parts[0])
    return made.block(params)


def _counts(sort: Sort, greatest: int, ask: Callable[[Algorithm, Any, int], Iterable[int]]) -> list[int]:
    """The counts that each part names, as far as they are its own."""
    found: set[int] = set()
    for part in sort.parts:
        made, params = _made(part)
        top = min(part.max_n, greatest)
        if part.min_n < top:
            found.update(n for n in ask(made, params, top) if part.min_n <= n <= top)
    return sorted(found)


def edges(sort: Sort, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the sort changes its way, changes of algorithm among them."""
    inner = _counts(sort, greatest, lambda made, params, top: made.edges(params, top))
    return sorted({*inner, *(p.min_n for p in sort.parts if p.min_n <= greatest)})


def row_ends(sort: Sort, greatest: int) -> list[int]:
    """Return counts up to `greatest` by which every guard of every kernel is decisive for some lane."""
    return _counts(sort, greatest, lambda made, params, top: made.row_ends(params, top))


def moved(sort: Sort, step: Step, n: int) -> int:
    """Return the bytes of memory that one launch reads and writes for `n` keys."""
    kernel = sort.kernel(step.kernel)
    return ALGORITHMS[kernel.algorithm].moved(kernel.params, step, n)


def traffic(sort: Sort, n: int) -> int:
    """Return the bytes of memory that a whole sort of `n` keys out of place reads and writes."""
    return sum(moved(sort, launch.step, n) for launch in launches(sort.plan, n, in_place=False))


def notes(sort: Sort) -> list[tuple[str, str]]:
    """Return derived values that a person wants to see: (name, value)."""
    out: list[tuple[str, str]] = []
    for part in sort.parts:
        made, params = _made(part)
        if len(sort.parts) > 1:
            out.append((part.algorithm, f"{part.min_n + 1} to {part.max_n} keys"))
        out += made.notes(params)
    return out
