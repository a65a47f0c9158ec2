"""The shares of a sort of several parts: what the algorithm of each brings for its counts."""

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
    """A part of a sort with what it contributes; `low` and `high` bound the counts of its steps, `tail` ends the names
    of its kernels."""

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
        """Its status, from its least count on."""
        status = self.plan.device_status
        return status and replace(status, min_n=max(status.min_n, self.low))


def placed(parts: Sequence[Part], part: Part, where: str, signature: Signature, groups: int) -> Share:
    """Return a part for its counts, and with a bit range for those of parts that cannot sort by one.

    Raises:
        Usage: it cannot sort as many keys as it shall.
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
        steps=[replace(s, kernel=s.kernel + tail) for s in steps],
        low=low,
        high=high,
        tail=tail,
        scratch=plan.scratch.within(low, high),
    )


def bounded(share: Share) -> Share:
    """The part for a device-side count: it finds its scratch by its own greatest count, not by any capacity.

    Parts that report a status do so in one place, which depends on the capacity alone; their tables have rows for their
    own counts.
    """
    if share.plan.device_status:
        rows = (replace(r, units=min(r.units, -(-r.max_n // r.unit)), max_n=ANY_N) for r in share.scratch.rules)
        return replace(share, scratch=Scratch(tuple(rows)))
    bound = [replace(s, bindings=tuple(b.bounded(share.high) for b in s.bindings)) for s in share.steps]
    return replace(share, steps=bound)


def within(plan: Plan, groups: int) -> Plan:
    """Return the plan for the counts whose grids have at most `groups` work-groups in each dimension."""
    return replace(plan, max_n=launched_up_to(plan.steps, plan.max_n, groups))


def suffix(parts: Sequence[Part], part: Part) -> str:
    """Return what follows the names of a part's kernels: the label, where the algorithm has several shapes in the sort
    and this is not the first."""
    several = EVERY[part.algorithm].TRAITS.several
    first = next((x for x in parts if several and x.algorithm == part.algorithm), part)
    return "" if first.params == part.params else "_" + (part.label or part.algorithm).replace("-", "_")


def _used(kernels: Iterable[Kernel], steps: Iterable[Step], tail: str) -> list[Kernel]:
    """The kernels that some step launches, under the names of their part.

    A later part must not clear what an `always` kernel clears: an earlier part may have noted something.
    """
    used = {s.kernel for s in steps}
    return [
        replace(k, name=k.name + tail, always=k.always and not tail) if tail else k for k in kernels if k.name in used
    ]


def _lent(parts: Sequence[Part], part: Part) -> list[tuple[int, int]]:
    """The counts of other parts for which a part sorts by a part of the bits: those of the parts that cannot, each lent
    to the next part that can, or else to the last one."""
    able = [x for x in parts if EVERY[x.algorithm].TRAITS.bit_ranges]
    others = [x for x in parts if x not in able] if able else []
    found = []
    for other in others:
        if next((x for x in able if x.min_n >= other.max_n), able[-1]) is part:
            found.append((other.min_n, other.max_n))
    return found


def _narrowed(steps: Iterable[Step], low: int, high: int, part: str) -> list[Step]:
    """The steps that run for counts above `low` up to `high`, and only there; `part` is the bit ranges that may be."""
    fits = (
        replace(s, guard=replace(s.guard, range=s.guard.range if part == "any" else part))
        for s in steps
        if "any" in (part, s.guard.range) or s.guard.range == part
    )
    mine = (s.within(low, high) for s in fits)
    return [s for s in mine if not s.guard.empty]


def merged(shares: Sequence[Share]) -> list[Share]:
    """Let later parts launch the kernels of earlier ones whose text is the same."""
    known: list[tuple[Kernel, str]] = []
    found = []
    for x in shares:
        names = {}
        for k in (k for k in x.kernels if k.common is not None):
            plain = replace(k, name=k.name.removesuffix(x.tail), params=None)
            names[k.name] = next((name for other, name in known if other == plain), k.name)
            known.append((plain, k.name))
        kernels = [k for k in x.kernels if names.get(k.name, k.name) == k.name]
        steps = [replace(s, kernel=names.get(s.kernel, s.kernel)) for s in x.steps]
        found.append(replace(x, kernels=kernels, steps=steps))
    return found
