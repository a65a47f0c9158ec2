"""The parameters of selections: derived from the device, unless an optional table has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.regions import Region, placed

MAX_N = 1 << 30
"""The most keys of all rows: indices are signed 32-bit integers, and tiles may exceed n."""

STATE = 8
"""The words of a row's state after a pass."""

PICK, GATHERED, DIFFER, CROWDED = 3, 1, 2, 1
"""The sizes in words of arrays in local memory.

PICK: the bin of the k-th key, its prefix and its size.  GATHERED: the number of gathered keys.  DIFFER: the bits in
which keys differ.  CROWDED: 1 if a bin is crowded."""

FIELDS = {
    "work_group": Field("int", "the lanes of a work-group, a power of two", required=False, least=1),
    "items": Field("int", "the keys per lane of a tile", required=False, least=1, greatest=1 << 12),
    "capacity": Field("int", "the keys that a work-group sorts, a power of two", required=False, least=4),
    "bits": Field("int", "the bits of the widest digit, 4 to 13", required=False, least=4, greatest=13),
    "groups": Field("int", "the most work-groups that share tiles", required=False, least=1, greatest=65535),
    "row_limit": Field("int", "the longest row of one work-group", required=False, least=4, greatest=1 << 24),
    "places": Field("bool", "whether a work-group sorts its keys by places", required=False),
}

_LANES = {"chip": 512, "memory": 64}
_GROUPS = {"chip": 1024, "memory": 64}
"""Lanes, and the most work-groups, by the kind of local memory: a CPU has few cores, and a work-group costs it more."""

_CAPACITIES = (4096, 2048, 1024, 512, 256)
_BITS = (11, 8)
_ROW_LIMIT = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a selection.

    capacity: the keys, with indices, that a work-group holds and sorts, a power of two.
    bits: the bits of the widest digit.
    work_group, items: the lanes, and the keys of a lane in a tile.
    groups: the most work-groups that share all tiles.
    row_limit: the longest row that one work-group selects from.
    places: keys on chip are sorted by bins.
    crowd: the greatest number of keys of a bin; with more, bins are crowded.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = 512
    items: int = 16
    capacity: int = 4096
    bits: int = 11
    groups: int = 1024
    row_limit: int = _ROW_LIMIT
    places: bool = False
    crowd: int = 64

    @property
    def tile(self) -> int:
        """The keys of a tile."""
        return self.work_group * self.items

    @property
    def digit(self) -> int:
        """The width of the widest digit in bits."""
        return min(self.bits, self.key.bits)

    @property
    def bins(self) -> int:
        """The bins of a histogram."""
        return 1 << self.digit

    @property
    def passes(self) -> int:
        """The passes over all digits."""
        return -(-self.key.bits // self.digit)

    @property
    def key_words(self) -> int:
        """Number of 32-bit words of a key, without its index."""
        return -(-self.key.bits // 32)

    @property
    def state_words(self) -> int:
        """The words of a row's state after a pass."""
        return STATE

    @property
    def reads_values(self) -> bool:
        """True if values are read, rather than indices computed."""
        return self.signature.value_bytes > 0 and not self.signature.index

    @property
    def row_words(self) -> int:
        """The words of a row in scratch."""
        return layout(self).row_words.start

    @property
    def row_tiles(self) -> int:
        """Greatest number of tiles in `row_limit` keys; one tile may be shared with the row before."""
        return -(-self.row_limit // self.tile) + 1

    def local_bytes(self) -> int:
        """Return the local memory of the kernel that needs the most, in bytes."""
        shared = PICK + GATHERED + (DIFFER + CROWDED if self.places else 0)
        return self.capacity * (self.key.held + 4) + 4 * (self.bins + self.work_group + shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWords:
    """The regions of one row in scratch; the counts of tiles follow the regions of all rows."""

    row_histograms: Region
    row_gathered: Region
    row_low: Region
    row_shift: Region
    row_selected: Region
    row_candidates: Region
    row_later_states: Region
    row_keys: Region
    row_high_keys: Region
    row_indices: Region
    row_words: Region


def layout(p: Params) -> RowWords:
    """Return the regions of a row."""
    regions = (
        ("row_histograms", p.passes * p.bins, "within a row: a histogram for each pass"),
        ("row_gathered", 1, "within a row: the number of gathered keys"),
        (
            "row_low",
            2,
            f"within a row, of each pass, {STATE} words on: the words of the least key that may be the k-th",
        ),
        ("row_shift", 1, "the same: the bits below the known ones"),
        ("row_selected", 1, "the same: the keys below, which are selected"),
        ("row_candidates", 1, "the same: the keys with the known bits"),
        ("row_later_states", STATE * p.passes - 5, "the state after later passes"),
        ("row_keys", p.capacity, "within a row: the low words of the gathered keys"),
        ("row_high_keys", p.capacity * (p.key_words - 1), "within a row: the high words of the gathered keys"),
        ("row_indices", p.capacity, "within a row: the indices of the gathered keys"),
        ("row_words", 0, "the words of a row; the counts of tiles follow those of all rows"),
    )
    return RowWords(**placed(regions))


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if the selection is not supported.

    Keys of all types in both orders are supported, with values or indices, if the target sorts such keys; further
    features are not.
    """
    if not any(label.startswith(("bitonic", "radix")) for label in p):
        return None
    if replace(signature, value="none") != replace(PLAIN, key_transform=True, rows=True) or signature.value == "packed":
        return None
    if key.bytes < 4 and not (device.storage8 if key.bytes == 1 else device.storage16):
        return None
    lanes = 1 << min(_LANES[device.local], device.work_group).bit_length() - 1
    shapes = (
        Params(
            key=key,
            signature=signature,
            work_group=min(lanes, capacity // 2),
            capacity=capacity,
            bits=bits,
            groups=min(_GROUPS[device.local], device.groups),
            places=device.cooperative,
        )
        for capacity, bits in product(_CAPACITIES, _BITS)
    )
    return next((x for x in shapes if x.local_bytes() <= device.local_bytes), None)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for values by the names of `Params`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the keys that a work-group sorts."""
    return p.capacity


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values for headers and `hsgen show`: (name, value)."""
    return [
        ("sorted", f"up to {p.capacity} keys of a row"),
        ("digits", f"{p.passes} of at most {p.digit} bits"),
        ("rows", f"up to {p.row_limit} keys by one work-group of {p.work_group} lanes"),
        ("longer rows", f"tiles of {p.tile} keys, at most {p.groups} work-groups"),
    ]
