"""The parameters of a merge by merge paths, which are derived from the target's radix sort, and derived values."""

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
    walks: whether each lane merges from memory to memory.  Otherwise a work-group loads its keys of both arrays into
    local memory, and `chains` is 1.
    chains: a lane interleaves `chains` independent merges of `items` keys each.  Comparisons of one merge then hide the
    load latency of the others.
    row: the keys that a chain merges at once, as a vector, in dialects with vectors; 0 means one key at a time.  With
    values, vectors require keys of at most 32 bits.
    spare: the greatest number of excess work-groups of a two-dimensional grid, if work-groups merge tiles.
    vectors: whether work-groups load and store keys by 16 bytes in dialects with vectors.  A tile then takes more local
    memory.

    The kernel `merge_alone` runs for up to `alone` keys:
    alone: the greatest count at which work-groups search for the ends of their tiles themselves.  Above this count, a
    separate kernel searches for them.
    subgroup: the lanes that search for an end together, also in `merge_ranges`.
    alone_items: the keys that a lane of `merge_alone` merges.

    The kernel `merge_ranges` runs for more than `alone` and up to `ranged` keys:
    ranged: the greatest count at which work-groups merge ranges of tiles; 0 means never.
    ranges: the greatest number of ranges.
    range_lanes: the lanes of a work-group.
    range_items: the keys of a tile that a lane merges.
    resident: the work-groups that must fit a core together.
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
        """The number of keys that a lane merges."""
        return self.items * self.chains

    @property
    def tile(self) -> int:
        """The number of keys that a work-group merges at once."""
        return self.work_group * self.share

    @property
    def ring(self) -> int:
        """The slots of the ring buffer in local memory that holds the next keys of one array.

        The ring holds as many keys as a tile, and additional vectors at both ends.
        """
        return self.tile + 4 * (16 // self.key.held)

    @property
    def margin(self) -> int:
        """The slots after a ring that repeat its first slots: whole vectors, of more keys than a lane merges."""
        size = 16 // self.key.held
        return -(-(self.items + 1) // size) * size

    @property
    def noted(self) -> bool:
        """Whether kernels read the count of the first array from scratch.

        Their argument is then the key type and the order, so it cannot be the count.
        """
        return self.walks or self.signature.key_transform

    @property
    def valued(self) -> bool:
        """Whether there are values."""
        return self.signature.value_bytes > 0


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters, given the values of the fields of `Params` by name."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the number of keys in a tile.  Validation tests more counts around its multiples."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return pairs (name, value) of derived values, for headers and `hsgen show`."""
    rows = f" by rows of {p.row}" if p.row else ""
    by = f"{p.chains} chains{rows}, from memory to memory" if p.walks else "through local memory"
    return [("tile", f"{p.work_group} lanes x {p.share} = {p.tile} keys, {by}")]
