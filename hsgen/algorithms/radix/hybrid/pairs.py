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

from hsgen.algorithms.buffers import DEVICE_N, word_array
from hsgen.algorithms.radix import bin_sort
from hsgen.algorithms.radix.bin_sort import BinSort, Crowd, OnChip
from hsgen.algorithms.radix.hybrid import buckets
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import REPEATED
from hsgen.algorithms.radix.stages import present
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel
from hsgen.core.keys import PLAIN
from hsgen.core.regions import Region

EARLY = 1 << 8
"""A flag in the numbers of the two passes before the buckets: their keys are needed for every request."""
_LANES = 1024  # of a core with 65536 registers: 64 for each
_LOCAL = 1 << 17  # bytes of local memory of which a core has no room for two
_GROUPS = 256  # work-groups that sort crowded buckets, at most
SLACK = 15
"""The bits of `limit` in an argument; five bits above it say by how many 128ths of it a bucket may exceed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the word `pair_status` says, which is 0 while buckets may sort the pairs.

    uneven: a bucket is too large; the only one behind passes that look back.  sorted: buckets have sorted the pairs.
    fallback: all passes are left to do.  partitioned: buckets sort the pairs, which were partitioned at once.
    """

    uneven: int = 1
    sorted: int = 2
    fallback: int = 3
    partitioned: int = 4


STATUS = Status()


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
    """The layout for templates: numbers derived from the shape, and regions of scratch.

    slot_mask: the bits of the number of a slot.  index: whether keys may be
    unwanted.  uneven: whether some bucket exceeds the capacity, and nothing was finished; where passes count, 0 or one
    of the numbers above, here no, sorted, left and dealt.  deal_least: above which count pairs may be dealt, or -1.
    rest: a counter of buckets in which places are crowded.  Where a sample of keys is compared: over: whether some
    bucket is too large.  held, mean: capacity and limit, for kernels whose text does not depend on them.  low: the
    lowest bit that passes sort by, and `REPEATED` where equal keys are many.  table: starts of buckets and more
    (templates/radix/hybrid/pieces.j2), else in a buffer of their own.  slack: the constant above.
    """

    capacity: int
    limit: int
    key_bits: int
    slot_mask: int
    index: bool
    digits: int
    groups: int
    uneven: Region
    rest: Region
    over: Region | None
    held: Region | None
    mean: Region | None
    low: Region | None
    table: Region
    least: int
    most: int
    deal_least: int
    slack: int = SLACK
    repeated: int = REPEATED
    no: int = STATUS.uneven
    sorted: int = STATUS.sorted
    left: int = STATUS.fallback
    dealt: int = STATUS.partitioned


def layout(p: Hybrid) -> Layout:
    """Return the layout."""
    scratch = words(p)
    sizes = dict(SIZES)
    if p.pair_bucket:
        mask = (1 << slot_bits(p)) - 1
        sizes |= {"capacity": capacity(p), "limit": limit(p), "slot_mask": mask, "least": least(p), "most": most(p)}
    return Layout(
        **{**sizes, "groups": groups(p)},
        key_bits=p.key.bits,
        index=p.signature.index,
        digits=len(p.digits),
        uneven=present(scratch.pair_status),
        rest=present(scratch.crowded_buckets),
        over=scratch.large_buckets,
        held=scratch.bucket_capacity,
        mean=scratch.bucket_mean,
        low=scratch.lowest_bit,
        table=scratch.bucket_starts,
        deal_least=max(present(p.dealt).above, p.alone) if p.deal else -1,
    )


SIZES: Mapping[str, Any] = dict.fromkeys(("capacity", "limit", "slot_mask", "groups", "least", "most"), 0)
"""What depends on how large buckets are, for kernels whose text does not."""


def groups(p: Hybrid) -> int:
    """Return the work-groups that sort crowded buckets."""
    return min(p.groups, _GROUPS)


def bound_groups(p: Hybrid) -> int:
    """Return the work-groups of which every lane finds the start of one bucket."""
    return (1 << top_bits(p)) // p.work_group + 1


def rest(p: Hybrid) -> Hybrid:
    """Return the shape of the kernel for crowded buckets: keys that say by themselves where their values are."""
    return replace(buckets.crowded(p, present(p.pair_bucket)), signature=PLAIN)


def on_chip(p: Hybrid, data: Layout, buffers: tuple[Buffer, ...]) -> Kernel:
    """Return the kernel that sorts buckets on chip, and pieces of buckets if there are any."""
    bucket = present(p.pair_bucket)
    lists = Array(name="tile", type="key", count=bucket.size), word_array("slot_values", bucket.size)
    pieces = (word_array("piece_bounds", 4), word_array("unordered", 1)) if p.pieces else ()
    own = (*lists, *bin_sort.arrays(bucket, p.subgroup), *pieces)
    what = f"sort a bucket of up to {capacity(p)} keys on chip"
    sort = bin_sort.with_room(kernel(p, data, "finish", what, buffers, own, "", bucket.work_group))
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
    data: object,
    name: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...] = (),
    template: str = "",
    lanes: int = 0,
) -> Kernel:
    """Return a kernel for pairs.

    lanes: of a work-group, if not those of a pass.
    """
    return Kernel(
        name=name,
        template="radix/hybrid/" + (template or name),
        summary=summary,
        work_group=lanes or p.work_group,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        data=data,
        scratch=words(p),
    )
