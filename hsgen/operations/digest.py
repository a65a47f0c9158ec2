"""Digests of arrays as a device computes them: comparing two, and computing one in numpy.

A digest is eight 32-bit words; see docs/guides/digest.md and `hsgen.algorithms.digest`.
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
from hsgen.operations.arguments import Arguments, Buffer, Number, options
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call
from hsgen.operations.inputs import Keys
from hsgen.operations.oracle import ordered, values_for

ORDER, KEYS, VALUES, STABLE, BEYOND = "order", "keys", "values", "stable", "beyond"
"""The faults: keys out of order; different keys; values not with their keys; equal keys whose values do not ascend;
writes at or beyond n.  C has the same as bits, HS_FAULT_ORDER and so on."""

WORDS = 8
"""The 32-bit words of a digest: six sums, the hash of the elements at or beyond n, and the count."""
SEEDS = (0x9E3779B9, 0x7F4A7C15)
"""The initial values of the two hashes, not 0, so that an element of zeros contributes."""

MADE = {"index": "v4", "index64": "v8"}
"""The kinds of values of digests of argsort results."""

Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Digest:
    """The words of a digest: two hashes of keys, two of keys with values, the number of adjacent keys out of order, the
    number of adjacent equal keys whose values do not ascend, a hash of the elements beyond n, and the count."""

    words: tuple[int, ...]

    def faults(self, before: Digest, *, stable: bool = False) -> tuple[str, ...]:
        """Return the faults between the digest `before` and this one, in the order of the constants above.

        `stable`: the values were ascending indices, so those of equal keys must still ascend.  A different count is
        reported as `KEYS`.
        """
        a, b = before.words, self.words
        found = [ORDER] * (b[4] != 0)
        found += [KEYS] * (a[:2] != b[:2] or a[7] != b[7])
        found += [VALUES] * (a[2:4] != b[2:4])
        found += [STABLE] * (stable and b[5] != 0)
        return tuple(found + [BEYOND] * (a[6] != b[6]))


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
    """The two hashes of each of n rows of 32-bit columns."""
    a, b = (np.full(n, seed, np.uint32) for seed in SEEDS)
    for column in columns:
        a = _mixed(a ^ column, 0x85EBCA6B, 0xC2B2AE35, (16, 13, 16))
        b = _mixed(b ^ column, 0x7FEB352D, 0x846CA68B, (16, 15, 16))
    return a, b


def _columns(array: NDArray[Any]) -> list[Words]:
    """The 32-bit words of each element, the lowest first; a narrow element is one word."""
    if array.dtype.itemsize < 4:
        return [array.astype(np.uint32)]
    width = array.itemsize * (array.shape[1] if array.ndim > 1 else 1) // 4
    words = np.ascontiguousarray(array).view(np.uint32).reshape(len(array), width)
    return [words[:, i].copy() for i in range(width)]


def _sum(h: Words) -> int:
    return int(h.sum(dtype=np.uint64)) & 0xFFFFFFFF


def model(sort: Sort, keys: NDArray[Any], values: NDArray[Any] | None, n: int, how: Options) -> Digest:
    """Return the expected digest of the first `n` of `keys`, unsigned bits; the elements beyond n are hashed, too.

    `values` are rows of 32-bit words; None if the signature has none or they are indices.
    """
    packed = sort.signature.value == "packed"
    every = _columns(keys)
    mine, words = (every[1:], every[:1]) if packed else (every, [] if values is None else _columns(values))
    rest = _chain([np.arange(len(keys), dtype=np.uint32), *mine, *words], len(keys))
    if sort.signature.index:
        words = [np.arange(n, dtype=np.uint32)] + [np.zeros(n, np.uint32)] * (sort.signature.value_bytes // 4 - 1)
    mine, words = [c[:n] for c in mine], [c[:n] for c in words]
    hashes = [_sum(h) for h in _chain(mine, n)] + [_sum(h) if words else 0 for h in _chain([*mine, *words], n)]
    begin, end = bit_range(sort.plan, how)
    by = ordered(keys[:n], how.kind, descending=how.descending)
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


class _Digest(Operation):
    """The digest of the first n keys, among all elements that a call examines."""

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
            ),
            options("type, order, bits"),
            Buffer(name="source", role="source"),
            Buffer(name="values", role="values", meaning="the value of each key, for digests with values"),
            Buffer(name="digest", role="report", meaning="8 32-bit words", words=True, written=True),
        ),
        number="{capacity}",
    )
    order = 3
    accompanies = True
    report = WORDS, 0

    def signature(self, signature: Signature) -> Signature:
        """See `Operation`: the host gives the count, and no step follows."""
        return replace(
            signature, device_count=False, run_boundaries=False, epilogue="", segment_ends=False, segment_count=False
        )

    def more_values(self, values: Iterable[str]) -> tuple[str, ...]:
        """See `Operation`: the result of an argsort is digested as values."""
        have = tuple(values)
        return tuple(MADE[v] for v in MADE if v in have and MADE[v] not in have)

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """See `Operation`: n keys at least are looked at."""
        return replace(how, capacity=max(how.capacity, n))

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return the call that digests `keys`; in some cases the last ones are beyond n."""
        n = len(keys) - int(rng.integers(0, 3)) * min(len(keys), int(rng.integers(0, 300)))
        n = max(n, 0)
        values = values_for(rng, len(keys), sort)
        if values is not None and rng.integers(2):
            values[:, 0] = np.arange(len(keys))  # positions, in their order
            values[:, 1:] = 0
        found = model(sort, keys, values, n, how)
        how = replace(how, discard=False, capacity=len(keys) if n < len(keys) else 0)
        report = np.array(found.words, np.uint32)
        return Call(n=n, keys=keys, expected=None, in_place=False, values=values, how=how, report=report)


OPERATION = _Digest()
