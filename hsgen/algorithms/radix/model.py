"""A model of the radix kernels in numpy: proves that a plan sorts, without a device.

Kernels are played one launch after the other on the same flags and tables that they have on a device.  What runs
inside a tile is not modelled: the places of its keys are taken from a stable sort.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.radix.schedule import DIRECT, REDO
from hsgen.algorithms.radix.shape import Params
from hsgen.algorithms.radix.words import columns
from hsgen.plan import launches
from hsgen.spec import Plan

Keys = NDArray[np.unsignedinteger]


class Fault(Exception):
    """A kernel does what it may not do."""


@dataclass(slots=True)
class Memory:
    """What the launches share: the three buffers of keys, and the words in scratch by their names."""

    buffers: list[Keys]
    in_place: bool
    where: dict[int, int] = field(default_factory=dict)
    order: dict[int, int] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    table: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    totals: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    histogram: list[NDArray[np.int64]] = field(default_factory=list)

    def store(self, to: int, place: NDArray[np.intp], keys: Keys) -> None:
        """Store keys; a kernel that reads the buffer it writes, or writes a source that must stay, is at fault."""
        if to == 0:
            raise Fault("a kernel writes the source")
        self.buffers[to][place] = keys


@dataclass(frozen=True, slots=True)
class Pass:
    """A launch's argument, unpacked, and its work-groups."""

    number: int
    shift: int
    mask: int
    redo: bool = False
    direct: bool = False
    groups: int = 0


def _pass(argument: int, groups: int) -> Pass:
    mask = (1 << (argument >> 16 & 15)) - 1
    redo, direct = bool(argument & REDO), bool(argument & DIRECT)
    return Pass(argument & 255, argument >> 8 & 255, mask, redo, direct, groups)


