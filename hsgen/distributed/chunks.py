"""The tasks by which a scheduler such as Dask (`hsgen.dask`) or Ray (docs/guides/ray.md) sorts a distributed array.

Workers hold the chunks of the array.  The scheduler runs the methods of `Chunks` as tasks on the workers, and moves
pieces of chunks between workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.distributed import splitters
from hsgen.distributed.backend import named
from hsgen.distributed.local import Run
from hsgen.distributed.numpy_local import NumpyLocal

_PROBES = 1024  # probes in a round of the search for cuts, for all boundaries together
OnEach = Callable[..., Sequence[Any]]
"""A function of the scheduler, called as `on_each(method, *arguments)`: it runs `method(run, *arguments)` for the `Run`
of each sorted chunk.

The function returns the results in the order of chunks.
"""


class Chunks:
    """The tasks that sort an array of one dimension, which is stored in chunks.

    Call `sort` for each chunk, then `cuts` once.  For each part of the result, call `piece` for each chunk, then
    `merge`.  The methods pass sorted keys as a `Run`.  A `Run` has *ordered keys*: unsigned numbers, whose numerical
    order is the order of the sort.  The method `keys` converts them back.  Sorts are stable; NaNs are equal and
    greatest.  A `Chunks` object is small, because every task receives a copy.

    Args:
        dtype: the numpy type of the keys.
        sizes: the number of keys of each chunk; the parts of the result have the same sizes.
        device: the device of each worker, as in `hsgen.sort`; "" is its default device, None numpy.

    Raises:
        TypeError: no kernel sorts such keys.
    """

    def __init__(
        self, dtype: Any, sizes: Sequence[int], *, descending: bool = False, device: str | None = None
    ) -> None:
        self.dtype, self.sizes = np.dtype(dtype), [int(size) for size in sizes]
        key = named(self.dtype.name if self.dtype.isnative else self.dtype.str)
        self._local = NumpyLocal(key, descending=bool(descending), device=device)
        self._firsts = [0, *splitters.places(self.sizes)] if self.sizes else []

    def sort(self, keys: Any) -> Run:
        """Return the sorted keys of a chunk as a `Run`."""
        return self._local.sort(keys, None)

    def sort_index(self, keys: Any, chunk: int) -> Run:
        """Return the sorted keys of chunk number `chunk` as a `Run`, with their indices in the whole array."""
        return self._local.sort_index(keys, self._firsts[chunk], 0, overwrite=False)

    def first(self, keys: Any, chunk: int, k: int) -> Run:
        """Return the first `k` sorted keys of chunk number `chunk` as a `Run`, with indices in the whole array."""
        return self._local.first(keys, min(k, self.sizes[chunk]), self._firsts[chunk])

    def cuts(self, on_each: OnEach) -> NDArray[np.int64]:
        """Return the indices at which each sorted chunk is cut into pieces, shape (chunks, parts + 1).

        Piece p of chunk c begins at index [c, p] and ends before [c, p + 1].  The search has three to seven rounds.  In
        each, `on_each` lets workers count how many keys of each chunk are less than some probes.
        """
        if not self.sizes:
            return np.zeros((0, 1), np.int64)
        ends = on_each(self.ends)
        least, greatest = min(x for x, _ in ends), max(x for _, x in ends)
        return splitters.cuts(_Counts(self, on_each), self.sizes, self.sizes, least, greatest, _PROBES)

    def ends(self, run: Run) -> tuple[int, int]:
        """Return the first and the last ordered key of a sorted chunk."""
        return self._local.ends(run)

    def below(self, run: Run, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return for each of `probes`, which are ordered keys, how many keys of a sorted chunk are less."""
        return self._local.below(run, probes)

    def piece(self, run: Run, begin: int, end: int) -> Run:
        """Return a copy of the keys `begin` to `end` of a sorted chunk; the chunk itself can then be freed."""
        part = self._local.part(run, begin, end)
        return Run(part.keys.copy(), tuple(x.copy() for x in part.columns))

    def merge(self, *pieces: Run) -> Run:
        """Merge the pieces of a part, in the order of their chunks; return the part."""
        keys, *columns = (np.concatenate(x) for x in zip(*(p.arrays for p in pieces), strict=True))
        return self._local.merge(Run(keys, tuple(columns)), [(0, len(keys))])

    def head(self, run: Run, k: int) -> Run:
        """Return the first `k` keys of a run."""
        return self._local.part(run, 0, k)

    def keys(self, run: Run) -> NDArray[Any]:
        """Return the keys of a run as an array of the original element type."""
        keys: NDArray[Any] = self._local.restored(run.keys, self.dtype)
        return keys

    def indices(self, run: Run) -> NDArray[np.int64]:
        """Return the indices of the keys of a run in the whole array."""
        indices: NDArray[np.int64] = run.columns[0]
        return indices


@dataclass(frozen=True)
class _Counts:
    """Implements `hsgen.distributed.splitters.Counts`: workers count the keys of their sorted chunks."""

    chunks: Chunks
    on_each: OnEach

    def by_shard(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`."""
        return np.array(self.on_each(self.chunks.below, probes), np.int64).reshape(-1, len(probes))

    def total(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`."""
        sums: NDArray[np.int64] = self.by_shard(probes).sum(axis=0)
        return sums
