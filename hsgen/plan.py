"""The interpreter of plans: which launches a sort of n keys consists of.  The C runtimes do exactly this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hsgen.errors import Usage
from hsgen.spec import Plan, Step


@dataclass(frozen=True, slots=True)
class Launch:
    """A step that runs, with its number of work-groups spread over two dimensions of the grid."""

    step: Step
    groups: int
    grid: tuple[int, int]


def groups(step: Step, n: int) -> int:
    """Return the work-groups that `step` launches for `n` keys; 0 where its guard excludes n."""
    if not step.min_n < n <= step.max_n:
        return 0
    return min((n + step.add) // step.div * step.mul, step.cap)


def launches(plan: Plan, n: int, limit: int = 2**32 - 1) -> Iterator[Launch]:
    """Yield the launches that sort `n` keys; `limit` is the device's greatest grid size in one dimension.

    A grid that is split may hold more groups than asked for; every kernel ignores those beyond its work.

    Raises:
        Usage: n is negative or beyond the plan's greatest count, or needs a grid beyond limit * limit.
    """
    if not 0 <= n <= plan.max_n:
        raise Usage(f"count {n}: this plan sorts 0 to {plan.max_n} keys")
    for step in plan.steps:
        count = groups(step, n)
        if count > 0:
            rows = -(-count // limit)
            if rows > limit:
                raise Usage(f"count {n}: {count} work-groups do not fit a grid of {limit} x {limit}")
            yield Launch(step, count, (-(-count // rows), rows))
