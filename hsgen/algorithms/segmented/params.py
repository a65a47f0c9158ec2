"""The shape of a segmented sort, made of that of a target's radix sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hsgen.algorithms.radix import specialize as radix_formed
from hsgen.algorithms.radix import strategies
from hsgen.algorithms.radix.per_thread import PerThread
from hsgen.algorithms.radix.rankers import Ranked, rank_arrays
from hsgen.algorithms.radix.reduce_scan import ReduceScan
from hsgen.algorithms.radix.tile import Tile, recast
from hsgen.core.buffers import held
from hsgen.core.device import Device
from hsgen.core.keys import PLAIN, KeyType, Signature

LANES = 16
"""Lanes that handle short segments together on devices whose lanes walk alone: a vector of words."""
TOGETHER, LONG = 65536, 16384
"""There: the bytes of the keys of a window, and the most keys of a segment that one lane sorts by digits, which takes
some 2000 steps a segment, and some 20 a key."""
SHORT = {True: 4096, False: 1024}
"""There: the bytes of the keys of the greatest segment that networks sort (about log2(n)^2 / 64 steps a key), or, where
values move along, whose keys are compared with each other (n / 16 steps a key)."""
COMPARED = 64
"""Elsewhere: the most keys of segments that are compared with each other, if all in a window are so short."""
MOST_PARTS = 2**31 - 1
"""The most segments of a call."""
REGISTERS = 48
"""Words that a lane keeps on chip, of keys, places and values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What follows from a target's radix sort; counts of keys.

    form: what is sorted with the keys, and how.  chip: the shape of tiles that are sorted on chip, whose keys take
    along where they came from.  rank: that of tiles that are scattered by a digit.  small: the greatest segment that is
    sorted together with others.  window: a work-group sorts the short segments that begin in so many keys.  tile: the
    greatest segment that a work-group sorts alone.  chunk: the least keys of a column of counts.
    most_columns: of a segment.  groups: the most work-groups of a kernel that loops.  apart: each listed segment that a
    work-group sorts alone has one of its own, which loops over none.
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

    @property
    def key(self) -> KeyType:
        """The keys' width."""
        return self.rank.key

    @property
    def serial(self) -> bool:
        """Whether lanes walk alone."""
        return self.rank.serial

    @property
    def networks(self) -> bool:
        """Whether each of some lanes sorts a short segment by a network, which is not stable: keys alone."""
        return self.serial and not self.signature.value_bytes

    @property
    def levels(self) -> int:
        """With networks: the sizes of networks, all multiples of `wave`."""
        return self.small // self.wave

    @property
    def wave(self) -> int:
        """The lanes that go through short segments, or through the offsets of all."""
        return LANES if self.serial else self.rank.work_group

    @property
    def sifted(self) -> int:
        """The segments that a work-group looks at to list the longer ones."""
        return self.wave * (64 if self.serial else 8)

    @property
    def compared(self) -> int:
        """The greatest segment of a window whose keys are compared with each other."""
        return min(COMPARED, self.small)

    @property
    def mediums(self) -> int:
        """The segments above `small` keys of as many keys as a `tile` at most."""
        return -(-self.tile // (self.small + 1))

    @property
    def few(self) -> int:
        """The most columns of a segment whose counts one work-group scans, a digit a lane."""
        return self.most_columns if self.serial else min(32, self.most_columns)


def specialize(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    """Return the shape for keys of a width in a form, by the target's choices for such keys; None where it has no radix
    sort, where the device's grids are too small for as many segments as a call may have, or for packed words, a part
    of the bits, a count on the device or a report."""
    made = _formed(p, key, signature, device)
    return made if made and -(-MOST_PARTS // made.sifted) <= device.groups**2 else None


def _formed(p: Mapping[str, Any], key: KeyType, signature: Signature, device: Device) -> Params | None:
    own = p.get("radix")
    known = replace(PLAIN, value=signature.value, key_transform=signature.key_transform)
    if not isinstance(own, Tile) or signature != known or signature.value == "packed":
        return None
    name = "u32" if key.bytes < 4 else key.name
    made = radix_formed({name: _ranked(own, device)}, key, signature, device)
    if isinstance(made, PerThread):
        return _walked(made, signature, device) if device.work_group >= LANES else None
    if not isinstance(made, ReduceScan):
        return None
    carried = replace(signature, value="index") if not signature.value_bytes else signature
    apart = made.ranker == "broadcast" and device.local == "chip"
    made = replace(made, items=min(made.items, _most(made, apart, device)))
    words = key.held // 4 + 1 + signature.value_bytes // 4 * (not signature.index)
    chip = replace(made, signature=carried, items=max(1, min(made.items, REGISTERS // words)))
    while chip.items > 1 and _local(chip) > device.local_bytes:
        chip = replace(chip, items=chip.items - 1)
    return Params(
        signature=signature,
        chip=chip,
        rank=made,
        small=chip.tile // 2,
        window=chip.tile // 2,
        tile=chip.tile,
        chunk=made.tile,
        most_columns=made.groups,
        groups=made.groups,
        apart=apart,
    )


def _most(made: Ranked, apart: bool, device: Device) -> int:
    """The most keys of a lane, by what registers compilers find for them.

    To compare with each lane of a subgroup leaves Intel's for four, or, where lanes are many, for three that are bytes
    or long ones with values.  Where 32 lanes vote and have neither progress of their own nor 64 KiB on chip, as on
    NVIDIA's GPUs before Volta, no more than eight words or six long keys fit into 128 registers, for 512 lanes a core.
    """
    if made.ranker == "broadcast":
        large = made.key.bytes == 1 or (made.key.bytes == 8 and made.signature.value_bytes > 0)
        return 3 if apart and made.subgroup >= 16 and large else 4
    old = device.progress != "guaranteed" and device.local_bytes < 1 << 16
    few = made.ranker == "ballot" and made.subgroup == 32 and old
    return (8 if made.key.held == 4 else 6) if few else 128 // made.key.held


def _ranked(own: Tile, device: Device) -> ReduceScan | PerThread:
    """The shape without what whole sorts have besides: tiles that are counted, or a lane alone that walks.

    Lanes which walk together hold tiles instead: a subgroup votes, others set flags.
    """
    bare: dict[str, Any] = {"single": None, "single_bits": None}
    if isinstance(own, PerThread) and own.folded:
        return replace(own, **bare, stream_from=None)
    if not isinstance(own, PerThread):
        return recast(own, ReduceScan, **bare, large=False)
    lanes = own.work_group if own.subgroup > 1 else max(32, min(256, device.work_group))
    return recast(own, ReduceScan, **bare, ranker="ballot" if own.subgroup > 1 else "flags", work_group=lanes, items=8)


def _walked(made: PerThread, signature: Signature, device: Device) -> Params:
    size = made.key.held
    small, window = SHORT[not signature.value_bytes] // size, TOGETHER // size
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


def _kept(small: int, window: int, signature: Signature) -> int:
    """The keys in local memory of the kernel that sorts short segments; its words are fewer than a byte a key."""
    return window + small + LANES * (4 if signature.value_bytes else small)


def _local(chip: Ranked) -> int:
    """The bytes of local memory of the kernel that sorts short segments."""
    return sum(a.count * held(a.type, chip.key) for a in rank_arrays(chip)) + 4 * (2 * -(-chip.tile // 32) + 3)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters by the names of `Params`; the key is that of the shapes among them."""
    return Params(**values)


def block(p: Params) -> int:
    """Return the keys that one work-group sorts."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values of a shape, for people."""
    how = "sorted by networks" if p.networks else "compared with each other"
    if not p.serial:
        how = f"ranked in tiles of {p.tile}"
    return [
        ("segments up to", f"{p.small} keys together, those that begin within {p.window} keys, {how}"),
        ("segments alone", f"up to {p.tile} keys a work-group, longer ones in {len(p.rank.digits)} passes"),
        strategies.of(p.rank).notes(p.rank)[0],
    ]
