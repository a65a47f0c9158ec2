"""The kernels before and after the two passes that bring pairs into buckets, and the bucket sort.

The fallback runs its passes from the lowest digit to the highest.  Here, its passes by the two highest digits run
*ahead* of all others.  The kernels of this module first decide whether the two passes run ahead.  After the two passes,
the kernels find the buckets, sort them, and decide which passes of the fallback must still run.
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
"""The buffer with the start of each bucket, then the list of crowded buckets, whose bins have too many keys.

It takes the place of the second buffer of values in scratch.
"""
_PAIRS = (DESTINATION, VALUES_OUT, BOUNDS, WORDS)
_SETS = 4
"""The number of copies of each counter in a work-group that counts the highest digit.

With several copies, fewer lanes wait for the same counter if many keys have the same digit.
"""
_BYTES = 64
"""A lane loads at most this many bytes of keys at once, and then counts the digits of these keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPasses(Body):
    """The choice of code for the phases of this module's kernels (see `hsgen.algorithms.radix.phases`).

    buckets: how a kernel computes the number of highest bits that the keys of a bucket share.
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
    """Return a kernel whose template is the macro `macro` of pair_passes.j2."""
    return pairs.kernel(p, PairPasses(counters=counters), name, summary, buffers, arrays, f"pair_passes:{macro}")


def begin(p: Hybrid) -> Kernel:
    """Return the kernel that clears the histogram of the highest digit, if the fallback is reduce-scan."""
    return _kernel(p, "ahead_begin", "begin", "clear the histogram of the highest digit", (WORDS,))


def histogram(p: Hybrid) -> Kernel:
    """Return the kernel that counts the highest digit of all keys, if the fallback is reduce-scan."""
    counters = Counters(radix=p.radix, lanes=p.work_group, sets=_SETS, at_once=min(_BYTES // p.key.bytes, p.items))
    counts = (word_array("counts", _SETS * p.radix),)
    return _kernel(p, "ahead_histogram", "histogram", "count the highest digit", (SOURCE, WORDS), counts, counters)


def decide(p: Hybrid) -> Kernel:
    """Return the kernel that decides whether the two passes run ahead, if the fallback is reduce-scan.

    The kernel reads the histogram of the highest digit.
    """
    return _kernel(
        p, "ahead_decide", "decide", "say whether the passes by the two highest digits run ahead of others", (WORDS,)
    )


def starts(p: Hybrid) -> Kernel:
    """Return the kernel that turns the histograms of all passes into digit starts, if the fallback uses look-back.

    By the histogram of the highest digit, the kernel also decides whether the two passes run ahead.
    """
    summary = "turn the histograms into starts; say whether the passes by the two highest digits run ahead"
    return _kernel(p, "ahead_starts", "starts", summary, (WORDS,), digit_arrays(p))


def bounds(p: Hybrid) -> Kernel:
    """Return the kernel that finds the first pair of each bucket after the two passes, by binary search."""
    macro = "counted_bounds" if p.waitless else "bounds"
    return _kernel(p, "bucket_bounds", macro, "find where each bucket begins", (DESTINATION, BOUNDS, WORDS))


def bucket(p: Hybrid) -> Kernel:
    """Return the kernel in which each work-group sorts one bucket on chip."""
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
    """The data of the kernel that sorts buckets with crowded bins.

    shape: the parameters with which a work-group sorts a bucket digit by digit.
    groups: the number of work-groups of the kernel, which share the listed buckets.
    slot_mask: the mask of the bits of a key that hold the slot.
    index: whether the sort is an argsort, whose caller may discard the sorted keys.
    """

    shape: Hybrid
    groups: int
    slot_mask: int
    index: bool


def fallback(p: Hybrid) -> Kernel:
    """Return the kernel that decides after the bucket sort which passes of the fallback must still run."""
    summary = "say which passes are left, if any"
    return _kernel(p, "ahead_fallback", "counted_fallback" if p.waitless else "fallback", summary, (WORDS,))


def ahead(p: Hybrid) -> tuple[Kernel, ...]:
    """Return the kernels that run before the two passes, in the order of their launches."""
    return (begin(p), histogram(p), decide(p)) if p.waitless else (starts(p),)


def kernels(p: Hybrid) -> tuple[Kernel, ...]:
    """Return the kernels in the order of their launches."""
    return (*ahead(p), bounds(p), bucket(p), crowded(p), fallback(p))
