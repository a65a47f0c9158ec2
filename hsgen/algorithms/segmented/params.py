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
from hsgen.algorithms.segmented.capacity import bin_items, most_items, window_bytes
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

LANES = 16
"""The number of sequential lanes that sort short segments together: as many as a vector has 32-bit words."""
TOGETHER, LONG = 65536, 16384
"""For sequential lanes, the size of a window in bytes of its keys, and the most keys of a medium segment.

One lane sorts a medium segment digit by digit, which takes about 2000 steps per segment and 20 per key.
"""
SHORT = {True: 4096, False: 1024}
"""For sequential lanes, the most bytes that the keys of a short segment have: with networks, and without.

Networks take about log2(n)^2 / 64 steps per key of a segment of n keys.  With values, a bit range or segment ends, all
pairs of keys are compared instead, which takes n / 16 steps per key.
"""
COMPARED = 64
"""If no segment of a window has more keys than this, a segment is sorted by a comparison of all pairs of its keys.

A subgroup of 32 lanes then holds a segment, with two keys in each lane.  Sequential lanes do not use this number.
"""
MOST_PARTS = 2**31 - 1
"""The most segments of a call."""
LARGE, SHARE = 1 << 17, 4
"""With bins and at least `LARGE` bytes of local memory, a short segment has at most 1/`SHARE` of a work-group's keys.

Many segments then share a work-group and fill most of it.  With less local memory or without bins, a short segment has
at most 1/2 of the keys of a work-group.
"""
REGISTERS = 48
"""The most 32-bit words of keys, indices and values that a lane keeps in registers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a segmented sort.  All sizes are numbers of keys.

    signature: the values, and the optional features.
    chip: the parameters of the tiles that a work-group sorts on chip.  If a tile has several segments and keys have no
    values, each key has its index as a value.
    rank: the parameters of the tiles that passes over long segments rank.
    small: the most keys of a short segment.
    window: the number of keys of a window.  A work-group sorts the short segments that start in its window.
    tile: the most keys of a medium segment.
    chunk: the least number of keys of a column.  A long segment is divided into columns, each with its own histogram.
    most_columns: the most columns of a long segment.
    groups: the greatest number of work-groups of kernels that loop over segments or columns.
    apart: whether each medium segment has a work-group of its own, which does not loop over segments.
    bin_items: the number of keys per lane if short segments are sorted by bins; 0 if they are ranked by digits.
    sift: the number of segments that a lane of the kernel `sift` examines, if lanes are not sequential.
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
    bin_items: int = 0
    sift: int = 8

    @property
    def key(self) -> KeyType:
        """The key width."""
        return self.rank.key

    @property
    def serial(self) -> bool:
        """Whether lanes are sequential (see `hsgen.algorithms.segmented`)."""
        return self.rank.serial

    @property
    def networks(self) -> bool:
        """Whether sequential lanes sort short segments by networks, which are not stable."""
        return self.serial and not _distinguished(self.signature)

    @property
    def levels(self) -> int:
        """The number of sizes of sorting networks: `wave`, 2 x `wave`, and so on up to `small`."""
        return self.small // self.wave

    @property
    def wave(self) -> int:
        """The number of lanes of a work-group of `windows` and `sift`."""
        return LANES if self.serial else self.rank.work_group

    @property
    def sifted(self) -> int:
        """The number of segments that a work-group of `sift` examines."""
        return self.wave * (64 if self.serial else self.sift)

    @property
    def compared(self) -> int:
        """If no segment of a window has more keys than this, segments are sorted by a comparison of all pairs."""
        return min(COMPARED, self.small)

    @property
    def capacity(self) -> int:
        """The most keys that a work-group sorts by bins: those of a window and of its last short segment together."""
        return self.bin_items * self.wave

    @property
    def together(self) -> bool:
        """Whether a work-group of `windows` also sorts medium segments, except the last that starts in its window."""
        return not self.serial and self.small < self.window

    @property
    def mediums(self) -> int:
        """The most segments of more than `small` keys that can lie in `tile` adjacent keys of the array."""
        return -(-self.tile // (self.small + 1))

    @property
    def few(self) -> int:
        """The most columns of a long segment for which one lane, not a work-group, scans the counts of a digit."""
        return self.most_columns if self.serial else min(32, self.most_columns)


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the parameters for a key width and a signature; None if such a segmented sort is not supported.

    The parameters are derived from those of the target's radix sort, which must exist.  The device's grids must suffice
    for `MOST_PARTS` segments.  Packed words, device-side counts, run boundaries and epilogues are not supported.
    """
    shape = _specialized(p, key, signature, device)
    return shape if shape and -(-MOST_PARTS // shape.sifted) <= device.groups**2 else None


def _specialized(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    table = p.get("radix")
    known = replace(PLAIN, value=signature.value, key_transform=signature.key_transform, bit_range=signature.bit_range)
    full, signature = signature, replace(signature, segment_ends=False, segment_count=False)
    if not isinstance(table, Tile) or signature != known or signature.value == "packed":
        return None
    name = "u32" if key.bytes < 4 else key.name
    shape = radix_formed({name: _ranked(table, device)}, key, signature, device)
    if isinstance(shape, PerThread):
        return _walked(shape, full, device) if device.work_group >= LANES else None
    if not isinstance(shape, ReduceScan):
        return None
    carried = replace(signature, value="index") if not signature.value_bytes else signature
    apart = shape.ranker == "match_broadcast" and device.local == "chip"
    shape = replace(shape, items=min(shape.items, most_items(shape, apart, device)))
    words = key.held // 4 + 1 + signature.value_bytes // 4 * (not signature.index)
    chip = replace(shape, signature=carried, items=max(1, min(shape.items, REGISTERS // words)))
    while chip.items > 1 and window_bytes(chip, full) > device.local_bytes:
        chip = replace(chip, items=chip.items - 1)
    by_bins = bin_items(chip, full, device)
    most = by_bins * chip.work_group or chip.tile
    large = by_bins > 0 and device.local_bytes >= LARGE
    small = most // (SHARE if large else 2)
    return Params(
        signature=full,
        chip=chip,
        rank=shape,
        small=small,
        window=most - small if by_bins else small,
        tile=chip.tile,
        chunk=shape.tile,
        most_columns=shape.groups,
        groups=shape.groups,
        apart=apart,
        bin_items=by_bins,
        sift=2 if large else 8,
    )


def _ranked(table: Tile, device: Device) -> ReduceScan | PerThread:
    """Return the parameters of the target's radix sort, reduced to those that a segmented sort uses.

    The strategy of the result is `reduce_scan`, or `per_thread` with work-groups of one lane.  If the strategy of the
    target's sort is `per_thread` with work-groups of several lanes, the result is `reduce_scan`.  Its ranker then is
    "match_ballot" if there are subgroups, otherwise "bitmask".
    """
    bare: dict[str, Any] = {"single": None, "single_bits": None}
    if isinstance(table, PerThread) and table.folded:
        return replace(table, **bare, stream_from=None)
    if not isinstance(table, PerThread):
        return recast(table, ReduceScan, **bare, large=False)
    lanes = table.work_group if table.subgroup > 1 else min(256, device.work_group)
    return recast(
        table, ReduceScan, **bare, ranker="match_ballot" if table.subgroup > 1 else "bitmask", work_group=lanes, items=8
    )


def _walked(shape: PerThread, signature: Signature, device: Device) -> Params:
    size = shape.key.held
    small, window = SHORT[not _distinguished(signature)] // size, TOGETHER // size
    while small > LANES and _kept(small, window, signature) * size + window > device.local_bytes:
        small, window = small // 2, window // 2
    return Params(
        signature=signature,
        chip=shape,
        rank=shape,
        small=small,
        window=window,
        tile=LONG,
        chunk=LONG,
        most_columns=shape.groups,
        groups=max(shape.groups, 64),
    )


def _distinguished(signature: Signature) -> bool:
    """Whether networks cannot sort short segments: with values, a bit range or segment ends.

    Networks are not stable.  With values or a bit range, keys that compare equal may differ in their values, or in bits
    outside the bit range.  With segment ends, some keys of a window may belong to no segment, but networks store all
    keys of the window.
    """
    return signature.value_bytes > 0 or signature.bit_range or signature.segment_ends


def _kept(small: int, window: int, signature: Signature) -> int:
    """Return the number of keys that the kernel `windows` keeps in local memory, for sequential lanes.

    The kernel's other arrays take less than one byte per key of the window.
    """
    return window + small + LANES * (4 if _distinguished(signature) else small)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters whose fields have the given values, by name.  The key width is that of the field `rank`."""
    return Params(**values)


def block(p: Params) -> int:
    """Return the most keys of a segment that one work-group sorts; tests try counts around multiples of it."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values as (name, text) pairs, for headers and `hsgen show`."""
    method = "sorted by networks" if p.networks else "compared pairwise"
    if not p.serial:
        method = f"{'sorted by bins, or else ' if p.bin_items else ''}ranked in tiles of {p.tile}"
    return [
        ("segments up to", f"{p.small} keys: together with others that start within {p.window} keys, {method}"),
        ("longer segments", f"up to {p.tile} keys: one per work-group; others in {len(p.rank.digits)} passes"),
        strategies.of(p.rank).notes(p.rank)[0],
    ]
