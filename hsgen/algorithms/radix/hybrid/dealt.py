"""Keys of 32 bits with values of 4 bytes, dealt once into buckets with their indices: shape, words and kernels.

A bucket is then sorted on chip by keys and, where these are equal, by indices: that restores the order in which they
came, and the indices find the values.  So few pairs take one step to their bucket, not two stable passes, and no
work-group waits for another.  Pairs whose highest bits are uneven are left to the passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE, VALUES_IN, VALUES_OUT
from hsgen.algorithms.radix import bin_sort
from hsgen.algorithms.radix.bin_sort import Crowd, OnChip, StableBinSort
from hsgen.algorithms.radix.hybrid import pairs
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import WORDS, sums
from hsgen.algorithms.radix.rankers import array
from hsgen.algorithms.radix.stages import Bucket, present
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

PAIRS = Buffer(name="pairs", type="pair")  # in scratch, as long as second buffers of keys and values
_KEPT = replace(PAIRS, read_only=True)


def tile(p: Hybrid) -> int:
    """Return the pairs that a work-group deals."""
    return present(p.dealt).size


def least(p: Hybrid) -> int:
    """Return the count above which pairs are dealt."""
    return max(present(p.dealt).above, p.alone)


def most(p: Hybrid) -> int:
    """Return the greatest count of pairs that are dealt: for more, passes are ahead of buckets."""
    return pairs.least(p)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout for templates: lanes, buckets at most, and indices of 32-bit words in scratch.

    counts, cursors, starts: of buckets; the latter with one entry more.
    """

    lanes: int
    digits: int
    counts: int
    cursors: int
    starts: int


def layout(p: Hybrid, at: int) -> Layout:
    """Return the layout where the words begin at `at`."""
    digits = p.deal_digits
    return Layout(
        lanes=present(p.dealt).work_group,
        digits=digits,
        counts=at,
        cursors=at + digits,
        starts=at + 2 * digits,
    )


def kernels(p: Hybrid, at: int) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches; `at` is where their words begin."""
    data, tiles = layout(p, at), present(p.dealt)
    own = sums(tiles.work_group, p.subgroup)
    counts, bases, full = array("counts", p.deal_digits), array("bases", p.deal_digits), array("full", 4)
    values = (VALUES_OUT, *(() if p.signature.index else (VALUES_IN,)))
    dealing = (SOURCE, PAIRS, WORDS)
    return (
        _kernel(p, data, "deal_begin", "clear the counts of buckets of dealt pairs", (WORDS,)),
        _kernel(p, data, "deal_count", "count the highest bits of pairs", (SOURCE, WORDS), (counts,)),
        _kernel(
            p,
            data,
            "deal_pairs",
            "deal keys and indices into buckets",
            dealing,
            (counts, bases, *own, full),
            tiles.work_group,
        ),
        _bucket(p, data, (_KEPT, DESTINATION, WORDS, *values)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketSort(OnChip):
    """Facts for the template of the kernel that sorts buckets of dealt pairs: the layout of scratch, too."""

    layout: Layout


def _bucket(p: Hybrid, data: Layout, buffers: tuple[Buffer, ...]) -> Kernel:
    """The kernel that sorts a bucket, in the work-group of a bucket of pairs.

    A network takes less time than lanes that compare more keys of a bin than an eighth of the bucket.
    """
    pair_bucket, room = present(p.pair_bucket), pairs.capacity(p)
    shape = Bucket(work_group=pair_bucket.work_group, items=pair_bucket.items, bins=present(p.dealt).bins)
    arrays = (
        Array(name="tile", type="key", count=room),
        array("order", room),
        *bin_sort.arrays(shape, p.subgroup),
    )
    summary = f"sort a bucket of up to {room} dealt pairs on chip"
    made = _kernel(p, data, "deal_bucket", summary, buffers, arrays, shape.work_group)
    bins = StableBinSort(shape=shape, subgroup=p.subgroup, key=p.key, shift="given", crowd=Crowd(limit=room // 8))
    template = "radix/hybrid/dealt_bucket_sort:bucket"
    return bin_sort.with_room(replace(made, template=template, data=BucketSort(bins=bins, layout=data)))


def _kernel(
    p: Hybrid,
    data: Layout,
    name: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...] = (),
    summing: int = 0,
) -> Kernel:
    """`summing`: the lanes of a work-group that sums over others."""
    return Kernel(
        name=name,
        template="radix/hybrid/" + name,
        summary=summary,
        work_group=summing or present(p.dealt).work_group,
        subgroup=p.subgroup if summing else 1,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        data=data,
    )
