"""Small groupings that take tables, and keys for them, for tests on devices.

Keys are made in their order: `raw` turns them into those of a type and an order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from every import LANES
from numpy.typing import NDArray
from sorters import SMALL

from hsgen.algorithms import group_by, reduce_by_key
from hsgen.algorithms.group_by.few import WORDS, Few
from hsgen.algorithms.group_by.pair_partition import Digits, Sample, Shape, Table, sampling
from hsgen.algorithms.radix.stages import Bucket, Tiles
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, Signature
from hsgen.core.sort import Sort
from hsgen.engines.pyopencl import Direct
from hsgen.operations.group_by import OPERATION
from hsgen.operations.oracle import unordered
from hsgen.targets import assembly, target

Keys = NDArray[np.uint32]
LEAST = 1500  # keys, above which tables of few groups are tried
SLOTS, MOST, TILE = 128, 85, 64
"""The slots of a table of a digit, the groups that it may have, and the keys that a work-group loads at once."""
FEW_SLOTS = 256
GREATEST = 0xFFFFFFFF
HASH = 2654435769


class Untried(Few):
    """Tables of few groups that no sample is few enough for: a table for each value of a digit, or the sort."""

    def sampled(self, sample: int) -> int:
        return 0


DEALT = Shape(
    count=Tiles(work_group=32, items=2),
    deal=Tiles(work_group=32, items=3),
    again=Tiles(work_group=16, items=3),
    bucket=Bucket(work_group=8, items=6, bins=32),
    digits=Digits(bits=10, first=9),
    table=Table(work_group=32, items=2, slots=SLOTS),
    sample=Sample(keys=512, fewer=256, above=5000),
    cores=3,
)
"""A small shape of what deals pairs: buckets of up to 48 pairs, 39 on average at most."""
SHAPES = {
    "digits": (Untried, DEALT),
    "tiny": (Untried, replace(DEALT, table=Table(work_group=8, items=2, slots=8))),
    "both": (Few, DEALT),
}
"""What tables of few groups are, and what deals pairs."""


@cache
def grouping(shape: str) -> Sort:
    """A grouping of u32 keys of a shape above, in subgroups of 8 lanes; or "few", without them and such tables."""
    sections = {"work_group": 16, "items": 8, "subgroup": 8, "section": 11}
    if shape == "few":
        found = target.parse(SMALL, "small", "small.toml")
        own, (kind, pairs) = {"work_group": 8, "items": 3, "groups": 5}, (Few, None)
    else:
        text = (LANES / "pieces8.toml").read_text(encoding="utf-8")
        found, own, (kind, pairs) = target.parse(text, "pieces8", "pieces8.toml"), sections, SHAPES[shape]
    signature = OPERATION.signature(Signature(value="v4", key_transform=True))
    whole, before = found.sort("group_by", "u32", signature), found.default("u32", group_by.sorting(signature))
    plain = replace(signature, key_transform=False)
    reduce = reduce_by_key.Params(key=KEYS["u32"], signature=plain, **own)
    few = sampling(kind(least=LEAST, work_group=32, items=2, groups=3, slots=FEW_SLOTS), pairs)
    derived: Any = whole.parts[0].params
    part = replace(whole.parts[0], params=replace(derived, reduce=reduce, few=few, pair_partition=pairs))
    kernels, plan, parts = assembly.joined(part, before)
    return replace(whole, kernels=kernels, plan=plan, parts=parts)


def raw(keys: Keys, how: Options) -> Keys:
    """The keys of a type that are in an order as these are."""
    return unordered(keys, how.kind, descending=how.descending).astype(np.uint32)


def taken(made: Direct) -> tuple[bool, int]:
    """Whether the last call stored the groups before the sort had ended, and what was done with the pairs."""
    words = made._compiled.scratch.read(made.queue, 0, 8)
    return bool(words[WORDS["stored"].start]), int(words[WORDS["way"].start])


def spread(
    rng: np.random.Generator, n: int, shift: int, groups: int, more: Iterable[tuple[int, Any]] = (), most: int = 64
) -> Keys:
    """Keys with all values of the 8 bits from `shift` on, each with this number of groups at most, half of its keys in
    one of them.

    more: a value and the lower bits of its groups, each of which occurs; such a value has up to an nth/`most` of keys.
    """
    lows = rng.integers(0, 1 << shift, (256, groups), np.uint32)
    value = np.arange(n, dtype=np.uint32) % 256
    keys = value << np.uint32(shift) | lows[value, rng.integers(0, groups, n) * rng.integers(0, 2, n)]
    for one, own in more:
        count, at = n // most, np.flatnonzero(value == one)
        others = rng.permutation(np.flatnonzero(value != one))
        at = np.r_[at, others[: max(0, count - len(at))]]
        keys[at] = np.uint32(one << shift) | np.resize(np.asarray(own, np.uint32), len(at))
        value[at] = one
    return rng.permutation(keys)


def lows(rng: np.random.Generator, count: int, below: int) -> Keys:
    """Distinct numbers."""
    return rng.choice(below, count, replace=False).astype(np.uint32)


def colliding(value: int, count: int) -> Keys:
    """The lower 24 bits of keys of a value of the highest 8 whose search begins at the same slot."""
    low = np.arange(1 << 15, dtype=np.uint32)
    spots = (low | np.uint32(value << 24)) * np.uint32(HASH) >> np.uint32(32 - 7)
    return low[spots == spots[0]][:count]


Make = Callable[[np.random.Generator, int], Keys]


def around(rng: np.random.Generator, n: int) -> Keys:
    """As many groups as a table may have, one less and more, and the greatest key as well."""
    some = [(3 * i, lows(rng, min(count, n // 64), 1 << 24)) for i, count in enumerate((MOST - 1, MOST, MOST + 1))]
    return spread(rng, n, 24, 3, [*some, (255, np.append(lows(rng, min(MOST, n // 64 - 1), GREATEST >> 8), GREATEST))])


def deep(shift: int, low: int, values: tuple[int, ...]) -> Make:
    """Many groups that differ in `low` bits alone: tables are divided several times."""
    return lambda rng, n: spread(
        rng, n, shift, 3, [(v, lows(rng, min(300, n // 64, 1 << low), 1 << low)) for v in values]
    )


def rounds(rng: np.random.Generator, n: int) -> Keys:
    """Two and three times as many groups as a table may have, some of them in the last round, with the greatest key."""
    own = np.append(lows(rng, min(260, n // 64 - 1), 1 << 24), GREATEST & 0xFFFFFF)
    return spread(rng, n, 24, 5, [(0, lows(rng, min(180, n // 64), 1 << 24)), (9, own[:-1]), (255, own)])


def gaps(rng: np.random.Generator, n: int) -> Keys:
    """Every third value of the digit has no key."""
    keys = spread(rng, n, 24, 6)
    return np.where((keys >> 24) % 3 == 1, keys + np.uint32(1 << 24), keys)


def collisions(rng: np.random.Generator, n: int) -> Keys:
    """Fewer groups than a table may have, of which too many begin their search at the same slot."""
    return spread(rng, n, 24, 3, [(v, colliding(v, min(72, n // 64))) for v in (0, 7, 31, 101, 254, 255)])


def close(rng: np.random.Generator, n: int) -> Keys:
    """Groups of a table that are close to each other, except one: their place is crowded."""
    own = np.append(np.arange(min(40, n // 64 - 1)), 1 << 23)
    return spread(rng, n, 24, 2, [(v, own) for v in (2, 90, 255)])


def lowest(rng: np.random.Generator, n: int) -> Keys:
    """Keys whose groups differ in two bits alone: small tables are divided by all bits."""
    keys = spread(rng, n, 8, 1, [(v, np.arange(4)) for v in (0, 78, 255)], most=200)
    return (keys >> 8) // 3 * 3 << 8 | keys & 255


def outlier(place: int) -> Make:
    """Keys that differ in their lower digits, except one."""

    def make(rng: np.random.Generator, n: int) -> Keys:
        keys = spread(rng, n, 16, 9)
        keys[n * place // 8] |= np.uint32(0x01000000 if place % 2 else 0xFF000000)
        return keys

    return make


TABLES: dict[str, Make] = {
    "one each": lambda rng, n: spread(rng, n, 24, 1),
    "several each": lambda rng, n: spread(rng, n, 24, 20),
    "around a table": around,
    "rounds": rounds,
    "low bits": deep(16, 9, (1, 77, 255)),
    "two constant digits": deep(8, 8, (0, 128, 255)),
    "gaps": gaps,
    "collisions": collisions,
    "close to each other": close,
    "one constant digit": lambda rng, n: spread(rng, n, 16, 9),
    "greatest digit": lambda rng, n: spread(rng, n, 16, 9) | np.uint32(0xFF000000),
    "one outlier": outlier(3),
    "a greater outlier": outlier(6),
}
"""Keys for which there is a table for each value of a digit."""


def crowded(rng: np.random.Generator, n: int) -> Keys:
    """Buckets whose keys are close to each other, except one."""
    keys = np.arange(n, dtype=np.uint32) % 1024 << 22 | rng.integers(0, 40, n, np.uint32)
    keys[rng.permutation(n)[: n // 30]] |= np.uint32(1 << 21)
    return rng.permutation(keys)


def beyond(rng: np.random.Generator, n: int) -> Keys:
    """Keys of a narrow range, and one below and above it, which the sample misses."""
    keys = rng.integers(1 << 30, (1 << 30) + (1 << 20), n, np.uint32)
    keys[n // 3], keys[n // 2] = 5, GREATEST
    return keys


def twice(rng: np.random.Generator, n: int) -> Keys:
    """Each key occurs twice."""
    some = np.arange((n + 1) // 2, dtype=np.uint32) * np.uint32(2 * GREATEST // (n + 1))
    return rng.permutation(np.repeat(some | rng.integers(0, 1 << 12, len(some), np.uint32), 2)[:n])


BUCKETED: dict[str, Make] = {
    "random": lambda rng, n: rng.integers(0, GREATEST, n, np.uint32, endpoint=True),
    "in order": lambda rng, n: np.sort(rng.integers(0, GREATEST, n, np.uint32, endpoint=True)),
    "17 bits": lambda rng, n: rng.integers(0, 1 << 17, n, np.uint32) | np.uint32(1 << 29),
    "crowded": crowded,
    "beyond the sample": beyond,
    "twice": twice,
    "gaps": lambda rng, n: rng.permutation(np.arange(n, dtype=np.uint32) % 512 << 23 | lows(rng, n, 1 << 22)),
}
"""Keys that are partitioned into buckets; these are sorted on chip."""
SORTED: dict[str, Make] = {
    "uneven": lambda rng, n: spread(rng, n, 24, 3, [(99, lows(rng, 3, 1 << 24))], most=60),
    "one": lambda rng, n: np.full(n, 12345, np.uint32),
    "two": lambda rng, n: np.array([7, 99 << 24], np.uint32)[rng.integers(0, 2, n)],
    "last digit": lambda rng, n: rng.integers(0, 64, n, np.uint32),
    "large bucket": lambda rng, n: np.where(
        rng.integers(0, 99, n) > 0, rng.integers(0, GREATEST, n, np.uint32), 1 << 20
    ),
}
"""Keys that passes over all digits sort, since a bucket would be too large."""


def rare(rng: np.random.Generator, n: int) -> Keys:
    """Keys of 60 values and others, too many for the table of all work-groups, but not for that of any one."""
    keys = rng.integers(0, 1 << 32, 60, np.uint32)[rng.integers(0, 60, n)]
    keys[:: n // 270] = rng.integers(0, 1 << 32, len(keys[:: n // 270]), np.uint32)
    return keys


def rarer(rng: np.random.Generator, n: int) -> Keys:
    """The same, where the rare ones are together."""
    keys = rng.integers(0, 1 << 32, 40, np.uint32)[rng.integers(0, 40, n)]
    begin = int(rng.integers(0, n - 900))
    keys[begin : begin + 900] = rng.integers(0, 1 << 32, 900, np.uint32)
    return keys


def values(count: int, greatest: bool = False) -> Make:
    """Keys of this number of values, with the greatest one or without."""

    def make(rng: np.random.Generator, n: int) -> Keys:
        some = rng.integers(0, GREATEST, count, np.uint32)
        some[-1] = GREATEST if greatest else some[-1]
        return some[rng.integers(0, count, n)]

    return make


def colliding_few(rng: np.random.Generator, n: int) -> Keys:
    """Keys of a few values, for which a work-group begins to search at the same slot."""
    keys = np.arange(1, 1 << 16, dtype=np.uint32)
    spots = keys * np.uint32(HASH) >> np.uint32(32 - 8)
    return keys[spots == spots[0]][rng.integers(0, 80, n)]


FEW: dict[str, Make] = {
    "one": values(1),
    "the greatest": values(1, True),
    "two": values(2, True),
    "some": values(30),
    "some and the greatest": values(31, True),
    "hundred": values(100, True),
}
"""Keys of few groups."""
OVER: dict[str, Make] = {"rare": rare, "rarer": rarer}
"""Keys whose sample alone has few groups."""
