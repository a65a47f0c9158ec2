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
"""Sequential lanes: the number of lanes that sort short segments together, as a vector of 32-bit words."""
TOGETHER, LONG = 65536, 16384
"""Sequential lanes: `TOGETHER` is the size of a window in bytes of keys; `LONG` is the most keys of a segment that one
lane sorts by digits.

A sort by digits takes about 2000 steps per segment and 20 per key.
"""
SHORT = {True: 4096, False: 1024}
"""Sequential lanes: the bytes of keys of the greatest short segment.

Networks (True) take about log2(n)^2 / 64 steps per key.  Comparing all pairs of keys (False: with values or a bit
range) takes n / 16 steps per key.
"""
COMPARED = 64
"""Lanes that are not sequential: the most keys of a segment that is sorted by comparing all pairs of keys.

All segments of a window must be that short.

A subgroup of 32 lanes then has two keys in each lane.
"""
MOST_PARTS = 2**31 - 1
"""The most segments of a call."""
LARGE, SHARE = 1 << 17, 4
"""With at least `LARGE` bytes of local memory, the greatest short segment is 1/`SHARE` of the keys of a work-group.

Other segments then fill most of the work-group.  With less local memory, the greatest short segment is 1/2 of the keys
of a work-group.
"""
REGISTERS = 48
"""The 32-bit words of keys, indices and values that a lane keeps in registers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a segmented sort; sizes are in keys.

    signature: the values, and further features.
    chip: the parameters of tiles sorted on chip, whose keys carry their original index.
    rank: the parameters of tiles scattered by a digit.
    small: the greatest short segment, which is sorted together with others.
    window: the keys of a work-group of short segments; the work-group sorts the short segments that start in its
    window.
    tile: the greatest segment that one work-group sorts.
    chunk: the least number of keys of a column of counts.
    most_columns: the most columns of a segment.
    groups: the most work-groups of a kernel whose work-groups loop over segments or tiles.
    apart: each medium segment has a separate work-group, which does not loop.
    bin_items: the keys of a lane that sorts short segments by bins; 0 if short segments are ranked.
    sift: the segments that a lane examines, if lanes are not sequential.
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
        """Whether lanes are sequential."""
        return self.rank.serial

    @property
    def networks(self) -> bool:
        """Whether lanes sort short segments by networks, which are not stable."""
        return self.serial and not _distinguished(self.signature)

    @property
    def levels(self) -> int:
        """The number of different sizes of networks; the sizes are multiples of `wave`."""
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
        """Length of the longest segment of a window that is sorted by comparing all pairs of keys."""
        return min(COMPARED, self.small)

    @property
    def capacity(self) -> int:
        """Greatest number of keys of a window, if short segments are sorted by bins."""
        return self.bin_items * self.wave

    @property
    def together(self) -> bool:
        """Whether a window also sorts its segments above `small` keys, except the last segment that starts in it."""
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
    """Return the parameters for a key width and a signature, from the target's radix sort; None if the sort is not
    supported.

    Not supported are targets without a radix sort, devices with grids too small for `MOST_PARTS` segments, packed
    words, device-side counts and reports.
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
    """The parameters of the target's radix sort, reduced to those that segmented sorts use.

    The result is for tiles, or for work-groups of one sequential lane.  Work-groups of several sequential lanes are
    replaced by tiles, with the ranker "match_ballot" if there are subgroups, else with "bitmask".
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
    """True if sorting networks cannot sort short segments.

    Networks are not stable, so keys that compare equal must be identical.  Networks store all keys of a window, so no
    key may lie outside of segments.
    """
    return signature.value_bytes > 0 or signature.bit_range or signature.segment_ends


def _kept(small: int, window: int, signature: Signature) -> int:
    """Number of keys that the kernel of short segments keeps in local memory.

    Further arrays take less than a byte per key.
    """
    return window + small + LANES * (4 if _distinguished(signature) else small)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for values by the names of `Params`; the key width is that of `rank`."""
    return Params(**values)


def block(p: Params) -> int:
    """Return the keys that one work-group sorts."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values for headers and `hsgen show`: (name, value)."""
    method = "sorted by networks" if p.networks else "compared pairwise"
    if not p.serial:
        method = f"{'sorted by bins, or else ' if p.bin_items else ''}ranked in tiles of {p.tile}"
    return [
        ("segments up to", f"{p.small} keys: together with others that start within {p.window} keys, {method}"),
        ("longer segments", f"up to {p.tile} keys: one per work-group; others in {len(p.rank.digits)} passes"),
        strategies.of(p.rank).notes(p.rank)[0],
    ]
