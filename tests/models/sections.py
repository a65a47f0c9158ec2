"""The sums of floats by a reduction by key with look-back within sections, in the order in which kernels add."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.algorithms.reduce_by_key import Params
from hsgen.operations.reduce_by_key import starts

Part = tuple[int, Any]
"""The runs that start in a part of the keys, and the sum from the last start on, or of all; None for no keys."""


def plus(a: Any, b: Any) -> Any:
    """The sum of a and b, either of which may be None."""
    return b if a is None else a if b is None else a + b


def joined(first: Part, second: Part) -> Part:
    """Two adjacent parts as one."""
    return first[0] + second[0], second[1] if second[0] else plus(first[1], second[1])


def scanned(parts: list[Part]) -> tuple[Part, list[Part]]:
    """All parts of the lanes of a subgroup as one, and those before each lane, by exchanges over 1, 2, 4 lanes."""
    before: list[Part] = [(0, None)] * len(parts)
    far = 1
    while far < len(parts):
        before = [joined(parts[i ^ far], x) if i & far else x for i, x in enumerate(before)]
        parts = [joined(*((parts[i ^ far], x) if i & far else (x, parts[i ^ far]))) for i, x in enumerate(parts)]
        far *= 2
    return parts[0], before


def _whole(parts: list[Part], lanes: int) -> Part:
    """The parts of some lanes as one."""
    return scanned([*parts, *[(0, None)] * (lanes - len(parts))])[0]


def _row(values: NDArray[np.float32], heads: set[int], begin: int, lanes: int) -> tuple[Part, list[Any]]:
    """The part of a row of vectors, and the sums of the runs that end in it."""
    parts, closed = [], []
    for lane in range(lanes):
        part: Part = (0, None)
        ended: list[Any] = []
        for i in range(begin + 4 * lane, min(begin + 4 * lane + 4, len(values))):
            if i in heads:
                ended.append(part[1])
            part = joined(part, (int(i in heads), values[i]))
        parts.append(part)
        closed.append(ended)
    whole, before = scanned(parts)
    out: list[Any] = []
    for ended, (count, sum_) in zip(closed, before, strict=True):
        if ended:
            first = plus(sum_, ended[0])
            out += [first if count else (None, first), *ended[1:]]  # a pair: what is before the row is missing
    return whole, out


def _chain(rows: list[tuple[Part, list[Any]]]) -> tuple[Part, list[Any]]:
    """Adjacent rows, subgroups or tiles as one, from left to right."""
    all_: Part = (0, None)
    out: list[Any] = []
    for part, ended in rows:
        for x in ended:
            missing = isinstance(x, tuple)
            out.append((plus(all_[1], x[1]) if all_[0] else (None, plus(all_[1], x[1]))) if missing else x)
        all_ = joined(all_, part)
    return all_, out


def sums(values: NDArray[np.float32], keys: NDArray[np.uint32], p: Params) -> NDArray[np.float32]:
    """Return the sums of all runs of `keys`."""
    heads = set(starts(keys).tolist())
    row, n = 4 * p.subgroup, len(keys)
    tiles = []
    for begin in range(0, n, p.tile):
        subgroups = []
        for first in range(begin, begin + p.tile, row * p.vectors):
            rows = range(first, first + row * p.vectors, row)
            subgroups.append(_chain([_row(values, heads, x, p.subgroup) for x in rows]))
        tiles.append(_chain(subgroups))
    found: list[Any] = []
    states: list[Part] = []
    for number, (part, ended) in enumerate(tiles):
        group, section = p.group_tiles, p.section_tiles
        first, begin = number // section * section - 1, number // group * group
        far = [states[first] if first >= 0 else (0, None), *states[first + group : begin : group]]
        near, rest = (_whole(x, group) for x in (states[begin:number], far))
        before = joined(rest, near)
        found += [plus(before[1], x[1]) if isinstance(x, tuple) else x for x in ended]
        whole = joined(before, part)
        ends = (number + 1) % group == 0
        states.append(whole if (number + 1) % section == 0 else joined(near, part) if ends else part)
    return np.array([*found[1:], whole[1]], np.float32)
