"""The base class of stages in a hybrid sort, and functions that build the plan rows of stages.

A *stage* brings keys into buckets, each of which a work-group sorts on chip.  A hybrid sort has one stage for keys
without values, and others for pairs (keys with values).  If a bucket has more keys than a work-group holds, the
*fallback* sorts the keys instead, by passes over all digits.
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
    """A stage: its kernels, the bytes that its launches move, and checks of its parameters.

    p: the parameters of the sort.  If they have no parameters for this stage, only `problems` may be called.
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

        None means that the launch neither belongs to this stage nor becomes unnecessary by it.
        """

    @abstractmethod
    def test_counts(self) -> Iterator[int]:
        """Yield the counts at which the launches of the stage, or their grids, change."""

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

    For n keys, there are 2^b buckets, where b is the least number for which n / 2^b is at most `limit`.  The list has a
    grid for each b.  With a device-side count, it has one grid, with enough work-groups for any count up to the
    capacity.
    limit: the greatest mean number of keys per bucket.
    bits: the greatest b.
    """
    if device_count:  # 2^b is at least n / limit and less than 2 n / limit
        return [(0, limit << bits, Grid(add=-1, div=limit, mul=2, cap=1 << bits))]
    return [(limit << b - 1, limit << b, fixed(1 << b)) for b in range(1, bits + 1)]
