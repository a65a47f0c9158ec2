"""Keys for fuzzing: those of validations, and some that reach the special cases of sorts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hsgen.operations.inputs import KINDS

Keys = NDArray[np.unsignedinteger]
Make = Callable[[np.random.Generator, int, np.dtype[np.unsignedinteger]], Keys]


def _full(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    return rng.integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)


def _some_bits(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Keys that differ in a few adjacent bits: all passes except one or two find constant digits."""
    bits = 8 * dtype.itemsize
    low = int(rng.integers(0, bits))
    mask = ((1 << int(rng.integers(1, min(12, bits - low) + 1))) - 1) << low
    return (_full(rng, n, dtype) & dtype.type(mask)) | (_full(rng, 1, dtype)[0] & dtype.type(~mask % (1 << bits)))


def _crowded(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Keys of which most share all except their lowest bits: buckets and bins are uneven."""
    keys = _full(rng, n, dtype)
    near = _full(rng, 1, dtype)[0] & dtype.type(~0xFF % (1 << 8 * dtype.itemsize))
    return np.where(rng.random(n) < rng.choice([0.5, 0.9, 0.99]), near | (keys & dtype.type(0xFF)), keys)


def _alternating(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Two alternating keys, one of them the maximum."""
    return np.where(np.arange(n) % 2 == 0, dtype.type(np.iinfo(dtype).max), _full(rng, 1, dtype)[0]).astype(dtype)


def _almost(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Sorted keys except for one swapped adjacent pair, possibly the last."""
    keys = np.sort(_full(rng, n, dtype))
    if n > 1:
        at = int(rng.choice([0, n - 2, int(rng.integers(n - 1))]))
        keys[[at, at + 1]] = keys[[at + 1, at]]
    return keys


def _stairs(rng: np.random.Generator, n: int, dtype: np.dtype[np.unsignedinteger]) -> Keys:
    """Ascending runs over the same range, which merges interleave most finely."""
    return (np.arange(n, dtype=np.uint64) % np.uint64(max(1, int(rng.integers(1, 300))))).astype(dtype)


PATTERNS: dict[str, Make] = {
    **KINDS,
    "some bits": _some_bits,
    "crowded": _crowded,
    "alternating": _alternating,
    "almost sorted": _almost,
    "stairs": _stairs,
    "zeros": lambda rng, n, dtype: np.zeros(n, dtype),
}
"""Every kind of keys, by name."""
