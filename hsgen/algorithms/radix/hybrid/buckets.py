"""Keys alone dealt into buckets by their highest digits, each bucket then sorted on chip: shape, words and kernels.

A most-significant-digit-first radix sort after Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on
GPUs" (SIGMOD 2017), of two digits: keys are read five times and written three times, regardless of their width, and
not in an order that must be kept, so no tile waits for another.
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
from hsgen.core.regions import Region

CHIP = 1056
"""The work-groups that sort pieces of keys alone, behind passes: see `pieces`."""
_GROUPS = 1024  # work-groups of a count, at most: more would only wait for each other's additions
COUNT_MOST = 65535
"""The keys of a bucket that are counted, at most: by 16 bits."""
_BUCKET_SORT = "radix/hybrid/bucket_sort"
LANES = 1024
"""Lanes of a core with 65536 registers: 64 for each."""


def tile(p: Hybrid) -> int:
    """Return the keys that a work-group deals at once."""
    return present(p.partition).size


def capacity(p: Hybrid) -> int:
    """Return the keys of a bucket that a work-group sorts on chip, or counts."""
    return COUNT_MOST if p.counted else present(p.bucket).size


def limit(p: Hybrid) -> int:
    """Return the keys of a bucket on average, at most."""
    return present(p.bucket).limit


def most(p: Hybrid) -> int:
    """Return the greatest count that two digits deal into buckets."""
    return 1 << 32 if p.counted else min(limit(p) << 2 * p.msd_digit, 1 << 32)


def least(p: Hybrid) -> int:
    """Return the count above which buckets are tried."""
    return max(present(p.partition).above, p.alone)


def shared(p: Hybrid) -> int:
    """Return the bits that the keys of a bucket share where they are counted; 0 where their number decides."""
    return p.key.bits - present(p.counting).bits if p.counted else 0


def widths(p: Hybrid, n: int) -> tuple[int, int]:
    """Return the bits of both digits for n > `limit` keys.  Kernels do the same.

    As few as the limit allows; or all that are not counted.
    """
    bits = shared(p) or max(1, (-(-n // limit(p)) - 1).bit_length())
    return (bits + 1) // 2, bits // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Numbers derived from the shape, for templates; and regions of scratch, for those of buckets.

    shared: as the function.  buckets: use_buckets.  fits: the same, as the second
    of two words.  table: bucket_starts.
    """

    least: int
    most: int
    limit: int
    capacity: int
    shared: int
    groups: int
    key_bits: int
    buckets: Region
    fits: Region
    rest: Region
    table: Region


def layout(p: Hybrid) -> Layout:
    """Return the layout."""
    scratch = words(p)
    return Layout(
        least=least(p),
        most=most(p),
        limit=limit(p),
        capacity=capacity(p),
        shared=shared(p),
        groups=groups(p),
        key_bits=p.key.bits,
        buckets=present(scratch.use_buckets),
        fits=present(scratch.use_buckets) + -1,
        rest=present(scratch.crowded_buckets),
        table=scratch.bucket_starts,
    )


def groups(p: Hybrid) -> int:
    """Return the most work-groups of the first count, and of the sort of crowded buckets."""
    return min(p.groups, _GROUPS)


def kernel(
    p: Hybrid,
    name: str,
    summary: str,
    tiles: Tiles,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...] = (),
) -> Kernel:
    """Return a kernel for keys alone whose work-groups have the lanes of `tiles`."""
    return Kernel(
        name=name + "_wide" * p.index64,
        index64=p.index64,
        template="radix/hybrid/" + name,
        summary=summary,
        work_group=tiles.work_group,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        scratch=words(p),
    )


def holding(kernel: Kernel, p: Hybrid) -> Kernel:
    """Return a kernel whose lanes hold keys in registers: as many work-groups on a core as registers allow."""
    return replace(kernel, resident=max(1, LANES // kernel.work_group) if p.resident else 0)


def summing(kernel: Kernel, p: Hybrid) -> Kernel:
    """Return a kernel whose lanes add up what lanes before them have."""
    return replace(kernel, subgroup=p.subgroup)


def crowded(p: Hybrid, bucket: Bucket) -> Hybrid:
    """Return the shape in which a work-group of a bucket sorts its keys a digit at a time."""
    bits = p.crowded_bits or p.bits
    return replace(p, bits=bits, work_group=bucket.work_group, items=bucket.items, single=None, resident=0)


def rest(p: Hybrid) -> Hybrid:
    """Return the shape of the kernel for crowded buckets: the ranker of the target in a work-group of a bucket."""
    return crowded(p, present(p.bucket))


def kernels(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """Return the kernels of buckets, in the order of their launches; `ranking` is what ranking takes in the shape of
    `rest`."""
    return _counting(p) if p.counted else _sorting(p, ranking)


def _sorting(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """The kernels that sort a bucket, and the buckets whose bins are crowded."""
    bucket = present(p.bucket)
    what = f"sort a bucket of up to {capacity(p)} keys on chip"
    arrays = (Array(name="tile", type="key", count=capacity(p)), *bin_sort.arrays(bucket, p.subgroup))
    arrays += (word_array("unordered", 1),) * p.pieces
    buffers = (DESTINATION, WORDS)
    sort = bin_sort.with_room(holding(summing(kernel(p, "bucket", what, bucket, buffers, arrays), p), p))
    bins = BinSort(shape=bucket, subgroup=p.subgroup, key=p.key, load="at_once")
    if p.pieces:  # what is crowded is sorted in memory
        data = OnChip(bins=replace(bins, crowd=bin_sort.SPREAD), groups=CHIP)
        return (replace(sort, template=f"{_BUCKET_SORT}:bucket_or_piece", data=data),)
    sort = replace(sort, template=f"{_BUCKET_SORT}:bucket", data=OnChip(bins=bins))
    again = kernel(p, "bucket_rest", "sort crowded buckets by all their bits", bucket, buffers, ranking)
    again = replace(again, template=f"{_BUCKET_SORT}:crowded_buckets", data=rest(p))
    return sort, replace(again, subgroup=p.subgroup, ballot=p.ranker == "match_ballot")


def _counting(p: Hybrid) -> tuple[Kernel, ...]:
    """The kernel that counts a bucket: two counters in a word, some keys in order, and the long runs of equal ones."""
    counting = present(p.counting)
    arrays = (
        Array(name="tile", type="key", count=counting.size),
        word_array("bin_counts", counting.words),
        word_array("runs", COUNT_MOST // counting.long_run + 1),
        *sums(counting.work_group, p.subgroup),
    )
    what = f"count the lowest {counting.bits} bits of a bucket of up to {COUNT_MOST} keys, and store them in order"
    made = summing(kernel(p, "bucket_count", what, counting, (DESTINATION, WORDS), arrays), p)
    fits = 2 if counting.work_group <= LANES else 1  # work-groups on a core: one fills half of the local memory
    made = replace(made, resident=fits if p.resident else 0)
    return (replace(made, template="radix/hybrid/bucket_sort:counted_bucket", data=counting),)
