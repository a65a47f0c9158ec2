"""Derives the parameters of a radix sort of a certain key width, with certain values and features, from the target."""

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
    """Return the parameters for keys of the width `key`, with the values and features of `signature`.

    None means that the device cannot store such keys, or that the target has no table for them.  If the target has no
    table for keys of 8 or 16 bits, the table for u32 serves them: kernels hold such keys in 32-bit registers.  A tile
    with values needs more local memory than the target's tile of keys alone.  If the device has too little local
    memory, each lane gets fewer keys.
    p: the parameters in the target's tables for radix sorts, by key width.
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
    """Return the parameters with one key fewer per lane."""
    shape = replace(p, items=p.items - 1)
    if isinstance(shape, Cooperative):
        shape = replace(shape, least=min(shape.least, shape.items))
    return shape if shape.single is None else replace(shape, single=min(shape.single, shape.tile))
