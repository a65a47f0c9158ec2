"""The interface `Engine`, through which `hsgen validate` and benchmarks run sorts on a device.

An engine has a compiled sort and numbered buffers.  An engine can also copy memory on the device; benchmarks compare
the speed of this copy with that of the sort.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.sort import Sort

KEYS, KEYS_OUT, VALUES, VALUES_OUT, COUNT, OTHER, OTHER_VALUES, REPORT, TAKES, VALUE_STARTS = range(10)
"""The numbers of an engine's buffers, its *slots*.

The buffers have these contents.  KEYS: the keys.  KEYS_OUT: the destination of keys.  VALUES: the values.  VALUES_OUT:
the destination of values.  COUNT: the number of keys, if kernels read it from device memory.  OTHER: the offsets of
segments, or the second of two arrays.  OTHER_VALUES: the values of the second array.  REPORT: the report or digest.
TAKES: for each row of a selection, the number of keys to take.  VALUE_STARTS: for each row of a selection, the index of
its first value.
"""

Places = Mapping[str, tuple[int, int]]
"""Where the arrays of a call are, by role: (number of the buffer, offset in bytes in the buffer).  Scratch memory is
not listed.
"""


class Engine(Protocol):
    """A sort that is ready to run on a device, with the buffers of its calls."""

    @property
    def sort(self) -> Sort:
        """The sort that the engine runs."""

    @property
    def api(self) -> str:
        """The API that drives the device."""

    @property
    def align(self) -> int:
        """The number of bytes of which each offset of keys in a buffer must be a multiple."""

    def allocate(self, slot: int, size: int) -> None:
        """Allocate buffer number `slot` with `size` bytes; its content is undefined."""

    def write(self, slot: int, image: NDArray[Any]) -> None:
        """Write the array `image` to the start of buffer number `slot`."""

    def read(self, slot: int, image: NDArray[Any]) -> None:
        """Read the start of buffer number `slot` into the array `image`.

        Raises:
            Wrong: the last sort wrote beyond its scratch memory.
        """

    def run(self, n: int, places: Places, options: Options = PLAIN) -> float | None:
        """Run the sort, or another operation, on `n` keys, wait for its end, and return its time on the device.

        The sort is in place if `places` has equal entries for "source" and "destination".  An argsort that discards
        keys has no "destination".  The time on the device is that from the start of the first launch to the end of the
        last launch, in seconds; None if the clock of the device is off.
        """

    def sibling(self, sort: Sort) -> Engine:
        """Return an engine for another sort on the same device, which shares this engine's buffers.

        After this call, `renew` must be called before this engine runs its own sort again.
        """

    def renew(self) -> None:
        """Compile or load the sort again.  The new machine code may have another address, and therefore another
        speed.
        """

    def clock(self, on: bool) -> None:
        """Turn the device's clock on or off for later calls; a clock that does not slow down calls may stay on."""

    def memory(self) -> tuple[int, int]:
        """Return the sizes in bytes of the device's memory and of its largest possible buffer; 0 if not reported."""

    def device_status(self) -> int:
        """Return how many passes of the last sort had to run again because work-groups made no progress.

        For a segmented sort, a number other than 0 means that the device rejected the segment offsets.

        Raises:
            Wrong: the last sort wrote beyond its scratch memory.
        """

    def copy(self, size: int) -> float | None:
        """Copy `size` bytes from buffer 0 to buffer 1 on the device, wait, and return the time on the device."""

    def baseline(self, name: str, size: int, n: int, value_size: int = 0, number: int = 0) -> float | None:
        """Run the same operation by the baseline `name`, another library such as CUB; return the time, as `run` does.

        The baseline uses the same buffers as the sort.
        size, value_size: the sizes in bytes of a key and of a value; value_size is 0 without values.
        number: the number of segments, or the number of keys in the first of two arrays.

        Raises:
            Unavailable: the engine has no such baseline.
        """

    def messages(self) -> str:
        """Return the messages that validation layers have reported so far."""
