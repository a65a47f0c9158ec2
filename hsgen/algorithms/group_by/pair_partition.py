"""Group-by of 32-bit keys with 32-bit values, for reductions that do not depend on the order of values.

A stable sort keeps equal keys in their order, so each tile waits for earlier tiles.  If the order of values does not
matter, no tile needs to wait.  A work-group reserves space in a bucket by an atomic addition.  Then it stores the pairs
of a tile there in any order.  The bucket number of a key consists of the highest bits in which the sampled keys differ.
As many bits are used as are needed to keep buckets small.

The first launch counts the pairs of all buckets.  Then pairs are partitioned by a first digit, the upper bits of the
bucket number.  The next step depends on the sample.  If it has enough equal keys, hash tables on chip follow: a
work-group reduces the pairs of one value of the first digit.  Otherwise a second digit partitions the pairs into
buckets, each bucket is sorted on chip, and a reduction by key follows.  If keys are too uneven for tables and buckets,
one launch sorts them by passes over all digits.
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
"""What follows the partition, as stored in `Words.way`.

`SORTED`: the target's sort.  `TABLES`: a hash table for each value of the first digit.  `BUCKETS`: buckets that are
sorted on chip.
"""
LEAST = 8
"""The least number of bits in the first digit."""
SHARE = 64
"""Tables are not used if one value of the first digit has more than 1/`SHARE` of the keys: the work-group that reduces
this value would run much longer than the others.
"""
_LOCAL = 160 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Digits:
    """The widths of a bucket number and of its first digit.

    bits: the most bits of a bucket number.  A work-group has a counter on chip for each bucket.
    first: the most bits of the first digit.
    least: the least bits of the first digit.
    """

    bits: int = 15
    first: int = 11
    least: int = LEAST


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Tiles):
    """A hash table on chip that holds the pairs of one value of the first digit.

    A work-group adds `size` pairs to the table at once.

    slots: the slots of the table, a power of two.
    """

    slots: int

    @property
    def groups(self) -> int:
        """The greatest number of groups that a table holds: two thirds of its slots."""
        return 2 * self.slots // 3

    @property
    def places(self) -> int:
        """The number of bins of the sort that orders the groups of a table."""
        return max(self.slots // 4, self.work_group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The number of sampled keys: `fewer` for up to `above` pairs, and `keys` for more pairs."""

    keys: int = 8192
    fewer: int = 2048
    above: int = 1 << 22


_COUNT, _DEAL, _AGAIN = (Tiles(work_group=n, items=x) for n, x in ((1024, 8), (1024, 16), (512, 16)))
_BUCKET, _TABLE = Bucket(work_group=512, items=10, bins=4096), Table(work_group=512, items=8, slots=8192)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes of the kernels that partition pairs.

    count: the tile of the kernel that counts the pairs of buckets.
    deal: the tile of the partition by the first digit.
    again: the tile of the partition by the second digit.
    bucket: the bucket that a work-group sorts on chip.
    table: the hash table for one value of the first digit.
    digits: the widths of a bucket number and of its first digit.
    sample: the number of sampled keys.
    cores: the number of cores of the device.
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
        """The greatest count at which the mean bucket still fits on chip."""
        return self.bucket.limit << self.digits.bits

    def equal(self, bits: int, sample: int) -> int:
        """Return the expected number of repeated keys in a sample, if groups fill a quarter of each table's slots.

        With the widest first digit, groups may fill half of the slots.  Fewer repeated keys mean that groups need more
        slots than this, so tables are not used.
        bits: the bits of the first digit.
        sample: the number of sampled keys.
        """
        used = 2 if bits == self.digits.first else 4
        return max(2, used * sample**2 // (2 * self.table.slots << bits))


def shape(key: KeyType, signature: Signature, device: Device) -> Shape | None:
    """Return the sizes of the kernels for a device; None if pairs are not partitioned.

    Pairs are partitioned only if keys and values have 4 bytes each.  The device must guarantee forward progress and
    have a known number of cores.  Work-groups must be able to have 1024 lanes, and 160 KiB of local memory on chip.
    """
    fits = device.local == "chip" and device.local_bytes >= _LOCAL and device.work_group >= 1024
    served = key.bytes == 4 and signature.value_bytes == 4
    return Shape(cores=device.cores) if served and fits and device.promised and device.cores else None


def sampling(tables: Few, pair_partition: Shape | None) -> Few:
    """Return the tables of few groups; if pairs may be partitioned, with a sample that is large enough for that too."""
    return replace(tables, sample=pair_partition.sample.keys) if pair_partition else tables


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPartition:
    """The parameters of the kernels that partition pairs.

    few: the tables of few groups, whose kernels run before these kernels.
    above: for more than `above` keys, pairs that tables cannot hold are partitioned into buckets.  Up to `above`, the
    target's sort sorts them instead.
    rest: the passes, in one launch, that sort pairs which buckets cannot hold.  None if the target's sort has no such
    passes; there are no buckets then.
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
        """Always true: only keys with values are partitioned."""
        return True

    @property
    def bucketed(self) -> bool:
        """Whether pairs are partitioned into buckets at any count."""
        return self.rest is not None and self.above < self.shape.most


def following(
    tables: Few | None, pair_partition: Shape | None, kernels: tuple[Kernel, ...], sort: Plan
) -> PairPartition | None:
    """Return the parameters of the partition before a sort with `kernels`; None if pairs are not partitioned."""
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
    """The parameters of the passes in one launch; their tiles are those of the hybrid sort's fallback."""
    return recast(sort, Partition, bucket=None, begin=0, end=None, single=None, groups=2 * shape.cores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A tile that a work-group partitions at once: `items` pairs for each of its lanes.

    digits: the greatest number of digit values.
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

    digit_bits: one word.
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
    """The regions of the buffer `deals`."""
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
    """Return the number of words of the buffer `deals`."""
    last = _deals(p)["bucket_counts"]
    return last.start + last.size


def rest_words(p: Partition) -> int:
    """Return the number of words that must be 0 before the passes in one launch run."""
    return passes_words(p).bucket_starts.start
