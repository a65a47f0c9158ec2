"""Portions: above a count, a pass with look-back is several launches that share one small table of tile states.

A table with a row of states for every tile would have two problems.  For small tiles or narrow keys, the table would
take more than a few percent of the scratch for keys.  Also, a state can count only fewer than 2^30 keys.  Each launch
therefore takes an equal portion of the tiles, and its states count only the keys of that portion.  Each launch stores,
for the next launch, the sum of each digit over all earlier tiles.
"""

from __future__ import annotations

from hsgen.algorithms.radix.tile import Tile
from hsgen.core.scratch import ANY_N

ROOM = 400 * 1024
"""A pass needs no portions if its table of states takes at most this many bytes."""
SHARE = 28
"""A larger table may take this many thousandths of the bytes of all keys and values."""
COUNTED = (1 << 30) - 1
"""The most keys of a portion, because a state holds a count of 30 bits."""
MOST = 12
"""The most portions of a pass.  If tiles are tiny, even so many portions do not keep the table within `SHARE`."""


def halved(p: Tile) -> bool:
    """Return whether look-back with 32-bit indices also sorts 2^30 keys and more, in at least two portions."""
    return p.large and p.forward_progress


def count(p: Tile) -> int:
    """Return the number of launches of a pass for counts above `whole(p)`."""
    if not p.looks_back:
        return 1
    return min(MOST, max(2 if halved(p) else 1, _wanted(p)))


def whole(p: Tile) -> int:
    """Return the greatest count for which a pass is a single launch."""
    if p.split_above or not p.looks_back or _wanted(p) <= 1:
        return p.split_above or (COUNTED if halved(p) else ANY_N)
    excess = _row(p) * 1000 - _item(p) * p.tile * SHARE
    return ROOM * 1000 // excess * p.tile


def _wanted(p: Tile) -> int:
    """The least number of launches with which the table of states stays within `SHARE`."""
    return -(-_row(p) * 1000 // (_item(p) * p.tile * SHARE))


def counted_groups(p: Tile) -> int:
    """Return the most work-groups of a retry, whose table of counts must fit the memory of the table of states."""
    return max(1, min(p.groups, ROOM // _row(p)))


def _row(p: Tile) -> int:
    return 4 * p.radix


def _item(p: Tile) -> int:
    return p.key.bytes + p.signature.value_bytes
