"""The last levels of a merge sort, by merge paths: each level merges all pairs of runs in one launch, out of place.

Earlier levels are bitonic merges in place, which take more launches from level to level.
`hsgen.algorithms.merge_path` describes how a lane finds its part of a merge.
"""

from __future__ import annotations

from dataclasses import dataclass

from hsgen.algorithms.bitonic.params import Params
from hsgen.algorithms.buffers import word_array
from hsgen.algorithms.merge_path.entries import PAIRS, Entries, Merge, Values
from hsgen.core.buffers import Array, Buffer, pair_bytes
from hsgen.core.kernels import Kernel
from hsgen.core.plan import Binding

CHAIN, CHAINS, CHAIN_ROWS = 4096, 4, 8192
"""The sizes for a sequential lane, which interleaves several independent merges, its *chains*, to hide load latency.

`CHAIN` is the number of keys of a chain, and `CHAINS` is the number of chains.  A chain that is merged by vectors of
keys has `CHAIN_ROWS` keys.
All were measured: docs/results/merging.md.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Path(Merge):
    """The data of the kernel that merges runs in tiles of `tile` keys; with `chains` > 0, lanes are sequential."""

    tile: int


def path(p: Params) -> Kernel:
    """Return the kernel that merges pairs of adjacent runs from one buffer to another.

    A tile has as many keys as a chunk of the clean, which is known to fit local memory.  Sequential lanes need no local
    memory.
    """
    chains = CHAINS if p.path_walks else 0
    chain = CHAIN_ROWS if p.row else CHAIN
    data = Path(
        entries=Entries(**(PAIRS if p.paired else {}), a="from[low + ", b="from[low + parts + ", to="to[low + "),
        values=_values(p),
        lanes=1 if chains else p.stream_group,
        items=chain if chains else p.chunk // p.stream_group,
        tile=chain * chains or p.chunk,
        chains=chains,
        row=p.row,
    )
    type_ = "pair" if p.paired else "key"
    tile = (Array(name="tile", type=type_, count=data.tile), word_array("splits", 2))
    return Kernel(
        name="path",
        template="bitonic/paths:walk" if chains else "bitonic/paths:path",
        summary="merge adjacent runs from one buffer to another",
        work_group=data.lanes,
        buffers=(Buffer(name="from", type=type_, read_only=True), Buffer(name="to", type=type_), *_value_buffers(p)),
        arrays=() if chains else tile,
        algorithm="bitonic",
        params=p,
        data=data,
        row=p.row,
    )


def _values(p: Params) -> Values | None:
    """How the kernel accesses the values that move with their keys; None if kernels merge keys alone, or pairs."""
    if not p.carries:
        return None
    size = p.signature.value_bytes
    return Values(bytes=size, a="values_from[low + ", b="values_from[low + parts + ", to="values_to[low + ")


def _value_buffers(p: Params) -> tuple[Buffer, ...]:
    if not p.carries:
        return ()
    return Buffer(name="values_from", type="value", read_only=True), Buffer(name="values_to", type="value")


def first_level(p: Params) -> int | None:
    """Return the first level whose runs are merged by merge paths; None if no level is.

    A sort with a device-side count has no merge paths.  A level by merge paths moves the keys to another buffer.  The
    number of such levels determines in which buffer the keys end, and the host would not know this number.
    """
    if p.path_from is None or p.signature.device_count:
        return None
    level = 0
    while p.block << level < p.path_from:
        level += 1
    return level


def lent(p: Params) -> Binding:
    """Return the binding of the second buffer for merge paths, in scratch.

    If kernels merge pairs, it follows the first buffer of pairs and the copy of the values.
    """
    copied = 0 if p.signature.index else p.signature.value_bytes
    if not p.paired:
        return Binding(role="scratch")
    return Binding(
        role="scratch", per_n=pair_bytes(p.key) + copied, plus=1024 if copied else 0
    )  # `plus`: the offset after the copy is rounded up to a multiple of 1024
