"""The launches that a plan has for large counts, as plans for small counts: the same kernels, arguments and order.

Kernels are those of the sort, so their text is the text that hsgen generates.  Kernels compute the number of buckets
from the count.  All kernels are right for any count, but those of `SLOTTED` restrict the keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.core.plan import Guard, Plan
from hsgen.core.scratch import ScratchRule
from hsgen.core.sort import Sort

SLOTTED = "radix/hybrid/pair_bucket_sort:"
"""The templates of kernels that replace the highest bits of keys by the number of a slot.

The keys of a bucket share these bits if there are many keys.  With 2^7 times fewer keys, they share 7 bits fewer.  Then
the kernels are right if the 7 lowest bits of all keys are 0, but these bits of the results are those of slots.
"""
ZEROS = 7
"""The lowest bits that are 0 in keys, and anything in results."""


def _runs(guard: Guard, n: int) -> bool:
    return guard.min_n < n <= guard.max_n


def ways(plan: Plan, most: int) -> list[int]:
    """Return the counts above `most` from which on a plan has other steps."""
    changes = {n + 1 for s in plan.steps for n in (s.guard.min_n, s.guard.max_n)}
    return sorted(n for n in changes if most < n <= plan.max_n)


def _table(rule: ScratchRule, large: int) -> ScratchRule:
    """Return a rule that has the tables of a large count for any count: counted buckets are as many for few keys."""
    units = min(-(-large // rule.unit), rule.units)
    return replace(rule, min_n=0, plus=rule.plus + rule.per_unit * units, unit=1, per_unit=0, units=0)


def shrunk(plan: Plan, most: int) -> Iterator[tuple[int, Plan]]:
    """Yield each way of a plan above `most` keys as a plan for any count up to the way's, with the way's least count.

    The steps have the grids and the offsets of the small count.  Scratch has room for the tables of the large count.
    Counts are lengths of rows where guards are.  Only ways with other kernels, arguments or buffers are yielded.
    """
    seen = []
    for large in ways(plan, most):
        chosen = [s for s in plan.steps if _runs(s.guard, large)]
        launches = [(s.kernel, s.argument, s.guard.min_take, [b.role for b in s.bindings]) for s in chosen]
        if launches in seen:
            continue
        seen.append(launches)
        steps = [replace(s, guard=replace(s.guard, min_n=0, max_n=large)) for s in chosen]
        rules = [_table(rule, large) for rule in plan.scratch.rules if rule.min_n < large]
        status = plan.device_status and replace(plan.device_status, min_n=0)
        scratch = replace(plan.scratch, rules=tuple(rules))
        yield large, replace(plan, steps=tuple(steps), scratch=scratch, device_status=status)


def slotted(sort: Sort, plan: Plan) -> bool:
    """Whether a plan of a sort has kernels of `SLOTTED`."""
    return any(sort.kernel(step.kernel).template.startswith(SLOTTED) for step in plan.steps)
