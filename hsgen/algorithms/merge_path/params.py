"""The parameters of a merge by paths, derived from the target's radix sort, and values derived from the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.keys import PLAIN, KeyType, Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a merge.

    work_group: the lanes of a work-group.
    items: the keys that a lane merges one after another.
    walks: each lane merges from memory to memory.  Otherwise a work-group loads its part of both arrays into local
    memory, and `chains` is 1.
    chains: the independent merges of `items` keys each that a lane interleaves, so that comparisons of one merge hide
    the load latency of another.
    row: the keys of a vector that chains merge at once in dialects with vectors; 0 for one key at a time.  With values,
    keys have at most 32 bits.
    spare: the greatest number of excess work-groups of a two-dimensional grid, if work-groups merge tiles.
    vectors: work-groups load and store keys by 16 bytes in dialects with vectors; a tile then has more room.
    alone: the greatest count at which work-groups search the ends of their tiles themselves; above this count, a
    separate kernel searches the ends.
    subgroup: the lanes that search an end together.
    alone_items: the keys that a lane of such a work-group merges.
    ranged: the greatest count at which work-groups merge ranges of tiles; 0 means never.
    ranges: the greatest number of ranges.
    range_lanes, range_items: the lanes of such a work-group, and the keys of a tile that a lane merges.
    resident: the work-groups of ranges that a core holds at once.
    """

    key: KeyType
    work_group: int
    items: int
    chains: int = 1
    walks: bool = False
    row: int = 0
    spare: int = 0
    vectors: bool = False
    alone: int = 0
    alone_items: int = 0
    subgroup: int = 1
    ranged: int = 0
    ranges: int = 0
    range_lanes: int = 0
    range_items: int = 0
    resident: int = 0
    signature: Signature = PLAIN

    @property
    def share(self) -> int:
        """Keys that a lane merges."""
        return self.items * self.chains

    @property
    def tile(self) -> int:
        """Keys that a work-group merges."""
        return self.work_group * self.share

    @property
    def ring(self) -> int:
        """Slots of the ring buffer in local memory that holds the next keys of an array: a tile, and vectors at both
        ends.
        """
        return self.tile + 4 * (16 // self.key.held)

    @property
    def margin(self) -> int:
        """Number of slots after a ring that repeat the first slots of the ring: whole vectors, with more keys than a
        lane merges.
        """
        size = 16 // self.key.held
        return -(-(self.items + 1) // size) * size

    @property
    def noted(self) -> bool:
        """Whether scratch holds the count of the first array.

        The argument of the kernels is then the key type and the order, so they read the count from scratch.
        """
        return self.walks or self.signature.key_transform

    @property
    def valued(self) -> bool:
        """Whether there are values."""
        return self.signature.value_bytes > 0


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for values by the names of `Params`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the keys of a tile, around whose multiples validation tests more counts."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values for headers and `hsgen show`: (name, value)."""
    rows = f" by rows of {p.row}" if p.row else ""
    by = f"{p.chains} chains{rows}, from memory to memory" if p.walks else "through local memory"
    return [("tile", f"{p.work_group} lanes x {p.share} = {p.tile} keys, {by}")]
