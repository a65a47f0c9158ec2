"""Kernels of the two partitions that bring keys without values into buckets (`hsgen.algorithms.radix.hybrid.buckets`).

The first partition is by the highest digit, the second by the next digit.  A partition may reorder keys with the same
digit, so no tile waits for another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE, word_array
from hsgen.algorithms.radix.hybrid import buckets
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.parts import WORDS, Body, order_check, order_flag, sampling, sums
from hsgen.algorithms.radix.stages import present
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

PARTITIONED = Buffer(name="partitioned")
"""The buffer in scratch that holds the keys between the two partitions."""
_READ = replace(PARTITIONED, read_only=True)
_FOLDER, _VARIANTS, _SAMPLED = "radix/hybrid/", "radix/hybrid/variants.j2:", "radix/hybrid/sampled_begin"
_FIRST_SETS, _SECOND_SETS = 4, 2
"""The number of copies of each counter in a work-group: for the count of the first digit, and of the second.

With several copies, fewer lanes wait for the same counter.  There are more for the first digit, because many keys may
have the same first digit.
"""
_FIRST_BYTES, _SECOND_BYTES = 64, 32
"""A lane loads at most this many bytes of keys at once, and then counts the digits of these keys.

`_FIRST_BYTES` is the limit in the count of the first digit, `_SECOND_BYTES` in that of the second.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """The counters in local memory of a work-group that counts a digit.

    radix: the number of values of the digit.
    lanes: the number of lanes of the work-group.
    sets: the number of copies of the counter of each value; a lane adds to one copy.
    at_once: the number of keys that a lane loads at once before it counts the first of them.
    """

    radix: int
    lanes: int
    sets: int
    at_once: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioning(Body):
    """The choice of code for the kernels of the partitions (see `hsgen.algorithms.radix.phases`), and derived numbers.

    buckets: how a kernel computes how many bits the number of a bucket has.
    width: whether indices have 32 or 64 bits.
    order_check: whether the first histogram kernel also checks if the keys are in order already.  With a sample, the
    kernel checks instead whether a key lies outside the range of the sampled keys.
    sample: whether the first histogram kernel has an additional work-group, which compares the keys of a sample.
    groups: the greatest number of work-groups that count the first digit, without the one for the sample.
    capacity: the most keys that a bucket may have.
    counters: the counters, if the kernel counts a digit; else None.
    """

    buckets: str
    width: str
    order_check: str
    sample: str
    groups: int
    capacity: int
    counters: Counters | None = None


def _data(p: Hybrid, counters: Counters | None = None) -> Partitioning:
    kind = "sampled_keys" if p.sampled else "counted" if p.counted else "keys"
    return Partitioning(
        buckets=f"{_VARIANTS}{kind}",
        width=f"{_VARIANTS}wide" if p.index64 else f"{_VARIANTS}narrow",
        order_check=f"{_SAMPLED}.j2:outside" if p.sampled else order_check(p.sorted_exit),
        sample=f"{_VARIANTS}key_sample" if p.pieces else "radix/onesweep/variants.j2:no_sample",
        groups=buckets.groups(p),
        capacity=buckets.capacity(p),
        counters=counters,
    )


def _counters(p: Hybrid, sets: int, load: int) -> Counters:
    """Return the counters of a work-group that partitions: `sets` copies; a lane loads `load` bytes of keys at once."""
    tiles = present(p.partition)
    at_once = min(load // p.key.bytes, tiles.items)
    return Counters(radix=p.partition_radix, lanes=tiles.work_group, sets=sets, at_once=at_once)


def _kernel(
    p: Hybrid,
    name: str,
    macro: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...] = (),
    counters: Counters | None = None,
) -> Kernel:
    """Return a kernel whose template is the macro `macro` of partition.j2."""
    template = f"{_FOLDER}partition:{macro}"
    kernel = buckets.kernel(p, name, summary, present(p.partition), buffers, arrays, template=template)
    return replace(kernel, data=_data(p, counters))


