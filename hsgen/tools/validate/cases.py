"""Chooses the counts of keys for a validation; equal seeds give equal counts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def around(values: Iterable[int], greatest: int) -> set[int]:
    """Return each value, the value - 1 and the value + 1, without numbers below 0 or above `greatest`."""
    return {v + d for v in values for d in (-1, 0, 1) if 0 <= v + d <= greatest}


def counts(test_counts: Iterable[int], block: int, greatest: int, dense: int, rng: np.random.Generator) -> list[int]:
    """Return the counts of a validation in ascending order, up to `greatest`.

    block: the number of keys that a work-group sorts.  dense: the least number of counts up to 4 blocks + 1.

    The counts are `test_counts` and their neighbours, some primes, and three random counts in each doubling above 4
    blocks.  Random counts up to 4 blocks + 1 are added until there are `dense` of them.
    """
    top = min(4 * block + 1, greatest)
    values = around(test_counts, greatest)
    values.update(p for p in (2, 3, 5, 7, 11, 13, 127, 251, 509, 1021, 2039, 4093, 8191, 16381) if p <= top)
    for j in range(2, greatest.bit_length()):
        low, high = block << j, min(block << (j + 1), greatest)
        values.update(int(v) for v in (rng.integers(low, high + 1, 3) if low < high else ()))
    pool = rng.permutation(np.setdiff1d(np.arange(top + 1), np.fromiter(values, np.int64)))
    values.update(int(v) for v in pool[: max(0, dense - sum(n <= top for n in values))])
    return sorted(values)
