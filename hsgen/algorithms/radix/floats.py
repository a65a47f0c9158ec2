"""Variants of radix sorts for the Python API `hsgen.cuda`: floats in numeric order, and argsorts with 64-bit indices.

In numeric order, -0 equals +0 and all NaNs are equal.  Bundles do not have these variants: `hsgen.cuda` chooses them,
because it knows the type of the keys of a call.
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
"""The buffer for the 64-bit indices of `widened`.  Its role is "values", because an argsort has no input values."""
_WIDENED = "_widened"  # suffix of the name of a kernel


def uneven(sort: Sort, local_bytes: int) -> Sort:
    """Return the sort, with a first part that partitions keys by their quantiles in a sample, which suits uneven keys.

    The first part of a sort is the algorithm for the smallest counts.  If the strategy of that part is not
    `cooperative`, the result is `sort` itself.  The result is also `sort` itself if the new part would sort fewer keys
    than the old one, or need more than `local_bytes`.
    local_bytes: the local memory of a work-group on the device.
    """
    part = sort.parts[0]
    if not isinstance(part.params, Cooperative):
        return sort
    p = cooperative.uneven(part.params)
    changed = {k.name: k for k in cooperative.kernels(p)}
    if cooperative.max_n(p) < part.max_n or any(k.local_bytes(sort.key) > local_bytes for k in changed.values()):
        return sort
    parts = (replace(part, params=p), *sort.parts[1:])
    return replace(sort, kernels=tuple(changed.get(k.name, k) for k in sort.kernels), parts=parts)


def raw(sort: Sort) -> Sort | None:
    """Return an out-of-place argsort whose sorted keys have the original bits of zeros and NaNs.

    Kernels that sort in numeric order read all NaNs as one key, and all zeros as one key (`hsgen.cuda.numeric`).  The
    kernels of the result therefore load sorted zeros and NaNs from the input again, by their indices.  The result sorts
    only the counts of the first part of `sort`.  None means that this part takes several launches, that `sort` is no
    argsort, or that a stage follows the sort.
    """
    part, signature = sort.parts[0], sort.signature
    if not isinstance(part.params, Cooperative | Single) or not signature.index or signature.followed:
        return None
    steps = tuple(s for s in sort.plan.steps if s.guard.min_n < part.max_n)
    kernels = []
    for kernel in (sort.kernel(name) for name in dict.fromkeys(s.kernel for s in steps)):
        if not isinstance(kernel.data, Body):
            return None
        data = kernel.data
        data = cooperative.raw(data) if isinstance(data, cooperative.OneLaunch) else replace(data, raw=True)
        kernels.append(replace(kernel, data=data))
    plan = replace(sort.plan, steps=steps, max_n=part.max_n)
    return replace(sort, kernels=tuple(kernels), plan=plan, parts=(part,))


def widened(sort: Sort, *, raw: bool) -> Sort | None:
    """Return an out-of-place argsort that stores 64-bit indices to the buffer `INDICES`.

    Only the pass by the highest digit stores 64-bit indices.  If a bucket sort follows the pass, the pass stores none.
    Earlier passes move 32-bit indices.  After the call, the caller reads a word of scratch (`turn`) to learn whether
    the 64-bit indices have been stored.  If so, the buffer of 32-bit indices has undefined contents.  None means that
    there is no such argsort, for example because no pass uses look-back.
    raw: whether the pass by the highest digit also restores the original bits of zeros and NaNs, as the function `raw`
    does.
    """
    signature = sort.signature
    if signature.value != "index" or signature.followed or signature.bit_range or signature.device_count:
        return None
    changed: dict[str, Kernel] = {}
    for step in sort.plan.steps:
        kernel = sort.kernel(step.kernel)
        if _last(step, kernel):
            assert isinstance(kernel.data, Sweep)
            data = replace(kernel.data, scatter=onesweep.WIDENED_RAW if raw else onesweep.WIDENED)
            buffers = (*kernel.buffers, Buffer(name="indices", type="u64"))
            changed[kernel.name] = replace(kernel, name=kernel.name + _WIDENED, data=data, buffers=buffers)
    if not changed:
        return None
    steps = tuple(
        replace(s, kernel=changed[s.kernel].name, bindings=(*s.bindings, INDICES))
        if s.kernel in changed and _last(s, sort.kernel(s.kernel))
        else s
        for s in sort.plan.steps
    )
    return replace(sort, kernels=(*sort.kernels, *changed.values()), plan=replace(sort.plan, steps=steps))


def _last(step: Step, kernel: Kernel) -> bool:
    """Whether a step is a pass by the highest digit with look-back that never gives up."""
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
    """Return the byte offset in scratch of the word that tells whether a sort of `n` keys has stored 64-bit indices.

    The word is the entry of the pass by the highest digit in the region `pass_order`.  The pass has stored 64-bit
    indices if the word is 1 to 255.  None means that no launch for this count stores 64-bit indices.
    sort: a result of `widened`.
    """
    for launch in launches(sort.plan, n, in_place=False):
        step, kernel = launch.step, sort.kernel(launch.step.kernel)
        if INDICES in step.bindings:
            assert isinstance(kernel.params, Onesweep)
            number = words(kernel.params).pass_order.start + len(kernel.params.digits) - 1
            binding = next(x for x, b in zip(step.bindings, kernel.buffers, strict=True) if b == WORDS)
            return offset(binding, n) + 4 * number
    return None
