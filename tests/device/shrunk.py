"""The launches that a plan has for large counts, as plans for small counts: the same kernels, arguments and order.

Kernels are those of the sort, so their text is the text that hsgen generates.  Kernels compute the number of buckets
from the count, and are right for any count, but for those of `SLOTTED`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.core.plan import Guard, Plan
from hsgen.core.sort import Sort

SLOTTED = "radix/hybrid/pair_bucket_sort:"
"""The templates of kernels that need many keys: the number of a slot replaces the bits that the keys of a bucket share,
and fewer keys share fewer bits."""


def _runs(guard: Guard, n: int) -> bool:
    return guard.min_n < n <= guard.max_n


def ways(plan: Plan, most: int) -> list[int]:
    """Return the counts above `most` from which on a plan has other steps."""
    changes = {n + 1 for s in plan.steps for n in (s.guard.min_n, s.guard.max_n)}
    return sorted(n for n in changes if most < n <= plan.max_n)


def shrunk(plan: Plan, most: int) -> Iterator[tuple[int, Plan]]:
    """Yield each way of a plan above `most` keys as a plan for up to `most` keys, with the way's least count.

    The steps have the grids and the offsets of the small count.  Scratch has the rules of the large count.  Counts are
    lengths of rows where guards are.  A way that differs from an earlier one only in its counts is left out.
    """
    seen = []
    for large in ways(plan, most):
        steps = [replace(s, guard=replace(s.guard, min_n=0, max_n=most)) for s in plan.steps if _runs(s.guard, large)]
        if steps in seen:
            continue
        seen.append(steps)
        rules = [replace(rule, min_n=0) for rule in plan.scratch.rules if rule.min_n < large]
        status = plan.device_status and replace(plan.device_status, min_n=0)
        scratch = replace(plan.scratch, rules=tuple(rules))
        yield large, replace(plan, steps=tuple(steps), scratch=scratch, device_status=status)


def slotted(sort: Sort, plan: Plan) -> bool:
    """Whether a plan of a sort has kernels that need many keys."""
    return any(sort.kernel(step.kernel).template.startswith(SLOTTED) for step in plan.steps)
