"""The choices of a sort that partitions keys into buckets, the numbers that follow, and the layout of scratch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from hsgen.algorithms.radix.rankers import Ranked
from hsgen.core.fields import Field

MAX_N = (1 << 30) - 1  # kernels count in signed 32-bit numbers
CHIP_BITS = 4
"""The bits of a digit by which a bucket is sorted whose places are crowded: few counters, which fit as well."""
FOLD = 64
"""The work-groups whose counts each of them sums by itself, at most; those of more are scanned in their own launch."""
COLUMNS = 16
"""The digits whose counts a work-group scans, if it has as many lanes."""

PASSES = {
    "pass_group": Field(
        "int", "uneven keys: the lanes of a tile, if not work_group", required=False, least=1, greatest=8192
    ),
    "pass_items": Field("int", "uneven keys: the keys of such a lane", required=False, least=1, greatest=64),
}
"""The choices of the passes over uneven keys, all of which are given or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Ranked):
    """The table ``[radix.KEY.partition]``.

    groups: the most work-groups that count and partition by the first digit; each reads the counts of all of them.
    bucket_group, bucket_items, bucket_places: lanes, keys of a lane and places of the kernel that sorts buckets on
    chip, as of `hsgen.algorithms.radix.hybrid.params.Hybrid`.  With values a lane has as many pairs as take the room of
    its keys.
    pass_group, pass_items: lanes and keys of a lane of the tiles by which passes sort uneven keys; 0 means work_group
    and items.  With values as above.
    """

    STRATEGY: ClassVar[str] = "partition"
    bucket_group: int = 0
    bucket_items: int = 0
    bucket_places: int = 0
    pass_group: int = 0
    pass_items: int = 0

    @property
    def dealt(self) -> bool:
        """Whether buckets are tried: for whole keys that have bits below the highest digit."""
        return (self.begin, self.end) == (0, None) and len(self.digits) > 1 and self.key.bytes >= 4

    @property
    def forward_progress(self) -> bool:
        """Always: no other device is described."""
        return True

    @property
    def whole_words(self) -> bool:
        """Whether a bucket holds its values on chip, which words are."""
        return self.signature.value_bytes == 4

    @property
    def first(self) -> int:
        """The bits of the first digit, the highest of all."""
        return self.digits[-1][1]


def capacity(p: Partition) -> int:
    """Return the keys of a bucket that a work-group sorts on chip."""
    return p.bucket_group * p.bucket_items


def limit(p: Partition) -> int:
    """Return the keys of a bucket on average, at most: so few that hardly one of uniform keys exceeds the capacity."""
    return 13 * capacity(p) // 16


def most(p: Partition) -> int:
    """Return the greatest count for which buckets are tried."""
    return min(limit(p) << p.first, MAX_N) if p.dealt else 0


def passing(p: Partition) -> Partition:
    """Return the shape in which passes sort uneven keys."""
    if not p.pass_group:
        return p
    return replace(p, work_group=p.pass_group, items=p.pass_items, pass_group=0, pass_items=0)


def chip(p: Partition) -> Partition:
    """Return the shape in which a crowded bucket is sorted on chip, a digit at a time."""
    return replace(p, bits=CHIP_BITS, work_group=p.bucket_group, items=p.bucket_items, single=0, resident=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout for templates: numbers derived from the shape, and indices of 32-bit words in scratch.

    uneven: 0 where buckets hold all keys, else 1.  ticket: a counter of what the passes have to do.  done: the
    work-groups that have counted all digits; then for each pass, one more than there are digits, the tiles that are
    stored.  counts: of all digits.  starts: of buckets, and the count.  totals: of the highest digit.  table: a row of
    counts for each work-group; or of states for each tile, in passes.
    """

    capacity: int
    shift: int
    mask: int
    fold: int
    columns: int
    uneven: int
    ticket: int
    done: int
    counts: int
    starts: int
    totals: int
    table: int


def layout(p: Partition) -> Layout:
    """Return the layout."""
    shift, width = p.digits[-1]
    counts = 2 + len(p.digits) + 3
    starts = counts + len(p.digits) * p.radix
    totals = starts + p.radix + 1
    return Layout(
        capacity=capacity(p),
        shift=shift,
        mask=(1 << width) - 1,
        fold=FOLD,
        columns=min(COLUMNS, p.radix, 1 << p.work_group.bit_length() - 1),
        uneven=0,
        ticket=1,
        done=2,
        counts=counts,
        starts=starts,
        totals=totals,
        table=totals + p.radix,
    )
