"""The parameters of a merge by merge paths, which are derived from those of the target's radix sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.keys import PLAIN, KeyType, Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of a merge.

    work_group: the number of lanes of a work-group.
    items: the number of keys that a lane merges one after another.
    walks: whether lanes are *sequential*: each lane merges its keys from memory to memory, for CPUs.  Otherwise a
    work-group loads its keys of both arrays into local memory, and `chains` is 1.
    chains: the number of independent merges, of `items` keys each, that a sequential lane interleaves.  Comparisons of
    one merge hide the load latency of the others.
    row: the number of keys that a chain merges at once as a vector, in kernel languages with vector types; 0 means one
    key at a time.  With values, a row requires keys of at most 32 bits.
    spare: the greatest number of work-groups by which a two-dimensional grid may exceed the number of tiles (see the
    function `spare`).
    vectors: whether work-groups load and store keys 16 bytes at a time, in kernel languages that can.  A tile then
    takes more local memory.

    The kernel `merge_alone` runs for up to `alone` keys:
    alone: the greatest count of this kernel; 0 means that the kernel does not exist.
    subgroup: the number of lanes that search for an end of a tile together, also in `merge_ranges`.
    alone_items: the number of keys that a lane of this kernel merges.

    The kernel `merge_ranges` runs for more than `alone` and up to `ranged` keys:
    ranged: the greatest count of this kernel; 0 means that the kernel does not exist.
    ranges: the greatest number of ranges; a work-group merges a range of consecutive tiles.
    range_lanes: the number of lanes of a work-group.
    range_items: the number of keys of a tile that a lane merges.
    resident: the number of work-groups that a core must hold at once.
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
        """The number of keys that a lane merges, in all of its chains."""
        return self.items * self.chains

    @property
    def tile(self) -> int:
        """The number of keys that a work-group merges at once."""
        return self.work_group * self.share

    @property
    def ring(self) -> int:
        """The number of slots of each ring buffer of `merge_ranges`: local memory for the next keys of one array.

        A ring holds as many keys as a tile, and a few vectors more because a tile begins and ends within a vector.
        """
        return self.tile + 4 * (16 // self.key.held)

    @property
    def margin(self) -> int:
        """The number of slots after a ring that repeat its first slots: whole vectors, with more keys than `items`.

        A lane can then read its keys from the ring without wrapping its indices.
        """
        size = 16 // self.key.held
        return -(-(self.items + 1) // size) * size

    @property
    def noted(self) -> bool:
        """Whether kernels read the count of the first array from scratch, not from their argument.

        With a key transform, the argument holds the key type and the order.
        """
        return self.walks or self.signature.key_transform

    @property
    def valued(self) -> bool:
        """Whether keys have values."""
        return self.signature.value_bytes > 0


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters whose fields have the given values, by name."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the number of keys in a tile; validation tests counts around multiples of it."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the tile as a (name, text) pair, for headers and `hsgen show`."""
    rows = f" by rows of {p.row}" if p.row else ""
    by = f"{p.chains} chains{rows}, from memory to memory" if p.walks else "through local memory"
    return [("tile", f"{p.work_group} lanes x {p.share} = {p.tile} keys, {by}")]
