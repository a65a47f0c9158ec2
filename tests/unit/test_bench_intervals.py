"""The confidence interval of a median: exact for every count, with the stated probability."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hsgen.tools.bench import CONFIDENCE, median_interval
from hsgen.tools.bench.intervals import rank


def covered(count: int, k: int) -> Fraction:
    """The probability that the median lies between the k-th least and the k-th greatest value, by all outcomes."""
    right = sum(k <= sum(below) <= count - k for below in product((0, 1), repeat=count))
    return Fraction(right, 2**count)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.99])
def test_ranks_are_the_greatest_that_are_sure_enough(confidence: float) -> None:
    for count in range(1, 14):
        k = rank(count, confidence)
        assert 0 <= 2 * k <= count + 1
        assert k == 0 or covered(count, k) >= confidence
        assert 2 * (k + 1) > count or covered(count, k + 1) < confidence


def test_known_ranks() -> None:
    assert [rank(count) for count in (4, 5, 9, 15, 30, 1001)] == [0, 1, 2, 4, 11, 474]
    assert rank(15, CONFIDENCE) == 4


def test_intervals_are_values() -> None:
    assert median_interval([3.0, 1.0, 2.0, 5.0, 4.0]) == (1.0, 5.0)
    assert median_interval(list(range(15, 0, -1))) == (4, 12)
    assert median_interval([1.0] * 4) is None and median_interval([]) is None


def test_intervals_hold_the_median_as_often_as_they_say() -> None:
    """Of a skewed distribution, whose median is ln 2."""
    rng = np.random.default_rng(5)
    found = [median_interval(draw) for draw in rng.exponential(size=(4000, 15)).tolist()]
    share = np.mean([low <= np.log(2) <= high for low, high in found if low is not None])
    assert len(found) == 4000 and share == pytest.approx(0.9648, abs=0.012)
