"""Keys alone dealt into buckets by their highest digits, each bucket then sorted on chip: shape, words and kernels.

A most-significant-digit-first radix sort after Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on
GPUs" (SIGMOD 2017), of two digits: keys are read five times and written three times, regardless of their width, and
not in an order that must be kept, so no tile waits for another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import CROWD, sums
from hsgen.algorithms.radix.rankers import array as _array
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

_SETS = {1: 4, 2: 2}
"""Sets of counters of a work-group that counts, by level: many keys of the first digit may be alike."""
_GROUPS = 1024  # work-groups of a count, at most: more would only wait for each other's additions
_HOLDING = ("msd_first", "msd_second", "bucket")  # lanes of these hold keys in registers
_SUMMING = ("msd_starts", "msd_places", *_HOLDING)  # lanes of these sum over others
_LANES = 1024  # of a core with 65536 registers: 64 for each
_DEALT, _WORDS = Buffer(name="dealt"), Buffer(name="words", type="u32")
_KEPT = replace(_DEALT, read_only=True)


def tile(p: Hybrid) -> int:
    """Return the keys that a work-group deals at once."""
    return p.msd_group * p.msd_items


def capacity(p: Hybrid) -> int:
    """Return the keys of a bucket that a work-group sorts on chip."""
    return p.bucket_group * p.bucket_items


def limit(p: Hybrid) -> int:
    """Return the keys of a bucket on average, at most."""
    return p.bucket_limit


def most(p: Hybrid) -> int:
    """Return the greatest count that two digits deal into buckets."""
    return min(limit(p) << 2 * p.msd_digit, 1 << 32)


def least(p: Hybrid) -> int:
    """Return the count above which buckets are tried."""
    return max(p.msd_from or 0, p.alone)


def widths(p: Hybrid, n: int) -> tuple[int, int]:
    """Return the bits of both digits for n > `limit` keys, as few as the limit allows.  Kernels do the same."""
    bits = max(1, (-(-n // limit(p)) - 1).bit_length())
    return (bits + 1) // 2, bits // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout for templates: numbers derived from the shape, and indices of 32-bit words in scratch.

    fits: two flags, whether buckets may still hold all keys after either digit was counted.  rest: a counter of
    buckets in which places are crowded.  counts, starts, cursors, tiles: of the first digit, the latter two with one
    entry more; tiles of its values before each.  table: for 2^b buckets, 2^b + 1 starts, then 2^b counts that become
    cursors, then the list of crowded buckets.
    """

    least: int
    most: int
    limit: int
    capacity: int
    tile: int
    lanes: int
    groups: int
    digits: int
    crowd: int
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
        tile=tile(p),
        lanes=p.msd_group,
        groups=groups(p),
        digits=p.msd_digits,
        crowd=CROWD,
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
    lanes = p.bucket_group if name.startswith("bucket") else p.msd_group
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
        resident=max(1, _LANES // lanes) if p.resident and name in _HOLDING else 0,
        data=level,
    )


def rest(p: Hybrid) -> Hybrid:
    """Return the shape of the kernel for crowded buckets: the ranker of the target in a work-group of a bucket."""
    return replace(p, work_group=p.bucket_group, items=p.bucket_items, single=None, resident=0)


def kernels(p: Hybrid, ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches; `ranking` is what ranking takes in the shape of `rest`."""
    own = sums(p.msd_group, p.subgroup)
    deal = (
        Array(name="tile", type="key", count=tile(p)),
        _array("counts", p.msd_digits),
        _array("bases", p.msd_digits),
        *own,
        _array("found", 2),
    )
    held = Array(name="tile", type="key", count=capacity(p)), _array("places", p.bucket_places)
    again = _kernel(p, "bucket_rest", "sort crowded buckets by all their bits", (DESTINATION, _WORDS), ranking)
    found = (_array("found", 1),) if p.sorted_exit else ()
    counts = {level: _array("counts", p.msd_digits * sets) for level, sets in _SETS.items()}
    return (
        _kernel(p, "msd_begin", "clear the counts of the first digit", (_WORDS,)),
        _kernel(p, "msd_histogram", "count the first digit", (SOURCE, _WORDS), (counts[1], *found), _SETS[1]),
        _kernel(p, "msd_starts", "turn the counts of the first digit into starts", (_WORDS,), own),
        _kernel(p, "msd_first", "deal keys by the first digit", (SOURCE, _DEALT, _WORDS), deal, 1),
        _kernel(p, "msd_count", "count the second digit", (_KEPT, _WORDS), (counts[2], _array("found", 1)), _SETS[2]),
        _kernel(p, "msd_places", "turn the counts of buckets into starts", (_WORDS,), own),
        _kernel(p, "msd_second", "deal keys by the second digit", (_KEPT, DESTINATION, _WORDS), deal, 2),
        _kernel(
            p,
            "bucket",
            f"sort a bucket of up to {capacity(p)} keys on chip",
            (DESTINATION, _WORDS),
            (*held, *sums(p.bucket_group, p.subgroup), _array("full", 2)),
        ),
        replace(again, params=rest(p), subgroup=p.subgroup, ballot=p.ranker == "match_ballot"),
    )
