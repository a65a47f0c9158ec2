"""The choice of an algorithm for each count of keys; each algorithm serves one or more ranges of counts.

The choice minimizes the sum, over the measured counts, of the logarithm of the time.  A crossover is a count at which
one algorithm's range ends and another's begins.  Callers list the (algorithm, count) pairs that were slower than the
target file's present choice; such pairs are never chosen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from hsgen.targets.choices import ALL

Times = Mapping[str, Mapping[int, float]]
"""The typical time in seconds of each label (algorithm or variant) at each count."""

PRICE = 0.03  # least average gain (in log time) that justifies another algorithm, because its kernels must be compiled

Cut = list[tuple[str, int]]
"""Ranges of counts in ascending order, each as (label, greatest count that the label serves)."""

Slower = AbstractSet[tuple[str, int]]
"""Pairs (label, count) such that at this count the label is slower than the label that the target file chooses."""


def cut(times: Times, slower: Slower = frozenset(), free: Collection[str] = ()) -> Cut:
    """Return the fastest ranges for the counts at which all labels were measured; empty if there are none.

    Every label after the first adds kernels that must be compiled and shipped.  Therefore a label is added only if it
    reduces the log time by `PRICE` per count, averaged over all counts.  Labels in `free` are shipped in any case, so
    their first range may save less.  No label serves a count that `slower` lists for it.  If `slower` is not empty, a
    label may have several ranges, and each further range must save `PRICE` too.
    """
    return priced(times, slower, free)[1]


def priced(times: Times, slower: Slower = frozenset(), free: Collection[str] = ()) -> tuple[float, Cut]:
    """Return the cost of the ranges that `cut` returns, and these ranges.

    The cost is the sum of the log times at all counts, plus the prices of labels and ranges.  The cost is infinite if
    no ranges are possible.
    """
    counts = sorted(set.intersection(*(set(t) for t in times.values())))
    cost = {x: [math.inf if (x, n) in slower else math.log(times[x][n]) for n in counts] for x in times}
    price = PRICE * len(counts)
    # dynamic programming: cheapest (cost, ranges) for the counts so far, by (labels in use, label of the last count)
    ways: dict[tuple[frozenset[str], str], tuple[float, list[tuple[str, int]]]] = {}
    for i in range(len(counts)):
        following: dict[tuple[frozenset[str], str], tuple[float, list[tuple[str, int]]]] = {}
        for label in sorted(times):
            for (used, last), (total, ends) in ways.items() if i else (((frozenset[str](), ""), (0.0, [])),):
                if label != last and label in used and not slower:
                    continue
                more = 0.0 if label == last or (label in free and label not in used) or not i else price
                sum_ = total + more + cost[label][i]
                at = used | {label}, label
                if sum_ < following.get(at, (math.inf, []))[0]:
                    following[at] = sum_, [*(ends[:-1] if label == last else ends), (label, counts[i])]
        ways = following
    return min(ways.values(), key=lambda x: x[0], default=(math.inf, []))


def price_of(ranges: Cut, times: Times, counts: Sequence[int]) -> float:
    """Return the cost of `ranges` at `counts`, as `priced` defines the cost."""
    labels = [serving(ranges, n) for n in sorted(counts)]
    total = sum(math.log(times[x][n]) for x, n in zip(labels, sorted(counts), strict=True))
    return total + PRICE * len(counts) * sum(a != b for a, b in pairwise(labels))


def serving(ranges: Cut, n: int) -> str:
    """Return the label whose range contains the count `n`."""
    return next((label for label, upto in ranges if n <= upto), ranges[-1][0])


def joined(ranges: Cut) -> Cut:
    """Merge adjacent ranges with the same label."""
    return [row for row, after in zip(ranges, [*ranges[1:], ("", 0)], strict=True) if row[0] != after[0]]


def within(after: Cut, before: Cut, low: int, high: int) -> Cut:
    """Return ranges that follow `after` for the counts `low` to `high`, and `before` for all other counts.

    If `before` is empty, `after` serves all counts.
    """
    if not before:
        return [*after[:-1], (after[-1][0], ALL)]
    head = [(x, upto) for x, upto in before if upto < low]
    if low > 1 and (not head or head[-1][1] < low - 1):
        head.append((serving(before, low - 1), low - 1))
    inner = [(x, min(upto, high)) for x, upto in after if upto >= low]
    tail = [(x, upto) for x, upto in before if upto > high]
    return joined([*head, *inner[:-1], (inner[-1][0], high if tail else ALL), *tail])


def raised(after: Cut, before: Cut, counts: Sequence[int]) -> Cut:
    """Return the ranges `after`, with each crossover moved up to a crossover of the ranges `before` if possible.

    Measurements say only that a crossover lies below the next measured count.  If `before` still uses the same label
    above the crossover, the crossover moves to the end of that range of `before`, but stays below the next measured
    count.
    """
    out = list(after)
    for i, (label, upto) in enumerate(after[:-1]):
        following = min((n for n in counts if n > upto), default=upto + 1)
        row = next((row for row in before if upto < row[1]), ("", 0))
        if row[0] == label:
            out[i] = label, min(row[1], following - 1)
    return out


def between(ranges: Cut, counts: Sequence[int]) -> list[tuple[str, str, list[int]]]:
    """Return (label below, label above, counts to time) for each crossover of the ranges.

    The seven counts divide the interval from the last count of the label below to the next measured count.
    """
    ordered = sorted(counts)
    out = []
    for (low, upto), (high, _) in pairwise(ranges):
        following = ordered[ordered.index(upto) + 1]
        out.append((low, high, [upto + (following - upto) * i // 8 for i in range(1, 8)]))
    return out


def refined(
    upto: int,
    low: Mapping[int, float],
    high: Mapping[int, float],
    slower: tuple[Collection[int], Collection[int]] = ((), ()),
) -> int | None:
    """Return the greatest count that the label below a crossover should serve, so that the sum of log times is least.

    upto: the least result.  low, high: the times of the labels below and above the crossover, at counts above `upto`.
    slower: the counts that the label below may not serve, and the counts that the label above may not serve.  The
    result is None if each crossover would give a label a count that it may not serve.
    """
    counts = sorted(set(low) & set(high))
    best, sum_, least = None, 0.0, math.inf
    for i, last in enumerate([upto, *counts]):
        sum_ += math.log(low[last]) - math.log(high[last]) if i else 0.0
        if sum_ < least and not set(counts[:i]) & set(slower[0]) and not set(counts[i:]) & set(slower[1]):
            best, least = last, sum_
    return best
