"""Baselines that merge two arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines.baseline import Halves, MergingPeer, Run
from hsgen.tools.bench.baselines.library import library


def numpy_merge(engine: Engine, halves: Halves) -> Run:
    """Return a run of numpy's stable sort of both arrays, concatenated; numpy's method exploits that both are sorted.

    With values, the run performs a stable argsort, then gathers keys and values in its order.
    """
    output: dict[str, Any] = {}

    def sort() -> None:
        both = np.concatenate(halves.keys)
        if halves.values is None:
            output["keys"] = np.sort(both, kind="stable")
        else:
            order = np.argsort(both, kind="stable")
            output["keys"], output["values"] = both[order], np.concatenate(halves.values)[order]

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=sort,
        result=lambda: output["keys"],
        values=None if halves.values is None else lambda: output["values"],
        version=np.__version__,
    )


def cub_merge(engine: Engine, halves: Halves) -> Run:
    """Return a run of CUB's `DeviceMerge`, `MergeKeys` or `MergePairs`, with preallocated temporary memory.

    CUB does not guarantee a stable merge.

    Raises:
        Unavailable: the engine does not run on CUDA; the run's first call raises it.
    """
    n = sum(len(k) for k in halves.keys)
    values = None if halves.values is None else halves.values[0]
    return library("cub", engine, halves.keys[0], values, n, len(halves.keys[0]), merges=True)


MERGING: Mapping[str, MergingPeer] = {"numpy": numpy_merge, "cub": cub_merge}
"""Baselines that merge two arrays."""

ALL = list(MERGING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that support a merge, with its kinds of keys and values."""
    return list(MERGING)


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    assert work.other is not None
    of_both = None if work.values is None or work.other_values is None else (work.values, work.other_values)
    return MERGING[name](engine, Halves(keys=(work.keys, work.other), values=of_both))
