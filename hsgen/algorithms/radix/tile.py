"""The parameters that all strategies share: the tile, the digits of a key, and the data to sort.

A *tile* is the keys that a work-group ranks at once, work_group x items keys.  A *chunk* is the keys through which one
lane, or one subgroup, walks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from hsgen.algorithms.radix.stages import Room
from hsgen.core.fields import Field
from hsgen.core.interpreter import digits
from hsgen.core.keys import PLAIN, KeyType, Signature

BITS = Field("int", "the bits of a digit, 1 to 11", least=1, greatest=11)
WORK_GROUP = Field("int", "the lanes of a work-group", least=1, greatest=8192)
SUBGROUP = Field("int", "a power of two, or 1 for no subgroup operations", least=1, greatest=128)
GROUPS = Field("int", "the most work-groups of a count or scatter", least=1, greatest=65535)
SINGLE = {
    "single": Field("int", "the count up to which one work-group sorts alone", required=False, greatest=1 << 24),
    "single_bits": Field(
        "int", "the bits of a digit where one work-group sorts alone", required=False, least=1, greatest=11
    ),
}
SORTED_EXIT = Field("bool", "whether keys that are in order already are found out and left alone", required=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The data to sort and the form of the sort, which no target file states.

    begin, end: the sort is by the bits of a key from `begin` up to, but not including, `end`; None means the end of the
    key.
    index64: all indices have 64 bits.
    redo: a look-back gives up after a limit, and a retry by reduce-scan follows; false on a device with guaranteed
    forward progress.
    signature: the values, and further features of the sort.
    """

    key: KeyType
    begin: int = 0
    end: int | None = None
    index64: bool = False
    redo: bool = True
    signature: Signature = PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile(Request):
    """The parameters that all strategies share.

    bits: the greatest number of bits of a digit.  A key has the fewest digits that this allows; their widths differ by
    at most one bit.
    items, work_group: the keys of a lane and the lanes of a work-group; their product is the tile.
    subgroup: the lanes that exchange values; 1 without subgroup operations.
    groups: the most work-groups of counting and scattering kernels; each takes several tiles.
    large_groups: the same for large counts, at which the table of counts takes at most 2.5 % of the scratch for keys
    and values; 0 means `groups`.  A single number that is small enough for all counts would not fill a GPU.
    single: the greatest count that one work-group sorts in one launch; 0 means never; None means a tile, or never if
    lanes walk through chunks.
    single_bits: the bits of a digit in that launch; None means `bits`.
    """

    STRATEGY: ClassVar[str]

    bits: int
    items: int
    work_group: int
    subgroup: int = 1
    groups: int = 1
    large_groups: int = 0
    single: int | None = None
    single_bits: int | None = None

    @property
    def tile(self) -> int:
        """Keys that a work-group processes at once; if lanes walk through chunks, the least total of the chunks of a
        work-group.
        """
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether each lane, or each subgroup, walks through its own chunk."""
        return False

    @property
    def folded(self) -> bool:
        """Whether every work-group sums the whole table of counts, so that no launch scans it; fast if the table has
        few columns.
        """
        return False

    @property
    def looks_back(self) -> bool:
        """Whether tiles learn where their keys go by look-back over earlier tiles."""
        return False

    @property
    def forward_progress(self) -> bool:
        """Whether look-back spins without a limit, so no pass needs a retry."""
        return False

    @property
    def split_above(self) -> int:
        """Count above which a pass has several launches, set by tests only; 0 leaves the decision to
        `radix.portions`.
        """
        return 0

    @property
    def has_key_buckets(self) -> bool:
        """Whether large counts of keys without values are first partitioned into buckets."""
        return False

    @property
    def has_pair_buckets(self) -> bool:
        """Whether large counts of keys with values end in buckets that are sorted on chip."""
        return False

    @property
    def sampled(self) -> int:
        """Number of keys of the sample that decides whether buckets are tried; 0 without a sample."""
        return 0

    @property
    def pieces(self) -> bool:
        """Whether passes by some of the digits precede buckets, and large buckets are cut into pieces."""
        return False

    @property
    def room(self) -> Room | None:
        """The scratch that buckets need; None without buckets."""
        return None

    @property
    def sorted_exit(self) -> bool:
        """Whether the first kernel that reads all keys checks their order; if the keys are in order, no pass moves
        them.
        """
        return False

    @property
    def most_groups(self) -> int:
        """The most work-groups of counting and scattering kernels, over all counts."""
        return self.groups if self.index64 else max(self.groups, self.large_groups)

    @property
    def large_from(self) -> int:
        """Count above which `most_groups` columns of counts take at most 2.5 % of the scratch for keys and values."""
        return (self.most_groups - self.groups) * 4 * self.radix * 40 // (self.key.bytes + self.signature.value_bytes)

    @property
    def counter_words(self) -> int:
        """Words of scratch for the counters of a work-group, behind the table of counts; 0 for counters in local
        memory.
        """
        return 0

    @property
    def skips(self) -> bool:
        """Whether a pass is skipped if all keys have the same digit; only the device knows the digits."""
        return not self.looks_back

    @property
    def compact(self) -> bool:
        """Whether kernels have a form that compiles fast."""
        return False

    @property
    def halves(self) -> int:
        """Greatest count that is sorted between two halves of scratch, each of which holds all keys; 0 means never."""
        return 0

    @property
    def large(self) -> bool:
        """Whether 2^30 keys and more are sorted, by kernels with 64-bit counts where 32-bit counts do not suffice."""
        return False

    @property
    def alone(self) -> int:
        """Greatest count that one work-group sorts in one launch."""
        return self.single if self.single is not None else self.tile

    @property
    def copied(self) -> bool:
        """Whether the last pass may leave the keys in another buffer than the destination.

        If no pass is skipped, or if all digits are counted in advance, this happens only in place, after an odd number
        of passes.
        """
        return self.skips or self.signature.bit_range or len(self.digits) % 2 == 1

    @property
    def last(self) -> int:
        """The end of the sorted bits: one more than the greatest sorted bit."""
        return self.key.bits if self.end is None else self.end

    @property
    def digits(self) -> tuple[tuple[int, int], ...]:
        """(shift, width in bits) of the digit of each pass: as few digits as `bits` allows, of widths as equal as
        possible.
        """
        return digits(self.begin, self.last, self.bits)

    @property
    def radix(self) -> int:
        """Number of values of the widest digit."""
        return 1 << self.digit

    @property
    def digit(self) -> int:
        """Bits of the widest digit."""
        return max(width for _, width in self.digits)

    @property
    def valued(self) -> bool:
        """Whether values move with the keys, in their own buffers."""
        return self.signature.value_bytes > 0

    @property
    def stream(self) -> int | None:
        """Least count for which stores of keys bypass the caches; None means never."""
        return None

    @property
    def subgroups(self) -> int:
        """Number of subgroups of a work-group; each has its own counters."""
        return self.work_group // self.subgroup


T = TypeVar("T", bound=Tile)


def recast(p: Tile, to: type[T], **changes: Any) -> T:
    """Return the parameters of the strategy `to` with every field that it shares with `p`, except for the changes."""
    names = {f.name for f in fields(p)}
    shared = {f.name: getattr(p, f.name) for f in fields(to) if f.name in names}
    return to(**{**shared, **changes})


def counts_of(p: Tile) -> list[tuple[str, str]]:
    """Return (name, text) of the digits and of the tile, for `hsgen show`."""
    widths = [width for _, width in p.digits]
    text = f"{len(widths)} passes of {widths[0]} bits" if len(set(widths)) == 1 else f"passes of {widths} bits"
    unit = "chunks" if p.serial else "tiles"
    lanes = f"{p.work_group} lane{'s' * (p.work_group > 1)}"
    return [
        ("digits", f"{text}, {p.radix} values"),
        ("tile", f"{lanes} x {p.items} = {p.tile} keys, at most {p.groups} work-groups of {unit}"),
    ]
