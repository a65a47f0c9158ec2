"""The interpreter of plans: which launches a sort of n keys consists of.  The C runtimes do exactly this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hsgen.errors import Usage
from hsgen.spec import Binding, Plan, Step


@dataclass(frozen=True, slots=True)
class Launch:
    """A step that runs, with its number of work-groups spread over two dimensions of the grid."""

    step: Step
    groups: int
    grid: tuple[int, int]


def groups(step: Step, n: int, *, in_place: bool) -> int:
    """Return the work-groups that `step` launches for `n` keys; 0 where its guard excludes n or the place."""
    if not step.min_n < n <= step.max_n or step.place == ("out" if in_place else "in"):
        return 0
    return min((n + step.add) // step.div * step.mul, step.cap)


def offset(binding: Binding, n: int) -> int:
    """Return where a binding begins in the buffer of its role, in bytes; in scratch a multiple of 1024."""
    begin = binding.plus + binding.per_n * n
    return -(-begin // 1024) * 1024 if binding.role == "scratch" else begin


def launches(plan: Plan, n: int, limit: int = 2**32 - 1, *, in_place: bool) -> Iterator[Launch]:
    """Yield the launches that sort `n` keys; `limit` is the device's greatest grid size in one dimension.

    A grid that is split may hold more groups than asked for; every kernel ignores those beyond its work.

    Raises:
        Usage: n is negative or beyond the plan's greatest count, or needs a grid beyond limit * limit.
    """
    if not 0 <= n <= plan.max_n:
        raise Usage(f"count {n}: this plan sorts 0 to {plan.max_n} keys")
    for step in plan.steps:
        count = groups(step, n, in_place=in_place)
        if count > 0:
            rows = -(-count // limit)
            if rows > limit:
                raise Usage(f"count {n}: {count} work-groups do not fit a grid of {limit} x {limit}")
            yield Launch(step, count, (-(-count // rows), rows))
