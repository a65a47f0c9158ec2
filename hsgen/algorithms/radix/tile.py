"""The parameters of every strategy: the tile, the digits of a key, and the data that is sorted.

A *tile* is the keys that a work-group ranks at once, work_group x items of them; where lanes walk, a *chunk* is the
keys that one of them walks through.
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
    """What is sorted, which no target file says.

    begin, end: the bits of a key that are sorted; None means all from `begin` on.
    index64: indices have 64 bits throughout.
    redo: look-backs give up at some point, and passes are then done again by counting: not where a device promises
    forward progress.
    signature: what is sorted with the keys, and how.
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

    bits: of a digit; digits of a key are of equal width or one bit less, as few as that allows.
    items, work_group: keys of a lane and lanes; their product is the tile.
    subgroup: lanes that exchange values, 1 where none do.
    groups: the most work-groups of counting and scattering kernels; each then takes several tiles.
    large_groups: the same where their table is at most 2.5 % of the scratch for keys and values; 0 means `groups`.  A
    GPU is not filled by `groups` whose table is small for all counts.
    single: the greatest count that one work-group sorts in one launch; 0 means never, None a tile (chunks: never).
    single_bits: the bits of a digit then, if not `bits`.
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
        """Keys that a work-group handles at once; of lanes that walk: the least keys of the chunks of a work-group."""
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether lanes walk chunks of their own."""
        return False

    @property
    def folded(self) -> bool:
        """Whether every work-group sums the table of counts by itself, which pays where it has few columns."""
        return False

    @property
    def looks_back(self) -> bool:
        """Whether tiles find their places by looking back at those before them."""
        return False

    @property
    def forward_progress(self) -> bool:
        """Whether look-backs wait as long as it takes, so that no pass is ever done again."""
        return False

    @property
    def whole(self) -> int:
        """For tests: the count above which a pass is several launches; 0 leaves it to `radix.portions`."""
        return 0

    @property
    def msd(self) -> bool:
        """Whether large counts are dealt into buckets first."""
        return False

    @property
    def finish(self) -> bool:
        """Whether large counts of keys with values end in buckets on chip."""
        return False

    @property
    def sampled(self) -> int:
        """How many keys are compared first, to see whether too many are alike for buckets."""
        return 0

    @property
    def pieces(self) -> bool:
        """Whether some digits are passed before buckets, which are cut into pieces."""
        return False

    @property
    def room(self) -> Room | None:
        """The room in scratch that buckets take; None without buckets."""
        return None

    @property
    def sorted_exit(self) -> bool:
        """Whether the first kernel that reads all keys finds out that they are in order; then no digit moves them."""
        return False

    @property
    def most_groups(self) -> int:
        """The most work-groups of counting and scattering kernels for any count."""
        return self.groups if self.index64 else max(self.groups, self.large_groups)

    @property
    def large_from(self) -> int:
        """The count above which the rows of more work-groups take at most 2.5 % of the scratch for keys and values."""
        return (self.most_groups - self.groups) * 4 * self.radix * 40 // (self.key.bytes + self.signature.value_bytes)

    @property
    def counter_words(self) -> int:
        """The words in scratch that the counters of a work-group take, behind the table of counts."""
        return 0

    @property
    def skips(self) -> bool:
        """Whether passes leave the keys where they are if all have the same digit, which was not known beforehand."""
        return not self.looks_back

    @property
    def compact(self) -> bool:
        """Whether kernels are made for a short compilation."""
        return False

    @property
    def halves(self) -> int:
        """The greatest count that is sorted between two halves of scratch, which then hold it twice."""
        return 0

    @property
    def large(self) -> bool:
        """Whether 2^30 keys and more are sorted, by kernels that count in 64 bits where 32 do not suffice."""
        return False

    @property
    def alone(self) -> int:
        """The greatest count that one work-group sorts in one launch."""
        return self.single if self.single is not None else self.tile

    @property
    def copied(self) -> bool:
        """Whether passes may leave the keys elsewhere than in the destination.

        Where no digit is skipped, or look-back knows all digits beforehand, that happens only in place, after an odd
        number of passes.
        """
        return self.skips or self.signature.bit_range or len(self.digits) % 2 == 1

    @property
    def digits(self) -> tuple[tuple[int, int], ...]:
        """(shift, bits) of each pass: as few as `bits` allows, as even as that leaves."""
        end = self.key.bits if self.end is None else self.end
        return digits(self.begin, end, self.bits)

    @property
    def radix(self) -> int:
        """The values of the widest digit."""
        return 1 << self.digit

    @property
    def digit(self) -> int:
        """The bits of the widest digit."""
        return max(width for _, width in self.digits)

    @property
    def valued(self) -> bool:
        """Whether values move with the keys, in buffers of their own."""
        return self.signature.value_bytes > 0

    @property
    def stream(self) -> int | None:
        """The count from which keys are stored past the caches."""
        return None

    @property
    def subgroups(self) -> int:
        """Subgroups of a work-group; each counts for itself."""
        return self.work_group // self.subgroup


T = TypeVar("T", bound=Tile)


def recast(p: Tile, to: type[T], **changes: Any) -> T:
    """Return the parameters of another strategy that have what `p` has of them, except for the changes."""
    own = {f.name for f in fields(p)}
    kept = {f.name: getattr(p, f.name) for f in fields(to) if f.name in own}
    return to(**{**kept, **changes})


def counts_of(p: Tile) -> list[tuple[str, str]]:
    """Return the digits and the tile for people."""
    widths = [width for _, width in p.digits]
    text = f"{len(widths)} passes of {widths[0]} bits" if len(set(widths)) == 1 else f"passes of {widths} bits"
    what = "chunks" if p.serial else "tiles"
    lanes = f"{p.work_group} lane{'s' * (p.work_group > 1)}"
    return [
        ("digits", f"{text}, {p.radix} values"),
        ("tile", f"{lanes} x {p.items} = {p.tile} keys, at most {p.groups} work-groups of {what}"),
    ]
