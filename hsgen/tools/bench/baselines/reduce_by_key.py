"""Baselines that reduce by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hsgen.core.sort import Sort
from hsgen.engines.engine import REPORT, VALUES_OUT, Engine
from hsgen.operations.calls import Load
from hsgen.operations.reduce_by_key import starts
from hsgen.tools.bench.baselines.baseline import Run
from hsgen.tools.bench.baselines.library import library

_WHOLE = 4  # least size of keys, in bytes, for which the harness compiles CUB


def by_numpy(reduction: Callable[[Load], tuple[Any, Any]], work: Load) -> Run:
    """Return a run of `reduction`, a function that uses numpy.

    `reduction` returns the keys of all groups, and the reduced value of each group, both of shape (groups,).
    """
    groups: list[Any] = []

    def run() -> None:
        groups[:] = reduction(work)

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=run,
        result=lambda: groups[0],
        values=lambda: groups[1].reshape(-1, 1),
        report=lambda: np.array([len(groups[0])], np.uint32),
        version=np.__version__,
    )


def reduced(keys: Any, values: Any) -> tuple[Any, Any]:
    """Return the key of each run of equal keys, and the sum of its values; without values, the length of the run."""
    begins = starts(keys)
    if values is None:
        return keys[begins], np.diff(begins, append=len(keys)).astype(np.uint32)
    return keys[begins], np.add.reduceat(values, begins, dtype=np.uint32)


def numpy(engine: Engine, work: Load) -> Run:
    """Return a run of numpy's `add.reduceat` over runs of equal keys; without values, it computes their lengths."""
    values = None if work.values is None else work.values[:, 0]
    return by_numpy(lambda work: reduced(work.keys, values), work)


def cub(engine: Engine, work: Load) -> Run:
    """Return a run of CUB's `DeviceReduce::ReduceByKey`, or `DeviceRunLengthEncode::Encode` if there are no values.

    Temporary memory is preallocated.  For keys in any order, CUB's `DeviceRadixSort` runs first.

    Raises:
        Unavailable: the engine does not run on CUDA; the run's first call raises it.
    """
    runs = len(work.expected)
    base = library("cub", engine, work.keys, work.values, work.n, runs, count=runs)

    def read(slot: int, like: Any) -> Any:
        out = np.empty_like(like)
        engine.read(slot, out)
        return out

    return replace(
        base,
        values=lambda: read(VALUES_OUT, work.values_expected),
        report=lambda: read(REPORT, work.report),
    )


REDUCING: Mapping[str, Callable[[Engine, Load], Run]] = {"numpy": numpy, "cub": cub}
"""Baselines that reduce runs of keys."""

ALL = list(REDUCING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that reduce keys of a sort's width."""
    return [name for name in REDUCING if name != "cub" or sort.key.bytes >= _WHOLE]


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    return REDUCING[name](engine, work)
