"""Plan rows of buckets of keys without values, before the rows of the fallback; constraints of the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bucket_shape
from hsgen.algorithms.radix.hybrid import buckets, partition
from hsgen.algorithms.radix.hybrid.params import DIGIT, Hybrid
from hsgen.algorithms.radix.rankers import rank_arrays
from hsgen.algorithms.radix.rows import BOUND, launch
from hsgen.algorithms.radix.stages import Bucket, Partition
from hsgen.algorithms.radix.words import OTHER, words_binding
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Argument, Binding, BitRange, Grid, Literal, Step, fixed

Span = tuple[int, int, Grid]
"""(low, high, grid): the grid serves counts above `low` up to `high`."""


def steps(p: Hybrid, high: int) -> list[Step]:
    """Return the plan rows, for sorts by all bits and counts up to `high`, or up to what two digits can partition."""
    bound = {**BOUND, partition.PARTITIONED.name: OTHER, "words": words_binding(p)}
    low, high = buckets.least(p), min(high, buckets.most(p))

    def rows(kernel: Kernel, *grids: Span) -> list[Step]:
        return launched(kernel, bound, grids or [(0, high, fixed(1))], low, high)

    def grid(grid: Grid) -> Span:
        return (0, high, grid)

    first = partition.begin(p)
    if not p.looks_back and p.signature.bit_range:  # in a sort by fewer bits, the flags then make all passes run
        launches = [launch(first, bound, low, high, fixed(1), BitRange())]
    else:
        launches = rows(first)
    tile, more = buckets.tile(p), 1 if p.sampled else 0
    # the tiles of the second digit: each value of the first digit may add a partial tile
    second = grid(Grid(add=p.partition_radix * tile, div=tile))
    launches += rows(
        partition.histogram(p), grid(Grid(add=(more + 1) * tile - 1, div=tile, cap=buckets.groups(p) + more))
    )
    launches += rows(partition.starts(p))
    launches += rows(partition.first(p), grid(Grid(add=tile - 1, div=tile)))
    launches += rows(partition.second_histogram(p), second)
    launches += rows(partition.bucket_starts(p), grid(fixed(p.partition_radix)))
    launches += rows(partition.second(p), second)
    for kernel, grids in zip(_buckets(p), _bucket_grids(p), strict=False):
        launches += rows(kernel, *grids)
    return launches


def _buckets(p: Hybrid) -> tuple[Kernel, ...]:
    """The kernel that counts each bucket; or the kernel that sorts each bucket and the kernel of crowded buckets."""
    return buckets.kernels(p, rank_arrays(buckets.rest(p)))


def _bucket_grids(p: Hybrid) -> list[list[Span]]:
    """The grids of the kernels of buckets, in their order.

    A bucket sort has a row for each number of buckets: launching an empty work-group costs 2.4 ns, and a bucket sort is
    short enough for that to matter.
    """
    most = buckets.most(p)
    if p.counted:
        return [[(0, most, fixed(1 << buckets.shared(p)))]]
    sort = numbered(buckets.limit(p), 2 * p.partition_bits, device_count=p.signature.device_count)
    return [sort, [(0, most, Grid(add=-1, div=buckets.limit(p), mul=2, cap=buckets.groups(p)))]]


def launched(
    k: Kernel,
    bound: Mapping[str, Binding],
    grids: Iterable[Span],
    low: int,
    high: int,
    flags: int = 0,
    place: str = "any",
) -> list[Step]:
    """Return the plan rows of a kernel in sorts by all bits: one for each grid that serves counts above `low` up to
    `high`.

    flags: if not 0, the kernel gets the bit range with these flags as its argument.  place: of `Guard`.
    """
    argument: Argument = BitRange(flags=flags) if flags else Literal()
    return [
        launch(k, bound, max(least, low), min(most, high), grid, argument, part="whole", place=place)
        for least, most, grid in grids
        if max(least, low) < min(most, high)
    ]


def numbered(limit: int, bits: int, *, device_count: bool) -> list[Span]:
    """Return the grids of a kernel with one work-group per bucket: one grid for each number of buckets.

    With a device-side count, one grid serves all counts.
    limit: the greatest mean number of keys of a bucket.
    bits: there are at most 2^bits buckets.
    """
    if device_count:  # more than n / limit, but no more than twice that
        return [(0, limit << bits, Grid(add=-1, div=limit, mul=2, cap=1 << bits))]
    return [(limit << b - 1, limit << b, fixed(1 << b)) for b in range(1, bits + 1)]


def moved(p: Hybrid, name: str, n: int) -> int | None:
    """Return the bytes that a launch reads and writes for `n` keys that buckets hold; None if buckets are not tried.

    The kernels of the fallback then move nothing.
    """
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
    if name in bytes_of:
        return bytes_of[name]
    return 0 if buckets.least(p) < n <= buckets.most(p) else None


def test_counts(p: Hybrid) -> Iterator[int]:
    """Yield the count above which buckets are tried, and the counts above which the number of buckets doubles."""
    yield buckets.least(p)
    yield from (
        buckets.limit(p) << bits
        for bits in range(2 * p.partition_bits + 1)
        if buckets.limit(p) << bits > buckets.least(p)
    )


def problems(p: Hybrid, device: Device) -> Iterator[Problem]:
    """Yield the problems of the stages of keys without values on a device."""
    tiles, bucket = p.partition, p.bucket
    if tiles is None or bucket is None:
        lone = "partition" if tiles else "bucket" if bucket else "counting" if p.counting else ""
        partner = "partition" if bucket else "bucket"
        if lone:
            yield lone, f"there is no {partner} of keys alone", f"give {partner} too, or leave it out"
        return
    shapes = [*bucket_shape.problems(tiles, p.subgroup, device, "partition")]
    shapes += bucket_shape.problems(bucket, p.subgroup, device, "bucket", bucket.bins)
    yield from shapes or [*_counts(p, tiles, bucket)] or _counting(p, device)


def _counts(p: Hybrid, tiles: Partition, bucket: Bucket) -> Iterator[Problem]:
    """The problems of counts, and of the table of buckets, which lies in the region of tile states."""
    limit = bucket.limit
    if p.key.bytes < 4:
        yield "partition.above", f"keys of {p.key.bits} bits have few passes anyway", "leave the partition out"
    elif not limit:
        yield "bucket.items", "a bucket that holds one key holds none on average", "give more keys or lanes"
    elif max(tiles.above, p.alone) < limit:
        yield "partition.above", f"a bucket would hold {limit} keys on average", f"give at least {limit}"
    elif p.looks_back and p.tile * (6 * buckets.least(p) + limit) > p.radix * limit * buckets.least(p):
        problem = "there are more buckets than the states of tiles leave room for"
        yield "bucket.items", problem, "give more, or more bits, or fewer items"


def _counting(p: Hybrid, device: Device) -> Iterator[Problem]:
    """The problems of counted buckets: two digits take all bits that are not counted, and the table must have room."""
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
