"""The expected results of sorts, computed by numpy: the key transform and the stable permutation.

Keys of every type are passed as unsigned numbers with the same bits.  docs/reference/semantics.md defines the order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options, bit_range
from hsgen.core.sort import Sort
from hsgen.operations.inputs import Keys


def ordered(keys: Keys, kind: int, *, descending: bool) -> Keys:
    """Return the transformed keys: unsigned numbers whose ascending order is the order that a call asks for.

    kind: the kind of the key type (`hsgen.core.keys.Type.kind`).
    """
    sign, rest, every = _masks(keys)
    out = keys.copy() if kind < 2 else _signs(keys)
    if kind == 2:  # the operators work in place, because allocating memory for many keys takes longer than filling it
        out *= rest
        out ^= keys
    out ^= (sign if kind else keys.dtype.type(0)) ^ (every if descending else keys.dtype.type(0))
    return out


def unordered(by: Keys, kind: int, *, descending: bool) -> Keys:
    """Return the keys that `ordered` transforms into `by`."""
    sign, rest, every = _masks(by)
    out = by.copy()
    out ^= (sign if kind else by.dtype.type(0)) ^ (every if descending else by.dtype.type(0))
    if kind == 2:
        negative = _signs(out)
        negative *= rest
        out ^= negative
    return out


def _masks(keys: Keys) -> tuple[Any, Any, Any]:
    """Return three masks of a key: its sign bit, all bits but the sign bit, and all bits."""
    bits, of = 8 * keys.dtype.itemsize, keys.dtype.type
    return of(1 << (bits - 1)), of((1 << (bits - 1)) - 1), of((1 << bits) - 1)


def _signs(keys: Keys) -> Keys:
    """Return a new array that has the sign bit of each key, as 0 or 1."""
    out: Keys = keys >> keys.dtype.type(8 * keys.dtype.itemsize - 1)
    return out


def permutation(keys: Keys, sort: Sort, options: Options) -> NDArray[np.intp]:
    """Return the stable sort of `keys` as a permutation, shape (n,): element i is the index in `keys` of sorted key i.

    Packed elements contain a key and its value.  If the sort compares such elements as a whole (`Plan.whole_words`),
    equal keys are in the order of their values.
    """
    return np.argsort(compared(keys, sort, options), kind="stable")


def compared(keys: Keys, sort: Sort, options: Options) -> Keys:
    """Return the numbers by which the call orders keys: the bits of the bit range in each transformed key."""
    begin, end = bit_range(sort.plan, options)
    if sort.plan.whole_words:
        begin = 0
    by = ordered(keys, options.kind, descending=options.descending)
    return (by >> keys.dtype.type(begin)) & keys.dtype.type((1 << (end - begin)) - 1) if begin < end else by * 0


def whole_keys(keys: Keys, sort: Sort, options: Options) -> Keys | None:
    """Return the sorted keys, if numpy can sort them without a permutation; otherwise None.

    numpy sorts keys many times faster than it computes a stable permutation.  For floats and for partial bit ranges,
    the result is None.
    """
    if options.kind == 2 or bit_range(sort.plan, options) != (0, sort.key.bits):
        return None
    return ordered(
        np.sort(ordered(keys, options.kind, descending=options.descending)), options.kind, descending=options.descending
    )


def changes(keys: Keys, sort: Sort, shift: int) -> NDArray[np.uint32]:
    """Return the report of run boundaries, shape (runs + 1,).

    The report consists of the number of runs of equal keys, then the index of each run's first key, in ascending order.

    keys: the sorted keys.
    shift: the number of low bits of keys that comparisons ignore.
    """
    above = keys >> keys.dtype.type(sort.plan.first_bit + shift)
    starts = np.flatnonzero(np.concatenate([[True], above[1:] != above[:-1]])[: len(keys)])
    return np.concatenate([[len(starts)], starts]).astype(np.uint32)


def values_for(rng: np.random.Generator, n: int, sort: Sort) -> NDArray[Any] | None:
    """Return n distinct values as input of a sort, shape (n, 32-bit words of a value); None if the sort reads none."""
    if not sort.signature.value_bytes or sort.signature.index:
        return None
    words = rng.integers(0, 1 << 32, (n, sort.signature.value_bytes // 4), np.uint32)
    words[:, 0] = np.arange(n, dtype=np.uint32) ^ np.uint32(0x5BD1E995)
    return words


def values_expected(values: NDArray[Any] | None, order: NDArray[np.intp], sort: Sort) -> NDArray[Any] | None:
    """Return the values that a sort should write, shape (n, 32-bit words of a value); None without values.

    order: a result of `permutation`.
    """
    if values is not None:
        return values[order]
    if sort.signature.index:
        return (
            order.astype(f"u{sort.signature.value_bytes}")
            .view(np.uint32)
            .reshape(len(order), sort.signature.value_bytes // 4)
        )
    return None


def results(sort: Sort, options: Options, keys: Keys, values: NDArray[Any] | None) -> tuple[Keys, NDArray[Any] | None]:
    """Return the sorted keys, shape (n,), and their values, shape (n, 32-bit words of a value); None without values."""
    if sort.signature.value == "none" and bit_range(sort.plan, options) == (0, sort.key.bits):
        # numpy sorts keys many times faster than it computes a stable permutation
        by = np.sort(ordered(keys, options.kind, descending=options.descending))
        return unordered(by, options.kind, descending=options.descending), None
    order = permutation(keys, sort, options)
    return keys[order], values_expected(values, order, sort)
