"""Distribution-free confidence intervals for the median of measurements."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

CONFIDENCE = 0.9
"""The confidence of the intervals in rows."""


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return the greatest rank k for which two order statistics enclose the median with at least this confidence.

    The order statistics are the k-th least and the k-th greatest of `count` independent values.  The result is 0 if no
    k has this confidence; confidence 0.9 needs at least 5 values.  The number of values below the median is binomial
    with p = 1/2.  The median is below the k-th least value if fewer than k values are below the median.  It is above
    the k-th greatest value with the same probability.
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
    """Return an interval that contains the median of the values' distribution with at least this confidence.

    The ends of the interval are two of the values, by `rank`.  The result is None if there are too few values.  Values
    must be independent.  Ratios of times within rounds are nearly independent, because most disturbances of a machine
    outlast a round.
    """
    k = rank(len(values), confidence)
    if k == 0:
        return None
    ordered = sorted(values)
    return ordered[k - 1], ordered[-k]
