"""Sorts of several parts: algorithms combined by count, and properties of a whole sort derived from its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Any

from hsgen.algorithms import EVERY, Algorithm
from hsgen.core.errors import Usage
from hsgen.core.interpreter import launched_up_to, launches
from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.plan import UNCAPPED, DeviceStatus, Plan, Step
from hsgen.core.scratch import ANY_N, Scratch
from hsgen.core.sort import Part, Sort
from hsgen.stages import epilogue, run_boundaries
from hsgen.targets.indirect_grids import counted


def assemble(
    parts: Sequence[Part], where: str, signature: Signature = PLAIN, *, groups: int = UNCAPPED
) -> tuple[tuple[Kernel, ...], Plan, tuple[Part, ...]]:
    """Return kernels, plan and parts of a sort in which each part serves its counts, in ascending order.

    The last part ends where its own plan does, and no part exceeds grids of `groups` work-groups in each
    dimension.  A bit range is sorted by the parts that can, for every count.

    Raises:
        Usage: a part but the last cannot sort as many keys as it shall, or the last one none of its counts; two parts
            need subgroups of different widths or bring different kernels of one name.
    """
    placed = [_placed(parts, part, where, signature, groups) for part in parts]
    placed = [_bounded(x) for x in placed] if signature.device_count else placed
    kernels: dict[str, Kernel] = {}
    for kernel in (k for x in placed for k in x.kernels):
        if kernels.setdefault(kernel.name, kernel) != kernel:
            raise Usage(f"{where}: two of the algorithms have a kernel {kernel.name}; give them the same shape")
    _one_width(kernels.values(), where)
    whole = replace(
        placed[-1].plan,
        steps=tuple(s for x in placed for s in x.steps),
        max_n=placed[-1].part.max_n,
        whole_words=all(x.plan.whole_words for x in placed),
        scratch=Scratch(tuple(rule for x in placed for rule in x.scratch.rules)),
        device_status=_shared_status([x.device_status for x in placed]),
    )
    made = tuple(kernels.values())
    made, whole = counted(made, whole) if signature.device_count else (made, whole)
    return made, whole, tuple(x.part for x in placed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """A part of a sort with what it contributes; `low` and `high` bound the counts of its steps."""

    part: Part
    plan: Plan
    kernels: list[Kernel]
    steps: list[Step]
    low: int
    high: int
    scratch: Scratch

    @property
    def device_status(self) -> DeviceStatus | None:
        """Its status, from its least count on."""
        status = self.plan.device_status
        return status and replace(status, min_n=max(status.min_n, self.low))


def _placed(parts: Sequence[Part], part: Part, where: str, signature: Signature, groups: int) -> _Share:
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
    return _Share(
        part=replace(part, max_n=top),
        plan=plan,
        kernels=_used(algorithm.kernels(part.params), steps, tail),
        steps=[replace(s, kernel=s.kernel + tail) for s in steps],
        low=low,
        high=high,
        scratch=plan.scratch.within(low, high),
    )


def _bounded(share: _Share) -> _Share:
    """The part for a device-side count: it finds its scratch by its own greatest count, not by any capacity.

    Parts that report a status do so in one place, which depends on the capacity alone; their tables have rows for their
    own counts.
    """
    if share.plan.device_status:
        rows = (replace(r, units=min(r.units, -(-r.max_n // r.unit)), max_n=ANY_N) for r in share.scratch.rules)
        return replace(share, scratch=Scratch(tuple(rows)))
    bound = [replace(s, bindings=tuple(b.bounded(share.high) for b in s.bindings)) for s in share.steps]
    return replace(share, steps=bound)


def limited(parts: Sequence[Part], max_n: int, signature: Signature) -> list[Part]:
    """Return the parts of a sort for counts up to `max_n`; a bit range needs one of the parts that can sort by it."""
    kept = [replace(x, max_n=min(x.max_n, max_n)) for x in parts if x.min_n < max_n]
    able = [x for x in parts if EVERY[x.algorithm].TRAITS.bit_ranges and x.min_n >= max_n]
    if signature.bit_range and able and not any(EVERY[x.algorithm].TRAITS.bit_ranges for x in kept):
        kept.append(replace(able[0], min_n=max_n, max_n=max_n))
    return kept


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


def _shared_status(statuses: Sequence[DeviceStatus | None]) -> DeviceStatus | None:
    """The status that all parts from the first with a status on report in one place; None if one of them has none."""
    reporting = list(dropwhile(lambda o: o is None, statuses))
    some = [o for o in reporting if o is not None]
    return replace(some[0], words=max(o.words for o in some)) if some and len(some) == len(reporting) else None


def _one_width(kernels: Iterable[Kernel], where: str) -> None:
    """Raise unless all kernels whose lanes exchange anything have subgroups of one width."""
    widths = sorted({k.subgroup for k in kernels if k.subgroup > 1})
    if len(widths) > 1:
        raise Usage(
            f"{where}: its algorithms use subgroups of {widths[0]} and of {widths[1]} lanes; give them one width"
        )


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


def _made(part: Part) -> tuple[Algorithm, Any]:
    return EVERY[part.algorithm], part.params


def block(sort: Sort) -> int:
    """Return the keys that one work-group sorts: the count around which validations are dense."""
    made, params = _made(sort.parts[0])
    return made.block(params)


def _counts(sort: Sort, greatest: int, ask: Callable[[Algorithm, Any, int], Iterable[int]]) -> list[int]:
    """The counts that each part names, those within its range."""
    found: set[int] = set()
    for part in sort.parts:
        made, params = _made(part)
        top = min(part.max_n, greatest)
        if part.min_n < top:
            found.update(n for n in ask(made, params, top) if part.min_n <= n <= top)
    return sorted(found)


def test_counts(sort: Sort, greatest: int) -> list[int]:
    """Return the counts up to `greatest` at which the sort changes its way, changes of algorithm among them."""
    inner = _counts(sort, greatest, lambda made, params, top: made.test_counts(params, top))
    return sorted({*inner, *(p.min_n for p in sort.parts if p.min_n <= greatest)})


def row_test_counts(sort: Sort, greatest: int) -> list[int]:
    """Return counts up to `greatest` by which every guard of every kernel is decisive for some lane."""
    return _counts(sort, greatest, lambda made, params, top: made.row_test_counts(params, top))


def moved(sort: Sort, step: Step, n: int) -> int:
    """Return the bytes of memory that one launch reads and writes for `n` keys."""
    if step.indirect:
        return 0
    kernel, name = sort.kernel(step.kernel), step.kernel
    if isinstance(kernel.data, run_boundaries.Shape):
        return run_boundaries.moved(kernel.data, step, n)
    if isinstance(kernel.data, epilogue.Shape):
        return epilogue.moved(kernel.data, n)
    for part in sort.parts:
        name = name.removesuffix(suffix(sort.parts, part))
    return EVERY[kernel.algorithm].moved(kernel.params, replace(step, kernel=name), n)


def traffic(sort: Sort, n: int) -> int:
    """Return the bytes of memory that a whole sort of `n` keys out of place reads and writes."""
    return sum(moved(sort, launch.step, n) for launch in launches(sort.plan, n, in_place=False))


def notes(sort: Sort) -> list[tuple[str, str]]:
    """Return derived values that a person wants to see: (name, value)."""
    out: list[tuple[str, str]] = []
    for part in sort.parts:
        made, params = _made(part)
        if len(sort.parts) > 1:
            counts = f"{part.min_n + 1} to {part.max_n} keys" if part.min_n < part.max_n else "a part of the bits"
            out.append((part.label or part.algorithm, counts))
        out += made.notes(params)
    return out
