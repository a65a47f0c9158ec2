"""The parameters of partitions and of bucket sorts on chip, by which radix sorts replace passes.

Each class describes one inline table of a target file: ``bucket = { work_group = 256, items = 20, bins = 4096 }``.
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
    """The size of tiles: `work_group` lanes with `items` keys each."""

    work_group: int
    items: int

    @property
    def size(self) -> int:
        """The number of keys of a full tile; if work-groups sort buckets, the most keys that a bucket may have."""
        return self.work_group * self.items


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(Tiles):
    """The tiles of the two partitions, which bring keys without values into buckets by their highest digits.

    above: the sort partitions arrays of more than this many keys.
    """

    above: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket(Tiles):
    """The bucket sort of keys without values: one work-group sorts a bucket on chip, by bins.

    The module `hsgen.algorithms.radix.bin_sort` describes the sort by bins.
    bins: the number of bins, each a counter in local memory; best about `work_group` x `items`.
    """

    bins: int

    @property
    def limit(self) -> int:
        """The greatest mean number of keys per bucket, 13/16 of `size`.

        The sort makes so many buckets that the mean does not exceed this number.  With uniform keys, hardly any bucket
        then has more than `size` keys.
        """
        return 13 * self.size // 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting(Tiles):
    """The bucket sort by counting, for keys without values in kernels with 64-bit indices.

    The keys of a bucket differ only in their lowest `bits` bits.  A work-group counts how often each value of these
    bits occurs.  From the counts alone, the work-group then writes the sorted keys, `work_group` x `items` keys at a
    time.
    """

    bits: int

    @property
    def words(self) -> int:
        """Number of 32-bit words of local memory for the 2^`bits` counters; a word holds two counters."""
        return 1 << self.bits - 1

    @property
    def words_of_lane(self) -> int:
        """Number of adjacent words of counters that each lane sums up for the prefix sum over all counters."""
        return self.words // self.work_group

    @property
    def long_run(self) -> int:
        """The number of equal keys above which 32 lanes write a run of them, instead of one lane."""
        return 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PairBucket(Bucket):
    """The bucket sort of pairs (keys with values of 4 bytes), after two stable passes by the two highest digits.

    above: the sort uses buckets for more than this many pairs; None means `least`.
    mean: the greatest mean number of pairs per bucket, as in `Bucket.limit`; None means 13/16 of `size`.
    """

    above: int | None = None
    mean: int | None = None

    @property
    def limit(self) -> int:
        """The greatest mean number of pairs per bucket: `mean`, or 13/16 of `size`."""
        return super(PairBucket, self).limit if self.mean is None else self.mean

    @property
    def slot_bits(self) -> int:
        """Number of bits of a slot, which is the position of a pair in its bucket before the bucket sort."""
        return (self.size - 1).bit_length()

    @property
    def least(self) -> int:
        """The least value of `above`.

        The more pairs are sorted, the more buckets there are, and the more highest bits the keys of a bucket share.  If
        more than `least` pairs are sorted, these are at least `slot_bits` bits, which the bucket sort replaces by the
        slot (`hsgen.algorithms.radix.hybrid.pairs`).
        """
        return self.limit << max(self.slot_bits - 1, 0)

    @property
    def start(self) -> int:
        """The number of pairs above which the sort uses buckets: `above`, or `least`."""
        return self.least if self.above is None else self.above


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPartition(Tiles):
    """The tiles of the partition of small counts of pairs: 32-bit keys with values of 4 bytes.

    A single launch, instead of two passes, stores each key in its bucket, together with the index of the key.

    above: the sort partitions more than this many pairs, up to `PairBucket.start` pairs.
    bins: the number of bins with which a work-group then sorts a bucket, as in `Bucket`.
    """

    above: int
    bins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The scratch that a sort with buckets needs in addition to the scratch of its passes.

    regions: the (name, number of words, meaning) of each region of fixed size, in the order in scratch.
    mean: `Bucket.limit`, which determines the size of the list of buckets; None if keys without values have no buckets.
    bucket_bytes: the bytes that starts, cursors and list entries of buckets take for every `mean` keys.
    pieces: the greatest mean number of keys per bucket, and the greatest count that buckets sort.  Both determine the
    size of the list of pieces.  None unless large buckets are cut into pieces.
    """

    regions: tuple[tuple[str, int, str], ...]
    mean: int | None
    bucket_bytes: int
    pieces: tuple[int, int] | None


def _fields(name: str, summary: str, **more: Field) -> dict[str, Field]:
    """Return the keys of the inline table `name`: `work_group`, `items`, and those in `more`.

    The hint of each key, which error messages show, begins with `summary`.
    """
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
"""The keys of the inline tables of all stages, such as "bucket.items"."""


T = TypeVar("T")


def present(stage: T | None) -> T:
    """Return `stage`, which the caller knows not to be None."""
    assert stage is not None
    return stage
