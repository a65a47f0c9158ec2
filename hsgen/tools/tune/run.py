"""A whole tuning: search each table, compare the best with the file's, validate them, and find the crossovers.

Every measurement is recorded in the journal first, and results are computed from the journal.
"""

from __future__ import annotations

import math
import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hsgen.algorithms import operation
from hsgen.core.device import Device
from hsgen.core.errors import Wrong
from hsgen.core.keys import PLAIN, Signature
from hsgen.targets.choices import ALL
from hsgen.targets.ranges import RANGES, SORT, VALUED
from hsgen.targets.tables import changed, rows, table_of
from hsgen.targets.target import Target
from hsgen.tools.tune import final
from hsgen.tools.tune.crossover import between, cut, refined, threshold
from hsgen.tools.tune.final import Result
from hsgen.tools.tune.journal import Journal
from hsgen.tools.tune.propose import Space, Table, name_of
from hsgen.tools.tune.race import FINAL
from hsgen.tools.tune.request import Request, Runner
from hsgen.tools.tune.runner import Entry
from hsgen.tools.tune.search import Finish, Hunt, Race, Rung, hunt, rounded

SEARCH = 0.75  # of the budget; the rest is for the finals
TOP = 1 << 28  # keys of a final at most


class _Failed(Exception):
    """The winner of the races failed later.  The failure is recorded, so the journal now gives another result."""


