"""The final comparison of a tuning (a *final*): the best shapes against the file's shapes, at many counts.

A final has up to two *entries* for each label: `START`, the table of the file, and `BEST`, the winner of the races.
All results are computed from the journal's records, so the same journal gives the same file.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hsgen.tools.bench.intervals import median_interval
from hsgen.tools.tune.crossover import Cut, Slower
from hsgen.tools.tune.crossover import serving as serving
from hsgen.tools.tune.journal import Record
from hsgen.tools.tune.propose import Table, name_of
from hsgen.tools.tune.search import BETTER

START, BEST = "start", "best"
NOISE = 0.05
"""The greatest relative loss that noise can explain.  A sort with a greater loss always counts as slower."""

Rounds = dict[str, dict[int, list[float]]]
"""The times in seconds, by entry and count, one for each round.  In a round, each entry runs once."""


def entry(label: str, which: str) -> str:
    """Return the name of an entry in records of finals, such as ``radix start`` or ``radix best``."""
    return f"{label} {which}"


def rounds_of(record: Record) -> Rounds:
    """Return the times in the journal's record of a final."""
    return {name: {int(n): t for n, t in times.items()} for name, times in record["seconds"].items()}


def gain(rounds: Rounds, label: str, sizes: Sequence[int]) -> tuple[float, float]:
    """Return the median log speedup of `BEST` over `START` for a label, and a lower bound of this median.

    The log speedup of a round is the mean over the counts `sizes`.  The median is taken over the rounds.  The true
    median exceeds the lower bound with 95 % confidence.
    """
    a, b = rounds[entry(label, START)], rounds[entry(label, BEST)]
    ratios = [_paired(a[n], b[n]) for n in sizes if n in a and n in b]
    several = [len(r) for r in ratios if len(r) > 1]
    logs = [
        statistics.fmean(math.log(r[i] if len(r) > 1 else r[0]) for r in ratios)
        for i in range(min(several, default=1 if ratios else 0))
    ]
    middle = statistics.median(logs) if logs else 0.0
    return middle, (median_interval(logs) or (middle, middle))[0]


