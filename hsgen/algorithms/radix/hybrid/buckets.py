"""Kernels that sort buckets of keys without values on chip, and the numbers that describe these buckets.

The sort is a most-significant-digit-first radix sort of two digits, after Stehle and Jacobsen, "A Memory
Bandwidth-Efficient Hybrid Radix Sort on GPUs" (SIGMOD 2017).  Two partitions (`partition`) bring keys into buckets.
Each bucket is then sorted.  Keys are read five times and written three times, regardless of their width.  A partition
may reorder keys with the same digit, so no tile waits for another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, word_array
from hsgen.algorithms.radix import bin_sort
from hsgen.algorithms.radix.bin_sort import BinSort, OnChip
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import WORDS, sums
from hsgen.algorithms.radix.stages import Bucket, Tiles, present
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

CHIP = 1056
"""The number of work-groups that sort buckets and pieces of keys without values after passes (`pieces`)."""
_GROUPS = 1024  # the most work-groups that count: more would only wait for each other's atomic additions
COUNT_MOST = 65535
"""The most keys of a bucket that is sorted by counting, because a counter has 16 bits."""
_BUCKET_SORT = "radix/hybrid/bucket_sort"
LANES = 1024
"""Number of lanes that a core with 65536 registers holds, if a lane uses 64 registers."""


def tile(p: Hybrid) -> int:
    """Return the number of keys that a work-group partitions at once."""
    return present(p.partition).size


def capacity(p: Hybrid) -> int:
    """Return the most keys of a bucket that a work-group can sort: on chip, or by counting if `p.counted`."""
    return COUNT_MOST if p.counted else present(p.bucket).size


def limit(p: Hybrid) -> int:
    """Return the greatest mean number of keys per bucket for which buckets are tried."""
    return present(p.bucket).limit


def most(p: Hybrid) -> int:
    """Return the greatest count for which buckets are tried, at most 2^32.

    Unless buckets are sorted by counting, two digits give too few buckets for more keys.
    """
    return 1 << 32 if p.counted else min(limit(p) << 2 * p.partition_bits, 1 << 32)


def least(p: Hybrid) -> int:
    """Return the count above which buckets are tried."""
    return max(present(p.partition).above, p.alone)


def shared(p: Hybrid) -> int:
    """Return the number of highest bits that the keys of a bucket share, if this number is the same for all counts.

    The number is the same only if buckets are sorted by counting.  Otherwise the function returns 0.
    """
    return p.key.bits - present(p.counting).bits if p.counted else 0


def widths(p: Hybrid, n: int) -> tuple[int, int]:
    """Return the bits of the first and of the second digit for n > `limit` keys.  Kernels compute the same numbers.

    Their sum is the fewest bits for which a bucket has at most `limit` keys on average.  If buckets are sorted by
    counting, their sum is `shared`: all bits except those that are counted.
    """
    bits = shared(p) or max(1, (-(-n // limit(p)) - 1).bit_length())
    return (bits + 1) // 2, bits // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The results of the functions of the same names, as input of the templates of buckets of keys."""

    least: int
    most: int
    limit: int
    capacity: int
    shared: int
    groups: int


def sizes(p: Hybrid) -> Sizes:
    """Return the numbers that templates need for a shape."""
    return Sizes(least=least(p), most=most(p), limit=limit(p), capacity=capacity(p), shared=shared(p), groups=groups(p))


def groups(p: Hybrid) -> int:
    """Return the greatest number of work-groups that count the first digit, or that sort crowded buckets."""
    return min(p.groups, _GROUPS)


def suffix(p: Hybrid) -> str:
    """Return the suffix of the names of kernels: "_wide" for kernels with 64-bit indices, else ""."""
    return "_wide" if p.index64 else ""


def kernel(
    p: Hybrid,
    name: str,
    summary: str,
    tiles: Tiles,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...] = (),
    *,
    template: str,
) -> Kernel:
    """Return a kernel for keys without values, whose work-group has as many lanes as `tiles` states."""
    return Kernel(
        name=name + suffix(p),
        index64=p.index64,
        template=template,
        summary=summary,
        work_group=tiles.work_group,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        scratch=words(p),
    )


