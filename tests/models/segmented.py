"""A model of the kernels of segmented sorts in numpy: proves that a plan sorts, without a device.

Launches run sequentially on the scratch layout of a device.  Work within a tile is not modelled: a stable sort gives
its order.  Lists have a random order.  Where windows are sorted by bins, random ones are crowded, or all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.segmented.kernels import kernels
from hsgen.algorithms.segmented.params import Params
from hsgen.algorithms.segmented.plan import sifted
from hsgen.algorithms.segmented.words import (
    COLUMNS,
    GREATEST,
    HEAD,
    HUGES,
    LARGES,
    MEDIUMS,
    PARTS,
    STATUS,
    WHERE,
    layout,
)
from hsgen.core.flags import DIRECT, ROWS
from hsgen.core.interpreter import PLAIN, Launch, Options, bit_range, launches
from hsgen.core.plan import CallNumber, Plan
from hsgen.operations import oracle

Keys = NDArray[np.unsignedinteger]
Places = NDArray[np.int64]
_ROLES = {"source": "source", "destination": "destination", "values_in": "values", "values_out": "values_out"}
_ROLES |= {"offsets": "other", "stops": "other_values", "counted": "count"}


class Fault(Exception):
    """An illegal operation of a kernel."""


@dataclass(frozen=True, slots=True)
class Result:
    """The destination, the source indices of its keys (-1 if nothing was stored), and whether offsets were refused."""

    keys: Keys
    places: Places
    refused: bool


class _Play:
    """A call: its buffers by the numbers that kernels use (0 source, 1 destination, 2 scratch), each of source indices,
    and scratch."""

    def __init__(
        self,
        p: Params,
        plan: Plan,
        keys: Keys,
        offsets: NDArray[np.int64] | None,
        how: Options,
        rng: np.random.Generator,
        ends: NDArray[np.int64] | None = None,
        live: int | None = None,
    ) -> None:
        self.live = live
        self.p, self.n, self.rng = p, len(keys), rng
        self.by = oracle.ordered(keys, how.kind, descending=how.descending)
        begin, end = bit_range(plan, how)
        self.kept = self.by & self.by.dtype.type(2**end - 2**begin)
        self.offsets, self.ends, self.lay = offsets, ends, layout(p)
        self.units, self.windows = -(-self.n // p.tile), -(-self.n // p.window)
        self.words = np.full(HEAD + self.units * self.lay.size, 0xA5A5A5, np.int64)
        self.buffers: list[Places] = [np.arange(self.n), np.full(self.n, -1), np.full(self.n, -1)]

    def bounds(self, at: Launch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The starts and the ends of segments."""
        parts = int(self.words[PARTS])
        if at.argument & ROWS:
            given = int(self.words[GREATEST]) if self.p.signature.segment_count else parts
            rows = np.arange(parts + 1) * (self.n // given if given else 0)
            return rows[:-1], rows[1:]
        assert self.offsets is not None
        return self.offsets[:parts], self.offsets[1 : parts + 1] if self.ends is None else self.ends[:parts]

    def part(self, name: str) -> int:
        """The start of a part of scratch."""
        return HEAD + self.units * int(getattr(self.lay, name))

    def list_crowded(self, number: int) -> None:
        """List a window that is left to another kernel."""
        start = self.part("crowded")
        self.words[start] += 1
        if start + int(self.words[start]) >= self.part("bounds"):
            raise Fault("the list of windows is too short")
        self.words[start + int(self.words[start])] = number

    def store(self, to: int, places: Places, entries: Places, stored: NDArray[np.bool_]) -> None:
        """Store elements by source index; a launch stores to no slot twice, and not over its input."""
        if to == 0 or stored[places].any() or len(np.unique(places)) != len(places):
            raise Fault("a kernel stores twice, or to the source")
        stored[places] = True
        self.buffers[to][places] = entries

    def sorted(self, from_: int, begin: int, end: int) -> Places:
        """The elements of a segment in a buffer, in order."""
        entries = self.buffers[from_][begin:end]
        if (entries < 0).any():
            raise Fault("a kernel reads what was never stored")
        return entries[np.argsort(self.kept[entries], kind="stable")]

    def records(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """The long segments: record, begin, end, first column, keys of a column, columns."""
        few, many = int(self.words[LARGES]), int(self.words[HUGES])
        for record in [*range(few), *(self.units - 1 - j for j in range(many))]:
            note = self.part("records") + 4 * record
            begin, end, base, wide = (int(x) for x in self.words[note : note + 4])
            yield record, begin, end, base, wide, -(-(end - begin) // wide)

    def columns(self) -> Iterator[tuple[int, slice, int, int]]:
        """The columns: record, keys, index of the first digit's count, and the stride between digits."""
        all_, found = int(self.words[COLUMNS]), {r[0]: r for r in self.records()}
        for c in range(all_):
            record, first, end, base, wide, columns = found[int(self.words[self.part("owners") + c])]
            begin = first + (c - base) * wide
            yield (
                record,
                slice(begin, min(begin + wide, end)),
                self.part("table") + base * self.p.rank.radix + c - base,
                columns,
            )


def _begin(m: _Play, at: Launch) -> None:
    m.words[:HEAD] = 0
    most = at.argument & (1 << 31) - 1
    if at.argument < 0 and m.live is None:
        raise Fault("begin reads a number of segments that is not there")
    m.words[PARTS] = most if at.argument >= 0 or m.live is None else min(most, m.live)
    if m.p.signature.segment_count:
        m.words[GREATEST] = most
    if m.p.bin_items:
        m.words[m.part("crowded")] = 0
        m.words[m.part("bounds") :][: min(at.groups * m.p.wave, 2 * m.windows)] = 0
    if most == 0 and m.offsets is not None and m.ends is None and m.offsets[0] > m.n:
        m.words[STATUS] = 1


def _sift(m: _Play, at: Launch) -> None:
    (starts, ends), p = m.bounds(at), m.p
    if at.groups * sifted(p) < len(starts):
        raise Fault("some segments are not sifted")
    if not len(starts) and m.offsets is not None and m.ends is None and m.offsets[0] > m.n:
        m.words[STATUS] = 1
    for s in m.rng.permutation(len(starts)):
        begin, end = int(starts[s]), int(ends[s])
        if p.bin_items and not at.argument & ROWS and begin // p.window < m.windows:
            _note(m, starts, int(s))
        if begin > end or end > m.n or (s + 1 < len(starts) and starts[s + 1] < end):
            m.words[STATUS] = 1
        elif end - begin > p.tile:
            _record(m, begin, end)
        elif end - begin > p.small and (not p.together or _last(p, starts, int(s))):
            place = int(m.words[MEDIUMS])
            m.words[MEDIUMS] += 1
            if place < m.units * p.mediums:
                m.words[m.part("mediums") + place] = s
            elif not m.words[STATUS]:
                m.words[STATUS] = 2  # a fault, unless offsets are invalid


def _last(p: Params, starts: NDArray[np.int64], s: int) -> bool:
    """Whether no further segment starts in the window of a segment."""
    return s + 1 == len(starts) or int(starts[s + 1]) // p.window != int(starts[s]) // p.window


def _note(m: _Play, starts: NDArray[np.int64], s: int) -> None:
    """Note the first segment of a window, and the end of the last one."""
    number = int(starts[s]) // m.p.window
    if m.part("bounds") + 2 * number + 2 > m.part("totals"):
        raise Fault("there is no room for the notes of a window")
    note = m.words[m.part("bounds") + 2 * number :][:2]
    if s == 0 or starts[s - 1] // m.p.window != number:
        note[0] = s
    if s + 1 == len(starts) or starts[s + 1] // m.p.window != number:
        note[1] = s + 1


def _record(m: _Play, begin: int, end: int) -> None:
    p = m.p
    chunks = -(-(end - begin) // p.chunk)
    wide = -(-chunks // p.most_columns) * p.chunk
    columns, base = -(-(end - begin) // wide), int(m.words[COLUMNS])
    huge = columns > p.few
    m.words[COLUMNS] += columns
    place = m.units - 1 - int(m.words[HUGES]) if huge else int(m.words[LARGES])
    m.words[HUGES if huge else LARGES] += 1
    if 0 <= place < m.units and base + columns <= 2 * m.units:
        note = m.part("records") + 4 * place
        m.words[note : note + 4] = begin, end, base, wide
        m.words[m.part("owners") + base : m.part("owners") + base + columns] = place
    elif not m.words[STATUS]:
        m.words[STATUS] = 2


def _windows(m: _Play, at: Launch) -> None:
    starts, p, stored = m.bounds(at)[0], m.p, np.zeros(m.n, np.bool_)
    if at.groups * p.window < m.n:
        raise Fault("some keys are in no window")
    numbers, crowded = np.arange(m.windows), m.rng.choice([0, 0.3, 1])
    for number in m.rng.permutation(numbers) if p.bin_items else numbers:
        low = int(number) * p.window
        outside = np.arange(low, min(low + p.window, m.n))
        first, last = (starts[0], m.bounds(at)[1][-1]) if len(starts) else (m.n, m.n)
        if not len(starts) and m.offsets is not None:
            first = last = int(m.offsets[0]) if m.ends is None else m.n
        outside = outside[(outside < first) | (outside >= last)]
        if at.argument & DIRECT and not p.signature.segment_ends:
            m.store(1, outside, outside, stored)
        if p.bin_items and m.rng.random() < crowded:
            m.list_crowded(int(number))
        else:
            _window(m, at, low, stored)


def _window(m: _Play, at: Launch, low: int, stored: NDArray[np.bool_]) -> None:
    (starts, ends), p = m.bounds(at), m.p
    if p.bin_items and not at.argument & ROWS:  # as noted
        a, b = (int(x) for x in m.words[m.part("bounds") + 2 * (low // p.window) :][:2])
        if not 0 <= a <= b <= len(starts):
            raise Fault("a window reads what was never noted")
    else:
        a, b = (int(x) for x in np.searchsorted(starts, [low, low + p.window]))
    if a < b and ends[b - 1] - starts[b - 1] > p.small:
        b -= 1
    if a < b and not p.serial and ends[b - 1] - starts[a] > (p.capacity or p.tile):
        raise Fault("a tile is too small for a window")
    for begin, end in zip(starts[a:b], ends[a:b], strict=True):
        if end - begin <= p.small or p.together:
            m.store(1, np.arange(begin, end), m.sorted(0, begin, end), stored)
        elif not p.serial:
            raise Fault("a longer segment lies between short ones")


def _windows_rest(m: _Play, at: Launch) -> None:
    stored, start = np.zeros(m.n, np.bool_), m.part("crowded")
    for number in m.words[start + 1 :][: int(m.words[start])]:
        _window(m, at, int(number) * m.p.window, stored)


def _alone(m: _Play, at: Launch) -> None:
    (starts, ends), stored = m.bounds(at), np.zeros(m.n, np.bool_)
    if m.p.apart and at.groups < m.words[MEDIUMS]:
        raise Fault("some listed segments have no work-group")
    for s in m.words[m.part("mediums") :][: int(m.words[MEDIUMS])]:
        begin, end = int(starts[s]), int(ends[s])
        if m.buffers[0] is not m.buffers[1] and (m.buffers[1][begin:end] >= 0).any():
            raise Fault("a segment is sorted twice")
        m.store(1, np.arange(begin, end), m.sorted(0, begin, end), stored)


def _digits(m: _Play, at: Launch, entries: Places) -> NDArray[np.int64]:
    shift, mask = at.argument >> 8 & 255, (1 << (at.argument >> 16 & 15)) - 1
    return ((m.by[entries] >> m.by.dtype.type(shift)).astype(np.uint64) & np.uint64(mask)).astype(np.int64)


def _place(m: _Play, at: Launch) -> int:
    number, first = at.argument & 255, int(m.words[WHERE])
    return 0 if number == 0 else first if number % 2 else 3 - first


def _count(m: _Play, at: Launch) -> None:
    radix, from_ = m.p.rank.radix, m.buffers[_place(m, at)]
    for _, mine, first, step in m.columns():
        m.words[first : first + radix * step : step] = np.bincount(_digits(m, at, from_[mine]), minlength=radix)


def _rows(m: _Play, at: Launch) -> None:
    radix = m.p.rank.radix
    for record, _, _, base, _, columns in m.records():
        table = m.words[m.part("table") + base * radix :][: radix * columns].reshape(radix, columns)
        totals = table.sum(axis=1)
        m.words[m.part("totals") + record * radix :][:radix] = totals
        starts = (np.cumsum(totals) - totals)[:, None] if m.p.serial else 0
        table[:] = np.cumsum(table, axis=1) - table + starts


def _scatter(m: _Play, at: Launch) -> None:
    radix, from_, stored = m.p.rank.radix, _place(m, at), np.zeros(m.n, np.bool_)
    to = 3 - from_ if from_ else 1 if at.argument & DIRECT else 2
    if at.argument & 255 == 0:
        m.words[WHERE] = to
    begins = {record: begin for record, begin, *_ in m.records()}
    for record, mine, first, step in m.columns():
        entries = m.buffers[from_][mine]
        digits = _digits(m, at, entries)
        order = np.argsort(digits, kind="stable")
        counts = np.bincount(digits, minlength=radix)
        totals = m.words[m.part("totals") + record * radix :][:radix]
        bases = begins[record] + m.words[first : first + radix * step : step]
        bases = bases + (0 if m.p.serial else np.cumsum(totals) - totals) - (np.cumsum(counts) - counts)
        m.store(to, bases[digits[order]] + np.arange(len(entries)), entries[order], stored)


def _copy(m: _Play, at: Launch) -> None:
    stored = np.zeros(m.n, np.bool_)
    if m.p.signature.bit_range and at.argument & 255 & 1 == 0:
        return
    for _, mine, *_ in m.columns():
        m.store(1, np.arange(mine.start, mine.stop), m.buffers[2][mine], stored)


PLAY: dict[str, Callable[[_Play, Launch], None]] = {
    "begin": _begin,
    "sift": _sift,
    "windows": _windows,
    "windows_rest": _windows_rest,
    "alone": _alone,
    "count": _count,
    "rows": _rows,
    "scatter": _scatter,
    "copy": _copy,
}


def run(
    p: Params,
    plan: Plan,
    keys: Keys,
    offsets: NDArray[np.int64] | None,
    *,
    in_place: bool = False,
    how: Options = PLAIN,
    seed: int = 0,
    ends: NDArray[np.int64] | None = None,
    live: int | None = None,
) -> Result:
    """Return the result of the sort of the segments of `keys`, (n,), by `offsets`, (how.parts + 1,), or rows.

    live: the number of segments on the device.

    Raises:
        Fault: a kernel stores where it must not, reads what was never written, lacks scratch, finds unexpected buffers,
            or gets too few work-groups.
    """
    m = _Play(p, plan, keys, offsets, how, np.random.default_rng(seed), ends, live)
    made = {k.name: k for k in kernels(p)}
    if in_place:
        m.buffers[1] = m.buffers[0]
    for at in launches(plan, len(keys), in_place=in_place, how=how):
        kernel = made[at.step.kernel]
        for buffer, binding in zip(kernel.buffers, at.step.bindings, strict=True):
            if binding.role != _ROLES.get(buffer.name, "scratch"):
                raise Fault(f"{kernel.name} has another buffer instead of {buffer.name}")
        if isinstance(at.step.argument, CallNumber) or kernel.name == "sift" or m.words[STATUS] == 0:
            PLAY[kernel.name](m, at)
        if m.words[STATUS] == 2:
            raise Fault("a list is too short")
    if not in_place and not np.array_equal(m.buffers[0], np.arange(len(keys))):
        raise Fault("the source was changed")
    return Result(keys[m.buffers[1]], m.buffers[1], bool(len(keys) and m.words[STATUS]))
