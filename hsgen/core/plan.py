"""Launch plans as plain values: a plan lists all launches of a sort, each with the condition under which it runs.

`hsgen.core.interpreter` and the C runtimes read a plan in each call, and select the launches that the call needs.

A *step* of a plan is one launch: a kernel, the kernel's buffers, a guard, a grid and an argument.  The guard states for
which counts n, and for which options of a call, the step runs.  The grid is the number of work-groups as a function
of n.  The argument is a 32-bit number that the kernel receives in addition to n.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from hsgen.core.flags import ARGUMENTS
from hsgen.core.scratch import Scratch

UNCAPPED = 2**32 - 1  # stands for no cap

ROLES = (
    "source",
    "destination",
    "scratch",
    "values",
    "values_out",
    "count",
    "other",
    "other_values",
    "report",
    "takes",
    "value_starts",
)
"""The roles that buffers of a call have.

source, destination: the keys before and after the call.
values, values_out: the values before and after the call.
scratch: the memory that the caller lends to the call.
count: the device-side count.
other, other_values: further inputs, such as the offsets of segments, or the second of two arrays and its values.
report: 32-bit words that a call computes from the keys, such as run boundaries or a digest.
takes: for each row of a selection, the number of keys to take.
value_starts: for each row of a selection, the index of its first value.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The memory that a launch binds to one buffer parameter of its kernel.

    The memory is one of the call's buffers, from byte offset ``plus + per_n * min(n, max_n)`` on.

    role: which of the call's buffers, a name in `ROLES`.  In scratch, the offset is rounded up to a multiple of 1024.
    max_n: the count above which the offset no longer grows; None if the offset grows with every n.  The bound matters
    if the count is in device memory.  n is then only the capacity, and may exceed the counts for which the step runs.
    """

    role: str
    per_n: int = 0
    plus: int = 0
    max_n: int | None = None

    def after(self, room: int) -> Binding:
        """Return the binding, with an offset `room` bytes greater if its buffer is scratch; else unchanged."""
        return replace(self, plus=self.plus + room) if self.role == "scratch" else self

    def bounded(self, max_n: int) -> Binding:
        """Return the binding, with an offset that stops growing at `max_n` keys if its buffer is scratch."""
        least = max_n if self.max_n is None else min(max_n, self.max_n)
        return replace(self, max_n=least) if self.role == "scratch" and self.per_n else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The condition under which a step runs: ``min_n < n <= max_n``, and all other fields match the call.

    place: "in" if the step runs only for sorts in place, "out" only for sorts out of place, "any" for both.
    range: "whole" if the step runs only for sorts by all key bits, "part" only for sorts by fewer bits, "any" for both.
    at_zero: whether the step also runs for n = 0.
    x: what is compared with `min_n` and `max_n`: "n", the count, or "length", the length of each row, which is n
    divided by the number of rows.
    reduction: for calls that reduce values by key: "rounded" if the step runs only for sums of floats, "exact" only for
    other reductions, "any" for all.
    min_take, max_take: if `max_take` is not 0, the step runs only for calls with ``min_take < take <= max_take``.
    """

    min_n: int = 0
    max_n: int
    place: str = "any"
    range: str = "any"
    at_zero: bool = False
    x: str = "n"
    reduction: str = "any"
    min_take: int = 0
    max_take: int = 0

    def within(self, low: int, high: int) -> Guard:
        """Return the guard, restricted to calls whose count n is above `low` and at most `high`.

        If the guard compares row lengths, only `high` restricts it.  n may exceed `low` although each row has fewer
        than `low` keys.
        """
        low = low if self.x == "n" else 0
        if low <= self.min_n and self.max_n <= high:
            return self
        return replace(self, min_n=max(self.min_n, low), max_n=min(self.max_n, high))

    @property
    def empty(self) -> bool:
        """Whether no count above 0 satisfies the guard."""
        return self.min_n >= self.max_n


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The number of work-groups of a step: ``min((x + add) // div * mul, cap)``.

    x: "n", "number" (the second number of the call, such as a number of segments) or "rows".  If x is "rows", the grid
    has ``min(rows * ((length + add) // div * mul), cap)`` work-groups.  `length` is the length of each row.  All
    numbers are 64-bit integers; `add` may be negative.
    """

    x: str = "n"
    add: int = 0
    div: int = 1
    mul: int = 1
    cap: int = UNCAPPED

    def groups(self, x: int, times: int = 1) -> int:
        """Return the number of work-groups if the quantity that the field `x` names has the value `x`.

        If that quantity is "rows", the argument `x` is the length of a row, and `times` is the number of rows.
        """
        return min(times * ((x + self.add) // self.div * self.mul), self.cap)

    @property
    def fixed(self) -> bool:
        """Whether the grid has `cap` work-groups for every count above 0, as `fixed` grids do."""
        return self.div == 1 and self.mul >= self.cap


def fixed(groups: int) -> Grid:
    """Return a grid that has `groups` work-groups for every count."""
    return Grid(mul=groups, cap=groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """An argument with the constant `value` in the bits below the flags."""

    kind: ClassVar[str] = "literal"
    value: int = 0
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """An argument for the kernel of one radix pass: the index of the pass, and the shift and the width of its digit.

    number: the index of the pass, from 0 on.  The step runs only if the bit range needs more than `number` passes.
    bits: the greatest width of a digit.
    """

    kind: ClassVar[str] = "pass"
    number: int
    bits: int
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BitRange:
    """An argument for a kernel that runs all radix passes: the end and the start of the call's bit range."""

    kind: ClassVar[str] = "bit_range"
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCount:
    """An argument with the number of radix passes that the bit range needs, for digits of at most `bits` bits."""

    kind: ClassVar[str] = "pass_count"
    bits: int
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNumber:
    """An argument that is the second number of the call (`Options.number`), such as a number of segments; no flags.

    The sign bit is set if the exact number is in device memory, and the argument is only an upper bound of it.
    """

    kind: ClassVar[str] = "call_number"
    flags: ClassVar[int] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndirectGrids:
    """An argument for a kernel that loads the count from device memory, and computes the grids of all other steps.

    The argument is the device's greatest grid size in one dimension.  Only hosts with indirect dispatch run the step.
    At present, these are the Vulkan hosts.
    """

    kind: ClassVar[str] = "indirect_grids"
    flags: ClassVar[int] = 0


Argument = Literal | Pass | BitRange | PassCount | CallNumber | IndirectGrids
"""The number that a kernel receives after n: flags in the high bits, and below them the bits that each class describes.

flags: the flags REDO and DIRECT of `hsgen.core.flags`, if the step has them; in each call, the interpreter adds the
flags of the call's options.
"""

assert [kind.kind for kind in (Literal, Pass, BitRange, PassCount, CallNumber, IndirectGrids)] == list(ARGUMENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A launch, with the guard that states for which calls it runs.

    kernel: the name of the kernel.
    bindings: the memory for each buffer parameter of the kernel, in the order of `Kernel.buffers`.
    """

    kernel: str
    bindings: tuple[Binding, ...]
    guard: Guard
    grid: Grid
    argument: Argument = Literal()

    @property
    def pass_number(self) -> int | None:
        """The index of the radix pass that the step belongs to; None if the argument is not a `Pass`."""
        return self.argument.number if isinstance(self.argument, Pass) else None

    @property
    def indirect(self) -> bool:
        """Whether the step's kernel computes the grids of the other steps, for indirect dispatch."""
        return isinstance(self.argument, IndirectGrids)

    def within(self, low: int, high: int) -> Step:
        """Return the step, with its guard restricted to counts above `low` and at most `high`."""
        guard = self.guard.within(low, high)
        return self if guard is self.guard else replace(self, guard=guard)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStatus:
    """The scratch words in which a sort reports retries: `words` 32-bit words at `binding`, one for each radix pass.

    A word is 1 if its pass needed a retry, because a look-back gave up.  The words are valid only after calls for more
    than `min_n` keys.
    """

    binding: Binding
    words: int
    min_n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps of a sort in launch order, for counts up to `max_n`.

    first_bit, bits: the key is bits `first_bit` to ``first_bit + bits - 1`` of a sorted word.  For example, a 64-bit
    word that packs a 32-bit key above its value has 32 and 32.  Bit 0 of a call's bit range is bit `first_bit`.
    whole_words: whether the sort compares such packed words including the values, and ignores the bit range.
    """

    steps: tuple[Step, ...]
    max_n: int
    first_bit: int = 0
    bits: int = 0
    whole_words: bool = False
    scratch: Scratch = field(default_factory=Scratch)
    device_status: DeviceStatus | None = None

    def after(self, room: int) -> Plan:
        """Return the plan with all scratch offsets `room` bytes greater, to make room for data before them."""
        status = self.device_status
        return replace(
            self,
            steps=tuple(replace(s, bindings=tuple(b.after(room) for b in s.bindings)) for s in self.steps),
            scratch=self.scratch.after(room),
            device_status=status and replace(status, binding=status.binding.after(room)),
        )
