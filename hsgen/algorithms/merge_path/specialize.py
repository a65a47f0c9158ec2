"""The parameters of a merge for a key width and a signature, derived from those of the target's radix sort."""

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
ITEMS = 15  # odd, so that lanes that store runs of this many keys to local memory have no bank conflicts
CHAIN, CHAINS = 4096, 3  # a sequential lane: the keys of a chain, and the most chains that its registers suffice for
CHAIN_ROWS = 8192  # the keys of a chain with rows: its merge is faster, so a binary search pays only for more keys
ROWS = {0: (16, 4), 4: (8, 4), 8: (16, 2), 16: (16, 2)}
"""The number of keys in a row, a vector that a sequential lane merges at once, and the number of chains.

The keys here are the sizes of a value in bytes.
Measurements determined `LANES`, `ITEMS`, `CHAIN`, `CHAINS`, `CHAIN_ROWS` and `ROWS`: docs/results/merging.md.
"""

LARGE, VECTOR_ITEMS, VECTOR_WORDS = 1 << 17, 23, 25
"""Limits for tiles that work-groups load and store by vectors.

`LARGE`: only devices with at least this many bytes of local memory have such tiles.  `VECTOR_ITEMS`: the most keys of a
lane.  `VECTOR_WORDS`: the most 32-bit words of a lane for its keys and, in a merge with values, for a *slot* of each
key.  A slot is the index in local memory from which a lane took the key; by the slot, the work-group locates the key's
value.  With these limits, the registers of a core suffice for 1024 lanes.
"""
ALONE = 1 << 25
"""The most bytes of keys and values for which `merge_alone` runs: as many as a second-level cache holds.

Measurements determined `LARGE`, `VECTOR_ITEMS`, `VECTOR_WORDS` and `ALONE`: docs/results/h200.md.
"""

RANGES = {0: (1 << 21, 256, 20, 3), 4: (0, 256, 8, 4)}
"""The parameters of `merge_ranges` for 32-bit keys, by the size of a value in bytes.

The parameters are the count above which the kernel runs, `range_lanes`, `range_items` and `resident`.
"""
RANGED = 1 << 27
"""The most bytes of keys and values for which `merge_ranges` runs."""

FEW = 1024  # the keys that a sequential lane merges if a work-group has several lanes


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if such a merge is not supported.

    A merge requires that the target has a sort for such keys.  All key types and both orders are supported, with values
    of up to 16 bytes, but without indices and other features.

    If each lane of the target's radix sort has a chunk of its own (`per_thread`), lanes are sequential: each merges its
    keys from memory to memory.  Otherwise a work-group has as many lanes as in that sort, but at most `LANES`.  A tile
    takes at most half of local memory, so that a core holds a second work-group.
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
    """Return the parameters for devices on which work-groups load and store tiles by vectors.

    For 32-bit keys without values, all kernels do so.  For other keys, only `merge_alone` and `merge_ranges` do.
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
    """Return by how many work-groups a grid may exceed the number of tiles, at most.

    A grid has at most `limit` work-groups in each dimension.  For more tiles, the grid has two dimensions, with as few
    rows as possible, all of the same width.  Each row therefore has less than one excess work-group on average.
    """
    groups = min(-(-MAX_N // tile), limit * limit)
    return -(-groups // limit) - 1
