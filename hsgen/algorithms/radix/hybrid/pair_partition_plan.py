"""Plan rows that partition few pairs into buckets; constraints of the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bucket_shape
from hsgen.algorithms.radix.hybrid import pair_partition, pairs
from hsgen.algorithms.radix.hybrid.buckets_plan import Span, launched
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.rows import BOUND, launch
from hsgen.algorithms.radix.stages import PairBucket, PairPartition
from hsgen.algorithms.radix.words import OTHER, words_binding
from hsgen.core.device import Device
from hsgen.core.keys import Signature
from hsgen.core.plan import Grid, Step, fixed


def steps(p: Hybrid) -> list[Step]:
    """Return the plan rows, for sorts out of place by all bits.

    The first row always runs, and marks the pairs as left to the passes.  A sort in place would overwrite values before
    a bucket reads them.
    """
    bound = {**BOUND, pair_partition.PAIRS.name: OTHER, "words": words_binding(p)}
    tiles = [(0, pair_partition.most(p), Grid(add=pair_partition.tile(p) - 1, div=pair_partition.tile(p)))]
    rows = [launch(pair_partition.begin(p), bound, pair_partition.least(p), pair_partition.most(p), fixed(1))]
    for kernel, grids in (
        (pair_partition.histogram(p), tiles),
        (pair_partition.partition(p), tiles),
        (pair_partition.bucket(p), _bucket_grids(p)),
    ):
        rows += launched(kernel, bound, grids, pair_partition.least(p), pair_partition.most(p), place="out")
    return rows


def _bucket_grids(p: Hybrid) -> list[Span]:
    """The grids of the bucket sort: one for each number of buckets, as in `buckets_plan`."""
    limit = pairs.limit(p)
    if p.signature.device_count:
        return [(0, pair_partition.most(p), Grid(add=-1, div=limit, mul=2, cap=p.pair_partition_radix))]
    bits = range(1, p.pair_partition_radix.bit_length())
    return [(limit << b - 1 if b > 1 else 0, limit << b, fixed(1 << b)) for b in bits]


def taken(p: Hybrid, n: int) -> bool:
    """Return true if `n` pairs are partitioned."""
    return p.partitions_pairs and pair_partition.least(p) < n <= pair_partition.most(p)


def moved(p: Hybrid, step: Step, n: int) -> int | None:
    """Return the bytes that a launch reads and writes for `n` pairs that buckets hold; None without a partition."""
    if not taken(p, n):
        return None
    read, index, table = n * p.key.bytes, 4 * n, 4 * p.pair_partition_radix
    value = 0 if p.signature.index else p.signature.value_bytes
    bytes_of = {
        "pair_partition_begin": 2 * table,
        "pair_partition_histogram": read + table,
        "pair_partition": 2 * read + index + 2 * table,
        "pair_partition_bucket": 2 * read + index + n * (value + p.signature.value_bytes) + table,
    }
    return bytes_of.get(step.kernel, 0)


def test_counts(p: Hybrid) -> Iterator[int]:
    """Yield the counts at which the partition starts, at which the number of buckets doubles, and of some tiles."""
    yield pair_partition.least(p)
    for n in (
        *(pairs.limit(p) << b for b in range(p.pair_partition_radix.bit_length())),
        *(pair_partition.tile(p) * k for k in (1, 2, 3)),
    ):
        if pair_partition.least(p) < n <= pair_partition.most(p):
            yield n


def problems(p: Hybrid, device: Device) -> Iterator[Problem]:
    """Yield the problems of the stage `pair_partition`, if `pair_bucket` has no problem."""
    tiles, bucket = p.pair_partition, p.pair_bucket
    if tiles is None:
        return
    if p.key.bytes != 4:
        yield "pair_partition", f"keys of {p.key.bits} bits and indices exceed the scratch", "leave it out"
    elif bucket is None:
        yield "pair_partition", "there are no buckets of pairs", "leave it out, or give pair_bucket"
    elif not p.waitless:
        problem = "what buckets do not hold is left to passes that count"
        yield "pair_partition", problem, 'leave it out, or give fallback = "reduce_scan"'
    else:
        sizes = [*bucket_shape.problems(tiles, p.subgroup, device, "pair_partition"), *_bins(tiles, bucket)]
        yield from sizes or _sizes(p, tiles, bucket, device)


def _bins(tiles: PairPartition, bucket: PairBucket) -> Iterator[Problem]:
    """The problems of the bins, which the lanes of a bucket of pairs share out evenly."""
    if tiles.bins % bucket.work_group or tiles.bins & tiles.bins - 1 or tiles.bins > 65536:
        problem = f"{tiles.bins} bins are no power of two that {bucket.work_group} lanes share out"
        yield "pair_partition.bins", problem, "give a multiple of these lanes, up to 65536"


def _sizes(p: Hybrid, tiles: PairPartition, bucket: PairBucket, device: Device) -> Iterator[Problem]:
    shape = replace(p, signature=Signature(value="v4"))
    *_, partition_bytes, bucket_bytes = (k.local_bytes(p.key) for k in pair_partition.kernels(shape))
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
