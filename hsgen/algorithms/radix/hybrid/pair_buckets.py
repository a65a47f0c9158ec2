"""The stage for pairs (keys with values of 4 bytes): two passes bring pairs into buckets, which are sorted on chip.

The first of these two passes is by the second-highest digit, the other by the highest.  Both passes are stable: pairs
with equal digits keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import bucket_shape, onesweep, reduce_scan
from hsgen.algorithms.radix.hybrid import pair_passes, pairs
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.hybrid.stage import Stage, launched, numbered
from hsgen.algorithms.radix.parts import NEAR
from hsgen.algorithms.radix.rankers import rank_arrays
from hsgen.algorithms.radix.rows import BOUND, launch, tiled, tiles
from hsgen.algorithms.radix.stages import PairBucket
from hsgen.algorithms.radix.words import values_binding, words_binding
from hsgen.core.device import Device
from hsgen.core.flags import DIRECT
from hsgen.core.kernels import Kernel
from hsgen.core.plan import BitRange, Grid, Step, fixed


@dataclass(frozen=True, slots=True)
class PairBuckets(Stage):
    """The stage that brings pairs into buckets and sorts each bucket on chip, without a sample of the keys.

    In sorts with a sample, `hsgen.algorithms.radix.hybrid.pieces.Pieces` takes its place.
    """

    @property
    def span(self) -> tuple[int, int]:
        """(low, high): buckets are tried for counts above `low` up to `high`."""
        return pairs.least(self.p), pairs.most(self.p)

    def kernels(self) -> tuple[Kernel, ...]:
        """Return the kernels in the order of their launches."""
        *most, last = pair_passes.kernels(self.p)
        return (*most, replace(last, common=pairs.common(self.p)) if self.p.looks_back else last)

    def steps(self, high: int) -> list[Step]:
        """Return the plan rows of this stage, for counts of `span` up to `high`, in sorts by all bits.

        The rows include those of the two passes before the buckets.
        """
        p = self.p
        bound = {**BOUND, "bounds": values_binding(p), "words": words_binding(p)}
        low, high = (min(n, high) for n in self.span)

        def rows(kernel: Kernel, grid: Grid, flags: int = 0) -> list[Step]:
            return launched(kernel, bound, [(0, high, grid)], low, high, flags)

        launches: list[Step] = []
        if p.waitless:
            begin = pair_passes.begin(p)
            if p.signature.bit_range:
                # this row also runs if a call sorts by a bit range: the kernel then lets all passes of the fallback run
                launches.append(launch(begin, bound, low, high, fixed(1), BitRange()))
            else:
                launches += rows(begin, fixed(1))
            launches += [x for s in rows(pair_passes.histogram(p), tiles(p)) for x in tiled(p, s)]
            launches += rows(pair_passes.decide(p), fixed(1))
        else:
            launches += rows(pair_passes.starts(p), fixed(1), DIRECT)
        for ahead in (len(p.digits) - 2, len(p.digits) - 1):
            launches += _ahead(p, ahead, low, high)
        launches += rows(pair_passes.bounds(p), fixed(pairs.bound_groups(p)))
        sort = numbered(pairs.limit(p), pairs.top_bits(p), device_count=p.signature.device_count)
        launches += launched(pair_passes.bucket(p), bound, sort, low, high)
        launches += rows(pair_passes.crowded(p), fixed(pairs.groups(p)))
        return launches + rows(pair_passes.fallback(p), fixed(1), 0 if p.waitless else DIRECT)

    def moved(self, step: Step, n: int) -> int | None:
        """Return the bytes that a launch moves for `n` pairs, if every bucket fits a work-group.

        The passes of the fallback, which follow the buckets, then move nothing.  The plan rows of the two passes before
        the buckets have the guard range "whole", those of the fallback another range.
        """
        if not self.serves(n):
            return None
        if step.pass_number is not None and step.guard.range != "whole":  # a pass after the buckets
            return 0
        p, buckets = self.p, 1 << pairs.bits(self.p, n)
        bytes_of = {
            "ahead_begin": 4 * p.radix,
            "ahead_histogram": n * p.key.bytes,
            "ahead_decide": 4 * p.radix,
            "ahead_starts": 8 * len(p.digits) * p.radix,
            "bucket_bounds": 4 * buckets,
            "pair_bucket": 2 * n * (p.key.bytes + p.signature.value_bytes) + 4 * buckets,
            "pair_bucket_rest": 0,
            "ahead_fallback": 4 if p.waitless else 4 * len(p.digits),
        }
        return bytes_of.get(step.kernel)

    def test_counts(self) -> Iterator[int]:
        """Yield the count above which buckets are tried, and the counts above which there are twice as many buckets."""
        yield from test_counts(self.p)

    def problems(self, device: Device) -> Iterator[Problem]:
        """Yield the problems of `p.pair_bucket` on a device."""
        p, bucket = self.p, self.p.pair_bucket
        if bucket is None:
            return
        if not (device.promised or p.waitless):
            problem = "buckets with values follow passes of a look-back that needs no second try"
            yield "pair_bucket", problem, 'leave it out, or describe a device with progress = "guaranteed"'
            return
        yield from [*_sizes(p, bucket, device)] or _counts(p, bucket, device)


def test_counts(p: Hybrid) -> Iterator[int]:
    """Yield the count above which buckets of pairs are tried, and those above which there are twice as many buckets."""
    low, limit = pairs.least(p), pairs.limit(p)
    yield low
    yield from (limit << b for b in range(pairs.top_bits(p) + 1) if limit << b > low)


def _ahead(p: Hybrid, number: int, low: int, high: int) -> list[Step]:
    """Return the plan rows of pass `number`, which runs before the buckets, for counts above `low` up to `high`."""
    if p.looks_back:
        return onesweep.sweeps(p, number, low, high, "whole")
    rows = [replace(s, guard=s.guard.within(low, high)) for s in reduce_scan.counted(p, number, DIRECT)]
    return [replace(s, guard=replace(s.guard, range="whole")) for s in rows if not s.guard.empty]


def _sizes(p: Hybrid, bucket: PairBucket, device: Device) -> Iterator[Problem]:
    yield from bucket_shape.problems(bucket, p.subgroup, device, "pair_bucket", bucket.bins)
    if bucket.size < 16:
        problem = "the list of buckets takes the room of values"
        yield "pair_bucket.items", problem, f"give at least {-(-16 // bucket.work_group)}"
    elif bucket.limit > bucket.size:
        problem = f"a bucket holds {bucket.size} pairs, and {bucket.limit} are to be in one on average"
        yield "pair_bucket.mean", problem, f"give less, about {13 * bucket.size // 16}"


def _counts(p: Hybrid, bucket: PairBucket, device: Device) -> Iterator[Problem]:
    """Yield the problems of counts and of local memory.

    In the bucket sort, the *slot*, the position of a pair in its bucket, replaces the highest bits of each key.  The
    keys of a bucket must therefore share at least as many highest bits as a slot has.
    """
    count = len(p.digits)
    need = bucket.size * (p.key.held + 4) + NEAR * p.key.held + 4 * bucket.bins + 8 * bucket.work_group + 24
    ranking = sum(a.count * (p.key.held if a.type == "key" else 4) for a in rank_arrays(pairs.rest(p)))
    crowded = 4 * bucket.size + ranking
    if p.key.bytes < 4:
        yield "pair_bucket", f"keys of {p.key.bits} bits have few passes anyway", "leave it out"
    elif count % 2 or count < 4:
        problem = f"{count} passes would end in the wrong buffer, or leave nothing to finish"
        yield "pair_bucket", problem, "leave it out, or give bits that make an even number of passes from 4 on"
    elif pairs.top_bits(p) < bucket.slot_bits:
        problem = f"{bucket.size} slots take more bits than two digits have"
        yield "pair_bucket.items", problem, "give fewer, or more bits"
    elif bucket.start < bucket.least:
        problem = f"the keys of a bucket would share fewer bits than number {bucket.size} slots"
        yield "pair_bucket.above", problem, f"leave it out, or give at least {bucket.least}"
    elif bucket.start >= pairs.most(p):
        problem = f"two digits make small enough buckets of up to {pairs.most(p)} pairs"
        yield "pair_bucket.above", problem, "give less, or leave it out"
    elif max(need, crowded) > device.local_bytes:
        problem = f"a bucket takes {max(need, crowded)} bytes of local memory, the device has {device.local_bytes}"
        yield "pair_bucket.items", problem, "give fewer, or fewer bins"
