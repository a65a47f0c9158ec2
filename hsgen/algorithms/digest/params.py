"""The parameters of digests, which are derived from the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

LANES = 256
ITEMS = 16
_GROUPS = {"chip": 1024, "memory": 64}
"""The most work-groups, by the kind of local memory: a CPU has few cores, and a work-group costs it more."""

MAX_ELEMENTS = (1 << 31) - (1 << 20)
"""The most elements, or words of values: signed 32-bit indices that exceed them by a row of lanes do not overflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a digest.

    work_group, items: lanes, and elements per lane; their product is the tile.  groups: the most work-groups of a
    launch, each with several tiles if needed.  begin: the first bit of the key, 32 if a value is packed below it.
    form: the signature of the array.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = LANES
    items: int = ITEMS
    groups: int = 1024
    begin: int = 0

    @property
    def tile(self) -> int:
        """The least elements of a work-group, except of the last."""
        return self.work_group * self.items

    @property
    def key_words(self) -> tuple[int, ...]:
        """The shift of each 32-bit word of the key in an element."""
        return tuple(range(self.begin, self.key.bits, 32))

    @property
    def value_words(self) -> int:
        """The 32-bit words of a value, including packed values and indices."""
        return self.begin // 32 or self.signature.value_bytes // 4

    @property
    def reads(self) -> bool:
        """Whether values are in a separate buffer."""
        return self.signature.value_bytes > 0 and not self.signature.index

    @property
    def part(self) -> bool:
        """Whether keys are compared by the bit range in the argument."""
        return self.signature.bit_range or self.begin > 0

    @property
    def max_n(self) -> int:
        """The greatest count of elements."""
        return MAX_ELEMENTS // max(1, self.value_words if self.reads else 1)


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if the target has no sort of such keys, or with a
    device-side count."""
    if not any(label.startswith(("bitonic", "radix")) for label in p) or signature.device_count:
        return None
    if key.bytes < 4 and not (device.storage8 if key.bytes == 1 else device.storage16):
        return None
    return Params(
        key=key,
        signature=signature,
        work_group=1 << min(LANES, device.work_group).bit_length() - 1,
        groups=min(_GROUPS[device.local], device.groups),
        begin=key.bits // 2 if signature.value == "packed" else 0,
    )


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for values by the names of `Params`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the elements of a tile, around whose multiples validation tests more counts."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values for headers and `hsgen show`: (name, value)."""
    return [("elements", f"at most {p.groups} work-groups of {p.work_group} lanes, {p.tile} at a time")]
