"""The work of a call, a sort or a selection of rows: its numbers in compiled programs, and its prepared launches."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import lru_cache
from threading import Lock
from typing import Protocol

from hsgen.core.keys import TYPES
from hsgen.core.plan import ROLES
from hsgen.cuda.order import Shape, order
from hsgen.cuda.prepared import DESTINATION, SCRATCH
from hsgen.cuda.top_k import TopK, prepared_selection

NAMES = tuple(sorted(TYPES))
"""The key types; compiled programs contain the index of a type in this tuple."""
_VALUES_OUT = ROLES.index("values_out")


class Launches(Protocol):
    """Prepared launches; `scratch` is the size of scratch memory in bytes."""

    scratch: int

    def run(self, source: int, keys: int, indices: int, scratch: int, stream: int) -> None:
        """Launch with the addresses of keys, the results, and scratch memory."""


@dataclass(frozen=True, slots=True)
class Work:
    """A sort of rows, or a selection of the first `take` keys of each row if `take` is not 0.

    keys, indices: whether these are results.  Indices of a sort have 64 bits, those of a selection 32.
    """

    key: int
    rows: int
    length: int
    descending: bool
    keys: bool
    indices: bool
    take: int = 0

    def numbers(self) -> list[int]:
        """Return the work as numbers."""
        return [int(x) for x in astuple(self)]

    def launches(self, number: int) -> Launches:
        """Return the prepared launches on a GPU.

        Raises:
            Usage: no target has such a sort.
            Unavailable, Wrong: a kernel does not compile, or the GPU cannot run it.
        """
        if self.take:
            return Selection(self, number)
        shape = Shape(
            number=number,
            key=NAMES[self.key],
            rows=self.rows,
            length=self.length,
            descending=self.descending,
            keys=self.keys,
            indices=self.indices,
        )
        ready = order(shape)
        assert ready is not None  # rows that hsgen does not sort never become work
        return ready


@lru_cache(maxsize=64)
def selector(key: str, number: int, *, descending: bool) -> TopK:
    """Return the selection, with 32-bit indices, from keys of a type."""
    return TopK(key, value="index", order="descending" if descending else "ascending", device=number)


class Selection:
    """The launches of a selection, with the interface of `Launches`."""

    def __init__(self, work: Work, number: int) -> None:
        select = selector(NAMES[work.key], number, descending=work.descending)
        self._prepared, self._gpu = prepared_selection(select, work.rows * work.length, work.take, work.rows)
        self.scratch = self._prepared.scratch

    def run(self, source: int, keys: int, indices: int, scratch: int, stream: int) -> None:
        """See `Launches`."""
        bases = [source] * len(ROLES)
        bases[DESTINATION], bases[_VALUES_OUT], bases[SCRATCH] = keys, indices, scratch
        with self._gpu.current():
            self._prepared.run(bases, stream)


_known: dict[tuple[Work, int], Launches] = {}
_KEPT = 256
_lock = Lock()


def launches(work: Work, number: int) -> Launches:
    """Return the prepared launches of work on a GPU; equal work is prepared once."""
    ready = _known.get((work, number))
    if ready is None:
        with _lock:
            ready = work.launches(number)
            if len(_known) >= _KEPT:
                _known.clear()
            _known[work, number] = ready
    return ready
