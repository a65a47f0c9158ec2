"""What validation and benchmarks need of a device: a sort made ready, some buffers, and a copy to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from hsgen.plan import PLAIN, Options
from hsgen.spec import Sort

KEYS, KEYS_OUT, VALUES, VALUES_OUT, COUNT = range(5)
"""The buffers: keys, where they go if not sorted in place, values and where they go, a count on the device."""

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
        """Make buffer `slot` anew with `size` bytes."""

    def write(self, slot: int, image: NDArray[Any]) -> None:
        """Write an array to the begin of a buffer."""

    def read(self, slot: int, image: NDArray[Any]) -> None:
        """Read the begin of a buffer into an array.

        Raises:
            Wrong: the sort before wrote beyond its scratch memory.
        """

    def run(self, n: int, places: Places, how: Options = PLAIN) -> None:
        """Sort `n` keys, in place where "source" and "destination" are one place, and wait.

        An argsort that discards keys has no "destination".
        """

    def outcome(self) -> int:
        """Return how many passes of the last sort were done again, since the device let work-groups starve.

        Raises:
            Wrong: something wrote beyond the scratch memory.
        """

    def copy(self, size: int) -> None:
        """Copy `size` bytes from buffer 0 to buffer 1 on the device, and wait."""

    def peer(self, name: str, size: int, n: int, value_size: int = 0) -> None:
        """Sort keys to keys out by another library of the API; keys have `size` bytes, values `value_size`, if any.

        Raises:
            Unavailable: there is no such library here.
        """

    def messages(self) -> str:
        """What checking layers said so far."""
