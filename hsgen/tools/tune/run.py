"""A complete tuning: search each table, compare the winners with the file's tables, validate, and measure crossovers.

Every measurement is written to the journal, and all results are computed from the journal.
"""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from hsgen.algorithms import AUTO, operation
from hsgen.core.device import Device
from hsgen.core.errors import Wrong
from hsgen.targets.target import Target
from hsgen.tools.tune import final
from hsgen.tools.tune.budget import COMPARED, LEAST, Budget, Clock, enough, roomy, words
from hsgen.tools.tune.ending import Ending, Failed, Show
from hsgen.tools.tune.final import Result
from hsgen.tools.tune.journal import Journal
from hsgen.tools.tune.propose import Space, Table, name_of
from hsgen.tools.tune.ranges import Crossovers
from hsgen.tools.tune.request import Request, Runner, derived, starts
from hsgen.tools.tune.search import Finish, Hunt, Race, hunt

TOP = 1 << 28  # greatest count of keys in a final comparison
Group = tuple[str, str]
"""A group of tables that are compared with each other because they serve the same calls: (label, key width).

All sorts of a key width are one group, with the label `AUTO`.
"""


def _group(at: str) -> Group:
    """Return the group of the table `at` ("LABEL KEY").

    All sorts of one key width form one group.  A table of another operation is a group of its own.
    """
    label, key = at.split()
    return (AUTO if operation(label).by_count else label), key


