"""The plans for one key width, computed from the times of a final comparison.

A *plan* chooses a table for each label, `START` or `BEST`, and the ranges of counts that each label serves.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from hsgen.algorithms import operation
from hsgen.targets.target import Target
from hsgen.tools.tune import final
from hsgen.tools.tune.crossover import Cut, price_of, priced, serving
from hsgen.tools.tune.ending import Ending
from hsgen.tools.tune.final import BEST, START
from hsgen.tools.tune.propose import Table

Entries = Mapping[str, tuple[str, Table]]
"""The (label, table) of each entry of a final comparison, by the entry's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A possible result of a tuning.

    `chosen` gives each label's table, `START` or `BEST`.  `inner` are the ranges for the counts of the final
    comparison; None if the ranges of the file stay.
    """

    chosen: Mapping[str, str]
    inner: Cut | None = None

    @property
    def crosses(self) -> bool:
        """Whether several labels serve the counts of the final comparison, so that there are crossovers."""
        return self.inner is not None and len(self.inner) > 1

    @property
    def new(self) -> set[str]:
        """The labels whose table changes."""
        return {x for x, which in self.chosen.items() if which == BEST}


class Plans:
    """The plans for the sorts of one key width, or for one table of an operation other than sorting."""

    def __init__(
        self,
        data: dict[str, Any],
        target: Target,
        ending: Ending,
        number: int,
        key: str,
        *,
        before: Cut,
        before_valued: Cut,
        entries: Entries,
        rounds: final.Rounds,
        raced: Mapping[str, Collection[int]],
    ) -> None:
        """Plan for the key width `key`, the one with index `number` among the widths that share the budget.

        data: the content of the target file.
        before: the file's ranges.  before_valued: the file's ranges for sorts with values.
        entries: the tables of the final comparison, which has no table that failed before.
        rounds: the times of those entries that ran before the budget ended.
        raced: the counts of the races, by label.
        """
        self._data, self._target, self._ending, self._number, self._key = data, target, ending, number, key
        self._before, self._before_valued = before, before_valued
        self._entries, self._rounds, self._raced = entries, rounds, raced

    def plans(self, chosen: Mapping[str, str]) -> list[Plan]:
        """Return the possible plans, the fastest first.

        Each plan uses, for each label, the table in `chosen` or the file's table.  Plans that would be slower than the
        file at a compared count are left out.
        """
        tables = [self._choices(x, which) for x, which in chosen.items()]
        every = [dict(zip(chosen, choice, strict=True)) for choice in product(*tables)]
        if not self._divisible(chosen):
            every.sort(key=lambda choice: -sum(self._gain(x, which) for x, which in choice.items()))
            return [Plan(chosen=choice) for choice in every if not any(self._loses(x, w) for x, w in choice.items())]
        costs: list[tuple[float, int, Plan]] = []
        for choice in every:
            cost, inner = priced(final.typical(self._rounds, choice), final.slower(self._rounds, choice, self._before))
            if inner:
                costs.append((cost, len(costs), Plan(chosen=choice, inner=inner)))
        start = {x: START for x in chosen}
        if self._before and {final.entry(x, START) for x in chosen} <= set(self._rounds):
            times = final.typical(self._rounds, start)
            cost = price_of(self._before, times, sorted(set.intersection(*(set(t) for t in times.values()))))
            costs.append((cost, -1, Plan(chosen=start)))  # with equal costs, the file's own ranges win
        return [plan for _, _, plan in sorted(costs, key=lambda x: x[:2])]

    def _choices(self, label: str, which: str) -> tuple[str, ...]:
        """Return the names of the tables to try for a label, the better one first: `which`, and `START` if it ran."""
        return (BEST, START) if which == BEST and final.entry(label, START) in self._rounds else (which,)

    def _divisible(self, chosen: Mapping[str, str]) -> bool:
        """Return True if there are enough times to choose new ranges of counts for the labels.

        All labels must be sorts.  All labels in the file's ranges must be tuned.  All chosen tables must have run at
        all counts of the races.
        """
        if not chosen or not all(operation(x).by_count for x in chosen):
            return False
        times = [self._rounds[final.entry(x, which)] for x, which in chosen.items()]
        raced = {n for x in chosen for n in self._raced[x]}
        compared = {label for label, _ in self._entries.values()}
        known = {x for x, _ in self._before} <= set(self._raced)
        return known and raced <= set.intersection(*(set(t) for t in times)) and compared <= set(chosen)

    def _gain(self, label: str, which: str) -> float:
        """Return the median log speedup of a table over the file's table; 0 if they were not compared."""
        return final.gain(self._rounds, label, sorted(self._raced[label]))[0] if self._pair(label, which) else 0.0

    def _pair(self, label: str, which: str) -> bool:
        """Return True if `which` is `BEST`, and the file's table of the label was timed too."""
        return which == BEST and final.entry(label, START) in self._rounds

    def _loses(self, label: str, which: str) -> bool:
        """Return True if a table is slower than the file's table at a count that the label serves.

        If the label is not in the file's ranges, all counts are checked.
        """
        served = any(x == label for x, _ in self._before)
        return any(
            not served or serving(self._before, n) == label
            for _, n in final.slower(self._rounds, {label: which}, [])
            if self._pair(label, which)
        )
