"""Few 32-bit keys with values of 4 bytes, partitioned with their indices into buckets by one launch: shape and kernels.

A bucket is sorted on chip by key and, among equal keys, by index.  The sort is therefore stable, although pairs reach
their bucket in any order, and the indices locate the values.  Pairs take one step to their bucket, not two stable
passes, and no work-group waits for another.  Pairs whose highest bits are uneven are left to the passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, SOURCE, VALUES_IN, VALUES_OUT, word_array
from hsgen.algorithms.radix import bin_sort
from hsgen.algorithms.radix.bin_sort import Crowd, OnChip, StableBinSort
from hsgen.algorithms.radix.hybrid import pairs
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import WORDS, Body, sums
from hsgen.algorithms.radix.stages import Bucket, present
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

PAIRS = Buffer(name="pairs", type="pair")  # in scratch, in place of the second buffers of keys and values
_READ = replace(PAIRS, read_only=True)


def tile(p: Hybrid) -> int:
    """Return the number of pairs that a work-group partitions at once."""
    return present(p.pair_partition).size


def least(p: Hybrid) -> int:
    """Return the count above which pairs are partitioned."""
    return max(present(p.pair_partition).above, p.alone)


def most(p: Hybrid) -> int:
    """Return the greatest count of pairs that are partitioned; for more pairs, passes run ahead of buckets."""
    return pairs.least(p)


def kernels(p: Hybrid) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches."""
    return (begin(p), histogram(p), partition(p), bucket(p))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPartition(Body):
    """The variants of the phases, as names of templates.

    buckets: the number of highest bits that the keys of a bucket share.
    """

    buckets: str = "radix/hybrid/variants.j2:pairs"


def _partition(
    p: Hybrid, name: str, macro: str, summary: str, buffers: tuple[Buffer, ...], *arrays: Array, sums: bool = False
) -> Kernel:
    """A kernel whose template is the macro `macro` of pair_partition.j2; `sums`: its lanes compute prefix sums."""
    kernel = _kernel(p, name, summary, buffers, arrays, present(p.pair_partition).work_group, sums=sums)
    return replace(kernel, template=f"radix/hybrid/pair_partition:{macro}", data=PairPartition())


def begin(p: Hybrid) -> Kernel:
    """Return the kernel that clears the histogram."""
    return _partition(p, "pair_partition_begin", "begin", "clear the histogram of buckets", (WORDS,))


def histogram(p: Hybrid) -> Kernel:
    """Return the kernel that counts the pairs of each bucket."""
    counts = word_array("counts", p.pair_partition_radix)
    return _partition(
        p, "pair_partition_histogram", "histogram", "count the highest bits of the keys", (SOURCE, WORDS), counts
    )


def partition(p: Hybrid) -> Kernel:
    """Return the kernel that stores each key with its index in its bucket."""
    lanes = sums(present(p.pair_partition).work_group, p.subgroup)
    arrays = (
        word_array("counts", p.pair_partition_radix),
        word_array("bases", p.pair_partition_radix),
        *lanes,
        word_array("full", 4),
    )
    summary, buffers = "partition keys and indices by the highest bits of the keys", (SOURCE, PAIRS, WORDS)
    return _partition(p, "pair_partition", "partition", summary, buffers, *arrays, sums=True)


def bucket(p: Hybrid) -> Kernel:
    """Return the kernel that sorts a bucket, with the lanes and items of a bucket of pairs.

    Bins are crowded above an eighth of the bucket's keys in one bin: a network is then faster than comparing the keys
    of a bin.
    """
    pair_bucket, room = present(p.pair_bucket), pairs.capacity(p)
    shape = Bucket(work_group=pair_bucket.work_group, items=pair_bucket.items, bins=present(p.pair_partition).bins)
    keys = Array(name="tile", type="key", count=room), word_array("order", room)
    values = (VALUES_OUT, *(() if p.signature.index else (VALUES_IN,)))
    buffers, arrays = (_READ, DESTINATION, WORDS, *values), (*keys, *bin_sort.arrays(shape, p.subgroup))
    summary = f"sort a bucket of up to {room} partitioned pairs on chip"
    kernel = _kernel(p, "pair_partition_bucket", summary, buffers, arrays, shape.work_group, sums=True)
    bins = StableBinSort(shape=shape, subgroup=p.subgroup, key=p.key, shift="given", crowd=Crowd(limit=room // 8))
    template = "radix/hybrid/pair_partition_bucket:bucket"
    return bin_sort.with_room(replace(kernel, template=template, data=OnChip(bins=bins)))


def _kernel(
    p: Hybrid,
    name: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...],
    lanes: int,
    *,
    sums: bool,
) -> Kernel:
    """A kernel of work-groups of `lanes` lanes; `sums`: its lanes compute prefix sums."""
    return Kernel(
        name=name,
        template="radix/hybrid/" + name,
        summary=summary,
        work_group=lanes,
        subgroup=p.subgroup if sums else 1,
        buffers=(*buffers, *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        scratch=words(p),
    )
