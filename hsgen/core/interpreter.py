"""The interpreter of launch plans: it computes the launches of a call for n keys, with their grids and arguments.

The C runtimes follow the same rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

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

    kind: whether keys are unsigned (0), signed (1) or floats (2).
    descending: whether the greatest key comes first.
    begin, end: the bit range by which keys are sorted, from bit `begin` up to, but not including, bit `end`; None means
    up to the last bit.  The range applies to transformed keys (docs/reference/semantics.md).
    discard: whether the caller of an argsort discards the sorted keys.
    device_count: whether device memory contains the count; n is then the capacity.

    A call has a *second number* besides n.  The operation (sort, merge, top-k and so on) determines which of the next
    six fields this number is.  The other five are 0.

    shift: the number of low key bits that the stage after a sort ignores, which finds run boundaries or is an epilogue.
    segment_count: the number of segments, or of rows.
    first_count: the number of keys in the first of the two arrays that a merge reads.
    capacity: the number of keys that a digest covers.
    reduction: a code for the reduction of values by key and for its outputs (`hsgen.operations.reduce_by_key.number`).
    columns: a code for the types and orders of the columns to pack (`hsgen.operations.pack`).

    rows: whether segments are rows of equal length, n / segment_count; the call then has no offsets.
    take: the number of keys that a selection takes from each of `segment_count` rows.  In a gather, the number of
    values in each of `segment_count` items.
    layouts: a code for the strides and offsets of those columns to pack that are fields of records.
    segments_counted: whether device memory contains the number of segments; `segment_count` is then the capacity.
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
        """The second number of the call: the one field of `shift` to `columns` that is not 0; 0 if all are 0."""
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
"""The fields of `Options` that are numbers, in the order of the C struct ``hn_call``.

`Options.number` returns one of the first six fields, never `take` or `layouts`.
"""
LAYOUT_BITS = 30
"""A kernel receives `Options.layouts` in two 32-bit numbers: the first has the low 30 bits, the second the higher bits.
"""


def options(key: str = "u32", order: str = "ascending", **more: int | None) -> Options:
    """Return the options for the key type `key`, such as "f32", and the order `order`.

    more: further fields of `Options`.
    """
    return Options(kind=TYPES[key].kind, descending=order == "descending", **more)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch of a plan's step in one call.

    argument: the 32-bit number that the kernel receives after n, including its flag bits.
    groups: the number of work-groups that have work.
    grid: the width and height of the grid in work-groups; their product is at least `groups`.
    """

    step: Step
    argument: int
    groups: int
    grid: tuple[int, int]


def bit_range(plan: Plan, call: Options) -> tuple[int, int]:
    """Return the bit range of a call as (first bit, one past the last bit).

    Raises:
        Usage: the bit range is reversed or exceeds the key.
    """
    end = plan.bits if call.end is None else call.end
    if not 0 <= call.begin <= end <= plan.bits:
        raise Usage(f"bits {call.begin} to {end}: give a range in order, within 0 to {plan.bits}")
    return plan.first_bit + call.begin, plan.first_bit + end


def digit(begin: int, end: int, bits: int, number: int) -> tuple[int, int]:
    """Return the shift and the width of digit `number` of a bit range.

    The range is split into the fewest digits of at most `bits` bits each.  The widths of the digits differ by at most
    one bit.  The wider digits are the lower ones.
    """
    count = passes(begin, end, bits)
    least, more = divmod(end - begin, count)
    return begin + number * least + min(number, more), least + (number < more)


@cache
def digits(begin: int, end: int, bits: int) -> tuple[tuple[int, int], ...]:
    """Return the shift and the width of each digit of a bit range; see `digit`."""
    return tuple(digit(begin, end, bits, number) for number in range(passes(begin, end, bits)))


