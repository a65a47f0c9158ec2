"""A model of the prefix sum's kernels in numpy: it executes a plan without a device.

In the look-back, where work-groups communicate while they run, each is a coroutine that stops at every atomic access,
and random numbers choose the next one: any order of accesses may occur, with torn states.  Memory starts with an
unlikely pattern, and `Fault` is raised if a row is not stored exactly once, or a required state is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.scan.params import PAYLOAD, Params
from hsgen.algorithms.scan.words import COUNTED, FAILED, OPEN, STATES, SUMMED, TICKET
from hsgen.core.interpreter import launches
from hsgen.core.sort import Sort

Rows = NDArray[np.unsignedinteger]
Words = NDArray[np.uint32]
PATTERN = 0xA5A5A5A5


class Fault(AssertionError):
    """An illegal operation of a kernel."""


class Device:
    """The kernels' view of a sum of n rows: `source` and `destination` (n, columns), and scratch."""

    def __init__(self, p: Params, source: Rows, destination: Rows, scratch: int, rng: np.random.Generator) -> None:
        self.p, self.source, self.destination, self.rng = p, source, destination, rng
        self.n = len(source)
        self.tiles = -(-self.n // p.tile)
        self.stored = np.zeros(self.n, bool)
        self.words: Words = np.full(scratch // 4, PATTERN, np.uint32)
        self.sums: Rows = self.words[: scratch // p.key.bytes * p.key.bytes // 4].view(source.dtype)

    def span(self, group: int) -> range:
        """The tiles of a work-group."""
        each = -(-self.tiles // self.p.groups)
        return range(min(group * each, self.tiles), min((group + 1) * each, self.tiles))

    def groups(self) -> int:
        """The work-groups that have tiles."""
        return -(-self.tiles // -(-self.tiles // self.p.groups))

    def rows(self, tile: int) -> slice:
        """The rows of a tile."""
        return slice(tile * self.p.tile, min((tile + 1) * self.p.tile, self.n))

    def total(self, tile: int) -> Rows:
        """The sums of a tile."""
        sums: Rows = self.source[self.rows(tile)].sum(axis=0, dtype=self.source.dtype)
        return sums

    def store(self, tile: int, before: Rows) -> None:
        """Store the sums of a tile after the prefix `before`; its rows are read first."""
        rows = self.rows(tile)
        if self.stored[rows].any():
            raise Fault(f"tile {tile} is stored twice")
        self.stored[rows] = True
        own = self.source[rows].copy()
        sums = np.cumsum(own, axis=0, dtype=own.dtype) + before
        self.destination[rows] = sums - own if self.p.exclusive else sums


def pieces(p: Params, value: int, what: int) -> list[int]:
    """Return the u32 of a state."""
    return [(value >> PAYLOAD * i) & ((1 << PAYLOAD) - 1) | what << PAYLOAD for i in range(p.pieces)]


def read(d: Device, tile: int, column: int) -> Generator[None, None, list[int]]:
    """Return the u32 of a state; stop before each read."""
    at = STATES + (tile * d.p.columns + column) * d.p.pieces
    out = []
    for i in range(d.p.pieces):
        yield
        out.append(int(d.words[at + i]))
    return out


def joined(words: list[int]) -> tuple[int, int]:
    """Return the kind of a state, 0 if its u32 disagree, and its sum."""
    what = {w >> PAYLOAD for w in words}
    value = sum((w & ((1 << PAYLOAD) - 1)) << PAYLOAD * i for i, w in enumerate(words))
    return (what.pop() if len(what) == 1 else 0), value


def _post(d: Device, tile: int, sums: Rows, what: int) -> Generator[None, None, None]:
    for column, value in enumerate(sums):
        at = STATES + (tile * d.p.columns + column) * d.p.pieces
        for i, word in enumerate(pieces(d.p, int(value), what)):
            yield
            d.words[at + i] = word


def _look(d: Device, tile: int, column: int) -> Generator[None, None, tuple[int, int]]:
    """Poll a state until it is published; return its kind and its sum, or the kind 4 if the limit is reached."""
    for spins in count(1) if d.p.forward_progress else range(1, d.p.spins + 1):
        what, value = joined((yield from read(d, tile, column)))
        if what:
            return what, value
        yield
        if not d.p.forward_progress and spins % 4 == 0 and d.words[FAILED]:  # the kernels poll less often
            break
    return 4, 0


def _group(d: Device) -> Generator[None, None, None]:
    """A work-group of the look-back; it stops before each atomic access."""
    p = d.p
    yield
    number = int(d.words[TICKET])
    d.words[TICKET] += 1
    if number >= d.tiles:
        return
    own = d.total(number)
    withheld = bool(p.withhold) and number % p.withhold == p.withhold - 1
    if not withheld:
        yield from _post(d, number, own, COUNTED)
    before = np.zeros_like(own)
    gave_up = bool(p.starve) and number % p.starve == p.starve - 1
    for column in range(p.columns):
        tile, sum_ = number - 1, 0
        while tile >= 0 and not gave_up:
            what, value = yield from _look(d, tile, column)
            gave_up, sum_ = what == 4, sum_ + value
            tile = tile - 1 if what == COUNTED else -1
        before[column] = sum_ & int(np.iinfo(own.dtype).max)
    if gave_up and withheld:
        yield from _post(d, number, own, COUNTED)
    if gave_up:
        d.words[FAILED] = 1
        return
    yield from _post(d, number, before + own, SUMMED)
    d.store(number, before)


def _in_section(d: Device) -> Generator[None, None, None]:
    """A work-group of the look-back within sections; it stops before each atomic access."""
    p = d.p
    yield
    number = int(d.words[TICKET])
    d.words[TICKET] += 1
    if number >= d.tiles:
        return
    own = d.total(number)
    last = number % p.section_tiles == p.section_tiles - 1
    withheld = bool(p.withhold) and number % p.withhold == p.withhold - 1
    if not last and not withheld:
        yield from _post(d, number, own, COUNTED)
    before = np.zeros_like(own)
    for tile in range(max(0, number - number % p.section_tiles - 1), number):
        for column in range(p.columns):
            _, value = yield from _look(d, tile, column)
            before[column : column + 1] += own.dtype.type(value)
    if last or withheld:
        yield from _post(d, number, before + own if last else own, COUNTED)
    d.store(number, before)


def _single(d: Device, groups: int) -> None:
    d.store(0, np.zeros_like(d.source[0]))


def _reduce(d: Device, groups: int) -> None:
    for group in range(groups):
        if span := d.span(group):
            rows = slice(d.rows(span[0]).start, d.rows(span[-1]).stop)
            at = group * d.p.columns
            d.sums[at : at + d.p.columns] = d.source[rows].sum(axis=0, dtype=d.source.dtype)


def _spine(d: Device, groups: int) -> None:
    table = d.sums[: d.groups() * d.p.columns].reshape(-1, d.p.columns)
    table[:] = np.cumsum(table, axis=0, dtype=table.dtype) - table


def _scan(d: Device, groups: int) -> None:
    table = d.sums[: d.groups() * d.p.columns].reshape(-1, d.p.columns)
    for group in range(groups):
        if span := d.span(group):
            before = table[:group].sum(axis=0, dtype=table.dtype) if d.p.serial else table[group].copy()
            for tile in span:
                own = d.total(tile)
                d.store(tile, before)
                before = before + own


def _begin(d: Device, groups: int) -> None:
    d.words[[TICKET] if d.p.forward_progress else [FAILED, TICKET]] = 0
    tiles = min(d.tiles, groups * d.p.cleared) if d.p.sections else d.tiles
    d.words[STATES : STATES + tiles * d.p.columns * d.p.pieces] = 0


def _lookback(d: Device, groups: int) -> None:
    _interleaved(d, [_group(d) for _ in range(groups)])


def _sections(d: Device, groups: int) -> None:
    _interleaved(d, [_in_section(d) for _ in range(groups)])


def _interleaved(d: Device, waiting: list[Generator[None, None, None]]) -> None:
    begun: list[Generator[None, None, None]] = []
    while waiting or begun:
        if waiting and (not begun or d.rng.integers(4) == 0):
            begun.append(waiting.pop())
        number = int(d.rng.integers(len(begun)))
        for _ in range(int(d.rng.integers(1, 40))):
            try:
                next(begun[number])
            except StopIteration:
                del begun[number]
                break


def _settle(d: Device, groups: int) -> None:
    if not d.words[FAILED]:
        return
    p, mask = d.p, int(np.iinfo(d.source.dtype).max)
    for column in range(p.columns):
        before = 0
        for tile in range(d.tiles):
            at = STATES + (tile * p.columns + column) * p.pieces
            what, value = joined([int(w) for w in d.words[at : at + p.pieces]])
            if what not in (COUNTED, SUMMED):
                raise Fault(f"tile {tile} has no state for column {column}")
            if what == COUNTED:
                d.words[at : at + p.pieces] = pieces(p, before, OPEN)
            before = value if what == SUMMED else (before + value) & mask


def _apply(d: Device, groups: int) -> None:
    if not d.words[FAILED]:
        return
    row = d.p.columns * d.p.pieces
    for group in range(groups):
        for tile in d.span(group):
            states = d.words[STATES + tile * row : STATES + (tile + 1) * row].reshape(d.p.columns, d.p.pieces)
            found = [joined([int(w) for w in state]) for state in states]
            if found[0][0] == OPEN:
                d.store(tile, np.array([value for _, value in found], d.source.dtype))


PLAY: dict[str, Callable[[Device, int], None]] = {
    "single": _single,
    "reduce": _reduce,
    "spine": _spine,
    "scan": _scan,
    "begin": _begin,
    "lookback": _lookback,
    "sections": _sections,
    "settle": _settle,
    "apply": _apply,
}


def run(sort: Sort, rows: Rows, *, in_place: bool, seed: int = 1, limit: int = 2**32 - 1) -> tuple[Rows, int]:
    """Return the destination after the sum of `rows` (n, columns), and whether tiles were repeated.

    In place the destination is `rows` itself.  `limit` is the device's greatest grid in one dimension.

    Raises:
        Fault: a row is not stored exactly once, or a repeated tile published nothing.
    """
    p = sort.parts[0].params
    assert isinstance(p, Params)
    out = rows if in_place else np.full_like(rows, PATTERN)
    d = Device(p, rows, out, sort.plan.scratch.bytes(len(rows)), np.random.default_rng(seed))
    for launch in launches(sort.plan, len(rows), limit, in_place=in_place):
        PLAY[launch.step.kernel](d, launch.grid[0] * launch.grid[1])
    if not d.stored.all():
        raise Fault(f"row {int(np.flatnonzero(~d.stored)[0])} was never stored")
    status = sort.plan.device_status
    return out, int(d.words[FAILED]) if status and len(rows) > status.min_n else 0
