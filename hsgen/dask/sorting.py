"""Sorts of Dask arrays of one dimension: sort chunks, find exact splitters, shuffle pieces, merge parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import dask.array
import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Usage, wrong_type
from hsgen.core.numbers import integer
from hsgen.dask import tasks
from hsgen.distributed import splitters
from hsgen.distributed.backend import named
from hsgen.distributed.numpy_local import NumpyLocal

_PROBES = 1024  # of a round, for all boundaries together


class Sorted(NamedTuple):
    """Keys and their global indices, as Dask arrays."""

    keys: Any
    indices: Any


def sort(a: Any, *, descending: bool = False, device: str | None = None) -> Any:
    """Return a sorted Dask array of the chunk sizes of `a`, an array of one dimension or a column of a data frame.

    The work starts at once.  The result stays on the workers, as that of `a.persist()`.  NaNs are equal and greatest.

    Args:
        device: the device of each worker that sorts chunks, as of `hsgen.sort`; "" is its default device, None numpy.

    Raises:
        TypeError: `a` is not a Dask array or column, or no kernel sorts its elements.
        ValueError: `a` has several dimensions.
        hsgen.core.errors.Usage: the sizes of chunks are not known.
    """
    chunks = _Chunks(a, descending, device)
    parts, runs = chunks.parts(index=False)
    return _started(chunks.array(parts, chunks.sizes), runs)


def argsort(a: Any, *, descending: bool = False, device: str | None = None) -> Any:
    """Return the indices (int64) that sort a Dask array stably; arguments and errors are those of `sort`."""
    chunks = _Chunks(a, descending, device)
    parts, runs = chunks.parts(index=True)
    return _started(_joined([dask.delayed(tasks.index_of)(x) for x in parts], chunks.sizes, np.int64), runs)


def topk(a: Any, k: int, *, largest: bool = True, device: str | None = None) -> Sorted:
    """Return the first `k` keys in order and their indices; of equal keys, those with the least indices.

    The result is lazy.  Arguments and errors are those of `sort`.
    """
    chunks = _Chunks(a, largest, device)
    k = integer("k", k, 0, sum(chunks.sizes))
    select = dask.delayed(tasks.first_of_chunk)
    runs = [
        select(x, chunks.local, min(k, size), first)
        for x, size, first in zip(chunks.chunks, chunks.sizes, chunks.firsts, strict=True)
    ]
    best = dask.delayed(tasks.head)(dask.delayed(tasks.merged)(runs, chunks.local), k)
    return Sorted(chunks.array([best], [k]), _joined([dask.delayed(tasks.index_of)(best)], [k], np.int64))


class _Chunks:
    """The chunks of a Dask array, and the work on them."""

    def __init__(self, a: Any, descending: bool, device: str | None) -> None:
        a = a.to_dask_array(lengths=True) if hasattr(a, "to_dask_array") else a
        if not isinstance(a, dask.array.Array):
            raise wrong_type("a", "a Dask array, or a column of a Dask data frame", a)
        if a.ndim != 1:
            raise ValueError(f"a has the shape {a.shape}; give one dimension")
        if any(np.isnan(size) for size in a.chunks[0]):
            raise Usage("a has chunks of unknown size; call a.compute_chunk_sizes() first")
        key = named(a.dtype.name if a.dtype.isnative else a.dtype.str)
        self.local = NumpyLocal(key, descending=bool(descending), device=device)
        self.dtype, self.sizes = a.dtype, [int(size) for size in a.chunks[0]]
        self.firsts = [0, *splitters.places(self.sizes)] if self.sizes else []
        self.chunks = list(a.to_delayed())

    def parts(self, *, index: bool) -> tuple[list[Any], list[Any]]:
        """Return the parts of the sorted array as tasks, and the sorted chunks, which workers hold."""
        sort_chunk = dask.delayed(tasks.sorted_chunk)
        runs = [sort_chunk(x, self.local, f if index else None) for x, f in zip(self.chunks, self.firsts, strict=True)]
        runs = list(dask.persist(*runs))
        counts = _TaskCounts(runs, self.local)
        ends = dask.compute(*(dask.delayed(tasks.ends)(x, self.local) for x in runs))
        least, greatest = min(x[0] for x in ends), max(x[1] for x in ends)
        at = splitters.cuts(counts, self.sizes, self.sizes, least, greatest, _PROBES)
        piece, merge = dask.delayed(tasks.piece), dask.delayed(tasks.merged)
        parts = [
            merge(
                [piece(x, self.local, int(row[i]), int(row[i + 1])) for x, row in zip(runs, at, strict=True)],
                self.local,
            )
            for i in range(len(self.sizes))
        ]
        return parts, runs

    def array(self, parts: Sequence[Any], sizes: Sequence[int]) -> Any:
        """Return the keys of parts as a Dask array."""
        return _joined([dask.delayed(tasks.keys_of)(x, self.local, self.dtype) for x in parts], sizes, self.dtype)


class _TaskCounts:
    """The counts of sorted chunks on workers: see `hsgen.distributed.splitters.Counts`."""

    def __init__(self, runs: Sequence[Any], local: NumpyLocal) -> None:
        self._runs, self._local = runs, local

    def by_shard(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`."""
        count = dask.delayed(tasks.below)
        rows = dask.compute(*(count(x, self._local, probes) for x in self._runs))
        return np.array(rows, np.int64).reshape(len(self._runs), len(probes))

    def total(self, probes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """See `Counts`."""
        sums: NDArray[np.int64] = self.by_shard(probes).sum(axis=0)
        return sums


def _started(result: Any, runs: Sequence[Any]) -> Any:
    """Return a Dask array whose tasks have been sent to workers, which hold `runs` until then."""
    started = result.persist()
    del runs
    return started


def _joined(parts: Sequence[Any], sizes: Sequence[int], dtype: Any) -> Any:
    """Return the arrays of tasks as one Dask array."""
    arrays = [dask.array.from_delayed(x, (size,), dtype) for x, size in zip(parts, sizes, strict=True)]
    return dask.array.concatenate(arrays)
