"""The base class of the stages with buckets in a hybrid sort, and functions that build their plan rows.

A stage tries to sort the keys by buckets.  If a bucket has more keys than a work-group holds, the fallback sorts the
keys instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.rows import launch
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Argument, Binding, BitRange, Grid, Literal, Step, fixed

Span = tuple[int, int, Grid]
"""(low, high, grid): a kernel has this grid for counts above `low` up to `high`."""


@dataclass(frozen=True, slots=True)
class Stage(ABC):
    """A stage with buckets: its kernels, the bytes that its launches move, and its constraints.

    p: the parameters of the sort.  If they do not state this stage, only `problems` may be called.
    """

    p: Hybrid

    @property
    @abstractmethod
    def span(self) -> tuple[int, int]:
        """(low, high): the stage runs for counts above `low` up to `high`."""

    @abstractmethod
    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels in the order of their launches."""

    @abstractmethod
    def moved(self, step: Step, n: int) -> int | None:
        """Return the bytes that a launch reads and writes for `n` keys, if every bucket fits a work-group.

        None means that this stage neither has the launch nor makes it unnecessary.
        """

    @abstractmethod
    def test_counts(self) -> Iterator[int]:
        """Yield the counts at which the stage has other launches, or its launches do other work."""

    @abstractmethod
    def problems(self, device: Device) -> Iterator[Problem]:
        """Yield the problems of the parameters of the stage on a device."""

    def serves(self, n: int) -> bool:
        """Whether the stage runs for `n` keys."""
        low, high = self.span
        return low < n <= high


def launched(
    k: Kernel,
    bound: Mapping[str, Binding],
    grids: Iterable[Span],
    low: int,
    high: int,
    flags: int = 0,
    place: str = "any",
) -> list[Step]:
    """Return the plan rows of a kernel in sorts by all bits, for counts above `low` up to `high`.

    There is one row for each entry of `grids` whose range contains some of these counts.
    bound: the binding of each buffer, by the name of the buffer.
    flags: if not 0, the kernel's argument is the call's bit range with these flags.
    place: as in `hsgen.core.plan.Guard`.
    """
    argument: Argument = BitRange(flags=flags) if flags else Literal()
    return [
        launch(k, bound, max(least, low), min(most, high), grid, argument, part="whole", place=place)
        for least, most, grid in grids
        if max(least, low) < min(most, high)
    ]


def numbered(limit: int, bits: int, *, device_count: bool) -> list[Span]:
    """Return the grids of a kernel in which each work-group sorts one bucket.

    For n keys, there are 2^b buckets, with the least b for which n / 2^b is at most `limit`.  Each b has a grid of its
    own.  With a device-side count, one grid has enough work-groups for any count up to the capacity.
    limit: the greatest mean number of keys per bucket.
    bits: the greatest b.
    """
    if device_count:  # 2^b is at least n / limit and less than 2 n / limit
        return [(0, limit << bits, Grid(add=-1, div=limit, mul=2, cap=1 << bits))]
    return [(limit << b - 1, limit << b, fixed(1 << b)) for b in range(1, bits + 1)]
