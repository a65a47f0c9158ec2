"""The parameters of a radix sort with a certain key type, values and features, derived from the target's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hsgen.algorithms.radix import strategies
from hsgen.algorithms.radix.cooperative import Cooperative
from hsgen.algorithms.radix.tile import Tile
from hsgen.core.device import Device
from hsgen.core.keys import KeyType, Signature


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Any:
    """Return the parameters for keys of type `key` and the values and features of `signature`.

    None means that the device cannot store such keys, or that the target has no table for them.  If the target has no
    table for keys of 8 or 16 bits, the table of 32-bit keys serves them.  Kernels hold such keys as 32-bit words.  A
    tile with values needs more local memory.  If the device has too little, each lane gets fewer keys.
    p: the parameters that the target's tables state, by key width.
    """
    if key.bytes < 4 and not (device.storage8 if key.bytes == 1 else device.storage16):
        return None
    table = p.get(key.name) or (p.get("u32") if key.bytes < 4 else None)
    if table is None:
        return None
    shape: Tile = replace(table, key=key, signature=signature, redo=not device.promised)
    if signature.value == "packed":
        shape = replace(shape, begin=key.bits // 2)
    if key.bytes < 4:
        shape = replace(shape, bits=min(shape.bits, key.bits))
    strategy = strategies.of(shape)
    shape = strategy.fitted(shape)
    while shape.items > 1 and not shape.serial and _exceeds_local(shape, device):
        shape = _smaller(shape)
    return shape


def _exceeds_local(p: Tile, device: Device) -> bool:
    """Whether any kernel needs more local memory than the device has."""
    return any(k.local_bytes(p.key) > device.local_bytes for k in strategies.of(p).kernels(p))


def _smaller(p: Tile) -> Tile:
    """The parameters with one key fewer per lane."""
    shape = replace(p, items=p.items - 1)
    if isinstance(shape, Cooperative):
        shape = replace(shape, least=min(shape.least, shape.items))
    return shape if shape.single is None else replace(shape, single=min(shape.single, shape.tile))
