"""Baselines that sort segments, or merge two arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Unavailable
from hsgen.engines.engine import KEYS_OUT, VALUES_OUT, Engine
from hsgen.tools.bench.baselines.baseline import Halves, Run, Segments, copied, timed

Words = NDArray[Any]


def numpy_segments(engine: Engine, given: Segments) -> Run:
    """A loop of in-place sorts of slices, or one call for rows of equal length; with values or positions a loop of
    stable argsorts that gathers keys and values."""
    keys, cuts = given.keys, given.offsets.tolist()
    rows = (len(cuts) - 1, -1)
    if given.values is not None or given.index:
        return _ordering(given, rows)
    work = np.empty_like(keys)

    def sort() -> None:
        if given.rows:
            work.reshape(rows).sort(axis=1)
        else:
            for begin, end in pairwise(cuts):
                work[begin:end].sort()

    return Run(
        name="numpy",
        prepare=lambda: np.copyto(work, keys),
        sort=sort,
        result=lambda: work,
        version=np.__version__,
    )


def _ordering(given: Segments, rows: tuple[int, int]) -> Run:
    """numpy's stable argsort of each segment."""
    keys, values = given.keys, given.values
    order = np.empty(len(keys), np.intp)
    made: dict[str, Any] = {}

    def sort() -> None:
        if given.rows:
            begins = given.offsets[:-1].reshape(-1, 1)
            np.add(np.argsort(keys.reshape(rows), axis=1, kind="stable"), begins, out=order.reshape(rows))
        else:
            for begin, end in pairwise(given.offsets.tolist()):
                np.add(np.argsort(keys[begin:end], kind="stable"), begin, out=order[begin:end])
        if values is not None:
            made["keys"], made["values"] = keys[order], values[order]

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=sort,
        result=lambda: keys[order] if values is None else made["keys"],
        values=lambda: order.astype(np.uint32).reshape(-1, 1) if values is None else made["values"],
        version=np.__version__,
    )


def numpy_merge(engine: Engine, given: Halves) -> Run:
    """numpy's stable sort of the concatenated arrays, which detects the two runs; with values a stable argsort that
    gathers keys and values."""
    made: dict[str, Any] = {}

    def sort() -> None:
        both = np.concatenate(given.keys)
        if given.values is None:
            made["keys"] = np.sort(both, kind="stable")
        else:
            order = np.argsort(both, kind="stable")
            made["keys"], made["values"] = both[order], np.concatenate(given.values)[order]

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=sort,
        result=lambda: made["keys"],
        values=None if given.values is None else lambda: made["values"],
        version=np.__version__,
    )


def cub_segments(engine: Engine, given: Segments) -> Run:
    """CUB's `DeviceSegmentedSort`, `SortKeys` or `StableSortPairs`, with preallocated temporary memory; offsets are in
    device memory, for rows too.

    Raises:
        Unavailable: the sort is an argsort; from its first call, if it does not run on CUDA.
    """
    return _segments("cub", engine, given)


def cub_radix_segments(engine: Engine, given: Segments) -> Run:
    """CUB's `DeviceSegmentedRadixSort`, `SortKeys` or `SortPairs`, called as in `cub_segments`.

    Raises:
        Unavailable: see `cub_segments`.
    """
    return _segments("cub-radix", engine, given)


def _segments(name: str, engine: Engine, given: Segments) -> Run:
    if given.index:
        raise Unavailable(f"peer {name}: has no argsort; give values, or leave it out")
    return _cub(name, engine, given.keys, given.values, len(given.keys), len(given.offsets) - 1)


def cub_merge(engine: Engine, given: Halves) -> Run:
    """CUB's `DeviceMerge`, `MergeKeys` or `MergePairs`, with preallocated temporary memory; CUB does not guarantee
    stability.

    Raises:
        Unavailable: from the first merge, if it does not run on CUDA.
    """
    n = sum(len(k) for k in given.keys)
    values = None if given.values is None else given.values[0]
    return _cub("cub", engine, given.keys[0], values, n, len(given.keys[0]), merges=True)


def _cub(
    name: str, engine: Engine, keys: Any, values: Words | None, n: int, parts: int, *, merges: bool = False
) -> Run:
    """A baseline in the engine's library that writes `n` keys, and values, to the result buffers.

    Before timing, keys are copied, or for a merge merged once, since a copy covers only one of the two arrays.
    """
    words = 0 if values is None else values.shape[1]

    def read(slot: int, shape: tuple[int, ...], dtype: Any) -> Any:
        found = np.empty(shape, dtype)
        engine.read(slot, found)
        return found

    sort, device = timed(lambda: engine.peer(name, keys.dtype.itemsize, n, 4 * words, parts))
    return Run(
        name=name,
        prepare=sort if merges else lambda: copied(engine, n * (keys.dtype.itemsize + 4 * words)),
        sort=sort,
        device=device,
        result=lambda: read(KEYS_OUT, (n,), keys.dtype),
        values=None if values is None else lambda: read(VALUES_OUT, (n, words), np.uint32),
        stable=not merges,
    )
