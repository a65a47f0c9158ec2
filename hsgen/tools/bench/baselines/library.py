"""Baselines that are compiled into the engine's library, such as CUB, for operations other than plain sorts."""

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
    """Return a run of the baseline `name` in the engine's library.

    The baseline writes `n` keys, or `n` rows of `columns` elements, and values if there are any.  With `count`, it
    writes only `count` keys.  `parts` is a number whose meaning depends on the operation.  Before each timed call, an
    untimed copy of the keys fills the caches.  With `merges`, an untimed merge does so instead, because a copy would
    cover only one of the two input arrays.
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
