"""What validation and benchmarks need of a device: a sort made ready, two buffers, and a copy to compare with."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from hsgen.spec import Sort


class Engine(Protocol):
    """A sort on a device.  Buffer 0 holds the keys; buffer 1 gets them where they are not sorted in place."""

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
        """Make buffer `slot` anew with `size` bytes."""

    def write(self, slot: int, image: NDArray[Any]) -> None:
        """Write an array to the begin of a buffer."""

    def read(self, slot: int, image: NDArray[Any]) -> None:
        """Read the begin of a buffer into an array.

        Raises:
            Wrong: the sort before wrote beyond its scratch memory.
        """

    def run(self, n: int, source: int, slot: int, destination: int) -> None:
        """Sort `n` keys that begin `source` bytes into buffer 0, to `destination` bytes into buffer `slot`; wait.

        Slot 0 means in place; both places are then the same.
        """

    def outcome(self) -> int:
        """Return how many passes of the last sort were done again, since the device let work-groups starve.

        Raises:
            Wrong: something wrote beyond the scratch memory.
        """

    def copy(self, size: int) -> None:
        """Copy `size` bytes from buffer 0 to buffer 1 on the device, and wait."""

    def peer(self, name: str, size: int, n: int) -> None:
        """Sort buffer 0 to buffer 1 by another library of the API; keys have `size` bytes.

        Raises:
            Unavailable: there is no such library here.
        """

    def messages(self) -> str:
        """What checking layers said so far."""
