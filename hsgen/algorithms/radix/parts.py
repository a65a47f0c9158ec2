"""Builders and constants that kernels of several strategies share."""

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
"""By default, lanes compare the keys of a bin with each other only if no bin has more keys than this."""
EQUAL = 24
"""If a key value occurs more often than this on average, buckets are not tried.  Equal keys crowd bins, and passes over
all digits are then faster.
"""
SQUARES = 48
"""The most comparisons per key within its bin, as a mean over all keys; a few bins may need more."""
REPEATED = 1 << 8
"""A flag in the word `lowest_bit` of scratch.  The flag means that many keys are equal, so buckets may be in order."""
NEAR = 3
"""Lanes compare this many keys, from the start of a bin, without a bounds check.  With uniform keys, only one bin in
fifty has more keys.
"""
ALL = (SOURCE, DESTINATION, OTHER, WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a kernel's template reads in addition to the parameters of the sort.

    raw: whether the kernel restores the original bits of sorted keys.  An out-of-place argsort needs this if it reads
    all zeros as one key and all NaNs as one key (`hsgen.algorithms.radix.floats`).
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
    """Return a kernel whose work-groups rank tiles; `more` has local arrays that the ranker does not need."""
    kernel = plain(p, name, summary, buffers, (*rank_arrays(p), *more), template=template)
    data = Body(ranker=rankers.template(p.ranker))
    return replace(kernel, subgroup=p.subgroup, ballot=p.ranker == "match_ballot", resident=p.resident, data=data)


def moving(p: Tile, *keys: Buffer) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel that moves keys: `keys`, and the buffers of the values if there are any."""
    if not p.valued:
        return keys
    return (*keys, *([] if p.signature.index else [VALUES_IN]), VALUES_OUT, VALUES_TMP)


def picking(kernel: Kernel, *, keys: bool = True) -> Kernel:
    """Return the kernel, marked as one that selects its buffers at run time (`Kernel.picks`).

    keys: whether the kernel selects the buffers of keys.
    A kernel that moves values always selects the buffers of values.
    """
    values = VALUES_TMP in kernel.buffers
    return replace(kernel, picks=("key",) * keys + ("value",) * values)


def copy(p: Tile) -> Kernel:
    """Return the kernel that copies the keys to the destination if the passes have left them in another buffer."""
    summary = "copy the keys to the destination, unless they are there"
    return picking(plain(p, "copy", summary, moving(p, *ALL), template="radix/scatter:copy"))


def sampling(p: Tile) -> int:
    """Return the words of local memory that a sample takes (templates/radix/hybrid/sample.j2); 0 if there is none."""
    return 8 + (2 + p.key.bits // 32) * p.sampled if p.sampled else 0


def sums(lanes: int, subgroup: int = 1) -> tuple[Array, ...]:
    """Return the local arrays that a prefix sum over the lanes of a work-group needs (templates/radix/lanes.j2)."""
    if subgroup > 1:
        return (word_array("tops", lanes // subgroup),)
    return word_array("sums", lanes), word_array("tops", -(-lanes // chunk(lanes)))


def chunk(lanes: int) -> int:
    """Return the number of adjacent lanes that share a partial sum, about the square root of `lanes`."""
    return 1 << lanes.bit_length() // 2


def order_check(exits: bool) -> str:
    """Return the template of the check whether the keys are in order already.

    If `exits` is false, the template does not check anything.
    """
    return "radix/exit.j2" if exits else "radix/exit.j2:never"


def order_flag(p: Tile) -> tuple[Array, ...]:
    """Return the local array in which lanes report keys that are out of order; no array without `sorted_exit`."""
    return (word_array("found", 1),) if p.sorted_exit else ()