class Tuning:
    """A tuning of one target on one kind of device."""

    def __init__(
        self,
        text: str,
        target: Target,
        request: Request,
        journal: Journal,
        runner: Runner,
        show: Show,
        clock: Clock = time.monotonic,
    ) -> None:
        """Continue the tuning in a journal, whose first line has the initial tables and the counts."""
        self._data, self._target = tomllib.loads(text), target
        self._runner, self._show = runner, show
        self.journal = journal
        self._present = starts(text, target, request)
        self.starts: dict[str, Table | None] = journal.head["start"]
        self._groups = list(dict.fromkeys(_group(at) for at in self.starts))
        facts: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in journal.head["facts"].items()}
        self._facts = Device(**facts)
        self.hunts = {at: self._hunt(at) for at in self.starts}
        top = min(TOP, 4 * max(max(sizes) for sizes in journal.head["sizes"].values()))
        self._sizes = [1 << b for b in range(8, top.bit_length()) if 1 << b <= top]
        self._budget = Budget(request.budget, len(self.hunts), len(self._groups), clock)
        self._ending = Ending(target, journal, runner, self._budget, show)

    def _hunt(self, at: str) -> Hunt:
        label, key = at.split()
        sizes = self.journal.head["sizes"][at]
        space = Space(label, key, self._facts, self.starts[at], max(sizes), derived(self._target, label, key))
        return Hunt(space, self.starts[at], sizes, self.journal)

    def perform(self) -> Result:
        """Perform the tuning; return the tables to write.

        Raises:
            Wrong: no shape works, or the budget is too small to compare any.
        """
        while True:
            try:
                return self._attempt()
            except Failed:
                continue

    def _attempt(self) -> Result:
        """Perform all steps that the journal lacks; return the result.

        Raises:
            Failed: a winner of the races failed in the final comparison or its validation.
            Wrong: no shape works, or the budget is too small to compare any.
        """
        if self._budget.tables < len(self.hunts):
            least = roomy(enough(len(self.hunts)))
            why = f"is too small for {len(self.hunts)} tables, for which --budget {least} would do"
            self._show("skip", f"--budget {words(self._budget.seconds)}: {why}", self._budget.seconds)
        for at in list(self.hunts)[self._budget.tables :]:
            why = f"a race needs {words(LEAST)}; allow more time, or name it with --key and --algorithm"
            self._show("skip", f"{at}: {why}", self._budget.seconds)
        for it in list(self.hunts.values())[: self._budget.tables]:
            left = partial(self._left, it, self._took(it), self._budget.now())
            budget = self._budget.seconds
            if any(r["budget"] >= budget for r in self.journal.of("late", **it.fields)):
                continue
            late: list[float] = []
            hunt(it, self._races(it, left, late), left, self._after, self._runner.at_once)
            if late:
                record = {"what": "late", **it.fields, "number": len(it.races()), "budget": budget}
                self.journal.add({**record, "took": round(sum(late), 2)})
        self._budget.close()
        result = Result()
        for number, group in enumerate(self._groups):
            self._end(number, group, result)
        if not result.rows:
            more = roomy(max(enough(len(self.hunts)), 2 * self._budget.seconds))
            hint = f"allow more than --budget {words(self._budget.seconds)}, such as {more} with this journal"
            hint += ", or name one --key and --algorithm, for a journal of its own" if len(self.hunts) > 1 else ""
            raise Wrong(f"target {self._target.name}: no shapes were compared in this time; {hint}")
        return result

    def _took(self, it: Hunt) -> float:
        return sum(float(r["took"]) for r in it.races())

    def _left(self, it: Hunt, took: float, begin: float) -> float:
        """Return the seconds that a table's search has left.

        took: the seconds that races of earlier runs used.  begin: the time at which this run began the search.
        """
        return self._budget.share - max(self._took(it), took + self._budget.now() - begin)

    def _races(
        self, it: Hunt, left: Callable[[], float], short: list[float]
    ) -> Callable[[Sequence[Race]], Sequence[Finish]]:
        """Return a function that runs races of a table's search.

        short: receives a number for each race that had to leave out candidates for lack of time.  The number is the
        race's duration in seconds, or 0 if the journal gets a record of the race, which has the duration.
        """

        def failed(race: Race, name: str, kind: str, why: str) -> None:
            it.fail(race.number, race.tables[name], kind, why)

        def run(races: Sequence[Race]) -> Sequence[Finish]:
            title = f"{it.space.label} {it.space.key}, {sum(len(x.tables) for x in races)} shapes"
            self._show("race", title, self._budget.seconds - self._budget.now())
            finishes = self._runner.races(races, failed, left())
            short.extend(0.0 if x.seconds else x.took for x in finishes if x.late)
            if late := sum(len(x.late) for x in finishes):
                skipped = f"{it.space.label} {it.space.key}: no time to compile and validate {late} shapes"
                self._show("skip", skipped, self._budget.seconds - self._budget.now())
            return finishes

        return run

    def _after(self, it: Hunt) -> None:
        board, best = it.board(complete=True), it.best()
        of = "the file's" if it.start is not None and name_of(it.start) in board else "the first best"
        rate = math.exp(board[best] if best else 0.0)
        summary = f"{len(it.tables())} shapes, {len(it.failures())} failed, best {rate:.2f} x {of}"
        self._show("found", f"{it.space.label} {it.space.key}: {summary}", self._budget.seconds - self._budget.now())

    def _end(self, number: int, group: Group, result: Result) -> None:
        """Choose the tables and the crossovers of a group, and add them to `result`.

        First, the best tables are compared with the tables in the journal's first line.  If the best tables win, and
        the file has changed since that line was written, the best tables are compared with the file's present tables
        too.  The comparison then decides.
        """
        key = group[1]
        ats = [at for at in self.hunts if _group(at) == group]
        autos = {k: [list(x) for x in auto] for k, auto in self._target.autos.items()}
        same = all(self._present[at] == self.starts[at] for at in ats)
        same = same and autos.get(key, []) == self.journal.head["autos"].get(key, [])
        outcome = self._chosen(number, group, self.starts, self.journal.head["autos"])
        if not same and (outcome.tables or outcome.autos):
            outcome = self._chosen(number, group, self._present, autos)
        for name in ("tables", "autos", "notes", "evidence"):
            getattr(result, name).update(getattr(outcome, name))
        result.rows += outcome.rows

    def _chosen(
        self, number: int, group: Group, present: Mapping[str, Table | None], autos: Mapping[str, Any]
    ) -> Result:
        """Compare the best tables of a group with the tables `present` and the ranges `autos`; return the result."""
        key, signature = group[1], operation(group[0]).tuned
        labels = [it.space.label for at, it in self.hunts.items() if _group(at) == group]
        begins = {x: self._running(f"{x} {key}", present) for x in labels}
        entries = final.tables_of(begins, {x: self._best(f"{x} {key}") for x in labels}, partial(self._same, key))
        if not entries:
            raise Wrong(f"target {self._target.name}: no shape for {key} keys runs; the journal says why")
        fail = partial(self._disqualify, key)
        left = self._budget.left(number, COMPARED)
        rounds = self._ending.compare(key, entries, self._by_weight(group), signature, left, fail, "compare")
        raced = {x: set(self.hunts[f"{x} {key}"].sizes) for x in labels}
        chosen = {x: w for x in labels if (w := final.chosen(rounds, x, raced[x], begins[x] is not None))}
        before: dict[str, Any] = {
            "before": [(x, upto) for x, upto in autos.get(key, [])],
            "before_valued": list(self._target.autos_valued.get(key, ())),
        }
        ranges = Crossovers(
            self._data, self._target, self._ending, number, key, **before, entries=entries, rounds=rounds, raced=raced
        )
        fastest = ranges.fastest(chosen, fail)
        if fastest is None:
            return Result()
        plan, result = fastest
        tables = {x: entries[final.entry(x, w)][1] for x, w in plan.chosen.items()}
        new = {x: final.note(result.rows, rounds, key, x, plan.chosen) for x in labels}
        result.notes |= {(x, key): note for x, note in new.items() if note}
        if all(self._ending.validate(key, x, t, fail, new=x in plan.new) for x, t in tables.items()):
            self._evidence(key, labels, tables, result)
        return result

    def _by_weight(self, group: Group) -> list[int]:
        """Return the counts of a final comparison: first the counts of the races, then all further powers of two."""
        raced = sorted({n for at, it in self.hunts.items() if _group(at) == group for n in it.sizes})
        return [*raced, *(n for n in self._sizes if n not in raced)]

    def _disqualify(self, key: str, label: str, table: Table, kind: str, why: str) -> None:
        self.hunts[f"{label} {key}"].disqualify(table, kind, why)

    def _evidence(self, key: str, labels: Sequence[str], tables: Mapping[str, Table], result: Result) -> None:
        cases = sum(r["cases"] for r in self.journal.of("checked", key=key) if r["table"] in tables.values())
        its = [self.hunts[f"{label} {key}"] for label in labels]
        tried, failed = sum(len(it.tables()) for it in its), sum(len(it.failures()) for it in its)
        result.evidence[" ".join([key, *(x for x in labels if not operation(x).by_count)])] = (
            f"{key} {' '.join(labels)}; {tried} shapes raced, {failed} of them failed; "
            f"validate, what was chosen: {cases} cases, 0 failures"
        )

    def _running(self, at: str, present: Mapping[str, Table | None]) -> Table | None:
        """Return the table `at` of `present`; None if there is none, or if it failed in a race."""
        table = present[at]
        return None if table is None or name_of(table) in self.hunts[at].failures() else table

    def _same(self, key: str, label: str, a: Table, b: Table) -> bool:
        """Return True if two tables of a label have the same parameters."""
        return self.hunts[f"{label} {key}"].space.same(a, b)

    def _best(self, at: str) -> Table | None:
        it = self.hunts[at]
        name = it.best()
        return None if name is None else it.tables()[name]
