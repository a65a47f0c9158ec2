"""Plans: ordered tables of guarded launches.  Plain values; `hsgen.core.interpreter` and the C runtimes interpret them.

A *step* is one row: a kernel, its buffers, a guard that says when it runs, a grid that says how wide, and an argument
that says what the kernel gets besides n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.core.flags import ARGUMENTS

UNCAPPED = 2**32 - 1  # the cap of grids that only the count limits

ROLES = ("source", "destination", "scratch", "values", "values_out", "count", "other", "other_values", "report")
"""The buffers of a call: keys, scratch memory, values before and after, the count where it lies on the device, what
else is read (offsets of segments, or the second of two arrays and its values), and what is told besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A buffer role of a step; it begins `plus + per_n * n` bytes into the buffer that plays the role.

    Roles are those in `ROLES`; in scratch the beginning is rounded up to 1024 bytes.
    """

    role: str
    per_n: int = 0
    plus: int = 0

    def after(self, room: int) -> Binding:
        """Return the binding where `room` bytes come first in scratch; other roles stay as they are."""
        return replace(self, plus=self.plus + room) if self.role == "scratch" else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """When a step runs: only if ``min_n < n <= max_n``, the sort's `place` fits and its bit range does.

    `place` is a name in `hsgen.core.flags.PLACES`, `range` one in `hsgen.core.flags.RANGES`.  With `at_zero`, `min_n`
    does not exclude n = 0.
    """

    min_n: int = 0
    max_n: int
    place: str = "any"
    range: str = "any"
    at_zero: bool = False

    def within(self, low: int, high: int) -> Guard:
        """Return the guard for counts above `low` up to `high` alone."""
        return replace(self, min_n=max(self.min_n, low), max_n=min(self.max_n, high))

    @property
    def empty(self) -> bool:
        """Whether it excludes every count but 0."""
        return self.min_n >= self.max_n


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The work-groups of a step: ``min((x + add) // div * mul, cap)``.

    `x` is a name in `hsgen.core.flags.QUANTITIES`.  All numbers are 64-bit; `add` may be negative.
    """

    x: str = "n"
    add: int = 0
    div: int = 1
    mul: int = 1
    cap: int = UNCAPPED

    def groups(self, x: int) -> int:
        """Return the work-groups for the quantity x."""
        return min((x + self.add) // self.div * self.mul, self.cap)

    @property
    def fixed(self) -> bool:
        """Whether any count at all gives as many work-groups as the cap."""
        return self.div == 1 and self.mul >= self.cap


def fixed(groups: int) -> Grid:
    """Return a grid of that many work-groups, whatever the count."""
    return Grid(mul=groups, cap=groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """The argument of a kernel that needs nothing of the bit range: `value`, below the flags."""

    kind: ClassVar[str] = "literal"
    value: int = 0
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """The argument of pass `number` over digits of at most `bits` bits: that number, the digit's shift and its width.

    The step runs only if the bit range takes that many passes.
    """

    kind: ClassVar[str] = "pass"
    number: int
    bits: int
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BitRange:
    """The argument of a kernel for all passes at once: the end of the bit range and its begin."""

    kind: ClassVar[str] = "bit_range"
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCount:
    """The argument of a kernel that gets the number of passes over digits of at most `bits` bits."""

    kind: ClassVar[str] = "pass_count"
    bits: int
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNumber:
    """The argument of a kernel that gets the number that a call has besides n, without flags."""

    kind: ClassVar[str] = "call_number"
    flags: ClassVar[int] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndirectGrids:
    """The argument of the kernel that works out the grids of all other steps from a count on the device.

    Only hosts that launch by grids in device memory run its step, today those of Vulkan; the argument is the greatest
    grid in one dimension.
    """

    kind: ClassVar[str] = "indirect_grids"
    flags: ClassVar[int] = 0


Argument = Literal | Pass | BitRange | PassCount | CallNumber | IndirectGrids
"""What a kernel gets besides n.  `flags` are REDO and DIRECT of `hsgen.core.flags`; those of a call are added."""

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
        """The number of the pass that it is, or None."""
        return self.argument.number if isinstance(self.argument, Pass) else None

    @property
    def indirect(self) -> bool:
        """Whether it works out the grids of the other steps."""
        return isinstance(self.argument, IndirectGrids)

    def within(self, low: int, high: int) -> Step:
        """Return the step for counts above `low` up to `high` alone."""
        return replace(self, guard=self.guard.within(low, high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """The bytes of scratch that n keys need: none up to `min_n`, else ``plus + per_n * n`` and, for each of the
    ``min(ceil(n / unit), units)`` units, `per_unit`."""

    min_n: int = 0
    plus: int = 0
    per_n: int = 0
    unit: int = 1
    per_unit: int = 0
    units: int = 0

    def bytes(self, n: int) -> int:
        """Return the bytes for `n` keys."""
        if n <= self.min_n:
            return 0
        return self.plus + self.per_n * n + self.per_unit * min(-(-n // self.unit), self.units)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceStatus:
    """Where a sort tells afterwards what happened: `words` 32-bit words from `binding` on, each 1 for a pass that was
    done again.  They mean something for more than `min_n` keys."""

    binding: Binding
    words: int
    min_n: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole sort as an ordered table of steps, for counts up to `max_n`.

    Keys are sorted by `bits` bits from `first_bit` on, or by a part of these; with `whole_words`, packed words are
    compared whole all the same.
    """

    steps: tuple[Step, ...]
    max_n: int
    first_bit: int = 0
    bits: int = 0
    whole_words: bool = False
    scratch: Scratch = Scratch()
    device_status: DeviceStatus | None = None
