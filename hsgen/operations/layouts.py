"""Inputs and expected results for validations of segmented sorts: the bounds of segments, and permutations of keys."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.inputs import Keys

Offsets = NDArray[np.int64]
_Make = Callable[[np.random.Generator, int, int, int], Offsets]


def cut(rng: np.random.Generator, n: int, parts: int) -> Offsets:
    """Return the offsets of `parts` segments that divide n keys at random positions, shape (parts + 1,).

    Segments may be empty.
    """
    cuts: Offsets = np.sort(np.concatenate([[0, n], rng.integers(0, n + 1, max(parts - 1, 0))]))
    return cuts


def _laid(lengths: NDArray[np.int64], n: int) -> Offsets:
    """Return the offsets of segments that have these lengths and start at 0.

    Offsets above n are replaced by n.  Keys after the last segment are in no segment.
    """
    offsets: Offsets = np.minimum(np.concatenate([[0], np.cumsum(lengths)]), n)
    return offsets


def _tiny(rng: np.random.Generator, n: int, small: int, tile: int) -> Offsets:
    return _laid(rng.integers(0, 7, n // 3 + 1), n)


def _ten(rng: np.random.Generator, n: int, small: int, tile: int) -> Offsets:
    lengths = np.array([0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65])[: rng.choice([5, 8, 10, 11])]
    few, number = rng.integers(0, 4, n // 2 + 1), n // 2 + 1
    return _laid(np.where(rng.random(number) < rng.choice([0.1, 0.3, 0.9]), rng.choice(lengths, number), few), n)


def _around(rng: np.random.Generator, n: int, small: int, tile: int) -> Offsets:
    around = rng.choice([small, tile, 2 * tile], n // max(small, 1) + 2) + rng.integers(-1, 2, n // max(small, 1) + 2)
    return _laid(around, n)


def _gaps(rng: np.random.Generator, n: int, small: int, tile: int) -> Offsets:
    return np.sort(rng.integers(0, n + 1, n // 50 + 1))


def _empty(rng: np.random.Generator, n: int, small: int, tile: int) -> Offsets:
    return np.sort(np.concatenate([np.repeat(rng.integers(0, n + 1, 5), 100), [0, n]]))


def _huge(rng: np.random.Generator, n: int, small: int, tile: int) -> Offsets:
    ends = np.minimum(rng.integers(0, 200, 2), n // 2)
    return np.concatenate([cut(rng, int(ends[0]), 9), n - ends[1] + cut(rng, int(ends[1]), 9)])


LAYOUTS: dict[str, _Make] = {
    "some": lambda rng, n, small, tile: cut(rng, n, n // 64 + 1),
    "tiny": _tiny,
    "about ten": _ten,
    "around what work-groups hold": _around,
    "one": lambda rng, n, small, tile: np.array([0, n]),
    "gaps at the ends": _gaps,
    "many empty": _empty,
    "one huge": _huge,
    "a few": lambda rng, n, small, tile: cut(rng, n, 3),
    "none": lambda rng, n, small, tile: np.array([n // 2]),
}
"""The functions that divide n keys into segments, by name.  Each returns the offsets of the segments.

small, tile: the results of `test_counts`; segments of about these lengths are worth testing.
"""


def test_counts(sort: Sort) -> tuple[int, int]:
    """Return the two lengths, in keys, above which a segmented sort sorts a segment by another method.

    A segment up to the first length shares a work-group with other segments.  A segment up to the second length has a
    work-group of its own.  Several work-groups sort a longer segment.
    """
    p = sort.parts[0].params
    return int(getattr(p, "small", 1)), int(getattr(p, "tile", 1))


def rows(sort: Sort, n: int, number: int) -> int:
    """Return the number of rows of equal length into which validation case `number` divides n keys.

    The length of a row is a divisor of n: 1, 2, 3, 10, a result of `test_counts`, or one more than such a result.
    Every fifth case, and every case with n = 0, has a single row.
    """
    small, tile = test_counts(sort)
    lengths = [x for x in (1, 2, 3, 10, small, small + 1, tile, tile + 1) if n and n % x == 0]
    return n // lengths[number % len(lengths)] if lengths and number % 5 else 1


def with_gaps(rng: np.random.Generator, offsets: Offsets) -> tuple[Offsets, Offsets]:
    """Return the starts and the ends of segments with gaps between them, each of shape (segments,).

    The segments are those of `offsets`, but a random share of them is shortened at both ends, possibly to nothing.
    """
    starts, ends = offsets[:-1], offsets[1:]
    cut = rng.random(len(starts)) < rng.choice([0.0, 0.2, 0.9])
    lengths = ends - starts
    front = np.where(cut, rng.integers(0, lengths + 1), 0)
    back = np.where(cut, rng.integers(0, lengths - front + 1), 0)
    return starts + front, ends - back


def live(rng: np.random.Generator, most: int) -> int:
    """Return a random number of segments for a call that reads this number from device memory.

    The number may exceed `most`, the capacity of the call, because the call must then sort `most` segments.
    """
    return (0, 1, most // 2, most, most + 1, (1 << 32) - 1, int(rng.integers(0, most + 1)))[rng.integers(7)]


def unread(offsets: Offsets, used: int) -> NDArray[np.uint32]:
    """Return a copy of `offsets` in which invalid numbers replace all but the first `used` elements.

    A call that reads one of the invalid numbers then fails its validation.
    """
    out = offsets.astype(np.uint32)
    out[used:] = (1 << 32) - 1
    return out


def apart(keys: Keys, starts: Offsets, ends: Offsets, sort: Sort, options: Options) -> NDArray[np.intp]:
    """Return a segmented sort as a permutation, shape (n,): element i is the index in `keys` of result i.

    Keys outside of all segments do not move.
    starts, ends: the bounds of segments, shape (segments,).
    """
    if not len(starts):
        return np.arange(len(keys))
    order = permutation(keys, np.stack([starts, ends], axis=1).reshape(-1), sort, options)
    outside = ~inside(len(keys), starts, ends)
    order[outside] = np.flatnonzero(outside)
    return order


def inside(n: int, starts: Offsets, ends: Offsets) -> NDArray[np.bool_]:
    """Return for each of n keys whether a segment contains the key, shape (n,)."""
    depth = np.bincount(starts, minlength=n + 1) - np.bincount(ends, minlength=n + 1)
    covered: NDArray[np.bool_] = np.cumsum(depth)[:n] > 0
    return covered


def permutation(keys: Keys, offsets: Offsets, sort: Sort, options: Options) -> NDArray[np.intp]:
    """Return a segmented sort as a permutation, shape (n,): element i is the index in `keys` of result i.

    Keys before the first offset do not move, nor do keys at or after the last offset.
    offsets: ascending, shape (segments + 1,).
    """
    by = oracle.compared(keys, sort, options)
    order = np.arange(len(keys))
    inside = order[offsets[0] : offsets[-1]]
    of = np.searchsorted(offsets, inside, side="right")
    order[inside] = inside[np.lexsort((by[inside], of))]
    return order
