"""Distribution-free confidence intervals for the median of measurements."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

CONFIDENCE = 0.9
"""The confidence of the intervals in a benchmark's rows."""


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return the greatest k for which the k-th least and the k-th greatest of `count` values enclose the median.

    For independent values, the two must enclose it with a probability of at least `confidence`.  The result is 0 if
    there are too few values; confidence 0.9 needs at least 5.

    The number of values below the median has a binomial distribution with p = 1/2.  The median is less than the k-th
    least value if fewer than k values are below the median.  With the same probability, the median is greater than the
    k-th greatest value.
    """
    allowed = 1 - Fraction(confidence).limit_denominator(10**6)
    missed, k = 0, 0
    while 2 * k < count:
        missed += comb(count, k)  # outcomes, of 2^count, with at most k values below the median
        if 2 * missed > allowed * 2**count:
            break
        k += 1
    return k


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Return an interval that contains the median of the values' distribution with at least this confidence.

    The ends of the interval are two of the values, chosen by `rank`.  The result is None if there are too few values.
    The values must be independent.  Ratios of two times of the same round are nearly independent of other rounds: most
    disturbances of a machine last longer than a round, so they affect both times.
    """
    k = rank(len(values), confidence)
    if k == 0:
        return None
    ordered = sorted(values)
    return ordered[k - 1], ordered[-k]
