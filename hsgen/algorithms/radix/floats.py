"""Sorts of floats in numeric order, which are uneven, and whose zeros and NaNs may keep their bits; 64-bit indices.

The variants here are in no bundle: a host that knows the type of keys chooses them (`hsgen.cuda`).
"""

from __future__ import annotations

from dataclasses import replace

from hsgen.algorithms.radix import cooperative, onesweep
from hsgen.algorithms.radix.cooperative import Cooperative
from hsgen.algorithms.radix.onesweep import Onesweep
from hsgen.algorithms.radix.parts import WORDS, Body
from hsgen.algorithms.radix.phases import Sweep
from hsgen.algorithms.radix.single import Single
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Buffer
from hsgen.core.interpreter import launches, offset
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding, Step
from hsgen.core.sort import Sort

INDICES = Binding(role="values")
"""Where the 64-bit indices of `widened` go: argsorts have no values before."""
_WIDENED = "_widened"  # behind the name of a kernel


def uneven(sort: Sort, local_bytes: int) -> Sort:
    """Return the sort whose first part, if it deals keys out in one launch, does so by a sample of them.

    local_bytes: of the device; where they do not suffice, the sort is as it was.
    """
    part = sort.parts[0]
    if not isinstance(part.params, Cooperative):
        return sort
    p = cooperative.uneven(part.params)
    made = {k.name: k for k in cooperative.kernels(p)}
    if cooperative.max_n(p) < part.max_n or any(k.local_bytes(sort.key) > local_bytes for k in made.values()):
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
        data = kernel.data
        data = cooperative.raw(data) if isinstance(data, cooperative.OneLaunch) else replace(data, raw=True)
        made.append(replace(kernel, data=data))
    plan = replace(sort.plan, steps=steps, max_n=part.max_n)
    return replace(sort, kernels=tuple(made), plan=plan, parts=(part,))


def widened(sort: Sort, *, raw: bool) -> Sort | None:
    """Return the argsort by 32-bit indices, out of place, whose pass over the highest digit stores 64-bit indices in
    another buffer, `INDICES`, where no buckets follow; None if none of its passes looks back.

    It then says so in a word of scratch memory, see `turn`, and the 32-bit indices are not those of the result.  raw:
    that pass also gives zeros and NaNs the bits back that they had, as `raw` does.
    """
    signature = sort.signature
    if signature.value != "index" or signature.followed or signature.bit_range or signature.device_count:
        return None
    made: dict[str, Kernel] = {}
    for step in sort.plan.steps:
        kernel = sort.kernel(step.kernel)
        if _last(step, kernel):
            assert isinstance(kernel.data, Sweep)
            data = replace(kernel.data, scatter=onesweep.WIDENED_RAW if raw else onesweep.WIDENED)
            buffers = (*kernel.buffers, Buffer(name="indices", type="u64"))
            made[kernel.name] = replace(kernel, name=kernel.name + _WIDENED, data=data, buffers=buffers)
    if not made:
        return None
    steps = tuple(
        replace(s, kernel=made[s.kernel].name, bindings=(*s.bindings, INDICES))
        if s.kernel in made and _last(s, sort.kernel(s.kernel))
        else s
        for s in sort.plan.steps
    )
    return replace(sort, kernels=(*sort.kernels, *made.values()), plan=replace(sort.plan, steps=steps))


def _last(step: Step, kernel: Kernel) -> bool:
    """Whether a step is a whole pass of look-back over the highest digit."""
    p = kernel.params
    return (
        isinstance(p, Onesweep)
        and p.forward_progress
        and p.alongside
        and not p.compact
        and kernel.template == onesweep.sweep(p).template
        and step.pass_number == len(p.digits) - 1
    )


def turn(sort: Sort, n: int) -> int | None:
    """Return the offset in scratch memory of the number of the pass over the highest digit in a sort of `n` keys by
    `widened`: from 1 to 255 if it has stored 64-bit indices; None if that is no pass of its own."""
    for launch in launches(sort.plan, n, in_place=False):
        step, kernel = launch.step, sort.kernel(launch.step.kernel)
        if INDICES in step.bindings:
            assert isinstance(kernel.params, Onesweep)
            number = words(kernel.params).pass_order.start + len(kernel.params.digits) - 1
            at = next(x for x, b in zip(step.bindings, kernel.buffers, strict=True) if b == WORDS)
            return offset(at, n) + 4 * number
    return None
