"""What reductions by key are compared with."""

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

_WHOLE = 4  # the least bytes of keys that the harness compiles CUB for


def by_numpy(made: Callable[[Load], tuple[Any, Any]], work: Load) -> Run:
    """The run of a function of numpy that returns the keys of groups, and what is stored of their values, both of shape
    (groups,)."""
    found: list[Any] = []

    def run() -> None:
        found[:] = made(work)

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=run,
        result=lambda: found[0],
        values=lambda: found[1].reshape(-1, 1),
        report=lambda: np.array([len(found[0])], np.uint32),
        version=np.__version__,
    )


def reduced(keys: Any, values: Any) -> tuple[Any, Any]:
    """Return the keys of runs, and the sums of their values; without values their lengths."""
    begins = starts(keys)
    if values is None:
        return keys[begins], np.diff(begins, append=len(keys)).astype(np.uint32)
    return keys[begins], np.add.reduceat(values, begins, dtype=np.uint32)


def numpy(engine: Engine, work: Load) -> Run:
    """numpy's `add.reduceat` of the runs that comparisons of neighbours find; without values their lengths."""
    values = None if work.values is None else work.values[:, 0]
    return by_numpy(lambda work: reduced(work.keys, values), work)


def cub(engine: Engine, work: Load) -> Run:
    """CUB's `DeviceReduce::ReduceByKey`, without values its `DeviceRunLengthEncode::Encode`; its memory is allocated
    beforehand.  Of keys in any order, after its `DeviceRadixSort`.

    Raises:
        Unavailable: from its first call, if it does not run on CUDA.
    """
    runs = len(work.expected)
    made = library("cub", engine, work.keys, work.values, work.n, runs, taken=runs)

    def read(slot: int, like: Any) -> Any:
        found = np.empty_like(like)
        engine.read(slot, found)
        return found

    return replace(
        made,
        values=lambda: read(VALUES_OUT, work.values_expected),
        report=lambda: read(REPORT, work.report),
    )


REDUCING: Mapping[str, Callable[[Engine, Load], Run]] = {"numpy": numpy, "cub": cub}
"""Those that reduce runs of keys."""

ALL = list(REDUCING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that reduce keys of the width of a sort's."""
    return [name for name in REDUCING if name != "cub" or sort.key.bytes >= _WHOLE]


def start(name: str, engine: Engine, work: Load) -> Run:
    """Set a baseline up."""
    return REDUCING[name](engine, work)