def _spans(p: Params, n: int) -> list[tuple[int, int]]:
    """The keys of each column of the table: of each work-group, or of each lane of the serial ranker."""
    tiles = -(-n // p.tile)
    groups = min(tiles, p.groups)
    if p.serial:
        chunks = groups * columns(p)
        each = -(-n // chunks)
        return [(min(c * each, n), min(c * each + each, n)) for c in range(chunks)]
    each = -(-tiles // groups) * p.tile
    return [(min(g * each, n), min(g * each + each, n)) for g in range(groups)]


def _digits(keys: Keys, at: Pass) -> NDArray[np.int64]:
    return ((keys >> keys.dtype.type(at.shift)).astype(np.uint64) & np.uint64(at.mask)).astype(np.int64)


def _place(p: Params, m: Memory, at: Pass) -> int:
    return 0 if at.number == 0 and p.coordination == "scan" else m.where[at.number]


def _idle(m: Memory, at: Pass) -> bool:
    return at.redo and not any(q in m.failed for q in range(at.number + 1))


def _count(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    if not _idle(m, at):
        digits = _digits(m.buffers[_place(p, m, at)][:n], at)
        m.table = np.stack([np.bincount(digits[a:b], minlength=p.radix) for a, b in _spans(p, n)], axis=1)
        m.totals = m.table.sum(axis=1)  # (the folded form sums the table in each scatter)


def _rows(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    if not _idle(m, at):  # one row of the table a work-group, or a lane
        digits = min(at.groups * (p.work_group if p.serial else 1), at.mask + 1)
        m.table[:digits] = (np.cumsum(m.table, axis=1) - m.table)[:digits]


def _scatter(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    if _idle(m, at):
        return
    place = _place(p, m, at)
    if p.coordination == "lookback":
        if m.order[at.number] == 0:
            return
        following = m.where[at.number + 1]
    else:
        skipped = bool((m.totals == n).any())
        following = place if skipped else 3 - place if place else 1 if at.direct else 2
        m.where[at.number + 1] = following
        if skipped:
            return
    table = np.cumsum(m.table, axis=1) - m.table if p.folded else m.table
    starts = np.cumsum(m.totals) - m.totals
    keys = m.buffers[place][:n].copy()
    if following == place or (m.in_place and {following, place} == {0, 1}):
        raise Fault("a pass stores where it reads")
    for column, (a, b) in enumerate(_spans(p, n)):
        _scattered(m, following, keys[a:b], at, starts + table[:, column])


def _scattered(m: Memory, to: int, keys: Keys, at: Pass, bases: NDArray[np.int64]) -> None:
    """Store keys in the order of their digits, each digit from its base on."""
    digits = _digits(keys, at)
    order = np.argsort(digits, kind="stable")
    counts = np.bincount(digits, minlength=len(bases))
    firsts = np.cumsum(counts) - counts
    m.store(to, bases[digits[order]] - firsts[digits[order]] + np.arange(len(keys)), keys[order])


def _begin(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    m.failed, m.histogram = set(), [np.zeros(p.radix, np.int64) for _ in p.digits]


def _histogram(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    for number, (shift, bits) in enumerate(p.digits):
        digits = _digits(m.buffers[0][:n], Pass(number, shift, (1 << bits) - 1))
        m.histogram[number] += np.bincount(digits, minlength=p.radix)


def _starts(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    live = [not (h == n).any() for h in m.histogram]
    first = 1 if at.direct and sum(live) % 2 else 2
    place, number = 0, 0
    for q, lives in enumerate(live):
        m.where[q] = place
        number += lives
        m.order[q] = number if lives else 0
        place = place if not lives else first if place == 0 else 3 - place
    m.where[len(live)] = place


def _onesweep(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    if m.order[at.number] == 0 or any(q in m.failed for q in range(at.number)):
        return
    place, following = m.where[at.number], m.where[at.number + 1]
    if following == place or (m.in_place and {following, place} == {0, 1}):
        raise Fault("a pass stores where it reads")
    keys = m.buffers[place][:n].copy()
    bases = np.cumsum(m.histogram[at.number]) - m.histogram[at.number]
    for tile, a in enumerate(range(0, n, p.tile)):
        part = keys[a : a + p.tile]
        if at.number in failing and tile % 2:
            m.failed.add(at.number)  # and every other tile was never stored
        else:
            _scattered(m, following, part, at, bases)
        bases = bases + np.bincount(_digits(part, at), minlength=p.radix)


def _copy(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    if (place := m.where[at.number]) != 1:
        m.buffers[1][:n] = m.buffers[place][:n]


def _single(p: Params, m: Memory, at: Pass, n: int, failing: Collection[int]) -> None:
    keys = m.buffers[0][:n].copy()
    for number, (shift, bits) in enumerate(p.digits):
        keys = keys[np.argsort(_digits(keys, Pass(number, shift, (1 << bits) - 1)), kind="stable")]
    m.buffers[1][:n] = keys


PLAY: dict[str, Callable[[Params, Memory, Pass, int, Collection[int]], None]] = {
    "count": _count,
    "rows": _rows,
    "scatter": _scatter,
    "scatter_lines": _scatter,
    "begin": _begin,
    "histogram": _histogram,
    "starts": _starts,
    "onesweep": _onesweep,
    "copy": _copy,
    "single": _single,
}


def _needed(p: Params, name: str, n: int, mask: int) -> int:
    """The work-groups without which a kernel leaves something undone."""
    tiles = -(-n // p.tile)
    if name == "onesweep":
        return tiles
    if name == "rows":
        return -(-(mask + 1) // p.work_group) if p.serial else mask + 1
    return 1 if name in ("single", "begin", "starts") else min(tiles, p.groups)


def run(
    p: Params, plan: Plan, keys: Keys, *, in_place: bool = False, failing: Collection[int] = ()
) -> tuple[Keys, set[int]]:
    """Return the destination after the sort of all `keys`, and the passes whose look-back failed.

    The passes in `failing` lose every other tile, as on a device without forward progress.

    Raises:
        Fault: a kernel writes what it may not write, or gets too few work-groups.
    """
    source = keys.copy()
    poison = np.full_like(keys, 0xA5)
    memory = Memory([source, source if in_place else poison.copy(), poison], in_place)
    for launch in launches(plan, len(keys), in_place=in_place):
        name, at = launch.step.kernel.removesuffix("_wide"), _pass(launch.step.argument, launch.groups)
        if at.groups < (least := _needed(p, name, len(keys), at.mask)):
            raise Fault(f"{name} gets {at.groups} work-groups and needs {least}")
        PLAY[name](p, memory, at, len(keys), failing)
    if not in_place and not np.array_equal(source, keys):
        raise Fault("the source was changed")
    return memory.buffers[1], memory.failed
