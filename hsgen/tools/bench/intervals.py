"""Distribution-free confidence intervals for the median of a few measurements."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

CONFIDENCE = 0.9
"""The confidence of the intervals in rows."""


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return the greatest k for which the k-th least and the k-th greatest of `count` independent values enclose the
    median of their distribution with at least this probability; 0 if no k does.

    The number of values below the median is binomial with p = 1/2: the median is below the k-th least value if fewer
    than k values are below it, and with the same probability above the k-th greatest.  0.9 takes at least 5 values.
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
    """Return an interval that contains the median of the values' distribution with at least this probability.

    Its ends are two of the values, by `rank`; None: there are too few.  Values must be independent; the ratios of times
    within rounds are nearly so, since most disturbances of a machine outlast a round.
    """
    k = rank(len(values), confidence)
    if k == 0:
        return None
    found = sorted(values)
    return found[k - 1], found[-k]
