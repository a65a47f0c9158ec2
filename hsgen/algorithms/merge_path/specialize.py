"""Derives the parameters of a merge for a key width and a signature from those of the target's radix sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hsgen.algorithms.merge_path.kernels import merge
from hsgen.algorithms.merge_path.params import Params
from hsgen.algorithms.merge_path.plan import MAX_N
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

LANES = 256
ITEMS = 15  # odd: lanes store runs of this many keys to local memory, without bank conflicts
CHAIN, CHAINS = 4096, 3  # the keys of a sequential lane's chain, and the most chains that registers hold
CHAIN_ROWS = 8192  # the keys of a chain merged by rows: merging is faster, so only longer chains pay a binary search
ROWS = {0: (16, 4), 4: (8, 4), 8: (16, 2), 16: (16, 2)}
"""Maps the bytes of a value to the keys of a row and the number of chains.

All numbers from `LANES` to here were measured: docs/results/merging.md.
"""

LARGE, VECTOR_ITEMS, VECTOR_WORDS = 1 << 17, 23, 25
"""Limits for tiles that are moved by vectors.

`LARGE`: the device has at least this many bytes of local memory.  `VECTOR_ITEMS`: the most keys of a lane.
`VECTOR_WORDS`: the most words that a lane needs for its keys and for the slots of their values.  With these limits, the
registers of a core suffice for 1024 lanes.
"""
ALONE = 1 << 25
"""Up to this many bytes of keys and values, work-groups search for the ends of their tiles themselves.

A second-level cache holds this many bytes.  The numbers from `LARGE` to `ALONE` were measured: docs/results/h200.md.
"""

RANGES = {0: (1 << 21, 256, 20, 3), 4: (0, 256, 8, 4)}
"""Merges of 32-bit keys by ranges of tiles.  Maps the bytes of a value to four numbers.

The numbers are the count above which ranges are used, the lanes of a work-group, the keys of a lane, and the
work-groups that must fit a core together.
"""
RANGED = 1 << 27
"""The most bytes of keys and values that are merged by ranges of tiles."""

FEW = 1024  # the keys that a sequential lane merges, if its work-group has several lanes


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if the merge is not supported.

    The target must sort such keys.  The signature may have key types, orders and values, but no other features.

    If the lanes of the target's radix sort are sequential, each lane merges sequentially.  Otherwise a work-group has
    as many lanes as that sort, but at most `LANES`.  Its tile takes at most half of local memory, so a second
    work-group fits.
    """
    if (
        not p
        or signature.value not in ("none", "v4", "v8", "v16")
        or replace(signature, value="none", key_transform=False) != PLAIN
    ):
        return None
    chosen = p.get("radix")
    lanes = min(getattr(chosen, "work_group", LANES), LANES, device.work_group)
    if chosen is not None and chosen.serial and chosen.subgroup == 1:
        if lanes == 1:
            if signature.value_bytes and key.bytes == 8:  # 64-bit keys leave no bits for the slots of values
                return Params(key=key, work_group=1, items=CHAIN, chains=CHAINS, walks=True, signature=signature)
            row, chains = ROWS[signature.value_bytes]
            return Params(
                key=key, work_group=1, items=CHAIN_ROWS, chains=chains, walks=True, row=row, signature=signature
            )
        return Params(key=key, work_group=lanes, items=FEW, walks=True, signature=signature)
    shape = Params(key=key, work_group=lanes, items=ITEMS, signature=signature)
    while shape.items > 1 and 2 * merge(shape).local_bytes(key) > device.local_bytes:
        shape = replace(shape, items=shape.items - 2)
    if device.local_bytes >= LARGE and key.bytes >= 4 and getattr(chosen, "ranker", "") == "match_ballot":
        shape = _vectors(shape, getattr(chosen, "subgroup", 1), device)
    return replace(shape, spare=spare(shape.tile, device.groups))


def _vectors(p: Params, subgroup: int, device: Device) -> Params:
    """Return the parameters with tiles that are moved by vectors.

    For 32-bit keys without values, all tiles are.  For other keys, only the tiles of `merge_alone` and `merge_ranges`
    are.
    """
    words = p.key.held // 4 + p.valued
    items = min(VECTOR_ITEMS, (VECTOR_WORDS // words - 1) // 2 * 2 + 1)
    alone = ALONE // (p.key.bytes + p.signature.value_bytes)
    shape = replace(p, alone=alone, alone_items=items, subgroup=subgroup)
    if not (device.cores and p.key.bytes == 4 and p.signature.value_bytes in RANGES):
        return replace(shape, items=items, vectors=True) if words == 1 else shape
    few, lanes, lane_items, resident = RANGES[p.signature.value_bytes]
    if lanes <= device.work_group:
        most = RANGED // (p.key.bytes + p.signature.value_bytes)
        shape = replace(shape, alone=few, ranged=most, ranges=device.cores * resident, resident=resident)
        shape = replace(shape, range_lanes=lanes, range_items=lane_items)
    return replace(shape, items=items, vectors=True) if words == 1 else shape


def spare(tile: int, limit: int) -> int:
    """Return the greatest number of excess work-groups in a grid of at most `limit` work-groups in each dimension.

    A two-dimensional grid has as few rows as possible, all of the same width.  Each row therefore has on average less
    than one excess work-group.
    """
    groups = min(-(-MAX_N // tile), limit * limit)
    return -(-groups // limit) - 1
