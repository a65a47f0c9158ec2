"""The parameters of gathers: derived from the device, unless an optional table has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import PLAIN, KeyType, Signature

MAX_N = 1 << 30
"""The most indices: positions are signed 32-bit integers, and tiles may exceed n."""

FIELDS = {
    "work_group": Field("int", "the lanes of a work-group", required=False, least=1),
    "tile": Field("int", "the items of a work-group", required=False, least=1, greatest=1 << 20),
    "batch": Field("int", "the values that a lane loads before it stores them", required=False, least=1, greatest=16),
}

_LANES = {"chip": 256, "memory": 1}
ITEMS = {"chip": 512, "memory": 1024}
"""Lanes, and the items of a tile, by the kind of local memory: a core of a CPU moves one item after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a gather.

    tile: the items of a work-group.  batch: the values that a lane loads before it stores them.  whole: whether a lane
    moves whole items.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = 256
    tile: int = 512
    batch: int = 4
    whole: bool = False


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for 32-bit indices and a kind of values; None for anything else, and if the target has no
    sort of such keys."""
    if not any(label.startswith(("bitonic", "radix")) for label in p):
        return None
    own = replace(PLAIN, value=signature.value, rows=True)
    if key.bytes != 4 or signature != own or not signature.value_bytes or signature.index:
        return None
    return Params(
        key=key,
        signature=signature,
        work_group=1 << min(_LANES[device.local], device.work_group).bit_length() - 1,
        tile=ITEMS[device.local],
        whole=device.local == "memory",
    )


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for values by the names of `Params`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the items of a work-group."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values for headers and `hsgen show`: (name, value)."""
    lanes = "" if p.whole else f", whose values {p.work_group} lanes move together"
    return [("tile", f"{p.tile} items{lanes}")]
