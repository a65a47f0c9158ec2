"""Validation: run a compiled sort, or prefix sum, on a device over many inputs and compare with numpy.

Every case sorts `n` keys, or sums up `n` rows, in place and from one buffer into another.  Both buffers are framed by
guard words, which must survive, and an input that is only read must not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hsgen import sorts
from hsgen.backends.engine import Engine
from hsgen.cases import KINDS, SUMMANDS, Keys, Make, around, counts
from hsgen.spec import Plan, Sort

FRONT = 1024  # guard bytes before the keys, at least; a multiple of every device's base alignment
SHIFTS = 16  # places at which keys begin, a key or what the device asks for apart
QUICK, FULL = 4_000, 100_000  # cases, at least
_QUICK_TOP, _FULL_TOP = 1 << 17, 1 << 22
_FAR = (1 << 30) - 1  # counts beyond are those of kernels that count in 64 bits


@dataclass(frozen=True, slots=True)
class Case:
    """One input: count, kind, and whether it is sorted in place."""

    n: int
    kind: str
    in_place: bool
    items: str = "keys"

    def __str__(self) -> str:
        return f"{self.n} {self.items}, {self.kind}, {'in place' if self.in_place else 'out of place'}"


@dataclass(slots=True)
class Report:
    """What a validation of one sort found."""

    cases: int = 0
    failures: list[str] = field(default_factory=list)
    failed: int = 0

    def note(self, case: Case, what: str) -> None:
        """Record a failure; only the first few are kept as text."""
        self.failed += 1
        if len(self.failures) < 10:
            self.failures.append(f"{case}: {what}")


def block_of(sort: Sort) -> int:
    """Return the keys that one work-group sorts, or the rows that it sums up."""
    return sorts.block(sort)


def kinds_of(sort: Sort) -> dict[str, Make]:
    """Return every kind of input, by name; the first is random."""
    return SUMMANDS if sort.scan else KINDS


def expected_of(sort: Sort, keys: Keys) -> Keys:
    """Return what numpy makes of `keys`: sorted, or the sums of the columns of their rows, which wrap."""
    if not sort.scan:
        return np.sort(keys)
    rows = keys.reshape(-1, sort.columns)
    sums: Keys = np.cumsum(rows, axis=0, dtype=keys.dtype)
    if getattr(sort.parts[0].params, "exclusive", False):
        sums = np.concatenate([np.zeros_like(rows[:1]), sums[:-1]])
    return sums.reshape(-1)


def reach(plan: Plan) -> int:
    """Return the least count (to a power of two, roughly) at which every kernel of the plan has full work.

    Rows for counts from 2^30 on do not count: no validation tries these.
    """
    first: dict[str, int] = {}
    for step in plan.steps:
        if step.min_n < _FAR:
            first.setdefault(step.kernel, step.min_n)
    return min(2 * max(first.values()), plan.max_n)


def plan_cases(sort: Sort, *, full: bool, seed: int) -> list[tuple[int, str]]:
    """Return the (count, kind) pairs of a validation, each of which makes two cases.

    Counts reach every kernel.  A full one tries every kind at every count up to 4 blocks + 1 that it takes, again
    with other keys where blocks are too small for enough cases.  A quick one gives a count one kind by turns, and
    random keys besides where the sort changes its way or the count is large.
    """
    rng = np.random.default_rng(seed)
    kinds = list(kinds_of(sort))
    block = block_of(sort)
    dense = 4 * block + 1
    top = max((_FULL_TOP if full else _QUICK_TOP) // sort.columns, reach(sort.plan), dense)
    top = min(top, sort.plan.max_n)
    edges = sorts.edges(sort, top)
    near = around(edges, top)
    ns = counts(edges, block, top, -(-FULL // (2 * len(kinds))) if full else QUICK // 2, rng)
    pairs = [(n, kind) for n in ns if n <= dense for kind in kinds] if full else []
    pairs *= max(1, -(-FULL // (2 * len(pairs)))) if pairs else 1
    rest = [n for n in ns if n > dense] if full else ns
    pairs += [(n, kinds[i % len(kinds)]) for i, n in enumerate(rest)]
    pairs += [(n, kinds[0]) for n in rest if n in near or n > dense]
    return pairs + [(n, kinds[0]) for n in sorts.row_ends(sort, top)]


class Frame:
    """Two framed device buffers and what it takes to run cases in them."""

    def __init__(self, engine: Engine, greatest: int) -> None:
        self._engine = engine
        self._columns = engine.sort.columns
        self.dtype = np.dtype(f"u{engine.sort.key.bytes}")
        self.unit = max(engine.align, self.dtype.itemsize)
        self.back = block_of(engine.sort) * self._columns + 64
        for slot in (0, 1):
            room = (greatest * self._columns + self.back) * self.dtype.itemsize
            engine.allocate(slot, FRONT + SHIFTS * self.unit + room)
        self._guard = self.dtype.type(0x5AFEC0DE12345678 & np.iinfo(self.dtype).max)

    def framed(self, keys: Keys, shift: int = 0) -> Keys:
        """Return `keys` between guard words; they begin FRONT bytes and `shift` units into the image."""
        front = (FRONT + shift * self.unit) // self.dtype.itemsize
        image = np.full(front + len(keys) + self.back, self._guard, self.dtype)
        image[front : front + len(keys)] = keys
        return image

    def run(self, keys: Keys, expected: Keys, *, in_place: bool, shifts: tuple[int, int] = (0, 0)) -> str | None:
        """Sort `keys`, whose places are shifted by these units; say what is wrong, or return None."""
        n, (source, destination) = len(keys), shifts
        if in_place:
            destination = source
        before, after = self.framed(keys, source), self.framed(expected, destination)
        self._engine.write(0, before)
        if not in_place:
            self._engine.write(1, self.framed(np.full(n, self._guard, self.dtype), destination))
        slot = 0 if in_place else 1
        self._engine.run(n // self._columns, FRONT + source * self.unit, slot, FRONT + destination * self.unit)
        result = self._read(slot, len(after))
        if not np.array_equal(result, after):
            return self._describe(result, after, n, FRONT + destination * self.unit)
        if not in_place and not np.array_equal(self._read(0, len(before)), before):
            return "the input was changed"
        return None

    def _read(self, slot: int, size: int) -> Keys:
        image = np.empty(size, self.dtype)
        self._engine.read(slot, image)
        return image

    def _describe(self, result: Keys, after: Keys, n: int, place: int) -> str:
        front = place // self.dtype.itemsize
        at = int(np.flatnonzero(result != after)[0]) - front
        if at < 0:
            return f"the guard word {-at} before the keys was overwritten"
        if at >= n:
            return f"the guard word {at - n} after the keys was overwritten"
        what = "element" if self._engine.sort.scan else "key"
        return f"{what} {at} is {result[front + at]}, should be {after[front + at]}"


def run(
    engine: Engine,
    pairs: Sequence[tuple[int, str]],
    seed: int,
    *,
    stop: int = 2**62,
    progress: Callable[[Iterator[Any]], Iterator[Any]] = iter,
) -> Report:
    """Run both cases of every (count, kind) pair; end early after `stop` failures.

    Keys begin at other places from pair to pair.  `progress` wraps the iteration, to show how far it is.
    """
    report = Report()
    frame = Frame(engine, max((n for n, _ in pairs), default=0))
    rng = np.random.default_rng([seed, 1])
    sort = engine.sort
    kinds, items = kinds_of(sort), "rows" if sort.scan else "keys"
    for number, (n, kind) in enumerate(progress(iter(pairs))):
        keys = kinds[kind](rng, n * sort.columns, frame.dtype)
        expected = expected_of(sort, keys)
        shifts = (number * 5 % SHIFTS, number * 7 % SHIFTS)
        for in_place in (False, True):
            report.cases += 1
            problem = frame.run(keys, expected, in_place=in_place, shifts=shifts)
            if problem is not None:
                report.note(Case(n, kind, in_place, items), problem)
                if report.failed >= stop:
                    return report
    if said := engine.messages():
        report.failed += 1
        report.failures.append(f"the validation layers said: {said.splitlines()[0]}")
    return report
