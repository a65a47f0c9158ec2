"""The parameters of selections, derived from the device unless a target table gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import Any

from hsgen.algorithms.radix.parts import sums
from hsgen.core.buffers import pair_bytes
from hsgen.core.device import Device
from hsgen.core.fields import Field
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.records import RECORD
from hsgen.core.regions import Region, placed

MAX_N = 1 << 30
"""The most keys of all rows: indices are signed 32-bit integers, and the last tile may extend beyond n."""

STATE = 8
"""The number of words in the state of a row after a pass."""

PICK, GATHERED, CROWDED = 3, 1, 1
"""The sizes of three arrays in local memory, in words.

`PICK`: the array has the bin of the k-th key, the number of keys before this bin, and the number of keys in it.
`GATHERED`: the array has the number of gathered keys.  `CROWDED`: the array has 1 if a bin is crowded."""

WHOLE = ("small_row", "middle_row", "long_row")
"""The names of the kernels that sort whole rows, the one for the shortest rows first."""

FIELDS = {
    "work_group": Field("int", "the lanes of a work-group, a power of two", required=False, least=1),
    "items": Field("int", "the keys per lane of a tile", required=False, least=1, greatest=1 << 12),
    "capacity": Field("int", "the keys that a work-group sorts, a power of two", required=False, least=4),
    "bits": Field("int", "the bits of the widest digit, 4 to 13", required=False, least=4, greatest=13),
    "groups": Field("int", "the most work-groups that share tiles", required=False, least=1, greatest=65535),
    "small": Field("int", "the longest small row, a power of two", required=False, least=4),
    "middle": Field("int", "the longest row of middle length, a power of two", required=False, least=4),
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
"""`_LANES`: the lanes of a work-group, by the kind of local memory.  `_GROUPS`: the most work-groups.

