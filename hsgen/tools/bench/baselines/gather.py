"""Baselines that gather items by index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines.baseline import Run


def numpy(engine: Engine, work: Load) -> Run:
    """Return a run of numpy's `take`, which gathers rows by index on one thread."""
    assert work.values is not None
    width = work.values.shape[1]
    table, index = work.values.reshape(work.how.segment_count, -1), work.keys.astype(np.intp)
    output: dict[str, Any] = {"items": np.empty((len(index), table.shape[1]), np.uint32)}

    def run() -> None:
        np.take(table, index, axis=0, out=output["items"], mode="clip")

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=run,
        result=lambda: work.expected,
        values=lambda: output["items"].reshape(-1, width),
        version=np.__version__,
    )


GATHERING: Mapping[str, Callable[[Engine, Load], Run]] = {"numpy": numpy}
"""Baselines that gather items of any size."""

ALL = list(GATHERING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that gather items of any size."""
    return list(GATHERING)


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    return GATHERING[name](engine, work)
