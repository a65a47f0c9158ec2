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


def numpy_segments(engine: Engine, segments: Segments) -> Run:
    """Return a run of numpy, which sorts the segments in place, one after another; rows of equal length in one call.

    With values, or if positions are requested, the run performs stable argsorts instead, and gathers keys and values.
    """
    keys, cuts = segments.keys, segments.offsets.tolist()
    rows = (len(cuts) - 1, -1)
    if segments.values is not None or segments.index:
        return _ordering(segments, rows)
    work = np.empty_like(keys)

    def sort() -> None:
        if segments.rows:
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


def _ordering(segments: Segments, rows: tuple[int, int]) -> Run:
    """Return a run of numpy's stable argsort of each segment."""
    keys, values = segments.keys, segments.values
    order = np.empty(len(keys), np.intp)
    output: dict[str, Any] = {}

    def sort() -> None:
        if segments.rows:
            begins = segments.offsets[:-1].reshape(-1, 1)
            np.add(np.argsort(keys.reshape(rows), axis=1, kind="stable"), begins, out=order.reshape(rows))
        else:
            for begin, end in pairwise(segments.offsets.tolist()):
                np.add(np.argsort(keys[begin:end], kind="stable"), begin, out=order[begin:end])
        if values is not None:
            output["keys"], output["values"] = keys[order], values[order]

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=sort,
        result=lambda: keys[order] if values is None else output["keys"],
        values=lambda: order.astype(np.uint32).reshape(-1, 1) if values is None else output["values"],
        version=np.__version__,
    )


def cub_segments(engine: Engine, segments: Segments) -> Run:
    """Return a run of CUB's `DeviceSegmentedSort`: `SortKeys`, or `StableSortPairs` with values.

    Temporary memory is preallocated.  The offsets are in device memory, even if all rows have equal length.

    Raises:
        Unavailable: the sort is an argsort.  The run's first call also raises it if the engine does not run on CUDA.
    """
    return _segments("cub", engine, segments)


def cub_radix_segments(engine: Engine, segments: Segments) -> Run:
    """Return a run of CUB's `DeviceSegmentedRadixSort`: `SortKeys`, or `SortPairs` with values; as `cub_segments`.

    Raises:
        Unavailable: see `cub_segments`.
    """
    return _segments("cub-radix", engine, segments)


def _segments(name: str, engine: Engine, segments: Segments) -> Run:
    if segments.index:
        raise Unavailable(f"baseline {name}: has no argsort; give values, or omit it")
    return library(name, engine, segments.keys, segments.values, len(segments.keys), len(segments.offsets) - 1)


SEGMENTED: Mapping[str, SegmentedPeer] = {"numpy": numpy_segments, "cub": cub_segments, "cub-radix": cub_radix_segments}
"""Baselines that sort segments."""

ALL = list(SEGMENTED)


def names(sort: Sort) -> list[str]:
    """Return the baselines that support a segmented sort, with its kinds of keys and values."""
    return list(SEGMENTED)


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    assert work.offsets is not None
    index, rows = engine.sort.signature.index, work.how.rows
    segments = Segments(keys=work.keys, values=work.values, offsets=work.offsets, rows=rows, index=index)
    return SEGMENTED[name](engine, segments)
