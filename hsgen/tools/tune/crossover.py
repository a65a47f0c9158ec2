"""Assignment of counts to algorithms: a partition that minimizes the sum of the logarithms of measured times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

Times = Mapping[str, Mapping[int, float]]
"""Typical seconds by label and count."""

PRICE = 0.03  # least gain of one more algorithm, in log time per count, that is worth its kernels

Cut = list[tuple[str, int]]
"""Labels in the order of the counts they serve, each with its greatest measured count."""


def cut(times: Times) -> Cut:
    """Return the sequence of labels that is fastest over the counts at which all were measured.

    Each label occurs at most once.  Every label after the first must save `PRICE` per count, averaged over all counts,
    because it adds kernels that are compiled and shipped.
    """
    counts = sorted(set.intersection(*(set(t) for t in times.values())))
    cost = {x: [math.log(times[x][n]) for n in counts] for x in times}
    best = _best(cost, len(counts), sorted(times))
    return [(label, counts[end - 1]) for label, end in best[1]]


def _best(cost: Mapping[str, Sequence[float]], end: int, labels: Sequence[str]) -> tuple[float, list[tuple[str, int]]]:
    """The least cost of serving the first `end` counts with some of the labels, and the end of each label's range."""
    found: tuple[float, list[tuple[str, int]]] = (math.inf, [])
    for label in labels:
        rest = [x for x in labels if x != label]
        for begin in range(end) if rest else (0,):
            before, ends = _best(cost, begin, rest) if begin else (0.0, [])
            total = before + sum(cost[label][begin:end]) + (PRICE * len(next(iter(cost.values()))) if begin else 0.0)
            if total < found[0]:
                found = total, [*ends, (label, end)]
    return found


def between(found: Cut, counts: Sequence[int]) -> list[tuple[str, str, list[int]]]:
    """Return both labels of each crossover, and the counts to measure in order to refine it."""
    ordered = sorted(counts)
    out = []
    for (low, upto), (high, _) in pairwise(found):
        following = ordered[ordered.index(upto) + 1]
        out.append((low, high, [upto + (following - upto) * i // 8 for i in range(1, 8)]))
    return out


def refined(upto: int, low: Mapping[int, float], high: Mapping[int, float]) -> int:
    """Return the greatest count of the lower label at a crossover, from times of both labels above `upto`."""
    best, sum_, least = upto, 0.0, 0.0
    for n in sorted(set(low) & set(high)):
        sum_ += math.log(low[n]) - math.log(high[n])
        if sum_ < least:
            best, least = n, sum_
    return best


def threshold(times: Times, order: Sequence[str]) -> list[int]:
    """Return the greatest count of each label except the last, for labels in this order; 1 if it serves none."""
    counts = sorted(set.intersection(*(set(times[x]) for x in order)))
    logs = {x: [math.log(times[x][n]) for n in counts] for x in order}
    best: list[tuple[float, list[int]]] = [(sum(logs[order[0]][:end]), []) for end in range(len(counts) + 1)]
    for label in order[1:]:
        best = [
            min((best[begin][0] + sum(logs[label][begin:end]), [*best[begin][1], begin]) for begin in range(end + 1))
            for end in range(len(counts) + 1)
        ]
    out: list[int] = []
    for end in best[-1][1]:
        out.append(max(counts[end - 1] if end else 1, out[-1] + 1 if out else 1))
    return out
