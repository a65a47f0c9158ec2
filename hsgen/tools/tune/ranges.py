"""Chooses the tables and the crossovers of one key width that a tuning writes into the target file.

Plans (`hsgen.tools.tune.plans`) are tried in turn, the fastest first.  The first plan that no measurement shows to be
slower than the file is used.  Measurements come from the final comparison, from counts near the plan's crossovers, from
small counts, and from sorts with values.  The plan that keeps the file unchanged always passes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hsgen.algorithms import operation
from hsgen.core.keys import PLAIN, Signature
from hsgen.targets.choices import ALL
from hsgen.targets.ranges import FIRST, LISTS, RANGES, SORT, VALUED
from hsgen.targets.tables import changed, rows, table_of
from hsgen.tools.tune import final
from hsgen.tools.tune.crossover import Cut, between, priced, raised, refined, serving, within
from hsgen.tools.tune.ending import Disqualify
from hsgen.tools.tune.final import BEST, START, Result
from hsgen.tools.tune.plans import Entries, Plan, Plans

SMALL = (16, 64, 128)
"""Counts of keys below the counts of a final comparison.  The first range of a plan usually serves them too."""
VALUES = replace(PLAIN, value="v4")


class Crossovers(Plans):
    """Chooses among the plans of `Plans`, with further comparisons between a plan and the file.

    The comparisons time what the final comparison did not: counts near crossovers, small counts, sorts with values.
    """

    def fastest(self, chosen: dict[str, str], fail: Disqualify) -> tuple[Plan, Result] | None:
        """Return the fastest plan that is not slower than the file at any count, and its result; None if there is none.

        The new tables of the plan have passed a validation within the budget.  A plan without crossovers is compared
        with the file first, and validated afterwards; a plan with crossovers is validated first.
        chosen: the table of each label, `START` or `BEST`.  fail: receives failures of validations.
        """
        excluded: list[Plan] = []
        while chosen and (plan := next((x for x in self.plans(chosen) if x not in excluded), None)) is not None:
            result = None if plan.crosses else self.compared(plan)
            if not plan.crosses and result is None:
                excluded.append(plan)
                continue
            passed = {
                x: self._ending.validate(self._key, x, self._entries[final.entry(x, w)][1], fail, new=x in plan.new)
                for x, w in plan.chosen.items()
            }
            lacking = {x for x in plan.new if not passed[x]}
            started = self._labels_started(lacking)
            if not lacking and (result := result or self.compared(plan)) is None:
                excluded.append(plan)
            elif not lacking and result is not None:
                return plan, result
            chosen = {x: START if x in started else w for x, w in chosen.items() if x not in lacking - started}
        return None

    def _labels_started(self, labels: Collection[str]) -> set[str]:
        """Return those of `labels` whose table in the file was timed."""
        return {x for x in labels if final.entry(x, START) in self._rounds}

    def compared(self, plan: Plan) -> Result | None:
        """Time a plan against the file where the final comparison has no times, and return the plan's result.

        Return None if the plan is slower than the file.
        """
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
            auto = {
                **{k: v for k, v in auto.items() if k in FIRST},
                RANGES: renamed,
                **{k: v for k, v in auto.items() if k in LISTS and k != RANGES},
            }
            if auto != self._data.get(SORT, {}).get(self._key):
                result.autos[self._key] = auto
        elif auto != self._data.get(SORT, {}).get(self._key, {}):
            result.autos[self._key] = {**auto, RANGES: renamed}
        return result

    def _serves(self, plan: Plan, after: Cut) -> bool:
        """Return True if each new table of the plan is useful, or at least harmless.

        A new table is useful if it serves a count of the final comparison.  A new table is harmless if it serves no
        count at all, and is at no count slower than the file's table of the same label.
        """
        assert plan.inner is not None
        unused = plan.new - {x for x, _ in plan.inner}
        losses = {x for x, _ in final.slower(self._rounds, {x: BEST for x in unused}, [])}
        return not unused & {*losses, *(x for x, _ in after)}

    def _compare(self, plan: Plan, names: Collection[str], sizes: Sequence[int], signature: Signature) -> final.Rounds:
        """Time entries against each other for at most half of the time that the key width has left.

        The last comparison, that of sorts with values, may use all of this time.
        """
        last = plan.crosses and signature.value_bytes
        left = self._ending.budget.left(self._number) / (1 if last else 2)
        return self._ending.compare(self._key, self._some(names), sizes, signature, left, None, "crossover")

    def _some(self, names: Collection[str]) -> Entries:
        """Return (label, table) of the entries with these names."""
        return {x: self._entries[x] for x in self._entries if x in names}

    def _started(self, labels: Collection[str]) -> set[str]:
        """Return the names of those `START` entries of the labels that were timed."""
        return {name for x in labels if (name := final.entry(x, START)) in self._rounds}

    def _counts(self, plan: Plan) -> list[int]:
        """Return the counts at which all tables of a plan were timed."""
        return sorted(set.intersection(*(set(self._rounds[final.entry(x, w)]) for x, w in plan.chosen.items())))

    def _divided(self, plan: Plan) -> Cut:
        """Return the ranges of a plan for all counts; empty if the plan is slower than the file at any measured count.

        Above the counts of the final comparison, the file's ranges stay.  Below, they stay if `_least` says so.
        """
        counts = self._counts(plan)
        inner = self._refined(plan, counts)
        if not inner or (low := self._least(plan, inner, counts[0])) is None:
            return []
        return within(inner, self._before, low, counts[-1])

    def _refined(self, plan: Plan, counts: Sequence[int]) -> Cut:
        """Locate each crossover of a plan more precisely; return the ranges with these crossovers.

        A crossover lies between two neighbouring counts of the final comparison.  Both labels are timed at counts
        between these two.  The result is empty if each possible crossover would make some count slower than the file.
        If there is no time to measure a crossover, `raised` places it as in the file's ranges.
        """
        assert plan.inner is not None
        out, unmeasured = list(plan.inner), raised(plan.inner, self._before, counts)
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
        """Return the first count that the plan's ranges serve; the file's ranges serve all smaller counts.

        least: the least count of the final comparison.  The result is 1 if the plan's first range may also serve all
        counts below `least`.  Otherwise the result is `least`.  The result is None if the table of the first range is
        slower than the file at small counts, but the plan replaces the table that serves these counts in the file.
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
        """Set the ranges for sorts with values in `auto`, a new table ``[sort.KEY]``, from times with 4-byte values.

        Return False if the plan is slower with values.  Without time for the comparison, the file's ranges stay.
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
                return False  # a new table fails in sorts with values
            return self._stay(plan, data, auto, after)
        slower = final.slower(rounds, usable, before) if before else set()
        times = final.typical(rounds, usable)
        _, inner = priced({x: times[x] for x in labels}, slower, labels)
        if not inner:
            _, inner = priced(times, slower, labels)
        if not inner:
            return False
        ranges = within(raised(inner, before, sorted(sizes)), before, 1, max(sizes))
        auto.pop(VALUED, None)
        if ranges != after:
            auto[VALUED] = rows(data, self._key, [x for x, _ in ranges], [n for _, n in ranges[:-1]])
        return True

    def _valued_sizes(self, plan: Plan, after: Cut) -> list[int]:
        """Return the counts at which sorts with values are compared.

        If the plan has a new table, these are all counts; otherwise only counts up to four times the last crossover.
        """
        ends = [n for _, n in (*after[:-1], *self._before_valued[:-1])]
        counts = [n for n in self._counts(plan) if plan.new or n <= 4 * max(ends, default=ALL)]
        return [*counts, *(n for n in SMALL if n < min(counts, default=0))]

    def _stay(self, plan: Plan, data: Mapping[str, Any], auto: dict[str, Any], after: Cut) -> bool:
        """Keep the file's ranges for sorts with values; return True.

        The file may lack these ranges, because they are the same as for sorts without values.  If the ranges for sorts
        without values change, the old ranges are written into `auto` for sorts with values.
        """
        before = self._before_valued
        if plan.inner is not None and before and (VALUED in auto or after != self._before):
            auto[VALUED] = rows(data, self._key, [x for x, _ in before], [n for _, n in before[:-1]])
        return True


def _whole(rounds: final.Rounds, names: Collection[str], sizes: Sequence[int]) -> bool:
    """Return True if all entries `names`, and no others, were timed at all counts `sizes`."""
    return set(rounds) == set(names) and all(set(sizes) <= set(times) for times in rounds.values())


def _alone(key: str, rounds: final.Rounds, chosen: Mapping[str, str]) -> list[final.Row]:
    """Return the rows of a result for an operation that has no ranges: its only label serves all counts."""
    label, which = next(iter(chosen.items()))
    return final.rows(key, rounds, [(label, ALL)], [(label, ALL)], {label: which})
