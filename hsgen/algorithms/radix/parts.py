"""Constants, and functions that build kernels or parts of kernels, for several strategies."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, OTHER, SOURCE, VALUES_IN, VALUES_OUT, VALUES_TMP, word_array
from hsgen.algorithms.radix import rankers
from hsgen.algorithms.radix.rankers import Ranked, rank_arrays
from hsgen.algorithms.radix.tile import Tile
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

WORDS, TABLE = Buffer(name="words", type="u32"), Buffer(name="table", type="u64")
CROWD = 24
"""By default, bins are crowded if a bin has more keys than this.  Lanes compare the keys of a bin with each other only
if bins are not crowded.
"""
EQUAL = 24
"""A sort does not use buckets if a sample shows that a key value occurs more often than this on average.

Equal keys crowd bins, and passes over all digits are then faster.
"""
SQUARES = 48
"""Under the rule `bin_sort.SPREAD`, bins are crowded if a key shares its bin with more keys than this, on average."""
REPEATED = 1 << 8
"""A flag in the word `lowest_bit` of scratch: the sample has many equal keys.

The passes before the bucket sort may then have sorted whole buckets already.  With the flag, the bucket sort first
checks whether the keys of a bucket are in order.
"""
NEAR = 3
"""A lane compares its key with the first `NEAR` keys of the bin, without a check whether the bin has as many.

With uniform keys, only one bin in fifty has more than `NEAR` keys.
"""
ALL = (SOURCE, DESTINATION, OTHER, WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The data of one kernel that its template reads as ``kernel.data``, in addition to the parameters of the sort.

    raw: whether the kernel loads zeros and NaNs from the input again to store their original bits.  The kernel has lost
    these bits if it sorts all zeros as one key and all NaNs as one key (`hsgen.algorithms.radix.floats`).
    ranker: the template of the ranker; "" if the kernel ranks no tiles.
    """

    raw: bool = False
    ranker: str = ""


def plain(
    p: Tile,
    name: str,
    summary: str,
    buffers: tuple[Buffer, ...],
    arrays: tuple[Array, ...] = (),
    *,
    template: str,
) -> Kernel:
    """Return a kernel without subgroup operations, whose work-group has `p.work_group` lanes."""
    return Kernel(
        name=name + ("_wide" if p.index64 else ""),
        template=template,
        summary=summary,
        work_group=p.work_group,
        index64=p.index64,
        buffers=(*buffers, *([TABLE] if p.index64 else []), *([DEVICE_N] if p.signature.device_count else [])),
        arrays=arrays,
        algorithm="radix",
        params=p,
        data=Body(),
        scratch=words(p) if WORDS in buffers else None,
    )


def ranking(
    p: Ranked, name: str, summary: str, buffers: tuple[Buffer, ...], more: tuple[Array, ...] = (), *, template: str
) -> Kernel:
    """Return a kernel whose work-groups rank tiles.  Its local arrays are those of the ranker, then those in `more`."""
    kernel = plain(p, name, summary, buffers, (*rank_arrays(p), *more), template=template)
    data = Body(ranker=rankers.template(p.ranker))
    return replace(kernel, subgroup=p.subgroup, ballot=p.ranker == "match_ballot", resident=p.resident, data=data)


def moving(p: Tile, *keys: Buffer) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel that moves keys: `keys`, and the buffers of values if the sort has values."""
    if not p.valued:
        return keys
    return (*keys, *([] if p.signature.index else [VALUES_IN]), VALUES_OUT, VALUES_TMP)


def picking(kernel: Kernel, *, keys: bool = True) -> Kernel:
    """Return `kernel` with `Kernel.picks` set: it chooses at run time from which buffer it loads.

    keys: whether the kernel chooses the buffers of keys.  A kernel that moves values always chooses those of values.
    """
    values = VALUES_TMP.name in {b.name for b in kernel.buffers}
    return replace(kernel, picks=("key",) * keys + ("value",) * values)


def copy(p: Tile) -> Kernel:
    """Return the kernel that copies the keys to the destination if the passes have left them in another buffer."""
    summary = "copy the keys to the destination, unless they are there"
    return picking(plain(p, "copy", summary, moving(p, *ALL), template="radix/scatter:copy"))


def sampling(p: Tile) -> int:
    """Return the number of 32-bit words of local memory for a sample of the keys; 0 if the sort takes no sample.

    The sample is described in templates/radix/hybrid/sample.j2.
    """
    return 8 + (2 + p.key.bits // 32) * p.sampled if p.sampled else 0


def sums(lanes: int, subgroup: int = 1) -> tuple[Array, ...]:
    """Return the local arrays that a prefix sum over the lanes of a work-group needs (templates/radix/lanes.j2)."""
    if subgroup > 1:
        return (word_array("tops", lanes // subgroup),)
    return word_array("sums", lanes), word_array("tops", -(-lanes // chunk(lanes)))


def chunk(lanes: int) -> int:
    """Return the number of adjacent lanes that contribute to one partial sum, about the square root of `lanes`."""
    return 1 << lanes.bit_length() // 2


def order_check(exits: bool) -> str:
    """Return the template of the check whether the keys are in order already; unless `exits`, it checks nothing."""
    return "radix/exit.j2" if exits else "radix/exit.j2:never"


def order_flag(p: Tile) -> tuple[Array, ...]:
    """Return the local array `found`, in which lanes report keys that are out of order; none without `sorted_exit`."""
    return (word_array("found", 1),) if p.sorted_exit else ()
