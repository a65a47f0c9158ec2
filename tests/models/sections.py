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


def paired(parts: list[Part]) -> Part:
    """The parts of the lanes of a subgroup as one, by exchanges over 1, 2, 4 lanes."""
    far = 1
    while far < len(parts):
        parts = [joined(*((parts[i ^ far], x) if i & far else (x, parts[i ^ far]))) for i, x in enumerate(parts)]
        far *= 2
    return parts[0]


def _rotated(parts: list[Part]) -> list[Part]:
    """The parts of the lanes of a subgroup, each with those before it: by the lanes 1, 2, 4 before."""
    far = 1
    while far < len(parts):
        parts = [joined(parts[i - far], x) if i >= far and not x[0] else x for i, x in enumerate(parts)]
        far *= 2
    return parts


def _subgroup(values: NDArray[np.float32], heads: set[int], begin: int, p: Params) -> tuple[Part, list[Any]]:
    """The part of the rows of a subgroup from value `begin` on, and the sums of the runs that end in it."""
    all_: Part = (0, None)
    out: list[Any] = []
    for row in range(begin, begin + 4 * p.subgroup * p.vectors, 4 * p.subgroup):
        lanes = [range(min(x, len(values)), min(x + 4, len(values))) for x in range(row, row + 4 * p.subgroup, 4)]
        parts: list[Part] = []
        for lane in lanes:
            part: Part = (0, None)
            for i in lane:
                part = joined(part, (int(i in heads), values[i]))
            parts.append(part)
        parts = _rotated(parts)
        for lane, before in zip(lanes, [(0, None), *parts], strict=False):
            count, run = joined(all_, before)
            for i in lane:
                if i in heads:
                    out.append(run if count else (None, run))  # a pair: what is before the subgroup is missing
                    count, run = count + 1, values[i]
                else:
                    run = plus(run, values[i])
        all_ = joined(all_, parts[-1])
    return all_, out


def _chain(rows: list[tuple[Part, list[Any]]]) -> tuple[Part, list[Any]]:
    """Adjacent subgroups or tiles as one, from left to right."""
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
    share, n = 4 * p.subgroup * p.vectors, len(keys)
    tiles = []
    for begin in range(0, n, p.tile):
        subgroups = [_subgroup(values, heads, x, p) for x in range(begin, begin + p.tile, share)]
        tiles.append(_chain(subgroups))
    found: list[Any] = []
    states: list[Part] = []
    for number, (part, ended) in enumerate(tiles):
        seen = states[max(0, number - number % p.section_tiles - 1) :]
        if number < p.section_tiles:
            seen = [(0, None), *seen]  # the first lane has no state
        seen += [(0, None)] * (-len(seen) % p.subgroup)
        before: Part = (0, None)
        for at in range(0, len(seen), p.subgroup):
            before = joined(before, paired(seen[at : at + p.subgroup]))
        found += [plus(before[1], x[1]) if isinstance(x, tuple) else x for x in ended]
        whole = joined(before, part)
        states.append(whole if number % p.section_tiles == p.section_tiles - 1 else part)
    return np.array([*found[1:], whole[1]], np.float32)
