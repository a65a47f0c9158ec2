"""Exact splitters beside a sort of all keys, and the number of their rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsgen.distributed import splitters

RNG = np.random.default_rng(50)
MOST = (1 << 64) - 1


class Counts:
    """Counts of keys in sorted shards; `rounds` is the number of calls for totals."""

    def __init__(self, shards: list[Any]) -> None:
        self.shards, self.rounds = [np.sort(x) for x in shards], 0

    def by_shard(self, probes: Any) -> Any:
        return np.array([np.searchsorted(x, probes) for x in self.shards])

    def total(self, probes: Any) -> Any:
        self.rounds += 1
        return self.by_shard(probes).sum(axis=0)


def check(shards: list[Any], sizes: list[int], probes: int, each: int) -> int:
    """Compare cuts with those of a stable sort; return the number of rounds."""
    counts, lengths = Counts(shards), [len(x) for x in shards]
    at = splitters.cuts(counts, lengths, sizes, 0, MOST, probes, each)
    shard = np.repeat(np.arange(len(shards)), lengths)
    order = np.argsort(np.concatenate(counts.shards), kind="stable")
    for part, end in enumerate(np.cumsum(sizes)):
        assert at[:, part + 1].tolist() == np.bincount(shard[order[:end]], minlength=len(shards)).tolist()
    assert not at[:, 0].any()
    return counts.rounds


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cuts_are_those_of_a_stable_sort(data: st.DataObject) -> None:
    key = st.sampled_from([0, 1, 2, 3, 1 << 32, 1 << 63, MOST - 1, MOST]) | st.integers(0, MOST)
    shards = data.draw(st.lists(st.lists(key, max_size=20), min_size=1, max_size=4))
    n = sum(map(len, shards))
    ends = sorted(data.draw(st.lists(st.integers(0, n), max_size=5)))
    sizes = [b - a for a, b in zip([0, *ends], [*ends, n], strict=True)]
    check([np.array(x, np.uint64) for x in shards], sizes, data.draw(st.integers(1, 40)), data.draw(st.integers(2, 9)))


@pytest.mark.parametrize(
    ("keys", "most"),
    [
        (RNG.integers(0, MOST, 200_000, np.uint64), 12),
        (np.exp(RNG.normal(20, 3, 200_000)).astype(np.uint64), 24),
        (RNG.integers(0, 9, 200_000).astype(np.uint64) << np.uint64(40), 40),
        (np.full(200_000, 12345, np.uint64), 40),
    ],
    ids=["even", "exponential", "nine keys", "one key"],
)
def test_rounds_are_few(keys: Any, most: int) -> None:
    rounds = check(np.array_split(keys, 8), [len(keys) // 8] * 8, 32, 4)
    assert rounds <= most, rounds
