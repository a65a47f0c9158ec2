"""The search: which shapes race next, which one leads, and when to stop.  It reads only the journal, never a device.

Shapes meet in *races*: all shapes of a race are timed in turns, in *rungs* of more and more counts, and the slower ones
leave after each rung (successive halving: Jamieson and Talwalkar, arXiv:1502.07943).  Every race includes a shape that
raced before, so that scores of different races, and of different hours, are comparable.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hsgen.tools.tune.journal import Journal, Record
from hsgen.tools.tune.propose import Space, Table, name_of, propose

CANDIDATES = 8  # new shapes per race, at least; more if more processors compile them
BETTER = 0.01  # relative time; a smaller gain is treated as noise
LINK = 0.4  # log time; the linking shape may be at most this much slower than the best
PATIENCE = 6  # races without a better shape, after which the search stops

Seconds = Mapping[str, Mapping[int, Sequence[float]]]
"""Times by candidate and count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A part of a race: further counts, the number of rounds, and the number of candidates that remain after it."""

    sizes: tuple[int, ...]
    rounds: int
    keep: int


def rungs(sizes: Sequence[int], candidates: int) -> list[Rung]:
    """Return the rungs of a race over `sizes`: two counts, half of all, and all of them."""
    spread = sorted({sizes[len(sizes) * 2 // 5], sizes[len(sizes) * 4 // 5]})
    half = [n for n in sizes[::2] if n not in spread]
    rest = [n for n in sizes if n not in spread and n not in half]
    third = -(-candidates // 3)
    made = [(spread, max(2, third)), (half, max(2, -(-third // 2))), (rest, 1)]
    return [Rung(sizes=tuple(some), rounds=7, keep=keep) for some, keep in made if some]


def rounded(seconds: float) -> float:
    """Return seconds as recorded in journals: four digits, beyond the precision of the measurement."""
    return float(f"{seconds:.4g}")


def scores(seconds: Seconds, names: Sequence[str], base: str) -> dict[str, float]:
    """Return the log speedup of each candidate over `base`, averaged over the counts that both ran."""
    typical = {x: {n: math.log(statistics.median(t)) for n, t in seconds[x].items()} for x in {*names, base}}
    return {
        x: statistics.fmean(typical[base][n] - t for n, t in typical[x].items() if n in typical[base]) for x in names
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """A planned race: tables by name.

    Scores are relative to `best`, which has raced before; None if none has.  Tables in `stay` take part in every rung.
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
    """The result of a race: times, the rung that each candidate reached, validated cases and the seconds of each,
    failures, candidates for which the time did not suffice, and the seconds that it took."""

    seconds: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    cases: dict[str, int] = field(default_factory=dict)
    case: dict[str, float] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    took: float = 0.0


