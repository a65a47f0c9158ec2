"""Radix sorts in other forms than plain keys: the shape that a target chose, if it serves them."""

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
    """Return the shape for keys of a width in a form; None where the device or the target serves none.

    Narrow keys are held as words and take the shape of 32-bit keys.  Values take local memory for the places of keys:
    where it does not suffice, lanes get fewer keys.
    """
    if key.bytes < 4 and not (device.storage8 if key.bytes == 1 else device.storage16):
        return None
    own = p.get(key.name) or (p.get("u32") if key.bytes < 4 else None)
    if own is None:
        return None
    made: Tile = replace(own, key=key, signature=signature, redo=not device.promised)
    if signature.value == "packed":
        made = replace(made, begin=key.bits // 2)
    if key.bytes < 4:
        made = replace(made, bits=min(made.bits, key.bits))
    strategy = strategies.of(made)
    made = strategy.fitted(made)
    while made.items > 1 and not made.serial and _crowded(made, device):
        made = _smaller(made)
    return made


def _crowded(p: Tile, device: Device) -> bool:
    return any(k.local_bytes(p.key) > device.local_bytes for k in strategies.of(p).kernels(p))


def _smaller(p: Tile) -> Tile:
    """The shape whose lanes have a key less."""
    made = replace(p, items=p.items - 1)
    if isinstance(made, Cooperative):
        made = replace(made, least=min(made.least, made.items))
    return made if made.single is None else replace(made, single=min(made.single, made.tile))
