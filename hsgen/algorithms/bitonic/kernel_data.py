"""What the templates of a bitonic sort know of each kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from hsgen.algorithms.bitonic.passes import Pass
from hsgen.algorithms.bitonic.rows import Op, OpGroup, Row, RowGroup, op_groups, row_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSort:
    """Sorts a block of `slabs` slabs in one work-group, source to destination.

    `sort` sorts the registers of every lane; `runs` sorts `tall` slabs as W tall columns; `levels` merges the lanes,
    twice as many in each level, in lane-major order (rank = lane * `column` + row); a transposition through local
    memory makes ranks linear; `linear` merges runs of `tall` slabs in row-major order.  `pitch`: keys from one column
    to the next in local memory.
    """

    slabs: int
    tall: int
    column: int
    pitch: int
    sort: tuple[Op, ...]
    runs: tuple[Pass, ...]
    levels: tuple[tuple[Pass, ...], ...]
    linear: tuple[Pass, ...]

    @property
    def columns(self) -> tuple[Pass, ...]:
        """All passes before the transposition."""
        return (*self.runs, *chain.from_iterable(self.levels))

    @property
    def sort_groups(self) -> list[OpGroup]:
        """The operations of `sort` in groups."""
        return op_groups(self.sort)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """`scale` merge stages over distant rows: one column of single keys per lane, in registers only.

    Rows are in units of the stride, which the argument of the launch gives.
    """

    flip: bool
    scale: int
    rows: tuple[Row, ...]
    ops: tuple[Op, ...]

    @property
    def row_groups(self) -> list[RowGroup]:
        """The rows in groups."""
        return row_groups(self.rows)

    @property
    def op_groups(self) -> list[OpGroup]:
        """The operations in groups."""
        return op_groups(self.ops)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clean:
    """Sorts bitonic chunks of `chunk` keys, each in one work-group; the first pass reads global memory directly."""

    chunk: int
    passes: tuple[Pass, ...]