def passes(begin: int, end: int, bits: int) -> int:
    """Return the number of passes for a bit range.

    An empty range takes one pass with a digit of width 0.  All digits are then equal, so the pass copies the keys.
    """
    return max(1, -(-(end - begin) // bits))


def argument(plan: Plan, step: Step, call: Options, *, in_place: bool) -> int | None:
    """Return the argument that a step's kernel receives in a call; None if the call skips the step.

    A call skips a step if the step's guard excludes the bit range or the reduction of the call.  A call also skips
    passes beyond the last that the bit range needs, and the step that computes indirect grids.

    Raises:
        Usage: the bit range is reversed or exceeds the key.
    """
    begin, end = bit_range(plan, call)
    all_bits = (begin, end) == (plan.first_bit, plan.first_bit + plan.bits)
    if step.guard.range == ("part" if all_bits else "whole"):
        return None
    if step.guard.reduction == ("exact" if call.number & REDUCTION_MASK == FLOAT_SUM else "rounded"):
        return None
    kind = step.argument
    flags = kind.flags | call.flags
    if in_place:
        flags &= ~DIRECT
    match kind:
        case CallNumber():
            return call.number - (1 << 31) * call.segments_counted
        case Literal():
            return kind.value | flags
        case BitRange():
            return end | begin << 8 | flags
        case PassCount():
            return passes(begin, end, kind.bits) | flags
        case Pass():
            return _pass(kind, begin, end, flags)
        case IndirectGrids():
            return None


def _pass(step_pass: Pass, begin: int, end: int, flags: int) -> int | None:
    """Return the argument of a pass, or None if the bit range needs fewer passes."""
    left = passes(begin, end, step_pass.bits) - step_pass.number
    if left <= 0:
        return None
    shift, width = digit(begin, end, step_pass.bits, step_pass.number)
    if left % 2 == 0:
        flags &= ~DIRECT  # passes alternate between two buffers, and the last must store to the destination
    if left > 1:
        flags &= ~DISCARD  # later passes read the keys, so only the last pass may omit storing them
    return step_pass.number | shift << 8 | width << 16 | flags


def groups(step: Step, n: int, *, in_place: bool, device_count: bool = False, number: int = 0, take: int = 0) -> int:
    """Return the number of work-groups that `step` launches for `n` keys; 0 if its guard excludes the call.

    number: the second number of the call.
    take: `Options.take`.
    device_count: whether n is only a capacity.  The guard's upper bound then excludes no step, because the count on the
    device may be lower than n.
    """
    guard = step.guard
    by_length = guard.x == "length"
    bounded = n // number if by_length and number else n
    if bounded <= guard.min_n and not (n == 0 and guard.at_zero):
        return 0
    if guard.place == ("out" if in_place else "in") or step.indirect:
        return 0
    if guard.max_take and not guard.min_take < take <= guard.max_take:
        return 0
    if bounded > guard.max_n and not device_count:
        return 0
    if step.grid.x == "rows":
        return step.grid.groups(bounded, number)
    return step.grid.groups(number if step.grid.x == "number" else n if by_length else min(n, guard.max_n))


def launched_up_to(steps: Iterable[Step], max_n: int, limit: int) -> int:
    """Return the greatest count up to `max_n` for which every grid of `steps` has at most limit * limit work-groups.

    limit: the greatest grid size of the device in one dimension.  Only grids whose size depends on n are checked.
    """
    for step in steps:
        grid, guard = step.grid, step.guard
        if grid.x == "n" and grid.cap > limit * limit:
            fits = (limit * limit // grid.mul + 1) * grid.div - 1 - grid.add
            if fits < guard.max_n:
                max_n = min(max_n, max(fits, guard.min_n))
    return max_n


def offset(binding: Binding, n: int) -> int:
    """Return the offset in bytes at which a kernel's buffer begins in the call's buffer, in a call for `n` keys."""
    begin = binding.plus + binding.per_n * (n if binding.max_n is None else min(n, binding.max_n))
    return aligned(begin) if binding.role == "scratch" else begin


def numbers(sort: Sort, step: Step, call: Options) -> tuple[int, ...]:
    """Return the two further numbers that a step's kernel receives after n and the argument, or an empty tuple.

    `Signature.numbers` says which numbers these are.
    """
    if sort.signature.rows:
        low = call.layouts & (1 << LAYOUT_BITS) - 1
        return call.segment_count | low, call.take | call.layouts >> LAYOUT_BITS
    return (step.guard.min_n, min(step.guard.max_n, 2**31 - 1)) if sort.signature.device_count else ()


def spare_at(sort: Sort, n: int) -> int:
    """Return where scratch has room for the sorted keys if the caller of an argsort discards them: an offset in bytes.

    The sorted keys lie behind the scratch that every call for `n` keys needs.
    """
    return aligned(sort.plan.scratch.bytes(n))


def scratch_bytes(sort: Sort, n: int, how: Options = PLAIN) -> int:
    """Return the scratch size of a call for `n` keys, in bytes; `how` are its options."""
    if how.discard and n:
        return spare_at(sort, n) + n * sort.key.bytes
    return sort.plan.scratch.bytes(n)


def launches(plan: Plan, n: int, limit: int = 2**32 - 1, *, in_place: bool, how: Options = PLAIN) -> Iterator[Launch]:
    """Yield the launches that sort `n` keys.

    limit: the greatest grid size of the device in one dimension.
    A two-dimensional grid may have more work-groups than the step needs.  The excess work-groups return at once.

    Raises:
        Usage: n is negative, exceeds the plan's greatest count or needs a grid beyond limit * limit; the bit range is
            reversed or exceeds the key.
    """
    if not 0 <= n <= plan.max_n:
        raise Usage(f"count {n}: this plan sorts 0 to {plan.max_n} keys")
    bit_range(plan, how)
    for step in plan.steps:
        count = groups(step, n, in_place=in_place, device_count=how.device_count, number=how.number, take=how.take)
        number = argument(plan, step, how, in_place=in_place) if count > 0 else None
        if number is not None:
            rows = -(-count // limit)
            if rows > limit:
                raise Usage(f"count {n}: {count} work-groups do not fit a grid of {limit} x {limit}")
            yield Launch(step, number, count, (-(-count // rows), rows))
