"""The interpreter of plans: the launches for n keys.  The C runtimes implement the same rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hsgen.core.errors import Usage
from hsgen.core.flags import (
    DESCENDING,
    DEVICE_COUNT,
    DIRECT,
    DISCARD,
    FLOAT,
    FLOAT_SUM,
    REDUCTION_MASK,
    ROWS,
    SIGNED,
)
from hsgen.core.keys import TYPES
from hsgen.core.plan import Binding, BitRange, CallNumber, IndirectGrids, Literal, Pass, PassCount, Plan, Step
from hsgen.core.scratch import aligned
from hsgen.core.sort import Sort


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one call.

    kind: of the keys, as `hsgen.core.keys.Type` has it.  begin, end: the bits that keys are sorted by, of their type
    put in order (docs/reference/semantics.md); end None: up to the last.  discard: an argsort whose keys are dropped.
    device_count: n is the most keys that there can be; how many there are lies on the device.
    A call has at most one of these numbers, by its operation: shift, the low bits of a key that the stage after a sort
    ignores; segment_count; first_count, the keys of the first of two arrays; capacity, the keys that a digest covers;
    reduction, how values are reduced by key, and what is stored (`hsgen.operations.reduce_by_key`); columns, the types
    and orders of columns to pack (`hsgen.operations.pack`).
    layouts: where the items of these columns are, if not in arrays.
    take: the keys that a selection takes of each of `segment_count` rows; in a gather, the values of each of
    `segment_count` items.
    rows: segments are rows of equal length, n / segment_count, and no offsets are given.
    segments_counted: segment_count is the most segments that there can be; how many there are lies on the device.
    """

    kind: int = 0
    descending: bool = False
    begin: int = 0
    end: int | None = None
    discard: bool = False
    device_count: bool = False
    shift: int = 0
    segment_count: int = 0
    first_count: int = 0
    capacity: int = 0
    reduction: int = 0
    columns: int = 0
    rows: bool = False
    take: int = 0
    layouts: int = 0
    segments_counted: bool = False

    @property
    def number(self) -> int:
        """The number that grids and kernels of a plan depend on in addition to n."""
        counts = self.shift or self.segment_count or self.first_count or self.capacity
        return counts or self.reduction or self.columns

    @property
    def flags(self) -> int:
        """The flags that kernels receive in their argument."""
        out = (0, SIGNED, SIGNED | FLOAT)[self.kind]
        out |= DESCENDING * self.descending | DISCARD * self.discard | DEVICE_COUNT * self.device_count
        return out | ROWS * self.rows


PLAIN = Options()
NUMBERS = ("shift", "segment_count", "first_count", "capacity", "reduction", "columns", "take", "layouts")
"""The members of `Options` that are numbers, in the order of ``hn_call`` in C; all but the last two can be its
`number`."""
LAYOUT_BITS = 30
"""The bits of `Options.layouts` that the first of a kernel's two numbers has; the second one has the rest."""


def options(key: str = "u32", order: str = "ascending", **more: int | None) -> Options:
    """Return the options for a key type and an order."""
    return Options(kind=TYPES[key].kind, descending=order == "descending", **more)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Launch:
    """A step that runs: its argument, its number of work-groups, and these as a two-dimensional grid."""

    step: Step
    argument: int
    groups: int
    grid: tuple[int, int]


def bit_range(plan: Plan, how: Options) -> tuple[int, int]:
    """Return the bit range of a call as (first bit, one past the last bit).

    Raises:
        Usage: the range is reversed or exceeds the key.
    """
    end = plan.bits if how.end is None else how.end
    if not 0 <= how.begin <= end <= plan.bits:
        raise Usage(f"bits {how.begin} to {end}: give a range in order, within 0 to {plan.bits}")
    return plan.first_bit + how.begin, plan.first_bit + end


def digit(begin: int, end: int, bits: int, number: int) -> tuple[int, int]:
    """Return the shift and the width of digit `number`: the range is split into the fewest digits of at most `bits`
    bits, with widths that differ by at most one, the wider ones first."""
    count = passes(begin, end, bits)
    least, more = divmod(end - begin, count)
    return begin + number * least + min(number, more), least + (number < more)


