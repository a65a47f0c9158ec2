"""The last levels of a merge sort by merge paths: runs are merged out of place, in one pass per level.

Earlier levels are bitonic merges in place; each of these levels takes one more pass than the level before.
`hsgen.algorithms.merge_path` describes how a lane finds its part of a merge.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.bitonic.params import Params
from hsgen.algorithms.buffers import word_array
from hsgen.algorithms.merge_path.entries import PAIRS, Entries, Merge
from hsgen.core.buffers import Array, Buffer, pair_bytes
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding

CHAIN, CHAINS, CHAIN_ROWS = 4096, 4, 8192  # keys, number; keys by rows: docs/results/merging.md


@dataclass(frozen=True, slots=True, kw_only=True)
class Path(Merge):
    """Merges runs by tiles of `tile` keys, `items` per lane; if `chains` is not 0, by sequential lanes."""

    tile: int


def path(p: Params) -> Kernel:
    """Return the kernel that merges pairs of adjacent runs from one buffer to another.

    The kernel has the tile of the clean, which fits local memory; sequential lanes need no local memory.
    """
    chains = CHAINS if p.path_walks else 0
    chain = CHAIN_ROWS if p.row else CHAIN
    data = Path(
        entries=Entries(**(PAIRS if p.valued else {}), a="from[low + ", b="from[low + parts + ", to="to[low + "),
        lanes=1 if chains else p.stream_group,
        items=chain if chains else p.chunk // p.stream_group,
        tile=chain * chains or p.chunk,
        chains=chains,
        row=p.row,
    )
    type_ = "pair" if p.valued else "key"
    tile = (Array(name="tile", type=type_, count=data.tile), word_array("splits", 2))
    return Kernel(
        name="path",
        template="bitonic/paths:walk" if chains else "bitonic/paths:path",
        summary="merge adjacent runs from one buffer to another",
        work_group=data.lanes,
        buffers=(Buffer(name="from", type=type_, read_only=True), Buffer(name="to", type=type_)),
        arrays=() if chains else tile,
        algorithm="bitonic",
        params=p,
        data=data,
        row=p.row,
    )


def first_level(p: Params) -> int | None:
    """Return the first level that is merged by merge paths; None if no level is.

    Device-side counts exclude merge paths, since n determines the buffer in which the sort ends.
    """
    if p.path_from is None or p.signature.device_count:
        return None
    level = 0
    while p.block << level < p.path_from:
        level += 1
    return level


def lent(p: Params) -> Binding:
    """Return the second merge buffer: scratch after the pairs and the copy of the values."""
    copied = 0 if p.signature.index else p.signature.value_bytes
    if not p.valued:
        return Binding(role="scratch")
    return Binding(
        role="scratch", per_n=pair_bytes(p.key) + copied, plus=1024 if copied else 0
    )  # the offset after the copy is rounded up
