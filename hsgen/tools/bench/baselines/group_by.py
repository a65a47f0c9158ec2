"""Baselines that group by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines import reduce_by_key
from hsgen.tools.bench.baselines.baseline import Run


def _grouped(work: Load) -> tuple[Any, Any]:
    if work.values is None:
        keys, counts = np.unique(work.keys, return_counts=True)
        return keys, counts.astype(np.uint32)
    order = np.argsort(work.keys, kind="stable")
    return reduce_by_key.reduced(work.keys[order], work.values[order, 0])


def numpy(engine: Engine, work: Load) -> Run:
    """Return a run of numpy: a stable `argsort`, then `add.reduceat`; without values, `unique` with counts."""
    return reduce_by_key.by_numpy(_grouped, work)


GROUPING: Mapping[str, Callable[[Engine, Load], Run]] = {"numpy": numpy, "cub": reduce_by_key.cub}
"""Baselines that reduce the values of equal keys; the keys are in any order."""

ALL = list(GROUPING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that group keys of a sort's width."""
    return reduce_by_key.names(sort)


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    return GROUPING[name](engine, work)
