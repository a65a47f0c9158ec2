"""The interface through which validation and benchmarks drive a device.

An engine has a compiled sort, buffers, and a copy whose time benchmarks compare with the time of the sort.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.sort import Sort

KEYS, KEYS_OUT, VALUES, VALUES_OUT, COUNT, OTHER, OTHER_VALUES, REPORT, TAKES, VALUE_STARTS = range(10)
"""The numbers of the buffers.

The buffers have these contents.  KEYS: the keys.  KEYS_OUT: the destination of keys.  VALUES: the values.  VALUES_OUT:
the destination of values.  COUNT: the device-side count.  OTHER: the offsets of segments, or the second of two arrays.
OTHER_VALUES: the values of the second array.  REPORT: the report or digest.  TAKES: for each row of a selection, the
number of keys to take.  VALUE_STARTS: for each row of a selection, the index of its first value.
"""

Places = Mapping[str, tuple[int, int]]
"""For each role of a call except scratch: (buffer, offset in bytes at which the role starts in the buffer)."""


class Engine(Protocol):
    """A sort that is ready to run on a device."""

    @property
    def sort(self) -> Sort:
        """The sort that the engine runs."""

    @property
    def api(self) -> str:
        """The API that drives the device."""

    @property
    def align(self) -> int:
        """The alignment in bytes that keys need in a buffer."""

    def allocate(self, slot: int, size: int) -> None:
        """Allocate buffer `slot` with `size` bytes; its content is undefined."""

    def write(self, slot: int, image: NDArray[Any]) -> None:
        """Write an array to the start of a buffer."""

    def read(self, slot: int, image: NDArray[Any]) -> None:
        """Read the start of a buffer into an array.

        Raises:
            Wrong: the last sort wrote beyond its scratch memory.
        """

    def run(self, n: int, places: Places, options: Options = PLAIN) -> float | None:
        """Run the sort, or another operation, on `n` keys, and wait; return the device seconds.

        The sort is in place if `places` has equal entries for "source" and "destination".  An argsort that discards
        keys has no "destination".  The device seconds are the time from the start of the first launch to the end of
        the last launch; None if the clock of the device is off.
        """

    def sibling(self, sort: Sort) -> Engine:
        """Return an engine for another sort of the library, with the same buffers.

        `renew` must be called on the present engine before it runs again.
        """

    def renew(self) -> None:
        """Compile or load the sort again; the address of its code, which affects the speed, may then change."""

    def clock(self, on: bool) -> None:
        """Turn the device's clock on or off for later calls.  A clock that costs no time stays on."""

    def memory(self) -> tuple[int, int]:
        """Return (size of the device's memory, size of its largest possible buffer) in bytes; 0 if not reported."""

    def device_status(self) -> int:
        """Return how many passes of the last sort needed a retry because work-groups made no progress.

        For a segmented sort, a number other than 0 means that the device rejected the segment offsets.

        Raises:
            Wrong: the last sort wrote beyond its scratch memory.
        """

    def copy(self, size: int) -> float | None:
        """Copy `size` bytes from buffer 0 to buffer 1 on the device, and wait; return seconds as `run` does."""

    def baseline(self, name: str, size: int, n: int, value_size: int = 0, number: int = 0) -> float | None:
        """Run the sort's operation with another library of the API, the baseline `name`, in the same buffers.

        A key has `size` bytes, and a value has `value_size` bytes; 0 means no values.  `number` is the number of
        segments, or the number of keys in the first of two arrays.  The result is that of `run`.

        Raises:
            Unavailable: the engine has no such baseline.
        """

    def messages(self) -> str:
        """Return the messages that validation layers have reported so far."""
