"""The end of a tuning: comparisons, validations and crossovers, up to the end of the budget.

Steps that exceed the budget are recorded too.  So the same command gives the same result again, and a command with a
greater budget does the missing steps.
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
"""Shows progress: the phase, what happens, and the seconds that are left."""
Disqualify = Callable[[str, Table, str, str], None]
"""Records the failure of a label's table: kind and reason."""


class Failed(Exception):
    """The winner of the races failed later.  The failure is recorded, so the journal now gives another result."""


class Ending:
    """Measurements of one tuning after its races.  A result that the journal has is not measured again."""

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
        """Return the rounds of entries at the counts `sizes`, measured within `left` seconds.

        The most important counts are first in `sizes`, because the time may end before the last.

        Raises:
            Failed: an entry failed; only with `disqualify`.
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
        """Record a comparison."""
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
        """Return the record of a comparison; None without one, or if this run's budget reaches farther."""
        named = {x: name_of(table) for x, (_, table) in entries.items()}
        for record in self._journal.of("final", key=key, value=signature.value):
            if record["entries"] == named and set(map(str, sizes)) <= set(record["sizes"]) and self._reached(record):
                return record
        return None

    def reached(
        self, key: str, entries: Mapping[str, tuple[str, Table]], sizes: Sequence[int], signature: Signature
    ) -> bool:
        """Return True if the journal has a comparison of these entries that was not cut by its budget."""
        record = self._compared(key, entries, sizes, signature)
        return record is not None and "budget" not in record

    def _reached(self, record: Record) -> bool:
        """Return True if a record is complete, or if its budget was no smaller than this run's."""
        return float(record.get("budget", self.budget.seconds)) >= self.budget.seconds

    def validate(self, key: str, label: str, table: Table, disqualify: Disqualify, *, new: bool) -> bool:
        """Run the complete quick validation on a chosen table; return False if the budget does not suffice.

        The validation of a `new` table, which the file does not have, may exceed the time left, but not take longer
        than the whole budget.

        Raises:
            Failed: a sort is wrong.
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
        """Record a validation that exceeded the time; return False."""
        record = {"what": "checked", "key": key, "label": label, "table": table, "cases": 0}
        self._journal.add({**record, "budget": self.budget.seconds, "took": round(took, 2)})
        self._show("skip", f"{why}; a greater --budget continues here", max(0.0, self.budget.left()))
        return False

    def _estimate(self, key: str, label: str, table: Table) -> float:
        """Return the estimated seconds of a complete validation, from the time of a case in a comparison.

        The estimate is 0 if the journal has no such time.
        """
        name, signature = name_of(table), operation(label).tuned
        for record in self._journal.of("final", key=key, value=signature.value):
            for entry, case in record.get("case", {}).items():
                if record["entries"].get(entry) == name and entry.split()[0] == label:
                    _, sort = checking.replace_table(self._target, label, key, table, signature)
                    pairs = validation.plan_cases(sort, full=False, seed=int(self._journal.head["seed"]))
                    return 2 * len(pairs) * float(case)
        return 0.0
