"""The end of a tuning, after its races: comparisons, validations and crossover measurements, within the budget.

Steps that did not fit into the budget are recorded with that budget.  If the same command runs again, it skips them and
gives the same result.  A command with a greater budget performs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hsgen.algorithms import operation
from hsgen.core.keys import PLAIN, Signature
from hsgen.targets.target import Target
from hsgen.tools.tune import checking, final
from hsgen.tools.tune.budget import Budget, words
from hsgen.tools.tune.journal import Journal, Record
from hsgen.tools.tune.propose import Table, name_of
from hsgen.tools.tune.race import FINAL
from hsgen.tools.tune.request import Runner
from hsgen.tools.tune.runner import Entry
from hsgen.tools.tune.search import Finish, Rung, rounded
from hsgen.tools.validate import validation

Show = Callable[[str, str, float], None]
"""A callback that shows progress.  Arguments: the phase, a description of the step, and the seconds left."""
Disqualify = Callable[[str, Table, str, str], None]
"""A callback that records a failure.  Arguments: the label, the table that failed, the kind, and the reason."""


class Failed(Exception):
    """A winner of the races failed in the final comparison or in a validation.

    The failure is in the journal.  Therefore a second attempt, with the same journal, chooses another winner.
    """


class Ending:
    """Performs comparisons and validations after the races, unless the journal contains their results already."""

    def __init__(self, target: Target, journal: Journal, runner: Runner, budget: Budget, show: Show) -> None:
        self._target, self._journal, self._runner, self._show = target, journal, runner, show
        self.budget = budget

    def compare(
        self,
        key: str,
        entries: Mapping[str, tuple[str, Table]],
        sizes: Sequence[int],
        signature: Signature,
        left: float,
        disqualify: Disqualify | None,
        phase: str,
    ) -> final.Rounds:
        """Time entries against each other at the counts `sizes`, for at most `left` seconds; return the times.

        entries: the (label, table) of each entry, by name.  sizes: the most important counts come first, because the
        time may run out before the last count.  disqualify: receives failures of entries; None ignores failures.

        Raises:
            Failed: an entry failed, and `disqualify` is not None.
        """
        named = {x: name_of(table) for x, (_, table) in entries.items()}
        if (record := self._compared(key, entries, sizes, signature)) is not None:
            known = final.rounds_of(record)
            return {x: {n: t for n, t in known[x].items() if n in sizes} for x in known}
        with_ = "" if signature == PLAIN else f" with values {signature.value}"
        title = f"{key}: {', '.join(entries)}{with_}, {min(sizes)} to {max(sizes)} keys"
        finish = Finish(late=list(entries))
        if left > 0:
            self._show(phase, title, self.budget.left())
            parts = {x: Entry(label=label, table=table) for x, (label, table) in entries.items()}
            rung = Rung(sizes=tuple(sizes), rounds=FINAL, keep=len(parts))

            def failed(name: str, kind: str, why: str) -> None:
                if disqualify is not None:
                    disqualify(entries[name][0], entries[name][1], kind, why)

            options: dict[str, Any] = {"signature": signature, "cases": 20, "seconds": left}
            finish = self._runner.run(parts, key, [rung], failed, **options)
            if disqualify is not None and finish.failed:
                raise Failed
        return self._record(key, named, sizes, signature, finish, title)

    def _record(
        self, key: str, named: Mapping[str, str], sizes: Sequence[int], signature: Signature, finish: Finish, title: str
    ) -> final.Rounds:
        """Record a comparison in the journal; return its times as the journal has them."""
        seconds = {x: {str(n): [rounded(y) for y in t] for n, t in s.items()} for x, s in finish.seconds.items()}
        record: Record = {"what": "final", "key": key, "value": signature.value, "entries": dict(named)}
        record |= {"sizes": [str(n) for n in sizes], "seconds": seconds, "took": round(finish.took, 2)}
        if finish.case:
            record["case"] = {x: rounded(s) for x, s in finish.case.items()}
        complete = all(len(s) == len(sizes) for s in finish.seconds.values()) and bool(finish.seconds)
        if finish.late or not (complete or finish.failed):
            record["budget"] = self.budget.seconds
            done = len(next(iter(finish.seconds.values()), {}))
            self._show("skip", f"{title}: {done} of {len(sizes)} counts within the budget", self.budget.left())
        self._journal.add(record)
        return final.rounds_of(record)

    def _compared(
        self, key: str, entries: Mapping[str, tuple[str, Table]], sizes: Sequence[int], signature: Signature
    ) -> Record | None:
        """Return the journal's record of a comparison.

        Return None if there is no record, or if the recorded comparison was cut short by a budget smaller than this
        run's budget.
        """
        named = {x: name_of(table) for x, (_, table) in entries.items()}
        for record in self._journal.of("final", key=key, value=signature.value):
            if record["entries"] == named and set(map(str, sizes)) <= set(record["sizes"]) and self._reached(record):
                return record
        return None

    def reached(
        self, key: str, entries: Mapping[str, tuple[str, Table]], sizes: Sequence[int], signature: Signature
    ) -> bool:
        """Return True if the journal has a complete comparison of these entries, which no budget cut short."""
        record = self._compared(key, entries, sizes, signature)
        return record is not None and "budget" not in record

    def _reached(self, record: Record) -> bool:
        """Return True if a record is complete, or if its step ran with at least this run's budget."""
        return float(record.get("budget", self.budget.seconds)) >= self.budget.seconds

    def validate(self, key: str, label: str, table: Table, disqualify: Disqualify, *, new: bool) -> bool:
        """Run all cases of the quick validation on a chosen table; return False if the budget does not suffice.

        new: the file does not contain the table.  The validation of a new table may take longer than the time left, if
        the estimate of its duration is at most the whole budget.

        Raises:
            Failed: the validation found an error.
        """
        for record in self._journal.of("checked", key=key, label=label):
            if record["table"] == table and self._reached(record):
                return bool(record["cases"])
        takes = self._estimate(key, label, table)
        left = self.budget.left()
        if left <= 0 or takes > (self.budget.seconds if new else left):
            why = f"takes about {words(takes)}" if takes else "has no time left"
            return self._unchecked(key, label, table, f"{label} {key}: a validation {why}", 0.0)
        self._show("validate", f"{label} {key}, the best", max(left, takes))

        def failed(name: str, kind: str, why: str) -> None:
            disqualify(label, table, kind, why)

        entry, seconds = Entry(label=label, table=table), max(left, 1.5 * takes)
        options: dict[str, Any] = {"signature": operation(label).tuned, "cases": 0, "seconds": seconds}
        finish = self._runner.run({label: entry}, key, [], failed, **options)
        if finish.failed:
            raise Failed
        if label not in finish.cases:
            took = words(finish.took)
            return self._unchecked(
                key, label, table, f"{label} {key}: a validation takes more than {took}", finish.took
            )
        record = {"what": "checked", "key": key, "label": label, "table": table, "cases": finish.cases[label]}
        self._journal.add({**record, "took": round(finish.took, 2)})
        return True

    def _unchecked(self, key: str, label: str, table: Table, why: str, took: float) -> bool:
        """Record a validation that did not run or did not finish, for lack of time; return False."""
        record = {"what": "checked", "key": key, "label": label, "table": table, "cases": 0}
        self._journal.add({**record, "budget": self.budget.seconds, "took": round(took, 2)})
        self._show("skip", f"{why}; a greater --budget continues here", max(0.0, self.budget.left()))
        return False

    def _estimate(self, key: str, label: str, table: Table) -> float:
        """Estimate the seconds of a complete validation, from the measured time of one case in an earlier comparison.

        Return 0 if the journal has no such time.
        """
        name, signature = name_of(table), operation(label).tuned
        for record in self._journal.of("final", key=key, value=signature.value):
            for entry, case in record.get("case", {}).items():
                if record["entries"].get(entry) == name and entry.split()[0] == label:
                    _, sort = checking.replace_table(self._target, label, key, table, signature)
                    pairs = validation.plan_cases(sort, full=False, seed=int(self._journal.head["seed"]))
                    return 2 * len(pairs) * float(case)
        return 0.0
