"""The work of a rank on its own arrays: sorts, counts of keys below probes, merges and reductions, for one key type."""

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
"""The least number of keys of all ranks for which global indices have 64 bits on GPUs."""
_LEAST = 4  # least number of bits of a digit, hence of a round

REDUCTIONS = ("sum", "min", "max")
"""The reductions of values by key."""


@dataclass(frozen=True, slots=True)
class Run:
    """Keys in order on one rank, and columns with an item for each key.

    Keys are in the form of the `Local` that made the run.
    """

    keys: Any
    columns: tuple[Any, ...] = ()

    def __len__(self) -> int:
        """The number of keys."""
        return len(self.keys)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Keys and columns."""
        return (self.keys, *self.columns)


def row_bytes(x: Any) -> int:
    """Return the bytes of an item of an array, of numpy or of PyTorch."""
    return int(x.dtype.itemsize) * int(prod(x.shape[1:]))


def digits(bits: int, boundaries: int, counts: int) -> list[tuple[int, int]]:
    """Split ordered keys into digits; return the shift and the number of bits of each, highest first.

    Each round of a search for splitters determines one digit.  In a round, a rank computes about `counts` counts at
    most, for all boundaries together.  With very many boundaries, a rank computes more.
    """
    most = max((counts // boundaries).bit_length() - 1, _LEAST)
    rounds = -(-bits // most)
    ends = [bits * i // rounds for i in range(rounds + 1)]
    return [(low, high - low) for low, high in reversed(list(pairwise(ends)))]


class Local(ABC):
    """The work of one rank on arrays of one library, for one key type and order.

    Ordered keys are unsigned numbers in the order of the sort: the key transform of docs/reference/semantics.md.
    """

    most_counts = 1 << 12
    """The usual greatest number of counts that a rank computes in a round of a search, for all boundaries together."""

    def __init__(self, key: str, *, descending: bool) -> None:
        self.key, self.descending = key, descending
        self.kind, self.bits = TYPES[key].kind, KEYS[TYPES[key].key].bits

    @property
    def greatest(self) -> int:
        """The greatest ordered key."""
        return (1 << self.bits) - 1

    @abstractmethod
    def sort(self, keys: Any, values: Any, *, zeros: bool = False, overwrite: bool = False) -> Run:
        """Return the keys of this rank in order, with their values if there are any; equal keys keep their order.

        zeros: whether -0 becomes 0 even if there are no values.  overwrite: whether the result may be in the memory of
        the arguments.
        """

    @abstractmethod
    def sort_index(self, keys: Any, first: int, total: int, *, overwrite: bool) -> Run:
        """Return the keys of this rank in order, with their global indices as the only column.

        first: the global index of the first key.  total: the number of keys of all ranks, which determines the width of
        indices.
        """

    def shift(self, run: Run, first: int) -> None:
        """Add `first` to the only column of a run, the indices of `sort_index`."""
        column = run.columns[0]
        column += first

    @abstractmethod
    def first(self, keys: Any, k: int, first: int) -> Run:
        """Return the first `k` keys of this rank in order, with their 64-bit global indices.

        first: the global index of the first key.
        """

    @abstractmethod
    def words(self, x: NDArray[np.int64]) -> Any:
        """Return 64-bit numbers as an array on the device of the keys."""

    def digits(self, boundaries: int, ranks: int) -> list[tuple[int, int]]:
        """Return the digits of a search, which are the same on every rank; see the function `digits`."""
        return digits(self.bits, boundaries, self.most_counts)

    @abstractmethod
    def search(self, run: Run, n: int, places: Sequence[int], ranks: int) -> Search:
        """Return a search for splitters in the `n` keys of this rank.

        places: for each boundary, the number of keys before it, of all ranks together.  ranks: the number of ranks.
        """

    @abstractmethod
    def room(self, like: Run, n: int) -> Run:
        """Return a run of `n` keys with uninitialized arrays of the types of `like`."""

    @abstractmethod
    def merge(self, run: Run, spans: Sequence[Span], spare: Run | None = None) -> Run:
        """Merge spans of `run`, each of which is sorted; return one sorted run.  Equal keys keep their order.

        The result may be in the memory of `run` or of `spare`.
        """

    def chunks(self, sizes: Sequence[int], item: int) -> int:
        """Return the number of chunks of an exchange; each chunk is merged while later chunks travel.

        The number is 1, or at least 3.  sizes: the sizes of the parts of all ranks.  item: the bytes of a value, or 0.
        """
        return 1

    @abstractmethod
    def merge_within(self, run: Run, spans: Sequence[Span], begin: int, spare: Run) -> None:
        """Merge spans of `run`, each of which is sorted, into `run` from index `begin` on; equal keys keep their order.

        `begin` is not greater than the begin of any span.  spare: memory for as many keys, which the call overwrites.
        """

    @abstractmethod
    def groups(self, run: Run) -> Run:
        """Return the distinct keys, with two columns: the number of equal keys, and the index of the first of these
        keys.

        Both columns have 64 bits.
        """

    @abstractmethod
    def reduce(self, values: Any, starts: Any, counts: Any, reduction: str) -> Any:
        """Return a reduction for each group: of counts[i] consecutive values from index starts[i] on."""

    @abstractmethod
    def part(self, run: Run, begin: int, end: int) -> Run:
        """Return the keys `begin` to `end` of a run, without a copy."""

    @abstractmethod
    def repeated(self, run: Run, times: int) -> Run:
        """Return a new run: a run `times` times, one after another."""


class Search(ABC):
    """A search for the keys at boundaries between parts, in the keys of one rank; see `splitters.cuts_of_ranks`.

    Counts are 64-bit numbers on the device of the keys.
    """

    def __init__(self, local: Local, run: Run, n: int, places: Sequence[int], ranks: int) -> None:
        self.local, self.run, self.n, self.places = local, run, n, places
        self.digits = local.digits(len(places), ranks)

    @abstractmethod
    def counts(self, number: int, rows: Any) -> Any:
        """Return the numbers of keys below the probes of a round: for each boundary, 2^bits + 1 counts.

        number: the number of the round.  rows: the counts of the previous round, shape (ranks, counts), or None in the
        first round.
        """

    @abstractmethod
    def ends(self, rows: Any, meanwhile: Callable[[], None]) -> NDArray[np.int64]:
        """Return two counts of each rank for each boundary, shape (ranks, 2, boundaries).

        The first count is of the keys less than the boundary's key, the second of the keys less than or equal to it.

        rows: the counts of the last round.  meanwhile: enqueues work for which the host does not wait.
        """


class HostSearch(Search):
    """A search on the host; the function `counts` of its `Local` returns the number of keys below each probe."""

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
        beyond = probes <= self._starts[:, None]  # a probe that wrapped around 64 bits: all keys are below it
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
        """Return the digit of each boundary after a round, and counts of shape (ranks, boundaries, 2^bits + 1)."""
        counts = rows.reshape(len(rows), len(self.places), -1)
        totals = counts[:, :, 1:-1].sum(axis=0)
        return (totals < np.array(self.places, np.int64)[:, None]).sum(axis=1), counts
