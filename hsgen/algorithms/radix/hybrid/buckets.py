"""Keys alone dealt into buckets by their highest digits, each bucket then sorted on chip: shape, words and kernels.

A most-significant-digit-first radix sort after Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on
GPUs" (SIGMOD 2017), of two digits: keys are read five times and written three times, regardless of their width, and
not in an order that must be kept, so no tile waits for another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE
from hsgen.algorithms.radix import bin_sort
from hsgen.algorithms.radix.bin_sort import BinSort, OnChip
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import EQUAL, sampling, sums
from hsgen.algorithms.radix.rankers import array as _array
from hsgen.algorithms.radix.stages import Bucket, present
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

CHIP = 1056
"""The work-groups that sort pieces of keys alone, behind passes: see `pieces`."""
_SETS = {1: 4, 2: 2}
"""Sets of counters of a work-group that counts, by level: many keys of the first digit may be alike."""
_GROUPS = 1024  # work-groups of a count, at most: more would only wait for each other's additions
COUNT_MOST = 65535
"""The keys of a bucket that are counted, at most: by 16 bits."""
_HOLDING = ("msd_first", "msd_second", "bucket")  # lanes of these hold keys in registers
_SUMMING = ("msd_starts", "msd_places", "bucket_count", *_HOLDING)  # lanes of these sum over others
_BUCKET_SORT = "radix/hybrid/bucket_sort"
_LANES = 1024  # of a core with 65536 registers: 64 for each
_DEALT, _WORDS = Buffer(name="dealt"), Buffer(name="words", type="u32")
_KEPT = replace(_DEALT, read_only=True)


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
    """The layout for templates: numbers derived from the shape, and indices of 32-bit words in scratch.

    shared: as the function.
    fits: two flags, whether buckets may still hold all keys after either digit was counted.  rest: a counter of
    buckets in which places are crowded.  counts, starts, cursors, tiles: of the first digit, the latter two with one
    entry more; tiles of its values before each.  table: for 2^b buckets, 2^b + 1 starts, then 2^b counts that become
    cursors, then the list of crowded buckets.
    """

    least: int
    most: int
    limit: int
    capacity: int
    shared: int
    tile: int
    lanes: int
    groups: int
    digits: int
    equal: int
    key_bits: int
    fits: int
    rest: int
    counts: int
    starts: int
    cursors: int
    tiles: int
    table: int


def layout(p: Hybrid, at: int, table: int) -> Layout:
    """Return the layout where the words begin at `at` and the table at `table`."""
    return Layout(
        least=least(p),
        most=most(p),
        limit=limit(p),
        capacity=capacity(p),
        shared=shared(p),
        tile=tile(p),
        lanes=present(p.partition).work_group,
        groups=groups(p),
        digits=p.msd_digits,
        equal=EQUAL,
        key_bits=p.key.bits,
        fits=at,
        rest=at + 2,
        counts=at + 3,
        starts=at + 3 + p.msd_digits,
        cursors=at + 4 + 2 * p.msd_digits,
        tiles=at + 4 + 3 * p.msd_digits,
        table=table,
    )


def groups(p: Hybrid) -> int:
    """Return the most work-groups of the first count, and of the sort of crowded buckets."""
    return min(p.groups, _GROUPS)


def _kernel(
    p: Hybrid, name: str, summary: str, buffers: tuple[Buffer, ...], arrays: tuple[Array, ...] = (), level: int = 0
) -> Kernel:
    tiles = p.counting if name == "bucket_count" else p.bucket if name.startswith("bucket") else p.partition
    lanes = present(tiles).work_group
    return Kernel(
        name=name + "_wide" * p.index64,
        index64=p.index64,
        template="radix/hybrid/" + {"msd_first": "msd_deal", "msd_second": "msd_deal"}.get(name, name),
        summary=summary,
        work_group=lanes,
        subgroup=p.subgroup if name in _SUMMING else 1,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        resident=_resident(p, name, lanes),
        data=level,
        scratch=words(p),
    )


def _resident(p: Hybrid, name: str, lanes: int) -> int:
    """The work-groups that a core is to hold at once; one that counts fills half of the local memory."""
    if p.resident and name == "bucket_count":
        return 2 if lanes <= _LANES else 1
    return max(1, _LANES // lanes) if p.resident and name in _HOLDING else 0


def crowded(p: Hybrid, bucket: Bucket) -> Hybrid:
    """Return the shape in which a work-group of a bucket sorts its keys a digit at a time."""
    bits = p.crowded_bits or p.bits
    return replace(p, bits=bits, work_group=bucket.work_group, items=bucket.items, single=None, resident=0)


def rest(p: Hybrid) -> Hybrid:
    """Return the shape of the kernel for crowded buckets: the ranker of the target in a work-group of a bucket."""
    return crowded(p, present(p.bucket))


def kernels(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches; `ranking` is what ranking takes in the shape of `rest`."""
    own = sums(present(p.partition).work_group, p.subgroup)
    deal = (
        Array(name="tile", type="key", count=tile(p)),
        _array("counts", p.msd_digits),
        _array("bases", p.msd_digits),
        *own,
        _array("found", 2),
    )
    found = (_array("found", 1),) if p.sorted_exit else ()
    counts = {n: _array("counts", max(p.msd_digits * sets, sampling(p) * (n == 1))) for n, sets in _SETS.items()}
    return (
        _kernel(p, "msd_begin", "clear the counts of the first digit", (_WORDS,)),
        _kernel(p, "msd_histogram", "count the first digit", (SOURCE, _WORDS), (counts[1], *found), _SETS[1]),
        _kernel(p, "msd_starts", "turn the counts of the first digit into starts", (_WORDS,), own),
        _kernel(p, "msd_first", "deal keys by the first digit", (SOURCE, _DEALT, _WORDS), deal, 1),
        _kernel(p, "msd_count", "count the second digit", (_KEPT, _WORDS), (counts[2], _array("found", 1)), _SETS[2]),
        _kernel(p, "msd_places", "turn the counts of buckets into starts", (_WORDS,), own),
        _kernel(p, "msd_second", "deal keys by the second digit", (_KEPT, DESTINATION, _WORDS), deal, 2),
        *(_counting(p) if p.counted else _sorting(p, ranking)),
    )