A CPU ("memory") has few cores, and takes longer than a GPU to start a work-group.
"""

BLOCK = 32
"""The number of lanes in a block.  Each lane has its least key; these keys are ranked within a block.  Each block
contributes one estimate to a bound.
"""
_ITEMS = 16
_SHORT_ITEMS = 8
"""`_ITEMS`: the keys per lane of a chunk.  `_SHORT_ITEMS`: the keys per lane of a short row."""
_PAIR = 8
"""The bytes of a pair of an index and a key of one word.  Wide keys have larger pairs."""
_NARROW = 16
"""If the narrowest subgroups of a device are at most this wide, the lanes of a subgroup share the registers of a
hardware thread.
"""
_LEAST_REGISTERS = 128
"""If a lane has at most this many registers and keys are wide, a lane takes half as many keys of a chunk."""
_TAKES = (128, 64, 32, 16, 8)
_ROOMS = ((1 << 18, 1 << 14), (1 << 16, 1 << 13), (0, 1 << 12))
"""Pairs (length, entries): for rows longer than `length`, a list of candidates has room for `entries` entries.  The
first pair that applies counts.
"""
_SAMPLED = (1 << 15, 1 << 16)
"""Rows longer than these lengths are selected from by a sampled bound: the first length is for k up to a quarter of the
capacity, the second for greater k.
"""
_CAPACITIES = (4096, 2048, 1024, 512, 256)
_BITS = (11, 8)
_ROW_LIMIT = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """The sizes of a selection by a bound, from keys in registers.

    Each lane finds its least key.  The bound is the k-th least of these keys.  At least k keys do not exceed the bound,
    so no greater key is selected.

    lanes: the lanes for a row.
    items: the keys that a lane holds.
    take: the greatest k.
    rows: the rows of a work-group.
    subgroup: the subgroup width if one subgroup selects from a row.  Otherwise 1; lanes then wait at barriers of the
    work-group.
    candidates: the number of candidates for which there is room; 0 means that `room` computes it.
    """

    lanes: int
    items: int
    take: int
    rows: int = 1
    subgroup: int = 1
    candidates: int = 0

    @property
    def reloaded(self) -> Bounded:
        """The sizes of the same selection after all candidates are loaded into registers again."""
        return replace(self, items=-(-self.room // self.lanes), candidates=self.room)

    @property
    def length(self) -> int:
        """The number of keys in the registers of all lanes."""
        return self.lanes * self.items

    @property
    def block(self) -> int:
        """The number of lanes in a block."""
        return min(self.lanes, BLOCK)

    @property
    def blocks(self) -> int:
        """The number of blocks that select from a row."""
        return self.lanes // self.block

    @property
    def limit(self) -> int:
        """With more than 2 k + `limit` candidates, a selection searches for a lower bound."""
        return self.lanes

    @property
    def room(self) -> int:
        """The greatest number of candidates.

        Candidates are pairs of a key and its index.  At most `take` lanes hold pairs up to the exact bound, so there
        are at most `take` x `items` such pairs.  Pairs that were listed earlier add to them.
        """
        most = self.take * self.items + 2 * self.take + self.limit
        return self.candidates or (most if self.take <= self.lanes // 2 else min(most, self.length))

    def local_bytes(self, key: KeyType) -> int:
        """Return the bytes of local memory that a work-group needs."""
        return self.rows * (pair_bytes(key) * (self.lanes + self.room + self.blocks) + 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The sizes of a selection by a bound, from long rows.

    The bound is estimated from a sample.  Candidates are the keys up to the bound.

    groups: the work-groups that sample a row.
    work_group: the lanes of such a work-group.
    most: the most keys that a lane samples.
    block: the lanes of a block.  Each block contributes one estimate of the bound.
    sample_mul, sample_div: a lane samples about ``length / sample_div * sample_mul / k`` keys.
    scale_bits: the number of fraction bits in fixed-point numbers.
    spare: the bound is chosen for at least 1/`spare` of the entries of the list, because this needs a smaller sample.
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
        """The number of lanes that sample a row."""
        return self.groups * self.work_group

    @property
    def blocks(self) -> int:
        """The number of estimates of a row's bound, one for each block."""
        return self.lanes // self.block

    @property
    def steps(self) -> int:
        """The number of steps in a span, a power of two.  The lanes of a run share a step."""
        return self.lanes // self.run

    @property
    def stride(self) -> int:
        """By how many steps a lane moves from one span to the next.

        The number is odd, and about 0.618 (the golden section) of all steps.
        """
        return self.steps * 633 >> 10 | 1

    @property
    def shifts(self) -> tuple[int, ...]:
        """The bit positions of all digits but the lowest in a column's number, written in base `groups`."""
        bits = self.groups.bit_length() - 1
        return tuple(range(bits, (self.work_group // self.run).bit_length() - 1, bits)) if bits else ()

    @property
    def least(self) -> int:
        """The least length of a row that is sampled."""
        return _SAMPLED[0]

    @property
    def limit(self) -> int:
        """The greatest length of a row that is sampled.

        The list of a longer row might lack room even if each block contributes only one key to the estimate.
        """
        return _ROOMS[0][1] // 4 * self.most * self.block

    @property
    def rooms(self) -> tuple[tuple[int, int], ...]:
        """Pairs (length, entries) that give the room of a list of candidates for longer rows than `length`."""
        return _ROOMS


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a selection.

    capacity: the most keys, with their indices, that a work-group holds and sorts; a power of two.
    bits: the bits of the widest digit.
    work_group: the lanes of a work-group.
    items: the keys per lane of a tile.
    groups: the most work-groups that share all tiles.
    row_limit: one work-group selects from a row of up to this length.
    bin_sort: whether bins sort the keys on chip; otherwise a network does.
    crowd: a bin with more keys is crowded.
    short: the selection from short rows.
    chunk: the selection from a row in the registers of one work-group, or from each chunk of a longer row.
    resident: the work-groups of 256 lanes that must fit a core together, with `bin_sort` and keys of one word.  With 4
    work-groups, a lane has 64 registers.  With more registers per lane, a core would run fewer lanes, and would have
    fewer loads under way.
    subgroup: the subgroup width for sums over the lanes of a work-group; 1 if lanes exchange sums by local memory.
    small, middle: the greatest lengths of rows that smaller work-groups sort as a whole, if they are less than
    `capacity`.
    direct: whether the kernel sorts a whole row by bins, from which lanes load their keys themselves.
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
    subgroup: int = 1
    small: int = 256
    middle: int = 1024
    direct: bool = False

    @property
    def wholes(self) -> tuple[Params, ...]:
        """The parameters of the kernels that sort whole rows, of up to `capacity` keys."""
        most = min(self.capacity, self.chunk.length + 1)
        lengths = [*[x for x in (self.small, self.middle) if x < most], self.capacity]
        return tuple(
            replace(
                self,
                capacity=x,
                work_group=w,
                bits=min(self.bits, max(x.bit_length() - 1, 4)),
                subgroup=self.subgroup if w % self.subgroup == 0 else 1,
                direct=self.bin_sort,
            )
            for x in lengths
            for w in (min(self.work_group, max(x // 8, 1)),)
        )

    @property
    def sampled(self) -> Sampled:
        """The sizes for the sampling of long rows."""
        block = min(self.work_group, 2 * BLOCK)
        groups = max(1, min(8, 32 * block // self.work_group))
        return Sampled(
            groups=groups,
            work_group=self.work_group,
            most=128,
            block=block,
            sample_mul=9,  # about 1/8 of the lanes then sample one of the first k keys: 1 - exp(-9 / 64)
            sample_div=64,
            scale_bits=10,
            run=min(8, self.work_group // block),
        )

    @property
    def sampled_long(self) -> Sampled:
        """The sizes for the sampling of the longest rows.

        There are as many estimates as for long rows, but all lanes of a work-group contribute to each estimate.
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
        """The greatest k for short rows.  `capacity` limits it, because results for greater k are not sorted."""
        return min(self.short.take, self.capacity)

    @property
    def chunk_take(self) -> int:
        """The greatest k for chunks, also limited by `capacity`."""
        return min(self.chunk.take, self.capacity)

    @property
    def tiers(self) -> tuple[tuple[int, int, int], ...]:
        """The ranges of k for long rows, as triples (above, most, length).

        A triple is for k above `above` up to `most`.  Rows longer than `length` are sampled.
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
        """The number of keys in a tile."""
        return self.work_group * self.items

    @property
    def digit(self) -> int:
        """The bits of the widest digit; a key has no more bits."""
        return min(self.bits, self.key.bits)

    @property
    def bins(self) -> int:
        """The number of bins in a histogram."""
        return 1 << self.digit

    @property
    def passes(self) -> int:
        """The number of digits in a key, each with a pass."""
        return -(-self.key.bits // self.digit)

    @property
    def key_words(self) -> int:
        """The number of 32-bit words in a key, without its index."""
        return -(-self.key.bits // 32)

    @property
    def ranges(self) -> int:
        """The words of the array `ranges`: two for each word of a key."""
        return 2 * self.key_words

    @property
    def state_words(self) -> int:
        """The number of words in the state of a row after a pass."""
        return STATE

    @property
    def reads_values(self) -> bool:
        """Whether there are values in memory, instead of indices that the kernels compute."""
        return self.signature.value_bytes > 0 and not self.signature.index

    @property
    def row_words(self) -> int:
        """The number of words for a row in scratch."""
        return layout(self).row_words.start

    @property
    def row_tiles(self) -> int:
        """The greatest number of tiles that overlap a row of `row_limit` keys.

        The row may overlap one tile more than it fills, because the first tile may begin in the preceding row.
        """
        return -(-self.row_limit // self.tile) + 1

    def local_bytes(self) -> int:
        """Return the bytes of local memory of the kernel that needs the most."""
        return max(self.sort_bytes(), self.short.local_bytes(self.key), self.chunk.local_bytes(self.key))

    def sort_bytes(self) -> int:
        """Return the bytes of local memory of a kernel that sorts keys."""
        shared = PICK + GATHERED + (self.ranges + CROWDED if self.bin_sort else 0)
        lane_sums = self.work_group + sums(self.work_group, self.subgroup)[-1].count
        return self.capacity * (self.key.held + 4) + 4 * (self.bins + lane_sums + shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWords:
    """The regions of one row in scratch.  After the regions of all rows, scratch holds the counts of tiles."""

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
    """Return the regions of one row in scratch."""
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

    The target must sort keys of this width.  All key types and both orders are supported, with values or indices.  Of
    the features, only those of rows are supported.
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
            subgroup=1 if _shares_registers(device) else _lanes_that_sum(p, device),
            short=_short(key, device, _widths(p, device)),
            chunk=_chunk(key, device),
        )
        for capacity, bits in product(_CAPACITIES, _BITS)
    )
    return next((x for x in shapes if x.local_bytes() <= device.local_bytes), None)


def _widths(p: Mapping[str, Any], device: Device) -> list[int]:
    """Return the subgroup widths that short rows may use.

    On a CPU, these are only the widths of the target's sorts, because the driver may offer a single width.
    """
    used = device.subgroups if device.local == "chip" else [getattr(x, "subgroup", 1) for x in p.values()]
    return [w for w in used if 8 <= w <= min(BLOCK, device.work_group) and device.shuffle]


def _lanes_that_sum(p: Mapping[str, Any], device: Device) -> int:
    """Return the subgroup width for sums over lanes; 1 without subgroups, or if subgroups are not exact."""
    return max(_widths(p, device), default=1) if device.local == "chip" else 1


def _short(key: KeyType, device: Device, widths: list[int]) -> Bounded:
    """Return the sizes of the selection from short rows.

    A subgroup selects from each row.  Without subgroups, a small work-group does.
    """
    width = max(widths, default=1)
    lanes = width if width > 1 else min(BLOCK, _power(device.work_group))
    one = Bounded(lanes=lanes, items=_short_items(key, device), take=lanes, subgroup=width)
    most = min(device.local_bytes // 2 // one.local_bytes(key), 256 // lanes, device.work_group // lanes)
    return replace(one, rows=_power(max(most, 1))) if width > 1 else one


def _chunk(key: KeyType, device: Device) -> Bounded:
    """Return the sizes of the selection from chunks, for the greatest k that local memory allows."""
    most = min(256, _power(device.work_group), _LANES[device.local])
    widths = [most >> x for x in range(most.bit_length())]
    shapes = (
        Bounded(lanes=lanes, items=_chunk_items(key, device), take=min(take, max(lanes // 2, 1)))
        for lanes, take in product(widths, _TAKES)
    )
    return next(x for x in shapes if x.local_bytes(key) <= device.local_bytes)


def _short_items(key: KeyType, device: Device) -> int:
    """Return the number of keys per lane of a short row.

    If 32 lanes share the registers of a hardware thread, each lane has 32 registers, and 8 keys per lane spill.
    Without subgroup operations, compilers choose the subgroup width, perhaps 32, so 8 wide keys may spill.
    """
    unknown = device.local == "chip" and not device.shuffle and pair_bytes(key) > _PAIR
    return _SHORT_ITEMS // 2 if unknown or _shares_registers(device) else _SHORT_ITEMS


def _chunk_items(key: KeyType, device: Device) -> int:
    """Return the number of keys per lane of a chunk: half as many if keys are wide and lanes have few registers."""
    few = device.registers is not None and device.registers <= _LEAST_REGISTERS * min(256, device.work_group)
    return _ITEMS // 2 if (few or _shares_registers(device)) and pair_bytes(key) > _PAIR else _ITEMS


def _shares_registers(device: Device) -> bool:
    """Whether the lanes of a subgroup share the registers of a hardware thread.

    On such devices, compilers can choose among several subgroup widths, of which the least is narrow.
    """
    widths = [w for w in device.subgroups if w > 1]
    return device.local == "chip" and device.shuffle and len(widths) > 1 and min(widths) <= _NARROW


def _power(x: int) -> int:
    """Return the greatest power of two up to `x`."""
    return 1 << x.bit_length() - 1


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters, given the values of the fields of `Params` by name."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the number of keys that a work-group sorts."""
    return p.capacity


def notes(p: Params) -> list[tuple[str, str]]:
    """Return pairs (name, value) of derived values, for headers and `hsgen show`."""
    return [
        ("sorted", f"up to {p.capacity} keys of a row"),
        ("digits", f"{p.passes} of at most {p.digit} bits"),
        ("rows", f"up to {p.row_limit} keys by one work-group of {p.work_group} lanes"),
        ("longer rows", f"tiles of {p.tile} keys, at most {p.groups} work-groups"),
    ]
