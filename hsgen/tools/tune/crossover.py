"""Assignment of counts to algorithms: each algorithm serves a range of counts.

The assignment minimizes the sum of the logarithms of measured times.  At no count is the assignment slower than that of
the file.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from hsgen.targets.choices import ALL

Times = Mapping[str, Mapping[int, float]]
"""Typical seconds by label and count."""

PRICE = 0.03  # least gain of another algorithm, in log time per count, that is worth its kernels

Cut = list[tuple[str, int]]
"""Labels in the order of the counts they serve, each with its greatest measured count."""

Slower = AbstractSet[tuple[str, int]]
"""Pairs of a label and a count at which the label is slower than the file's choice."""


def cut(times: Times, slower: Slower = frozenset(), free: Collection[str] = ()) -> Cut:
    """Return the sequence of labels that is fastest over the counts at which all were measured.

    Every label after the first must save `PRICE` per count, averaged over all counts, because it adds kernels that are
    compiled and shipped.  Labels in `free` are shipped anyway and cost nothing.  No label serves a count that it has in
    `slower`.  With `slower`, a label may have several ranges, and each range must save `PRICE`.  Without a solution,
    the result is empty.
    """
    return priced(times, slower, free)[1]


def priced(times: Times, slower: Slower = frozenset(), free: Collection[str] = ()) -> tuple[float, Cut]:
    """Return the cost of the solution of `cut`, and the solution; without a solution, the cost is infinite."""
    counts = sorted(set.intersection(*(set(t) for t in times.values())))
    cost = {x: [math.inf if (x, n) in slower else math.log(times[x][n]) for n in counts] for x in times}
    price = PRICE * len(counts)
    # the best ways to serve the counts so far, by the labels in use and the last of these
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
    """Return the cost of ranges at these counts, as `priced` computes it."""
    labels = [serving(ranges, n) for n in sorted(counts)]
    total = sum(math.log(times[x][n]) for x, n in zip(labels, sorted(counts), strict=True))
    return total + PRICE * len(counts) * sum(a != b for a, b in pairwise(labels))


def serving(ranges: Cut, n: int) -> str:
    """Return the label that serves a count."""
    return next((label for label, upto in ranges if n <= upto), ranges[-1][0])


def joined(ranges: Cut) -> Cut:
    """Return the ranges, with adjacent ranges of one label merged."""
    return [row for row, after in zip(ranges, [*ranges[1:], ("", 0)], strict=True) if row[0] != after[0]]


def within(after: Cut, before: Cut, low: int, high: int) -> Cut:
    """Return the ranges of `after` for counts `low` to `high`, and the ranges of `before` for all other counts."""
    if not before:
        return [*after[:-1], (after[-1][0], ALL)]
    head = [(x, upto) for x, upto in before if upto < low]
    if low > 1 and (not head or head[-1][1] < low - 1):
        head.append((serving(before, low - 1), low - 1))
    inner = [(x, min(upto, high)) for x, upto in after if upto >= low]
    tail = [(x, upto) for x, upto in before if upto > high]
    return joined([*head, *inner[:-1], (inner[-1][0], high if tail else ALL), *tail])


def raised(after: Cut, before: Cut, counts: Sequence[int]) -> Cut:
    """Return `after` with each crossover raised as far as `before` uses the lower label.

    A crossover stays below the next measured count, so `before` determines the crossover between two measured counts.
    """
    out = list(after)
    for i, (label, upto) in enumerate(after[:-1]):
        following = min((n for n in counts if n > upto), default=upto + 1)
        row = next((row for row in before if upto < row[1]), ("", 0))
        if row[0] == label:
            out[i] = label, min(row[1], following - 1)
    return out


def between(ranges: Cut, counts: Sequence[int]) -> list[tuple[str, str, list[int]]]:
    """Return both labels of each crossover, and the seven counts that refine the crossover."""
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
    """Return the greatest count of the lower label at a crossover, from times of both labels above `upto`.

    `slower` lists the counts that the lower label may not serve, and those that the higher label may not serve.  The
    result is None if no crossover avoids all of them.
    """
    counts = sorted(set(low) & set(high))
    best, sum_, least = None, 0.0, math.inf
    for i, last in enumerate([upto, *counts]):
        sum_ += math.log(low[last]) - math.log(high[last]) if i else 0.0
        if sum_ < least and not set(counts[:i]) & set(slower[0]) and not set(counts[i:]) & set(slower[1]):
            best, least = last, sum_
    return best
