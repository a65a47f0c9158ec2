"""The parameters of selections: derived from the device, unless an optional table has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import Any

from hsgen.core.buffers import pair_bytes
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.records import RECORD
from hsgen.core.regions import Region, placed

MAX_N = 1 << 30
"""The most keys of all rows: indices are signed 32-bit integers, and tiles may exceed n."""

STATE = 8
"""The words of a row's state after a pass."""

PICK, GATHERED, CROWDED = 3, 1, 1
"""The sizes in words of arrays in local memory.

PICK: the bin of the k-th key, its prefix and its size.  GATHERED: the number of gathered keys.  CROWDED: 1 if a bin is
crowded."""

FIELDS = {
    "work_group": Field("int", "the lanes of a work-group, a power of two", required=False, least=1),
    "items": Field("int", "the keys per lane of a tile", required=False, least=1, greatest=1 << 12),
    "capacity": Field("int", "the keys that a work-group sorts, a power of two", required=False, least=4),
    "bits": Field("int", "the bits of the widest digit, 4 to 13", required=False, least=4, greatest=13),
    "groups": Field("int", "the most work-groups that share tiles", required=False, least=1, greatest=65535),
    "row_limit": Field("int", "the longest row of one work-group", required=False, least=4, greatest=1 << 24),
    "bin_sort": Field("bool", "whether a work-group sorts its keys by bins", required=False),
    "short.items": Field("int", "the keys per lane of a short row", required=False, least=1, greatest=16),
    "short.rows": Field("int", "the short rows of a work-group", required=False, least=1, greatest=128),
    "chunk.lanes": Field("int", "the lanes of a chunk, a power of two", required=False, least=1, greatest=1024),
    "chunk.items": Field("int", "the keys per lane of a chunk", required=False, least=1, greatest=32),
    "chunk.take": Field("int", "the greatest k of chunks", required=False, least=1, greatest=512),
    "resident": Field("int", "the work-groups of 256 lanes that share a core", required=False, least=1, greatest=8),
}

_LANES = {"chip": 512, "memory": 64}
_GROUPS = {"chip": 1024, "memory": 64}
"""Lanes, and the most work-groups, by the kind of local memory.  A CPU ("memory") has few cores and takes longer to
start a work-group.
"""

