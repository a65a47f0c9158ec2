"""Sorts in one launch of floats in numeric order, which are uneven, and whose zeros and NaNs may keep their bits.

The variants here are in no bundle: a host that knows the type of keys chooses them (`hsgen.cuda`).
"""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.radix import cooperative
from hsgen.algorithms.radix.cooperative import Cooperative
from hsgen.algorithms.radix.parts import Body
from hsgen.algorithms.radix.single import Single
from hsgen.core.sort import Sort


def uneven(sort: Sort, local_bytes: int) -> Sort:
    """Return the sort whose first part, if it deals keys out in one launch, does so by a sample of them.

    local_bytes: of the device; where they do not suffice, the sort is as it was.
    """
    part = sort.parts[0]
    if not isinstance(part.params, Cooperative):
        return sort
    p = cooperative.uneven(part.params)
    made = {k.name: k for k in cooperative.kernels(p)}
    if any(k.local_bytes(sort.key) > local_bytes for k in made.values()):
        return sort
    parts = (replace(part, params=p), *sort.parts[1:])
    return replace(sort, kernels=tuple(made.get(k.name, k) for k in sort.kernels), parts=parts)


def raw(sort: Sort) -> Sort | None:
    """Return the argsort, out of place, after which zeros and NaNs have the bits that they had; None if it has none.

    Kernels in numeric order read all NaNs as one, and all zeros (`hsgen.cuda.numeric`), since these are equal.  Those
    of the result look keys up by their indices.  It sorts the counts of the first part, if that takes one launch.
    """
    part, signature = sort.parts[0], sort.signature
    if not isinstance(part.params, Cooperative | Single) or not signature.index or signature.followed:
        return None
    steps = tuple(s for s in sort.plan.steps if s.guard.min_n < part.max_n)
    made = []
    for kernel in (sort.kernel(name) for name in dict.fromkeys(s.kernel for s in steps)):
        if not isinstance(kernel.data, Body):
            return None
        made.append(replace(kernel, data=replace(kernel.data, raw=True)))
    plan = replace(sort.plan, steps=steps, max_n=part.max_n)
    return replace(sort, kernels=tuple(made), plan=plan, parts=(part,))
