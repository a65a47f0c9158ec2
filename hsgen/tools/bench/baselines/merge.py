"""What merges of two arrays are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines.baseline import Halves, MergingPeer, Run
from hsgen.tools.bench.baselines.library import library


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


def cub_merge(engine: Engine, given: Halves) -> Run:
    """CUB's `DeviceMerge`, `MergeKeys` or `MergePairs`, its memory allocated beforehand; CUB does not promise that it
    is stable.

    Raises:
        Unavailable: when it first merges, that it does not run on CUDA.
    """
    n = sum(len(k) for k in given.keys)
    values = None if given.values is None else given.values[0]
    return library("cub", engine, given.keys[0], values, n, len(given.keys[0]), merges=True)


MERGING: Mapping[str, MergingPeer] = {"numpy": numpy_merge, "cub": cub_merge}
"""Those that merge two arrays."""

ALL = list(MERGING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that do what a merge does with keys and values of its kinds."""
    return list(MERGING)


def start(name: str, engine: Engine, work: Load) -> Run:
    """Set a baseline up."""
    assert work.other is not None
    of_both = None if work.values is None or work.other_values is None else (work.values, work.other_values)
    return MERGING[name](engine, Halves(keys=(work.keys, work.other), values=of_both))
