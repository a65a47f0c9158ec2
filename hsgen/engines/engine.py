"""What validation and benchmarks need of a device: a sort made ready, some buffers, and a copy to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.sort import Sort

KEYS, KEYS_OUT, VALUES, VALUES_OUT, COUNT, OTHER, OTHER_VALUES, REPORT = range(8)
"""The buffers: keys, their destination, values, their destination, device-side count, offsets of segments or the second
of two arrays, values of the second array, report or digest."""

Places = Mapping[str, tuple[int, int]]
"""For each role but scratch that a call uses, its buffer and the bytes at which it begins there."""


class Engine(Protocol):
    """A sort on a device."""

    @property
    def sort(self) -> Sort:
        """The sort that runs."""

    @property
    def api(self) -> str:
        """The API that it runs through."""

    @property
    def align(self) -> int:
        """The bytes of which the place of keys in a buffer is a multiple."""

    def allocate(self, slot: int, size: int) -> None:
        """Allocate buffer `slot` with `size` bytes; its content is undefined."""

    def write(self, slot: int, image: NDArray[Any]) -> None:
        """Write an array to the start of a buffer."""

    def read(self, slot: int, image: NDArray[Any]) -> None:
        """Read the start of a buffer into an array.

        Raises:
            Wrong: the sort before wrote beyond its scratch memory.
        """

    def run(self, n: int, places: Places, how: Options = PLAIN) -> float | None:
        """Sort `n` keys, in place where "source" and "destination" are one place, and wait.

        An argsort that discards keys has no "destination"; what is no sort does what its kind does.  Return the seconds
        from the start of the first launch to the end of the last on the device, None where its clock is off.
        """

    def sibling(self, sort: Sort) -> Engine:
        """Return an engine of the same buffers that is ready to run another sort of the library; this one must be
        renewed before it runs again."""

    def renew(self) -> None:
        """Make the sort ready again: the address of its code, which affects its speed, may change."""

    def clock(self, on: bool) -> None:
        """Have the device time what follows, or not; where that costs nothing it always does."""

    def memory(self) -> tuple[int, int]:
        """Return the bytes of memory of the device, and of its largest buffer; 0 if not reported."""

    def device_status(self) -> int:
        """Return how many passes of the last sort were done again, since the device let work-groups starve; of
        segments, not 0 if the device refused them.

        Raises:
            Wrong: something wrote beyond the scratch memory.
        """

    def copy(self, size: int) -> float | None:
        """Copy `size` bytes from buffer 0 to buffer 1 on the device, and wait; return seconds as `run` does."""

    def baseline(self, name: str, size: int, n: int, value_size: int = 0, number: int = 0) -> float | None:
        """Have another library of the API do what the sort does, from and to the same buffers.

        Keys have `size` bytes, values `value_size`, if any; `number` is that of the segments, or of the keys in the
        first of two arrays.  Return seconds as `run` does.

        Raises:
            Unavailable: there is no such library here.
        """

    def messages(self) -> str:
        """What checking layers said so far."""
