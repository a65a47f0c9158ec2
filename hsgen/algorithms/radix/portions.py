"""Portions: above a certain count, a pass with look-back has several launches, which share one small table of states.

The table has a row for each tile of a launch, with a 4-byte state for each value of the digit.  Each launch takes an
equal portion of the tiles, for two reasons.  First, a table with rows for all tiles would take too many bytes compared
with the keys.  Second, a state counts at most 2^30 - 1 keys; with portions, a state counts only keys of its portion.
Each launch stores how many keys of each digit all tiles so far have.  The next launch adds these counts to its offsets.
"""

from __future__ import annotations

from hsgen.algorithms.radix.tile import Tile
from hsgen.core.scratch import ANY_N

ROOM = 400 * 1024
"""The size in bytes up to which a table has the states of all tiles, so that a pass is one launch."""
SHARE = 28
"""The greatest share of a table larger than `ROOM`: 28/1000 of the bytes of all keys and values."""
COUNTED = (1 << 30) - 1
"""The most keys of a portion, because a state holds a count of 30 bits."""
MOST = 12
"""The most portions of a pass.  With tiny tiles, the table exceeds `SHARE` even with this many portions."""


def halved(p: Tile) -> bool:
    """Return whether passes with look-back and 32-bit indices also sort 2^30 keys and more, as two or more portions.

    Otherwise other kernels sort so many keys, or the sort does not support them.
    """
    return p.large and p.forward_progress


def count(p: Tile) -> int:
    """Return the number of portions (launches) of a pass for counts above `whole(p)`."""
    if not p.looks_back:
        return 1
    return min(MOST, max(2 if halved(p) else 1, _wanted(p)))


def whole(p: Tile) -> int:
    """Return the greatest count for which a pass is a single launch; `ANY_N` if it is so for every count."""
    if p.split_above or not p.looks_back or _wanted(p) <= 1:
        return p.split_above or (COUNTED if halved(p) else ANY_N)
    excess = _row(p) * 1000 - _item(p) * p.tile * SHARE
    return ROOM * 1000 // excess * p.tile


def _wanted(p: Tile) -> int:
    """Return the least number of portions with which the table of states takes at most `SHARE` / 1000 of the data."""
    return -(-_row(p) * 1000 // (_item(p) * p.tile * SHARE))


def counted_groups(p: Tile) -> int:
    """Return the greatest number of work-groups of the retry kernels of a pass.

    Their table of counts, one row for each work-group, takes the place of the table of states: at most `ROOM` bytes.
    """
    return max(1, min(p.groups, ROOM // _row(p)))


def _row(p: Tile) -> int:
    return 4 * p.radix


def _item(p: Tile) -> int:
    return p.key.bytes + p.signature.value_bytes
