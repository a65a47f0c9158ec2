"""Baselines that compute prefix sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines.baseline import Run
from hsgen.tools.bench.baselines.library import library

EXCLUSIVE = 1 << 8
"""A flag for exclusive sums.  CUB's wrapper in the engine's library receives flag + number of columns."""
_CUB_COLUMNS = 4  # greatest number of columns for which the harness compiles CUB's scan


def _exclusive(sort: Sort) -> bool:
    return bool(getattr(sort.parts[0].params, "exclusive", False))


def numpy(engine: Engine, work: Load) -> Run:
    """Return a run of numpy's `cumsum`, of each column separately."""
    sort = engine.sort
    rows = work.keys.reshape(-1, sort.columns)
    out, first = np.zeros_like(rows), int(_exclusive(sort))
    output: dict[str, Any] = {}

    def run() -> None:
        np.cumsum(rows[: len(rows) - first], axis=0, dtype=rows.dtype, out=out[first:])
        output["sums"] = out.reshape(-1)

    return Run(
        name="numpy", prepare=lambda: None, sort=run, result=lambda: np.array(output["sums"]), version=np.__version__
    )


def cub(engine: Engine, work: Load) -> Run:
    """Return a run of CUB's `DeviceScan` on structures with one member for each column.

    Temporary memory is preallocated.

    Raises:
        Unavailable: the engine does not run on CUDA; the run's first call raises it.
    """
    sort = engine.sort
    number = sort.columns + EXCLUSIVE * _exclusive(sort)
    return library("cub", engine, work.keys, None, work.n, number, columns=sort.columns)


SCANNING: Mapping[str, Callable[[Engine, Load], Run]] = {"numpy": numpy, "cub": cub}
"""Baselines that compute prefix sums of columns of unsigned elements."""

ALL = list(SCANNING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that compute the sums of a scan."""
    return [name for name in SCANNING if name != "cub" or sort.columns <= _CUB_COLUMNS]


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    return SCANNING[name](engine, work)
