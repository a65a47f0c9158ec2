"""The parameters that all strategies share: the tile, the digits of a key, and the data to sort.

A *tile* is the set of keys that a work-group ranks at once, work_group x items keys.  A *chunk* is the sequence of keys
through which one lane, or one subgroup, walks.
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
    """The data to sort and the form of the sort.  Target files do not state these fields.

    key: the key width.
    begin, end: the sort compares the bits of a key from `begin` up to, but not including, `end`.  If `end` is None, the
    sort compares all bits from `begin` on.
    index64: whether all indices have 64 bits.
    redo: whether a look-back gives up after a limit, so that a retry by reduce-scan follows.  False on a device with
    guaranteed forward progress.
    signature: the kind of values, and the features of the sort.
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

    bits: the greatest number of bits of a digit.  A key has as few digits as this bound allows.  The widths of its
    digits differ by at most one bit.
    items, work_group: the number of keys per lane, and of lanes per work-group; their product is the size of a tile.
    subgroup: the number of lanes that exchange values; 1 if kernels use no subgroup operations.
    groups: the greatest number of work-groups of kernels that count or scatter.  For large counts, each work-group
    takes several tiles.
    large_groups: the same as `groups`, for large counts; 0 means `groups`.  At large counts, the additional columns
    in the table of counts take at most 2.5 % of the scratch for keys and values.  A single number that is small enough
    for all counts would not fill a GPU.
    single: the greatest count that one work-group sorts alone, in one launch.  0 means never.  None means a tile, or
    never if lanes walk through chunks.
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
        """The number of keys that a work-group ranks at once.

        If lanes walk through chunks, the number of keys that the chunks of a work-group have together, at least.
        """
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether each lane, or each subgroup, walks through its own chunk."""
        return False

    @property
    def folded(self) -> bool:
        """Whether every work-group sums the whole table of counts itself, so that no launch scans the table.

        The method is fast if the table has few columns.
        """
        return False

    @property
    def looks_back(self) -> bool:
        """Whether a tile learns by look-back over earlier tiles where its keys go."""
        return False

    @property
    def forward_progress(self) -> bool:
        """Whether look-back spins without a limit, so that no pass needs a retry."""
        return False

    @property
    def split_above(self) -> int:
        """The count above which a pass has several launches, which only tests set.

        0 leaves the decision to `hsgen.algorithms.radix.portions`.
        """
        return 0

    @property
    def has_key_buckets(self) -> bool:
        """Whether large counts of keys without values are first partitioned into buckets."""
        return False

    @property
    def has_pair_buckets(self) -> bool:
        """Whether large counts of keys with values are first brought into buckets, which are sorted on chip."""
        return False

    @property
    def sampled(self) -> int:
        """Number of keys of the sample that decides whether buckets are tried; 0 if there is no sample."""
        return 0

    @property
    def pieces(self) -> bool:
        """Whether a sample chooses the passes before buckets, and large buckets are cut into pieces."""
        return False

    @property
    def room(self) -> Room | None:
        """The scratch that buckets need; None if there are no buckets."""
        return None

    @property
    def sorted_exit(self) -> bool:
        """Whether the first kernel that reads all keys checks if the keys are in order already.

        If so, no pass moves keys.
        """
        return False

    @property
    def most_groups(self) -> int:
        """The greatest number of work-groups of kernels that count or scatter, over all counts."""
        return self.groups if self.index64 else max(self.groups, self.large_groups)

    @property
    def large_from(self) -> int:
        """The count above which `most_groups` work-groups are used instead of `groups` (see `large_groups`)."""
        return (self.most_groups - self.groups) * 4 * self.radix * 40 // (self.key.bytes + self.signature.value_bytes)

    @property
    def counter_words(self) -> int:
        """The number of words in scratch, behind the table of counts, for the counters of a work-group.

        0 means that counters lie in local memory.
        """
        return 0

    @property
    def skips(self) -> bool:
        """Whether a pass moves no keys if all keys have the same digit, which only the device knows."""
        return not self.looks_back

    @property
    def compact(self) -> bool:
        """Whether kernels have a form that compiles faster."""
        return False

    @property
    def halves(self) -> int:
        """Greatest count whose keys move between two halves of scratch, each of which holds all keys; 0 means none."""
        return 0

    @property
    def large(self) -> bool:
        """Whether the sort also supports 2^30 keys and more, with 64-bit counts if 32 bits do not suffice."""
        return False

    @property
    def alone(self) -> int:
        """Greatest count that one work-group sorts alone, in one launch."""
        return self.single if self.single is not None else self.tile

    @property
    def copied(self) -> bool:
        """Whether the passes may leave the keys in another buffer than the destination.

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
        """Whether values move with the keys, in their own buffers."""
        return self.signature.value_bytes > 0

    @property
    def stream(self) -> int | None:
        """The least count for which stores of keys bypass the caches; None means never."""
        return None

    @property
    def subgroups(self) -> int:
        """Number of subgroups of a work-group; each has its own counters."""
        return self.work_group // self.subgroup


T = TypeVar("T", bound=Tile)


def recast(p: Tile, to: type[T], **changes: Any) -> T:
    """Return parameters of the class `to`: the fields that `p` has too are copied from `p`, then `changes` apply."""
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
