"""The kernels around the two passes by the highest digits that bring pairs into buckets, and the bucket sort.

The passes themselves are kernels of the fallback.  The kernels of this module decide whether the two passes run first,
find the buckets, sort them, and decide which passes are left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, SOURCE, VALUES_OUT, word_array
from hsgen.algorithms.radix.hybrid import pairs
from hsgen.algorithms.radix.hybrid.params import Hybrid
from hsgen.algorithms.radix.hybrid.partition import Counters
from hsgen.algorithms.radix.parts import WORDS, Body
from hsgen.algorithms.radix.rankers import digit_arrays, rank_arrays
from hsgen.algorithms.radix.stages import present
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

BOUNDS = Buffer(name="bounds", type="u32")
"""The buffer of the starts of buckets and of the list of crowded buckets, in place of the second buffer of values."""
_PAIRS = (DESTINATION, VALUES_OUT, BOUNDS, WORDS)
_SETS = 4
"""Number of counters that a work-group has for each value of the highest digit.  Several counters reduce contention if
many keys have the same digit.
"""
_BYTES = 64
"""Bytes of keys that a lane loads before it counts the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPasses(Body):
    """The variants of the phases, as names of templates.

    buckets: the variant that computes how many highest bits the keys of a bucket share.
    counters: the counters, if the kernel counts a digit; else None.
    """

    buckets: str = "radix/hybrid/variants.j2:pairs"
    counters: Counters | None = None


def _kernel(
    p: Hybrid,
    name: str,
    macro: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...] = (),
    counters: Counters | None = None,
) -> Kernel:
    """A kernel whose template is the macro `macro` of pair_passes.j2."""
    return pairs.kernel(p, PairPasses(counters=counters), name, summary, buffers, arrays, f"pair_passes:{macro}")


def begin(p: Hybrid) -> Kernel:
    """Return the kernel that clears the histogram of the highest digit, for a reduce-scan fallback."""
    return _kernel(p, "ahead_begin", "begin", "clear the histogram of the highest digit", (WORDS,))


def histogram(p: Hybrid) -> Kernel:
    """Return the kernel that counts the highest digit, for a reduce-scan fallback."""
    counters = Counters(radix=p.radix, lanes=p.work_group, sets=_SETS, at_once=min(_BYTES // p.key.bytes, p.items))
    counts = (word_array("counts", _SETS * p.radix),)
    return _kernel(p, "ahead_histogram", "histogram", "count the highest digit", (SOURCE, WORDS), counts, counters)


def decide(p: Hybrid) -> Kernel:
    """Return the kernel that decides whether the two passes run first, for a reduce-scan fallback."""
    return _kernel(
        p, "ahead_decide", "decide", "say whether the passes by the two highest digits run ahead of others", (WORDS,)
    )


def starts(p: Hybrid) -> Kernel:
    """Return the kernel that scans the histograms of all passes, for a fallback with look-back.

    The kernel also decides whether the two passes run first.
    """
    summary = "turn the histograms into starts; say whether the passes by the two highest digits run ahead"
    return _kernel(p, "ahead_starts", "starts", summary, (WORDS,), digit_arrays(p))


def bounds(p: Hybrid) -> Kernel:
    """Return the kernel that finds the first key of each bucket, by binary search after the two passes."""
    macro = "counted_bounds" if p.waitless else "bounds"
    return _kernel(p, "bucket_bounds", macro, "find where each bucket begins", (DESTINATION, BOUNDS, WORDS))


def bucket(p: Hybrid) -> Kernel:
    """Return the kernel that sorts buckets on chip."""
    return pairs.on_chip(p, _PAIRS)


def crowded(p: Hybrid) -> Kernel:
    """Return the kernel that sorts buckets with crowded bins, digit by digit."""
    shape, summary = pairs.rest(p), "sort crowded buckets, a digit at a time"
    arrays = (*rank_arrays(shape), word_array("held", pairs.capacity(p)))
    lanes = present(p.pair_bucket).work_group
    mask = (1 << pairs.slot_bits(p)) - 1
    data = Crowded(shape=shape, groups=pairs.groups(p), slot_mask=mask, index=p.signature.index)
    kernel = pairs.kernel(p, data, "pair_bucket_rest", summary, _PAIRS, arrays, "pair_crowded:crowded", lanes)
    return replace(kernel, subgroup=p.subgroup, ballot=p.ranker == "match_ballot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowded(PairPasses):
    """Input of the template of the kernel that sorts crowded buckets.

    shape: the shape with which a work-group sorts a bucket digit by digit.
    groups: the number of work-groups that sort crowded buckets.
    slot_mask: the mask of the bits of a key that hold a slot number.
    index: whether the sort is an argsort, whose caller may discard keys.
    """

    shape: Hybrid
    groups: int
    slot_mask: int
    index: bool


def fallback(p: Hybrid) -> Kernel:
    """Return the kernel that runs after the bucket sort, and decides which passes are left."""
    summary = "say which passes are left, if any"
    return _kernel(p, "ahead_fallback", "counted_fallback" if p.waitless else "fallback", summary, (WORDS,))


def ahead(p: Hybrid) -> tuple[Kernel, ...]:
    """Return the kernels that run before the two passes, in the order of their launches."""
    return (begin(p), histogram(p), decide(p)) if p.waitless else (starts(p),)


def kernels(p: Hybrid) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches."""
    return (*ahead(p), bounds(p), bucket(p), crowded(p), fallback(p))
