"""Merge path in numpy: executes the plan, launch by launch, and checks every access.

Keys are compared in the order of their type.  Reads must be within the array and, in scratch, of written elements;
writes, to the destination and in local memory, occur once per element.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.merge_path.kernels import PARTS, SPLITS, alone, of_ranges
from hsgen.algorithms.merge_path.params import Params
from hsgen.core.interpreter import PLAIN, Options, launches
from hsgen.core.sort import Sort
from hsgen.operations import oracle

Keys = NDArray[np.unsignedinteger]


class Fault(AssertionError):
    """An illegal operation of a kernel."""


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise Fault(what)


class _Read:
    """A read-only array; keys as unsigned numbers in the same order."""

    def __init__(self, keys: Keys) -> None:
        self._keys = [int(k) for k in keys]

    def __getitem__(self, i: int) -> int:
        _demand(0 <= i < len(self._keys), f"slot {i} of {len(self._keys)} is read")
        return self._keys[i]


class _Write:
    """Slots, each written exactly once."""

    def __init__(self, count: int) -> None:
        self.slots = [-1] * count

    def __setitem__(self, i: int, x: int) -> None:
        _demand(0 <= i < len(self.slots), f"slot {i} of {len(self.slots)} is written")
        _demand(self.slots[i] < 0, f"slot {i} is written twice")
        self.slots[i] = x

    def __getitem__(self, i: int) -> int:
        _demand(0 <= i < len(self.slots) and self.slots[i] >= 0, f"slot {i} is read before it is written")
        return self.slots[i]


class _Ring:
    """Slots of local memory for the next keys of an array, which are loaded by vectors; indices count from the next."""

    def __init__(self, p: Params, keys: _Read, count: int, first: int, ahead: int) -> None:
        self._p, self._keys, self._count, self._size = p, keys, count, 16 // p.key.held
        self.next, self.slot = first, (first + ahead) % self._size
        self._loaded, self._to = first - self.slot, 0
        self._slots: list[tuple[int, int]] = [(-1, -1)] * p.ring

    def load(self, vectors: int, stop: int) -> None:
        """Load the next vectors; what is beyond the array, or begins beyond `stop`, is the greatest key."""
        for _ in range(vectors):
            for i in range(self._loaded, self._loaded + self._size):
                inside = 0 <= i < self._count and self._loaded < stop
                self._slots[self._to] = i, self._keys[i] if inside else 2**self._p.key.bits - 1
                self._to = (self._to + 1) % self._p.ring
            self._loaded += self._size

    def take(self, keys: int) -> None:
        """Leave keys behind."""
        self.next, self.slot = self.next + keys, (self.slot + keys) % self._p.ring

    def __getitem__(self, i: int) -> int:
        held, key = self._slots[(self.slot + i) % self._p.ring]
        _demand(i >= 0 and held == self.next + i, f"slot of key {self.next + i} holds {held}")
        return key


Array = _Read | _Write | _Ring


def search(a: Array, b: Array, d: int, low: int, high: int, behind: int = 0) -> int:
    """Return how many of the first `d` keys come from the first array; the second starts `behind` slots into `b`."""
    while low < high:
        middle = (low + high) // 2
        if b[behind + d - 1 - middle] < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


class _Merge:
    """One call: the two arrays, scratch, and the source of each output key (an index into both arrays,
    concatenated)."""

    def __init__(self, sort: Sort, a: Keys, b: Keys, how: Options) -> None:
        p = sort.parts[0].params
        assert isinstance(p, Params)
        self.p, self.parts, self.rest, self.n = p, len(a), len(b), len(a) + len(b)
        self.a, self.b = (_Read(oracle.ordered(x, how.kind, descending=how.descending)) for x in (a, b))
        self.words = _Write(SPLITS + 1 + -(-self.n // p.tile))
        self.out = _Write(self.n)

    def begin(self, argument: int, groups: int) -> None:
        """Store the count of the first array."""
        self.words[PARTS] = argument

    def cut(self, d: int) -> int:
        """A binary search over both arrays."""
        noted = not self.p.noted or self.words[PARTS] == self.parts
        _demand(noted, "wrong count of the first array")
        return search(self.a, self.b, d, max(0, d - self.rest), min(d, self.parts))

    def split(self, argument: int, groups: int) -> None:
        """Find the starts of tiles."""
        if not self.p.noted:
            _demand(argument == self.parts, "wrong count of the first array")
        tiles = -(-self.n // self.p.tile)
        for tile in range(groups * self.p.work_group):
            if tile <= tiles:
                self.words[SPLITS + tile] = self.cut(min(tile * self.p.tile, self.n))

    def merge(self, argument: int, groups: int) -> None:
        """Merge the tiles of all work-groups."""
        for group in range(groups):
            if self.p.walks:
                for lane in range(self.p.work_group):
                    self.walk((group * self.p.work_group + lane) * self.p.share)
            else:
                self.tile(group)

    def tile(self, group: int) -> None:
        """Merge a tile in local memory, by its slots."""
        begin = group * self.p.tile
        if begin < self.n:
            self.part(self.p, begin, self.words[SPLITS + group], self.words[SPLITS + 1 + group])

    def merge_alone(self, argument: int, groups: int) -> None:
        """Merge the tiles of work-groups that find the ends of these by themselves."""
        if not self.p.noted:
            _demand(argument == self.parts, "wrong count of the first array")
        own = alone(self.p)
        for begin in range(0, groups * own.tile, own.tile):
            if begin < self.n:
                self.part(own, begin, *(self.among(min(begin + more, self.n)) for more in (0, own.tile)))

    def merge_ranges(self, argument: int, groups: int) -> None:
        """Merge ranges of tiles, whose keys pass through a ring of slots for each array."""
        if not self.p.noted:
            _demand(argument == self.parts, "wrong count of the first array")
        own = of_ranges(self.p)
        tiles = -(-self.n // own.tile)
        ranges = min(tiles, self.p.ranges)
        for group in range(min(groups, ranges)):
            whole, more = divmod(tiles, ranges)
            begin, end = (min((whole * g + more * g // ranges) * own.tile, self.n) for g in (group, group + 1))
            first, last = self.among(begin), self.among(end)
            self.range(own, begin, end, first, first + min(max(last - first, 0), end - begin))

    def range(self, own: Params, begin: int, end: int, first: int, stop: int) -> None:
        """Merge outputs `begin` to `end`, from the ends of their keys in the first array.

        Arrays begin 1 and 2 keys behind a multiple of a vector.
        """
        size = 16 // own.key.held
        rings = [
            _Ring(own, self.a, self.parts, first, 1 % size),
            _Ring(own, self.b, self.rest, begin - first, 2 % size),
        ]
        stops = (stop, end - stop)
        odd = sum(r.slot for r in rings)
        rings[0].load(own.tile // size + 1, stops[0])
        rings[1].load(own.tile // size + 2, stops[1])
        for at in range(begin, end, own.tile):
            left = [s - r.next for s, r in zip(stops, rings, strict=True)]
            taken = (
                search(rings[0], rings[1], own.tile, max(0, own.tile - left[1]), min(own.tile, left[0]))
                if at + own.tile < end
                else 0
            )
            self.lanes(own, at, left, rings)
            if at + own.tile < end:
                mine = (rings[0].slot % size + taken) // size
                rings[0].take(taken)
                rings[1].take(own.tile - taken)
                rings[0].load(mine, stops[0])
                rings[1].load(own.tile // size - mine, stops[1])
                _demand((rings[0].slot + rings[1].slot - odd) % size == 0, "vectors are not aligned")

    def lanes(self, own: Params, at: int, left: list[int], rings: list[_Ring]) -> None:
        """Merge a tile of a range, lane by lane."""
        for lane in range(own.work_group):
            d = min(lane * own.items, sum(left))
            a = search(rings[0], rings[1], d, max(0, d - left[1]), min(d, left[0]))
            b = d - a
            for k in range(at + d, min(at + d + own.items, self.n)):
                one = a < left[0] and rings[1][b] >= rings[0][a]
                if k < at + sum(left) and lane * own.items == d:
                    self.out[k] = rings[0].next + a if one else self.parts + rings[1].next + b
                a, b = a + one, b + (not one)

    def among(self, d: int) -> int:
        """A search by a subgroup, whose lanes try as many keys at once."""
        noted = not self.p.noted or self.words[PARTS] == self.parts
        _demand(noted, "wrong count of the first array")
        low, high, lanes = max(0, d - self.rest), min(d, self.parts), self.p.subgroup
        while low < high:
            step, more = divmod(high - low, lanes + 1)
            tried = [low + step * k + more * k // (lanes + 1) for k in range(1, lanes + 1)]
            before = sum(self.b[d - 1 - x] >= self.a[x] for x in tried)
            low, high = [low, *(x + 1 for x in tried)][before], [*tried, high][before]
        return low

    def part(self, p: Params, begin: int, first: int, last: int) -> None:
        """Merge what begins at a key of the result, from the ends of its keys in the first array."""
        count = min(p.tile, self.n - begin)
        mine = min(max(last - first, 0), count)
        behind = begin - first - mine
        tile = _Write(p.tile)
        for k in range(count):
            tile[k] = self.a[first + k] if k < mine else self.b[behind + k]
        slots = _Write(p.tile)
        for lane in range(p.work_group):
            d = min(lane * p.items, count)
            a = search(tile, tile, d, max(0, d - (count - mine)), min(d, mine), mine)
            b = mine + d - a
            for i in range(p.items):
                one = a < mine and (b >= count or tile[b] >= tile[a])
                slots[lane * p.items + i] = a if one else b
                a, b = a + one, b + (not one)
        for k in range(count):
            slot = slots[k]
            self.out[begin + k] = first + slot if slot < mine else self.parts + behind + slot

    def walk(self, begin: int) -> None:
        """Merge the part of a lane that works alone, in interleaved chains."""
        p, end = self.p, min(begin + self.p.share, self.n)
        if begin >= self.n:
            return
        first = self.cut(begin)
        last = min(max(self.cut(end), first), first + end - begin)
        if last in (first, first + end - begin):
            for i in range(end - begin):
                self.out[begin + i] = first + i if first != last else self.parts + begin - first + i
            return
        row = p.row or 1
        length, at = (end - begin) // (p.chains * row) * row, [first]
        for c in range(1, p.chains):
            d = begin + c * length
            low, high = max(d - (end - last), at[-1]), min(last, d - (begin - first), at[-1] + length)
            at.append(search(self.a, self.b, d, low, high))
        if p.row:
            self.rows(begin, end, length, at)
            return
        inside = at[-1] + length <= self.parts and begin + p.chains * length - at[-1] <= self.rest
        for i in range(length):
            at = [self.step(begin + c * length + i, a, last, end, inside=inside) for c, a in enumerate(at)]
        for d in range(begin + p.chains * length, end):
            at[-1] = self.step(d, at[-1], last, end, inside=False)

    def rows(self, begin: int, end: int, length: int, at: list[int]) -> None:
        """Merge in chains by rows: interleaved while all read whole rows, then sequentially."""
        p, i = self.p, begin
        while i < begin + length and all(
            a + p.row <= self.parts and i + c * length - a + p.row <= self.rest for c, a in enumerate(at)
        ):
            at = [self.row(i + c * length, a, end) for c, a in enumerate(at)]
            i += p.row
        for c, a in enumerate(at):
            to = begin + (c + 1) * length if c < p.chains - 1 else end
            for d in range(i + c * length, to, p.row):
                a = self.row(d, a, to)

    def row(self, d: int, a: int, to: int) -> int:
        """Write the row from key d of the output on, up to `to`; return how many come from the first array so far."""
        row, b, greatest = self.p.row, d - a, 2**self.p.key.bits - 1
        one = [self.a[k] if k < self.parts else greatest for k in range(a, a + row)]
        two = [self.b[k] if k < self.rest else greatest for k in range(b, b + row)]
        taken = min(sum(1 for x, y in zip(one, reversed(two), strict=True) if x <= y), self.parts - a)
        keys = [(self.a[k], k) for k in range(a, a + taken)]
        keys += [(self.b[k], self.parts + k) for k in range(b, min(b + row - taken, self.rest))]
        sources = [k for _, k in sorted(keys)] + [0] * row  # enough of them if the arrays are sorted
        for k in range(d, min(d + row, to)):
            self.out[k] = sources[k - d]
        return a + taken

    def step(self, d: int, a: int, last: int, end: int, *, inside: bool) -> int:
        """Write key `d` of the output; return how many come from the first array so far."""
        b = d - a
        if inside:
            one = self.b[b] >= self.a[a]
        else:
            x, y = self.a[min(a, last - 1)], self.b[min(b, end - last - 1)]
            one = b >= end - last or (a < last and y >= x)
        self.out[d] = a if one else self.parts + b
        return a + one


def sources(sort: Sort, a: Keys, b: Keys, *, how: Options = PLAIN, limit: int = 2**32 - 1) -> list[int]:
    """Return the source of each key of the merge of `a` and `b`: an index into both arrays, concatenated.

    `limit` is the device's greatest grid in one dimension; excess groups run as well.

    Raises:
        Fault: a kernel accesses a slot that it must not access, or omits one.
    """
    played = _Merge(sort, a, b, how)
    for launch in _launches(sort, len(a), len(b), how, limit):
        getattr(played, launch[0])(*launch[1:])
    _demand(min(played.out.slots, default=0) >= 0, "a slot was never written")
    return played.out.slots


def _launches(sort: Sort, parts: int, rest: int, how: Options, limit: int) -> Iterator[tuple[str, int, int]]:
    asked = Options(kind=how.kind, descending=how.descending, first_count=parts)
    for launch in launches(sort.plan, parts + rest, limit, in_place=False, how=asked):
        yield launch.step.kernel, launch.argument, launch.grid[0] * launch.grid[1]
