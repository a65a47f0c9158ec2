"""Plan rows that deal few pairs into buckets; constraints of the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bucket_shape
from hsgen.algorithms.radix.hybrid import dealt, pairs
from hsgen.algorithms.radix.hybrid.buckets_plan import Span, launched
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.rows import BOUND, launch
from hsgen.algorithms.radix.stages import Dealt, PairBucket
from hsgen.algorithms.radix.words import OTHER, words_binding
from hsgen.core.device import Device
from hsgen.core.keys import Signature
from hsgen.core.plan import Grid, Step, fixed


def steps(p: Hybrid) -> list[Step]:
    """Return the plan rows, for sorts out of place by all bits.

    The first row always runs, and marks the pairs as left to the passes.  A sort in place would overwrite values before
    a bucket reads them.
    """
    bound = {**BOUND, dealt.PAIRS.name: OTHER, "words": words_binding(p)}
    tiles = [(0, dealt.most(p), Grid(add=dealt.tile(p) - 1, div=dealt.tile(p)))]
    rows = [launch(dealt.begin(p), bound, dealt.least(p), dealt.most(p), fixed(1))]
    for kernel, grids in (
        (dealt.histogram(p), tiles),
        (dealt.partition(p), tiles),
        (dealt.bucket(p), _bucket_grids(p)),
    ):
        rows += launched(kernel, bound, grids, dealt.least(p), dealt.most(p), place="out")
    return rows


def _bucket_grids(p: Hybrid) -> list[Span]:
    """The grids of the bucket sort: one for each number of buckets, as in `buckets_plan`."""
    limit = pairs.limit(p)
    if p.signature.device_count:
        return [(0, dealt.most(p), Grid(add=-1, div=limit, mul=2, cap=p.deal_digits))]
    bits = range(1, p.deal_digits.bit_length())
    return [(limit << b - 1 if b > 1 else 0, limit << b, fixed(1 << b)) for b in bits]


def taken(p: Hybrid, n: int) -> bool:
    """Return true if `n` pairs are dealt."""
    return p.deal and dealt.least(p) < n <= dealt.most(p)


def moved(p: Hybrid, step: Step, n: int) -> int | None:
    """Return the bytes that a launch reads and writes for `n` pairs that buckets hold; None if pairs are not dealt."""
    if not taken(p, n):
        return None
    read, index, table = n * p.key.bytes, 4 * n, 4 * p.deal_digits
    value = 0 if p.signature.index else p.signature.value_bytes
    bytes_of = {
        "pair_partition_begin": 2 * table,
        "pair_partition_histogram": read + table,
        "pair_partition": 2 * read + index + 2 * table,
        "deal_bucket": 2 * read + index + n * (value + p.signature.value_bytes) + table,
    }
    return bytes_of.get(step.kernel, 0)


def test_counts(p: Hybrid) -> Iterator[int]:
    """Yield the count above which pairs are dealt, the counts above which the number of buckets doubles, and tiles."""
    yield dealt.least(p)
    for n in (
        *(pairs.limit(p) << b for b in range(p.deal_digits.bit_length())),
        *(dealt.tile(p) * k for k in (1, 2, 3)),
    ):
        if dealt.least(p) < n <= dealt.most(p):
            yield n


def problems(p: Hybrid, device: Device) -> Iterator[Problem]:
    """Yield the problems of the stage `dealt`, if `pair_bucket` has no problem."""
    tiles, bucket = p.dealt, p.pair_bucket
    if tiles is None:
        return
    if p.key.bytes != 4:
        yield "dealt", f"keys of {p.key.bits} bits and indices exceed the scratch", "leave it out"
    elif bucket is None:
        yield "dealt", "there are no buckets of pairs", "leave it out, or give pair_bucket"
    elif not p.waitless:
        problem = "what buckets do not hold is left to passes that count"
        yield "dealt", problem, 'leave it out, or give fallback = "reduce_scan"'
    else:
        sizes = [*bucket_shape.problems(tiles, p.subgroup, device, "dealt"), *_bins(tiles, bucket)]
        yield from sizes or _sizes(p, tiles, bucket, device)


def _bins(tiles: Dealt, bucket: PairBucket) -> Iterator[Problem]:
    """The problems of the bins, which the lanes of a bucket of pairs share out evenly."""
    if tiles.bins % bucket.work_group or tiles.bins & tiles.bins - 1 or tiles.bins > 65536:
        problem = f"{tiles.bins} bins are no power of two that {bucket.work_group} lanes share out"
        yield "dealt.bins", problem, "give a multiple of these lanes, up to 65536"


def _sizes(p: Hybrid, tiles: Dealt, bucket: PairBucket, device: Device) -> Iterator[Problem]:
    shape = replace(p, signature=Signature(value="v4"))
    *_, deal_bytes, bucket_bytes = (k.local_bytes(p.key) for k in dealt.kernels(shape))
    if tiles.above >= bucket.start:
        problem = f"passes are ahead of buckets from {bucket.start + 1} pairs on"
        yield "dealt.above", problem, "give less, or leave it out"
    elif bucket_bytes > device.local_bytes:
        problem = f"a bucket takes {bucket_bytes} bytes of local memory, the device has {device.local_bytes}"
        yield "dealt.bins", problem, "give fewer"
    elif deal_bytes > device.local_bytes:
        problem = f"{shape.deal_digits} buckets take {deal_bytes} bytes of local memory to count"
        more = f"the device has {device.local_bytes}"
        yield "pair_bucket.above", f"{problem}, {more}", "give less, or larger buckets"
