"""Baselines of a library that is compiled into the engine's library, for operations other than plain sorts."""

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
    count: int | None = None,
) -> Run:
    """Return a run of the engine's library that writes `n` keys, or rows of `columns` elements, and values.

    With `count`, the result has only `count` keys.  `parts` is the number that the call receives.  An untimed copy of
    the keys precedes each call.  An untimed merge precedes each merge instead, because the copy covers one array only.
    """
    words = 0 if values is None else values.shape[1]

    def read(slot: int, shape: tuple[int, ...], dtype: Any) -> Any:
        out = np.empty(shape, dtype)
        engine.read(slot, out)
        return out

    sort, device = timed(lambda: engine.baseline(name, keys.dtype.itemsize, n, 4 * words, parts))
    return Run(
        name=name,
        prepare=sort if merges else lambda: copied(engine, n * (columns * keys.dtype.itemsize + 4 * words)),
        sort=sort,
        device=device,
        result=lambda: read(KEYS_OUT, (n * columns if count is None else count,), keys.dtype),
        values=None if values is None else lambda: read(VALUES_OUT, (n, words), np.uint32),
        stable=not merges,
    )
