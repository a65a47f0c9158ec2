"""What a rank does with its own arrays: sorts, counts below probes, merges and reductions of one key type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.keys import KEYS, TYPES

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


class Local(ABC):
    """The work of one rank on arrays of one library, for one key type and order.

    Ordered keys are unsigned numbers in the order of the sort: the key transform of docs/reference/semantics.md.
    """

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
    def below(self, run: Run, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the number of keys whose ordered key is less than each probe."""

    @abstractmethod
    def ends(self, run: Run) -> tuple[int, int]:
        """Return the first and the last ordered key; without keys, the greatest and 0."""

    @abstractmethod
    def room(self, like: Run, n: int) -> Run:
        """Return a run of `n` keys with arrays of the types of `like`, without contents."""

    @abstractmethod
    def merge(self, run: Run, counts: Sequence[int], spare: Run | None = None) -> Run:
        """Return consecutive runs of `counts` keys as one run; equal keys keep their order.

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
