"""The parameters that all strategies share: the tile, the digits of a key, and the data to sort.

A *tile* is the set of keys that a work-group ranks at once, work_group x items keys.  The strategy `per_thread` has no
tiles.  There, a *chunk* is the sequence of keys that one lane, or one subgroup, reads key by key.
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
    """The parameters that describe the data and the sort.  hsgen sets them for each sort; target files do not.

    key: the key width.
    begin, end: the sort compares the bits of a key from `begin` up to, but not including, `end`.  If `end` is None, the
    sort compares all bits from `begin` on.
    index64: whether kernels use 64-bit indices and counts.
    redo: whether a look-back gives up after it has found a state empty `spins` times.  The plan then has launches that
    repeat a pass.  False on a device with guaranteed forward progress.
    signature: the kind of values, and the optional features of the sort.
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

    bits: the greatest number of bits of a digit.  A key is divided into as few digits as this bound allows, whose
    widths differ by at most one bit.
    items, work_group: the number of keys per lane, and of lanes per work-group; their product is the size of a tile.
    subgroup: the width of the subgroups in which lanes exchange values; 1 if kernels use no subgroup operations.
    groups: the greatest number of work-groups of the kernels `count`, `scatter` and `histogram`.  If there are more
    tiles than that, each work-group takes several tiles.
    large_groups: replaces `groups` for counts above `large_from`; 0 means `groups` for every count.  With only `groups`
    work-groups, large sorts would not fill a GPU.  More work-groups need more scratch, because the table of counts has
    a column for each of them.  Above `large_from`, the additional columns take at most 2.5 % of the bytes of keys and
    values.
    single: the greatest count that one work-group sorts alone, in one launch.  0 means never.  None means `tile` keys,
    or never in the strategy `per_thread`.
    single_bits: the bits of a digit in the launch of one work-group; None means `bits`.
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
        """The number of keys that a work-group ranks at once.

        In the strategy `per_thread`, the least number of keys in all chunks of a work-group together.
        """
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether each lane, or each subgroup, reads its own chunk key by key (the strategy `per_thread`)."""
        return False

    @property
    def folded(self) -> bool:
        """Whether each work-group of `scatter` sums up the table of counts itself, so that no launch scans the table.

        The method is fast if the table has few columns.
        """
        return False

    @property
    def looks_back(self) -> bool:
        """Whether passes use decoupled look-back, not reduce-scan, to compute the offsets of a tile."""
        return False

    @property
    def forward_progress(self) -> bool:
        """Whether look-back spins without a limit, so that no pass needs a retry."""
        return False

    @property
    def split_above(self) -> int:
        """The count above which a pass has several portions.

        0 leaves the decision to `hsgen.algorithms.radix.portions`; only tests set another number.
        """
        return 0

    @property
    def has_key_buckets(self) -> bool:
        """Whether the sort partitions large counts of keys without values into buckets, which it sorts on chip."""
        return False

    @property
    def has_pair_buckets(self) -> bool:
        """Whether the sort brings large counts of pairs (keys with values) into buckets, which it sorts on chip."""
        return False

    @property
    def sampled(self) -> int:
        """Number of keys in the sample by which kernels decide whether to use buckets; 0 if there is no sample."""
        return 0

    @property
    def pieces(self) -> bool:
        """Whether kernels choose by a sample how many passes precede buckets, and cut large buckets into pieces."""
        return False

    @property
    def room(self) -> Room | None:
        """The additional scratch for buckets; None if the sort has no buckets."""
        return None

    @property
    def sorted_exit(self) -> bool:
        """Whether the first kernel that reads all keys checks if the keys are in order already.

        If the keys are in order, no pass moves them.
        """
        return False

    @property
    def most_groups(self) -> int:
        """The greatest number of work-groups of the kernels `count` and `scatter`, for any count."""
        return self.groups if self.index64 else max(self.groups, self.large_groups)

    @property
    def large_from(self) -> int:
        """The count above which a launch has up to `most_groups` work-groups, not `groups` (see `large_groups`)."""
        return (self.most_groups - self.groups) * 4 * self.radix * 40 // (self.key.bytes + self.signature.value_bytes)

    @property
    def counter_words(self) -> int:
        """The number of 32-bit words of scratch, after the table of counts, for the counters of each work-group.

        0 means that counters lie in local memory.
        """
        return 0

    @property
    def skips(self) -> bool:
        """Whether a pass by reduce-scan moves no keys if all keys have the same digit.

        The host then does not know in which buffer the last pass leaves the keys.
        """
        return not self.looks_back

    @property
    def compact(self) -> bool:
        """Whether kernel text is chosen that compiles in less time, at the cost of slower kernels."""
        return False

    @property
    def halves(self) -> int:
        """The greatest count for which each second buffer in scratch has room for 2 n keys or values; 0 means none.

        For such counts, one work-group moves keys from one half of the second buffer to the other.
        """
        return 0

    @property
    def large(self) -> bool:
        """Whether the sort also supports 2^30 keys and more, with 64-bit counts where 32 bits are too few."""
        return False

    @property
    def alone(self) -> int:
        """Greatest count that one work-group sorts alone, in one launch; 0 if there is no such launch."""
        return self.single if self.single is not None else self.tile

    @property
    def copied(self) -> bool:
        """Whether the last pass may leave the keys outside the destination, so that the plan needs a copy.

        Sorts that may skip a pass, and do not count all digits in advance, always have a copy in the plan.  In all
        other sorts, only a sort in place with an odd number of passes needs the copy.
        """
        return self.skips or self.signature.bit_range or len(self.digits) % 2 == 1

    @property
    def last(self) -> int:
        """The end of the sorted bits, exclusive: `end`, or the width of a key."""
        return self.key.bits if self.end is None else self.end

    @property
    def digits(self) -> tuple[tuple[int, int], ...]:
        """(shift, width in bits) of the digit of each pass.

        There are as few digits as `bits` allows, and their widths are as equal as possible.
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
        """Whether the sort moves values that have a buffer of their own."""
        return self.signature.value_bytes > 0

    @property
    def stream(self) -> int | None:
        """The least count for which the scatter stores keys past the caches; None means never."""
        return None

    @property
    def subgroups(self) -> int:
        """Number of subgroups of a work-group; each has its own counters."""
        return self.work_group // self.subgroup


T = TypeVar("T", bound=Tile)


def recast(p: Tile, to: type[T], **changes: Any) -> T:
    """Return an instance of the class `to`: fields in `changes` have those values, other fields those of `p`.

    Fields that `p` lacks have their default values.
    """
    names = {f.name for f in fields(p)}
    shared = {f.name: getattr(p, f.name) for f in fields(to) if f.name in names}
    return to(**{**shared, **changes})


def counts_of(p: Tile) -> list[tuple[str, str]]:
    """Return two (name, text) pairs for `hsgen show`: the digits, and the tile."""
    widths = [width for _, width in p.digits]
    text = f"{len(widths)} passes of {widths[0]} bits" if len(set(widths)) == 1 else f"passes of {widths} bits"
    unit = "chunks" if p.serial else "tiles"
    lanes = f"{p.work_group} lane{'s' * (p.work_group > 1)}"
    return [
        ("digits", f"{text}, {p.radix} values"),
        ("tile", f"{lanes} x {p.items} = {p.tile} keys, at most {p.groups} work-groups of {unit}"),
    ]
