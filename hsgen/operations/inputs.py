"""The input distributions of validations and benchmarks.  Deterministic for a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.unsignedinteger]
Make = Callable[[np.random.Generator, int, np.dtype[np.unsignedinteger]], Keys]


def _random(words: int) -> Make:
    """Keys of decreasing entropy: the AND of `words` random words (Thearling and Smith)."""

    def make(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
        keys: Keys = rng.integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)
        for _ in range(words - 1):
            keys &= rng.integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)
        return keys

    return make


def _equal(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return np.full(n, rng.integers(0, np.iinfo(dtype).max, None, dtype), dtype)


def _greatest(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return np.full(n, np.iinfo(dtype).max, dtype)


def _sorted(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    keys: Keys = np.arange(n, dtype=dtype) * dtype.type(np.iinfo(dtype).max // max(n, 1))
    return keys


def _reversed(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return np.ascontiguousarray(_sorted(rng, n, dtype)[::-1])


def _few(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    values: Keys = rng.integers(0, np.iinfo(dtype).max, 5, dtype, endpoint=True)
    values[0], values[1] = 0, np.iinfo(dtype).max
    return values[rng.integers(0, 5, n)]


def _pipe(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return np.minimum(_sorted(rng, n, dtype), _reversed(rng, n, dtype))


KINDS: dict[str, Make] = {
    "random": _random(1),
    "entropy 0.81": _random(2),
    "entropy 0.54": _random(3),
    "entropy 0.34": _random(4),
    "entropy 0.20": _random(5),
    "all equal": _equal,
    "all greatest": _greatest,
    "sorted": _sorted,
    "reversed": _reversed,
    "few distinct": _few,
    "organ pipe": _pipe,
}
"""The kinds of input by the names that reports of failures use."""
