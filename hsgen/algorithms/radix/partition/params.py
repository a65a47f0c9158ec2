"""The parameters of the strategy `partition`, numbers derived from them, and the layout of scratch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from hsgen.algorithms.radix.rankers import Ranked
from hsgen.algorithms.radix.stages import Bucket, Tiles, present
from hsgen.core.records import RECORD
from hsgen.core.regions import Region, placed

MAX_N = (1 << 30) - 1  # kernels count in signed 32-bit numbers
CHIP_BITS = 4
"""The bits of the digits by which a work-group sorts a bucket in passes, if too many keys share a bin.

The digits are so narrow that their counters fit local memory next to the keys.
"""
FOLD = 64
"""The greatest number of work-groups whose histograms need no launch of their own for the scan.

Up to this number, each work-group of the partition adds up the histograms of all work-groups itself.
"""
COLUMNS = 16
"""The number of digit values whose counts a work-group of the scan kernel scans, if it has at least as many lanes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Ranked):
    """The target table ``[radix.KEY.partition]``.

    groups: the greatest number of work-groups that count and partition by the highest digit.
    bucket: the parameters of the bucket sort, for keys without values.  With values, a lane has fewer keys, because
    each key then takes 4 more bytes of local memory.
    uneven: the tiles of the fallback, for keys without values; None means the tiles of the partition.  With values, a
    lane has fewer keys, as in `bucket`.
    """

    STRATEGY: ClassVar[str] = "partition"
    bucket: Bucket | None = field(default=None, metadata={RECORD: Bucket})
    uneven: Tiles | None = field(default=None, metadata={RECORD: Tiles})

    @property
    def partitioned(self) -> bool:
        """Whether the sort first tries buckets: it does so in sorts by all bits of keys with 4 or 8 bytes."""
        return (self.begin, self.end) == (0, None) and len(self.digits) > 1 and self.key.bytes >= 4

    @property
    def forward_progress(self) -> bool:
        """True, because the strategy requires devices that guarantee forward progress."""
        return True

    @property
    def whole_words(self) -> bool:
        """Whether values have 4 bytes.  A work-group then holds the values of its bucket on chip, with the keys."""
        return self.signature.value_bytes == 4

    @property
    def first(self) -> int:
        """Number of bits of the highest digit, by which keys are partitioned."""
        return self.digits[-1][1]


def capacity(p: Partition) -> int:
    """Return the most keys that a bucket may have, which a work-group holds on chip."""
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
    """Return the parameters of the fallback's passes over uneven keys."""
    if p.uneven is None:
        return p
    return replace(p, work_group=p.uneven.work_group, items=p.uneven.items, uneven=None)


def chip(p: Partition) -> Partition:
    """Return the parameters with which a work-group sorts a bucket with crowded bins, digit by digit on chip."""
    bucket = present(p.bucket)
    return replace(p, bits=CHIP_BITS, work_group=bucket.work_group, items=bucket.items, single=0, resident=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The regions of scratch, for P passes and D values of a digit.  The texts in `words` say what each region holds.

    fallback: 1 word.
    ticket: 1 word.
    done: P + 3 words.
    histograms: P x D words.
    bucket_starts: D + 1 words.
    histogram: D words.
    group_histograms, tile_states: tables that begin at the same word, because a launch uses only one of them.  Their
    size depends on the count.
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
    """Return the regions of scratch for the parameters `p`."""
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
    """Return the number of digit values whose counts one work-group of the scan kernel scans."""
    return min(COLUMNS, p.radix, 1 << p.work_group.bit_length() - 1)
