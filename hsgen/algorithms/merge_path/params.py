"""The shape of a merge by paths, and what follows from it.  It has no table: it follows from a target's radix sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.keys import PLAIN, KeyType, Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How two arrays are merged.

    work_group: lanes of a work-group.  items: keys that a lane merges one after the other.  chains: merges of `items`
    keys each that a lane does by turns, so that one's loads hide behind the others' comparisons.
    walks: lanes merge from memory to memory, each by itself; otherwise a work-group loads its part of both arrays into
    local memory first, and `chains` is 1.
    row: keys of a vector that chains take at a time where the dialect has vectors, with values keys of up to 32 bits;
    0: they take keys one by one.
    spare: the most work-groups that a grid in two dimensions has too many, where tiles are merged by work-groups.
    """

    key: KeyType
    work_group: int
    items: int
    chains: int = 1
    walks: bool = False
    row: int = 0
    spare: int = 0
    signature: Signature = PLAIN

    @property
    def own(self) -> int:
        """Keys that a lane merges."""
        return self.items * self.chains

    @property
    def tile(self) -> int:
        """Keys that a work-group merges."""
        return self.work_group * self.own

    @property
    def noted(self) -> bool:
        """Whether the count of the first array is kept in scratch: where a kernel that needs it gets types and orders
        for an argument."""
        return self.walks or self.signature.key_transform

    @property
    def valued(self) -> bool:
        """Whether there are values."""
        return self.signature.value_bytes > 0


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters of a shape by the names of `Params`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the keys around which validations are dense: a tile."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the derived values of a shape, for people."""
    rows = f" by rows of {p.row}" if p.row else ""
    by = f"{p.chains} at a time{rows} from memory to memory" if p.walks else "through local memory"
    return [("tile", f"{p.work_group} lanes x {p.own} = {p.tile} keys, {by}")]
