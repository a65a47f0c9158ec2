"""The stage for small counts of pairs (32-bit keys with values of 4 bytes): one launch brings pairs into buckets.

The launch, a partition, replaces the two stable passes of `pair_buckets`.  In the partition, no work-group waits for
another, and pairs reach their buckets in any order.  The partition moves each key together with its index in the
source, not with its value.  A work-group sorts a bucket on chip by key and, among equal keys, by index, so the sort is
stable.  The work-group then loads the values by their indices.  If a bucket would get more pairs than a work-group
holds, the fallback sorts all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE, VALUES_IN, VALUES_OUT, word_array
from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bin_sort, bucket_shape, stages
from hsgen.algorithms.radix.bin_sort import Crowd, OnChip, StableBinSort
from hsgen.algorithms.radix.hybrid import pairs
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.hybrid.stage import Span, Stage, launched
from hsgen.algorithms.radix.parts import WORDS, Body, sums
from hsgen.algorithms.radix.rows import BOUND, launch
from hsgen.algorithms.radix.stages import Bucket, PairBucket, present
from hsgen.algorithms.radix.words import OTHER, words, words_binding
from hsgen.core.buffers import Array, Buffer
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.keys import Signature
from hsgen.core.plan import Grid, Step, fixed

PAIRS = Buffer(name="pairs", type="pair")  # in scratch, in the place of the second buffers of keys and values
_READ = replace(PAIRS, read_only=True)


def tile(p: Hybrid) -> int:
    """Return the number of pairs of a tile, which a work-group partitions at once."""
    return present(p.pair_partition).size


def least(p: Hybrid) -> int:
    """Return the count above which pairs are partitioned."""
    return max(present(p.pair_partition).above, p.alone)


def most(p: Hybrid) -> int:
    """Return the greatest count of pairs that are partitioned.  For more pairs, two passes precede the buckets."""
    return pairs.least(p)


@dataclass(frozen=True, slots=True)
class PairPartition(Stage):
    """The stage that partitions small counts of pairs into buckets in one launch, and sorts each bucket on chip.

    The parameters of the partition are `p.pair_partition`.  The bucket sort has the lanes and the items of
    `p.pair_bucket`.
    """

    @property
    def span(self) -> tuple[int, int]:
        """(low, high): pairs are partitioned for counts above `low` up to `high`."""
        return least(self.p), most(self.p)

    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels in the order of their launches."""
        return (begin(self.p), histogram(self.p), partition(self.p), bucket(self.p))

    def steps(self) -> list[Step]:
        """Return the plan rows of this stage.

        The first row runs in every sort.  Its kernel sets the status (`hsgen.algorithms.radix.hybrid.pairs.Status`) to
        `fallback`.  The kernel that partitions the pairs changes the status to `partitioned`.  The other rows run only
        in out-of-place sorts by all bits: in place, the sort of a bucket would overwrite values that the sort of
        another bucket has yet to read.
        """
        p, (low, high) = self.p, self.span
        bound = {**BOUND, PAIRS.name: OTHER, "words": words_binding(p)}
        tiles = [(0, high, Grid(add=tile(p) - 1, div=tile(p)))]
        rows = [launch(begin(p), bound, low, high, fixed(1))]
        for kernel, grids in ((histogram(p), tiles), (partition(p), tiles), (bucket(p), self._bucket_grids())):
            rows += launched(kernel, bound, grids, low, high, place="out")
        return rows

    def _bucket_grids(self) -> list[Span]:
        """Return the grids of the bucket sort: one grid for each number of buckets, as in `stage.numbered`."""
        p, limit = self.p, pairs.limit(self.p)
        if p.signature.device_count:
            return [(0, most(p), Grid(add=-1, div=limit, mul=2, cap=p.pair_partition_radix))]
        bits = range(1, p.pair_partition_radix.bit_length())
        return [(limit << b - 1 if b > 1 else 0, limit << b, fixed(1 << b)) for b in bits]

    def moved(self, step: Step, n: int) -> int | None:
        """Return the bytes that a launch moves for `n` pairs if every bucket fits a work-group; 0 for a launch of the
        fallback, which then does not run.
        """
        if not self.serves(n):
            return None
        p = self.p
        read, index, table = n * p.key.bytes, 4 * n, 4 * p.pair_partition_radix
        value = 0 if p.signature.index else p.signature.value_bytes
        bytes_of = {
            "pair_partition_begin": 2 * table,
            "pair_partition_histogram": read + table,
            "pair_partition": 2 * read + index + 2 * table,
            "pair_partition_bucket": 2 * read + index + n * (value + p.signature.value_bytes) + table,
        }
        return bytes_of.get(step.kernel, 0)

    def test_counts(self) -> Iterator[int]:
        """Yield the count above which pairs are partitioned, and further counts for which the stage runs.

        These are the counts above which there are twice as many buckets, and those of 1, 2 and 3 full tiles.
        """
        p = self.p
        yield least(p)
        doubled = (pairs.limit(p) << b for b in range(p.pair_partition_radix.bit_length()))
        yield from (n for n in (*doubled, *(tile(p) * k for k in (1, 2, 3))) if self.serves(n))

    def problems(self, device: Device) -> Iterator[Problem]:
        """Yield the problems of `p.pair_partition` on a device, if `p.pair_bucket` has no problem."""
        p, tiles, bucket = self.p, self.p.pair_partition, self.p.pair_bucket
        if tiles is None:
            return
        if p.key.bytes != 4:
            problem = f"keys of {p.key.bits} bits and indices exceed the scratch"
            yield "pair_partition", problem, "leave it out"
        elif bucket is None:
            yield "pair_partition", "there are no buckets of pairs", "leave it out, or give pair_bucket"
        elif not p.waitless:
            problem = "what buckets do not hold is left to passes that count"
            yield "pair_partition", problem, 'leave it out, or give fallback = "reduce_scan"'
        else:
            sizes = [*bucket_shape.problems(tiles, p.subgroup, device, "pair_partition"), *_bins(tiles, bucket)]
            yield from sizes or _sizes(p, tiles, bucket, device)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases(Body):
    """The choice of code for the phases of this stage's kernels (see `hsgen.algorithms.radix.phases`).

    buckets: how a kernel computes the number of highest bits that the keys of a bucket share.
    """

    buckets: str = "radix/hybrid/variants.j2:pairs"