class Tuning:
    """A tuning of one target on one kind of device."""

    def __init__(
        self,
        text: str,
        found: Target,
        request: Request,
        journal: Journal,
        runner: Runner,
        progress: Callable[[str], None],
    ) -> None:
        """Resume from a journal, whose first line has the tables and counts; `progress` shows progress."""
        self._data, self._found, self._request = tomllib.loads(text), found, request
        self._runner, self._progress = runner, progress
        self.journal = journal
        self.starts: dict[str, Table | None] = journal.head["start"]
        self.keys = list(dict.fromkeys(x.split()[1] for x in self.starts))
        facts: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in journal.head["facts"].items()}
        self._facts = Device(**facts)
        self.hunts = {at: self._hunt(at) for at in self.starts}
        top = min(TOP, 4 * max(max(sizes) for sizes in journal.head["sizes"].values()))
        self._sizes = [1 << b for b in range(8, top.bit_length()) if 1 << b <= top]

    def _hunt(self, at: str) -> Hunt:
        label, key = at.split()
        sizes = self.journal.head["sizes"][at]
        return Hunt(Space(label, key, self._facts, self.starts[at], max(sizes)), self.starts[at], sizes, self.journal)

    def perform(self) -> Result:
        """Search, compare, and return what to write.

        Raises:
            Wrong: no shape runs.
        """
        while True:
            try:
                return self._attempt()
            except _Failed:
                continue

    def _attempt(self) -> Result:
        """Compute the result from the journal; measure and record what it lacks."""
        share = self._request.budget * SEARCH / len(self.hunts)
        for it in self.hunts.values():
            hunt(it, self._races(it), partial(self._left, it, share), self._show, self._runner.at_once)
        result = Result()
        for key in self.keys:
            self._end(key, result)
        return result

    def _races(self, it: Hunt) -> Callable[[Sequence[Race]], Sequence[Finish]]:
        def failed(race: Race, name: str, kind: str, why: str) -> None:
            it.fail(race.number, race.tables[name], kind, why)

        return lambda races: self._runner.races(races, failed)

    def _left(self, it: Hunt, share: float) -> float:
        return share - sum(float(r["took"]) for r in it.races())

    def _show(self, it: Hunt) -> None:
        board, best = it.board(whole=True), it.best()
        of = "the file's" if it.start is not None and name_of(it.start) in board else "the first best"
        rate = math.exp(board[best] if best else 0.0)
        tried = len(it.tables())
        self._progress(
            f"{it.space.label} {it.space.key}: {tried} shapes, {len(it.failures())} failed, best {rate:.2f} x {of}"
        )

    def _end(self, key: str, result: Result) -> None:
        """Choose the tables and crossovers of one key width."""
        labels = self._labels(key)
        begins = {x: self._begin(f"{x} {key}") for x in labels}
        bests = {x: self._best(f"{x} {key}") for x in labels}
        entries = final.tables_of(begins, bests)
        if not entries:
            raise Wrong(f"target {self._found.name}: no shape for {key} keys runs; the journal says why")
        rounds = self._final(key, entries, self._sizes, PLAIN)
        chosen = {
            x: final.which(rounds, x, self.hunts[f"{x} {key}"].sizes)
            for x in labels
            if any(final.entry(x, w) in rounds for w in (final.START, final.BEST))
        }
        tables = {x: entries[final.entry(x, w)][1] for x, w in chosen.items()}
        for label, table in tables.items():
            self._validate(key, label, table)
        for label, table in tables.items():
            if table != table_of(self._data, label, key):
                result.tables[label, key] = table
        self._cut(key, rounds, chosen, tables, result)
        cases = sum(r["cases"] for r in self.journal.of("checked", key=key) if r["table"] in tables.values())
        its = [it for at, it in self.hunts.items() if at.endswith(f" {key}")]
        tried, failed = sum(len(it.tables()) for it in its), sum(len(it.failures()) for it in its)
        result.evidence[key] = (
            f"{key} {' '.join(labels)}; {tried} shapes raced, {failed} of them failed; "
            f"validate, what was chosen: {cases} cases, 0 failures"
        )

    def _labels(self, key: str) -> list[str]:
        """The tuned labels of one key width."""
        return [it.space.label for it in self.hunts.values() if it.space.key == key]

    def _begin(self, at: str) -> Table | None:
        start = self.starts[at]
        return None if start is None or name_of(start) in self.hunts[at].failures() else start

    def _best(self, at: str) -> Table | None:
        it = self.hunts[at]
        name = it.best()
        return None if name is None else it.tables()[name]

    def _final(
        self, key: str, entries: Mapping[str, tuple[str, Table]], sizes: Sequence[int], signature: Signature
    ) -> final.Rounds:
        """Return the rounds of these entries, from the journal if it has them."""
        named = {x: name_of(table) for x, (_, table) in entries.items()}
        for record in self.journal.of("final", key=key, value=signature.value):
            if record["entries"] == named and set(map(str, sizes)) <= set(record["sizes"]):
                known = final.rounds_of(record)
                return {x: {n: t for n, t in known[x].items() if n in sizes} for x in known}
        with_ = "" if signature == PLAIN else f" with values {signature.value}"
        self._progress(f"{key}: comparing {', '.join(entries)}{with_}, {min(sizes)} to {max(sizes)} keys")
        parts = {x: Entry(label=label, table=table) for x, (label, table) in entries.items()}
        rung = Rung(sizes=tuple(sizes), rounds=FINAL, keep=len(parts))

        def failed(name: str, kind: str, why: str) -> None:
            if signature == PLAIN:
                label, table = entries[name]
                self.hunts[f"{label} {key}"].disqualify(table, kind, why)

        finish = self._runner.run(parts, key, [rung], failed, signature=signature, cases=20)
        if signature == PLAIN and finish.failed:
            raise _Failed
        self.journal.add(
            {
                "what": "final",
                "key": key,
                "value": signature.value,
                "entries": named,
                "sizes": [str(n) for n in sizes],
                "seconds": {
                    x: {str(n): [rounded(x) for x in t] for n, t in s.items()} for x, s in finish.seconds.items()
                },
                "took": round(finish.took, 2),
            }
        )
        return final.rounds_of(self.journal.records[-1])

    def _validate(self, key: str, label: str, table: Table) -> None:
        """Run the complete quick validation on a chosen table."""
        if any(r["table"] == table for r in self.journal.of("checked", key=key, label=label)):
            return
        self._progress(f"{label} {key}: validating the best")

        def failed(name: str, kind: str, why: str) -> None:
            self.hunts[f"{label} {key}"].disqualify(table, kind, why)

        finish = self._runner.run({label: Entry(label=label, table=table)}, key, [], failed, cases=0)
        if finish.failed:
            raise _Failed
        record = {"what": "checked", "key": key, "label": label, "table": table, "cases": finish.cases[label]}
        self.journal.add({**record, "took": round(finish.took, 2)})

    def _cut(
        self, key: str, rounds: final.Rounds, chosen: Mapping[str, str], tables: Mapping[str, Table], result: Result
    ) -> None:
        """Compute ``[sort.KEY]`` and the rows to show."""
        sorting = {x: w for x, w in chosen.items() if operation(x).by_count}
        before = [(label, upto) for label, upto in self.journal.head["autos"].get(key, [])]
        if not sorting:
            label, which = next(iter(chosen.items()))
            result.rows += final.rows(key, rounds, [(label, ALL)], [(label, ALL)], {label: which})
            return
        entries = {x: (x, tables[x]) for x in sorting}
        after = cut(final.typical(rounds, sorting))
        places = between(after, list(self._sizes))
        for i, (low, high, sizes) in enumerate(places):
            some = self._final(key, {x: entries[x] for x in (low, high)}, sizes, PLAIN)
            if {low, high} <= set(some):
                times = {x: {n: statistics.median(t) for n, t in some[x].items()} for x in (low, high)}
                after[i] = low, refined(after[i][1], times[low], times[high])
        result.rows += final.rows(key, rounds, before, after, sorting)
        if (not before and len(after) < 2) or not {x for x, _ in before} <= set(self._labels(key)):
            return  # without all of the file's algorithms tuned, their crossovers are unknown
        data = self._data
        for (label, width), table in result.tables.items():
            data = changed(data, label, width, table)
        labels, upto = [x for x, _ in after], [n for _, n in after[:-1]]
        auto = {RANGES: rows(data, key, labels, upto)}
        if upto and (valued := self._valued(key, {x: entries[x] for x in labels}, upto[-1])) and valued != upto:
            auto[VALUED] = rows(data, key, labels, valued)
        if auto != data.get(SORT, {}).get(key):
            result.autos[key] = auto

    def _valued(self, key: str, entries: Mapping[str, tuple[str, Table]], upto: int) -> list[int]:
        """Return the crossovers for keys with 4-byte values; none if the sorts cannot be compared.

        They lie below those of keys without values, or not far above `upto`, the last of these.
        """
        signature = replace(PLAIN, value="v4")
        sizes = [n for n in self._sizes if n <= 4 * upto]
        rounds = self._final(key, entries, sizes, signature)
        if set(rounds) != set(entries):
            return []
        return threshold({x: {n: statistics.median(t) for n, t in s.items()} for x, s in rounds.items()}, list(entries))
