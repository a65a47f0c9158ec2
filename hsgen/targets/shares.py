"""The *shares* of a sort that consists of several parts (algorithms).

The share of a part is what it contributes to the sort: its kernels, and its steps, restricted to its range of counts.
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
    """A part of a sort, with its kernels, steps and scratch.

    plan: the complete plan of the part's algorithm.  steps: those of its steps that the part needs.  low, high: the
    steps serve counts above `low`, up to `high`.  tail: the suffix of the names of the part's kernels.
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
        """The status that the part reports in device memory, for counts above `low`; None if it reports none."""
        status = self.plan.device_status
        return status and replace(status, min_n=max(status.min_n, self.low))


def placed(parts: Sequence[Part], part: Part, where: str, signature: Signature, groups: int) -> Share:
    """Return the share of `part` in a sort that consists of `parts`.

    If the signature has a bit range, parts that do not support bit ranges serve only calls that sort by all bits.  At
    their counts, another part serves calls that sort by some of the bits.

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
    """Adapt a share to a device-side count, where the host knows only the capacity, not the count.

    Scratch offsets then depend on the part's greatest count instead of the capacity.  Parts with a status are an
    exception, because all parts must report the status at the same offset, which depends only on the capacity.  In
    these parts, the scratch sizes are bounded by the part's counts instead.
    """
    if share.plan.device_status:
        rows = (replace(r, units=min(r.units, -(-r.max_n // r.unit)), max_n=ANY_N) for r in share.scratch.rules)
        return replace(share, scratch=Scratch(tuple(rows)))
    bound = [replace(s, bindings=tuple(b.bounded(share.high) for b in s.bindings)) for s in share.steps]
    return replace(share, steps=bound)


def within(plan: Plan, groups: int) -> Plan:
    """Limit a plan to the counts for which no grid has more than `groups` work-groups in a dimension."""
    return replace(plan, max_n=launched_up_to(plan.steps, plan.max_n, groups))


def suffix(parts: Sequence[Part], part: Part) -> str:
    """Return the suffix of the names of a part's kernels; "" in most cases.

    A sort may contain several parts of the same algorithm with different parameters.  Then the kernels of all such
    parts but the first get the part's label as a suffix.
    """
    several = EVERY[part.algorithm].TRAITS.several
    first = next((x for x in parts if several and x.algorithm == part.algorithm), part)
    return "" if first.params == part.params else "_" + (part.label or part.algorithm).replace("-", "_")


def _used(kernels: Iterable[Kernel], steps: Iterable[Step], tail: str) -> list[Kernel]:
    """Return those kernels that the steps launch, with the suffix `tail` added to their names.

    Kernels with a suffix belong to a later part.  Their field `always` is set to False, because otherwise a later part
    would clear the status of an earlier part.
    """
    used = {s.kernel for s in steps}
    return [
        replace(k, name=k.name + tail, always=k.always and not tail) if tail else k for k in kernels if k.name in used
    ]


def _lent(parts: Sequence[Part], part: Part) -> list[tuple[int, int]]:
    """Return the ranges of counts of other parts at which this part serves calls that sort by some of the bits.

    The calls need a part that supports bit ranges.  At the counts of a part that does not, the next greater part that
    does serves them.  If there is no such greater part, the greatest part that supports bit ranges serves them.
    """
    able = [x for x in parts if EVERY[x.algorithm].TRAITS.bit_ranges]
    unable = [x for x in parts if x not in able] if able else []
    counts = []
    for borrower in unable:
        if next((x for x in able if x.min_n >= borrower.max_n), able[-1]) is part:
            counts.append((borrower.min_n, borrower.max_n))
    return counts


def _narrowed(steps: Iterable[Step], low: int, high: int, part: str) -> list[Step]:
    """Restrict steps to counts above `low`, up to `high`, and to calls with certain bit ranges.

    `part` says which bit ranges the steps serve: "any", only the "whole" key, or only a "part" of it.  Steps that serve
    no such call are left out.
    """
    fits = (
        s if part in ("any", s.guard.range) else replace(s, guard=replace(s.guard, range=part))
        for s in steps
        if not s.guard.within(low, high).empty and ("any" in (part, s.guard.range) or s.guard.range == part)
    )
    return [s.within(low, high) for s in fits]


def merged(shares: Sequence[Share]) -> list[Share]:
    """Remove duplicate kernels from shares.

    If a kernel of a later part has the same text as a kernel of an earlier part, both parts launch the earlier kernel.
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
