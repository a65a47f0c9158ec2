"""Parameters of stages of a radix sort that are no passes: partitions, and buckets that are sorted on chip.

Each class is one inline table of a target file: ``bucket = { work_group = 256, items = 20, bins = 4096 }``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from hsgen.core.fields import Field

LANES = Field("int", "the lanes of a work-group", least=1, greatest=8192)
ITEMS = Field("int", "the keys of a lane", least=1, greatest=64)
BINS = Field("int", "the bins on chip, a power of two and a multiple of work_group", least=1, greatest=65536)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """Tiles of keys: `work_group` lanes with `items` keys each."""

    work_group: int
    items: int

    @property
    def size(self) -> int:
        """The number of keys of a tile, or the greatest number of keys of a bucket."""
        return self.work_group * self.items


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Tiles):
    """Tiles of keys without values, which are partitioned by their highest digits into buckets.

    above: the count above which keys are partitioned.
    """

    above: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket(Tiles):
    """A bucket, which one work-group sorts on chip by bins (`hsgen.algorithms.radix.bin_sort`).

    bins: the number of bins, each a counter in local memory; about as many as keys.
    """

    bins: int

    @property
    def limit(self) -> int:
        """The greatest mean number of keys per bucket for which buckets are tried, 13/16 of the size.

        With uniform keys and this mean, hardly any bucket exceeds the size.
        """
        return 13 * self.size // 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting(Tiles):
    """A bucket of a sort with 64-bit indices, which is sorted by counting.

    The keys of a bucket differ only in their lowest `bits` bits.  A work-group counts how often each value of these
    bits occurs, and then stores the keys in order, `work_group` x `items` keys at once.
    """

    bits: int

    @property
    def words(self) -> int:
        """Number of words in local memory that hold the counters, two counters in each word."""
        return 1 << self.bits - 1

    @property
    def words_of_lane(self) -> int:
        """Number of adjacent words of counters that a lane scans."""
        return self.words // self.work_group

    @property
    def long_run(self) -> int:
        """Length of a run of equal keys above which several lanes store the run together."""
        return 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PairBucket(Bucket):
    """A bucket of keys with values of 4 bytes, after two stable passes by the two highest digits.

    above: the count above which buckets are tried; None means `least`.
    mean: the greatest mean number of pairs per bucket for which buckets are tried; None means 13/16 of the size.
    """

    above: int | None = None
    mean: int | None = None

    @property
    def limit(self) -> int:
        """The greatest mean number of pairs per bucket for which buckets are tried."""
        return super(PairBucket, self).limit if self.mean is None else self.mean

    @property
    def slot_bits(self) -> int:
        """Number of bits of a slot number (`hsgen.algorithms.radix.hybrid.pairs`)."""
        return (self.size - 1).bit_length()

    @property
    def least(self) -> int:
        """The least count for which the keys of a bucket share at least `slot_bits` highest bits."""
        return self.limit << max(self.slot_bits - 1, 0)

    @property
    def start(self) -> int:
        """Count above which buckets are tried."""
        return self.least if self.above is None else self.above


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPartition(Tiles):
    """Tiles of 32-bit keys with values of 4 bytes, for small counts.

    A single launch stores each key, together with its index, in the key's bucket.

    above: the count above which pairs are partitioned.
    bins: the bins by which a bucket of these pairs is sorted, as in `Bucket`.
    """

    above: int
    bins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The scratch that buckets need.

    regions: (name, number of words, meaning) of each region of fixed size, in order.
    mean: the greatest mean number of keys per bucket of keys without values; None if there are no such buckets.
    pieces: the greatest mean number of keys per bucket, and the greatest count for which buckets are tried; None unless
    large buckets are cut into pieces.
    """

    regions: tuple[tuple[str, int, str], ...]
    mean: int | None
    pieces: tuple[int, int] | None


def _fields(name: str, summary: str, **more: Field) -> dict[str, Field]:
    """Return the keys of a stage's target table: `work_group`, `items` and `more`; each hint begins with `summary`."""
    keys = {"work_group": LANES, "items": ITEMS, **more}
    return {f"{name}.{key}": replace(field, hint=f"{summary}: {field.hint}") for key, field in keys.items()}


ABOVE = Field("int", "the count above which the stage is used", least=1)
PARTITION = _fields("partition", "keys alone, partitioned by their highest digits into buckets", above=ABOVE)
BUCKET = _fields("bucket", "buckets of keys alone", bins=BINS)
COUNTING = _fields(
    "counting",
    "buckets with 64-bit indices",
    bits=Field("int", "the lowest bits by which keys are counted", least=1, greatest=16),
)
PAIR_BUCKET = _fields(
    "pair_bucket",
    "buckets of keys with values of 4 bytes",
    bins=BINS,
    above=Field("int", "the count above which buckets are tried, if not the least possible", required=False, least=1),
    mean=Field("int", "the mean number of pairs, at most, if not 13/16 of the size", required=False, least=1),
)
PAIR_PARTITION = _fields("pair_partition", "few pairs, partitioned into buckets by one launch", above=ABOVE, bins=BINS)
UNEVEN = _fields("uneven", "tiles of the passes over uneven keys")
FIELDS: Mapping[str, Field] = {**PARTITION, **BUCKET, **COUNTING, **PAIR_BUCKET, **PAIR_PARTITION, **UNEVEN}
"""The keys of the target tables of all stages, as "stage.key"."""


T = TypeVar("T")


def present(stage: T | None) -> T:
    """Return a stage that the caller knows to be present."""
    assert stage is not None
    return stage
