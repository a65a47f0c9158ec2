"""Kernels that sort buckets of keys without values on chip, and the numbers that describe these buckets.

Two partitions (`partition`) by the two highest digits bring the keys into buckets, then a work-group sorts each bucket
on chip.  The method follows Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs" (SIGMOD
2017).  Keys are read five times and written three times, regardless of their width.  A partition may reorder keys with
the same digit, so no tile waits for another.
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
"""The number of work-groups that sort buckets, and pieces of buckets, on chip after passes, for keys without values."""
_GROUPS = 1024  # the most work-groups that count: more of them would wait for each other's atomic additions
COUNT_MOST = 65535
"""The most keys of a bucket that is sorted by counting, because a counter has 16 bits."""
_BUCKET_SORT = "radix/hybrid/bucket_sort"
LANES = 1024
"""Number of lanes that a core with 65536 registers holds if each lane uses 64 registers."""


def tile(p: Hybrid) -> int:
    """Return the number of keys of a tile, which a work-group partitions at once."""
    return present(p.partition).size


def capacity(p: Hybrid) -> int:
    """Return the most keys that a bucket may have: what a work-group holds on chip, or can count if `p.counted`."""
    return COUNT_MOST if p.counted else present(p.bucket).size


def limit(p: Hybrid) -> int:
    """Return the greatest mean number of keys per bucket, by which `widths` chooses the number of buckets."""
    return present(p.bucket).limit


def most(p: Hybrid) -> int:
    """Return the greatest count for which buckets are tried, at most 2^32.

    For more keys, two digits would give too few buckets, unless buckets are sorted by counting.
    """
    return 1 << 32 if p.counted else min(limit(p) << 2 * p.partition_bits, 1 << 32)


def least(p: Hybrid) -> int:
    """Return the count above which buckets are tried."""
    return max(present(p.partition).above, p.alone)


def shared(p: Hybrid) -> int:
    """Return the number of highest bits that the keys of a bucket share, if buckets are sorted by counting; else 0.

    A sort by counting counts all other bits, so the number is the same for all counts.  Otherwise it depends on the
    count (`widths`).
    """
    return p.key.bits - present(p.counting).bits if p.counted else 0


def widths(p: Hybrid, n: int) -> tuple[int, int]:
    """Return the number of bits of the first and of the second digit, for n > `limit(p)` keys.

    Their sum b is the least number for which n / 2^b, the mean number of keys per bucket, is at most `limit(p)`.  If
    buckets are sorted by counting, b is `shared(p)`.  Kernels compute the same numbers.
    """
    bits = shared(p) or max(1, (-(-n // limit(p)) - 1).bit_length())
    return (bits + 1) // 2, bits // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers derived from the parameters, for the templates of buckets of keys without values.

    sampled: whether the sort takes a sample.  Each other field has the result of the function of the same name.
    """

    least: int
    most: int
    limit: int
    capacity: int
    shared: int
    groups: int
    sampled: bool


def sizes(p: Hybrid) -> Sizes:
    """Return the numbers that templates need for the parameters `p`."""
    return Sizes(
        least=least(p),
        most=most(p),
        limit=limit(p),
        capacity=capacity(p),
        shared=shared(p),
        groups=groups(p),
        sampled=p.sampled > 0,
    )


def groups(p: Hybrid) -> int:
    """Return the greatest number of work-groups that count the first digit, or that sort crowded buckets."""
    return min(p.groups, _GROUPS)


def suffix(p: Hybrid) -> str:
    """Return the suffix of kernel names: "_wide" for kernels with 64-bit indices, else ""."""
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
    """Return a kernel for keys without values; its work-groups have `tiles.work_group` lanes."""
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
    """Return the kernel with `Kernel.resident` set so that the compiler gives each lane at most 64 registers.

    The function is for kernels whose lanes hold their keys in registers.  If `p.resident` is 0, `Kernel.resident` is
    not set, and the compiler chooses the number of registers.
    """
    return replace(kernel, resident=max(1, LANES // kernel.work_group) if p.resident else 0)


def summing(kernel: Kernel, p: Hybrid) -> Kernel:
    """Return the kernel with the subgroup width of `p`, for kernels whose lanes compute prefix sums."""
    return replace(kernel, subgroup=p.subgroup)


def crowded(p: Hybrid, bucket: Bucket) -> Hybrid:
    """Return the parameters with which a work-group sorts a bucket with crowded bins, digit by digit on chip."""
    bits = p.crowded_bits or p.bits
    return replace(p, bits=bits, work_group=bucket.work_group, items=bucket.items, single=None, resident=0)


def rest(p: Hybrid) -> Hybrid:
    """Return the parameters of the kernel `bucket_rest`, which sorts buckets with crowded bins."""
    return crowded(p, present(p.bucket))


def kernels(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """Return the kernels that sort buckets, in the order of their launches.

    ranking: the local arrays that the ranker needs with the parameters `rest(p)`.
    """
    return _counting(p) if p.counted else _sorting(p, ranking)


def _sorting(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """Return the kernel that sorts each bucket by bins and, unless `p.pieces`, one for buckets with crowded bins.

    With `p.pieces`, the kernel `range_sort` sorts buckets with crowded bins.
    """
    bucket = present(p.bucket)
    summary = f"sort a bucket of up to {capacity(p)} keys on chip"
    arrays = (Array(name="tile", type="key", count=capacity(p)), *bin_sort.arrays(bucket, p.subgroup))
    arrays += (word_array("unordered", 1),) * p.pieces
    buffers = (DESTINATION, WORDS)
    form = "bucket_or_piece" if p.pieces else "several_buckets" if p.sampled else "bucket"
    template = f"{_BUCKET_SORT}:{form}"
    sort = holding(summing(kernel(p, "bucket", summary, bucket, buffers, arrays, template=template), p), p)
    sort = bin_sort.with_room(sort)
    bins = BinSort(shape=bucket, subgroup=p.subgroup, key=p.key, load="at_once")
    if p.pieces:  # the kernel `range_sort` of `pieces` sorts crowded buckets, in global memory
        data = OnChip(bins=replace(bins, crowd=bin_sort.SPREAD), groups=CHIP)
        return (replace(sort, data=data),)
    sort = replace(sort, data=OnChip(bins=bins))
    summary, template = "sort crowded buckets by all their bits", f"{_BUCKET_SORT}:crowded_buckets"
    again = kernel(p, "bucket_rest", summary, bucket, buffers, ranking, template=template)
    return sort, replace(again, data=rest(p), subgroup=p.subgroup, ballot=p.ranker == "match_ballot")


def _counting(p: Hybrid) -> tuple[Kernel, ...]:
    """Return the kernel that sorts each bucket by counting.

    Local memory holds the keys to store next, the counters (two in each word), and a list of long runs of equal keys.
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
    fits = 2 if counting.work_group <= LANES else 1  # work-groups of a core: each takes half of its local memory
    return (replace(counter, resident=fits if p.resident else 0, data=counting),)
