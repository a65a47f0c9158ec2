"""Exact splitters: the indices at which sorted shards are cut, so that parts have the requested sizes.

A boundary is a global index in the sorted keys of all shards.  Counts of keys below probes narrow the range that
contains the boundary's key.  The probes of a round are where the key is if keys are evenly distributed, or else they
divide the range evenly.  Keys equal to that key are then divided in the order of shards and of indices: earlier
shards fill the lower part first.

`cuts` is for shards whose counts pass through the host.  `cuts_of_ranks` is for ranks, whose counts stay on devices:
each round determines a digit of the key of every boundary, and the host waits only once, for the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hsgen.distributed.communicator import Communicator, Words, raise_together
from hsgen.distributed.local import Local, Run

PROBES = 1 << 13
"""The number of probes of a round of `cuts`, for all boundaries together."""
_LEAST = 8  # usual least number of probes of a boundary in a round


def places(sizes: Sequence[int]) -> list[int]:
    """Return the boundaries between parts of these sizes: the global index of the first key of each part but part 0."""
    return [int(x) for x in np.cumsum(np.array(sizes, np.int64))[:-1]]


def even(total: int, ranks: int) -> list[int]:
    """Return the sizes of equal parts; the first parts have one item more if `ranks` does not divide `total`."""
    return [total // ranks + (rank < total % ranks) for rank in range(ranks)]


class Counts(Protocol):
    """Counts of keys below probes in sorted shards."""

    def total(self, probes: NDArray[np.uint64]) -> Words:
        """Return the number of keys of all shards below each probe."""

    def by_shard(self, probes: NDArray[np.uint64]) -> Words:
        """Return the number of keys of each shard below each probe, shape (shards, probes)."""


@dataclass(slots=True)
class _Range:
    """The range low to high that has the key of a boundary, with `under` keys below low and `upto` keys up to high.

    narrow: whether the next round probes only where the key is if keys are evenly distributed in the range.
    """

    low: int
    high: int
    under: int
    upto: int
    narrow: bool = True

    def ladder(self, at: int, number: int) -> NDArray[np.uint64]:
        """Return at most `number` evenly spaced probes; `at` is the boundary."""
        low, high = self.low, self.high
        if self.narrow:
            width, count = high - low, self.upto - self.under
            guess, spread = low + width * (at - self.under) // count, 2 * width // isqrt(count) + 1  # 4 deviations
            low, high = max(low, guess - spread), min(high, guess + spread)
        step = -(-(high - low) // number)
        return np.uint64(low) + np.arange(1, (high - low) // step + 1, dtype=np.uint64) * np.uint64(step)

    def cut(self, at: int, ladder: NDArray[np.uint64], totals: Words) -> None:
        """Narrow the range by the counts of keys below the probes of a ladder."""
        count, first = self.upto - self.under, int(np.searchsorted(totals, at))
        if first:
            self.low, self.under = int(ladder[first - 1]), int(totals[first - 1])
        if first < len(ladder):
            self.high, self.upto = int(ladder[first]) - 1, int(totals[first])
            if self.upto == at:  # the boundary is between two keys, and the probe, too
                self.low = self.high = int(ladder[first])
        self.narrow = 4 * (self.upto - self.under) <= count  # otherwise, keys are not evenly distributed


def keys_at(
    counts: Counts,
    at: Sequence[int],
    least: int,
    greatest: int,
    total: int,
    probes: int = PROBES,
    each: int = _LEAST,
) -> list[int]:
    """Return an ordered key for each boundary: at most at[i] keys are less, and at least at[i] keys less or equal.

    least, greatest: bounds of all ordered keys.  total: the number of keys.  probes: the number of probes of a round.
    each: the least number of probes of a boundary.
    """
    ranges = [_Range(least, max(greatest, least) if x else least, 0, total) for x in at]
    while open_ := [(x, r) for x, r in zip(at, ranges, strict=True) if r.low < r.high]:
        ladders = [r.ladder(x, max(probes // len(open_), each)) for x, r in open_]
        totals = counts.total(np.concatenate(ladders))
        ends = np.cumsum([len(ladder) for ladder in ladders])
        for (x, r), ladder, end in zip(open_, ladders, ends, strict=True):
            r.cut(x, ladder, totals[end - len(ladder) : end])
    return [r.low for r in ranges]


def cuts(
    counts: Counts,
    lengths: Sequence[int],
    sizes: Sequence[int],
    least: int,
    greatest: int,
    probes: int = PROBES,
    each: int = _LEAST,
) -> Words:
    """Return the indices at which sorted shards are cut, shape (shards, parts + 1).

    lengths: the lengths of the shards.  sizes: the sizes of the parts.

    least, greatest: bounds of the ordered keys of all shards.  Row s of the result has the index in shard s at which
    each part begins, and the end of the last part.  Equal keys are divided in the order of shards and of indices.
    probes, each: as in `keys_at`.
    """
    at, ends = places(sizes), np.array(lengths, np.int64)[:, None]
    keys = np.array(keys_at(counts, at, least, greatest, sum(lengths), probes, each), np.uint64)
    last = keys == np.uint64(0xFFFFFFFFFFFFFFFF)
    both = counts.by_shard(np.concatenate([keys, np.where(last, keys, keys + np.uint64(1))]))
    return _cut(at, both[:, : len(at)], np.where(last, ends, both[:, len(at) :]), ends)


def _cut(at: Sequence[int], under: Words, upto: Words, ends: Words) -> Words:
    """Return the cuts.

    under, upto: for each shard and boundary, the number of keys below the boundary's key, and of keys up to that key.
    """
    equal = upto - under
    missing = np.array(at, np.int64) - under.sum(axis=0)
    before = np.cumsum(equal, axis=0) - equal
    return np.hstack([np.zeros_like(ends), under + np.clip(missing - before, 0, equal), ends])


def cuts_of_ranks(
    comm: Communicator,
    local: Local,
    run: Run,
    lengths: Sequence[int],
    sizes: Sequence[int],
    error: Exception | None = None,
    *,
    together: bool = False,
    meanwhile: Callable[[], None] | None = None,
) -> Words:
    """Return the indices at which the runs of all ranks are cut, shape (ranks, parts + 1); see `cuts`.

    error: an error of this rank before the call, or None; every rank then raises an error.  together: whether equal
    keys of all ranks stay in one part, because all cuts are before them; parts then have about the given sizes.
    meanwhile: enqueues work that the device does after the last count, before the host has the result.

    Raises:
        Exception: `error`, or an error of a count.
        Wrong: another rank has an error.
    """
    at, ends = places(sizes), np.array(lengths, np.int64)[:, None]
    if not at:
        if error is not None:
            raise error
        if meanwhile is not None:
            meanwhile()
        return np.hstack([np.zeros_like(ends), ends])

    both = _searched(comm, local, run, lengths[comm.rank], at, error, meanwhile)
    under, upto = both[:, 0], both[:, 1]
    if together:
        return np.hstack([np.zeros_like(ends), under, ends])
    return _cut(at, under, upto, ends)


def _searched(
    comm: Communicator,
    local: Local,
    run: Run,
    n: int,
    at: Sequence[int],
    error: Exception | None,
    meanwhile: Callable[[], None] | None,
) -> Words:
    """Return the result of `Search.ends` after all rounds; arguments and errors are those of `cuts_of_ranks`.

    A rank with an error still takes part in all rounds, with counts of -1.
    """
    search, rows = None, None
    for number, (_, bits) in enumerate(local.digits(len(at), comm.size)):
        counts = None
        if error is None:
            try:
                search = search or local.search(run, n, at, comm.size)
                counts = search.counts(number, rows)
            except Exception as e:
                error = e
        if counts is None:
            counts = local.words(np.full(len(at) * ((1 << bits) + 1), -1, np.int64))
        rows = comm.gather_rows(counts)
    if error is not None:
        raise_together(comm, error)
    assert search is not None
    ends = search.ends(rows, meanwhile or (lambda: None))
    if (ends < 0).any():
        raise_together(comm, None)
    return ends
