"""Group-by of 32-bit keys with 32-bit values, for reductions that do not depend on the order of values.

A stable sort keeps equal keys in their order, so a tile waits for earlier tiles.  If the order of values does not
matter, no tile needs to wait: a work-group reserves space in each bucket by an atomic addition, and stores the pairs of
its tile there in any order.  A *bucket* has the pairs (keys with values) whose keys share the *bucket number*.  The
bucket number consists of adjacent bits of the key, from the highest bit down in which the keys of a sample differ.  The
number has just enough bits to keep buckets small.

The first launch counts the pairs of all buckets.  The next launch partitions the pairs by the *first digit*, the upper
bits of the bucket number.  What follows depends on the sample:
- If the sample has enough equal keys, a hash table on chip replaces the sort.  Each work-group reduces the pairs with
  one value of the first digit.
- Otherwise, the next launch partitions the pairs into buckets by the *second digit*, the lower bits of the bucket
  number.  Work-groups sort each bucket on chip, and a reduction by key follows.
- If a bucket would get more pairs than a work-group holds, one launch sorts the pairs by passes over all digits.  The
  reduction by key follows.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from hsgen.algorithms.group_by import few
from hsgen.algorithms.group_by.few import Few
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.partition.params import Partition
from hsgen.algorithms.radix.partition.params import words as passes_words
from hsgen.algorithms.radix.stages import Bucket, Tiles
from hsgen.algorithms.radix.tile import recast
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType, Signature
from hsgen.core.plan import Plan
from hsgen.core.regions import Region, placed

SORTED, TABLES, BUCKETS = 0, 1, 2
"""The values of the word `way` in scratch, by which a kernel decides how the next kernels reduce the pairs.

`SORTED`: by a sort and the reduction by key, without a partition.  `TABLES`: in a hash table for each value of the
first digit.  `BUCKETS`: by bucket sorts on chip and the reduction by key.
"""
LEAST = 8
"""The least number of bits in the first digit."""
SHARE = 64
"""Hash tables are not used if more than 1/`SHARE` of the keys have the same first digit.

The work-group that reduces the pairs with this digit would run much longer than all others.
"""
_LOCAL = 160 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Digits:
    """The widths of the bucket number and of the first digit, in bits.

    bits: the greatest width of the bucket number.  A work-group that counts the pairs of buckets has a counter on chip
    for each bucket.
    first: the greatest width of the first digit.
    least: the least width of the first digit.
    """

    bits: int = 15
    first: int = 11
    least: int = LEAST


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Tiles):
    """The sizes of hash tables on chip, each for the pairs with one value of the first digit.

    A work-group adds `size` = `work_group` x `items` pairs to its table at a time.

    slots: the number of slots of a table, a power of two.
    """

    slots: int

    @property
    def groups(self) -> int:
        """The greatest number of groups that a table holds: two thirds of its slots."""
        return 2 * self.slots // 3

    @property
    def places(self) -> int:
        """The number of bins of the sort by bins that orders the groups of a table."""
        return max(self.slots // 4, self.work_group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The number of keys in the sample: `fewer` if there are up to `above` pairs, `keys` if there are more pairs."""

    keys: int = 8192
    fewer: int = 2048
    above: int = 1 << 22


