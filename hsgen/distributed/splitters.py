"""Exact splitters: where to cut sorted shards into pieces, so that the parts have exactly the requested sizes.

A *boundary* between two parts is an index in the sorted keys of all shards together.  The search finds the key at each
boundary, in rounds.  A round counts the keys of all shards below several *probes*, and so narrows the range of values
that contains the key.  If many keys equal the key at a boundary, those of earlier shards go to the lower part.

`cuts` is for shards whose counts pass through the host.  Its probes are near the value that the key has if keys are
evenly distributed; if they are not, probes divide the range evenly.  `cuts_of_ranks` is for ranks, whose counts stay on
devices.  Each of its rounds determines one digit of the key at every boundary, and the host waits only once, for the
result.
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
"""The number of probes in a round of `cuts`, for all boundaries together."""
_LEAST = 8  # by default, the least number of probes per boundary in a round


def places(sizes: Sequence[int]) -> list[int]:
    """Return the boundaries between parts of these sizes: the index of the first key of each part, without part 0."""
    return [int(x) for x in np.cumsum(np.array(sizes, np.int64))[:-1]]


def even(total: int, ranks: int) -> list[int]:
    """Return the sizes of even parts; if `ranks` does not divide `total`, the first parts have one item more."""
    return [total // ranks + (rank < total % ranks) for rank in range(ranks)]


class Counts(Protocol):
    """The interface that counts keys of sorted shards: how many are less than each probe."""

    def total(self, probes: NDArray[np.uint64]) -> Words:
        """Return how many keys of all shards together are less than each probe."""

    def by_shard(self, probes: NDArray[np.uint64]) -> Words:
        """Return how many keys of each shard are less than each probe, shape (shards, probes)."""


@dataclass(slots=True)
class _Range:
    """A range of ordered keys, from `low` to `high`, that contains the key at a boundary.

    under: how many keys of all shards are less than `low`.  upto: how many are at most `high`.  narrow: whether keys
    seem to be evenly distributed in the range; the next round then probes only near the value that the key is likely to
    have.
    """

    low: int
    high: int
    under: int
    upto: int
    narrow: bool = True

    def ladder(self, at: int, number: int) -> NDArray[np.uint64]:
        """Return at most `number` evenly spaced probes for the next round; at: the boundary, an index among all sorted
        keys.
        """
        low, high = self.low, self.high
        if self.narrow:
            width, count = high - low, self.upto - self.under
            # the probes cover at least 4 standard deviations on both sides of the guess
            guess, spread = low + width * (at - self.under) // count, 2 * width // isqrt(count) + 1
            low, high = max(low, guess - spread), min(high, guess + spread)
        step = -(-(high - low) // number)
        return np.uint64(low) + np.arange(1, (high - low) // step + 1, dtype=np.uint64) * np.uint64(step)

    def cut(self, at: int, ladder: NDArray[np.uint64], totals: Words) -> None:
        """Narrow the range after a round; ladder: the round's probes; totals: how many keys are less than each
        probe.
        """
        count, first = self.upto - self.under, int(np.searchsorted(totals, at))
        if first:
            self.low, self.under = int(ladder[first - 1]), int(totals[first - 1])
        if first < len(ladder):
            self.high, self.upto = int(ladder[first]) - 1, int(totals[first])
            if self.upto == at:  # exactly `at` keys are below this probe, so the probe can be the splitter
                self.low = self.high = int(ladder[first])
        # if more than a quarter of the keys are left in the range, they are not evenly distributed
        self.narrow = 4 * (self.upto - self.under) <= count


def keys_at(
    counts: Counts,
    at: Sequence[int],
    least: int,
    greatest: int,
    total: int,
    probes: int = PROBES,
    each: int = _LEAST,
) -> list[int]:
    """Return an ordered key for each boundary at[i]: at most at[i] keys are less, and at least at[i] less or equal.

    least, greatest: bounds of all ordered keys.  total: the number of keys.  probes: the number of probes in a round,
    for all boundaries together.  each: the least number of probes per boundary.
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

    Row s of the result has the index in shard s at which each part begins, and the length of shard s.  If equal keys
    are on both sides of a boundary, those of earlier shards are in the lower part.

    lengths: the number of keys in each shard.  sizes: the number of keys in each part.  least, greatest: bounds of the
    ordered keys of all shards.  probes, each: as in `keys_at`.
    """
    at, ends = places(sizes), np.array(lengths, np.int64)[:, None]
    keys = np.array(keys_at(counts, at, least, greatest, sum(lengths), probes, each), np.uint64)
    last = keys == np.uint64(0xFFFFFFFFFFFFFFFF)
    both = counts.by_shard(np.concatenate([keys, np.where(last, keys, keys + np.uint64(1))]))
    return _cut(at, both[:, : len(at)], np.where(last, ends, both[:, len(at) :]), ends)


def _cut(at: Sequence[int], under: Words, upto: Words, ends: Words) -> Words:
    """Return the cuts for the boundaries `at`; see `cuts`.

    under, upto: for each shard and boundary, how many keys are less than the key at the boundary, and how many are at
    most that key.  ends: the length of each shard.
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

    error: None, or an error that this rank had before the call; every rank then raises an error.  together: whether
    each cut is moved before all keys that equal the key there, so that equal keys belong to one part; sizes of parts
    are then approximate.  meanwhile: a function that enqueues further work, which the device does while the host waits
    for the result.

    Raises:
        Exception: `error`, or an error that occurred while this rank counted keys.
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
    """Do all rounds of the search; return the result of `Search.ends`.

    at: the boundaries.  n: the number of keys of this rank.  Further arguments and errors: as in `cuts_of_ranks`.  A
    rank with an error still takes part in all rounds, with counts of -1, because the other ranks wait for it.
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
