"""What digests take: no choices of a target, for all of it follows from the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

LANES = 256
ITEMS = 16
_GROUPS = {"chip": 1024, "memory": 64}
"""The most work-groups, by where local memory lies: a CPU has few cores, and a work-group less costs it less."""

MAX_ELEMENTS = (1 << 31) - (1 << 20)
"""Elements, or words of values, that signed 32-bit indices find with a row of lanes to spare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The shape of a digest.

    work_group, items: lanes, and the elements of a lane by which work-groups are counted; their product is the tile.
    groups: the most work-groups of a launch; each takes as many tiles as that leaves it.
    begin: the first bit of the key, 32 where a value is packed below it.  form: what array is digested.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = LANES
    items: int = ITEMS
    groups: int = 1024
    begin: int = 0

    @property
    def tile(self) -> int:
        """Elements of a work-group, at least, where there are so many."""
        return self.work_group * self.items

    @property
    def key_words(self) -> tuple[int, ...]:
        """The shift of each 32-bit word of an element that belongs to its key."""
        return tuple(range(self.begin, self.key.bits, 32))

    @property
    def value_words(self) -> int:
        """The 32-bit words of a value, packed ones and places among them."""
        return self.begin // 32 or self.signature.value_bytes // 4

    @property
    def reads(self) -> bool:
        """Whether values lie in a buffer of their own."""
        return self.signature.value_bytes > 0 and not self.signature.index

    @property
    def part(self) -> bool:
        """Whether keys are compared by some of their bits, as the argument says."""
        return self.signature.bit_range or self.begin > 0

    @property
    def max_n(self) -> int:
        """The greatest count of elements."""
        return MAX_ELEMENTS // max(1, self.value_words if self.reads else 1)


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the shape for arrays in a form; None where the target has no sort of such keys, or the count would lie on
    the device."""
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
    """Return a shape; nothing of it is chosen in a target."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the elements around which validations are dense: a tile."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the derived values of a shape, for people."""
    return [("elements", f"at most {p.groups} work-groups of {p.work_group} lanes, {p.tile} at a time")]
