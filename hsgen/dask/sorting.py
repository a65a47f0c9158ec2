"""Sorts of Dask arrays of one dimension: sort each chunk, find exact splitters, shuffle pieces, merge parts.

`hsgen.distributed.chunks` defines chunks, pieces and parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask
import dask.array
import numpy as np

from hsgen.core.errors import Usage, wrong_type
from hsgen.core.numbers import integer
from hsgen.distributed.chunks import Chunks


class Sorted(NamedTuple):
    """The result of a sort or selection: keys and their indices in the whole array, as Dask arrays."""

    keys: Any
    indices: Any


def sort(a: Any, *, descending: bool = False, device: str | None = None) -> Any:
    """Return a sorted Dask array with the chunk sizes of `a`, an array of one dimension or a data frame's column.

    The work starts at once.  The result stays on the workers, like the result of `a.persist()`.  NaNs are equal and
    greatest.

    Args:
        device: the device on which each worker sorts chunks, as in `hsgen.sort`; "" is its default, None is numpy.

    Raises:
        TypeError: `a` is not a Dask array or column, or no kernel sorts its elements.
        ValueError: `a` has several dimensions.
        hsgen.core.errors.Usage: the sizes of chunks are not known.
    """
    array = _Array(a, descending, device)
    parts, runs = array.parts(index=False)
    return _started(array.keys(parts, array.chunks.sizes), runs)


def argsort(a: Any, *, descending: bool = False, device: str | None = None) -> Any:
    """Return the indices (int64) that sort a Dask array stably; arguments and errors as in `sort`."""
    array = _Array(a, descending, device)
    parts, runs = array.parts(index=True)
    return _started(array.indices(parts, array.chunks.sizes), runs)


def topk(a: Any, k: int, *, largest: bool = True, device: str | None = None) -> Sorted:
    """Return the k greatest keys (if `largest` is False, the least) in order, and their indices.

    Of equal keys, those with the least indices are selected, and come first.  The result is lazy: the work starts when
    Dask computes it.  Arguments and errors are otherwise those of `sort`.
    """
    array = _Array(a, largest, device)
    k = integer("k", k, 0, sum(array.chunks.sizes))
    select, merge = dask.delayed(array.chunks.first), dask.delayed(array.chunks.merge)
    best = dask.delayed(array.chunks.head)(merge(*(select(x, i, k) for i, x in enumerate(array.tasks))), k)
    return Sorted(array.keys([best], [k]), array.indices([best], [k]))


class _Array:
    """A Dask array; tasks: the tasks that return its chunks; chunks: the `Chunks` that sorts them."""

    def __init__(self, a: Any, descending: bool, device: str | None) -> None:
        a = a.to_dask_array(lengths=True) if hasattr(a, "to_dask_array") else a
        if not isinstance(a, dask.array.Array):
            raise wrong_type("a", "a Dask array, or a column of a Dask data frame", a)
        if a.ndim != 1:
            raise ValueError(f"a has the shape {a.shape}; give one dimension")
        if any(np.isnan(size) for size in a.chunks[0]):
            raise Usage("a has chunks of unknown size; call a.compute_chunk_sizes() first")
        self.chunks = Chunks(a.dtype, a.chunks[0], descending=descending, device=device)
        self.tasks = list(a.to_delayed())

    def parts(self, *, index: bool) -> tuple[list[Any], list[Any]]:
        """Return tasks that return the parts of the sorted array, and the sorted chunks, which workers hold."""
        sort, sort_index = dask.delayed(self.chunks.sort), dask.delayed(self.chunks.sort_index)
        runs = list(dask.persist(*(sort_index(x, i) if index else sort(x) for i, x in enumerate(self.tasks))))

        def on_each(method: Callable[..., Any], *arguments: Any) -> Sequence[Any]:
            results: Sequence[Any] = dask.compute(*(dask.delayed(method)(run, *arguments) for run in runs))
            return results

        at = self.chunks.cuts(on_each).tolist()
        piece, merge = dask.delayed(self.chunks.piece), dask.delayed(self.chunks.merge)
        parts = [
            merge(*(piece(run, row[i], row[i + 1]) for run, row in zip(runs, at, strict=True)))
            for i in range(len(self.chunks.sizes))
        ]
        return parts, runs

    def keys(self, parts: Sequence[Any], sizes: Sequence[int]) -> Any:
        """Return the keys of the parts as a Dask array; sizes: the number of keys in each part."""
        return _joined([dask.delayed(self.chunks.keys)(x) for x in parts], sizes, self.chunks.dtype)

    def indices(self, parts: Sequence[Any], sizes: Sequence[int]) -> Any:
        """Return the indices of the parts' keys in the whole array as a Dask array."""
        return _joined([dask.delayed(self.chunks.indices)(x) for x in parts], sizes, np.int64)


def _started(result: Any, runs: Sequence[Any]) -> Any:
    """Start the tasks of a Dask array on the workers; return the array.

    runs: the sorted chunks, which these tasks read.  The reference keeps them on the workers until the tasks are sent.
    """
    started = result.persist()
    del runs
    return started


def _joined(parts: Sequence[Any], sizes: Sequence[int], dtype: Any) -> Any:
    """Concatenate the arrays that tasks return to one Dask array; sizes: their lengths."""
    arrays = [dask.array.from_delayed(x, (size,), dtype) for x, size in zip(parts, sizes, strict=True)]
    return dask.array.concatenate(arrays)