def _sorting(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """The kernels that sort a bucket, and the buckets whose bins are crowded."""
    bucket = present(p.bucket)
    what = f"sort a bucket of up to {capacity(p)} keys on chip"
    arrays = (Array(name="tile", type="key", count=capacity(p)), *bin_sort.arrays(bucket, p.subgroup))
    arrays += (_array("unordered", 1),) * p.pieces
    sort = bin_sort.with_room(_kernel(p, "bucket", what, (DESTINATION, _WORDS), arrays))
    bins = BinSort(shape=bucket, subgroup=p.subgroup, key=p.key, load="clamped")
    if p.pieces:  # what is crowded is sorted in memory
        data = OnChip(bins=replace(bins, crowd=bin_sort.SPREAD), groups=CHIP)
        return (replace(sort, template=f"{_BUCKET_SORT}:bucket_or_piece", data=data),)
    sort = replace(sort, template=f"{_BUCKET_SORT}:bucket", data=OnChip(bins=bins))
    again = _kernel(p, "bucket_rest", "sort crowded buckets by all their bits", (DESTINATION, _WORDS), ranking)
    again = replace(again, template=f"{_BUCKET_SORT}:crowded_buckets", data=rest(p))
    return sort, replace(again, subgroup=p.subgroup, ballot=p.ranker == "match_ballot")


def _counting(p: Hybrid) -> tuple[Kernel, ...]:
    """The kernel that counts a bucket: two counters in a word, some keys in order, and the long runs of equal ones."""
    counting = present(p.counting)
    arrays = (
        Array(name="tile", type="key", count=counting.size),
        _array("bin_counts", counting.words),
        _array("runs", COUNT_MOST // counting.long_run + 1),
        *sums(counting.work_group, p.subgroup),
    )
    what = f"count the lowest {counting.bits} bits of a bucket of up to {COUNT_MOST} keys, and store them in order"
    made = _kernel(p, "bucket_count", what, (DESTINATION, _WORDS), arrays)
    return (replace(made, template="radix/hybrid/counting_bucket_sort:bucket", data=counting),)
