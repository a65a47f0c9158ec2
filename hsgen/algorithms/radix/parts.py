"""Parts of kernels that strategies share: lanes that walk chunks, and work-groups that rank tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hsgen.algorithms.buffers import DESTINATION, DEVICE_N, OTHER, SOURCE, VALUES_IN, VALUES_OUT, VALUES_TMP, word_array
from hsgen.algorithms.radix.rankers import Ranked, rank_arrays, template
from hsgen.algorithms.radix.tile import Tile
from hsgen.algorithms.radix.words import words
from hsgen.core.buffers import Array, Buffer
from hsgen.core.kernels import Kernel

WORDS, TABLE = Buffer(name="words", type="u32"), Buffer(name="table", type="u64")
CROWD = 24
"""Greatest number of keys of a bin that lanes compare with each other."""
EQUAL = 24
"""Mean number of equal keys above which buckets are not tried: passes over all digits are faster than crowded bins."""
SQUARES = 48
"""Mean number of comparisons per key within its bin; a few bins may exceed it."""
REPEATED = 1 << 8
"""A flag in the word of the lowest bit sorted by: equal keys are many, so that buckets may be in order already."""
NEAR = 3
"""Keys from the start of a bin that lanes compare in any case: of even keys, one bin in fifty has more."""
ALL = (SOURCE, DESTINATION, OTHER, WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Facts for a template that are not parameters.

    raw: the kernel sorts with indices, out of place, and zeros and NaNs, which it
    reads as one of each, are given the bits back that they had.  ranker: the template of the ranker, if it ranks tiles.
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
    folder: str = "radix/",
) -> Kernel:
    """Return a kernel with a full work-group and no subgroup operations."""
    return Kernel(
        name=name + ("_wide" if p.index64 else ""),
        template=folder + name,
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
    p: Ranked, name: str, summary: str, buffers: tuple[Buffer, ...], more: tuple[Array, ...] = (), *, folder: str
) -> Kernel:
    """Return a kernel that ranks tiles."""
    kernel = plain(p, name, summary, buffers, (*rank_arrays(p), *more), folder=folder)
    data = Body(ranker=template(p.ranker))
    return replace(kernel, subgroup=p.subgroup, ballot=p.ranker == "match_ballot", resident=p.resident, data=data)


def moving(p: Tile, *keys: Buffer) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel that moves keys: these, and those of the values that go with them."""
    if not p.valued:
        return keys
    return (*keys, *([] if p.signature.index else [VALUES_IN]), VALUES_OUT, VALUES_TMP)


def picking(kernel: Kernel, *, keys: bool = True) -> Kernel:
    """Return a kernel that picks buffers by the number of where keys lie: of keys, and of values if it moves them."""
    values = VALUES_TMP in kernel.buffers
    return replace(kernel, picks=("key",) * keys + ("value",) * values)


def copy(p: Tile) -> Kernel:
    """Return the kernel that brings the keys to the destination where the passes left them elsewhere."""
    made = plain(
        p, "copy", "copy the keys to the destination, unless they are there", moving(p, *ALL), folder="radix/scatter:"
    )
    return picking(made)


def sampling(p: Tile) -> int:
    """Return the words in local memory that a sample of keys takes: see templates/radix/hybrid/sample.j2."""
    return 8 + (2 + p.key.bits // 32) * p.sampled if p.sampled else 0


def sums(lanes: int, subgroup: int = 1) -> tuple[Array, ...]:
    """Return what sums over the lanes before take: see templates/radix/lanes.j2."""
    if subgroup > 1:
        return (word_array("tops", lanes // subgroup),)
    return word_array("sums", lanes), word_array("tops", -(-lanes // chunk(lanes)))


def chunk(lanes: int) -> int:
    """Return how many lanes' sums are added first: about the root of all."""
    return 1 << lanes.bit_length() // 2


def order_check(exits: bool) -> str:
    """Return the template of what looks for keys in order, if a kernel does."""
    return "radix/exit.j2" if exits else "radix/exit.j2:never"


def found(p: Tile) -> tuple[Array, ...]:
    """Return where lanes of a work-group that reads all keys say that some are out of order."""
    return (word_array("found", 1),) if p.sorted_exit else ()
