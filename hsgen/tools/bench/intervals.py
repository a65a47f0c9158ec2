"""How sure the median of a few measurements is, without a word on how they are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

CONFIDENCE = 0.9
"""How sure intervals in rows are."""


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return the greatest k for which the median of what `count` values were drawn from lies between the k-th least
    and the k-th greatest of them with at least that probability; 0 where there is none.

    How many of the values are below that median is binomial, with chances of one half: it lies below the k-th least
    where fewer than k values do, and as often above the k-th greatest.  At 0.9 it takes 5 values.
    """
    allowed = 1 - Fraction(confidence).limit_denominator(10**6)
    missed, k = 0, 0
    while 2 * k < count:
        missed += comb(count, k)  # draws with exactly k values below the median
        if 2 * missed > allowed * 2**count:
            break
        k += 1
    return k


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Return an interval that holds the median of what the values were drawn from with at least that probability.

    Its ends are values themselves, by `rank`; None where there are too few.  Values are to be independent draws;
    ratios of times within rounds are near enough, since what slows a machine down mostly outlasts a round.
    """
    k = rank(len(values), confidence)
    if k == 0:
        return None
    found = sorted(values)
    return found[k - 1], found[-k]
