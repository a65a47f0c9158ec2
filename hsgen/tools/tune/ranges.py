"""The tables and the crossovers of one key width: what is written into the file, from the times of the best tables.

A *plan* says which tables are used and which counts each label serves.  Plans are tried in the order of their times.
A plan is used if it is nowhere slower than the file: at the counts of the final comparison, near its crossovers, at
small counts, and with values.  The file as it is always passes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from hsgen.algorithms import operation
from hsgen.core.keys import PLAIN, Signature
from hsgen.targets.choices import ALL
from hsgen.targets.ranges import FIRST, RANGES, SORT, VALUED
from hsgen.targets.tables import changed, rows, table_of
from hsgen.targets.target import Target
from hsgen.tools.tune import final
from hsgen.tools.tune.crossover import Cut, between, kept, price_of, priced, refined, serving, within
from hsgen.tools.tune.ending import Ending
from hsgen.tools.tune.final import BEST, START, Result
from hsgen.tools.tune.propose import Table

Entries = Mapping[str, tuple[str, Table]]
"""Labels and tables by the names of entries."""
SMALL = (16, 64, 128)
"""Counts below those of a final comparison, which the first range serves too."""
VALUES = replace(PLAIN, value="v4")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The table of each label, start or best, and the labels that serve the counts of the comparison.

    `inner` is None if the ranges of the file stay.
    """

    chosen: Mapping[str, str]
    inner: Cut | None = None

    @property
    def crosses(self) -> bool:
        """Whether several labels serve the counts."""
        return self.inner is not None and len(self.inner) > 1

    @property
    def new(self) -> set[str]:
        """The labels whose table changes."""
        return {x for x, which in self.chosen.items() if which == BEST}


