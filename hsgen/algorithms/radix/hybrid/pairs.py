"""Keys with values passed by their two highest digits, then sorted on chip, bucket by bucket: shape and kernels.

After two stable passes the keys are in order of their highest bits, and those that share these in the order in which
they came.  A work-group then holds such a bucket.  Where its keys share as many bits as number their slots, the number
of the slot takes the place of the shared bits: keys become distinct, so any sort of them is stable, and each says by
itself where its value is.  A hybrid radix sort after Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix
Sort on GPUs" (SIGMOD 2017), but with passes that keep the order.  What buckets do not hold is sorted by passes over
all digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE, VALUES_OUT
from hsgen.algorithms.radix import bin_sort
from hsgen.algorithms.radix.bin_sort import BinSort, Crowd, OnChip
from hsgen.algorithms.radix.hybrid import buckets
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import EQUAL, REPEATED, WORDS
from hsgen.algorithms.radix.rankers import array as _array
from hsgen.algorithms.radix.stages import present
from hsgen.algorithms.radix.words import Words, words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN

EARLY = 1 << 8
"""A flag in the numbers of the two passes before the buckets: their keys are needed for every request."""
_LANES = 1024  # of a core with 65536 registers: 64 for each
_LOCAL = 1 << 17  # bytes of local memory of which a core has no room for two
_GROUPS = 256  # work-groups that sort crowded buckets, at most
SETS = 4
"""Sets of counters of a work-group that counts the highest digit: many keys may be alike in it."""
SLACK = 15
"""The bits of `limit` in an argument; five bits above it say by how many 128ths of it a bucket may exceed it."""
UNEVEN, SORTED, LEFT, DEALT = 1, 2, 3, 4
"""Where passes count: buckets are too uneven for the passes ahead or what follows them; they have sorted the pairs; all
passes are left to do; buckets sort the pairs, which were dealt at once.  0 while the passes ahead may be done."""
_BOUNDS = Buffer(name="bounds", type="u32")


def capacity(p: Hybrid) -> int:
    """Return the keys of a bucket that a work-group sorts on chip."""
    return present(p.pair_bucket).size


def limit(p: Hybrid) -> int:
    """Return the keys of a bucket on average, at most: so few that hardly one of uniform keys exceeds the capacity."""
    return present(p.pair_bucket).limit


def slot_bits(p: Hybrid) -> int:
    """Return the bits that number the slots of a bucket."""
    return present(p.pair_bucket).slot_bits


def top_bits(p: Hybrid) -> int:
    """Return the bits of the two highest digits."""
    return sum(width for _, width in p.digits[-2:])


def bits(p: Hybrid, n: int) -> int:
    """Return how many highest bits the keys of a bucket share, as few as `limit` allows.  Kernels do the same."""
    return max(1, (-(-n // limit(p)) - 1).bit_length())


def least(p: Hybrid) -> int:
    """Return the count above which buckets are tried."""
    return max(present(p.pair_bucket).start, p.alone)


def most(p: Hybrid) -> int:
    """Return the greatest count of which two digits make small enough buckets."""
    return limit(p) << top_bits(p)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout for templates: numbers derived from the shape, and indices of 32-bit words in scratch.

    first: the bits of the highest digit.  slot_mask: the bits of the number of a slot.  index: whether keys may be
    unwanted.  uneven: whether some bucket exceeds the capacity, and nothing was finished; where passes count, 0 or one
    of the numbers above, here no, sorted, left and dealt.  deal_least: above which count pairs may be dealt, or -1.
    rest: a counter of buckets in which places are crowded.  live: for each digit, whether it is not constant.  sets: as
    above.  Where a sample of keys is compared: rounds: as of the parameters.  alike: how many keys are like others in
    each round, then the highest digit in which some differ.  over: whether some bucket is too large.  held, mean:
    capacity and limit, for kernels whose text does not depend on them.  low: the lowest bit that passes sort by, and
    `REPEATED` where equal keys are many.  table: starts of buckets and more (templates/radix/hybrid/pieces.j2), else in
    a buffer of their own.  equal, slack: constants above.
    """

    capacity: int
    limit: int
    key_bits: int
    first: int
    slot_mask: int
    index: bool
    digits: int
    groups: int
    early: int
    uneven: int
    rest: int
    live: int
    rounds: int
    alike: int
    over: int
    held: int
    mean: int
    low: int
    table: int
    least: int
    most: int
    deal_least: int
    sets: int = SETS
    equal: int = EQUAL
    slack: int = SLACK
    repeated: int = REPEATED
    no: int = UNEVEN
    sorted: int = SORTED
    left: int = LEFT
    dealt: int = DEALT


