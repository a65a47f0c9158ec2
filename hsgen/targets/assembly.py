"""Assembly of a sort from several algorithms, its *parts*, each of which sorts a range of counts n.

The functions from `block` on compute properties of such a sort, such as its memory traffic, from its parts.
"""

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
    """Return the kernels, the launch plan and the parts of a sort in which each part sorts its range of counts.

    If a part supports only sorts by all bits of the key, another part runs instead in calls for some of the bits.

    parts: the parts in ascending order of counts.  The last part sorts as many keys as its plan allows.
    where: the name of the table ``[sort.KEY]`` in the target file, for messages.
    groups, lanes: the device's greatest grid in one dimension, in work-groups; its greatest work-group, in lanes.

    Raises:
        Usage: a part other than the last cannot sort its greatest count; the last part cannot sort any of its counts;
            two parts need subgroups of different widths, or have different kernels of the same name.
    """
    shares = [placed(parts, part, where, signature, groups) for part in parts]
    shares = merged([bounded(x) for x in shares] if signature.device_count else shares)
    kernels: dict[str, Kernel] = {}
    for kernel in (k for x in shares for k in x.kernels):
        if kernels.setdefault(kernel.name, kernel) != kernel:
            raise Usage(f"{where}: two of the algorithms have a kernel {kernel.name}; give them the same shape")
    _one_width(kernels.values(), where)
    plan = replace(
        shares[-1].plan,
        steps=tuple(s for x in shares for s in x.steps),
        max_n=shares[-1].part.max_n,
        whole_words=all(x.plan.whole_words for x in shares),
        scratch=Scratch(tuple(rule for x in shares for rule in x.scratch.rules)),
        device_status=_shared_status([x.device_status for x in shares]),
    )
    all_kernels = tuple(kernels.values())
    all_kernels, plan = (
        indirect_grids.counted(all_kernels, plan, lanes) if signature.device_count else (all_kernels, plan)
    )
    return all_kernels, plan, tuple(x.part for x in shares)


def sorting(part: Part, signature: Signature) -> Signature | None:
    """Return the signature of the sort that must run before `part`; None if the part needs no sort.

    For example, one algorithm of group-by needs sorted keys.
    """
    after: Any = EVERY[part.algorithm]
    preceding: Signature | None = after.sorting(signature) if after.TRAITS.joins else None
    return preceding


def joined(part: Part, sort: Sort) -> tuple[tuple[Kernel, ...], Plan, tuple[Part, ...]]:
    """Return the kernels, the plan and the parts of a call that first runs `sort`, and then `part`."""
    after: Any = EVERY[part.algorithm]
    kernels, plan = after.joined(part.params, sort.kernels, sort.plan)
    return kernels, plan, (part, *sort.parts)


def limited(parts: Sequence[Part], max_n: int, signature: Signature) -> list[Part]:
    """Return those parts that sort counts up to `max_n`.

    If the signature has a bit range, at least one part must support bit ranges.  If none of these parts does, the
    result has in addition the first part for greater counts that does.  The added part runs only in calls that sort by
    some of the bits.
    """
    served = [replace(x, max_n=min(x.max_n, max_n)) for x in parts if x.min_n < max_n]
    able = [x for x in parts if EVERY[x.algorithm].TRAITS.bit_ranges and x.min_n >= max_n]
    if signature.bit_range and able and not any(EVERY[x.algorithm].TRAITS.bit_ranges for x in served):
        served.append(replace(able[0], min_n=max_n, max_n=max_n))
    return served


def _shared_status(statuses: Sequence[DeviceStatus | None]) -> DeviceStatus | None:
    """Return where a sort reports retries, given where its parts do, in ascending order of counts.

    The result is None if no part reports retries, or if one does but a part for greater counts does not.
    """
    reporting = list(dropwhile(lambda o: o is None, statuses))
    present = [o for o in reporting if o is not None]
    return (
        replace(present[0], words=max(o.words for o in present)) if present and len(present) == len(reporting) else None
    )


def _one_width(kernels: Iterable[Kernel], where: str) -> None:
    """Raise `Usage` if kernels whose lanes exchange values have subgroups of different widths."""
    widths = sorted({k.subgroup for k in kernels if k.subgroup > 1})
    if len(widths) > 1:
        raise Usage(
            f"{where}: its algorithms use subgroups of {widths[0]} and of {widths[1]} lanes; give them one width"
        )


def _algorithm_of(part: Part) -> tuple[Algorithm, Any]:
    return EVERY[part.algorithm], part.params


def block(sort: Sort) -> int:
    """Return how many keys a work-group of the sort's first part sorts; validations test many counts near it."""
    algorithm, params = _algorithm_of(sort.parts[0])
    return algorithm.block(params)


def _counts(sort: Sort, greatest: int, counts_of: Callable[[Algorithm, Any, int], Iterable[int]]) -> list[int]:
    """Return the counts, up to `greatest` and ascending, that `counts_of` returns for each part within its range."""
    counts: set[int] = set()
    for part in sort.parts:
        algorithm, params = _algorithm_of(part)
        top = min(part.max_n, greatest)
        if part.min_n < top:
            counts.update(n for n in counts_of(algorithm, params, top) if part.min_n <= n <= top)
    return sorted(counts)


def test_counts(sort: Sort, greatest: int) -> list[int]:
    """Return the counts up to `greatest` near which the sort switches to other launches or to another algorithm."""
    inner = _counts(sort, greatest, lambda algorithm, params, top: algorithm.test_counts(params, top))
    return sorted({*inner, *(p.min_n for p in sort.parts if p.min_n <= greatest)})


def row_test_counts(sort: Sort, greatest: int) -> list[int]:
    """Return counts up to `greatest`, for tests of bounds checks.

    For each bounds check in each kernel, there is a count for which the check excludes at least one lane.
    """
    return _counts(sort, greatest, lambda algorithm, params, top: algorithm.row_test_counts(params, top))


def moved(sort: Sort, step: Step, n: int) -> int:
    """Return how many bytes of global memory a step accesses for `n` keys; 0 for the step that computes grids."""
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
    if kernel.common is not None:  # several parts may share this kernel; `n` determines which part's parameters count
        parts = (x for x in sort.parts if x.algorithm == kernel.algorithm)
        params = next((x.params for x in parts if x.min_n < n <= x.max_n), params)
    return EVERY[kernel.algorithm].moved(params, replace(step, kernel=name), n)


def traffic(sort: Sort, n: int) -> int:
    """Return how many bytes of global memory an out-of-place sort of `n` keys reads and writes."""
    return sum(moved(sort, launch.step, n) for launch in launches(sort.plan, n, in_place=False))


def notes(sort: Sort) -> list[tuple[str, str]]:
    """Return properties of a sort for the header of its kernel files, as pairs (name, value)."""
    out: list[tuple[str, str]] = []
    for part in sort.parts:
        algorithm, params = _algorithm_of(part)
        if len(sort.parts) > 1:
            counts = f"{part.min_n + 1} to {part.max_n} keys" if part.min_n < part.max_n else "a part of the bits"
            out.append((part.label or part.algorithm, counts))
        out += algorithm.notes(params)
    return out
