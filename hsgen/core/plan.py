"""Plans: ordered tables of guarded launches, as plain values that `hsgen.core.interpreter` and C runtimes interpret.

A *step* is one row: a kernel; its buffers; a guard: the counts and calls for which it runs; a grid: its number of
work-groups; an argument: the number that the kernel receives in addition to n.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from hsgen.core.flags import ARGUMENTS
from hsgen.core.scratch import Scratch

UNCAPPED = 2**32 - 1  # the cap of grids that only the count limits

ROLES = ("source", "destination", "scratch", "values", "values_out", "count", "other", "other_values", "report")
"""The buffers of a call: keys, scratch memory, values before and after, a device-side count, further inputs (offsets of
segments, or the second of two arrays and its values), and a report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A buffer of a step: role, a name in `ROLES`, and offset, ``plus + per_n * min(n, max_n)`` bytes.

    In scratch the offset is rounded up to a multiple of 1024 bytes.  max_n: with a device-side count, n is the
    capacity, and steps for few keys need no more room than these take; None for no bound.
    """

    role: str
    per_n: int = 0
    plus: int = 0
    max_n: int | None = None

    def after(self, room: int) -> Binding:
        """Return the binding moved by `room` bytes if it is in scratch; other roles are unchanged."""
        return replace(self, plus=self.plus + room) if self.role == "scratch" else self

    def bounded(self, max_n: int) -> Binding:
        """Return the binding for at most `max_n` keys."""
        least = max_n if self.max_n is None else min(max_n, self.max_n)
        return replace(self, max_n=least) if self.role == "scratch" and self.per_n else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The condition under which a step runs: ``min_n < n <= max_n``, and the call matches `place`, `range` and
    `reduction`.

    x: "n", or "length": the bounds are those of the length of rows, n divided by the second number of the call.
    place: a name in `hsgen.core.flags.PLACES`.  range: a name in `hsgen.core.flags.RANGES`.  at_zero: the step also
    runs for n = 0.  reduction: a name in `hsgen.core.flags.REDUCTIONS`, for calls that reduce values.
    """

    min_n: int = 0
    max_n: int
    place: str = "any"
    range: str = "any"
    at_zero: bool = False
    x: str = "n"
    reduction: str = "any"

    def within(self, low: int, high: int) -> Guard:
        """Return the guard restricted to counts above `low` up to `high`; a row is no longer than all rows."""
        low = low if self.x == "n" else 0
        return replace(self, min_n=max(self.min_n, low), max_n=min(self.max_n, high))

    @property
    def empty(self) -> bool:
        """Whether it excludes every count except 0."""
        return self.min_n >= self.max_n


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The number of work-groups of a step: ``min((x + add) // div * mul, cap)``.

    x: a name in `hsgen.core.flags.QUANTITIES`.  All numbers are 64-bit integers; `add` may be negative.
    """

    x: str = "n"
    add: int = 0
    div: int = 1
    mul: int = 1
    cap: int = UNCAPPED

    def groups(self, x: int) -> int:
        """Return the number of work-groups for the quantity x."""
        return min((x + self.add) // self.div * self.mul, self.cap)

    @property
    def fixed(self) -> bool:
        """Whether every count above 0 gives `cap` work-groups."""
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
    """A pass over a digit: its number and the shift and width of the digit, for digits of at most `bits` bits.

    The step runs only if the bit range takes more than `number` passes.
    """

    kind: ClassVar[str] = "pass"
    number: int
    bits: int
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BitRange:
    """The end and the start of the bit range, for a kernel that does all passes."""

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

    Only hosts with indirect dispatch, at present those of Vulkan, run its step.
    """

    kind: ClassVar[str] = "indirect_grids"
    flags: ClassVar[int] = 0


Argument = Literal | Pass | BitRange | PassCount | CallNumber | IndirectGrids
"""The second number that a kernel receives.  `flags`: REDO and DIRECT of `hsgen.core.flags`; a call adds its own."""

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
        """The number of its pass, or None."""
        return self.argument.number if isinstance(self.argument, Pass) else None

    @property
    def indirect(self) -> bool:
        """Whether it computes the grids of the other steps."""
        return isinstance(self.argument, IndirectGrids)

    def within(self, low: int, high: int) -> Step:
        """Return the step restricted to counts above `low` up to `high`."""
        return replace(self, guard=self.guard.within(low, high))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStatus:
    """The status of a sort: `words` 32-bit words at `binding`, each 1 if its pass was redone; valid above `min_n`
    keys."""

    binding: Binding
    words: int
    min_n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An ordered table of steps for counts up to `max_n`.

    The bit range of a call is a part of the `bits` bits from `first_bit` on; with `whole_words`, packed words are
    nevertheless compared as a whole.
    """

    steps: tuple[Step, ...]
    max_n: int
    first_bit: int = 0
    bits: int = 0
    whole_words: bool = False
    scratch: Scratch = field(default_factory=Scratch)
    device_status: DeviceStatus | None = None

    def after(self, room: int) -> Plan:
        """Return the plan with its steps and its status moved by `room` bytes in scratch."""
        status = self.device_status
        return replace(
            self,
            steps=tuple(replace(s, bindings=tuple(b.after(room) for b in s.bindings)) for s in self.steps),
            scratch=self.scratch.after(room),
            device_status=status and replace(status, binding=status.binding.after(room)),
        )
