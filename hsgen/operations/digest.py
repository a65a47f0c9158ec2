"""Digests: hashes of an array, from which a host learns whether a sort on a device was correct.

A device computes a digest before the sort, and another after it.  `Digest.faults` compares the two.  `model` computes
the same digest by numpy, to test the device.  A digest is eight 32-bit words (docs/guides/digest.md,
`hsgen.algorithms.digest`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options, bit_range
from hsgen.core.keys import Signature
from hsgen.core.sort import Sort
from hsgen.operations.arguments import Arguments, Buffer, Length, Number, options_member
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call
from hsgen.operations.inputs import Keys
from hsgen.operations.oracle import ordered, values_for

ORDER, KEYS, VALUES, STABLE, BEYOND = "order", "keys", "values", "stable", "beyond"
"""The faults that a comparison of digests detects in the result of a sort.  In C, each is a bit, as HS_FAULT_ORDER.

ORDER: keys are out of order.  KEYS: the keys are not those of the input.  VALUES: a value is not with its key.
STABLE: the values of equal keys do not ascend.  BEYOND: an element with an index of n or more has changed.
"""

WORDS = 8
"""The number of 32-bit words in a digest; `Digest` describes the words."""
SEEDS = (0x9E3779B9, 0x7F4A7C15)
"""The initial values of the two hashes of an element.  They are not 0, because an element of zeros would hash to 0."""

ARGSORT_VALUES = {"index": "v4", "index64": "v8"}
"""The kinds of values by which a digest reads the indices that an argsort writes, by the kind of the argsort."""

Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Digest:
    """The words of a digest.

    Words 0 and 1 are two hashes of the n keys.  Words 2 and 3 are two hashes of the keys with their values.  All four
    are sums over the keys, so they do not depend on the order of keys.  Word 4 is the number of adjacent keys out of
    order.  Word 5 is the number of adjacent equal keys whose values do not ascend.  Word 6 is a hash of the elements
    with an index of n or more, at their positions.  Word 7 is n.
    """

    words: tuple[int, ...]

    def faults(self, before: Digest, *, stable: bool = False) -> tuple[str, ...]:
        """Return the faults of a sort's result, whose digest this is; `before` is the digest of the input.

        A different count is the fault `KEYS`.
        stable: whether the values of the input ascend.  The fault `STABLE` is reported only for such inputs.
        """
        a, b = before.words, self.words
        out = [ORDER] * (b[4] != 0)
        out += [KEYS] * (a[:2] != b[:2] or a[7] != b[7])
        out += [VALUES] * (a[2:4] != b[2:4])
        out += [STABLE] * (stable and b[5] != 0)
        return tuple(out + [BEYOND] * (a[6] != b[6]))


def read(words: Sequence[int] | Words) -> Digest:
    """Return the digest in a report of `WORDS` words."""
    assert len(words) == WORDS
    return Digest(tuple(int(w) for w in words))


def _mixed(h: Words, first: int, second: int, shifts: tuple[int, int, int]) -> Words:
    h ^= h >> np.uint32(shifts[0])
    h *= np.uint32(first)
    h ^= h >> np.uint32(shifts[1])
    h *= np.uint32(second)
    h ^= h >> np.uint32(shifts[2])
    return h


def _chain(columns: Sequence[Words], n: int) -> tuple[Words, Words]:
    """Return two hashes for each of n elements, as two arrays of shape (n,).

    columns: the 32-bit words of the elements, each of shape (n,).
    """
    a, b = (np.full(n, seed, np.uint32) for seed in SEEDS)
    for column in columns:
        a = _mixed(a ^ column, 0x85EBCA6B, 0xC2B2AE35, (16, 13, 16))
        b = _mixed(b ^ column, 0x7FEB352D, 0x846CA68B, (16, 15, 16))
    return a, b


def _columns(array: NDArray[Any]) -> list[Words]:
    """Return an array for each 32-bit word of the elements, the lowest word first.

    An element of fewer than 32 bits is one word.
    """
    if array.dtype.itemsize < 4:
        return [array.astype(np.uint32)]
    width = array.itemsize * (array.shape[1] if array.ndim > 1 else 1) // 4
    words = np.ascontiguousarray(array).view(np.uint32).reshape(len(array), width)
    return [words[:, i].copy() for i in range(width)]


def _sum(h: Words) -> int:
    return int(h.sum(dtype=np.uint64)) & 0xFFFFFFFF


def model(sort: Sort, keys: NDArray[Any], values: NDArray[Any] | None, n: int, options: Options) -> Digest:
    """Return the digest that a device should compute for the first `n` of `keys`; word 6 covers the remaining elements.

    keys: the bits of all elements as unsigned numbers.
    values: the values, shape (len(keys), 32-bit words of a value); None without values, or if the values are indices.
    """
    packed = sort.signature.value == "packed"
    every = _columns(keys)
    columns, words = (every[1:], every[:1]) if packed else (every, [] if values is None else _columns(values))
    rest = _chain([np.arange(len(keys), dtype=np.uint32), *columns, *words], len(keys))
    if sort.signature.index:
        words = [np.arange(n, dtype=np.uint32)] + [np.zeros(n, np.uint32)] * (sort.signature.value_bytes // 4 - 1)
    columns, words = [c[:n] for c in columns], [c[:n] for c in words]
    hashes = [_sum(h) for h in _chain(columns, n)] + [_sum(h) if words else 0 for h in _chain([*columns, *words], n)]
    begin, end = bit_range(sort.plan, options)
    by = ordered(keys[:n], options.kind, descending=options.descending)
    by = (by >> by.dtype.type(begin)) & by.dtype.type((1 << (end - begin)) - 1) if begin < end else by * 0
    falls, swaps = by[:-1] > by[1:], np.zeros(max(n - 1, 0), bool)
    if words:
        up, even = swaps.copy(), ~swaps
        for c in reversed(words):
            up |= even & (c[:-1] < c[1:])
            even &= c[:-1] == c[1:]
        swaps = (by[:-1] == by[1:]) & ~up
    beyond = _sum((rest[0] ^ rest[1])[n:])
    return Digest((*hashes, int(falls.sum()), int(swaps.sum()), beyond, n))


_COVERED = Length(factors=("number",))


class _Digest(Operation):
    """The operation that computes a digest of n keys, and of the elements that follow them."""

    name, noun, c_kind = "digest", "digest", "HS_DIGEST"
    c_number = 4
    arguments = Arguments(
        about="A digest of n keys, and of the memory after them (HS_DIGEST); hs_digest_compare compares two.",
        members=(
            Number(name="n", meaning="keys"),
            Number(
                name="capacity",
                meaning="keys from n up to here are memory after them; 0 to n: none",
                call="call->capacity",
                field="capacity",
                python="size",
                javascript="capacity",
                about="The number of elements to cover; those from n on must only stay unchanged.",
            ),
            options_member("type, order, bits", "order", "bits"),
            Buffer(name="source", role="source", length=_COVERED),
            Buffer(
                name="values",
                role="values",
                meaning="the value of each key, for digests with values",
                length=_COVERED,
                about="The value of each key.",
            ),
            Buffer(
                name="digest",
                role="report",
                meaning="8 32-bit words",
                words=True,
                written=True,
                length=Length(plus=WORDS),
                javascript="digest",
                about="Receives eight 32-bit words.",
            ),
        ),
        number="{capacity}",
        javascript="Digests of arrays, which verify a sort on the device: docs/guides/digest.md.",
    )
    order = 3
    accompanies = True
    report = WORDS, 0

    def signature(self, signature: Signature) -> Signature:
        """Return the signature without the features that digests lack.

        These are device-side counts, stages after a sort, and the features of segments.
        """
        return replace(
            signature, device_count=False, run_boundaries=False, epilogue="", segment_ends=False, segment_count=False
        )

    def more_values(self, values: Iterable[str]) -> tuple[str, ...]:
        """Return the kinds of values that digests have in addition, to read the indices that the argsorts write."""
        have = tuple(values)
        return tuple(ARGSORT_VALUES[v] for v in ARGSORT_VALUES if v in have and ARGSORT_VALUES[v] not in have)

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Return the options with a capacity of at least n."""
        return replace(options, capacity=max(options.capacity, n))

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call that digests `keys`.  In some cases, n is less than the number of keys."""
        n = len(keys) - int(rng.integers(0, 3)) * min(len(keys), int(rng.integers(0, 300)))
        n = max(n, 0)
        values = values_for(rng, len(keys), sort)
        if values is not None and rng.integers(2):
            values[:, 0] = np.arange(len(keys))  # ascending indices
            values[:, 1:] = 0
        digest = model(sort, keys, values, n, options)
        options = replace(options, discard=False, capacity=len(keys) if n < len(keys) else 0)
        report = np.array(digest.words, np.uint32)
        return Call(n=n, keys=keys, expected=None, in_place=False, values=values, how=options, report=report)


OPERATION = _Digest()
