"""Plans: ordered tables of guarded launches, as plain values.  `hsgen.core.interpreter` and C runtimes interpret them.

A *step* is one row of a plan: a kernel, the kernel's buffers, a guard, a grid and an argument.  The guard states for
which counts and calls the step runs.  The grid states the number of work-groups.  The argument is the number that the
kernel receives in addition to n.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from hsgen.core.flags import ARGUMENTS
from hsgen.core.scratch import Scratch

UNCAPPED = 2**32 - 1  # the cap of a grid that only the count limits

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
"""The buffers of a call.

source, destination: keys.  values, values_out: values before and after.  count: a device-side count.  other,
other_values: further inputs, such as offsets of segments, or the second of two arrays and its values.  takes,
value_starts: the numbers of keys to take of the rows of a selection, and the indices of the rows' first values.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A buffer of a step: a role, which is a name in `ROLES`, and an offset of ``plus + per_n * min(n, max_n)`` bytes.

    In scratch, the offset is rounded up to a multiple of 1024 bytes.  max_n: the greatest count of the step, or None.
    With a device-side count, n is the capacity, which may exceed the greatest count.
    """

    role: str
    per_n: int = 0
    plus: int = 0
    max_n: int | None = None

    def after(self, room: int) -> Binding:
        """Return the binding, moved by `room` bytes if it is in scratch."""
        return replace(self, plus=self.plus + room) if self.role == "scratch" else self

    def bounded(self, max_n: int) -> Binding:
        """Return the binding for at most `max_n` keys."""
        least = max_n if self.max_n is None else min(max_n, self.max_n)
        return replace(self, max_n=least) if self.role == "scratch" and self.per_n else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The condition under which a step runs: ``min_n < n <= max_n``, and `place`, `range` and `reduction` match.

    place: a name in `hsgen.core.flags.PLACES`.
    range: a name in `hsgen.core.flags.RANGES`.
    at_zero: the step also runs for n = 0.
    x: the quantity that is compared with both bounds: "n", or "length" for the length of rows, n divided by the second
    number of the call.
    reduction: a name in `hsgen.core.flags.REDUCTIONS`, for calls that reduce values.
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
        """Return the guard restricted to counts above `low` up to `high`.

        A guard of row lengths is restricted by `high` only, because a row can have fewer than `low` keys although n
        exceeds `low`.
        """
        low = low if self.x == "n" else 0
        if low <= self.min_n and self.max_n <= high:
            return self
        return replace(self, min_n=max(self.min_n, low), max_n=min(self.max_n, high))

    @property
    def empty(self) -> bool:
        """Whether the guard excludes every count above 0."""
        return self.min_n >= self.max_n


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The number of work-groups of a step: ``min((x + add) // div * mul, cap)``.

    For x = "rows": ``min(rows * ((length + add) // div * mul), cap)``, with the length of a row.
    x: a name in `hsgen.core.flags.QUANTITIES`.  All numbers are 64-bit integers; `add` may be negative.
    """

    x: str = "n"
    add: int = 0
    div: int = 1
    mul: int = 1
    cap: int = UNCAPPED

    def groups(self, x: int, times: int = 1) -> int:
        """Return the number of work-groups for a value of the quantity; for "rows", `times` is the number of rows."""
        return min(times * ((x + self.add) // self.div * self.mul), self.cap)

    @property
    def fixed(self) -> bool:
        """Whether the grid has `cap` work-groups for every count above 0."""
        return self.div == 1 and self.mul >= self.cap


def fixed(groups: int) -> Grid:
    """Return a grid of `groups` work-groups for every count."""
    return Grid(mul=groups, cap=groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """The constant `value`, in the bits below the flags."""

    kind: ClassVar[str] = "literal"
    value: int = 0
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """The number of a pass, and the shift and width of its digit, which has at most `bits` bits.

    The step runs only if the bit range needs more than `number` passes.
    """

    kind: ClassVar[str] = "pass"
    number: int
    bits: int
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BitRange:
    """The end and the start of the bit range, for a kernel that runs all passes."""

    kind: ClassVar[str] = "bit_range"
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCount:
    """The number of passes over digits of at most `bits` bits."""

    kind: ClassVar[str] = "pass_count"
    bits: int
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNumber:
    """The second number of the call, without flags."""

    kind: ClassVar[str] = "call_number"
    flags: ClassVar[int] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndirectGrids:
    """The greatest grid in one dimension, for the kernel that computes all other grids from a device-side count.

    Only hosts with indirect dispatch run its step; at present, only Vulkan has such hosts.
    """

    kind: ClassVar[str] = "indirect_grids"
    flags: ClassVar[int] = 0


Argument = Literal | Pass | BitRange | PassCount | CallNumber | IndirectGrids
"""The second number that a kernel receives.

flags: REDO and DIRECT of `hsgen.core.flags`; the interpreter adds the flags of the call.
"""

assert [kind.kind for kind in (Literal, Pass, BitRange, PassCount, CallNumber, IndirectGrids)] == list(ARGUMENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One guarded launch."""

    kernel: str
    bindings: tuple[Binding, ...]
    guard: Guard
    grid: Grid
    argument: Argument = Literal()

    @property
    def pass_number(self) -> int | None:
        """The number of the step's pass, or None if its argument is no pass."""
        return self.argument.number if isinstance(self.argument, Pass) else None

    @property
    def indirect(self) -> bool:
        """Whether the step computes the grids of the other steps."""
        return isinstance(self.argument, IndirectGrids)

    def within(self, low: int, high: int) -> Step:
        """Return the step restricted to counts above `low` up to `high`."""
        guard = self.guard.within(low, high)
        return self if guard is self.guard else replace(self, guard=guard)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStatus:
    """The status of a sort: `words` 32-bit words at `binding`.

    Each word is 1 if its pass needed a retry.  The words are valid for counts above `min_n`.
    """

    binding: Binding
    words: int
    min_n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An ordered table of steps for counts up to `max_n`.

    first_bit, bits: the position and the number of the bits from which a call selects its bit range.
    whole_words: the sort compares packed words as a whole and ignores the bit range.
    """

    steps: tuple[Step, ...]
    max_n: int
    first_bit: int = 0
    bits: int = 0
    whole_words: bool = False
    scratch: Scratch = field(default_factory=Scratch)
    device_status: DeviceStatus | None = None

    def after(self, room: int) -> Plan:
        """Return the plan with all its bindings to scratch moved by `room` bytes."""
        status = self.device_status
        return replace(
            self,
            steps=tuple(replace(s, bindings=tuple(b.after(room) for b in s.bindings)) for s in self.steps),
            scratch=self.scratch.after(room),
            device_status=status and replace(status, binding=status.binding.after(room)),
        )
