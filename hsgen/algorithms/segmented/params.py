"""The parameters of a segmented sort, derived from those of the target's radix sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hsgen.algorithms.radix import specialize as radix_formed
from hsgen.algorithms.radix import strategies
from hsgen.algorithms.radix.per_thread import PerThread
from hsgen.algorithms.radix.reduce_scan import ReduceScan
from hsgen.algorithms.radix.tile import Tile, recast
from hsgen.algorithms.segmented.capacity import most_items, placed_items, window_bytes
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

LANES = 16
"""Sequential lanes: the lanes that sort short segments together, a vector of 32-bit words."""
TOGETHER, LONG = 65536, 16384
"""Sequential lanes: the bytes of keys of a window, and the most keys of a segment that one lane sorts by digits, which
takes about 2000 steps per segment and 20 per key."""
SHORT = {True: 4096, False: 1024}
"""Sequential lanes: the bytes of keys of the greatest segment that networks sort (about log2(n)^2 / 64 steps per key),
or, with values or a bit range, that is sorted by comparing all pairs of keys (n / 16 steps per key)."""
COMPARED = 64
"""Other lanes: the most keys of a segment sorted by comparing all pairs of keys, if the window has no longer one: two
of each lane of a subgroup of 32, which compares the longer ones among tiny segments."""
MOST_PARTS = 2**31 - 1
"""The most segments of a call."""
LARGE, SHARE = 1 << 17, 4
"""The local memory from which on the greatest segment that is sorted with others is a part of what a work-group holds,
one in `SHARE`, so that the others fill most of it; with less memory, a half."""
REGISTERS = 48
"""The 32-bit words of keys, indices and values that a lane keeps in registers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a segmented sort; sizes are in keys.

    form: the signature.  chip: the parameters of tiles sorted on chip, whose keys carry their original index.
    rank: the parameters of tiles scattered by a digit.  small: the greatest segment sorted together with others.
    window: keys per work-group; it sorts the short segments that start in its window.  tile: the greatest segment
    sorted by one work-group.  chunk: the least keys of a column of counts.  most_columns: columns of a segment.
    groups: the most work-groups of a kernel that loops.  apart: each segment of medium length has a work-group of its
    own, which does not loop.  placed: keys of a lane where short segments are sorted by places; 0 if they are not.
    sift: segments that a lane of those that are not sequential examines.
    """

    signature: Signature
    chip: ReduceScan | PerThread
    rank: ReduceScan | PerThread
    small: int
    window: int
    tile: int
    chunk: int
    most_columns: int
    groups: int
    apart: bool = False
    placed: int = 0
    sift: int = 8

    @property
    def key(self) -> KeyType:
        """The key width."""
        return self.rank.key

    @property
    def serial(self) -> bool:
        """Whether lanes are sequential."""
        return self.rank.serial

    @property
    def networks(self) -> bool:
        """Whether lanes sort short segments by networks, which are not stable."""
        return self.serial and not _distinguished(self.signature)

    @property
    def levels(self) -> int:
        """The number of network sizes, which are multiples of `wave`."""
        return self.small // self.wave

    @property
    def wave(self) -> int:
        """The lanes of the kernels that sort short segments and list longer ones."""
        return LANES if self.serial else self.rank.work_group

    @property
    def sifted(self) -> int:
        """The segments that a work-group examines to list the longer ones."""
        return self.wave * (64 if self.serial else self.sift)

    @property
    def compared(self) -> int:
        """The greatest segment of a window that is sorted by comparing all pairs of keys."""
        return min(COMPARED, self.small)

    @property
    def capacity(self) -> int:
        """The most keys of a window, where short segments are sorted by places."""
        return self.placed * self.wave

    @property
    def together(self) -> bool:
        """Whether windows sort segments above `small` keys, all but the last that starts in one."""
        return not self.serial and self.small < self.window

    @property
    def mediums(self) -> int:
        """The most segments above `small` keys per `tile` keys of the array."""
        return -(-self.tile // (self.small + 1))

    @property
    def few(self) -> int:
        """The most columns of a segment whose counts are scanned by one lane per digit."""
        return self.most_columns if self.serial else min(32, self.most_columns)


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature, from the target's radix sort.

    None if the target has no radix sort, if the device's grids are too small for `MOST_PARTS` segments, or for packed
    words, a device-side count or a report.
    """
    made = _specialized(p, key, signature, device)
    return made if made and -(-MOST_PARTS // made.sifted) <= device.groups**2 else None


def _specialized(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    own = p.get("radix")
    known = replace(PLAIN, value=signature.value, key_transform=signature.key_transform, bit_range=signature.bit_range)
    whole, signature = signature, replace(signature, segment_ends=False, segment_count=False)
    if not isinstance(own, Tile) or signature != known or signature.value == "packed":
        return None
    name = "u32" if key.bytes < 4 else key.name
    made = radix_formed({name: _ranked(own, device)}, key, signature, device)
    if isinstance(made, PerThread):
        return _walked(made, whole, device) if device.work_group >= LANES else None
    if not isinstance(made, ReduceScan):
        return None
    carried = replace(signature, value="index") if not signature.value_bytes else signature
    apart = made.ranker == "match_broadcast" and device.local == "chip"
    made = replace(made, items=min(made.items, most_items(made, apart, device)))
    words = key.held // 4 + 1 + signature.value_bytes // 4 * (not signature.index)
    chip = replace(made, signature=carried, items=max(1, min(made.items, REGISTERS // words)))
    while chip.items > 1 and window_bytes(chip, whole) > device.local_bytes:
        chip = replace(chip, items=chip.items - 1)
    placed = placed_items(chip, whole, device)
    most = placed * chip.work_group or chip.tile
    large = placed > 0 and device.local_bytes >= LARGE
    small = most // (SHARE if large else 2)
    return Params(
        signature=whole,
        chip=chip,
        rank=made,
        small=small,
        window=most - small if placed else small,
        tile=chip.tile,
        chunk=made.tile,
        most_columns=made.groups,
        groups=made.groups,
        apart=apart,
        placed=placed,
        sift=2 if large else 8,
    )


def _ranked(own: Tile, device: Device) -> ReduceScan | PerThread:
    """The parameters without those of whole sorts, for tiles or for a single sequential lane per work-group.

    Work-groups of several sequential lanes use tiles instead: the ranker "match_ballot" with subgroups, else "bitmask".
    """
    bare: dict[str, Any] = {"single": None, "single_bits": None}
    if isinstance(own, PerThread) and own.folded:
        return replace(own, **bare, stream_from=None)
    if not isinstance(own, PerThread):
        return recast(own, ReduceScan, **bare, large=False)
    lanes = own.work_group if own.subgroup > 1 else min(256, device.work_group)
    return recast(
        own, ReduceScan, **bare, ranker="match_ballot" if own.subgroup > 1 else "bitmask", work_group=lanes, items=8
    )


def _walked(made: PerThread, signature: Signature, device: Device) -> Params:
    size = made.key.held
    small, window = SHORT[not _distinguished(signature)] // size, TOGETHER // size
    while small > LANES and _kept(small, window, signature) * size + window > device.local_bytes:
        small, window = small // 2, window // 2
    return Params(
        signature=signature,
        chip=made,
        rank=made,
        small=small,
        window=window,
        tile=LONG,
        chunk=LONG,
        most_columns=made.groups,
        groups=max(made.groups, 64),
    )


def _distinguished(signature: Signature) -> bool:
    """Whether keys that compare equal may differ, so that only a stable method sorts them; or whether a window
    holds keys that are in no segment, which networks would store."""
    return signature.value_bytes > 0 or signature.bit_range or signature.segment_ends


def _kept(small: int, window: int, signature: Signature) -> int:
    """The keys in local memory of the kernel that sorts short segments, which needs less than a byte more per key."""
    return window + small + LANES * (4 if _distinguished(signature) else small)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for values by the names of `Params`; the key width is that of `rank`."""
    return Params(**values)


def block(p: Params) -> int:
    """Return the keys that one work-group sorts."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values for headers and `hsgen show`: (name, value)."""
    how = "sorted by networks" if p.networks else "compared pairwise"
    if not p.serial:
        how = f"{'sorted by places, or else ' if p.placed else ''}ranked in tiles of {p.tile}"
    return [
        ("segments up to", f"{p.small} keys: together with others that start within {p.window} keys, {how}"),
        ("longer segments", f"up to {p.tile} keys: one per work-group; others in {len(p.rank.digits)} passes"),
        strategies.of(p.rank).notes(p.rank)[0],
    ]
