"""The choices of a merge sort and what follows from them; checked against the device's facts.

Names follow HotSort: a *slab* is the W x H keys that one subgroup sorts in registers, a *block* the slabs that
one work-group sorts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hsgen.algorithms.bitonic.passes import held_rows
from hsgen.core.fields import Field
from hsgen.core.keys import PLAIN, KeyType, Signature
from hsgen.core.networks import pow2_floor

FIELDS = {
    "subgroup": Field("int", "a power of two, or 1 for no subgroup operations", least=1, greatest=128),
    "height": Field("int", "an even number of rows from 2 to 64", least=2, greatest=64),
    "slabs": Field("int", "at least 1 slab", least=1, greatest=8192),
    "clean_slabs": Field("int", "a power of two, usually that below slabs", least=1, greatest=8192),
    "local_scale": Field("int", "log2 of the rows held in local-memory passes", least=1, greatest=6),
    "flip_scale": Field("int", "log2 of the rows held in flip merges", least=1, greatest=6),
    "half_scale": Field("int", "log2 of the rows held in half merges", least=1, greatest=6),
    "stream_group": Field("int", "a power of two, the lanes of a streaming work-group", least=1, greatest=8192),
    "bank_pad": Field("int", "keys of slack after a column", required=False, greatest=64),
    "exchange": Field("str", '"minmax" or "select"', required=False, choices=("minmax", "select")),
    "path_from": Field("int", "the keys of a run from which on merge paths merge", required=False, least=1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The table ``[merge.KEY]`` of a target.  Scales are log2 of the rows that a lane holds at once.

    subgroup: lanes that exchange keys by shuffles; 1 means that no subgroup operation is used at all.
    height: rows (registers) of a slab, even.  slabs: slabs of a block.
    local_scale, flip_scale, half_scale: rows held by passes over local memory, by the streaming flip merge
    and by the streaming half merge.  stream_group: lanes in a work-group of the streaming kernels.
    clean_slabs: slabs that one work-group of the clean finishes, a power of two.
    bank_pad: keys of slack after each sorted column while a block is transposed through local memory.
    exchange: "minmax" or "select", the form of a comparator.
    path_from: runs of so many keys and more are merged by merge paths, from one buffer to another; None: none are.

    form: what is sorted with the keys, and how.  With values, keys are merged together with the places that they had,
    which keeps equal ones in order, and the values are gathered at the end.
    path_walks: lanes that merge by paths walk alone through memory, as suits CPUs.
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
    path_from: int | None = None
    signature: Signature = PLAIN
    path_walks: bool = False

    @property
    def valued(self) -> bool:
        """Whether there are values, in buffers of their own."""
        return self.signature.value_bytes > 0

    @property
    def row(self) -> int:
        """Keys of a row that lanes which walk alone merge at a time, in dialects with vectors; 0: key by key."""
        return 16 if self.path_walks and not self.valued and not self.signature.device_count else 0

    @property
    def rows(self) -> int:
        """Rows of a block."""
        return self.slabs * self.height

    @property
    def block(self) -> int:
        """Keys of a block."""
        return self.rows * self.subgroup

    @property
    def clean_height(self) -> int:
        """Rows that a lane of the clean holds on average."""
        return pow2_floor(self.height)

    @property
    def chunk(self) -> int:
        """Keys that one work-group of the clean finishes, a power of two."""
        return self.clean_slabs * self.clean_height * self.subgroup

    @property
    def registers(self) -> int:
        """Keys that a lane may hold in a pass."""
        return max(1 << self.local_scale, self.height)

    def column_slabs(self, slabs: int) -> int:
        """Slabs of a block of `slabs` that are sorted as one tall column before the lanes are merged.

        All of them where the odd part of the column fits the registers: then lanes are exchanged once a
        block and not once a merge level.  Otherwise the greatest power of two that divides them.
        """
        if self.subgroup == 1 or held_rows(slabs * self.height, self.registers):
            return slabs
        tall = slabs & -slabs
        while tall > 1 and not held_rows(tall * self.height, self.registers):
            tall //= 2
        return tall


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for a table that passed `FIELDS`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the keys of a block."""
    return p.block


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the derived values of a shape, for people."""
    tall = p.column_slabs(p.slabs)
    return [
        ("slab", f"{p.subgroup} x {p.height} = {p.subgroup * p.height} keys"),
        ("block", f"{p.slabs} slabs = {p.block} keys, {p.slabs * p.subgroup} lanes"),
        ("column", f"{tall} slabs = {tall * p.height} rows before lanes are merged"),
        ("clean", f"{p.chunk} keys, {p.clean_slabs * p.subgroup} lanes"),
        ("streaming", f"flips of up to {1 << p.flip_scale} rows, half merges of up to {1 << p.half_scale}"),
        *([("merge paths", f"runs of {p.path_from} keys and more")] if p.path_from is not None else []),
    ]
