"""The crossovers of one key width: ``[sort.KEY]``, from the times of the chosen tables."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hsgen.algorithms import operation
from hsgen.core.keys import PLAIN
from hsgen.targets.choices import ALL
from hsgen.targets.ranges import FIRST, RANGES, SORT, VALUED
from hsgen.targets.tables import changed, rows
from hsgen.targets.target import Target
from hsgen.tools.tune import final
from hsgen.tools.tune.crossover import Cut, between, cut, refined, threshold
from hsgen.tools.tune.ending import Ending
from hsgen.tools.tune.final import Result
from hsgen.tools.tune.journal import Journal
from hsgen.tools.tune.propose import Table

Entries = Mapping[str, tuple[str, Table]]


class Crossovers:
    """The crossovers of a tuning; what the budget does not reach stays as the file has it."""

    def __init__(self, data: dict[str, Any], found: Target, ending: Ending, journal: Journal, result: Result) -> None:
        """Add to `result`, which has the tables that change in the file with this data."""
        self._data, self._found, self._ending, self._journal = data, found, ending, journal
        self._result = result

    def find(
        self,
        number: int,
        key: str,
        rounds: final.Rounds,
        chosen: Mapping[str, str],
        tables: Mapping[str, Table],
        labels: Sequence[str],
        compared: Collection[str],
    ) -> None:
        """Compute ``[sort.KEY]`` of key width `number`, of which `labels` were tuned, and the rows to show.

        `compared` have tables that run, of which the budget may have reached only some.
        """
        sorting = {x: w for x, w in chosen.items() if operation(x).by_count}
        before = [(label, upto) for label, upto in self._journal.head["autos"].get(key, [])]
        if not sorting:
            self._result.rows += _alone(key, rounds, chosen)
            return
        times = final.typical(rounds, sorting)
        counts = sorted(set.intersection(*(set(t) for t in times.values())))
        raced = {n for x in sorting for n in self._journal.head["sizes"][f"{x} {key}"]}
        # without all of the file's algorithms tuned, their crossovers are unknown
        known = {x for x, _ in before} <= set(labels)
        if not known or not raced <= set(counts) or not set(compared) <= set(chosen):
            self._result.rows += final.rows(key, rounds, before, before, sorting) or _alone(key, rounds, sorting)
            return
        entries = {x: (x, tables[x]) for x in sorting}
        after = self._refined(number, key, entries, cut(times), counts, before)
        self._result.rows += final.rows(key, rounds, before, after, sorting)
        if not before and len(after) < 2:
            return
        data = self._data
        for (label, width), table in self._result.tables.items():
            data = changed(data, label, width, table)
        auto = {**self._first(key), RANGES: rows(data, key, [x for x, _ in after], [n for _, n in after[:-1]])}
        if valued := self._valued(number, key, entries, after, counts, data):
            auto[VALUED] = valued
        if auto != self._data.get(SORT, {}).get(key):
            self._result.autos[key] = auto

    def _first(self, key: str) -> dict[str, Any]:
        """The sort that the file has compiled first, which stays as it is."""
        return {k: v for k, v in self._data.get(SORT, {}).get(key, {}).items() if k in FIRST}

    def _refined(self, number: int, key: str, entries: Entries, after: Cut, counts: Sequence[int], before: Cut) -> Cut:
        """Measure each crossover between two counts; without time for it, that of the file stays if it lies there."""
        known = {(low[0], high[0]): low[1] for low, high in pairwise(before)}
        out = list(after)
        for i, (low, high, sizes) in enumerate(between(after, list(counts))):
            left = self._ending.budget.left(number) / 2
            some = self._ending.compare(
                key, {x: entries[x] for x in (low, high)}, sizes, PLAIN, left, None, "crossover"
            )
            if {low, high} <= set(some):
                times = {x: {n: statistics.median(t) for n, t in some[x].items()} for x in (low, high)}
                out[i] = low, refined(after[i][1], times[low], times[high])
            elif after[i][1] <= known.get((low, high), 0) < counts[counts.index(after[i][1]) + 1]:
                out[i] = low, known[low, high]
        return out

    def _valued(
        self, number: int, key: str, entries: Entries, after: Cut, counts: Sequence[int], data: Mapping[str, Any]
    ) -> list[dict[str, Any]] | None:
        """Return the rows for keys with 4-byte values; None if they are those of keys alone, or the sorts cannot be
        compared.

        The crossovers lie below those of keys without values, or not far above the last of these.  Without time for
        them, those of the file stay.
        """
        labels, upto = [x for x, _ in after], [n for _, n in after[:-1]]
        if not upto:
            return None
        sizes = [n for n in counts if n <= 4 * upto[-1]]
        some = {x: entries[x] for x in labels}
        left, how = self._ending.budget.left(number), replace(PLAIN, value="v4")
        rounds = self._ending.compare(key, some, sizes, how, left, None, "crossover")
        if set(rounds) == set(labels) and all(set(sizes) <= set(times) for times in rounds.values()):
            times = {x: {n: statistics.median(t) for n, t in s.items()} for x, s in rounds.items()}
            found = threshold(times, labels)
            return rows(data, key, labels, found) if found != upto else None
        if self._ending.reached(key, some, sizes, how):
            return None
        old = self._found.autos_valued.get(key, ())
        if VALUED not in self._data.get(SORT, {}).get(key, {}) or not {x for x, _ in old} <= set(labels):
            return None
        return rows(data, key, [x for x, _ in old], [n for _, n in old[:-1]])


def _alone(key: str, rounds: final.Rounds, chosen: Mapping[str, str]) -> list[final.Row]:
    """The rows of the first chosen table, as if it served all counts before and after."""
    label, which = next(iter(chosen.items()))
    return final.rows(key, rounds, [(label, ALL)], [(label, ALL)], {label: which})
