"""The search for the best shape: which shapes race next, which shape leads, and when the search ends.

The search reads only the journal, never a device.  In a *race*, several shapes are timed in turn.  A race consists of
*rungs*; each rung times the shapes at further counts of keys.  After each rung, the slower shapes leave the race
(successive halving: Jamieson and Talwalkar, arXiv:1502.07943).  Every race includes a shape that raced before.
Therefore scores of different races are comparable, even if the machine was faster or slower at another hour.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hsgen.tools.tune.journal import Journal, Record
from hsgen.tools.tune.propose import Space, Table, name_of, propose

CANDIDATES = 8  # new shapes per race; machines with more processors race more, because they compile in parallel
BETTER = 0.01  # gain in log time; a smaller gain is treated as noise
LINK = 0.4  # log time by which the shape that links races (`Hunt._link`) may be slower than the best shape
PATIENCE = 6  # the search stops after this number of races without a better shape

Seconds = Mapping[str, Mapping[int, Sequence[float]]]
"""The times of all rounds in seconds, by candidate and count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A part of a race, in which all remaining candidates are timed at further counts.

    `sizes` are the counts, `rounds` the rounds at each count, and `keep` the number of candidates that remain
    afterwards.
    """

    sizes: tuple[int, ...]
    rounds: int
    keep: int


def rungs(sizes: Sequence[int], candidates: int) -> list[Rung]:
    """Return the rungs of a race over the counts `sizes`.

    The first rung measures two counts.  The second rung brings the measured counts to about half of `sizes`.  The third
    rung measures the rest.
    """
    spread = sorted({sizes[len(sizes) * 2 // 5], sizes[len(sizes) * 4 // 5]})
    half = [n for n in sizes[::2] if n not in spread]
    rest = [n for n in sizes if n not in spread and n not in half]
    third = -(-candidates // 3)
    parts = [(spread, max(2, third)), (half, max(2, -(-third // 2))), (rest, 1)]
    return [Rung(sizes=tuple(counts), rounds=7, keep=keep) for counts, keep in parts if counts]


def rounded(seconds: float) -> float:
    """Round seconds to four significant digits, as journals record them; the measurement is less precise."""
    return float(f"{seconds:.4g}")


def scores(seconds: Seconds, names: Sequence[str], base: str) -> dict[str, float]:
    """Return the log speedup of each candidate over the candidate `base`: the mean over the counts that both ran."""
    typical = {x: {n: math.log(statistics.median(t)) for n, t in seconds[x].items()} for x in {*names, base}}
    return {
        x: statistics.fmean(typical[base][n] - t for n, t in typical[x].items() if n in typical[base]) for x in names
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """A planned race.

    tables: the candidates by name.
    best: the candidate to which scores are relative, one that has raced before; None if no candidate has.
    stay: the candidates that take part in all rungs.
    """

    label: str
    key: str
    number: int
    tables: dict[str, Table]
    best: str | None
    rungs: list[Rung]
    stay: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Finish:
    """The result of a race.  Most fields are by candidate.

    seconds: the times by count.
    reached: the last rung in which a candidate took part.
    cases: the number of test cases in a candidate's validation.
    case: the seconds of one test case.
    failed: the kind and the reason of a failure.
    late: the candidates that could not be compiled or validated in time.
    took: the duration of the race in seconds.
    """

    seconds: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    cases: dict[str, int] = field(default_factory=dict)
    case: dict[str, float] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    took: float = 0.0


class Hunt:
    """The search for the best table of one label and one key width."""

    def __init__(self, space: Space, start: Table | None, sizes: Sequence[int], journal: Journal) -> None:
        self.space, self.start, self.sizes = space, start, list(sizes)
        self._journal, self._seed = journal, int(journal.head["seed"])
        self._count = int(journal.head.get("candidates", CANDIDATES))
        self.fields = {"label": space.label, "key": space.key}

    def races(self) -> list[Record]:
        """Return the records of all races so far."""
        return list(self._journal.of("race", **self.fields))

    def failures(self, before: int | None = None) -> dict[str, Record]:
        """Return the records of failures by the failed table's name.

        With `before`, the result has only failures in races with a number below `before`.
        """
        records = self._journal.of("failed", **self.fields)
        return {name_of(r["table"]): r for r in records if before is None or r["number"] < before}

    def _settled(self) -> dict[str, Record]:
        """Return the failures up to the last finished race.

        Failures of an unfinished race, which an interrupted run may have recorded, are left out.
        """
        return self.failures(len(self.races()))

    def board(self, upto: int | None = None, *, complete: bool = False) -> dict[str, float]:
        """Return the scores of shapes by name: log speedups over the initial table, from the first `upto` races.

        The score of a shape that raced several times is the mean of its scores.  With `complete`, shapes that never
        reached the last rung of a race are left out.  If `upto` is None, all races count, and failed shapes are left
        out.
        """
        results: dict[str, list[float]] = {name_of(self.start): [0.0]} if self.start is not None else {}
        known = dict.fromkeys(results, 0.0)
        best: set[str] = set(known)
        seconds: dict[str, Mapping[str, float]] = {}
        for record in self.races()[:upto]:
            base = known.get(record["best"] or "", 0.0) if record["best"] else _base(record, known, seconds)
            last = max((c["rung"] for c in record["candidates"]), default=0)
            for c in record["candidates"]:
                name = name_of(c["table"])
                if name != record["best"]:
                    results.setdefault(name, []).append(base + c["score"])
                seconds[name] = c["seconds"]
                if c["rung"] == last:
                    best.add(name)
            known = {name: statistics.fmean(x) for name, x in results.items()}
        failed = self._settled() if upto is None else {}
        return {x: s for x, s in known.items() if x not in failed and (x in best or not complete)}

    def tables(self) -> dict[str, Table]:
        """Return all tables tried so far, by name: the initial table, and those that raced or failed."""
        tables = {} if self.start is None else {name_of(self.start): self.start}
        tables |= {name_of(c["table"]): c["table"] for r in self.races() for c in r["candidates"]}
        return {**tables, **{x: r["table"] for x, r in self._settled().items()}}

    def best(self) -> str | None:
        """Return the name of the leading shape; None without scores.

        The initial table leads, unless another shape is faster by more than `BETTER`.
        """
        board = self.board(complete=True)
        if not board:
            return None
        lead = max(sorted(board), key=lambda x: board[x])
        start = None if self.start is None else name_of(self.start)
        return start if start in board and board[lead] - board[start] <= BETTER else lead

    def race(self, ahead: int = 0, reserved: Mapping[str, Table] | None = None) -> Race | None:
        """Return the next race to run; None if no new shape is left.

        ahead: the number of planned races that will run at the same time and have a smaller number.
        reserved: the tables of these races, which are not tried again.
        """
        number = len(self.races()) + ahead
        tables = {**self.tables(), **(reserved or {})}
        new = propose(self.space, self.board(), tables, self._count, number, self._seed)
        if not new:
            return None
        known = tuple(dict.fromkeys(x for x in (self._link(), self.best()) if x is not None))
        candidates = {**{x: tables[x] for x in known}, **{name_of(t): t for t in new}}
        # A run that was interrupted in this race may have recorded failures; the same race resumes without them.
        failed = self.failures()
        left = {x: t for x, t in candidates.items() if x not in failed}
        steps = rungs(self.sizes, len(candidates))
        return Race(**self.fields, number=number, tables=left, best=(*known, None)[0], rungs=steps, stay=known)

    def _link(self) -> str | None:
        """Return the shape that links the next race to earlier races, because scores are relative to it.

        The candidates are the initial table and the links of earlier races.  The result is the first of these shapes
        that is at most `LINK` slower than the best shape.  If there is no such shape, the best shape is the link.  The
        best shape is the last resort, because a lucky measurement in its first race would bias all later scores.
        """
        board, best = self.board(complete=True), self.best()
        start = [] if self.start is None else [name_of(self.start)]
        links = [x for x in (*start, *(r["best"] for r in self.races())) if x in board]
        return next((x for x in links if best is not None and board[x] >= board[best] - LINK), best)

    def fail(self, number: int, table: Table, kind: str, why: str) -> None:
        """Record that a shape failed in race `number`; a failed shape is never tried again."""
        self._journal.add({"what": "failed", **self.fields, "number": number, "table": table, "kind": kind, "why": why})

    def disqualify(self, table: Table, kind: str, why: str) -> None:
        """Record that a shape failed after its races, in the final comparison or its validation."""
        self.fail(len(self.races()) - 1, table, kind, why)

    def enter(self, race: Race, finish: Finish) -> None:
        """Record the scores and times of a finished race; its failures are already in the journal."""
        names = [x for x in race.tables if x in finish.seconds]
        base = race.best if race.best in finish.seconds else None
        if base is None and names:  # no earlier shape ran, so scores are relative to a shape of the last rung
            last = max(finish.reached[x] for x in names)
            base = next(x for x in names if finish.reached[x] == last)
        relative = scores(finish.seconds, names, base) if base else {}
        candidates = [
            {
                "table": race.tables[x],
                "rung": finish.reached[x],
                "score": round(relative[x], 4),
                "seconds": {str(n): rounded(statistics.median(t)) for n, t in finish.seconds[x].items()},
            }
            for x in names
        ]
        record = {"what": "race", **self.fields, "number": race.number, "best": race.best}
        self._journal.add({**record, "candidates": candidates, "took": round(finish.took, 2)})

    def stale(self) -> bool:
        """Return True if the last `PATIENCE` races found no better shape."""
        races = self.races()
        if len(races) <= PATIENCE:
            return False
        new = self.board(complete=True)
        old = self.board(len(races) - PATIENCE, complete=True)
        return bool(old) and max(new.values(), default=0.0) - max(old.values()) <= BETTER


def _base(record: Record, known: Mapping[str, float], seconds: Mapping[str, Mapping[str, float]]) -> float:
    """Return an estimate of the score of the shape to which the scores of a race without a link are relative.

    A shape of the race is compared with the best shape so far, by their times at the same counts in different races.
    The first race has no link if the file lacks the table.  A merged journal can have several such races.
    """
    last = max((c["rung"] for c in record["candidates"]), default=0)
    one = next((c for c in record["candidates"] if c["rung"] == last), None)
    lead = max((x for x in sorted(known) if x in seconds), key=lambda x: known[x], default=None)
    if one is None or lead is None or not (both := sorted(set(seconds[lead]) & set(one["seconds"]))):
        return 0.0
    ahead = statistics.fmean(math.log(seconds[lead][n] / one["seconds"][n]) for n in both)
    return known[lead] + ahead - float(one["score"])


Run = Callable[[Sequence[Race]], Sequence[Finish]]
"""A function that runs races, possibly at the same time, and returns their results in the same order."""


def hunt(it: Hunt, run: Run, left: Callable[[], float], progress: Callable[[Any], None], at_once: int = 1) -> None:
    """Run races, `at_once` at a time, until the search ends.

    The search ends when `left`, which returns the seconds left, returns 0 or less; when no new shape is left; when the
    search is stale; or when a race had to leave out candidates for lack of time.
    """
    while left() > 0 and not it.stale():
        races: list[Race] = []
        for ahead in range(at_once):
            reserved = {x: t for race in races for x, t in race.tables.items()}
            if (race := it.race(ahead, reserved)) is None:
                break
            races.append(race)
        if not races:
            return
        finishes = run(races)
        for race, finish in zip(races, finishes, strict=True):
            if finish.seconds or not finish.late:  # a race without times, for lack of time, is not recorded
                it.enter(race, finish)
        progress(it)
        if any(finish.late for finish in finishes):
            return
