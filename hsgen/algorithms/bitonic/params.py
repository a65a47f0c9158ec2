"""The parameters of a bitonic sort, and values derived from them.

Names follow HotSort.  A *slab* consists of the `subgroup` x `height` keys that one subgroup sorts in registers.  A
*row* of the slab is one key of each lane.  A *block* consists of the `slabs` slabs that one work-group sorts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hsgen.algorithms.bitonic.lanes import held_rows
from hsgen.core.buffers import pair_bytes
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


LINE = 64  # bytes of the widest vector register, which a row of `row_block` fills


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The table ``[bitonic.KEY]`` of a target.

    A *scale* is log2 of the number of rows that a lane holds at once.  A pass runs as many stages.
    *Streaming* kernels run their stages on keys from global memory, without local memory.

    subgroup: the width of the subgroups in which lanes exchange keys by shuffles; 1 means no subgroup operations.
    height: the number of rows of a slab, which is the number of keys in a lane's registers; an even number.
    slabs: the number of slabs of a block.
    local_scale: the scale of passes over local memory.
    flip_scale: the greatest scale of the streaming flip merges.
    half_scale: the greatest scale of the streaming half merges.
    stream_group: the number of lanes of a work-group of the streaming kernels.
    clean_slabs: the number of slabs of a work-group of the clean, a power of two.
    bank_pad: the number of unused slots after each column while a block is transposed through local memory.
    exchange: the code of a comparator: "minmax" (minimum and maximum) or "select" (a comparison and two selections).
    compact: whether a single block sort, with loops over its passes, sorts blocks of every size, to compile fast.
    Without effect if the loops are not possible (`looped`).
    path_from: the least number of keys of runs that are merged out of place by merge paths; None means no merge paths.
    row_block: the most keys of a block that one sequential lane sorts by rows.  None means that the lanes of a
    work-group sort a block together.  Without effect unless all merges are by rows (`lane_block`).

    signature: the values, and the optional features.  With values, kernels merge pairs of a key and its original index,
    which makes the sort stable, or move values by rows (`carries`).
    path_walks: whether lanes are *sequential*: in merges by merge paths, each lane merges from memory to memory.  This
    suits CPUs.
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
        """Whether keys have values in a buffer of their own."""
        return self.signature.value_bytes > 0

    @property
    def looped(self) -> bool:
        """Whether the block sort has loops over its passes: `compact` is set, and all passes hold equally many rows."""
        alike = self.height == 1 << self.local_scale and self.slabs == pow2_floor(self.slabs)
        return self.compact and alike and 1 < self.subgroup <= self.rows

    @property
    def row(self) -> int:
        """The number of keys that a sequential lane merges at once, as a vector; 0 means that it merges key by key.

        Only kernel languages with vector types use this number.

        With values, an element of a row is a key of 32 bits with the number of its value, in 64 bits.
        """
        if not self.path_walks or self.signature.device_count:
            return 0
        if self.valued:
            return LINE // pair_bytes(self.key) if self.row_block and self.key.bytes == 4 else 0
        return LINE // self.key.bytes if self.row_block else 16

    @property
    def carries(self) -> bool:
        """Whether merges by rows move each value together with its key."""
        return self.valued and self.row > 0

    @property
    def paired(self) -> bool:
        """Whether kernels merge pairs of a key and its original index, and the last kernel gathers the values."""
        return self.valued and not self.carries

    @property
    def lane_block(self) -> int:
        """The most keys of a block that one sequential lane sorts; 0 if the lanes of a work-group sort it together."""
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
        """The mean number of rows of a lane of the clean: the greatest power of two up to `height`."""
        return pow2_floor(self.height)

    @property
    def chunk(self) -> int:
        """The number of keys that a work-group of the clean sorts, a power of two."""
        return self.clean_slabs * self.clean_height * self.subgroup

    @property
    def registers(self) -> int:
        """The most keys that a lane holds in registers in a pass."""
        return max(1 << self.local_scale, self.height)

    def column_slabs(self, slabs: int) -> int:
        """Return the number of slabs whose rows form one column of a lane in a block of `slabs` slabs.

        The columns of lanes are sorted and then merged (`BlockSort.tall`).  If a column of all slabs fits the registers
        (`held_rows`), the result is `slabs`: lanes then exchange keys once in a block, not once in each merge of slabs.
        Otherwise the result is the greatest power of two that divides `slabs` and whose column fits, at least 1.
        """
        if self.subgroup == 1 or held_rows(slabs * self.height, self.registers):
            return slabs
        tall = slabs & -slabs
        while tall > 1 and not held_rows(tall * self.height, self.registers):
            tall //= 2
        return tall


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for the values of a target table; the caller has checked them against `FIELDS`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the number of keys in a block."""
    return p.block


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values as (name, text) pairs, for headers and `hsgen show`."""
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
