"""The parameters of a merge by paths, which are derived from the target's radix sort, and values derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.keys import PLAIN, KeyType, Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a merge.

    work_group: lanes of a work-group.  items: keys that a lane merges in sequence.  chains: independent merges of
    `items` keys each that a lane interleaves, so that comparisons of one hide the load latency of another.
    walks: each lane merges sequentially from memory to memory; otherwise a work-group first loads its part of both
    arrays into local memory, and `chains` is 1.
    row: keys of a vector that chains merge at a time in dialects with vectors, with values for keys of at most 32 bits;
    0: one key at a time.
    spare: the most excess work-groups of a two-dimensional grid, if work-groups merge tiles.
    vectors: work-groups load and store keys by 16 bytes in dialects with vectors, for which a tile has more room.
    alone: the greatest count of which work-groups find the ends of their tiles by themselves, each end by a subgroup of
    `subgroup` lanes, which then merge `alone_items` keys each, by vectors; 0: a kernel before them finds all.
    ranged: the greatest count of which at most `ranges` work-groups merge ranges of tiles, and find the ends of these;
    0: none do.  They have `range_lanes` lanes, which merge `range_items` keys of a tile each; a core is to hold
    `resident` of them.
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
        """Slots of local memory for each array through which a range passes: a tile, and vectors at both ends."""
        return self.tile + 4 * (16 // self.key.held)

    @property
    def margin(self) -> int:
        """Copies of its first slots that follow a ring: whole vectors, and one more key than a lane merges."""
        size = 16 // self.key.held
        return -(-(self.items + 1) // size) * size

    @property
    def noted(self) -> bool:
        """Whether the count of the first array is stored in scratch, because a kernel that needs it receives types and
        orders as its argument."""
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
