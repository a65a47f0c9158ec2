"""The parameters of the strategy `partition`, numbers derived from the parameters, and the layout of scratch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from hsgen.algorithms.radix.rankers import Ranked
from hsgen.algorithms.radix.stages import Bucket, Tiles, present
from hsgen.core.records import RECORD
from hsgen.core.regions import Region, placed

MAX_N = (1 << 30) - 1  # kernels count in signed 32-bit numbers
CHIP_BITS = 4
"""Bits of the digits by which a bucket with crowded bins is sorted.  There are few bits, so that the counters fit local
memory.
"""
FOLD = 64
"""Up to this number of work-groups, each work-group sums the counts of all work-groups itself.  If there are more, a
separate launch scans the counts.
"""
COLUMNS = 16
"""One work-group of the separate scan takes the counts of this many digits, if it has at least as many lanes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Ranked):
    """The target table ``[radix.KEY.partition]``.

    groups: the greatest number of work-groups that count and partition by the highest digit.  If there is no separate
    scan, each work-group reads the counts of all work-groups.
    bucket: the bucket that a work-group sorts on chip.  With values, a lane holds as many pairs as fit the memory of
    its keys.
    uneven: the tiles of the passes over uneven keys; None means the tiles of the partition.  With values, a lane holds
    fewer keys, as for `bucket`.
    """

    STRATEGY: ClassVar[str] = "partition"
    bucket: Bucket | None = field(default=None, metadata={RECORD: Bucket})
    uneven: Tiles | None = field(default=None, metadata={RECORD: Tiles})

    @property
    def partitioned(self) -> bool:
        """Whether buckets are tried: in sorts by all bits, if keys have at least 4 bytes and two digits."""
        return (self.begin, self.end) == (0, None) and len(self.digits) > 1 and self.key.bytes >= 4

    @property
    def forward_progress(self) -> bool:
        """True: every device of this strategy guarantees forward progress."""
        return True

    @property
    def whole_words(self) -> bool:
        """Whether values have 4 bytes, so that a work-group holds the values of its bucket on chip."""
        return self.signature.value_bytes == 4

    @property
    def first(self) -> int:
        """Bits of the highest digit, by which keys are partitioned."""
        return self.digits[-1][1]


def capacity(p: Partition) -> int:
    """Return the most keys of a bucket that a work-group sorts on chip."""
    return present(p.bucket).size


def limit(p: Partition) -> int:
    """Return the greatest mean number of keys per bucket for which buckets are tried.

    The number is so low that, with uniform keys, hardly any bucket exceeds the capacity.
    """
    return present(p.bucket).limit


def most(p: Partition) -> int:
    """Return the greatest count for which buckets are tried."""
    return min(limit(p) << p.first, MAX_N) if p.partitioned else 0


def passing(p: Partition) -> Partition:
    """Return the shape of the passes over uneven keys."""
    if p.uneven is None:
        return p
    return replace(p, work_group=p.uneven.work_group, items=p.uneven.items, uneven=None)


def chip(p: Partition) -> Partition:
    """Return the shape with which a work-group sorts a bucket with crowded bins, digit by digit."""
    bucket = present(p.bucket)
    return replace(p, bits=CHIP_BITS, work_group=bucket.work_group, items=bucket.items, single=0, resident=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch, for P passes and D values of a digit.

    fallback: a flag.
    ticket: a counter.
    done: P + 3 counters.
    histograms: P x D words.
    bucket_starts: D + 1 words.
    histogram: D words.
    group_histograms, tile_states: both begin at the same word; a launch uses only one of them.
    """

    fallback: Region
    ticket: Region
    done: Region
    histograms: Region
    bucket_starts: Region
    histogram: Region
    group_histograms: Region
    tile_states: Region


def words(p: Partition) -> Words:
    """Return the regions of scratch."""
    count = len(p.digits)
    regions = (
        ("fallback", 1, "0: buckets hold all keys; 1: the fallback sorts them"),
        ("ticket", 1, "of the fallback: the pieces of work that are drawn"),
        ("done", count + 3, "of the fallback: work-groups that have counted; then the tiles that each pass has stored"),
        ("histograms", count * p.radix, "of the fallback: all digits of all keys"),
        ("bucket_starts", p.radix + 1, "of each bucket: its first key"),
        ("histogram", p.radix, "of the highest digit of all keys, if a launch has scanned those of the work-groups"),
        ("group_histograms", 0, "of each work-group: a word per digit, its histogram or where its keys begin"),
        ("tile_states", 0, "of each tile: a word per digit, see look-back"),
    )
    return Words(**placed(regions))


def columns(p: Partition) -> int:
    """Return the number of digits whose counts one work-group of the separate scan takes."""
    return min(COLUMNS, p.radix, 1 << p.work_group.bit_length() - 1)
