"""Baselines that sort segments."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from hsgen.core.errors import Unavailable
from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines.baseline import Run, SegmentedPeer, Segments
from hsgen.tools.bench.baselines.library import library


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
        raise Unavailable(f"baseline {name}: has no argsort; give values, or omit it")
    return library(name, engine, given.keys, given.values, len(given.keys), len(given.offsets) - 1)


SEGMENTED: Mapping[str, SegmentedPeer] = {"numpy": numpy_segments, "cub": cub_segments, "cub-radix": cub_radix_segments}
"""Those that sort segments."""

ALL = list(SEGMENTED)


def names(sort: Sort) -> list[str]:
    """Return the baselines that do what a sort does with keys and values of its kinds."""
    return list(SEGMENTED)


def start(name: str, engine: Engine, work: Load) -> Run:
    """Set a baseline up."""
    assert work.offsets is not None
    index, rows = engine.sort.signature.index, work.how.rows
    given = Segments(keys=work.keys, values=work.values, offsets=work.offsets, rows=rows, index=index)
    return SEGMENTED[name](engine, given)
