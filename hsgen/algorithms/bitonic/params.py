"""The parameters of a bitonic sort and derived values.

Names follow HotSort.  A *slab* is the `subgroup` x `height` keys that one subgroup sorts in registers.  A *block* is
the `slabs` slabs that one work-group sorts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hsgen.algorithms.bitonic.lanes import held_rows
from hsgen.core.fields import Field
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.networks import pow2_floor

FIELDS = {
    "subgroup": Field("int", "a power of two, or 1 for no subgroup operations", least=1, greatest=128),
    "height": Field("int", "an even number of rows from 2 to 64", least=2, greatest=64),
    "slabs": Field("int", "at least 1 slab", least=1, greatest=8192),
    "clean_slabs": Field("int", "a power of two, usually the greatest below slabs", least=1, greatest=8192),
    "local_scale": Field("int", "log2 of the rows held in local-memory passes", least=1, greatest=6),
    "flip_scale": Field("int", "log2 of the rows held in flip merges", least=1, greatest=6),
    "half_scale": Field("int", "log2 of the rows held in half merges", least=1, greatest=6),
    "stream_group": Field("int", "a power of two, the lanes of a streaming work-group", least=1, greatest=8192),
    "bank_pad": Field("int", "keys of padding after a column", required=False, greatest=64),
    "exchange": Field("str", '"minmax" or "select"', required=False, choices=("minmax", "select")),
    "compact": Field("bool", "whether kernels are made for a short compilation", required=False),
    "path_from": Field("int", "the least keys of runs that are merged by merge paths", required=False, least=1),
    "row_block": Field("int", "the most keys of a block that a lane sorts by rows", required=False, least=256),
}


LINE = 64  # bytes of the widest vector register; a row of a block that one lane sorts fills such a register


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The table ``[bitonic.KEY]`` of a target.  A scale is log2 of the rows that a lane holds at once.

    subgroup: the lanes that exchange keys by shuffles; 1 means no subgroup operations.
    height: the rows (registers) of a slab, an even number.
    slabs: the slabs of a block.
    local_scale: the scale of passes over local memory.
    flip_scale: the greatest scale of the streaming flip merges.
    half_scale: the greatest scale of the streaming half merges.
    stream_group: the lanes of a work-group of the streaming kernels.
    clean_slabs: the slabs of a work-group of the clean, a power of two.
    bank_pad: the keys of padding after each sorted column while a block is transposed through local memory.
    exchange: the implementation of a comparator, "minmax" or "select".
    compact: whether one block sort, with loops over its passes, serves blocks of every size.  It compiles fast.
    Without effect if the passes are not alike (`looped`).
    path_from: runs of at least `path_from` keys are merged out of place by merge paths; None means no merge paths.
    row_block: one sequential lane sorts a block of up to `row_block` keys by rows.  None means that the lanes of a
    work-group share a block.  Without effect unless all merges are by rows (`lane_block`).

    signature: the values, and further features.  With values, pairs of a key and its original index are merged, which
    makes the sort stable.  The values are gathered at the end.
    path_walks: whether each lane merges sequentially from memory to memory, which suits CPUs.
    """

    key: KeyType
    subgroup: int
    height: int
    slabs: int
    clean_slabs: int
    local_scale: int
    flip_scale: int
    half_scale: int
    stream_group: int
    bank_pad: int = 1
    exchange: Literal["minmax", "select"] = "minmax"
    compact: bool = False
    path_from: int | None = None
    row_block: int | None = None
    signature: Signature = PLAIN
    path_walks: bool = False

    @property
    def valued(self) -> bool:
        """Whether there are values in separate buffers."""
        return self.signature.value_bytes > 0

    @property
    def looped(self) -> bool:
        """Whether the block sort has loops over its passes: `compact` is set, and all passes are alike."""
        alike = self.height == 1 << self.local_scale and self.slabs == pow2_floor(self.slabs)
        return self.compact and alike and 1 < self.subgroup <= self.rows

    @property
    def row(self) -> int:
        """The keys that a sequential lane merges at once in dialects with vectors; 0 if it merges key by key."""
        if not self.path_walks or self.valued or self.signature.device_count:
            return 0
        return LINE // self.key.bytes if self.row_block else 16

    @property
    def lane_block(self) -> int:
        """The most keys of a block that one sequential lane sorts by rows; 0 if a work-group's lanes share a block."""
        return self.row_block or 0 if self.row else 0

    @property
    def rows(self) -> int:
        """The number of rows in a block."""
        return self.slabs * self.height

    @property
    def block(self) -> int:
        """The number of keys in a block."""
        return self.rows * self.subgroup

    @property
    def clean_height(self) -> int:
        """The average number of rows that a lane of the clean holds."""
        return pow2_floor(self.height)

    @property
    def chunk(self) -> int:
        """The number of keys that a work-group of the clean sorts, a power of two."""
        return self.clean_slabs * self.clean_height * self.subgroup

    @property
    def registers(self) -> int:
        """The most keys that a lane holds in a pass."""
        return max(1 << self.local_scale, self.height)

    def column_slabs(self, slabs: int) -> int:
        """Return how many slabs of a block of `slabs` slabs form one tall column per lane before lanes are merged.

        All slabs form one column if the rows of the column that must be held together fit the registers (`held_rows`).
        Lanes then exchange keys once per block, not once per merge level.  Otherwise the result is the greatest power
        of two that divides `slabs` and whose column fits; it is at least 1.
        """
        if self.subgroup == 1 or held_rows(slabs * self.height, self.registers):
            return slabs
        tall = slabs & -slabs
        while tall > 1 and not held_rows(tall * self.height, self.registers):
            tall //= 2
        return tall


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for a target table that `FIELDS` has checked."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the number of keys in a block."""
    return p.block


def notes(p: Params) -> list[tuple[str, str]]:
    """Return pairs (name, value) of derived values, for headers and `hsgen show`."""
    tall = p.column_slabs(p.slabs)
    return [
        ("slab", f"{p.subgroup} x {p.height} = {p.subgroup * p.height} keys"),
        ("block", f"{p.slabs} slabs = {p.block} keys, {p.slabs * p.subgroup} lanes"),
        ("column", f"{tall} slabs = {tall * p.height} rows before lanes are merged"),
        ("clean", f"{p.chunk} keys, {p.clean_slabs * p.subgroup} lanes"),
        ("streaming", f"flips of up to {1 << p.flip_scale} rows, half merges of up to {1 << p.half_scale}"),
        *([("merge paths", f"runs of {p.path_from} keys and more")] if p.path_from is not None else []),
        *([("block by rows", f"{p.block} to {p.lane_block} keys, one lane")] if p.lane_block else []),
    ]
