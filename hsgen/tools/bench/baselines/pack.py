"""Baselines that pack two columns into keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hsgen.core.sort import Sort
from hsgen.engines.engine import Engine
from hsgen.operations.calls import Load
from hsgen.tools.bench.baselines.baseline import Run


def numpy(engine: Engine, work: Load) -> Run:
    """Return a run of numpy on one thread, which packs keys by xor, shift and or.

    The high bits of a key are a signed column, transformed for descending order.  The low bits are the other column.
    """
    assert work.other is not None
    high, low, kind = work.keys, work.other[: len(work.keys)], work.expected.dtype
    bits, output = kind.type(4 * kind.itemsize), {"keys": np.empty_like(work.expected)}
    flip = high.dtype.type((1 << 8 * high.itemsize - 1) - 1)  # flips all bits for the order, and the sign bit back

    def run() -> None:
        ordered: Any = (high ^ flip).astype(kind)
        output["keys"] = ordered << bits | low

    return Run(
        name="numpy",
        prepare=lambda: None,
        sort=run,
        result=lambda: output["keys"],
        version=np.__version__,
    )


PACKING: Mapping[str, Callable[[Engine, Load], Run]] = {"numpy": numpy}
"""Baselines that pack two columns."""

ALL = list(PACKING)


def names(sort: Sort) -> list[str]:
    """Return the baselines that pack columns."""
    return list(PACKING)


def start(name: str, engine: Engine, work: Load) -> Run:
    """Start a baseline."""
    return PACKING[name](engine, work)
