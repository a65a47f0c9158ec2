"""What a rank does with its own arrays, without other ranks: sort, count keys below probes, merge and reduce."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.keys import KEYS, TYPES
from hsgen.distributed.communicator import Span

NARROW = 1 << 32
"""If all ranks together have at least this number of keys, GPUs use global indices of 64 bits, otherwise of 32 bits."""
_LEAST = 4  # least number of bits of a digit, which a round determines

REDUCTIONS = ("sum", "min", "max")
"""The reductions of values by key."""


@dataclass(frozen=True, slots=True)
class Run:
    """Sorted keys on one rank, and columns: arrays with an item for each key, such as its value or its index.

    The keys of a run may be transformed.  The subclass of `Local` that returns the run states their type.
    """

    keys: Any
    columns: tuple[Any, ...] = ()

    def __len__(self) -> int:
        """The number of keys."""
        return len(self.keys)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The keys and the columns."""
        return (self.keys, *self.columns)


def row_bytes(x: Any) -> int:
    """Return the size in bytes of x[0], for an array of numpy or a tensor."""
    return int(x.dtype.itemsize) * int(prod(x.shape[1:]))


def digits(bits: int, boundaries: int, counts: int) -> list[tuple[int, int]]:
    """Split keys of `bits` bits into digits; return the shift and the number of bits of each digit, highest first.

    Each round of a search for splitters determines one digit of the key at every boundary.  For a digit of d bits, a
    rank computes 2^d + 1 counts for each boundary.  The digits are as wide as possible such that a rank computes about
    `counts` counts per round at most, for all boundaries together.  If there are very many boundaries, a rank computes
    more counts, because a digit has at least 4 bits.
    """
    most = max((counts // boundaries).bit_length() - 1, _LEAST)
    rounds = -(-bits // most)
    ends = [bits * i // rounds for i in range(rounds + 1)]
    return [(low, high - low) for low, high in reversed(list(pairwise(ends)))]


class Local(ABC):
    """What one rank does with its own arrays of one library, for one key type and order.

    *Ordered keys* are keys after the key transform of docs/reference/semantics.md: unsigned numbers whose order is that
    of the sort.
    """

    most_counts = 1 << 12
    """About how many counts a rank computes in a round of a search: the argument `counts` of the function `digits`."""

    def __init__(self, key: str, *, descending: bool) -> None:
        self.key, self.descending = key, descending
        self.kind, self.bits = TYPES[key].kind, KEYS[TYPES[key].key].bits

    @property
    def greatest(self) -> int:
        """The greatest ordered key."""
        return (1 << self.bits) - 1

    @abstractmethod
    def sort(self, keys: Any, values: Any, *, zeros: bool = False, overwrite: bool = False) -> Run:
        """Return the sorted keys of this rank, with their values if there are any; the sort is stable.

        zeros: whether -0 becomes 0 even without values.  overwrite: whether the result may be stored in the memory of
        `keys` and `values`.
        """

    @abstractmethod
    def sort_index(self, keys: Any, first: int, total: int, *, overwrite: bool) -> Run:
        """Return the sorted keys of this rank, with their global indices as the only column.

        first: the global index of the first key.  total: the number of keys of all ranks, which determines the width of
        indices.
        """

    def shift(self, run: Run, first: int) -> None:
        """Add `first` to the indices of a run that `sort_index` has returned."""
        column = run.columns[0]
        column += first

    @abstractmethod
    def first(self, keys: Any, k: int, first: int) -> Run:
        """Return the first `k` sorted keys of this rank, with their 64-bit global indices.

        first: the global index that the first key of the unsorted shard has.
        """

    @abstractmethod
    def words(self, x: NDArray[np.int64]) -> Any:
        """Copy 64-bit numbers to an array on the device of the keys."""

    def digits(self, boundaries: int, ranks: int) -> list[tuple[int, int]]:
        """Return the digits that the rounds of a search determine, the same on every rank; see the function
        `digits`.
        """
        return digits(self.bits, boundaries, self.most_counts)

    @abstractmethod
    def search(self, run: Run, n: int, places: Sequence[int], ranks: int) -> Search:
        """Return the part of this rank in a search for splitters: an object that counts keys among the `n` sorted keys
        of `run`.

        places: for each boundary, how many keys of all ranks are before it.  ranks: the number of ranks.
        """

    @abstractmethod
    def room(self, like: Run, n: int) -> Run:
        """Return an uninitialized run of `n` keys, with arrays of the types of `like`."""

    @abstractmethod
    def merge(self, run: Run, spans: Sequence[Span], spare: Run | None = None) -> Run:
        """Merge spans of `run`, each of which is sorted, stably to one sorted run; return the run.

        The result may be stored in the memory of `run`, or of `spare`.
        """

    def chunks(self, sizes: Sequence[int], item: int) -> int:
        """Return in how many chunks an exchange transfers each part: 1, or at least 3.

        With several chunks, each is merged while later chunks are transferred.  sizes: the number of keys in the part
        of each rank.  item: the size of a value in bytes, or 0.
        """
        return 1

    @abstractmethod
    def merge_within(self, run: Run, spans: Sequence[Span], begin: int, spare: Run) -> None:
        """Merge spans of `run`, each of which is sorted, stably; store the result in `run` from index `begin` on.

        No span begins before `begin`.  spare: a run whose memory the call may overwrite; it is used if it is as large
        as the spans.
        """

    @abstractmethod
    def groups(self, run: Run) -> Run:
        """Return the distinct keys of a run, with two columns of 64-bit numbers.

        The columns are how often each key occurs, and the index in `run` of its first occurrence.
        """

    @abstractmethod
    def reduce(self, values: Any, starts: Any, counts: Any, reduction: str) -> Any:
        """Return for each group i the reduction of its values, which are counts[i] consecutive values from index
        starts[i] on.
        """

    @abstractmethod
    def part(self, run: Run, begin: int, end: int) -> Run:
        """Return the keys `begin` to `end` of a run and their columns, as views."""

    @abstractmethod
    def repeated(self, run: Run, times: int) -> Run:
        """Return a copy of a run that repeats the run `times` times."""


class Search(ABC):
    """The part of one rank in a search for splitters (`splitters.cuts_of_ranks`): count the rank's keys that are less
    than each probe.

    Counts are 64-bit numbers on the device of the keys.
    """

    def __init__(self, local: Local, run: Run, n: int, places: Sequence[int], ranks: int) -> None:
        self.local, self.run, self.n, self.places = local, run, n, places
        self.digits = local.digits(len(places), ranks)

    @abstractmethod
    def counts(self, number: int, rows: Any) -> Any:
        """Return how many keys of this rank are less than each probe of a round.  Each boundary has 2^bits + 1 probes,
        where bits is the width of the round's digit.

        number: the number of the round, from 0 up.  rows: the counts of all ranks in the previous round, shape
        (ranks, counts); None in the first round.
        """

    @abstractmethod
    def ends(self, rows: Any, meanwhile: Callable[[], None]) -> NDArray[np.int64]:
        """Return two counts for each rank and boundary, shape (ranks, 2, boundaries).

        The first count is how many keys of the rank are less than the key at the boundary.  The second is how many are
        less or equal.

        rows: the counts of all ranks in the last round.  meanwhile: a function that enqueues further work; the device
        does this work while the host waits for the counts.
        """


class HostSearch(Search):
    """A search on the host; its `Local` has a method `counts`, which returns how many keys are less than each probe."""

    local: Any
    _starts: NDArray[np.uint64]

    def counts(self, number: int, rows: Any) -> Any:
        """See `Search`."""
        shift, bits = self.digits[number]
        if number:
            digit, _ = self._digit(number - 1, rows)
            self._starts = self._starts + (digit.astype(np.uint64) << np.uint64(self.digits[number - 1][0]))
        else:
            self._starts = np.zeros(len(self.places), np.uint64)
        spaced = np.arange((1 << bits) + 1, dtype=np.uint64)
        spaced[:-1] <<= np.uint64(shift)
        spaced[-1] = (1 << (shift + bits)) % (1 << 64)
        probes = self._starts[:, None] + spaced
        beyond = probes <= self._starts[:, None]  # the last probe may be 2^64, which wraps to 0: all keys are below it
        beyond[:, 0] = False
        counts = self.local.counts(self.run, probes.reshape(-1).view(np.int64))
        return np.where(beyond.reshape(-1), self.n, counts)

    def ends(self, rows: Any, meanwhile: Callable[[], None]) -> NDArray[np.int64]:
        """See `Search`."""
        meanwhile()
        digit, counts = self._digit(len(self.digits) - 1, rows)
        at = np.arange(len(self.places))
        return np.stack([counts[:, at, digit], counts[:, at, digit + 1]], axis=1)

    def _digit(self, number: int, rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the digit of each boundary that round `number` determines, and the counts of the round.

        The counts have the shape (ranks, boundaries, 2^bits + 1).
        """
        counts = rows.reshape(len(rows), len(self.places), -1)
        totals = counts[:, :, 1:-1].sum(axis=0)
        return (totals < np.array(self.places, np.int64)[:, None]).sum(axis=1), counts
