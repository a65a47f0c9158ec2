"""The shape of a merge for a width and a form, by what a target chose for its radix sort."""

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
ITEMS = 15  # odd, so that lanes which store runs of so many keys meet no bank twice
CHAIN, CHAINS = 4096, 3  # keys of a chain of a lane that walks alone; chains, as many as registers hold
CHAIN_ROWS = 8192  # by rows chains take less time, and binary searches before them weigh more
ROWS = {0: (16, 4), 4: (8, 4), 8: (16, 2), 16: (16, 2)}
"""Keys of a row and chains, by the bytes of values.  All is measured: docs/results/merging.md."""

FEW = 1024  # keys of a lane among others that walk alone


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the shape for keys of a width in a form; None where a target sorts no such keys, or for other forms than
    keys alone or with values.

    Lanes walk alone where they do in the target's radix sort.  Elsewhere a work-group has as many lanes as in that
    sort, and holds as many keys as leave room for a second work-group in local memory.
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
            if signature.value_bytes and key.bytes == 8:  # keys that leave no room for slots
                return Params(key=key, work_group=1, items=CHAIN, chains=CHAINS, walks=True, signature=signature)
            row, chains = ROWS[signature.value_bytes]
            return Params(
                key=key, work_group=1, items=CHAIN_ROWS, chains=chains, walks=True, row=row, signature=signature
            )
        return Params(key=key, work_group=lanes, items=FEW, walks=True, signature=signature)
    made = Params(key=key, work_group=lanes, items=ITEMS, signature=signature)
    while made.items > 1 and 2 * merge(made).local_bytes(key) > device.local_bytes:
        made = replace(made, items=made.items - 2)
    return replace(made, spare=spare(made.tile, device.groups))


def spare(tile: int, limit: int) -> int:
    """Return the most work-groups that a grid of `limit` in each dimension has too many.

    A grid in two dimensions has as few rows as it can, all of one width: less than one work-group a row is too many.
    """
    groups = min(-(-MAX_N // tile), limit * limit)
    return -(-groups // limit) - 1