def begin(p: Hybrid) -> Kernel:
    """Return the kernel that clears the first histogram and the status words, and that takes the sample, if any."""
    kernel = _kernel(p, "partition_begin", "begin", "clear the histogram of the first digit", (WORDS,))
    if not p.sampled:
        return kernel
    subgroups, size = present(p.partition).work_group // p.subgroup, p.sampled
    equals = (Array(name="sampled", type="key", count=size), word_array("equals", 2 * size))
    arrays = (
        Array(name="least", type="key", count=subgroups),
        Array(name="greatest", type="key", count=subgroups),
        word_array("table", 2 * size),
        *(equals if not p.pieces else ()),
        word_array("results", 2),
    )
    summary = "choose the bits of the number of a bucket by a sample of the keys"
    kernel = replace(kernel, summary=summary, buffers=(SOURCE, *kernel.buffers), template=f"{_SAMPLED}:begin")
    return buckets.summing(replace(kernel, arrays=arrays), p)


def histogram(p: Hybrid) -> Kernel:
    """Return the kernel that counts the first digit.  With a sample, an additional work-group compares its keys."""
    counters = _counters(p, _FIRST_SETS, _FIRST_BYTES)
    words = max(p.partition_radix * counters.sets, sampling(p) if p.pieces else 0)
    arrays = (word_array("counts", words), *order_flag(p))
    return _kernel(p, "first_histogram", "histogram", "count the first digit", (SOURCE, WORDS), arrays, counters)


def _sums(p: Hybrid) -> tuple[Array, ...]:
    """Return the local arrays that a prefix sum over the lanes of a work-group needs."""
    return sums(present(p.partition).work_group, p.subgroup)


def starts(p: Hybrid) -> Kernel:
    """Return the kernel that turns the histogram of the first digit into starts, cursors and tile numbers."""
    kernel = _kernel(
        p, "first_starts", "starts", "turn the histogram of the first digit into starts", (WORDS,), _sums(p)
    )
    return buckets.summing(kernel, p)


def _partition(p: Hybrid, kernel: Kernel, *more: Array) -> Kernel:
    """Return the kernel with the local arrays that a work-group needs to partition a tile, and those in `more`."""
    arrays = (
        Array(name="tile", type="key", count=buckets.tile(p)),
        word_array("counts", p.partition_radix),
        word_array("bases", p.partition_radix),
        *_sums(p),
        *more,
        word_array("tile_shift", 1),
    )
    return buckets.holding(buckets.summing(replace(kernel, arrays=arrays), p), p)


def first(p: Hybrid) -> Kernel:
    """Return the kernel that moves the keys from the source to `PARTITIONED`, partitioned by the first digit."""
    kernel = _kernel(
        p, "first_partition", "first", "partition the keys by the first digit", (SOURCE, PARTITIONED, WORDS)
    )
    return _partition(p, kernel)


def second_histogram(p: Hybrid) -> Kernel:
    """Return the kernel that counts the second digit, separately for each value of the first digit."""
    counters = _counters(p, _SECOND_SETS, _SECOND_BYTES)
    arrays = (word_array("counts", p.partition_radix * counters.sets), word_array("tile_value", 1))
    return _kernel(
        p, "second_histogram", "second_histogram", "count the second digit", (_READ, WORDS), arrays, counters
    )


def bucket_starts(p: Hybrid) -> Kernel:
    """Return the kernel that turns the histograms of the second digit into the starts and cursors of buckets."""
    kernel = _kernel(
        p,
        "second_starts",
        "bucket_starts",
        "turn the histograms of the second digit into starts of buckets",
        (WORDS,),
        _sums(p),
    )
    return buckets.summing(kernel, p)


def second(p: Hybrid) -> Kernel:
    """Return the kernel that moves the keys from `PARTITIONED` to their buckets in the destination."""
    kernel = _kernel(
        p, "second_partition", "second", "partition the keys by the second digit", (_READ, DESTINATION, WORDS)
    )
    return _partition(p, kernel, word_array("tile_value", 1))


def kernels(p: Hybrid) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches."""
    order = (begin, histogram, starts, first, second_histogram, bucket_starts, second)
    return tuple(kernel(p) for kernel in order)