class Crossovers:
    """The plans for one width of keys, or for one table of another operation."""

    def __init__(
        self,
        data: dict[str, Any],
        found: Target,
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
        """Plan key width `number`, of which the labels of `raced` were tuned.

        `data` is the file.  `before` and `before_valued` are its ranges.  `entries` have tables that run, of which
        the budget may have reached only some, with `rounds`.
        """
        self._data, self._found, self._ending, self._number, self._key = data, found, ending, number, key
        self._before, self._before_valued = before, before_valued
        self._entries, self._rounds, self._raced = entries, rounds, raced

    def plans(self, chosen: Mapping[str, str]) -> list[Plan]:
        """Return the plans that use the chosen tables or the file's, and that no comparison so far excludes; the
        fastest comes first."""
        tables = [self._choices(x, which) for x, which in chosen.items()]
        every = [dict(zip(chosen, some, strict=True)) for some in product(*tables)]
        if not self._divisible(chosen):
            every.sort(key=lambda some: -sum(self._gain(x, which) for x, which in some.items()))
            return [Plan(chosen=some) for some in every if not any(self._loses(x, w) for x, w in some.items())]
        costs = []
        for some in every:
            cost, inner = priced(final.typical(self._rounds, some), final.slower(self._rounds, some, self._before))
            if inner:
                costs.append((cost, len(costs), Plan(chosen=some, inner=inner)))
        start = {x: START for x in chosen}
        if self._before and {final.entry(x, START) for x in chosen} <= set(self._rounds):
            times = final.typical(self._rounds, start)
            cost = price_of(self._before, times, sorted(set.intersection(*(set(t) for t in times.values()))))
            costs.append((cost, -1, Plan(chosen=start)))  # what the file has, if nothing costs less
        return [plan for _, _, plan in sorted(costs, key=lambda x: x[:2])]

    def _choices(self, label: str, which: str) -> tuple[str, ...]:
        """The tables that a label may have where `which` is its better one."""
        return (BEST, START) if which == BEST and final.entry(label, START) in self._rounds else (which,)

    def _divisible(self, chosen: Mapping[str, str]) -> bool:
        """Whether the counts can be divided: all of the file's algorithms were tuned, and compared at the counts of
        their races."""
        if not chosen or not all(operation(x).by_count for x in chosen):
            return False
        times = [self._rounds[final.entry(x, which)] for x, which in chosen.items()]
        raced = {n for x in chosen for n in self._raced[x]}
        compared = {label for label, _ in self._entries.values()}
        known = {x for x, _ in self._before} <= set(self._raced)
        return known and raced <= set.intersection(*(set(t) for t in times)) and compared <= set(chosen)

    def _gain(self, label: str, which: str) -> float:
        """The log speedup of a table over the file's."""
        return final.gain(self._rounds, label, sorted(self._raced[label]))[0] if self._pair(label, which) else 0.0

    def _pair(self, label: str, which: str) -> bool:
        """Whether a table is new and has one of the file to be compared with."""
        return which == BEST and final.entry(label, START) in self._rounds

    def _loses(self, label: str, which: str) -> bool:
        """Whether a table is slower than the file's at a count that it serves."""
        served = any(x == label for x, _ in self._before)
        return any(
            not served or serving(self._before, n) == label
            for _, n in final.slower(self._rounds, {label: which}, [])
            if self._pair(label, which)
        )

    def compared(self, plan: Plan) -> Result | None:
        """Compare a plan with the file where the final comparison did not; None if it is slower there."""
        data, result, tables = self._data, Result(), {}
        for label, which in plan.chosen.items():
            table = self._entries[final.entry(label, which)][1]
            data = changed(data, label, self._key, table)
            if table != (table_of(self._data, label, self._key) or {}):
                tables[label, self._key] = table
        after = self._before if plan.inner is None else self._divided(plan)
        if plan.inner is not None and not (after and self._serves(plan, after)):
            return None
        auto = dict(self._data.get(SORT, {}).get(self._key, {}))
        if any(operation(x).by_count for x in plan.chosen) and not self._valued(plan, after, data, auto):
            return None
        sorting = {x: w for x, w in plan.chosen.items() if operation(x).by_count}
        shown = final.rows(self._key, self._rounds, self._before, after, sorting)
        result.rows += shown or _alone(self._key, self._rounds, plan.chosen)
        result.tables |= tables
        renamed = rows(data, self._key, [x for x, _ in after], [n for _, n in after[:-1]]) if after else []
        if plan.inner is not None and (self._before or len(after) > 1):
            auto = {**{k: v for k, v in auto.items() if k in FIRST}, RANGES: renamed, **_only(auto, VALUED)}
            if auto != self._data.get(SORT, {}).get(self._key):
                result.autos[self._key] = auto
        elif auto != self._data.get(SORT, {}).get(self._key, {}):
            result.autos[self._key] = {**auto, RANGES: renamed}
        return result

    def _serves(self, plan: Plan, after: Cut) -> bool:
        """Whether each new table serves counts of the comparison, or no count at all and is never slower."""
        assert plan.inner is not None
        unused = plan.new - {x for x, _ in plan.inner}
        losses = {x for x, _ in final.slower(self._rounds, {x: BEST for x in unused}, [])}
        return not unused & {*losses, *(x for x, _ in after)}

    def _compare(self, plan: Plan, names: Collection[str], sizes: Sequence[int], signature: Signature) -> final.Rounds:
        """Time entries, for half of the time that is left at most, unless nothing follows."""
        last = plan.crosses and signature.value_bytes
        left = self._ending.budget.left(self._number) / (1 if last else 2)
        return self._ending.compare(self._key, self._some(names), sizes, signature, left, None, "crossover")

    def _some(self, names: Collection[str]) -> Entries:
        """The entries with these names."""
        return {x: self._entries[x] for x in self._entries if x in names}

    def _started(self, labels: Collection[str]) -> set[str]:
        """The entries of labels as the file has them, of those that run."""
        return {name for x in labels if (name := final.entry(x, START)) in self._rounds}

    def _counts(self, plan: Plan) -> list[int]:
        """The counts at which all tables of a plan were compared."""
        return sorted(set.intersection(*(set(self._rounds[final.entry(x, w)]) for x, w in plan.chosen.items())))

    def _divided(self, plan: Plan) -> Cut:
        """The ranges of a plan for all counts; empty if it is slower at one.

        Counts outside of the comparison are served as before.
        """
        counts = self._counts(plan)
        inner = self._refined(plan, counts)
        if not inner or (low := self._least(plan, inner, counts[0])) is None:
            return []
        return within(inner, self._before, low, counts[-1])

    def _refined(self, plan: Plan, counts: Sequence[int]) -> Cut:
        """Measure each crossover between two counts; the result is empty if the plan is slower there.

        Without time for it, the counts between the two are served as before.
        """
        assert plan.inner is not None
        out, unmeasured = list(plan.inner), kept(plan.inner, self._before, counts)
        for i, (low, high, sizes) in enumerate(between(plan.inner, counts)):
            pair = {x: plan.chosen[x] for x in (low, high)}
            were = {serving(self._before, n) for n in sizes} if self._before else set()
            names = {*(final.entry(*x) for x in pair.items()), *self._started(were)}
            rounds = self._compare(plan, names, sizes, PLAIN)
            if not _whole(rounds, names, sizes):
                out[i] = unmeasured[i]
                continue
            times = final.typical(rounds, pair)
            losses = final.slower(rounds, pair, self._before) if self._before else set()
            where = [{n for x, n in losses if x == label} for label in (low, high)]
            upto = refined(plan.inner[i][1], times[low], times[high], (where[0], where[1]))
            if upto is None:
                return []
            out[i] = low, upto
        return out

    def _least(self, plan: Plan, inner: Cut, least: int) -> int | None:
        """The count from which the first range serves: 1, or `least` if smaller counts are served as before.

        None if its table is slower there, and new.
        """
        label, sizes = inner[0][0], [n for n in SMALL if n < least]
        were = {serving(self._before, n) for n in sizes} if self._before else set()
        if not were or (were == {label} and label not in plan.new):
            return 1
        one = {label: plan.chosen[label]}
        names = {final.entry(*x) for x in one.items()} | self._started(were)
        rounds = self._compare(plan, names, sizes, PLAIN)
        if not _whole(rounds, names, sizes):
            return 1 if were == {label} else least
        if not final.slower(rounds, one, self._before):
            return 1
        return None if were & plan.new else least

    def _valued(self, plan: Plan, after: Cut, data: Mapping[str, Any], auto: dict[str, Any]) -> bool:
        """Set the ranges for keys with 4-byte values in `auto`; return whether the plan is no slower there.

        Without time for a comparison, the ranges of the file stay.
        """
        if not after or (not self._before_valued and len(after) < 2):
            return True
        labels, before = {x for x, _ in after}, self._before_valued
        usable = {x: plan.chosen[x] for x in [*labels, *(x for x, _ in before)] if x in plan.chosen}
        names = {final.entry(*x) for x in usable.items()} | self._started({x for x, _ in before})
        sizes = self._valued_sizes(plan, after)
        if not labels <= set(usable) or len(names) < 2 or not sizes:
            return self._stay(plan, data, auto, after)
        rounds = self._compare(plan, names, sizes, VALUES)
        if not _whole(rounds, names, sizes):
            new = {final.entry(x, BEST) for x in plan.new} & names
            if new - set(rounds) and self._ending.reached(self._key, self._some(names), sizes, VALUES):
                return False  # a new table fails with values
            return self._stay(plan, data, auto, after)
        slower = final.slower(rounds, usable, before) if before else set()
        times = final.typical(rounds, usable)
        _, inner = priced({x: times[x] for x in labels}, slower, labels)
        if not inner:
            _, inner = priced(times, slower, labels)
        if not inner:
            return False
        found = within(kept(inner, before, sorted(sizes)), before, 1, max(sizes))
        auto.pop(VALUED, None)
        if found != after:
            auto[VALUED] = rows(data, self._key, [x for x, _ in found], [n for _, n in found[:-1]])
        return True

    def _valued_sizes(self, plan: Plan, after: Cut) -> list[int]:
        """The counts to compare with values: up to four times the last crossover, or all for a new table."""
        ends = [n for _, n in (*after[:-1], *self._before_valued[:-1])]
        counts = [n for n in self._counts(plan) if plan.new or n <= 4 * max(ends, default=ALL)]
        return [*counts, *(n for n in SMALL if n < min(counts, default=0))]

    def _stay(self, plan: Plan, data: Mapping[str, Any], auto: dict[str, Any], after: Cut) -> bool:
        """Keep the ranges with values as they are, explicitly if the file derives them from ranges that change."""
        before = self._before_valued
        if plan.inner is not None and before and (VALUED in auto or after != self._before):
            auto[VALUED] = rows(data, self._key, [x for x, _ in before], [n for _, n in before[:-1]])
        return True


def _whole(rounds: final.Rounds, names: Collection[str], sizes: Sequence[int]) -> bool:
    """Whether all entries were timed at all counts."""
    return set(rounds) == set(names) and all(set(sizes) <= set(times) for times in rounds.values())


def _only(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The one key of a table; empty without it."""
    return {name: table[name]} if name in table else {}


def _alone(key: str, rounds: final.Rounds, chosen: Mapping[str, str]) -> list[final.Row]:
    """The rows of the first chosen table, as if it served all counts before and after."""
    label, which = next(iter(chosen.items()))
    return final.rows(key, rounds, [(label, ALL)], [(label, ALL)], {label: which})
