"""Keys of many kinds for `stress.py`, and the right results of operations on them, by sorts of CuPy or of numpy.

An input is an array of 32-bit numbers.  Keys of every type are images of these under maps that keep their order, so one
sort of the numbers gives the right results for all types.  Functions take the array library as `xp`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

Words = Any
"""An array of 32-bit numbers of the array library, shape (n,)."""
HOT = 0x7824A24F
"""The key of an input that lost groups on an H100."""
HOT_N, HOT_SHARE = 3_000_003, 2_699_899 / 3_000_003
"""The count of that input, and the share of the key."""
ORDINALS = 1 << 20
"""Numbers behind the values of groupings are less."""
FLOAT_ORDINALS = 7
"""The same for floats, so that every sum of up to 2^22 of them is exact."""


def random64(xp: Any, n: int, seed: int) -> Any:
    """Return n random 64-bit numbers, the same in every array library: SplitMix64 of a counter."""
    x = xp.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed & (1 << 64) - 1)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def random32(xp: Any, n: int, seed: int) -> Words:
    """Return n random 32-bit numbers."""
    return (random64(xp, n, seed) >> np.uint64(32)).astype(np.uint32)


def below(xp: Any, n: int, bound: int, seed: int) -> Any:
    """Return n random 64-bit numbers below a bound of at most 2^32."""
    return (random64(xp, n, seed) >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)


def unit(xp: Any, n: int, seed: int) -> Any:
    """Return n random numbers in (0, 1), as 64-bit floats."""
    return ((random64(xp, n, seed) >> np.uint64(11)).astype(np.float64) + 0.5) / (1 << 53)


def distinct(xp: Any, n: int, seed: int) -> Words:
    """Return n distinct numbers in random order: a bijection of a counter."""
    x = xp.arange(n, dtype=np.uint32) + np.uint32(seed & 0xFFFFFFFF)
    for factor in (0x85EBCA6B, 0xC2B2AE35):
        x = (x ^ (x >> np.uint32(16))) * np.uint32(factor)
    return x ^ (x >> np.uint32(13))


def _log(draw: Random, least: float, most: float) -> int:
    """A number between two others, whose logarithm is uniform."""
    return int(math.exp(draw.uniform(math.log(max(least, 1)), math.log(max(most, least, 1)))))


def _seed(draw: Random) -> int:
    return draw.getrandbits(63)


def _uniform(xp: Any, n: int, draw: Random) -> Words:
    return random32(xp, n, _seed(draw))


def _distinct(xp: Any, n: int, draw: Random) -> Words:
    return distinct(xp, n, _seed(draw))


def _of_values(xp: Any, n: int, values: Words, draw: Random) -> Words:
    return values[below(xp, n, len(values), _seed(draw)).astype(np.int64)]


def _few(xp: Any, n: int, draw: Random) -> Words:
    """Up to 2100 values, around the number that tables hold; the least and the greatest number are among them."""
    values = random32(xp, _log(draw, 2, 2100), _seed(draw))
    values[0], values[-1] = np.uint32(0), np.uint32(0xFFFFFFFF)
    return _of_values(xp, n, values, draw)


def _groups(xp: Any, n: int, draw: Random) -> Words:
    """More values, each of which occurs at least twice on average."""
    return _of_values(xp, n, random32(xp, _log(draw, min(1000, n), max(n // 2, 1)), _seed(draw)), draw)


def _share(xp: Any, n: int, hot: Words, rest: Words, share: float, draw: Random) -> Words:
    """Numbers of `hot` at a share of the places, of `rest` at the others."""
    at = random32(xp, n, _seed(draw)) < np.uint32(min(int(share * (1 << 32)), 0xFFFFFFFF))
    return xp.where(at, hot, rest)


def _hot(xp: Any, n: int, draw: Random) -> Words:
    """One key of most pairs, all others random, as in the input that lost groups."""
    hot = np.uint32(HOT if draw.random() < 0.7 else draw.getrandbits(32))
    share = HOT_SHARE if draw.random() < 0.7 else draw.uniform(0.01, 0.999)
    return _share(xp, n, hot, _uniform(xp, n, draw), share, draw)


def _several_hot(xp: Any, n: int, draw: Random) -> Words:
    values = random32(xp, draw.randint(2, 40), _seed(draw))
    return _share(xp, n, _of_values(xp, n, values, draw), _distinct(xp, n, draw), draw.uniform(0.02, 0.98), draw)


def _digits(xp: Any, n: int, draw: Random) -> Words:
    """Keys that differ in some of their bytes only, one of them often: passes over the others are left out."""
    mask = 0
    for byte in draw.sample(range(4), draw.randint(1, 4)):
        mask |= 0xFF << 8 * byte
    rest = (_uniform(xp, n, draw) & np.uint32(mask)) | np.uint32(draw.getrandbits(32) & ~mask & 0xFFFFFFFF)
    return _share(xp, n, rest[:1], rest, draw.choice([0.0, 0.3, 0.9]), draw)


def _spread(xp: Any, n: int, draw: Random) -> Words:
    """Ascending numbers over the whole range."""
    step = max((1 << 32) // max(n, 1), 1)
    return (xp.arange(n, dtype=np.uint64) * np.uint64(step)).astype(np.uint32)


def _reversed(xp: Any, n: int, draw: Random) -> Words:
    return _spread(xp, n, draw)[::-1].copy()


def _saw(xp: Any, n: int, draw: Random) -> Words:
    """Repeated ramps."""
    length = _log(draw, 2, max(n, 3))
    step = max((1 << 32) // length, 1)
    return (xp.arange(n, dtype=np.uint64) % np.uint64(length) * np.uint64(step)).astype(np.uint32)


def _equal(xp: Any, n: int, draw: Random) -> Words:
    return xp.full(n, draw.choice([0, 0xFFFFFFFF, HOT, draw.getrandbits(32)]), np.uint32)


def _normal(xp: Any, n: int, draw: Random) -> Words:
    """Normally distributed floats in their total order."""
    radius = xp.sqrt(-2.0 * xp.log(unit(xp, n, _seed(draw))))
    x = (radius * xp.cos(2.0 * math.pi * unit(xp, n, _seed(draw)))).astype(np.float32)
    bits = x.view(np.uint32)
    return xp.where(bits >> np.uint32(31) != 0, ~bits, bits | np.uint32(1 << 31))


def _small(xp: Any, n: int, draw: Random) -> Words:
    """Numbers below the count, or around a power of two."""
    around = np.uint32(draw.choice([0, 0, (1 << 31) - n // 2, (1 << 24) - n // 8]) & 0xFFFFFFFF)
    return below(xp, n, max(n, 1), _seed(draw)).astype(np.uint32) + around


def _zipf(xp: Any, n: int, draw: Random) -> Words:
    ranks = unit(xp, n, _seed(draw)) ** (-1.0 / draw.uniform(0.3, 1.5))
    return xp.minimum(ranks, 4e9).astype(np.uint32)


KINDS: dict[str, Callable[[Any, int, Random], Words]] = {
    "hot": _hot,
    "several hot": _several_hot,
    "uniform": _uniform,
    "distinct": _distinct,
    "few": _few,
    "groups": _groups,
    "digits": _digits,
    "sorted": _spread,
    "reversed": _reversed,
    "saw": _saw,
    "equal": _equal,
    "normal": _normal,
    "small": _small,
    "zipf": _zipf,
}
"""The kinds of keys: functions of the array library, the count and random parameters."""


_OFTEN = {"hot": 4, "several hot": 2, "digits": 2}


def scrambled(xp: Any, x: Words) -> Words:
    """Return numbers that depend on others, evenly distributed: the lower halves of 64-bit keys."""
    return (x ^ (x >> np.uint32(15))) * np.uint32(0x2C1B3C6D)


def key_bits(xp: Any, key: str, x: Words) -> Any:
    """Return the bits of keys of a type, in whose order they are as `x` is: distinct for distinct numbers."""
    sign = np.uint32(1 << 31)
    if key == "u32":
        return x
    if key == "i32":
        return x ^ sign
    if key == "f32":
        return xp.where(x & sign, x ^ sign, ~x)
    high, low = x.astype(np.uint64) << np.uint64(32), scrambled(xp, x).astype(np.uint64)
    if key == "u64":
        return high | low
    assert key == "i64", key
    return (high | low) ^ np.uint64(1 << 63)


def value_bits(xp: Any, value: str, ordinals: Words) -> Words:
    """Return the bits of values of a type, in whose order they are as the ordinals are."""
    if value == "u32":
        return ordinals
    if value == "i32":
        return ordinals - np.uint32(ORDINALS // 2)
    assert value == "f32", value
    return (ordinals.astype(np.float32) - np.float32(FLOAT_ORDINALS // 2)).view(np.uint32)


def typed_sum(xp: Any, value: str, sums: Any, counts: Words) -> Words:
    """Return the bits of sums of values, given those of their ordinals, 64-bit numbers."""
    if value == "u32":
        return sums.astype(np.uint32)
    if value == "i32":
        return sums.astype(np.uint32) - counts * np.uint32(ORDINALS // 2)
    exact = sums.astype(np.int64) - counts.astype(np.int64) * (FLOAT_ORDINALS // 2)
    return exact.astype(np.float32).view(np.uint32)


@dataclass(frozen=True)
class Groups:
    """Groups of equal numbers, ascending: the numbers, how many there are of each, and sums, minima and maxima of the
    ordinals of their values.

    One sort of 64-bit numbers gives all of this: the upper half is the number, the lower one the ordinal.
    """

    keys: Words
    counts: Words
    sums: Any
    least: Words
    greatest: Words

    @staticmethod
    def of(xp: Any, x: Words, ordinals: Words) -> Groups:
        """Return the groups of at least one number."""
        n = len(x)
        both = xp.sort(x.astype(np.uint64) << np.uint64(32) | ordinals.astype(np.uint64))
        number, ordinal = (both >> np.uint64(32)).astype(np.uint32), both.astype(np.uint32)
        first = xp.concatenate([xp.zeros(1, np.int64), xp.flatnonzero(number[1:] != number[:-1]) + 1])
        last = xp.concatenate([first[1:], xp.full(1, n, np.int64)]) - 1
        total = xp.cumsum(ordinal.astype(np.uint64), dtype=np.uint64)
        sums = total[last] - total[first] + ordinal[first].astype(np.uint64)
        counts = (last - first + 1).astype(np.uint32)
        return Groups(number[first], counts, sums, ordinal[first], ordinal[last])

    def reduced(self, xp: Any, value: str, reduction: str) -> Words:
        """Return the bits of the reductions."""
        if reduction == "sum":
            return typed_sum(xp, value, self.sums, self.counts)
        return value_bits(xp, value, self.least if reduction == "min" else self.greatest)


def exclusive(xp: Any, counts: Words) -> Words:
    """Return the sum of all counts before each."""
    sums = xp.cumsum(counts, dtype=np.uint32)
    return sums - counts


@dataclass
class Input:
    """Numbers of a kind, and what follows from them, each made at its first use.

    made: called after something was made, so that calls on other streams may use it.
    """

    xp: Any
    kind: str
    n: int
    seed: int
    made: Callable[[], None] = lambda: None
    _known: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, xp: Any, kind: str, x: Words, seed: int = 1) -> Input:
        """Return an input of given numbers."""
        return cls(xp, kind, len(x), seed, _known={"x": x})

    def once(self, name: Any, make: Callable[[], Any]) -> Any:
        """Return what has a name, made at the first time."""
        if name not in self._known:
            self._known[name] = make()
            self.made()
        return self._known[name]

    @property
    def draw(self) -> Random:
        """Random parameters, the same for every use."""
        return Random(self.seed)

    @property
    def x(self) -> Words:
        """The numbers."""
        return self.once("x", lambda: KINDS[self.kind](self.xp, self.n, self.draw).astype(np.uint32))

    def order_of(self, descending: bool) -> Words:
        """Return numbers that ascend where keys in an order do."""
        return self.once("downward", lambda: ~self.x) if descending else self.x

    @property
    def sorted(self) -> Words:
        """The numbers, ascending."""
        return self.once("sorted", lambda: self.xp.sort(self.x))

    def bits(self, key: str) -> Any:
        """Return keys of a type."""
        return self.once(("bits", key), lambda: key_bits(self.xp, key, self.x))

    def sorted_bits(self, key: str, descending: bool) -> Any:
        """Return sorted keys of a type."""

        def make() -> Any:
            found = key_bits(self.xp, key, self.sorted)
            return found[::-1].copy() if descending else found

        return self.once(("sorted bits", key, descending), make)

    def ordinals(self, value: str) -> Words:
        """Return the ordinals of values of a type."""
        bound = FLOAT_ORDINALS if value == "f32" else ORDINALS
        return self.once(
            ("ordinals", bound), lambda: below(self.xp, self.n, bound, self.seed ^ 0x5A5A).astype(np.uint32)
        )

    def values(self, value: str) -> Words:
        """Return values of a type."""
        return self.once(("values", value), lambda: value_bits(self.xp, value, self.ordinals(value)))

    def groups(self, value: str = "u32") -> Groups:
        """Return the groups of equal numbers, with values of a type."""
        bound = value == "f32"
        return self.once(("groups", bound), lambda: Groups.of(self.xp, self.x, self.ordinals(value)))

    def grouped(self, name: str, key: str, value: str, descending: bool) -> Any:
        """Return an output of a grouping: "keys", "counts", "firsts", "sum", "min" or "max"."""

        def make() -> Any:
            groups = self.groups(value)
            if name == "keys":
                found = key_bits(self.xp, key, groups.keys)
            elif name in ("counts", "firsts"):
                found = groups.counts
            else:
                found = groups.reduced(self.xp, value, name)
            found = found[::-1].copy() if descending else found
            return exclusive(self.xp, found) if name == "firsts" else found

        own = (key,) if name == "keys" else () if name in ("counts", "firsts") else (value,)
        return self.once(("grouped", name, *own, descending), make)

    @property
    def runs(self) -> Words:
        """The number of the run that each place belongs to, ascending from 0; runs are of any length."""

        def make() -> Words:
            every = _log(self.draw, 1, min(max(self.n, 1), 5000))
            return self.xp.cumsum(below(self.xp, self.n, every, self.seed ^ 0x77) == 0, dtype=np.uint32)

        return self.once("runs", make)

    @property
    def in_runs(self) -> Words:
        """The numbers of runs at each place: neighbouring runs differ in one bit at least."""

        def make() -> Words:
            apart = np.uint32(self.draw.getrandbits(31) * 2 + 1)
            return self.runs * apart  # a bijection

        return self.once("in runs", make)

    def run_groups(self, value: str) -> Groups:
        """Return the groups of runs."""
        bound = value == "f32"
        return self.once(("run groups", bound), lambda: Groups.of(self.xp, self.runs, self.ordinals(value)))

    def run_output(self, name: str, key: str, value: str) -> Any:
        """Return an output of a reduction by key of `in_runs`, by the names of `grouped`."""

        def make() -> Any:
            groups = self.run_groups(value)
            firsts = exclusive(self.xp, groups.counts)
            if name == "keys":
                return key_bits(self.xp, key, self.in_runs[firsts.astype(np.int64)])
            if name in ("counts", "firsts"):
                return groups.counts if name == "counts" else firsts
            return groups.reduced(self.xp, value, name)

        return self.once(("run output", name, key, value), make)

    def segments(self, number: int) -> Words:
        """Return the bounds of about `number` segments, some of them empty: the first is 0, the last the count."""

        def make() -> Words:
            cuts = self.xp.sort(below(self.xp, number, self.n + 1, self.seed ^ number)).astype(np.uint32)
            ends = (self.xp.full(1, end, np.uint32) for end in (0, self.n))
            first, last = ends
            return self.xp.concatenate([first, cuts, last])

        return self.once(("segments", number), make)

    def segment_of(self, number: int) -> Words:
        """Return the number of the segment that each place belongs to."""

        def make() -> Words:
            places = self.xp.arange(self.n, dtype=np.uint32)
            return self.xp.searchsorted(self.segments(number), places, side="right").astype(np.uint32)

        return self.once(("segment of", number), make)

    def row_of(self, length: int) -> Words:
        """Return the number of the row of a length that each place belongs to."""
        return self.once(("row of", length), lambda: self.xp.arange(self.n, dtype=np.uint32) // np.uint32(length))

    def sorted_parts(self, name: Any, part_of: Words) -> Words:
        """Return the numbers sorted within segments or rows; `name` is that of these."""

        def make() -> Words:
            both = self.xp.sort(part_of.astype(np.uint64) << np.uint64(32) | self.x.astype(np.uint64))
            return both.astype(np.uint32)

        return self.once(("sorted parts", name), make)

    def selected(self, rows: int, k: int, descending: bool, *, in_order: bool) -> tuple[Words, Words]:
        """Return the numbers of the first k keys of each row, and their indices in it.

        in_order: they are in the order of keys, else in that of the row.
        """

        def make() -> tuple[Words, Words]:
            xp, length = self.xp, self.n // rows
            by = self.order_of(descending)[: rows * length].reshape(rows, length).astype(np.uint64) << np.uint64(32)
            first = xp.sort(by | xp.arange(length, dtype=np.uint64), axis=1)[:, :k].astype(np.uint32)
            first = first if in_order else xp.sort(first, axis=1)
            number = xp.arange(rows, dtype=np.int64)[:, None] * length + first.astype(np.int64)
            return self.x[number.ravel()], first.ravel()

        return self.once(("selected", rows, k, descending, in_order), make)

    def merged(self, split: int) -> tuple[Words, Words]:
        """Return the numbers before a place, sorted, followed by the others, sorted; and all, sorted."""

        def make() -> Words:
            return self.xp.concatenate([self.xp.sort(self.x[:split]), self.xp.sort(self.x[split:])])

        return self.once(("merged", split), make), self.sorted

    def summands(self, key: str, columns: int) -> Any:
        """Return a table whose columns are summed up: bits, flat, whole rows."""
        n = self.n // columns * columns
        return (self.values("f32") if key == "f32" else self.bits(key))[:n]

    def summed(self, key: str, columns: int, *, exclusive: bool) -> Any:
        """Return the sums of the columns: bits, flat."""

        def make() -> Any:
            bits = self.summands(key, columns)
            kind = np.int64 if key == "f32" else bits.dtype
            rows = bits.view(np.float32).astype(kind) if key == "f32" else bits
            rows = rows.reshape(-1, columns)
            sums = self.xp.cumsum(rows, axis=0, dtype=kind)
            sums = sums - rows if exclusive else sums
            return sums.astype(np.float32).view(np.uint32).ravel() if key == "f32" else sums.ravel()

        return self.once(("summed", key, columns, exclusive), make)

    def row_numbers(self, columns: int, *, exclusive: bool) -> Words:
        """Return how often a number that was added to each element is in a sum, for each element of a table."""

        def make() -> Words:
            return self.xp.arange(self.n // columns * columns, dtype=np.uint32) // np.uint32(columns) + np.uint32(
                not exclusive
            )

        return self.once(("row numbers", columns, exclusive), make)


def sizes(draw: Random, switches: list[int], least: int, most: int) -> int:
    """Return a count: that of the input that lost groups, near a switch of plans, great, any, or log-uniform."""
    chance = draw.random()
    near = [n + d for n in switches for d in (-1, 0, 1, 2) if least <= n + d <= most]
    if chance < 0.15 and least <= HOT_N <= most:
        return HOT_N
    if chance < 0.35 and near:
        return draw.choice(near)
    if chance < 0.5:
        return draw.randint(max(most // 2, least), most)
    return _log(draw, least if chance < 0.6 else max(least, min(4096, most)), most)


def kind_of(draw: Random, kinds: tuple[str, ...]) -> str:
    """Return one of these kinds; those that groupings sort by passes in one launch come more often."""
    return draw.choices(kinds, [_OFTEN.get(k, 1) for k in kinds])[0]
