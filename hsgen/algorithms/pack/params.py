"""The parameters of packs: derived from the device, unless an optional table has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import KeyType, Signature
from hsgen.operations.pack import SIGNATURE

MAX_N = 1 << 30
"""The most rows: the words of a column have signed 32-bit indices."""

FIELDS = {
    "work_group": Field("int", "the lanes of a work-group", required=False, least=1),
    "tile": Field("int", "the rows of a work-group", required=False, least=1, greatest=1 << 20),
}

_LANES = {"chip": 256, "memory": 32}  # the runtimes of CPUs make vectors of lanes, which share all branches
TILE = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a pack; tile: the rows of a work-group."""

    key: KeyType
    signature: Signature = SIGNATURE
    work_group: int = 256
    tile: int = TILE


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for keys of 4 or 8 bytes; None for anything else, and if the target has no sort of such
    keys."""
    if signature != SIGNATURE or key.bytes < 4 or not any(label.startswith(("bitonic", "radix")) for label in p):
        return None
    return Params(key=key, work_group=1 << min(_LANES[device.local], device.work_group).bit_length() - 1)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for values by the names of `Params`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the rows of a work-group."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values for headers and `hsgen show`: (name, value)."""
    return [("tile", f"{p.tile} rows of columns")]