_COUNT, _DEAL, _AGAIN = (Tiles(work_group=n, items=x) for n, x in ((1024, 8), (1024, 16), (512, 16)))
_BUCKET, _TABLE = Bucket(work_group=512, items=10, bins=4096), Table(work_group=512, items=8, slots=8192)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes of the kernels that partition pairs.

    count: the tiles of the kernel that counts the pairs of each bucket.
    deal: the tiles of the partition by the first digit.
    again: the tiles of the partition by the second digit.
    bucket: the parameters of the bucket sort.
    table: the sizes of the hash tables.
    digits: the widths of the bucket number and of the first digit.
    sample: the number of keys of the sample.
    cores: the number of cores of the device, which determines the number of work-groups of some launches.
    """

    count: Tiles = _COUNT
    deal: Tiles = _DEAL
    again: Tiles = _AGAIN
    bucket: Bucket = _BUCKET
    table: Table = _TABLE
    digits: Digits = Digits()
    sample: Sample = Sample()
    cores: int

    @property
    def most(self) -> int:
        """The greatest count of pairs that are partitioned; with more, 2^`digits.bits` buckets would be too large."""
        return self.bucket.limit << self.digits.bits

    def equal(self, bits: int, sample: int) -> int:
        """Return the least number of repeated keys in a sample for which hash tables are used.

        A sample has about as many repeated keys if groups fill a quarter of all slots; with the widest first digit, if
        groups fill half of all slots.  Fewer repeated keys mean more groups, which would fill more slots.
        bits: the number of bits of the first digit.
        sample: the number of keys of the sample.
        """
        used = 2 if bits == self.digits.first else 4
        return max(2, used * sample**2 // (2 * self.table.slots << bits))


def shape(key: KeyType, signature: Signature, device: Device) -> Shape | None:
    """Return the sizes of the kernels for a device; None if pairs are not partitioned.

    Pairs are partitioned only if keys and values have 4 bytes each.  The number of cores must be known.  The device
    must guarantee forward progress, and allow work-groups of 1024 lanes with 160 KiB of local memory on chip.
    """
    fits = device.local == "chip" and device.local_bytes >= _LOCAL and device.work_group >= 1024
    served = key.bytes == 4 and signature.value_bytes == 4
    return Shape(cores=device.cores) if served and fits and device.promised and device.cores else None


def sampling(tables: Few, pair_partition: Shape | None) -> Few:
    """Return the sizes of the hash tables for few groups; the sample is larger if pairs may be partitioned."""
    return replace(tables, sample=pair_partition.sample.keys) if pair_partition else tables


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPartition:
    """The parameters of the kernels that partition pairs.

    shape: the sizes of these kernels.
    few: the sizes of the hash tables for few groups, whose kernels run before these kernels.
    above: the count above which pairs may be partitioned into buckets.  Up to `above`, the target's sort runs instead.
    rest: the parameters of the launch that sorts the pairs by passes over all digits if a bucket is too large.  None if
    the target's sort has no buckets of pairs; pairs are then never partitioned into buckets.
    subgroup: the subgroup width for prefix sums.
    """

    key: KeyType
    signature: Signature
    shape: Shape
    few: Few
    above: int
    rest: Partition | None
    subgroup: int

    @property
    def valued(self) -> bool:
        """True, because only keys with values are partitioned."""
        return True

    @property
    def bucketed(self) -> bool:
        """Whether pairs are partitioned into buckets, for some counts."""
        return self.rest is not None and self.above < self.shape.most


def following(
    tables: Few | None, pair_partition: Shape | None, kernels: tuple[Kernel, ...], sort: Plan
) -> PairPartition | None:
    """Return the parameters of the pair partition that precedes a sort; None if pairs are not partitioned.

    tables, pair_partition: `Params.few` and `Params.pair_partition` of the group-by.
    kernels, sort: the kernels and the plan of the target's sort.
    """
    waiting = [k for k in kernels if k.cooperative]
    many = next((k.params for k in kernels if isinstance(k.params, Hybrid) and k.params.has_pair_buckets), None)
    sorter: Any = many or next((k.params for k in waiting), None)
    if tables is None or pair_partition is None or sorter is None:
        return None
    names = {k.name for k in waiting}
    alone = max((s.guard.max_n for s in sort.steps if s.kernel in names), default=0)
    return PairPartition(
        key=sorter.key,
        signature=sorter.signature,
        shape=pair_partition,
        few=tables,
        above=max(tables.least, alone),
        rest=_rest(many, pair_partition) if many else None,
        subgroup=sorter.subgroup,
    )


def _rest(sort: Hybrid, shape: Shape) -> Partition:
    """Return the parameters of the passes in one launch, with the tiles of the hybrid sort's fallback."""
    return recast(sort, Partition, bucket=None, begin=0, end=None, single=None, groups=2 * shape.cores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """The tile of a kernel that partitions: each of `lanes` lanes has `items` pairs.

    digits: the greatest number of values of the digit.
    """

    lanes: int
    items: int
    digits: int

    @property
    def pairs(self) -> int:
        """The number of pairs in a tile."""
        return self.lanes * self.items


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(few.Words):
    """The regions of the buffers `few` and `deals`, for V values of the first digit and B buckets.

    `_deals` says what each region of the buffer `deals` holds.

    digit_bits: 1 word.
    value_starts: V + 1 words.
    value_cursors: V words.
    value_tiles: V + 1 words.
    bucket_counts: B words.
    """

    digit_bits: Region
    value_starts: Region
    value_cursors: Region
    value_tiles: Region
    bucket_counts: Region


def _deals(p: Shape) -> dict[str, Region]:
    """Return the regions of the buffer `deals`."""
    values = 1 << p.digits.first
    bits = placed((("digit_bits", 1, "of deals[]: the bits of the first digit"),))
    sizes = (
        ("value_starts", values + 1, "of deals[]: of each value of the first digit: its first pair; then the count"),
        ("value_cursors", values, "of deals[]: where the next pair of each value goes"),
        ("value_tiles", values + 1, "of deals[]: the first tile of each value by the second digit; then their number"),
        (
            "bucket_counts",
            1 << p.digits.bits,
            "of deals[]: the pairs of each bucket; then where its next pair goes, at last its end",
        ),
    )
    return bits | placed(sizes, 8)


def words(p: Shape, few_shape: Few) -> Words:
    """Return the layout of the buffers `few` and `deals`."""
    table = few.words(few_shape)
    return Words(**{f.name: getattr(table, f.name) for f in fields(table)}, **_deals(p))


def words_count(p: Shape) -> int:
    """Return the number of 32-bit words of the buffer `deals`."""
    last = _deals(p)["bucket_counts"]
    return last.start + last.size


def rest_words(p: Partition) -> int:
    """Return the number of words of scratch that must be 0 before the launch of all passes."""
    return passes_words(p).bucket_starts.start
