"""Peers that sort segments, or merge two arrays."""

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
    """A loop that sorts slices where they lie, rows of equal length by one call; with values or places a loop of
    stable argsorts, and keys and values taken in that order."""
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
    """numpy's stable sort of both arrays one behind the other, which finds the two runs; with values a stable argsort,
    and keys and values taken in that order."""
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
    """CUB's `DeviceSegmentedSort`, `SortKeys` or `StableSortPairs`, its memory allocated beforehand; offsets lie on the
    device, of rows as well.

    Raises:
        Unavailable: it is an argsort; when it first sorts, that it does not run on CUDA.
    """
    return _segments("cub", engine, given)


def cub_radix_segments(engine: Engine, given: Segments) -> Run:
    """CUB's `DeviceSegmentedRadixSort`, `SortKeys` or `SortPairs`, called as `cub_segments` is.

    Raises:
        Unavailable: see there.
    """
    return _segments("cub-radix", engine, given)


def _segments(name: str, engine: Engine, given: Segments) -> Run:
    if given.index:
        raise Unavailable(f"peer {name}: has no argsort; give values, or leave it out")
    return _cub(name, engine, given.keys, given.values, len(given.keys), len(given.offsets) - 1)


def cub_merge(engine: Engine, given: Halves) -> Run:
    """CUB's `DeviceMerge`, `MergeKeys` or `MergePairs`, its memory allocated beforehand; CUB does not promise that it
    is stable.

    Raises:
        Unavailable: when it first merges, that it does not run on CUDA.
    """
    n = sum(len(k) for k in given.keys)
    values = None if given.values is None else given.values[0]
    return _cub("cub", engine, given.keys[0], values, n, len(given.keys[0]), merges=True)


def _cub(
    name: str, engine: Engine, keys: Any, values: Words | None, n: int, parts: int, *, merges: bool = False
) -> Run:
    """A peer of the engine's library that makes `n` keys, and values, in the buffers of results.

    Before it is timed keys are copied, or merged once: a copy is of one of two arrays.
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
