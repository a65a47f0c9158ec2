"""The *baselines* of benchmarks: other libraries, which are timed in the same run as hsgen's sorts.

Each operation with baselines has a module here, with the name of the operation's own module.  The module's function
`names` returns the baselines that support a sort, and its function `start` sets up a baseline.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations import EVERY, of
from hsgen.operations.base import Operation
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines.baseline import Baseline, Halves, MergingPeer, Run, SegmentedPeer, Segments, ValuedPeer
from hsgen.tools.bench.baselines.merge import MERGING
from hsgen.tools.bench.baselines.segmented_sort import SEGMENTED
from hsgen.tools.bench.baselines.sort import BASELINES, VALUED

ANY_WIDTH = ("numpy", "numpy-quick")
"""The baselines that support keys of any width; all others support only keys of 4 and 8 bytes."""


def _module(operation: Operation) -> Any:
    """Return the module of an operation's baselines; None if the operation has no baseline."""
    name = f"{__name__}.{operation.module}"
    return importlib.import_module(name) if find_spec(name) else None


KNOWN = list(dict.fromkeys([*BASELINES, *(x for o in EVERY.values() if (m := _module(o)) for x in m.ALL)]))
"""The names of all baselines of all operations."""


def able(sort: Sort) -> list[str]:
    """Return the names of the baselines that support a sort's operation, keys and values."""
    module = _module(of(sort))
    names = [] if module is None else module.names(sort)
    return [name for name in names if sort.key.bytes >= 4 or name in ANY_WIDTH]


def start(name: str, engine: Engine, work: Load) -> Run:
    """Set up the baseline `name` for the input `work` of the engine's sort; return its run."""
    run: Run = _module(of(engine.sort)).start(name, engine, work)
    return run


__all__ = [
    "ANY_WIDTH",
    "BASELINES",
    "KNOWN",
    "MERGING",
    "SEGMENTED",
    "VALUED",
    "Baseline",
    "Halves",
    "MergingPeer",
    "Run",
    "SegmentedPeer",
    "Segments",
    "ValuedPeer",
    "able",
    "start",
]
