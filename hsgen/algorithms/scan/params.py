"""The choices of a prefix sum and what follows from them.

A *tile* is the rows that a work-group holds in local memory, work_group x items of them; a lane alone
(work_group = 1) walks through the rows of its tile in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hsgen.core.fields import Field
from hsgen.core.keys import KeyType

COORDINATIONS = ("scan", "lookback")
PAYLOAD = 30  # bits of a sum in a word of a state; the other two say what it is

FIELDS = {
    "columns": Field("int", "the elements of a row, 1 to 16", least=1, greatest=16),
    "exclusive": Field("bool", "whether a sum leaves out its own row"),
    "items": Field("int", "the rows of a lane in a tile", least=1, greatest=1 << 20),
    "work_group": Field("int", "the lanes of a work-group; 1 for lanes that walk through memory", least=1),
    "groups": Field("int", "the most work-groups of a launch", least=1, greatest=65535),
    "coordination": Field("str", f"one of {', '.join(COORDINATIONS)}", choices=COORDINATIONS),
    "spins": Field("int", "lookback: how often a lane looks for a tile before it gives up", required=False, least=1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The table ``[scan.KEY]`` of a target.

    columns: elements of a row.  exclusive: a row's sums leave the row itself out.
    items, work_group: rows of a lane and lanes; their product is the tile.
    groups: the most work-groups of a launch, each of which then takes several tiles; looking back takes one each.
    coordination: "scan" or "lookback".  spins: look-backs of a lane before it takes the device for starving.

    redo: tiles whose look-back took `spins` give up and are done again; not where a device promises to go on.
    withhold, starve: for tests: every so many tiles publishes its own sum only after it looked back, or gives up
    as if nobody had answered, as on a device without forward progress.
    """

    key: KeyType
    columns: int
    exclusive: bool
    items: int
    work_group: int
    groups: int
    coordination: str
    spins: int = 1 << 20
    withhold: int = 0
    starve: int = 0
    redo: bool = True

    @property
    def tile(self) -> int:
        """Rows that a work-group handles at once."""
        return self.work_group * self.items

    @property
    def serial(self) -> bool:
        """Whether lanes walk through rows of their own."""
        return self.work_group == 1

    @property
    def looks(self) -> bool:
        """Whether tiles look back for what precedes them."""
        return self.coordination == "lookback"

    @property
    def forward_progress(self) -> bool:
        """Whether look-backs wait as long as it takes, so that no tile is ever done again."""
        return self.looks and not self.redo

    @property
    def pitch(self) -> int:
        """Elements of local memory from one lane's rows to the next one's: odd, so that banks do not conflict."""
        return self.items * self.columns | 1

    @property
    def max_n(self) -> int:
        """The greatest count of rows: elements are counted in signed 32-bit numbers, rows with a tile to spare."""
        return min(1 << 30, ((1 << 31) - 1) // self.columns)

    @property
    def pieces(self) -> int:
        """The words of the state of a tile and column."""
        return -(-8 * self.key.bytes // PAYLOAD)

    @property
    def window(self) -> int:
        """Tiles that a work-group looks back at together."""
        return max(1, min(32, self.work_group // self.columns))

    @property
    def spine(self) -> int:
        """Lanes of the one work-group that scans the sums of all others; at least one a column."""
        return max(self.work_group, 16)


def params(key: KeyType, values: Mapping[str, Any]) -> Params:
    """Return the parameters for a table that passed `FIELDS`."""
    return Params(key=key, **values)


def block(p: Params) -> int:
    """Return the rows around which validations are dense: a tile."""
    return p.tile


def notes(p: Params) -> list[tuple[str, str]]:
    """Return the derived values of a shape, for people."""
    most = "one a work-group" if p.looks else f"at most {p.groups} work-groups of tiles"
    return [
        ("rows", f"{p.columns} elements, {'exclusive' if p.exclusive else 'inclusive'} sums"),
        ("tile", f"{p.work_group} lanes x {p.items} = {p.tile} rows, {most}"),
        ("coordination", p.coordination),
        ("one work-group alone", f"up to {p.tile} rows"),
    ]