class Hunt:
    """The search for one algorithm and width of keys."""

    def __init__(self, space: Space, start: Table | None, sizes: Sequence[int], journal: Journal) -> None:
        self.space, self.start, self.sizes = space, start, list(sizes)
        self._journal, self._seed = journal, int(journal.head["seed"])
        self._wanted = int(journal.head.get("candidates", CANDIDATES))
        self.mine = {"label": space.label, "key": space.key}

    def races(self) -> list[Record]:
        """Return the races so far."""
        return list(self._journal.of("race", **self.mine))

    def failures(self, before: int | None = None) -> dict[str, Record]:
        """Return failures by name: of the races before a number, or of all races and finals."""
        found = self._journal.of("failed", **self.mine)
        return {name_of(r["table"]): r for r in found if before is None or r["number"] < before}

    def _settled(self) -> dict[str, Record]:
        """Failures, except those of the next race, of which an interrupted run may have recorded some."""
        return self.failures(len(self.races()))

    def board(self, upto: int | None = None, *, whole: bool = False) -> dict[str, float]:
        """Return the scores of all shapes in the first `upto` races (None: in all), relative to the start.

        The score of a shape in several races is their mean.  `whole` omits shapes that never reached the last rung.
        With all races, shapes that failed later are omitted.
        """
        found: dict[str, list[float]] = {name_of(self.start): [0.0]} if self.start is not None else {}
        known = dict.fromkeys(found, 0.0)
        best: set[str] = set(known)
        seconds: dict[str, Mapping[str, float]] = {}
        for record in self.races()[:upto]:
            base = known.get(record["best"] or "", 0.0) if record["best"] else _base(record, known, seconds)
            last = max((c["rung"] for c in record["candidates"]), default=0)
            for c in record["candidates"]:
                name = name_of(c["table"])
                if name != record["best"]:
                    found.setdefault(name, []).append(base + c["score"])
                seconds[name] = c["seconds"]
                if c["rung"] == last:
                    best.add(name)
            known = {name: statistics.fmean(x) for name, x in found.items()}
        failed = self._settled() if upto is None else {}
        return {x: s for x, s in known.items() if x not in failed and (x in best or not whole)}

    def tables(self) -> dict[str, Table]:
        """Return all tables that took part in races, by name."""
        found = {} if self.start is None else {name_of(self.start): self.start}
        found |= {name_of(c["table"]): c["table"] for r in self.races() for c in r["candidates"]}
        return {**found, **{x: r["table"] for x, r in self._settled().items()}}

    def best(self) -> str | None:
        """Return the name of the leading shape: the start, unless another is faster by more than `BETTER`."""
        board = self.board(whole=True)
        if not board:
            return None
        lead = max(sorted(board), key=lambda x: board[x])
        own = None if self.start is None else name_of(self.start)
        return own if own in board and board[lead] - board[own] <= BETTER else lead

    def race(self, ahead: int = 0, taken: Mapping[str, Table] | None = None) -> Race | None:
        """Return the next race, or the one `ahead` of it without new shapes in `taken`; None if no shape is left."""
        number = len(self.races()) + ahead
        tables = {**self.tables(), **(taken or {})}
        found = propose(self.space, self.board(), tables, self._wanted, number, self._seed)
        if not found:
            return None
        known = tuple(dict.fromkeys(x for x in (self._link(), self.best()) if x is not None))
        candidates = {**{x: tables[x] for x in known}, **{name_of(t): t for t in found}}
        # A race that resumes after an interruption omits its recorded failures and is otherwise the same.
        failed = self.failures()
        left = {x: t for x, t in candidates.items() if x not in failed}
        made = rungs(self.sizes, len(candidates))
        return Race(**self.mine, number=number, tables=left, best=(*known, None)[0], rungs=made, stay=known)

    def _link(self) -> str | None:
        """Return the table that links the next race to earlier ones: the first that did so and is not much slower.

        If the best were the link, its luck in its first race would carry over to all later scores.
        """
        board, best = self.board(whole=True), self.best()
        start = [] if self.start is None else [name_of(self.start)]
        links = [x for x in (*start, *(r["best"] for r in self.races())) if x in board]
        return next((x for x in links if best is not None and board[x] >= board[best] - LINK), best)

    def fail(self, number: int, table: Table, kind: str, why: str) -> None:
        """Record that a shape failed in race `number`; a failed shape is never tried again."""
        self._journal.add({"what": "failed", **self.mine, "number": number, "table": table, "kind": kind, "why": why})

    def disqualify(self, table: Table, kind: str, why: str) -> None:
        """Record that a shape failed after its races."""
        self.fail(len(self.races()) - 1, table, kind, why)

    def enter(self, race: Race, finish: Finish) -> None:
        """Record a race, whose failures are already recorded."""
        names = [x for x in race.tables if x in finish.seconds]
        base = race.best if race.best in finish.seconds else None
        if base is None and names:  # then scores are relative to the best of this race
            last = max(finish.reached[x] for x in names)
            base = next(x for x in names if finish.reached[x] == last)
        found = scores(finish.seconds, names, base) if base else {}
        candidates = [
            {
                "table": race.tables[x],
                "rung": finish.reached[x],
                "score": round(found[x], 4),
                "seconds": {str(n): rounded(statistics.median(t)) for n, t in finish.seconds[x].items()},
            }
            for x in names
        ]
        record = {"what": "race", **self.mine, "number": race.number, "best": race.best}
        self._journal.add({**record, "candidates": candidates, "took": round(finish.took, 2)})

    def stale(self) -> bool:
        """Whether the last `PATIENCE` races found nothing better."""
        races = self.races()
        if len(races) <= PATIENCE:
            return False
        new = self.board(whole=True)
        old = self.board(len(races) - PATIENCE, whole=True)
        return bool(old) and max(new.values(), default=0.0) - max(old.values()) <= BETTER


def _base(record: Record, known: Mapping[str, float], seconds: Mapping[str, Mapping[str, float]]) -> float:
    """The base score of a race without a link, from the times of the best shape at the same counts.

    A journal of a table that the file lacks starts with such a race; a merged journal can have several.
    """
    last = max((c["rung"] for c in record["candidates"]), default=0)
    one = next((c for c in record["candidates"] if c["rung"] == last), None)
    lead = max((x for x in sorted(known) if x in seconds), key=lambda x: known[x], default=None)
    if one is None or lead is None or not (both := sorted(set(seconds[lead]) & set(one["seconds"]))):
        return 0.0
    ahead = statistics.fmean(math.log(seconds[lead][n] / one["seconds"][n]) for n in both)
    return known[lead] + ahead - float(one["score"])


Run = Callable[[Sequence[Race]], Sequence[Finish]]
"""Runs races, possibly concurrently, and reports failures as they occur."""


def hunt(it: Hunt, run: Run, left: Callable[[], float], progress: Callable[[Any], None], at_once: int = 1) -> None:
    """Race until no time is `left` (seconds), no new shape is left, or nothing better is found."""
    while left() > 0 and not it.stale():
        races: list[Race] = []
        for ahead in range(at_once):
            taken = {x: t for race in races for x, t in race.tables.items()}
            if (race := it.race(ahead, taken)) is None:
                break
            races.append(race)
        if not races:
            return
        finishes = run(races)
        for race, finish in zip(races, finishes, strict=True):
            if finish.seconds or not finish.late:  # else the time did not suffice
                it.enter(race, finish)
        progress(it)
        if any(finish.late for finish in finishes):
            return
