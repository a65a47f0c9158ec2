"""Exact splitters of sorted shards: where each rank's keys are cut, so that parts have given sizes.

A boundary lies at a global place in the sorted whole.  Its key is found by counts of keys below probes, which ranks
add up.  Each round narrows the range of every boundary by the number of its probes, so 32-bit keys need three rounds.
Keys equal to the boundary's key are then cut by rank and by place: lower ranks fill the lower part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hsgen.distributed.communicator import Communicator, Words, raise_together

PROBES = 1 << 13
"""The number of probes of a round, for all boundaries together."""
_LEAST = 8  # least number of probes of a boundary

Below = Callable[[NDArray[np.uint64]], NDArray[np.int64]]
"""A function that returns the number of keys of this rank below each probe."""


def places(sizes: Sequence[int]) -> list[int]:
    """Return the boundaries between parts of these sizes: the global places of all firsts but that of part 0."""
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


class RankCounts:
    """The counts of the shards of all ranks; an error of a rank becomes an error of all."""

    def __init__(self, comm: Communicator, below: Below) -> None:
        self._comm, self._below = comm, below

    def total(self, probes: NDArray[np.uint64]) -> Words:
        """See `Counts`."""
        return self._together(probes, self._comm.total)[1:]

    def by_shard(self, probes: NDArray[np.uint64]) -> Words:
        """See `Counts`."""
        return self._together(probes, self._comm.gather)[:, 1:]

    def _together(self, probes: NDArray[np.uint64], combined: Callable[[Words], Words]) -> Words:
        words, error = np.zeros(1 + len(probes), np.int64), None
        try:
            words[1:] = self._below(probes)
        except Exception as e:
            words[0], error = 1, e
        result = combined(words)
        if result[..., 0].any():
            raise_together(self._comm, error)
        return result


def keys_at(counts: Counts, at: Sequence[int], least: int, greatest: int, probes: int = PROBES) -> list[int]:
    """Return the ordered key of each boundary: the least key with at least `at` keys less than or equal to it.

    least, greatest: bounds of all ordered keys.  probes: the number of probes of a round.
    """
    low, high = [least] * len(at), [max(greatest, least)] * len(at)
    while open_ := [j for j in range(len(at)) if low[j] < high[j]]:
        number = max(probes // len(open_), _LEAST)
        ladders = [_ladder(low[j], high[j], number) for j in open_]
        totals = counts.total(np.concatenate(ladders))
        begin = 0
        for j, ladder in zip(open_, ladders, strict=True):
            reached = totals[begin : begin + len(ladder)] >= at[j]
            begin += len(ladder)
            first = int(np.argmax(reached)) if reached.any() else len(ladder)
            low[j], high[j] = (
                int(ladder[first - 1]) if first else low[j],
                int(ladder[first]) - 1 if first < len(ladder) else high[j],
            )
    return low


def _ladder(low: int, high: int, number: int) -> NDArray[np.uint64]:
    """Return at most `number` evenly spaced probes in low + 1 to high."""
    step = -(-(high - low) // number)
    count = (high - low) // step
    return np.uint64(low) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(step)


def cuts(
    counts: Counts, lengths: Sequence[int], sizes: Sequence[int], least: int, greatest: int, probes: int = PROBES
) -> Words:
    """Return where sorted shards of these lengths are cut for parts of these sizes, shape (shards, parts + 1).

    least, greatest: bounds of the ordered keys of all shards.  Row s has the first place of each part in shard s, and
    the end.  Equal keys are cut by shard, then by place.  probes: the number of probes of a round.
    """
    at, ends = places(sizes), np.array(lengths, np.int64)[:, None]
    keys = np.array(keys_at(counts, at, least, greatest, probes), np.uint64)
    last = keys == np.uint64(0xFFFFFFFFFFFFFFFF)
    both = counts.by_shard(np.concatenate([keys, np.where(last, keys, keys + np.uint64(1))]))
    under, upto = both[:, : len(at)], np.where(last, ends, both[:, len(at) :])
    equal = upto - under
    missing = np.array(at, np.int64) - under.sum(axis=0)
    before = np.cumsum(equal, axis=0) - equal
    return np.hstack([np.zeros_like(ends), under + np.clip(missing - before, 0, equal), ends])


def cuts_between_keys(counts: Counts, lengths: Sequence[int], sizes: Sequence[int], least: int, greatest: int) -> Words:
    """Return cuts as `cuts` does, at the first of equal keys: equal keys of all shards are in one part.

    Parts have about the given sizes.
    """
    at, ends = places(sizes), np.array(lengths, np.int64)[:, None]
    under = counts.by_shard(np.array(keys_at(counts, at, least, greatest), np.uint64))
    return np.hstack([np.zeros_like(ends), under, ends])