def _partition(
    p: Hybrid, name: str, macro: str, summary: str, buffers: tuple[Buffer, ...], *arrays: Array, sums: bool = False
) -> Kernel:
    """Return a kernel whose template is the macro `macro` of pair_partition.j2.

    sums: whether the lanes of the kernel compute prefix sums, by subgroup operations.
    """
    lanes, template = present(p.pair_partition).work_group, f"radix/hybrid/pair_partition:{macro}"
    return replace(_kernel(p, name, summary, buffers, arrays, lanes, template=template, sums=sums), data=Phases())


def begin(p: Hybrid) -> Kernel:
    """Return the kernel that clears the histogram of the buckets."""
    return _partition(p, "pair_partition_begin", "begin", "clear the histogram of buckets", (WORDS,))


def histogram(p: Hybrid) -> Kernel:
    """Return the kernel that counts the pairs of each bucket."""
    counts = word_array("counts", p.pair_partition_radix)
    return _partition(
        p, "pair_partition_histogram", "histogram", "count the highest bits of the keys", (SOURCE, WORDS), counts
    )


def partition(p: Hybrid) -> Kernel:
    """Return the kernel that stores each key, together with its index, to the key's bucket."""
    lanes = sums(present(p.pair_partition).work_group, p.subgroup)
    arrays = (
        word_array("counts", p.pair_partition_radix),
        word_array("bases", p.pair_partition_radix),
        *lanes,
        word_array("full", 4),
    )
    summary, buffers = "partition keys and indices by the highest bits of the keys", (SOURCE, PAIRS, WORDS)
    return _partition(p, "pair_partition", "partition", summary, buffers, *arrays, sums=True)


def bucket(p: Hybrid) -> Kernel:
    """Return the kernel that sorts each bucket, with the lanes and the items of `p.pair_bucket`.

    If a bin has more keys than an eighth of the capacity of a bucket, the kernel sorts the bucket by a bitonic network.
    The network is faster than a comparison of all keys in the bin with each other.
    """
    pair_bucket, room = present(p.pair_bucket), pairs.capacity(p)
    shape = Bucket(work_group=pair_bucket.work_group, items=pair_bucket.items, bins=present(p.pair_partition).bins)
    keys = Array(name="tile", type="key", count=room), word_array("order", room)
    values = (VALUES_OUT, *(() if p.signature.index else (VALUES_IN,)))
    buffers, arrays = (_READ, DESTINATION, WORDS, *values), (*keys, *bin_sort.arrays(shape, p.subgroup))
    summary = f"sort a bucket of up to {room} partitioned pairs on chip"
    name, template = "pair_partition_bucket", "radix/hybrid/pair_partition_bucket:bucket"
    kernel = _kernel(p, name, summary, buffers, arrays, shape.work_group, template=template, sums=True)
    bins = StableBinSort(shape=shape, subgroup=p.subgroup, key=p.key, shift="given", crowd=Crowd(limit=room // 8))
    return bin_sort.with_room(replace(kernel, data=OnChip(bins=bins)))


def _kernel(
    p: Hybrid,
    name: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...],
    lanes: int,
    *,
    template: str,
    sums: bool,
) -> Kernel:
    """Return a kernel of this stage; its work-groups have `lanes` lanes.

    sums: whether the lanes compute prefix sums, by subgroup operations.
    """
    return Kernel(
        name=name,
        template=template,
        summary=summary,
        work_group=lanes,
        subgroup=p.subgroup if sums else 1,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        scratch=words(p),
    )


def _bins(tiles: stages.PairPartition, bucket: PairBucket) -> Iterator[Problem]:
    """Yield the problems of `pair_partition.bins`: every lane of a work-group must scan the same number of bins."""
    if tiles.bins % bucket.work_group or tiles.bins & tiles.bins - 1 or tiles.bins > 65536:
        problem = f"{tiles.bins} bins are no power of two that {bucket.work_group} lanes share out"
        yield "pair_partition.bins", problem, "give a multiple of these lanes, up to 65536"


def _sizes(p: Hybrid, tiles: stages.PairPartition, bucket: PairBucket, device: Device) -> Iterator[Problem]:
    shape = replace(p, signature=Signature(value="v4"))
    *_, partition_bytes, bucket_bytes = (k.local_bytes(p.key) for k in PairPartition(shape).kernels())
    if tiles.above >= bucket.start:
        problem = f"passes are ahead of buckets from {bucket.start + 1} pairs on"
        yield "pair_partition.above", problem, "give less, or leave it out"
    elif bucket_bytes > device.local_bytes:
        problem = f"a bucket takes {bucket_bytes} bytes of local memory, the device has {device.local_bytes}"
        yield "pair_partition.bins", problem, "give fewer"
    elif partition_bytes > device.local_bytes:
        problem = f"{shape.pair_partition_radix} buckets take {partition_bytes} bytes of local memory to count"
        more = f"the device has {device.local_bytes}"
        yield "pair_bucket.above", f"{problem}, {more}", "give less, or larger buckets"
