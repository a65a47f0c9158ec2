"""The base class of the stages of a hybrid sort, which try to sort the keys before the fallback does."""

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
"""(low, high, grid): the grid serves counts above `low` up to `high`."""


@dataclass(frozen=True, slots=True)
class Stage(ABC):
    """A stage of the shape `p`: its kernels, the bytes that its launches move, and its constraints.

    If the shape does not have the stage, only `problems` may be called.
    """

    p: Hybrid

    @property
    @abstractmethod
    def span(self) -> tuple[int, int]:
        """(low, high): the stage serves counts above `low` up to `high`."""

    @abstractmethod
    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels in the order of their launches."""

    @abstractmethod
    def moved(self, step: Step, n: int) -> int | None:
        """Return the bytes that a launch reads and writes for `n` keys that buckets hold.

        None means that the stage does not determine the bytes of the launch.
        """

    @abstractmethod
    def test_counts(self) -> Iterator[int]:
        """Yield the counts at which the launches of the stage, or their work, change."""

    @abstractmethod
    def problems(self, device: Device) -> Iterator[Problem]:
        """Yield the problems of the parameters of the stage on a device."""

    def serves(self, n: int) -> bool:
        """Whether the stage serves `n` keys."""
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

    There is one row for each grid that serves some of these counts.
    flags: if not 0, the kernel's argument is the bit range with these flags.
    place: as in `hsgen.core.plan.Guard`.
    """
    argument: Argument = BitRange(flags=flags) if flags else Literal()
    return [
        launch(k, bound, max(least, low), min(most, high), grid, argument, part="whole", place=place)
        for least, most, grid in grids
        if max(least, low) < min(most, high)
    ]


def numbered(limit: int, bits: int, *, device_count: bool) -> list[Span]:
    """Return the grids of a kernel that has one work-group per bucket.

    The number of buckets is a power of two, and there is one grid for each number of buckets.  With a device-side
    count, one grid serves all counts.
    limit: the greatest mean number of keys of a bucket.
    bits: there are at most 2^bits buckets.
    """
    if device_count:  # more buckets than n / limit, but no more than twice that
        return [(0, limit << bits, Grid(add=-1, div=limit, mul=2, cap=1 << bits))]
    return [(limit << b - 1, limit << b, fixed(1 << b)) for b in range(1, bits + 1)]
