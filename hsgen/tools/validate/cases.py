"""The inputs of a validation: which counts and which kinds of keys.  Deterministic for a seed.

Keys of a sort, or the elements of the rows of a prefix sum.
"""

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


def _interleaved(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    keys = _sorted(rng, n, dtype)
    return np.concatenate([keys[::2], keys[1::2]])


MERGED: dict[str, Make] = {k: make for k, make in KINDS.items() if k != "organ pipe"} | {"interleaved": _interleaved}
"""Every kind of keys that are cut in two, each half then sorted: one before the other where they were in order."""


def _ones(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return rng.integers(0, 1, n, dtype, endpoint=True)


def _great(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return rng.integers(1 << 28, 1 << 30, n, dtype)


SUMMANDS: dict[str, Make] = {
    "random": _random(1),
    "all greatest": _greatest,
    "all equal": _equal,
    "2^28 to 2^30": _great,
    "zeros and ones": _ones,
}
"""Every kind of elements of a prefix sum: sums that wrap at once, later, and not at all."""


def around(values: Iterable[int], greatest: int) -> set[int]:
    """Return the values with their neighbours, within 0 to `greatest`."""
    return {v + d for v in values for d in (-1, 0, 1) if 0 <= v + d <= greatest}


def counts(edges: Iterable[int], block: int, greatest: int, wanted: int, rng: np.random.Generator) -> list[int]:
    """Return the edges +- 1, and counts up to 4 blocks + 1, odd and prime ones included, until those are `wanted`.

    Beyond 4 blocks come three random counts in each doubling up to `greatest`.
    """
    top = min(4 * block + 1, greatest)
    found = around(edges, greatest)
    found.update(p for p in (2, 3, 5, 7, 11, 13, 127, 251, 509, 1021, 2039, 4093, 8191, 16381) if p <= top)
    for j in range(2, greatest.bit_length()):
        low, high = block << j, min(block << (j + 1), greatest)
        found.update(int(v) for v in (rng.integers(low, high + 1, 3) if low < high else ()))
    pool = rng.permutation(np.setdiff1d(np.arange(top + 1), np.fromiter(found, np.int64)))
    found.update(int(v) for v in pool[: max(0, wanted - sum(n <= top for n in found))])
    return sorted(found)
