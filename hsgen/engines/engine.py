"""The interface of devices for validation and benchmarks: a compiled sort, buffers, and a copy to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.sort import Sort

KEYS, KEYS_OUT, VALUES, VALUES_OUT, COUNT, OTHER, OTHER_VALUES, REPORT, TAKES, VALUE_STARTS = range(10)
"""The numbers of the buffers.

In order: the keys; the destination of keys; the values; the destination of values; the device-side count; the offsets
of segments, or the second of two arrays; the values of the second array; the report or digest; and for the rows of a
selection, the numbers of keys to take and the indices of the first values.
"""

Places = Mapping[str, tuple[int, int]]
"""The buffer, and the first byte in it, of each role of a call except scratch."""


class Engine(Protocol):
    """A sort on a device."""

    @property
    def sort(self) -> Sort:
        """The sort that runs."""

    @property
    def api(self) -> str:
        """The API that drives the device."""

    @property
    def align(self) -> int:
        """The alignment of keys in a buffer, in bytes."""

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
        """Run the sort, or other operation, on `n` keys, and wait; return the device seconds.

        The sort is in place if "source" and "destination" are the same place.  An argsort that discards keys has no
        "destination".  The seconds are those between the start of the first launch and the end of the last launch; None
        if the device's clock is off.
        """

    def sibling(self, sort: Sort) -> Engine:
        """Return an engine with the same buffers that runs another sort of the library.

        This engine must be renewed before it runs again.
        """

    def renew(self) -> None:
        """Compile or load the sort again, so that the address of its code may change; the address affects the speed."""

    def clock(self, on: bool) -> None:
        """Turn the device's clock on or off for later calls; a clock that costs no time is always on."""

    def memory(self) -> tuple[int, int]:
        """Return the bytes of the device's memory, and of its largest buffer; 0 if not reported."""

    def device_status(self) -> int:
        """Return the number of passes of the last sort that needed a retry, because work-groups made no progress.

        For a segmented sort, a number other than 0 means that the device refused the offsets.

        Raises:
            Wrong: the last sort wrote beyond its scratch memory.
        """

    def copy(self, size: int) -> float | None:
        """Copy `size` bytes from buffer 0 to buffer 1 on the device, and wait; return the seconds as `run` does."""

    def baseline(self, name: str, size: int, n: int, value_size: int = 0, number: int = 0) -> float | None:
        """Run the operation of the sort by another library of the API, in the same buffers; return seconds as `run`.

        Keys have `size` bytes, values `value_size` bytes (0: no values).  `number` is the number of segments, or of
        keys in the first of two arrays.

        Raises:
            Unavailable: the engine lacks the library.
        """

    def messages(self) -> str:
        """Return the messages of validation layers so far."""
