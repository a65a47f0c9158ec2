"""A library that is compiled into the engine's own, as a baseline of what is not a plain sort."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.engines.engine import KEYS_OUT, VALUES_OUT, Engine
from hsgen.tools.bench.baselines.baseline import Run, copied, timed

Words = NDArray[Any]


def library(
    name: str,
    engine: Engine,
    keys: Any,
    values: Words | None,
    n: int,
    parts: int,
    *,
    merges: bool = False,
    columns: int = 1,
    taken: int | None = None,
) -> Run:
    """A baseline of the engine's library that makes `n` keys, or rows of `columns`, and values, in the buffers of
    results; only `taken` of them if that is given.

    Before it is timed keys are copied, or merged once: a copy is of one of two arrays.
    """
    words = 0 if values is None else values.shape[1]

    def read(slot: int, shape: tuple[int, ...], dtype: Any) -> Any:
        found = np.empty(shape, dtype)
        engine.read(slot, found)
        return found

    sort, device = timed(lambda: engine.baseline(name, keys.dtype.itemsize, n, 4 * words, parts))
    return Run(
        name=name,
        prepare=sort if merges else lambda: copied(engine, n * (columns * keys.dtype.itemsize + 4 * words)),
        sort=sort,
        device=device,
        result=lambda: read(KEYS_OUT, (n * columns if taken is None else taken,), keys.dtype),
        values=None if values is None else lambda: read(VALUES_OUT, (n, words), np.uint32),
        stable=not merges,
    )