def holding(kernel: Kernel, p: Hybrid) -> Kernel:
    """Return the kernel with `resident` set, for a kernel whose lanes hold their keys in registers.

    `resident` is the number of work-groups that a core holds if each lane uses 64 registers; 0 if `p.resident` is 0.
    """
    return replace(kernel, resident=max(1, LANES // kernel.work_group) if p.resident else 0)


def summing(kernel: Kernel, p: Hybrid) -> Kernel:
    """Return the kernel with its subgroup width set, for a kernel whose lanes compute prefix sums."""
    return replace(kernel, subgroup=p.subgroup)


def crowded(p: Hybrid, bucket: Bucket) -> Hybrid:
    """Return the shape with which a work-group sorts a bucket with crowded bins, digit by digit."""
    bits = p.crowded_bits or p.bits
    return replace(p, bits=bits, work_group=bucket.work_group, items=bucket.items, single=None, resident=0)


def rest(p: Hybrid) -> Hybrid:
    """Return the shape of the kernel that sorts buckets with crowded bins, by the ranker of the target."""
    return crowded(p, present(p.bucket))


def kernels(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """Return the kernels that sort buckets, in the order of their launches.

    ranking: the local arrays that the ranker needs in the shape `rest(p)`.
    """
    return _counting(p) if p.counted else _sorting(p, ranking)


def _sorting(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """The kernel that sorts a bucket and, unless a kernel of `pieces` does so, the kernel for crowded bins."""
    bucket = present(p.bucket)
    summary = f"sort a bucket of up to {capacity(p)} keys on chip"
    arrays = (Array(name="tile", type="key", count=capacity(p)), *bin_sort.arrays(bucket, p.subgroup))
    arrays += (word_array("unordered", 1),) * p.pieces
    buffers = (DESTINATION, WORDS)
    template = f"{_BUCKET_SORT}:" + ("bucket_or_piece" if p.pieces else "bucket")
    sort = holding(summing(kernel(p, "bucket", summary, bucket, buffers, arrays, template=template), p), p)
    sort = bin_sort.with_room(sort)
    bins = BinSort(shape=bucket, subgroup=p.subgroup, key=p.key, load="at_once")
    if p.pieces:  # a kernel of `pieces` sorts crowded buckets, in global memory
        data = OnChip(bins=replace(bins, crowd=bin_sort.SPREAD), groups=CHIP)
        return (replace(sort, data=data),)
    sort = replace(sort, data=OnChip(bins=bins))
    summary, template = "sort crowded buckets by all their bits", f"{_BUCKET_SORT}:crowded_buckets"
    again = kernel(p, "bucket_rest", summary, bucket, buffers, ranking, template=template)
    return sort, replace(again, data=rest(p), subgroup=p.subgroup, ballot=p.ranker == "match_ballot")


def _counting(p: Hybrid) -> tuple[Kernel, ...]:
    """The kernel that sorts a bucket by counting.

    Local memory holds the keys to store next, the counters, and a list of the long runs of equal keys.  Each word holds
    two counters.
    """
    counting = present(p.counting)
    arrays = (
        Array(name="tile", type="key", count=counting.size),
        word_array("bin_counts", counting.words),
        word_array("runs", COUNT_MOST // counting.long_run + 1),
        *sums(counting.work_group, p.subgroup),
    )
    summary = f"count the lowest {counting.bits} bits of a bucket of up to {COUNT_MOST} keys, and store them in order"
    buffers, template = (DESTINATION, WORDS), f"{_BUCKET_SORT}:counted_bucket"
    counter = summing(kernel(p, "bucket_count", summary, counting, buffers, arrays, template=template), p)
    fits = 2 if counting.work_group <= LANES else 1  # work-groups of a core: each takes half of the local memory
    return (replace(counter, resident=fits if p.resident else 0, data=counting),)
