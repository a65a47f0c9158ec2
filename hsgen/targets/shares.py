"""The *shares* of a sort that consists of several algorithms.

Each algorithm is a *part* of the sort, and sorts a range of counts (`hsgen.core.sort.Part`).  Its share is what it
contributes to the sort: its kernels, and its launches, restricted to the counts that it sorts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hsgen.algorithms import EVERY
from hsgen.core.errors import Usage
from hsgen.core.interpreter import launched_up_to
from hsgen.core.kernels import Kernel
from hsgen.core.keys import Signature
from hsgen.core.plan import DeviceStatus, Plan, Step
from hsgen.core.scratch import ANY_N, Scratch
from hsgen.core.sort import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a part contributes to a sort: kernels, launches (steps) and scratch.

    plan: the complete launch plan of the part's algorithm.
    steps: those steps of the plan that run in the sort.
    low, high: the steps run for counts above `low` up to `high`.
    tail: the suffix of the names of the part's kernels in the sort; usually "".
    """

    part: Part
    plan: Plan
    kernels: list[Kernel]
    steps: list[Step]
    low: int
    high: int
    tail: str
    scratch: Scratch

    @property
    def device_status(self) -> DeviceStatus | None:
        """The scratch words in which the part reports retries, for counts above `low`; None if it reports none."""
        status = self.plan.device_status
        return status and replace(status, min_n=max(status.min_n, self.low))


def placed(parts: Sequence[Part], part: Part, where: str, signature: Signature, groups: int) -> Share:
    """Return the share of `part` in a sort that consists of `parts`.

    A part that cannot sort by only some of the bits runs only in calls that sort by all bits.  Another part runs in the
    other calls for these counts.

    Raises:
        Usage: the part cannot sort its greatest count.
    """
    algorithm = EVERY[part.algorithm]
    plan = within(algorithm.plan(part.params), groups)
    top = min(part.max_n, plan.max_n)
    if top < part.max_n and (part is not parts[-1] or top <= part.min_n):
        raise Usage(f"{where}: {part.algorithm} sorts up to {plan.max_n} keys; give no crossover beyond it")
    lent = _lent(parts, part) if signature.bit_range else []
    whole_only = signature.bit_range and not algorithm.TRAITS.bit_ranges
    steps = _narrowed(plan.steps, part.min_n, top, "whole" if whole_only else "any")
    steps += [s for low, high in lent for s in _narrowed(plan.steps, low, high, "part")]
    tail = suffix(parts, part)
    low, high = min([part.min_n, *(x for x, _ in lent)]), max([top, *(x for _, x in lent)])
    return Share(
        part=replace(part, max_n=top),
        plan=plan,
        kernels=_used(algorithm.kernels(part.params), steps, tail),
        steps=[replace(s, kernel=s.kernel + tail) for s in steps] if tail else steps,
        low=low,
        high=high,
        tail=tail,
        scratch=plan.scratch.within(low, high),
    )


def bounded(share: Share) -> Share:
    """Return the share for calls whose count is in device memory, in which the host knows only the capacity.

    Scratch offsets then depend on the capacity, which may exceed the counts of the part.  The result's offsets stop
    growing at the greatest count that the part sorts, to save scratch.

    Parts that report retries are an exception, because all parts must report them at the same offset.  In their share,
    the offsets grow with the capacity.  Only the number of units (`ScratchRule.units`) is limited to the counts that
    the part sorts.
    """
    if share.plan.device_status:
        rows = (replace(r, units=min(r.units, -(-r.max_n // r.unit)), max_n=ANY_N) for r in share.scratch.rules)
        return replace(share, scratch=Scratch(tuple(rows)))
    bound = [replace(s, bindings=tuple(b.bounded(share.high) for b in s.bindings)) for s in share.steps]
    return replace(share, steps=bound)


def within(plan: Plan, groups: int) -> Plan:
    """Return the plan, restricted to counts for which no grid exceeds `groups` work-groups in each dimension."""
    return replace(plan, max_n=launched_up_to(plan.steps, plan.max_n, groups))


def suffix(parts: Sequence[Part], part: Part) -> str:
    """Return the suffix of the names of a part's kernels in a sort that consists of `parts`; usually "".

    Several parts may have the same algorithm with different parameters.  Each of these parts but the first then has its
    label as the suffix.
    """
    several = EVERY[part.algorithm].TRAITS.several
    first = next((x for x in parts if several and x.algorithm == part.algorithm), part)
    return "" if first.params == part.params else "_" + (part.label or part.algorithm).replace("-", "_")


def _used(kernels: Iterable[Kernel], steps: Iterable[Step], tail: str) -> list[Kernel]:
    """Return those kernels that `steps` launch, with the suffix `tail` added to their names.

    If there is a suffix, an earlier part has the same algorithm, and `Kernel.always` becomes False.  Otherwise, the
    kernel would also run for counts of the earlier part, and clear the words in which that part has reported retries.
    """
    used = {s.kernel for s in steps}
    return [
        replace(k, name=k.name + tail, always=k.always and not tail) if tail else k for k in kernels if k.name in used
    ]


def _lent(parts: Sequence[Part], part: Part) -> list[tuple[int, int]]:
    """Return the ranges of counts of other parts that lack bit ranges, and for which `part` runs instead.

    A call that sorts by only some of the bits needs a part that supports bit ranges.  If the part for its count does
    not, the next part for greater counts that does runs instead.  If there is none, the last part that does runs.
    """
    able = [x for x in parts if EVERY[x.algorithm].TRAITS.bit_ranges]
    unable = [x for x in parts if x not in able] if able else []
    counts = []
    for borrower in unable:
        if next((x for x in able if x.min_n >= borrower.max_n), able[-1]) is part:
            counts.append((borrower.min_n, borrower.max_n))
    return counts


def _narrowed(steps: Iterable[Step], low: int, high: int, part: str) -> list[Step]:
    """Return the steps, restricted to counts above `low` up to `high`, and to calls whose bit range `part` states.

    The result lacks steps that run for no such call.
    part: "whole" for calls that sort by all bits, "part" for calls that sort by fewer, "any" for both (`Guard.range`).
    """
    fits = (
        s if part in ("any", s.guard.range) else replace(s, guard=replace(s.guard, range=part))
        for s in steps
        if not s.guard.within(low, high).empty and ("any" in (part, s.guard.range) or s.guard.range == part)
    )
    return [s.within(low, high) for s in fits]


def merged(shares: Sequence[Share]) -> list[Share]:
    """Return the shares without duplicate kernels.

    If the kernels of two parts have the same text, both parts launch that of the earlier part.
    """
    known: list[tuple[Kernel, str]] = []
    out = []
    for x in shares:
        names = {}
        for k in (k for k in x.kernels if k.common is not None):
            plain = replace(k, name=k.name.removesuffix(x.tail), params=None)
            names[k.name] = next((name for earlier, name in known if earlier == plain), k.name)
            known.append((plain, k.name))
        kernels = [k for k in x.kernels if names.get(k.name, k.name) == k.name]
        moved = {name: earlier for name, earlier in names.items() if earlier != name}
        steps = [replace(s, kernel=moved[s.kernel]) if s.kernel in moved else s for s in x.steps]
        out.append(replace(x, kernels=kernels, steps=steps))
    return out
