"""The expected results of sorts by numpy: the key transform and the stable permutation.

Keys are unsigned arrays of their bits, regardless of their type; docs/reference/semantics.md defines the order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options, bit_range
from hsgen.core.sort import Sort
from hsgen.operations.inputs import Keys


def ordered(keys: Keys, kind: int, *, descending: bool) -> Keys:
    """Return the key transform: unsigned keys in the order of `keys`, of a kind (`hsgen.core.keys.Type`)."""
    sign, rest, every = _masks(keys)
    out = keys.copy() if kind < 2 else _signs(keys)
    if kind == 2:  # in one array, since memory of many keys takes longer to get than to fill
        out *= rest
        out ^= keys
    out ^= (sign if kind else keys.dtype.type(0)) ^ (every if descending else keys.dtype.type(0))
    return out


def unordered(by: Keys, kind: int, *, descending: bool) -> Keys:
    """Return the inverse of `ordered`: the keys of a kind (`hsgen.core.keys.Type`) for these unsigned numbers."""
    sign, rest, every = _masks(by)
    out = by.copy()
    out ^= (sign if kind else by.dtype.type(0)) ^ (every if descending else by.dtype.type(0))
    if kind == 2:
        negative = _signs(out)
        negative *= rest
        out ^= negative
    return out


def _masks(keys: Keys) -> tuple[Any, Any, Any]:
    """The sign bit of keys, all other bits, and all."""
    bits, of = 8 * keys.dtype.itemsize, keys.dtype.type
    return of(1 << (bits - 1)), of((1 << (bits - 1)) - 1), of((1 << bits) - 1)


def _signs(keys: Keys) -> Keys:
    """1 for each key with the sign bit, else 0, as a new array."""
    out: Keys = keys >> keys.dtype.type(8 * keys.dtype.itemsize - 1)
    return out


def permutation(keys: Keys, sort: Sort, how: Options) -> NDArray[np.intp]:
    """Return the original indices of the keys in sorted order, shape (n,).

    All sorts are stable except those that compare packed words as a whole.
    """
    return np.argsort(compared(keys, sort, how), kind="stable")


def compared(keys: Keys, sort: Sort, how: Options) -> Keys:
    """Return the key transform, without the bits that the call does not sort by."""
    begin, end = bit_range(sort.plan, how)
    if sort.plan.whole_words:
        begin = 0
    by = ordered(keys, how.kind, descending=how.descending)
    return (by >> keys.dtype.type(begin)) & keys.dtype.type((1 << (end - begin)) - 1) if begin < end else by * 0


def whole_keys(keys: Keys, sort: Sort, how: Options) -> Keys | None:
    """Return the sorted keys if the bit range is whole and numpy needs no permutation, else None.

    numpy sorts keys many times faster than it finds a stable permutation.
    """
    if how.kind == 2 or bit_range(sort.plan, how) != (0, sort.key.bits):
        return None
    return ordered(np.sort(ordered(keys, how.kind, descending=how.descending)), how.kind, descending=how.descending)


def changes(keys: Keys, sort: Sort, shift: int) -> NDArray[np.uint32]:
    """Return the report of run boundaries: the number of runs of keys that are equal from bit `shift` on, and the
    indices at which they start, ascending; shape (runs + 1,)."""
    above = keys >> keys.dtype.type(sort.plan.first_bit + shift)
    starts = np.flatnonzero(np.concatenate([[True], above[1:] != above[:-1]])[: len(keys)])
    return np.concatenate([[len(starts)], starts]).astype(np.uint32)


def values_for(rng: np.random.Generator, n: int, sort: Sort) -> NDArray[Any] | None:
    """Return n distinct values for the sort's signature, shape (n, 32-bit words); None if it reads no values."""
    if not sort.signature.value_bytes or sort.signature.index:
        return None
    words = rng.integers(0, 1 << 32, (n, sort.signature.value_bytes // 4), np.uint32)
    words[:, 0] = np.arange(n, dtype=np.uint32) ^ np.uint32(0x5BD1E995)
    return words


def values_expected(values: NDArray[Any] | None, order: NDArray[np.intp], sort: Sort) -> NDArray[Any] | None:
    """Return the values after the sort, shape (n, 32-bit words); None without values."""
    if values is not None:
        return values[order]
    if sort.signature.index:
        return (
            order.astype(f"u{sort.signature.value_bytes}")
            .view(np.uint32)
            .reshape(len(order), sort.signature.value_bytes // 4)
        )
    return None


def results(sort: Sort, how: Options, keys: Keys, values: NDArray[Any] | None) -> tuple[Keys, NDArray[Any] | None]:
    """Return the sorted keys, shape (n,), and values, shape (n, 32-bit words); None for values without any."""
    if sort.signature.value == "none" and bit_range(sort.plan, how) == (0, sort.key.bits):
        # numpy sorts keys many times faster than it finds a stable permutation
        by = np.sort(ordered(keys, how.kind, descending=how.descending))
        return unordered(by, how.kind, descending=how.descending), None
    order = permutation(keys, sort, how)
    return keys[order], values_expected(values, order, sort)