def _paired(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Return the ratios a / b, one for each round.

    If the numbers of rounds differ, return a list of one ratio, that of the medians.
    """
    if len(a) == len(b):
        return [x / y for x, y in zip(a, b, strict=True)]
    return [statistics.median(a) / statistics.median(b)]


def which(rounds: Rounds, label: str, sizes: Sequence[int]) -> str:
    """Return which table a label should use, `START` or `BEST`.

    `BEST` must be significantly faster, and by more than `BETTER`.
    """
    if entry(label, START) not in rounds:
        return BEST
    if entry(label, BEST) not in rounds:
        return START
    middle, least = gain(rounds, label, sizes)
    return BEST if middle > BETTER and least > 0 else START


def chosen(rounds: Rounds, label: str, raced: Collection[int], known: bool) -> str | None:
    """Return which table a label should use, `START` or `BEST`; None if the tables were not timed.

    raced: the counts of the label's races.  known: the file has a table for the label.  The result is then `START`
    unless both tables were timed at all counts in `raced`.
    """
    both = [rounds.get(entry(label, w)) for w in (START, BEST)]
    if both[0] is None and (known or both[1] is None):
        return None
    if known and not all(set(raced) <= set(times or {}) for times in both):
        return START
    return which(rounds, label, sorted(raced))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of a tuning's result: the sorts that serve `n` keys before and after the tuning, timed in one run.

    Rates are in Mkeys/s.  `ratio` is the rate after the tuning divided by the rate before, the median over the rounds.
    `low` and `high` are the ends of the ratio's 90 % confidence interval.
    """

    key: str
    n: int
    before: str | None
    after: str
    rate_before: float | None
    rate_after: float
    ratio: float | None
    low: float | None
    high: float | None

    @property
    def same(self) -> bool:
        """Whether the same sort serves the count before and after the tuning, so that nothing was compared."""
        return self.ratio == self.low == self.high == 1.0


@dataclass(slots=True, kw_only=True)
class Result:
    """The result of a tuning.

    `tables` and `autos` (the tables ``[sort.KEY]``) contain only tables that differ from the file's.  `rows` are the
    lines to show.
    """

    tables: dict[tuple[str, str], Table] = field(default_factory=dict)
    autos: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    notes: dict[tuple[str, str], str] = field(default_factory=dict)  # by (label, key width): what was measured, as text
    evidence: dict[str, str] = field(default_factory=dict)  # text for the file's evidence, by "KEY" or "KEY LABEL"


def is_slower(was: Sequence[float], times: Sequence[float]) -> bool:
    """Return True if the new times, `times`, are longer than the old times, `was`.

    The loss must exceed `NOISE`; or it must exceed `BETTER` and be significant.
    """
    ratios = _paired(was, times)
    middle = statistics.median(ratios)
    _, high = median_interval(ratios) or (middle, middle)
    return middle < 1 - NOISE or (middle < 1 - BETTER and high < 1)


def slower(rounds: Rounds, chosen: Mapping[str, str], before: Cut) -> Slower:
    """Return the pairs (label, count) such that the label's chosen table is slower at this count than the file's table.

    before: the ranges of the target file.  They state a label for each count; that label's table in the file is the
    one that is compared.  If `before` is empty, each chosen table is compared with the file's table of the same label.
    """
    out = set()
    for label, table in chosen.items():
        for n, times in rounds[entry(label, table)].items():
            old = entry(serving(before, n) if before else label, START)
            was = rounds.get(old, {}).get(n)
            if was and old != entry(label, table) and is_slower(was, times):
                out.add((label, n))
    return out


def rows(key: str, rounds: Rounds, before: Cut, after: Cut, chosen: Mapping[str, str]) -> list[Row]:
    """Return the result's rows for one key width, one for each count of its final.

    A count has no row if the label that serves it was not tuned.
    """
    out = []
    for n in sorted({n for t in rounds.values() for n in t}):
        if not after or (new := serving(after, n)) not in chosen:
            continue
        times = rounds[entry(new, chosen[new])].get(n)
        if times is None:
            continue
        old = serving(before, n) if before else None
        was = rounds.get(entry(old, START), {}).get(n) if old else None
        ratios = _paired(was, times) if was else []
        low, high = median_interval(ratios) or (None, None)
        out.append(
            Row(
                key=key,
                n=n,
                before=old if was else None,
                after=new,
                rate_before=round(n / statistics.median(was) / 1e6, 3) if was else None,
                rate_after=round(n / statistics.median(times) / 1e6, 3),
                ratio=round(statistics.median(ratios), 4) if ratios else None,
                low=None if low is None else round(low, 4),
                high=None if high is None else round(high, 4),
            )
        )
    return out


def note(results: Sequence[Row], rounds: Rounds, key: str, label: str, which: Mapping[str, str]) -> str:
    """Return a text with the rates of a label's new table and of the file's table; empty without a new table.

    The rates are those at the greatest count that the new table serves.
    """
    if which.get(label) != BEST:
        return ""
    served = {row.n for row in results if row.key == key and row.after == label}
    new, old = rounds[entry(label, BEST)], rounds.get(entry(label, START), {})
    n = max(served & set(new), default=max(new))
    was = f", was {_rate(n, old[n])}" if n in old else ""
    return f"{_rate(n, new[n])} Mkeys/s at {_count(n)}{was}"


def _rate(n: int, seconds: Sequence[float]) -> str:
    rate = n / statistics.median(seconds) / 1e6
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"


def _count(n: int) -> str:
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def typical(rounds: Rounds, chosen: Mapping[str, str]) -> dict[str, dict[int, float]]:
    """Return the median seconds of the chosen tables, by label and count."""
    return {x: {n: statistics.median(t) for n, t in rounds[entry(x, w)].items()} for x, w in chosen.items()}


def tables_of(
    starts: Mapping[str, Table | None],
    bests: Mapping[str, Table | None],
    same: Callable[[str, Table, Table], bool] = lambda label, a, b: name_of(a) == name_of(b),
) -> dict[str, tuple[str, Table]]:
    """Return the entries of a final: (label, table) by the name of the entry.

    A label has a `START` entry if the file has a table for it.  A label has a `BEST` entry if the best table is a
    different sort.  `same` decides whether two tables of a label are the same sort.
    """
    out: dict[str, tuple[str, Table]] = {}
    for label, start in starts.items():
        best = bests.get(label)
        if start is not None:
            out[entry(label, START)] = label, start
        if best is not None and (start is None or not same(label, best, start)):
            out[entry(label, BEST)] = label, best
    return out
