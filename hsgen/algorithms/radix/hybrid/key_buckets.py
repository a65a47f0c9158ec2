"""The stage for keys without values: two partitions bring keys into buckets, then a work-group sorts each bucket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bucket_shape
from hsgen.algorithms.radix.hybrid import buckets, partition
from hsgen.algorithms.radix.hybrid.params import DIGIT
from hsgen.algorithms.radix.hybrid.stage import Span, Stage, launched, numbered
from hsgen.algorithms.radix.rankers import rank_arrays
from hsgen.algorithms.radix.rows import BOUND, launch
from hsgen.algorithms.radix.stages import Bucket, Partition
from hsgen.algorithms.radix.words import OTHER, words_binding
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.plan import BitRange, Grid, Step, fixed


@dataclass(frozen=True, slots=True)
class KeyBuckets(Stage):
    """The stage that partitions keys without values into buckets and sorts each bucket on chip.

    Its parameters are `p.partition`, `p.bucket` and `p.counting`.
    """

    @property
    def span(self) -> tuple[int, int]:
        """(low, high): buckets are tried for counts above `low` up to `high`."""
        return buckets.least(self.p), buckets.most(self.p)

    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels in the order of their launches."""
        return (*partition.kernels(self.p), *self._buckets())

    def _buckets(self) -> tuple[Kernel, ...]:
        """Return the kernel that sorts buckets and, in some sorts, a second kernel for buckets with crowded bins.

        There is no second kernel with `p.counted` or `p.pieces`.
        """
        return buckets.kernels(self.p, rank_arrays(buckets.rest(self.p)))

    def steps(self, high: int) -> list[Step]:
        """Return the plan rows of this stage, for counts of `span` up to `high`, in sorts by all bits."""
        p = self.p
        bound = {**BOUND, partition.PARTITIONED.name: OTHER, "words": words_binding(p)}
        low, high = self.span[0], min(high, self.span[1])

        def rows(kernel: Kernel, *grids: Span) -> list[Step]:
            return launched(kernel, bound, grids or [(0, high, fixed(1))], low, high)

        def grid(grid: Grid) -> Span:
            return (0, high, grid)

        first = partition.begin(p)
        if not p.looks_back and p.signature.bit_range:
            # this row also runs if a call sorts by a bit range: the kernel then sets flags so that all passes run
            launches = [launch(first, bound, low, high, fixed(1), BitRange())]
        else:
            launches = rows(first)
        tile, more = buckets.tile(p), 1 if p.pieces else 0
        # the keys with one value of the first digit have tiles of their own, of which the last may be partial
        second = grid(Grid(add=p.partition_radix * tile, div=tile))
        launches += rows(
            partition.histogram(p), grid(Grid(add=(more + 1) * tile - 1, div=tile, cap=buckets.groups(p) + more))
        )
        launches += rows(partition.starts(p))
        launches += rows(partition.first(p), grid(Grid(add=tile - 1, div=tile)))
        launches += rows(partition.second_histogram(p), second)
        launches += rows(partition.bucket_starts(p), grid(fixed(p.partition_radix)))
        launches += rows(partition.second(p), second)
        for kernel, grids in zip(self._buckets(), self._bucket_grids(), strict=False):
            launches += rows(kernel, *grids)
        return launches

    def _bucket_grids(self) -> list[list[Span]]:
        """Return the grids of the kernels that sort buckets: a list of grids for each kernel.

        The first kernel has one grid for each number of buckets, so that every work-group has a bucket.  A work-group
        without a bucket takes 2.4 ns, which matters because the sort of a bucket is short.  If a sample has doubled the
        number of buckets, each work-group sorts two.
        """
        p, most = self.p, self.span[1]
        if p.counted:
            return [[(0, most, fixed(1 << buckets.shared(p)))]]
        sort = numbered(buckets.limit(p), 2 * p.partition_bits, device_count=p.signature.device_count)
        return [sort, [(0, most, Grid(add=-1, div=buckets.limit(p), mul=2, cap=buckets.groups(p)))]]

    def moved(self, step: Step, n: int) -> int | None:
        """Return the bytes that a launch moves for `n` keys, if every bucket fits a work-group; 0 for the fallback."""
        p = self.p
        read, count = n * p.key.bytes, 1 << sum(buckets.widths(p, n)) if n > buckets.limit(p) else 1
        bytes_of = {
            "partition_begin": 4 * p.partition_radix,
            "first_histogram": read + 4 * count,
            "first_starts": 16 * p.partition_radix,
            "first_partition": 2 * read,
            "second_histogram": read + 4 * count,
            "second_starts": 12 * count,
            "second_partition": 2 * read,
            "bucket": 2 * read + 4 * count,
            "bucket_count": 2 * read + 4 * count,
            "bucket_rest": 0,
        }
        known = {name + buckets.suffix(p): size for name, size in bytes_of.items()}
        return known.get(step.kernel, 0 if self.serves(n) else None)

    def test_counts(self) -> Iterator[int]:
        """Yield the count above which buckets are tried, and the counts above which there are twice as many buckets."""
        least, limit = self.span[0], buckets.limit(self.p)
        yield least
        yield from (limit << bits for bits in range(2 * self.p.partition_bits + 1) if limit << bits > least)

    def problems(self, device: Device) -> Iterator[Problem]:
        """Yield the problems of `p.partition`, `p.bucket` and `p.counting` on a device."""
        p, tiles, bucket = self.p, self.p.partition, self.p.bucket
        if tiles is None or bucket is None:
            lone = "partition" if tiles else "bucket" if bucket else "counting" if p.counting else ""
            partner = "partition" if bucket else "bucket"
            if lone:
                yield lone, f"there is no {partner} of keys alone", f"give {partner} too, or leave it out"
            return
        shapes = [*bucket_shape.problems(tiles, p.subgroup, device, "partition")]
        shapes += bucket_shape.problems(bucket, p.subgroup, device, "bucket", bucket.bins)
        yield from shapes or [*self._counts(tiles, bucket)] or self._counting(device)

    def _counts(self, tiles: Partition, bucket: Bucket) -> Iterator[Problem]:
        """Yield the problems of `partition.above`, and of the number of buckets.

        The list of buckets takes the place of the fallback's tile states in scratch.  This part of scratch must
        therefore be large enough for a list of all buckets.
        """
        p, limit, least = self.p, bucket.limit, self.span[0]
        if p.key.bytes < 4:
            yield "partition.above", f"keys of {p.key.bits} bits have few passes anyway", "leave the partition out"
        elif not limit:
            yield "bucket.items", "a bucket that holds one key holds none on average", "give more keys or lanes"
        elif max(tiles.above, p.alone) < limit:
            yield "partition.above", f"a bucket would hold {limit} keys on average", f"give at least {limit}"
        elif p.looks_back and p.tile * (6 * least + limit) > p.radix * limit * least:
            problem = "there are more buckets than the states of tiles leave room for"
            yield "bucket.items", problem, "give more, or more bits, or fewer items"

    def _counting(self, device: Device) -> Iterator[Problem]:
        """Yield the problems of `p.counting`.

        The two digits of the partitions must cover all bits that are not counted.  Scratch must have room for the list
        of buckets.
        """
        p = self.p
        if p.counting is None:
            return
        lanes, bits, most = p.counting.work_group, p.counting.bits, 2 * DIGIT
        if p.key.bits - bits > most:
            problem = f"two digits have {most} bits, and leave {p.key.bits - most} of the key"
            fits = p.key.bits - most <= 16
            yield "counting.bits", problem, "give as many, or leave it out" if fits else "leave the counting out"
        elif lanes & lanes - 1 or lanes % p.subgroup or lanes > (room := min(device.work_group, 1 << bits - 5)):
            problem = f"{lanes} lanes are no power of two, no whole subgroups or more than blocks of 32 values"
            yield "counting.work_group", problem, f"give a power of two up to {room}"
        elif 3 * ((1 << 30) // buckets.limit(p)) < 1 << p.key.bits - bits:
            yield "counting.bits", "there are more buckets than the table has room for", f"give {bits + 1}"
