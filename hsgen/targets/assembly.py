"""Sorts of several parts: algorithms combined by count, and properties of a whole sort derived from its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import dropwhile
from typing import Any

from hsgen.algorithms import EVERY, Algorithm
from hsgen.core.errors import Usage
from hsgen.core.interpreter import launches
from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN, Signature
from hsgen.core.plan import UNCAPPED, DeviceStatus, Plan, Step
from hsgen.core.scratch import Scratch
from hsgen.core.sort import Part, Sort
from hsgen.stages import epilogue, run_boundaries
from hsgen.targets import indirect_grids
from hsgen.targets.shares import bounded, merged, placed, suffix


def assemble(
    parts: Sequence[Part],
    where: str,
    signature: Signature = PLAIN,
    *,
    groups: int = UNCAPPED,
    lanes: int = indirect_grids.LANES,
) -> tuple[tuple[Kernel, ...], Plan, tuple[Part, ...]]:
    """Return kernels, plan and parts of a sort in which each part serves its counts, in ascending order.

    The last part ends where its own plan does, and no part exceeds grids of `groups` work-groups in each
    dimension.  A bit range is sorted by the parts that can, for every count.  `lanes`: the most of a work-group.

    Raises:
        Usage: a part but the last cannot sort as many keys as it shall, or the last one none of its counts; two parts
            need subgroups of different widths or bring different kernels of one name.
    """
    shares = [placed(parts, part, where, signature, groups) for part in parts]
    shares = merged([bounded(x) for x in shares] if signature.device_count else shares)
    kernels: dict[str, Kernel] = {}
    for kernel in (k for x in shares for k in x.kernels):
        if kernels.setdefault(kernel.name, kernel) != kernel:
            raise Usage(f"{where}: two of the algorithms have a kernel {kernel.name}; give them the same shape")
    _one_width(kernels.values(), where)
    whole = replace(
        shares[-1].plan,
        steps=tuple(s for x in shares for s in x.steps),
        max_n=shares[-1].part.max_n,
        whole_words=all(x.plan.whole_words for x in shares),
        scratch=Scratch(tuple(rule for x in shares for rule in x.scratch.rules)),
        device_status=_shared_status([x.device_status for x in shares]),
    )
    made = tuple(kernels.values())
    made, whole = indirect_grids.counted(made, whole, lanes) if signature.device_count else (made, whole)
    return made, whole, tuple(x.part for x in shares)


def sorting(part: Part, signature: Signature) -> Signature | None:
    """Return the signature of the sort that a part follows, if it follows one."""
    after: Any = EVERY[part.algorithm]
    made: Signature | None = after.sorting(signature) if after.TRAITS.joins else None
    return made


def joined(part: Part, sort: Sort) -> tuple[tuple[Kernel, ...], Plan, tuple[Part, ...]]:
    """Return kernels, plan and parts of what follows a sort, together with those of the sort."""
    after: Any = EVERY[part.algorithm]
    kernels, plan = after.joined(part.params, sort.kernels, sort.plan)
    return kernels, plan, (part, *sort.parts)


def limited(parts: Sequence[Part], max_n: int, signature: Signature) -> list[Part]:
    """Return the parts of a sort for counts up to `max_n`; a bit range needs one of the parts that can sort by it."""
    kept = [replace(x, max_n=min(x.max_n, max_n)) for x in parts if x.min_n < max_n]
    able = [x for x in parts if EVERY[x.algorithm].TRAITS.bit_ranges and x.min_n >= max_n]
    if signature.bit_range and able and not any(EVERY[x.algorithm].TRAITS.bit_ranges for x in kept):
        kept.append(replace(able[0], min_n=max_n, max_n=max_n))
    return kept


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
    params = kernel.params
    if kernel.common is not None:  # of the part that serves the count
        own = (x for x in sort.parts if x.algorithm == kernel.algorithm)
        params = next((x.params for x in own if x.min_n < n <= x.max_n), params)
    return EVERY[kernel.algorithm].moved(params, replace(step, kernel=name), n)


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