BLOCK = 32
"""The number of lanes of a block.  The least keys of the lanes are ordered within each block, and each block gives one
estimate of a sampled bound.
"""
_ITEMS = 16
_SHORT_ITEMS = 8
"""The numbers of keys of a lane, for a chunk and for a short row."""
_PAIR = 8
"""The greatest size in bytes of a pair with a key of one word."""
_NARROW = 16
"""If the narrowest subgroups of a device are at most this wide, their lanes share the registers of a hardware
thread.
"""
_LEAST_REGISTERS = 128
"""With at most this many registers, a lane takes half as many keys of a chunk if keys are wide."""
_TAKES = (128, 64, 32, 16, 8)
_ROOMS = ((1 << 18, 1 << 14), (1 << 16, 1 << 13), (0, 1 << 12))
"""The number of entries of a list of candidates, by the length of the row: (length, entries) for longer rows, longest
first.
"""
_SAMPLED = (1 << 15, 1 << 16)
"""The lengths of rows above which a sample bounds the keys: for k up to a quarter of the capacity, and for
greater k.
"""
_CAPACITIES = (4096, 2048, 1024, 512, 256)
_BITS = (11, 8)
_ROW_LIMIT = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """A selection from keys in registers: no key above the bound is selected.  The bound is the k-th least of the least
    keys of the lanes.

    lanes, items: the lanes for a row, and the keys of a lane.
    take: the greatest k.
    rows: the rows of a work-group.
    subgroup: the width of a subgroup if one subgroup selects from a row; else 1, and lanes wait at barriers of the
    work-group.
    candidates: the room for candidates; 0 if it follows from the other numbers.
    """

    lanes: int
    items: int
    take: int
    rows: int = 1
    subgroup: int = 1
    candidates: int = 0

    @property
    def reloaded(self) -> Bounded:
        """The shape of the kernel that loads all candidates into registers again."""
        return replace(self, items=-(-self.room // self.lanes), candidates=self.room)

    @property
    def length(self) -> int:
        """The keys in registers."""
        return self.lanes * self.items

    @property
    def block(self) -> int:
        """The lanes of a block."""
        return min(self.lanes, BLOCK)

    @property
    def blocks(self) -> int:
        """The blocks of a row."""
        return self.lanes // self.block

    @property
    def limit(self) -> int:
        """The number of candidates, in addition to twice k, above which a selection searches for a lower bound."""
        return self.lanes

    @property
    def room(self) -> int:
        """The greatest number of candidates: pairs up to the exact bound, all of which k lanes hold, and pairs that
        were listed earlier.
        """
        most = self.take * self.items + 2 * self.take + self.limit
        return self.candidates or (most if self.take <= self.lanes // 2 else min(most, self.length))

    def local_bytes(self, key: KeyType) -> int:
        """Return the local memory of a work-group in bytes."""
        return self.rows * (pair_bytes(key) * (self.lanes + self.room + self.blocks) + 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A selection from long rows, whose candidates are the keys up to a bound that is estimated from a sample.

    groups, work_group: the work-groups that sample a row, and their lanes.
    most: the greatest number of sampled keys of a lane.
    block: the lanes of a block; each block has an estimate of the bound.
    sample_mul, sample_div: a lane samples ``length / sample_div * sample_mul / k`` keys.
    scale_bits: the number of bits after the point in fixed-point fractions.
    spare: the list has room for `spare` times the least number of keys to select.
    run: the number of lanes, of different blocks, that sample adjacent keys.
    """

    groups: int
    work_group: int
    most: int
    block: int
    sample_mul: int
    sample_div: int
    scale_bits: int
    spare: int = 8
    run: int = 1

    @property
    def lanes(self) -> int:
        """The lanes that sample a row."""
        return self.groups * self.work_group

    @property
    def blocks(self) -> int:
        """The estimates of the bound of a row."""
        return self.lanes // self.block

    @property
    def steps(self) -> int:
        """The number of steps of a span, a power of two; the lanes of a run share a step."""
        return self.lanes // self.run

    @property
    def stride(self) -> int:
        """The steps by which a lane moves from span to span: an odd number near the golden section of all steps."""
        return self.steps * 633 >> 10 | 1

    @property
    def shifts(self) -> tuple[int, ...]:
        """The bit positions of the digits of a column's number in base `groups`, without the lowest digit."""
        bits = self.groups.bit_length() - 1
        return tuple(range(bits, (self.work_group // self.run).bit_length() - 1, bits)) if bits else ()

    @property
    def least(self) -> int:
        """The least length of a row."""
        return _SAMPLED[0]

    @property
    def limit(self) -> int:
        """The greatest length of a row for which the list has room, if each block contributes one key to the
        estimate.
        """
        return _ROOMS[0][1] // 4 * self.most * self.block

    @property
    def rooms(self) -> tuple[tuple[int, int], ...]:
        """The entries of a list of candidates by the length of the row, longest rows first."""
        return _ROOMS


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a selection.

    capacity: the keys, with indices, that a work-group holds and sorts, a power of two.
    bits: the bits of the widest digit.
    work_group, items: the lanes, and the keys of a lane in a tile.
    groups: the most work-groups that share all tiles.
    row_limit: the length of the longest row from which one work-group selects.
    bin_sort: keys on chip are sorted by bins.
    crowd: the greatest number of keys of a bin; with more, bins are crowded.
    resident: the work-groups of 256 lanes that share a core, with `bin_sort` and keys of one word.  With 4 work-groups,
    a lane has 64 registers.  If lanes had more registers, a core would have fewer loads under way.
    """

    key: KeyType
    signature: Signature = PLAIN
    work_group: int = 512
    items: int = 16
    capacity: int = 4096
    bits: int = 11
    groups: int = 1024
    row_limit: int = _ROW_LIMIT
    bin_sort: bool = False
    crowd: int = 64
    short: Bounded = field(default=Bounded(lanes=32, items=8, take=32), metadata={RECORD: Bounded})
    chunk: Bounded = field(default=Bounded(lanes=256, items=16, take=128), metadata={RECORD: Bounded})
    resident: int = 4

    @property
    def sampled(self) -> Sampled:
        """The sampling of long rows, by work-groups of `work_group` lanes."""
        block = min(self.work_group, 2 * BLOCK)
        groups = max(1, min(8, 32 * block // self.work_group))
        return Sampled(
            groups=groups,
            work_group=self.work_group,
            most=128,
            block=block,
            sample_mul=9,  # a fraction of 1 / 8 of the lanes: 1 - exp(-9 / 64)
            sample_div=64,
            scale_bits=10,
            run=min(8, self.work_group // block),
        )

    @property
    def sampled_long(self) -> Sampled:
        """The sampling of the longest rows: as many estimates as for long rows, but each by all lanes of a
        work-group.
        """
        return Sampled(
            groups=self.sampled.blocks,
            work_group=self.work_group,
            most=128,
            block=self.work_group,
            sample_mul=1,
            sample_div=64,
            scale_bits=20,
        )

    @property
    def short_take(self) -> int:
        """The greatest k of short rows, limited by `capacity`, because only up to this k results are sorted."""
        return min(self.short.take, self.capacity)

    @property
    def chunk_take(self) -> int:
        """The greatest k of chunks."""
        return min(self.chunk.take, self.capacity)

    @property
    def tiers(self) -> tuple[tuple[int, int, int], ...]:
        """The ranges of k for long rows: (k above, greatest k, greatest length of a row that is selected from without a
        sample).
        """
        most = self.chunk_take
        takes = [0, *(x for x in (16, 64) if x < most), most]
        limit = self.sampled_long.limit
        chunks = [(above, k, min(self.chunk.length * (self.chunk.length // k), limit)) for above, k in pairwise(takes)]
        quarter = self.capacity // 4
        sampled = [
            (most, quarter, _SAMPLED[0]),
            (max(quarter, most), self.capacity, _SAMPLED[1]),
        ]
        return (*chunks, *[x for x in sampled if x[0] < x[1]])

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
    def ranges(self) -> int:
        """The number of words of the ranges of keys and indices: two for each word of a key, and two for the index."""
        return 2 * (self.key_words + 1)

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
        """Greatest number of tiles that a row of `row_limit` keys touches; the first tile may begin in the row
        before.
        """
        return -(-self.row_limit // self.tile) + 1

    def local_bytes(self) -> int:
        """Return the local memory of the kernel that needs the most, in bytes."""
        return max(self.sort_bytes(), self.short.local_bytes(self.key), self.chunk.local_bytes(self.key))

    def sort_bytes(self) -> int:
        """Return the local memory in bytes of a kernel that sorts keys."""
        shared = PICK + GATHERED + (self.ranges + CROWDED if self.bin_sort else 0)
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

    If the target sorts keys of this width, keys of all types in both orders are supported, with values or indices.  The
    features of rows are supported, other features are not.
    """
    if not any(label.startswith(("bitonic", "radix")) for label in p):
        return None
    plain = replace(signature.of_equal_rows, value="none")
    if plain != replace(PLAIN, key_transform=True, rows=True) or signature.value == "packed":
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
            bin_sort=device.cooperative,
            short=_short(key, device, _widths(p, device)),
            chunk=_chunk(key, device),
        )
        for capacity, bits in product(_CAPACITIES, _BITS)
    )
    return next((x for x in shapes if x.local_bytes() <= device.local_bytes), None)


def _widths(p: Mapping[str, Any], device: Device) -> list[int]:
    """Return the widths of subgroups for short rows; on CPUs only the width of the target's sorts, because a CPU's
    driver may offer only one width.
    """
    used = device.subgroups if device.local == "chip" else [getattr(x, "subgroup", 1) for x in p.values()]
    return [w for w in used if 8 <= w <= min(BLOCK, device.work_group) and device.shuffle]


def _short(key: KeyType, device: Device, widths: list[int]) -> Bounded:
    """Return the selection from short rows: one subgroup selects from each row, or one work-group of a few lanes."""
    width = max(widths, default=1)
    lanes = width if width > 1 else min(BLOCK, _power(device.work_group))
    one = Bounded(lanes=lanes, items=_short_items(key, device), take=lanes, subgroup=width)
    most = min(device.local_bytes // 2 // one.local_bytes(key), 256 // lanes, device.work_group // lanes)
    return replace(one, rows=_power(max(most, 1))) if width > 1 else one


def _chunk(key: KeyType, device: Device) -> Bounded:
    """Return the selection by a work-group, for the greatest k that local memory allows."""
    most = min(256, _power(device.work_group), _LANES[device.local])
    widths = [most >> x for x in range(most.bit_length())]
    shapes = (
        Bounded(lanes=lanes, items=_chunk_items(key, device), take=min(take, max(lanes // 2, 1)))
        for lanes, take in product(widths, _TAKES)
    )
    return next(x for x in shapes if x.local_bytes(key) <= device.local_bytes)


def _short_items(key: KeyType, device: Device) -> int:
    """Return the keys of a lane of a short row.

    If 32 lanes share the registers of a hardware thread, each lane has 32 registers, and 8 keys per lane spill.
    Without subgroups, compilers choose the width, so 8 wide keys may spill.
    """
    unknown = device.local == "chip" and not device.shuffle and pair_bytes(key) > _PAIR
    return _SHORT_ITEMS // 2 if unknown or _shares_registers(device) else _SHORT_ITEMS


def _chunk_items(key: KeyType, device: Device) -> int:
    """Return the keys of a lane of a chunk: half as many wide keys where a lane has few registers."""
    few = device.registers is not None and device.registers <= _LEAST_REGISTERS * min(256, device.work_group)
    return _ITEMS // 2 if (few or _shares_registers(device)) and pair_bytes(key) > _PAIR else _ITEMS


def _shares_registers(device: Device) -> bool:
    """Return whether the lanes of a hardware thread share its registers; compilers then choose among narrow subgroup
    widths.
    """
    widths = [w for w in device.subgroups if w > 1]
    return device.local == "chip" and device.shuffle and len(widths) > 1 and min(widths) <= _NARROW


def _power(x: int) -> int:
    """Return the greatest power of two up to `x`."""
    return 1 << x.bit_length() - 1


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
