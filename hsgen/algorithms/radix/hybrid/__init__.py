"""A hybrid sort: the highest digits distribute keys into buckets, and one work-group sorts each bucket on chip.

The method is that of Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs" (SIGMOD 2017).  Two
partitions by the two highest digits bring keys without values into buckets (`buckets`).  A partition may reorder keys
with the same digit.  Two stable passes bring pairs (keys with values) into buckets (`pairs`).

Before a bucket is sorted, kernels check whether each bucket fits a work-group; in this sense, buckets are *tried*.  If
a bucket has more keys than a work-group holds, the *fallback* sorts all keys instead, by passes over all digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hsgen.algorithms.device_constraints import Problem
from hsgen.algorithms.radix import onesweep, reduce_scan, rows, search_space, single
from hsgen.algorithms.radix.hybrid import buckets, pair_partition, pairs
from hsgen.algorithms.radix.hybrid.fields import FALLBACK
from hsgen.algorithms.radix.hybrid.fields import FIELDS as FIELDS
from hsgen.algorithms.radix.hybrid.key_buckets import KeyBuckets
from hsgen.algorithms.radix.hybrid.pair_buckets import PairBuckets
from hsgen.algorithms.radix.hybrid.pair_partition import PairPartition
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.hybrid.pieces import Pieces
from hsgen.algorithms.radix.hybrid.stage import Stage
from hsgen.algorithms.radix.parts import copy
from hsgen.algorithms.radix.stages import present
from hsgen.algorithms.radix.words import max_n
from hsgen.algorithms.search_space import Box, steps
from hsgen.core.device import Device
from hsgen.core.kernels import Kernel
from hsgen.core.keys import KeyType
from hsgen.core.plan import Plan, Step

Params = Hybrid


def stages(p: Hybrid) -> tuple[Stage, ...]:
    """Return the parts of the sort that bring keys into buckets and sort the buckets, in the order of their kernels.

    The fallback follows them.
    """
    keys = [KeyBuckets(p)] if p.has_key_buckets else []
    if p.pieces:
        return (*keys, Pieces(p))
    of_pairs = [PairBuckets(p)] if p.has_pair_buckets and not p.index64 else []
    few = [PairPartition(p)] if p.partitions_pairs and not p.index64 else []
    return (*keys, *of_pairs, *few)


def kernels(p: Hybrid) -> tuple[Kernel, ...]:
    """Return every kernel, in the order of their launches."""
    if not p.looks_back:  # the fallback is reduce-scan
        return (*(k for stage in stages(p) for k in stage.kernels()), *reduce_scan.kernels(p))
    every = [single.kernel(single.of(p))] if p.alone else []
    before = [stage for stage in stages(p) if isinstance(stage, KeyBuckets)]
    every += [k for stage in before for k in stage.kernels()]
    every += [replace(k, common=pairs.common(p)) for k in onesweep.swept(p)]
    every += [k for stage in stages(p)[len(before) :] for k in stage.kernels()]
    every += onesweep.again(p)
    return (*every, *(kernels(large(p)) if p.large and p.has_key_buckets else reduce_scan.beyond(p)))


def large(p: Hybrid) -> Hybrid:
    """Return the parameters of the kernels for 2^30 keys and more, which have 64-bit indices and the same buckets.

    The digits of the partitions have more bits than those of `p`, so a work-group has more counters.  Tiles of the
    partitions have fewer keys in return, so that counters and tile together need no more local memory.
    """
    wide = replace(p, large=False, index64=True, single=0, sorted_exit=False)
    room = 8 * (wide.partition_radix - p.partition_radix)
    tiles = present(p.partition)
    fewer = -(-room // (tiles.work_group * p.key.held))
    return replace(wide, partition=replace(tiles, items=max(1, tiles.items - fewer)))


def plan(p: Hybrid) -> Plan:
    """Return the launch plan of the sort.

    For keys without values, the launches with buckets precede all launches of the fallback.  For pairs, they follow the
    fallback's histogram, which they read, and precede the fallback's passes.  If buckets have sorted the keys, the
    kernels of the fallback return at once.
    """
    high = max_n(p)
    keys = KeyBuckets(p).steps(high) if p.has_key_buckets else []
    if not p.looks_back:
        few = PairPartition(p).steps() if p.partitions_pairs and not p.index64 else []
        of_pairs = PairBuckets(p).steps(high) if p.has_pair_buckets and not p.index64 else []
        return reduce_scan.plan(p, [*keys, *few, *of_pairs])
    steps = [*rows.single(p, single.kernel(single.of(p))), *keys]
    steps += Pieces(p).after_partitions(high) if p.has_key_buckets and p.pieces else []
    steps += onesweep.head(p)
    middle = Pieces(p) if p.pieces else PairBuckets(p) if p.has_pair_buckets else None
    least, most = (min(n, high) for n in middle.span) if middle else (high, high)
    steps += [*onesweep.started(p, p.alone, least), *onesweep.started(p, most, high)]
    after: list[Step] = []
    if least < most:
        steps += onesweep.started(p, least, most, "part") if p.signature.bit_range else []
        if p.pieces:
            before, after = Pieces(p).steps(least, most)
            steps += before
        else:
            steps += PairBuckets(p).steps(high)
    narrow = rows.plan(p, [*steps, *onesweep.passes(p), *after, *rows.copied(p, copy(p))])
    if not (p.large and p.has_key_buckets):
        return reduce_scan.joined(p, narrow)
    return reduce_scan.joined(p, narrow, plan(large(p)), min(max_n(p), buckets.most(p)))


def moved(p: Hybrid, step: Step, n: int) -> int:
    """Return the bytes that a launch of `step` reads and writes for `n` keys, if every bucket fits a work-group.

    If several stages have the kernel of the launch, the bytes are those of the last of these stages.
    """
    every = [*stages(p)[::-1], *(stages(large(p)) if p.large and p.has_key_buckets else ())]
    known = (stage.moved(step, n) for stage in every)
    if (size := next((x for x in known if x is not None), None)) is not None:
        return size
    return onesweep.moved(p, step, n) if p.looks_back else rows.moved(p, step, n)


def test_counts(p: Hybrid, greatest: int) -> set[int]:
    """Return the counts at which the launches or their grids change; some may exceed `greatest`."""
    return onesweep.test_counts(p, greatest).union(*(stage.test_counts() for stage in stages(p)))


def problems(p: Hybrid, device: Device) -> Iterator[Problem]:
    """Yield the problems of the fallback's parameters on a device or, if there are none, those of the buckets."""
    fallback = list(reduce_scan.problems(p, device) if p.waitless else onesweep.problems(p, device))
    sizes = fallback or [*KeyBuckets(p).problems(device), *PairBuckets(p).problems(device)]
    yield from sizes or [*Pieces(p).problems(device), *PairPartition(p).problems(device)]


