"""The parameters of a prefix sum and derived values.

A *tile* is the `work_group` x `items` rows that a work-group holds in local memory or in registers.  A sequential lane
(`work_group` = 1) iterates over the rows of its tile in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.fields import Field
from hsgen.core.keys import KeyType

COORDINATIONS = ("scan", "lookback", "sections")
VECTOR = 4  # adjacent elements that a lane accesses at once
PAYLOAD = 30  # the bits of a sum in each word of a tile's state; the other two bits are the kind of the state

FIELDS = {
    "columns": Field("int", "the elements of a row, 1 to 16", least=1, greatest=16),
    "exclusive": Field("bool", "whether a sum excludes its own row"),
    "items": Field("int", "the rows per lane of a tile", least=1, greatest=1 << 20),
    "work_group": Field("int", "the lanes of a work-group; 1 for sequential lanes", least=1),
    "groups": Field("int", "the most work-groups of a launch", least=1, greatest=65535),
    "coordination": Field("str", f"one of {', '.join(COORDINATIONS)}", choices=COORDINATIONS),
    "subgroup": Field("int", "sections: the lanes that exchange sums", required=False, least=1, greatest=128),
    "section": Field(
        "int", "sections: the most tiles of a section, as many as lanes by default", required=False, least=2
    ),
    "local": Field("bool", "sections: whether tiles are in local memory, instead of registers", required=False),
    "ahead": Field(
        "int",
        "sections in local memory: how many tiles ahead a tile is prefetched; 0: none",
        required=False,
        least=0,
        greatest=4096,
    ),
    "resident": Field("int", "sections: work-groups that a core is to hold at once", required=False, least=0),
    "spins": Field("int", "lookback: polls of a tile's state before a lane gives up", required=False, least=1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The table ``[scan.KEY]`` of a target.

    columns: the elements of a row.
    exclusive: whether the sums of a row exclude the row itself.
    items: the rows per lane of a tile.
    work_group: the lanes.  A tile has `items` x `work_group` rows.
    groups: the most work-groups of a launch, each with several tiles.  With look-back, each work-group has one tile.
    coordination: one of `COORDINATIONS`.
    spins: after this many polls of a tile's state, a lane gives up.
    subgroup: with sections, the lanes that exchange sums.
    resident: with sections, the work-groups that must fit a core together.
    section: the tiles of a section; 0 means as many tiles as lanes.
    local: whether the tiles of sections are in local memory, not in registers.
    ahead: each tile prefetches the tile that is `ahead` tiles later; 0 means no prefetch.

    floats: whether elements are 32-bit floats.
    redo: whether tiles whose look-back gave up are redone; False on devices with guaranteed forward progress.

    Two fields are for tests; 0 switches them off.
    withhold: every `withhold`-th tile publishes its sum only after its look-back.
    starve: every `starve`-th tile gives up its look-back, as on a device without forward progress.
    """

    key: KeyType
    columns: int
    exclusive: bool
    items: int
    work_group: int
    groups: int
    coordination: str
    spins: int = 1 << 20
    subgroup: int = 1
    section: int = 0
    local: bool = False
    ahead: int = 0
    resident: int = 0
    withhold: int = 0
    starve: int = 0
    redo: bool = True
    floats: bool = False

    @property
    def tile(self) -> int:
        """The number of rows that a work-group scans at once."""
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether lanes are sequential."""
        return self.work_group == 1

    @property
    def looks(self) -> bool:
        """Whether tiles look back without sections."""
        return self.coordination == "lookback"

    @property
    def sections(self) -> bool:
        """Whether tiles look back within sections."""
        return self.coordination == "sections"

    @property
    def states(self) -> bool:
        """Whether tiles publish states in scratch, for either kind of look-back."""
        return self.looks or self.sections

    @property
    def section_tiles(self) -> int:
        """The number of tiles in a section, at most one for each lane, because each lane reads one state."""
        return self.section or self.work_group

    @property
    def cleared(self) -> int:
        """With sections, the number of tiles whose states a work-group clears.

        Each lane clears one word, but a work-group clears the states of at least one tile.
        """
        return max(1, self.work_group // (self.columns * self.pieces))

    @property
    def subgroups(self) -> int:
        """The subgroups of a work-group."""
        return self.work_group // self.subgroup

    @property
    def vectors(self) -> int:
        """The number of vectors per lane."""
        return self.items * self.columns // VECTOR

    @property
    def turns(self) -> bool:
        """Whether the vectors of a lane start in different columns, because rows do not divide a vector."""
        return VECTOR % self.columns != 0

    @property
    def turn(self) -> int:
        """The number of columns by which the start of a lane's next vector is shifted."""
        return VECTOR * self.subgroup % self.columns

    @property
    def forward_progress(self) -> bool:
        """Whether look-back waits without a limit.  Then no look-back gives up, and no tile is redone."""
        return self.sections or (self.looks and not self.redo)

    @property
    def pitch(self) -> int:
        """The elements of local memory per lane, an odd number to avoid bank conflicts."""
        return self.items * self.columns | 1

    @property
    def max_n(self) -> int:
        """The greatest count of rows.

        Indices of elements are signed 32-bit integers, and kernels compute indices of up to a tile beyond n.
        """
        return min(1 << 30, ((1 << 31) - 1) // self.columns)

    @property
    def pieces(self) -> int:
        """The number of 32-bit words in the state of a tile, for each column."""
        return -(-8 * self.key.bytes // PAYLOAD)

    @property
    def window(self) -> int:
        """The tiles that a work-group examines at once while looking back."""
        return max(1, min(32, self.work_group // self.columns))

    @property
    def spine(self) -> int:
        """The lanes of the work-group that scans the sums of all work-groups; at least one lane per column."""
        return max(self.work_group, 16)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for a target table that `FIELDS` has checked."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the number of rows in a tile.  Validation tests more counts around its multiples."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return pairs (name, value) of derived values, for headers and `hsgen show`."""
    most = "one a work-group" if p.states else f"at most {p.groups} work-groups of tiles"
    return [
        ("rows", f"{p.columns} elements, {'exclusive' if p.exclusive else 'inclusive'} sums"),
        ("tile", f"{p.work_group} lanes x {p.items} = {p.tile} rows, {most}"),
        ("coordination", p.coordination + (f" of {p.section_tiles} tiles" if p.sections else "")),
        ("single work-group", f"up to {p.tile} rows"),
    ]