def layout(p: Hybrid, words: Words) -> Layout:
    """Return the layout in these words.  Buckets of keys alone have a counter of crowded ones already."""
    at = words.finish.start
    behind = at + 3 + len(p.digits) + p.rounds
    sizes = dict(SIZES)
    if p.pair_bucket:
        mask = (1 << slot_bits(p)) - 1
        sizes |= {"capacity": capacity(p), "limit": limit(p), "slot_mask": mask, "least": least(p), "most": most(p)}
    return Layout(
        **{**sizes, "groups": groups(p)},
        key_bits=p.key.bits,
        first=p.digits[-1][1],
        index=p.signature.index,
        digits=len(p.digits),
        early=EARLY,
        uneven=at,
        rest=words.msd.start + 2 if p.msd else at + 1,
        live=at + 2,
        rounds=p.rounds,
        alike=at + 2 + len(p.digits),
        over=behind,
        held=behind + 1,
        mean=behind + 2,
        low=behind + 3,
        table=words.tile_states.start,
        deal_least=max(present(p.dealt).above, p.alone) if p.deal else -1,
    )


SIZES: Mapping[str, Any] = dict.fromkeys(("capacity", "limit", "slot_mask", "groups", "least", "most"), 0)
"""What depends on how large buckets are, for kernels whose text does not."""


def words_behind(p: Hybrid, at: int) -> int:
    """Return the index of the first word behind those of this module, which begin at `at`."""
    return at + 2 + len(p.digits)


def groups(p: Hybrid) -> int:
    """Return the work-groups that sort crowded buckets."""
    return min(p.groups, _GROUPS)


def bound_groups(p: Hybrid) -> int:
    """Return the work-groups of which every lane finds the start of one bucket."""
    return (1 << top_bits(p)) // p.work_group + 1


def rest(p: Hybrid) -> Hybrid:
    """Return the shape of the kernel for crowded buckets: keys that say by themselves where their values are."""
    return replace(buckets.crowded(p, present(p.pair_bucket)), signature=PLAIN)


def kernels(p: Hybrid, at: Words, digits: tuple[Array, ...], ranking: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches.

    `at` says where their words begin, `digits` what a scan over digits takes, `ranking` what ranking in the shape of
    `rest` does.
    """
    data, values = layout(p, at), _array("held", capacity(p))
    pairs = (DESTINATION, VALUES_OUT, _BOUNDS, WORDS)
    again = kernel(p, data, "finish_rest", "sort crowded buckets, a digit at a time", pairs, (*ranking, values))
    last = "finish_left" if p.waitless else "finish_again"
    return (
        *(_counting(p, data) if p.waitless else _starting(p, data, digits)),
        kernel(p, data, "finish_bounds", "find where each bucket begins", (DESTINATION, _BOUNDS, WORDS)),
        on_chip(p, data, pairs),
        replace(again, params=rest(p), subgroup=p.subgroup, ballot=p.ranker == "match_ballot"),
        kernel(p, replace(data, **SIZES), last, "say which passes are left, if any", (WORDS,)),
    )


def on_chip(p: Hybrid, data: Layout, buffers: tuple[Buffer, ...]) -> Kernel:
    """Return the kernel that sorts buckets on chip, and pieces of buckets if there are any."""
    bucket = present(p.pair_bucket)
    lists = Array(name="tile", type="key", count=bucket.size), _array("slot_values", bucket.size)
    pieces = (_array("piece_bounds", 4), _array("unordered", 1)) if p.pieces else ()
    own = (*lists, *bin_sort.arrays(bucket, p.subgroup), *pieces)
    what = f"sort a bucket of up to {capacity(p)} keys on chip"
    sort = bin_sort.with_room(kernel(p, data, "finish", what, buffers, own))
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
        template="radix/hybrid/pair_bucket_sort:" + ("bucket_and_pieces" if p.pieces else "bucket"),
        subgroup=p.subgroup,
        resident=many if p.resident else 0,
        data=OnChip(bins=bins),
    )


def kernel(
    p: Hybrid,
    data: Layout,
    name: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...] = (),
    template: str = "",
) -> Kernel:
    """Return a kernel that finishes, or one before it."""
    return Kernel(
        name=name,
        template="radix/hybrid/" + (template or name),
        summary=summary,
        work_group=present(p.pair_bucket).work_group if name in ("finish", "finish_rest") else p.work_group,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        data=data,
        scratch=words(p),
    )


def _starting(p: Hybrid, data: Layout, digits: tuple[Array, ...]) -> tuple[Kernel, ...]:
    """The kernel before the passes ahead where all digits have been counted."""
    what = "turn counts into starts; send the two highest digits ahead"
    return (kernel(p, data, "finish_starts", what, (WORDS,), digits),)


def _counting(p: Hybrid, data: Layout) -> tuple[Kernel, ...]:
    """The kernels before the passes ahead where each pass counts its digit."""
    counts = (_array("counts", SETS * p.radix),)
    return (
        kernel(p, data, "finish_begin", "clear the counts of the highest digit", (WORDS,)),
        kernel(p, data, "finish_histogram", "count the highest digit", (SOURCE, WORDS), counts),
        kernel(p, data, "finish_even", "say whether the two highest digits are passed ahead of others", (WORDS,)),
    )
