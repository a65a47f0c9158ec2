"""The bucket sort of pairs (keys with values), and the numbers that describe buckets of pairs.

Two stable passes sort the pairs by the two highest digits.  Pairs whose keys share their highest bits are then adjacent
and in their original order.  They are a *bucket*, which one work-group sorts on chip.

A *slot* is the position of a pair in its bucket before the bucket sort.  The keys of a bucket share at least as many
highest bits as a slot has.  The bucket sort replaces these bits of each key by the slot.  All keys of the bucket then
differ, so even an unstable sort gives a stable result.  Each sorted key tells the slot of its value.

The sort follows Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs" (SIGMOD 2017), but with
stable passes.  If a bucket has more pairs than a work-group holds, passes over all digits sort the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DEVICE_N, word_array
from hsgen.algorithms.radix import bin_sort
from hsgen.algorithms.radix.bin_sort import BinSort, Crowd, OnChip
from hsgen.algorithms.radix.hybrid import buckets
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import REPEATED
from hsgen.algorithms.radix.stages import PairBucket, present
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN

EARLY = 1 << 8
"""A flag in `pass_order`, for passes that precede buckets.

A pass with the flag always stores keys, because the bucket sort reads them.  Other passes store no keys if the caller
of an argsort discards them.
"""
_LANES = 1024  # lanes that a core with 65536 registers holds if each lane uses 64 registers
_LOCAL = 1 << 17  # bytes: a core holds only one work-group that uses more local memory than this
_GROUPS = 256  # the most work-groups that sort crowded buckets
SLACK = 15
"""Number of low bits that hold `limit` in the kernel argument `hsgen.algorithms.radix.hybrid.pieces.sizes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The values of the word `pair_status` in scratch, by which kernels tell later kernels how the pairs are sorted.

    0: no kernel so far has found a reason not to sort the pairs by buckets.
    uneven: buckets do not sort the pairs, for example because a bucket would have too many.  If the fallback uses
    look-back, the word is always 0 or `uneven`.
    sorted: the bucket sort has sorted the pairs.
    fallback: the fallback sorts the pairs, by passes over all digits.
    partitioned: one launch has partitioned the pairs (`pair_partition`), and the bucket sort follows.
    """

    uneven: int = 1
    sorted: int = 2
    fallback: int = 3
    partitioned: int = 4


STATUS = Status()


def capacity(p: Hybrid) -> int:
    """Return the most pairs that a bucket may have, which a work-group holds on chip."""
    return present(p.pair_bucket).size


def limit(p: Hybrid) -> int:
    """Return the greatest mean number of pairs per bucket, by which `bits` chooses the number of buckets.

    The number is so low that, with uniform keys, hardly any bucket exceeds the capacity.
    """
    return present(p.pair_bucket).limit


def slot_bits(p: Hybrid) -> int:
    """Return the number of bits of a slot."""
    return present(p.pair_bucket).slot_bits


def top_bits(p: Hybrid) -> int:
    """Return the number of bits of the two highest digits together."""
    return sum(width for _, width in p.digits[-2:])


def bits(p: Hybrid, n: int) -> int:
    """Return the number b of highest bits that the keys of a bucket share, in a sort of `n` pairs.

    b is the least number, from 1 on, for which n / 2^b, the mean number of pairs per bucket, is at most `limit(p)`.
    Kernels compute the same number.
    """
    return max(1, (-(-n // limit(p)) - 1).bit_length())


def least(p: Hybrid) -> int:
    """Return the count above which buckets are tried."""
    return max(present(p.pair_bucket).start, p.alone)


def most(p: Hybrid) -> int:
    """Return the greatest count for which buckets are tried.  For more pairs, two digits would give too few buckets."""
    return limit(p) << top_bits(p)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers derived from the parameters, for the templates of buckets of pairs.

    capacity, limit, groups, least, most: the results of the functions of these names.
    slot_mask: the mask of the bits of a key that hold the slot.
    pair_partition_least: the count above which one launch may partition the pairs; -1 if there is no such launch.
    slack, repeated: the constants `SLACK` and `REPEATED`.
    """

    capacity: int
    limit: int
    slot_mask: int
    groups: int
    least: int
    most: int
    pair_partition_least: int
    slack: int = SLACK
    repeated: int = REPEATED


def sizes(p: Hybrid) -> Sizes:
    """Return the numbers that templates need for the parameters `p`.

    If `p.pair_bucket` is None, the numbers that depend on it are 0.
    """
    values = dict(ABSENT)
    if p.pair_bucket:
        mask = (1 << slot_bits(p)) - 1
        values |= {"capacity": capacity(p), "limit": limit(p), "slot_mask": mask, "least": least(p), "most": most(p)}
    above = max(present(p.pair_partition).above, p.alone) if p.partitions_pairs else -1
    return Sizes(**{**values, "groups": groups(p)}, pair_partition_least=above)


ABSENT: Mapping[str, int] = dict.fromkeys(("capacity", "limit", "slot_mask", "groups", "least", "most"), 0)
"""Fields of `Sizes`, all 0, for kernels whose text does not depend on these fields."""


_ANY = PairBucket(work_group=1, items=1, bins=1)


def common(p: Hybrid) -> Hybrid:
    """Return `p` without `pair_partition`, and with a dummy in place of `pair_bucket`, if it has one.

    The result is `Kernel.common` of kernels whose text does not depend on the size of buckets.  Sorts that differ only
    in this size therefore share the text of these kernels.
    """
    return replace(p, pair_bucket=p.pair_bucket and _ANY, pair_partition=None)


def groups(p: Hybrid) -> int:
    """Return the number of work-groups that sort crowded buckets."""
    return min(p.groups, _GROUPS)


def bound_groups(p: Hybrid) -> int:
    """Return the number of work-groups of a kernel in which each lane searches for the start of one bucket."""
    return (1 << top_bits(p)) // p.work_group + 1


def rest(p: Hybrid) -> Hybrid:
    """Return the parameters of the kernel `pair_bucket_rest`, which sorts buckets with crowded bins digit by digit.

    The result describes keys without values, because each key includes the slot of its value.
    """
    return replace(buckets.crowded(p, present(p.pair_bucket)), signature=PLAIN)


def on_chip(p: Hybrid, buffers: tuple[Buffer, ...]) -> Kernel:
    """Return the kernel that sorts each bucket on chip.  With `p.pieces`, the kernel also sorts pieces of buckets."""
    bucket = present(p.pair_bucket)
    lists = Array(name="tile", type="key", count=bucket.size), word_array("slot_values", bucket.size)
    pieces = (word_array("piece_bounds", 4), word_array("unordered", 1)) if p.pieces else ()
    arrays = (*lists, *bin_sort.arrays(bucket, p.subgroup), *pieces)
    summary = f"sort a bucket of up to {capacity(p)} keys on chip"
    template = "pair_bucket_sort:" + ("bucket_and_pieces" if p.pieces else "bucket")
    sort = bin_sort.with_room(kernel(p, None, "pair_bucket", summary, buffers, arrays, template, bucket.work_group))
    alone = sort.local_bytes(p.key) > _LOCAL
    many = 1 if alone else max(1, _LANES // bucket.work_group)
    bins = BinSort(
        shape=bucket,
        subgroup=p.subgroup,
        key=p.key,
        load="pairs_clamped",
        ties="distinct",
        crowd=bin_sort.SPREAD if p.pieces else Crowd(),
    )
    return replace(
        sort,
        subgroup=p.subgroup,
        resident=many if p.resident else 0,
        data=OnChip(bins=bins),
    )


def kernel(
    p: Hybrid,
    data: object,
    name: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...],
    template: str,
    lanes: int = 0,
) -> Kernel:
    """Return a kernel of the stages with buckets of pairs.

    data: the kernel's `Kernel.data`.
    template: the name of the template in the folder ``templates/radix/hybrid``, and of the macro, as ``file:macro``.
    lanes: the number of lanes of a work-group; 0 means `p.work_group`.
    """
    return Kernel(
        name=name,
        template=f"radix/hybrid/{template}",
        summary=summary,
        work_group=lanes or p.work_group,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        data=data,
        scratch=words(p),
    )
