"""The parameters of reductions by key, which are derived from the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

MAX_N = 1 << 30
"""The most keys: indices are signed 32-bit integers, and tiles may exceed n."""

_LANES = {"chip": 256, "memory": 64}
_GROUPS = {"chip": 2048, "memory": 64}
"""Lanes, and the most work-groups, by the kind of local memory: a CPU has few cores, and a work-group costs it more."""

_ITEMS = (15, 11, 7, 5, 3, 1)
_LOCAL = 1 << 15  # bytes, so that several work-groups share a core


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a reduction by key.

    work_group, items: lanes, a power of two, and the adjacent keys of each, an odd number below 32, so that lanes
    access different banks of local memory.  groups: the most work-groups, each with a span of tiles.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = 256
    items: int = 11
    groups: int = 2048

    @property
    def tile(self) -> int:
        """The keys of a tile."""
        return self.work_group * self.items

    @property
    def valued(self) -> bool:
        """Whether there are values."""
        return self.signature.value_bytes > 0

    @property
    def span_words(self) -> int:
        """The words of a span in scratch: the runs that start in it; and for the runs that it shares with other spans,
        the index of its first and its last start, and the reductions before the first and from the last one on."""
        return 5 if self.valued else 3

    def local_bytes(self) -> int:
        """Return the local memory of the kernel that needs the most, in bytes."""
        return self.tile * (self.key.held + 4) + 4 * self.work_group * 3


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature: with values of 4 bytes or none, and with a device-side
    count.  None for others, or if the target has no sort of such keys."""
    if not any(label.startswith(("bitonic", "radix")) for label in p):
        return None
    valued = signature.value == "v4"
    if replace(signature, device_count=False) != replace(PLAIN, value="v4" if valued else "none", floats=valued):
        return None
    if key.bytes < 4 and not (device.storage8 if key.bytes == 1 else device.storage16):
        return None
    lanes = 1 << min(_LANES[device.local], device.work_group).bit_length() - 1
    groups = min(_GROUPS[device.local], device.groups)
    made = (Params(key=key, signature=signature, work_group=lanes, items=x, groups=groups) for x in _ITEMS)
    return next((x for x in made if x.local_bytes() <= min(device.local_bytes, _LOCAL)), None)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for values by the names of `Params`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the keys of a tile, around whose multiples validation tests more counts."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values for headers and `hsgen show`: (name, value)."""
    return [
        ("tile", f"{p.work_group} lanes x {p.items} = {p.tile} keys"),
        ("spans", f"at most {p.groups} work-groups of tiles"),
    ]
