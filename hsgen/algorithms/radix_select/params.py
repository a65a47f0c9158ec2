"""The parameters of selections, derived from the device unless a target table states them."""

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
"""The most keys in all rows together: indices are signed 32-bit integers, and the last tile may extend beyond n."""

STATE = 8
"""The number of 32-bit words in the state of a row after a pass (templates/radix_select/narrow.j2)."""

PICK, GATHERED, CROWDED = 3, 1, 1
"""The sizes of three arrays in local memory, in 32-bit words.

`PICK` is the size of `pick`: the bin of the k-th key, the number of keys before this bin, and the number of keys in it.
`GATHERED` is the size of `gathered_keys`: the number of gathered keys.  `CROWDED` is the size of `crowded`: 1 if a bin
has more than `Params.crowd` keys.
"""

WHOLE = ("small_row", "middle_row", "long_row")
"""The names of the kernels that sort whole rows, from the shortest rows to the longest."""

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
"""The number of lanes of a work-group, and the greatest number of work-groups, by `Device.local`.

`Device.local` is "chip" on GPUs, "memory" on CPUs.  A CPU has fewer cores than a GPU, and takes longer to start a
work-group.
"""

BLOCK = 32
"""The number of lanes in a block.

To find a bound, each lane finds the least of its keys.  These keys are ranked within each block, not within the whole
work-group, which would take more comparisons.  The bound is computed from one key of each block.
"""
_ITEMS = 16
_SHORT_ITEMS = 8
"""`_ITEMS`: the keys per lane of a chunk.  `_SHORT_ITEMS`: the keys per lane of a short row."""
_PAIR = 8
"""The bytes of a pair: a key of one 32-bit word, and its index.  Wide (64-bit) keys have larger pairs."""
_NARROW = 16
"""If the narrowest subgroups of a GPU have at most this many lanes, the GPU runs a subgroup as one hardware thread.

The lanes of a subgroup then share the registers of this thread, so a lane of a wider subgroup has fewer registers.
"""
_LEAST_REGISTERS = 128
"""If a lane has at most this many registers, and keys are wide, chunks have half of their usual number of keys."""
_TAKES = (128, 64, 32, 16, 8)
_ROOMS = ((1 << 18, 1 << 14), (1 << 16, 1 << 13), (0, 1 << 12))
"""(length, entries): the candidate list of a row longer than `length` has room for `entries` pairs of key and index.

The first `length` that the row exceeds determines the room.
"""
_SAMPLED = (1 << 15, 1 << 16)
"""The lengths of rows above which a sample gives the bound: for k up to a quarter of `capacity`, and for greater k."""
_CAPACITIES = (4096, 2048, 1024, 512, 256)
_BITS = (11, 8)
_ROW_LIMIT = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """The sizes of a selection by a bound that is computed from keys in registers.

    Each lane finds its least key.  The bound is the k-th of these keys in ascending order.  At least k keys do not
    exceed the bound, so no key above the bound is selected.

    lanes: the number of lanes that select from a row.
    items: the number of keys that a lane holds.
    take: the greatest k.
    rows: the number of rows that a work-group selects from at once.
    subgroup: the subgroup width if one subgroup selects from a row; 1 if all lanes of a work-group do, and wait for
    each other at barriers.
    candidates: the number of candidates for which local memory has room; 0 means that `room` computes it.
    """

    lanes: int
    items: int
    take: int
    rows: int = 1
    subgroup: int = 1
    candidates: int = 0

    @property
    def reloaded(self) -> Bounded:
        """The sizes of a selection from the candidates of this selection, when they are all loaded to registers."""
        return replace(self, items=-(-self.room // self.lanes), candidates=self.room)

    @property
    def length(self) -> int:
        """The number of keys that the registers of all lanes hold together."""
        return self.lanes * self.items

    @property
    def block(self) -> int:
        """The number of lanes in a block (see `BLOCK`)."""
        return min(self.lanes, BLOCK)

    @property
    def blocks(self) -> int:
        """The number of blocks that select from a row."""
        return self.lanes // self.block

    @property
    def limit(self) -> int:
        """If there are more than 2 k + `limit` candidates, the kernel computes a smaller bound and drops candidates."""
        return self.lanes

    @property
    def room(self) -> int:
        """The greatest number of candidates for which local memory has room.

        Candidates are pairs of a key and its index.  At most `take` lanes have pairs up to the exact bound, so there
        are at most `take` x `items` such pairs.  Up to 2 `take` + `limit` further candidates come from earlier chunks.
        """
        most = self.take * self.items + 2 * self.take + self.limit
        return self.candidates or (most if self.take <= self.lanes // 2 else min(most, self.length))

    def local_bytes(self, key: KeyType) -> int:
        """Return the number of bytes of local memory that a work-group needs."""
        return self.rows * (pair_bytes(key) * (self.lanes + self.room + self.blocks) + 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The sizes of a selection from long rows, by a bound that is estimated from a sample.

    The keys up to the bound are the candidates, which are stored in a list.

    groups: the number of work-groups that sample a row.
    work_group: the number of lanes of such a work-group.
    most: the greatest number of keys that a lane samples.
    block: the number of lanes of a block.  Each block computes one estimate; the bound is the median of the estimates.
    sample_mul, sample_div: a lane samples about ``length / sample_div * sample_mul / k`` keys of a row.
    scale_bits: the number of fraction bits in the fixed-point numbers of the estimate.
    spare: for a small k, the bound is so high that it fills about 1/`spare` of the list.  A smaller bound would take a
    larger sample.
    run: the number of lanes that sample adjacent keys; each belongs to another block.
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
        """The number of estimates of the bound of a row, one from each block."""
        return self.lanes // self.block

    @property
    def steps(self) -> int:
        """The number of steps in a span, a power of two.

        A row is divided into spans of equal length, and a span into steps.  In each span, the `run` lanes that sample
        adjacent keys take them from one step.
        """
        return self.lanes // self.run

    @property
    def stride(self) -> int:
        """The number of steps by which the sampled step moves on from one span to the next.

        The number is odd, and about 0.618 (the golden section) x `steps`.
        """
        return self.steps * 633 >> 10 | 1

    @property
    def shifts(self) -> tuple[int, ...]:
        """The bit positions of the digits of a column's number in base `groups`, without the lowest digit.

        A column consists of `run` lanes that sample adjacent keys.  The kernel adds these digits to spread columns over
        work-groups.
        """
        bits = self.groups.bit_length() - 1
        return tuple(range(bits, (self.work_group // self.run).bit_length() - 1, bits)) if bits else ()

    @property
    def least(self) -> int:
        """The least length of a row that is sampled."""
        return _SAMPLED[0]

    @property
    def limit(self) -> int:
        """The greatest length of a row that is sampled.

        In a longer row, even the least key that a block samples might be too high a bound: the list of candidates might
        have too little room for all keys up to the bound.
        """
        return _ROOMS[0][1] // 4 * self.most * self.block

    @property
    def rooms(self) -> tuple[tuple[int, int], ...]:
        """(length, entries): the candidate list of a row longer than `length` has room for `entries` pairs."""
        return _ROOMS


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a selection.

    capacity: the greatest number of keys, with their indices, that a work-group holds and sorts; a power of two.
    bits: the number of bits of the widest digit.
    work_group: the number of lanes of a work-group.
    items: the number of keys per lane of a tile.
    groups: the greatest number of work-groups of a launch whose work-groups process tiles.
    row_limit: the greatest length of a row from which one work-group selects by passes over digits.
    bin_sort: whether a work-group sorts its keys on chip by bins; otherwise by a bitonic network.
    crowd: bins are crowded if a bin has more keys than this.  Keys are then not sorted by bins.
    short: the selection by a bound from short rows.
    chunk: the selection by a bound from a *chunk*: as many keys of a row as the registers of one work-group hold.
    resident: the number of work-groups of 256 lanes that a core must hold at once, with `bin_sort` and keys of one
    word.  With 4 work-groups, a lane has 64 registers.  With more registers per lane, a core would run fewer lanes, and
    fewer loads would be under way.
    subgroup: the subgroup width for sums over the lanes of a work-group; 1 if lanes exchange sums through local memory.
    small, middle: the greatest lengths of rows that two smaller work-groups sort as a whole; unused if not less than
    `capacity`.
    direct: whether lanes of the kernels `WHOLE` load keys to registers directly, not through local memory.
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
        """The parameters of the kernels `WHOLE`, which sort whole rows; each sorts rows of up to its own `capacity`."""
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
        """The sizes of the kernel `sample`, which samples long rows."""
        block = min(self.work_group, 2 * BLOCK)
        groups = max(1, min(8, 32 * block // self.work_group))
        return Sampled(
            groups=groups,
            work_group=self.work_group,
            most=128,
            block=block,
            sample_mul=9,  # then a lane samples one of the first k keys with probability 1 - exp(-9 / 64), 0.13
            sample_div=64,
            scale_bits=10,
            run=min(8, self.work_group // block),
        )

    @property
    def sampled_long(self) -> Sampled:
        """The sizes of the kernel `sample_long`, which samples the longest rows.

        A row has as many estimates as with `sample`, but each estimate comes from a whole work-group.
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
        """The greatest k that is selected by a bound from short rows.

        At most `capacity`, because results for a k above `capacity` are in the order of the row.
        """
        return min(self.short.take, self.capacity)

    @property
    def chunk_take(self) -> int:
        """The greatest k that is selected by a bound from chunks; at most `capacity`, as for `short_take`."""
        return min(self.chunk.take, self.capacity)

    @property
    def tiers(self) -> tuple[tuple[int, int, int], ...]:
        """(above, most, length): for k above `above` up to `most`, rows of more than `length` keys are sampled."""
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
        """The number of bits of the widest digit: `bits`, or the width of a key if that is less."""
        return min(self.bits, self.key.bits)

    @property
    def bins(self) -> int:
        """The number of bins in the histogram of a digit."""
        return 1 << self.digit

    @property
    def passes(self) -> int:
        """The number of passes: one for each digit of a key."""
        return -(-self.key.bits // self.digit)

    @property
    def key_words(self) -> int:
        """The number of 32-bit words in a key, without its index."""
        return -(-self.key.bits // 32)

    @property
    def ranges(self) -> int:
        """The number of words of the local array `ranges`: two for each word of a key."""
        return 2 * self.key_words

    @property
    def state_words(self) -> int:
        """`STATE`, for templates."""
        return STATE

    @property
    def reads_values(self) -> bool:
        """Whether kernels read values from memory; false without values, and if values are indices."""
        return self.signature.value_bytes > 0 and not self.signature.index

    @property
    def row_words(self) -> int:
        """The number of 32-bit words of scratch for a row."""
        return layout(self).row_words.start

    @property
    def row_tiles(self) -> int:
        """The greatest number of tiles that overlap a row of `row_limit` keys.

        Tiles are counted over all rows, so the first tile of a row may begin in the preceding row.
        """
        return -(-self.row_limit // self.tile) + 1

    def local_bytes(self) -> int:
        """Return the number of bytes of local memory of the kernel that needs the most."""
        return max(self.sort_bytes(), self.short.local_bytes(self.key), self.chunk.local_bytes(self.key))

    def sort_bytes(self) -> int:
        """Return the number of bytes of local memory of a kernel that sorts `capacity` keys."""
        shared = PICK + GATHERED + (self.ranges + CROWDED if self.bin_sort else 0)
        lane_sums = self.work_group + sums(self.work_group, self.subgroup)[-1].count
        return self.capacity * (self.key.held + 4) + 4 * (self.bins + lane_sums + shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWords:
    """The regions of one row in scratch.  The function `layout` says what each region holds.

    Scratch holds these regions for each row, then the counts of all tiles.
    """

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
    """Return the parameters for a key width and a signature; None if such a selection is not supported.

    A selection requires that the target has a sort for keys of this width.  All key types and both orders are
    supported, with values or indices.  Of the optional features, those that concern rows are supported.
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
    """Return the widths of subgroups that may each select from a short row.

    On a CPU, these are only the widths that the target's sorts use, because its driver may offer no other width.
    """
    used = device.subgroups if device.local == "chip" else [getattr(x, "subgroup", 1) for x in p.values()]
    return [w for w in used if 8 <= w <= min(BLOCK, device.work_group) and device.shuffle]


def _lanes_that_sum(p: Mapping[str, Any], device: Device) -> int:
    """Return the subgroup width for sums over lanes: the greatest of `_widths`; 1 if there is none, or on a CPU."""
    return max(_widths(p, device), default=1) if device.local == "chip" else 1


def _short(key: KeyType, device: Device, widths: list[int]) -> Bounded:
    """Return the sizes of the selection by a bound from short rows.

    A subgroup selects from a row.  On devices without subgroup operations, a small work-group does.
    """
    width = max(widths, default=1)
    lanes = width if width > 1 else min(BLOCK, _power(device.work_group))
    one = Bounded(lanes=lanes, items=_short_items(key, device), take=lanes, subgroup=width)
    most = min(device.local_bytes // 2 // one.local_bytes(key), 256 // lanes, device.work_group // lanes)
    return replace(one, rows=_power(max(most, 1))) if width > 1 else one


def _chunk(key: KeyType, device: Device) -> Bounded:
    """Return the sizes of the selection by a bound from chunks: as many lanes and as great a k as possible."""
    most = min(256, _power(device.work_group), _LANES[device.local])
    widths = [most >> x for x in range(most.bit_length())]
    shapes = (
        Bounded(lanes=lanes, items=_chunk_items(key, device), take=min(take, max(lanes // 2, 1)))
        for lanes, take in product(widths, _TAKES)
    )
    return next(x for x in shapes if x.local_bytes(key) <= device.local_bytes)


def _short_items(key: KeyType, device: Device) -> int:
    """Return the number of keys that a lane holds of a short row: 8, or 4 if 8 could spill registers.

    If 32 lanes share the registers of a hardware thread, each lane has 32 registers, and 8 keys spill.  On devices
    without subgroup operations, the compiler may choose subgroups of 32 lanes too, so that 8 wide keys spill.
    """
    unknown = device.local == "chip" and not device.shuffle and pair_bytes(key) > _PAIR
    return _SHORT_ITEMS // 2 if unknown or _shares_registers(device) else _SHORT_ITEMS


def _chunk_items(key: KeyType, device: Device) -> int:
    """Return the keys per lane of a chunk: 16, or 8 if keys have 64 bits and lanes have few registers."""
    few = device.registers is not None and device.registers <= _LEAST_REGISTERS * min(256, device.work_group)
    return _ITEMS // 2 if (few or _shares_registers(device)) and pair_bytes(key) > _PAIR else _ITEMS


def _shares_registers(device: Device) -> bool:
    """Whether the lanes of a subgroup share the registers of a hardware thread, as on Intel's GPUs (see `_NARROW`).

    The function recognises such devices by their subgroup widths: there are several, and the least is narrow.
    """
    widths = [w for w in device.subgroups if w > 1]
    return device.local == "chip" and device.shuffle and len(widths) > 1 and min(widths) <= _NARROW


def _power(x: int) -> int:
    """Return the greatest power of two up to `x`."""
    return 1 << x.bit_length() - 1


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters whose fields have the given values, by name."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the greatest number of keys that a work-group sorts; tests try counts around multiples of it."""
    return p.capacity


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values as (name, text) pairs, for headers and `hsgen show`."""
    return [
        ("sorted", f"up to {p.capacity} keys of a row"),
        ("digits", f"{p.passes} of at most {p.digit} bits"),
        ("rows", f"up to {p.row_limit} keys by one work-group of {p.work_group} lanes"),
        ("longer rows", f"tiles of {p.tile} keys, at most {p.groups} work-groups"),
    ]
