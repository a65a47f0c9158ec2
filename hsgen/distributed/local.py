"""What a rank does with its own arrays: sorts, counts below probes, merges and reductions of one key type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.keys import KEYS, TYPES
from hsgen.distributed.communicator import Span

_LEAST = 4  # least number of bits of a round

REDUCTIONS = ("sum", "min", "max")
"""The reductions of values by key."""


@dataclass(frozen=True, slots=True)
class Run:
    """Keys in order on one rank, and columns whose items belong to the keys.

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


def digits(bits: int, boundaries: int, probes: int) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the shift of each digit of ordered keys, highest first, and all values of the digit but 0, shifted.

    There are at most `probes` values for all boundaries together, unless boundaries are many.
    """
    most = max((probes // boundaries).bit_length() - 1, _LEAST)
    rounds = -(-bits // most)
    ends = [bits * i // rounds for i in range(rounds + 1)]

    def values(low: int, high: int) -> NDArray[np.int64]:
        return (np.arange(1, 1 << (high - low), dtype=np.uint64) << np.uint64(low)).view(np.int64)

    return [(low, values(low, high)) for low, high in reversed(list(pairwise(ends)))]


class Local(ABC):
    """The work of one rank on arrays of one library, for one key type and order.

    Ordered keys are unsigned numbers in the order of the sort: the key transform of docs/reference/semantics.md.
    probes: the greatest number of probes of a round, for all boundaries together.
    """

    probes = 1 << 12

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

        zeros: -0 becomes 0 also without values.  overwrite: the result may be in the memory of the arguments.
        """

    @abstractmethod
    def sort_index(self, keys: Any, first: int, total: int, *, overwrite: bool) -> Run:
        """Return the keys of this rank in order, with their global indices as the only column.

        first: the global index of the first key.  total: the number of keys of all ranks, which selects the width.
        """

    @abstractmethod
    def first(self, keys: Any, k: int, first: int) -> Run:
        """Return the first `k` keys of the order, with their global indices of 64 bits."""

    @abstractmethod
    def words(self, x: NDArray[np.int64]) -> Any:
        """Return 64-bit numbers as an array on the device of the keys."""

    def ladders(self, boundaries: int) -> list[tuple[int, Any]]:
        """Return what `digits` returns, with arrays on the device of the keys."""
        return [(shift, self.words(values)) for shift, values in digits(self.bits, boundaries, self.probes)]

    @abstractmethod
    def counts(self, run: Run, probes: Any) -> Any:
        """Return the number of keys whose ordered key is less than each probe, as words.

        probes: words whose bits are unsigned numbers.
        """

    @abstractmethod
    def room(self, like: Run, n: int) -> Run:
        """Return a run of `n` keys with arrays of the types of `like`, without contents."""

    @abstractmethod
    def merge(self, run: Run, spans: Sequence[Span], spare: Run | None = None) -> Run:
        """Return the keys of spans of `run`, each in order, as one run; equal keys keep their order.

        The result may be in the memory of `run` or of `spare`.
        """

    @abstractmethod
    def groups(self, run: Run) -> Run:
        """Return the distinct keys, with the number of equal keys as a column, and the first index of each as another.

        Both columns have 64 bits.
        """

    @abstractmethod
    def reduce(self, values: Any, starts: Any, counts: Any, reduction: str) -> Any:
        """Return the reduction of consecutive values: `counts` values from each of `starts`."""

    @abstractmethod
    def part(self, run: Run, begin: int, end: int) -> Run:
        """Return a part of a run, without a copy."""

    @abstractmethod
    def repeated(self, run: Run, times: int) -> Run:
        """Return a run `times` times, one after another."""
