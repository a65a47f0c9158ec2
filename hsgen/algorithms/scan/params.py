"""The parameters of a prefix sum, and values derived from them.

A *row* has one element for each column.  A *tile* consists of the `work_group` x `items` rows that a work-group holds
in local memory or in registers.  If `work_group` = 1, the lane is *sequential*: it reads the rows of its tile from
memory, one after another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.fields import Field
from hsgen.core.keys import KeyType

COORDINATIONS = ("scan", "lookback", "sections")
VECTOR = 4  # the number of adjacent elements of a vector, which a lane loads or stores at once
PAYLOAD = 30  # the bits of a sum in each 32-bit word of a state; the other two bits are the kind of the state

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

    columns: the number of elements of a row.
    exclusive: whether the sums of a row exclude the row itself.
    items: the number of rows per lane of a tile.
    work_group: the number of lanes of a work-group.
    groups: with "scan", the greatest number of work-groups of a launch, each of which takes several tiles.  With the
    other coordinations, a work-group has one tile.
    coordination: one of `COORDINATIONS` (see `hsgen.algorithms.scan`).
    spins: with "lookback", the number of times that a lane may read the same empty state before the look-back gives up.

    Only with "sections":
    subgroup: the width of the subgroups in which lanes exchange sums.
    section: the number of tiles of a section; 0 means as many tiles as lanes.
    local: whether a tile is in local memory, not in registers.
    ahead: a work-group prefetches the tile that is `ahead` tiles later than its own; 0 means no prefetch.
    resident: the number of work-groups that a core must hold at once (CUDA's launch bounds).

    hsgen sets these fields; target files do not:
    floats: whether elements are 32-bit floats.
    redo: whether look-backs may give up, so that tiles are scanned again.  False on devices with guaranteed forward
    progress.

    Only tests set these fields; 0 switches them off:
    withhold: one of every `withhold` tiles publishes its own sum only after its look-back.
    starve: one of every `starve` tiles gives up its look-back, as on a device without forward progress.
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
        """Whether a work-group is one sequential lane."""
        return self.work_group == 1

    @property
    def looks(self) -> bool:
        """Whether the coordination is "lookback"."""
        return self.coordination == "lookback"

    @property
    def sections(self) -> bool:
        """Whether the coordination is "sections"."""
        return self.coordination == "sections"

    @property
    def states(self) -> bool:
        """Whether tiles publish states in scratch: with "lookback" and "sections"."""
        return self.looks or self.sections

    @property
    def section_tiles(self) -> int:
        """The number of tiles of a section, at most as many as lanes, because each lane reads the state of one tile."""
        return self.section or self.work_group

    @property
    def cleared(self) -> int:
        """The number of tiles whose states a work-group of the kernel `begin` clears, with sections.

        Each lane clears one word, unless one tile has more words than a work-group has lanes.
        """
        return max(1, self.work_group // (self.columns * self.pieces))

    @property
    def subgroups(self) -> int:
        """The number of subgroups of a work-group."""
        return self.work_group // self.subgroup

    @property
    def vectors(self) -> int:
        """The number of vectors of elements per lane."""
        return self.items * self.columns // VECTOR

    @property
    def turns(self) -> bool:
        """Whether the 4-element vectors of a tile start in different columns, as they do with rows of 3 columns."""
        return VECTOR % self.columns != 0

    @property
    def turn(self) -> int:
        """The number of columns, modulo `columns`, by which a lane's next vector starts further right than its last."""
        return VECTOR * self.subgroup % self.columns

    @property
    def forward_progress(self) -> bool:
        """Whether look-backs wait without a limit, so that no look-back gives up and no tile is scanned again."""
        return self.sections or (self.looks and not self.redo)

    @property
    def pitch(self) -> int:
        """The distance of the first elements of two lanes in local memory, an odd number to avoid bank conflicts."""
        return self.items * self.columns | 1

    @property
    def max_n(self) -> int:
        """The greatest number of rows.

        Kernels index elements by signed 32-bit integers, and compute indices up to a tile beyond n.
        """
        return min(1 << 30, ((1 << 31) - 1) // self.columns)

    @property
    def pieces(self) -> int:
        """The number of 32-bit words of a state, which holds the sum of a tile in one column."""
        return -(-8 * self.key.bytes // PAYLOAD)

    @property
    def window(self) -> int:
        """The number of earlier tiles whose states a work-group reads at once, with "lookback"."""
        return max(1, min(32, self.work_group // self.columns))

    @property
    def spine(self) -> int:
        """The number of lanes of the work-group that scans the sums of all work-groups; at least one per column."""
        return max(self.work_group, 16)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for the values of a target table; the caller has checked them against `FIELDS`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the number of rows in a tile; validation tests counts around multiples of it."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return derived values as (name, text) pairs, for headers and `hsgen show`."""
    most = "one a work-group" if p.states else f"at most {p.groups} work-groups of tiles"
    return [
        ("rows", f"{p.columns} elements, {'exclusive' if p.exclusive else 'inclusive'} sums"),
        ("tile", f"{p.work_group} lanes x {p.items} = {p.tile} rows, {most}"),
        ("coordination", p.coordination + (f" of {p.section_tiles} tiles" if p.sections else "")),
        ("single work-group", f"up to {p.tile} rows"),
    ]
