"""The distributions of input keys for validations and benchmarks.

Each function makes n keys.  The keys depend only on the random generator that it receives, and so on a seed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.unsignedinteger]
Make = Callable[[np.random.Generator, int, np.dtype[np.unsignedinteger]], Keys]


def _random(words: int) -> Make:
    """Return a function that makes keys of reduced entropy (Thearling and Smith).

    Each key is the bitwise AND of `words` random numbers.
    """

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


def _floats(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Return normally distributed floats, mapped to unsigned integers in the floats' total order.

    The floats have the size of the keys.  8-bit keys are the upper halves of 16-bit keys.
    """
    size = max(dtype.itemsize, 2)
    bits = rng.standard_normal(n).astype(f"f{size}").view(f"u{size}")
    sign = bits.dtype.type(1 << (8 * size - 1))
    ordered = np.where(bits & sign, ~bits, bits | sign)
    keys: Keys = (ordered >> bits.dtype.type(8 * (size - dtype.itemsize))).astype(dtype)
    return keys


def _morton(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Return the Morton codes of random points on a sphere.

    Each coordinate has a third of a key's bits, rounded down.
    """
    points = rng.standard_normal((3, n))
    points /= np.sqrt((points**2).sum(axis=0))
    width = 8 * dtype.itemsize // 3
    cells = ((points + 1) / 2 * ((1 << width) - 1)).astype(np.uint64)
    keys = np.zeros(n, np.uint64)
    for bit in range(width):
        for axis in range(3):
            keys |= (cells[axis] >> np.uint64(bit) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return keys.astype(dtype)


def _zipf(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Return random ranks with a Zipf distribution of exponent 1.2, limited to the greatest key."""
    return np.minimum(rng.zipf(1.2, n).astype(np.uint64), np.uint64(np.iinfo(dtype).max)).astype(dtype)


def _hot(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Return random keys; those with even index all have the same upper half of their bits."""
    keys: Keys = _random(1)(rng, n, dtype)
    half = dtype.type(4 * dtype.itemsize)
    keys[::2] = keys[::2] >> half | rng.integers(0, 1 << int(half), None, dtype) << half
    return keys


def _ramps(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Return ascending sequences of 4096 keys, each from about the least key to about the greatest.

    The digits of adjacent keys are equal or consecutive.
    """
    step, i = max(np.iinfo(dtype).max >> 12, 1), np.arange(n, dtype=np.uint64)
    return (i % np.uint64(4096) * np.uint64(step) + i // np.uint64(4096) % np.uint64(step)).astype(dtype)


def _times(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Return ascending timestamps, each plus a random delay of up to 1/1024 of half the key range.

    The delays bring adjacent keys out of order.
    """
    span = np.iinfo(dtype).max // 2
    late = rng.integers(0, span // 1024 + 1, n, np.uint64)
    keys: Keys = (np.linspace(span // 2, span, n).astype(np.uint64) + late).astype(dtype)
    return keys


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
    "normal floats": _floats,
    "morton": _morton,
    "zipf": _zipf,
    "hot bucket": _hot,
    "ramps": _ramps,
    "timestamps": _times,
}
"""The functions that make keys, by the name of the kind of input, which messages about failures show."""