def passes(begin: int, end: int, bits: int) -> int:
    """Return the number of passes for a bit range; an empty one takes one pass over digits of width 0, all equal."""
    return max(1, -(-(end - begin) // bits))


def argument(plan: Plan, step: Step, how: Options, *, in_place: bool) -> int | None:
    """Return the argument of a step's kernel, or None if the bit range or the reduction excludes the step.

    Raises:
        Usage: the bit range is reversed or exceeds the key.
    """
    begin, end = bit_range(plan, how)
    whole = (begin, end) == (plan.first_bit, plan.first_bit + plan.bits)
    if step.guard.range == ("part" if whole else "whole"):
        return None
    if step.guard.reduction == ("exact" if how.number & REDUCTION_MASK == FLOAT_SUM else "rounded"):
        return None
    given = step.argument
    flags = given.flags | how.flags
    if in_place:
        flags &= ~DIRECT
    match given:
        case CallNumber():
            return how.number - (1 << 31) * how.segments_counted
        case Literal():
            return given.value | flags
        case BitRange():
            return end | begin << 8 | flags
        case PassCount():
            return passes(begin, end, given.bits) | flags
        case Pass():
            return _pass(given, begin, end, flags)
        case IndirectGrids():
            return None


def _pass(given: Pass, begin: int, end: int, flags: int) -> int | None:
    """The argument of a pass, or None if the bit range takes fewer passes."""
    left = passes(begin, end, given.bits) - given.number
    if left <= 0:
        return None
    shift, width = digit(begin, end, given.bits, given.number)
    if left % 2 == 0:
        flags &= ~DIRECT  # if this were the first pass to move keys, the last would not end in the destination
    if left > 1:
        flags &= ~DISCARD  # only the last pass may omit them
    return given.number | shift << 8 | width << 16 | flags


def groups(step: Step, n: int, *, in_place: bool, device_count: bool = False, number: int = 0) -> int:
    """Return the work-groups that `step` launches for `n` keys; 0 where its guard excludes n or the place.

    `number` is that of the call, on which grids may depend instead of n.

    With a device-side count, n is the capacity: a step that the upper bound of its guard excludes may still run.
    """
    guard = step.guard
    by_length = guard.x == "length"
    bounded = n // number if by_length and number else n
    if bounded <= guard.min_n and not (n == 0 and guard.at_zero):
        return 0
    if guard.place == ("out" if in_place else "in") or step.indirect:
        return 0
    if bounded > guard.max_n and not device_count:
        return 0
    return step.grid.groups(number if step.grid.x == "number" else n if by_length else min(n, guard.max_n))


def launched_up_to(steps: Iterable[Step], max_n: int, limit: int) -> int:
    """Return the greatest count, at most `max_n`, up to which every grid fits limit x limit work-groups.

    Grids that depend on the second number of the call are not considered.
    """
    for step in steps:
        grid, guard = step.grid, step.guard
        if grid.x == "n" and grid.cap > limit * limit:
            fits = (limit * limit // grid.mul + 1) * grid.div - 1 - grid.add
            if fits < guard.max_n:
                max_n = min(max_n, max(fits, guard.min_n))
    return max_n


def offset(binding: Binding, n: int) -> int:
    """Return the byte offset of a binding in the buffer of its role; in scratch a multiple of 1024."""
    begin = binding.plus + binding.per_n * (n if binding.max_n is None else min(n, binding.max_n))
    return aligned(begin) if binding.role == "scratch" else begin


def numbers(sort: Sort, step: Step, how: Options) -> tuple[int, ...]:
    """Return the numbers that a kernel of a step gets after n and the argument."""
    if sort.signature.rows:
        low = how.layouts & (1 << LAYOUT_BITS) - 1
        return how.segment_count | low, how.take | how.layouts >> LAYOUT_BITS
    return (step.guard.min_n, min(step.guard.max_n, 2**31 - 1)) if sort.signature.device_count else ()


def spare_at(sort: Sort, n: int) -> int:
    """Return the byte offset in scratch of the discarded keys of an argsort: after the scratch of the sort itself."""
    return aligned(sort.plan.scratch.bytes(n))


def scratch_bytes(sort: Sort, n: int, how: Options = PLAIN) -> int:
    """Return the scratch size of a call for `n` keys, in bytes."""
    if how.discard and n:
        return spare_at(sort, n) + n * sort.key.bytes
    return sort.plan.scratch.bytes(n)


def launches(plan: Plan, n: int, limit: int = 2**32 - 1, *, in_place: bool, how: Options = PLAIN) -> Iterator[Launch]:
    """Yield the launches that sort `n` keys; `limit` is the device's greatest grid size in one dimension.

    A two-dimensional grid may have more work-groups than the step needs; every kernel ignores the excess.

    Raises:
        Usage: n is negative, exceeds the plan's greatest count or needs a grid beyond limit * limit; the bit range is
            reversed or exceeds the key.
    """
    if not 0 <= n <= plan.max_n:
        raise Usage(f"count {n}: this plan sorts 0 to {plan.max_n} keys")
    bit_range(plan, how)
    for step in plan.steps:
        count = groups(step, n, in_place=in_place, device_count=how.device_count, number=how.number)
        given = argument(plan, step, how, in_place=in_place) if count > 0 else None
        if given is not None:
            rows = -(-count // limit)
            if rows > limit:
                raise Usage(f"count {n}: {count} work-groups do not fit a grid of {limit} x {limit}")
            yield Launch(step, given, count, (-(-count // rows), rows))
