"""The inputs of a validation: which counts and which kinds of keys.  Deterministic for a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.unsignedinteger]
Make = Callable[[np.random.Generator, int, np.dtype[np.unsignedinteger]], Keys]


def _random(words: int) -> Make:
    """Uniform keys of lower and lower entropy: the AND of `words` random words (Thearling and Smith)."""

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
"""Every kind of input, by the name that failures are reported under."""


def around(values: Iterable[int], greatest: int) -> set[int]:
    """Return the values with their neighbours, within 0 to `greatest`."""
    return {v + d for v in values for d in (-1, 0, 1) if 0 <= v + d <= greatest}


def boundaries(slab: int, block: int, greatest: int) -> list[int]:
    """Return the counts at which a sort changes its way, up to `greatest`: slabs, blocks, merge levels, +- 1."""
    slabs = range(0, min(4 * block, greatest) + 1, slab)
    levels = [block << j for j in range(greatest.bit_length()) if block << j <= greatest]
    between = [3 * v // 2 for v in levels] + [v + block for v in levels]
    return sorted(around([0, 1, *slabs, *levels, *between, greatest], greatest))


def counts(slab: int, block: int, greatest: int, wanted: int, rng: np.random.Generator) -> list[int]:
    """Return about `wanted` counts: all boundaries, then counts up to 4 blocks + 1, odd and prime ones included.

    Counts beyond 4 blocks are the merge levels up to `greatest`, and a few random ones.
    """
    top = min(4 * block + 1, greatest)
    found = set(boundaries(slab, block, greatest))
    found.update(p for p in (2, 3, 5, 7, 11, 13, 127, 251, 509, 1021, 2039, 4093, 8191, 16381) if p <= top)
    found.update(int(v) for v in rng.integers(top, greatest + 1, 8))
    pool = rng.permutation(np.setdiff1d(np.arange(top + 1), np.fromiter(found, np.int64)))
    found.update(int(v) for v in pool[: max(0, wanted - len(found))])
    return sorted(found)
