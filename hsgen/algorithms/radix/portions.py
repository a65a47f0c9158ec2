"""Portions of a pass with look-back: above a count, a pass is several launches that share one small table of states.

Every tile has a row of states, which for small tiles or narrow keys is more than a few percent of the keys; and a state
counts fewer than 2^30 keys.  Each launch takes an equal portion of the tiles, which counts for itself, and leaves the
sums of all tiles so far to the next.
"""

from __future__ import annotations

from hsgen.algorithms.radix.tile import Tile
from hsgen.core.scratch import ANY_N

ROOM = 400 * 1024
"""The bytes of a table for which portions need not be made smaller."""
SHARE = 28
"""The thousandths of keys and values that a table takes beyond that."""
COUNTED = (1 << 30) - 1
"""The most keys of a portion: the states of tiles hold 30 bits."""
MOST = 12
"""The most portions of a pass: tables of tiny tiles take more."""


def halved(p: Tile) -> bool:
    """Return whether look-back sorts 2^30 keys and more, in two portions at least, up to what 32 bits index."""
    return p.large and p.forward_progress


def count(p: Tile) -> int:
    """Return the launches of a pass for more than `whole` keys."""
    if not p.looks_back:
        return 1
    return min(MOST, max(2 if halved(p) else 1, _wanted(p)))


def whole(p: Tile) -> int:
    """Return the greatest count of which one launch takes all tiles."""
    if p.whole or not p.looks_back or _wanted(p) <= 1:
        return p.whole or (COUNTED if halved(p) else ANY_N)
    excess = _row(p) * 1000 - _item(p) * p.tile * SHARE
    return ROOM * 1000 // excess * p.tile


def _wanted(p: Tile) -> int:
    """The launches that make the table small enough."""
    return -(-_row(p) * 1000 // (_item(p) * p.tile * SHARE))


def counted_groups(p: Tile) -> int:
    """Return the work-groups that count where look-back failed: their counts take the table's place."""
    return max(1, min(p.groups, ROOM // _row(p)))


def _row(p: Tile) -> int:
    return 4 * p.radix


def _item(p: Tile) -> int:
    return p.key.bytes + p.signature.value_bytes
