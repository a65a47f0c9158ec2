"""Portions of a pass with look-back: above a count, a pass is several launches that share one small table of states.

Every tile has a row of states.  For small tiles or narrow keys, these rows would take more than a few percent of the
scratch for keys.  A state also counts fewer than 2^30 keys.  Each launch therefore takes an equal portion of the tiles,
and its states count only keys of the portion.  Each launch passes the sum of each digit over all earlier tiles to the
next launch.
"""

from __future__ import annotations

from hsgen.algorithms.radix.tile import Tile
from hsgen.core.scratch import ANY_N

ROOM = 400 * 1024
"""Size in bytes of a table of states up to which a pass needs no portions."""
SHARE = 28
"""The size that a larger table may have, in thousandths of the bytes of keys and values."""
COUNTED = (1 << 30) - 1
"""The most keys of a portion: a state holds a count of 30 bits."""
MOST = 12
"""The most portions of a pass.  With tiny tiles, the table exceeds `SHARE` nevertheless."""


def halved(p: Tile) -> bool:
    """Return true if look-back with 32-bit indices also sorts 2^30 keys and more, in at least two portions."""
    return p.large and p.forward_progress


def count(p: Tile) -> int:
    """Return the number of launches of a pass for more than `split_above` keys."""
    if not p.looks_back:
        return 1
    return min(MOST, max(2 if halved(p) else 1, _wanted(p)))


def whole(p: Tile) -> int:
    """Return the greatest count at which one launch takes all tiles."""
    if p.split_above or not p.looks_back or _wanted(p) <= 1:
        return p.split_above or (COUNTED if halved(p) else ANY_N)
    excess = _row(p) * 1000 - _item(p) * p.tile * SHARE
    return ROOM * 1000 // excess * p.tile


def _wanted(p: Tile) -> int:
    """Number of launches with which the table of states takes at most `SHARE`."""
    return -(-_row(p) * 1000 // (_item(p) * p.tile * SHARE))


def counted_groups(p: Tile) -> int:
    """Return the most work-groups of a retry.  Their counts must fit the memory of the table of states."""
    return max(1, min(p.groups, ROOM // _row(p)))


def _row(p: Tile) -> int:
    return 4 * p.radix


def _item(p: Tile) -> int:
    return p.key.bytes + p.signature.value_bytes
