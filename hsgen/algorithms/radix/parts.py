"""Kernel parts that strategies share: lanes that walk through chunks, and work-groups that rank tiles."""

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
"""Greatest number of keys of a bin for which lanes compare the keys of the bin with each other."""
EQUAL = 24
"""Mean number of equal keys above which buckets are not tried, because passes over all digits are faster than crowded
bins.
"""
SQUARES = 48
"""Mean number of comparisons per key within its bin; a few bins may exceed it."""
REPEATED = 1 << 8
"""A flag in the word of `lowest_bit`: many keys are equal, so buckets may be in order already."""
NEAR = 3
"""Number of keys from the start of a bin that lanes compare without a bounds check.  With uniform keys, one bin in
fifty has more keys.
"""
ALL = (SOURCE, DESTINATION, OTHER, WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Input of a kernel's template beyond the parameters.

    raw: true in an argsort, out of place, that reads all zeros as one key and all NaNs as one key.  Sorted keys then
    get their original bits back.
    ranker: the template of the ranker; empty if the kernel ranks no tiles.
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
    """Return a kernel whose work-groups rank tiles; `more` are arrays beyond those of the ranker."""
    kernel = plain(p, name, summary, buffers, (*rank_arrays(p), *more), template=template)
    data = Body(ranker=rankers.template(p.ranker))
    return replace(kernel, subgroup=p.subgroup, ballot=p.ranker == "match_ballot", resident=p.resident, data=data)


def moving(p: Tile, *keys: Buffer) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel that moves keys: `keys`, and the buffers of their values."""
    if not p.valued:
        return keys
    return (*keys, *([] if p.signature.index else [VALUES_IN]), VALUES_OUT, VALUES_TMP)


def picking(kernel: Kernel, *, keys: bool = True) -> Kernel:
    """Return the kernel, marked as one that picks its buffers at run time, by the number of the buffer that holds the
    keys.

    keys: whether the kernel picks the buffer of keys.  The buffer of values is picked if the kernel moves values.
    """
    values = VALUES_TMP in kernel.buffers
    return replace(kernel, picks=("key",) * keys + ("value",) * values)


def copy(p: Tile) -> Kernel:
    """Return the kernel that copies the keys to the destination if the last pass left them in another buffer."""
    summary = "copy the keys to the destination, unless they are there"
    return picking(plain(p, "copy", summary, moving(p, *ALL), template="radix/scatter:copy"))


def sampling(p: Tile) -> int:
    """Return the words of local memory that a sample of keys takes: see templates/radix/hybrid/sample.j2."""
    return 8 + (2 + p.key.bits // 32) * p.sampled if p.sampled else 0


def sums(lanes: int, subgroup: int = 1) -> tuple[Array, ...]:
    """Return the arrays of a prefix sum over the lanes of a work-group: see templates/radix/lanes.j2."""
    if subgroup > 1:
        return (word_array("tops", lanes // subgroup),)
    return word_array("sums", lanes), word_array("tops", -(-lanes // chunk(lanes)))


def chunk(lanes: int) -> int:
    """Return the number of adjacent lanes whose sums form one partial sum: about the square root of `lanes`."""
    return 1 << lanes.bit_length() // 2


def order_check(exits: bool) -> str:
    """Return the template of the check for keys in order; if `exits` is false, the template of a check that does
    nothing.
    """
    return "radix/exit.j2" if exits else "radix/exit.j2:never"


def order_flag(p: Tile) -> tuple[Array, ...]:
    """Return the array in which the lanes of a work-group report keys out of order; empty without `sorted_exit`."""
    return (word_array("found", 1),) if p.sorted_exit else ()