def space(key: KeyType, device: Device) -> Iterator[Box]:
    """Yield one search region, with values for buckets of keys without values and a fallback with digits of 8 bits.

    The ranker is "match_ballot" with the widest subgroups, or "bitmask" on devices without subgroup operations.
    """
    if key.bytes < 4:
        return
    behind: Box = {"crowded_bits": (6, 7, 8), FALLBACK: (reduce_scan.Params.STRATEGY,)}
    lanes, items = steps(64, min(1024, device.work_group)), (4, 6, 8, 10, 12, 16, 20, 24, 32)
    buckets: Box = {
        "partition.above": steps(1 << 18, 1 << 22),
        "partition.work_group": lanes,
        "partition.items": items,
        "bucket.work_group": lanes,
        "bucket.items": items,
        "bucket.bins": steps(512, 8192),
    }
    ranked = list(search_space.ranked(device))
    voting = sorted((x for x in ranked if x["ranker"] == ("match_ballot",)), key=lambda box: box["subgroup"])
    for box in voting[-1:] or [x for x in ranked if x["ranker"] == ("bitmask",)]:
        yield {**box, "bits": (8,), **buckets, **({} if device.forward_progress else behind)}


def fitted(p: Hybrid) -> Hybrid:
    """Return the parameters without the stages that do not suit the key type or the sort's signature.

    A sort with values does not use the stage for keys without values, which is not stable.  Keys of less than 4 bytes
    have no buckets, because the fallback needs few passes for them.
    """
    few = p.key.bytes < 4
    shape = replace(p, large=p.large and not (p.signature.device_count or p.signature.followed))
    if p.signature.value != "none" or few:
        shape = replace(shape, partition=None, bucket=None, counting=None)
    if p.signature.value == "packed" or few:
        shape = replace(shape, pair_bucket=None, pair_partition=None)
    if not (shape.bucket or shape.pair_bucket):
        shape = replace(shape, sample=0)
    if p.waitless and (
        p.signature.bit_range or shape.has_pair_buckets
    ):  # as in `reduce_scan.fitted`; besides, passes before buckets move keys before a kernel has checked their order
        shape = replace(shape, sorted_exit=False)
    return shape


def notes(p: Hybrid) -> list[tuple[str, str]]:
    """Return (name, text) pairs for `hsgen show`: the ranker of the fallback, and the sizes of buckets."""
    return [
        *onesweep.notes(p),
        *([("buckets", _keys(p))] if p.has_key_buckets else []),
        *([("buckets of pairs", _pairs(p))] if p.has_pair_buckets else []),
    ]


def _keys(p: Hybrid) -> str:
    tiles, bucket = present(p.partition), present(p.bucket)
    partition = f"{tiles.work_group} lanes x {tiles.items} = {tiles.size} keys partitioned at once"
    size = f"{bucket.work_group} lanes x {bucket.items} = {bucket.size} keys at most"
    tally = f"; with 64-bit indices, a bucket is counted by its lowest {p.counting.bits} bits" if p.counting else ""
    return f"from {max(tiles.above, p.alone) + 1} keys on, {partition}; a bucket {size}, {bucket.bins} bins{tally}"


def _pairs(p: Hybrid) -> str:
    bucket = present(p.pair_bucket)
    size = f"{bucket.work_group} lanes x {bucket.items} = {bucket.size} pairs at most"
    at_once = (
        f"; from {pair_partition.least(p) + 1} on partitioned at once, {present(p.pair_partition).bins} bins"
        if p.partitions_pairs
        else ""
    )
    return f"from {max(bucket.start, p.alone) + 1} pairs on; a bucket {size}, {bucket.bins} bins{at_once}"
