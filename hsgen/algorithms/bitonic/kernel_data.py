"""The descriptions of the kernels of a bitonic sort, for their templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import chain

from hsgen.algorithms.bitonic.passes import Pass, swaps
from hsgen.algorithms.bitonic.rows import Op, OpGroup, Row, RowGroup, op_groups, row_groups
from hsgen.core.networks import Network, halves, mirrored, sorting

_FEW = 8  # the most lanes of a subgroup for which exchanges have constant masks


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSort:
    """Sorts a block of `slabs` slabs in one work-group, from the source to the destination.

    The fields are in the order of the phases; W is the number of lanes of a subgroup.
    sort: sorts the registers of every lane.
    runs: sorts `tall` slabs as W columns of `column` rows, one column for each lane.
    levels: merges the columns of lanes; each level merges twice as many lanes as the level before.  The rank of a key
    is lane * `column` + row.
    pitch: the keys from one column to the next in local memory, through which a transposition makes ranks linear.
    linear: merges runs of `tall` slabs in row-major order.
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
class LoopedBlock(BlockSort):
    """Sorts a block of up to `slabs` slabs, by loops over passes.

    The block has as many slabs as its keys need: the least power of two, at least `least`.  All passes hold `height`
    rows, a power of two, so one text serves merges of runs of rows and of lanes.  The first pass of a merge compares
    rows with their mirror rows, and runs the half stages that its rows allow.  Further passes run half stages down to
    adjacent rows; they skip stages beyond the chunk.

    lanes: the sizes of the groups of lanes for whose merge the text has an exchange with a constant mask.  If `lanes`
    is empty, one text with variable masks serves every size.  On Intel's CPU runtime, variable masks make blocks of u64
    keys on 8 lanes 7 % slower.  Variable masks make blocks of u32 keys or of pairs on 16 lanes 5 to 7 % faster.
    """

    least: int
    height: int
    lanes: tuple[int, ...]

    @classmethod
    def of(cls, block: BlockSort, height: int, subgroup: int) -> LoopedBlock:
        """Return a block sort with loops over its passes."""
        members = {f.name: getattr(block, f.name) for f in fields(block)}
        lanes = tuple(1 << i for i in range(subgroup.bit_length() - 1)) if subgroup <= _FEW else ()
        return cls(**members, least=max(1, subgroup // height), height=height, lanes=lanes)

    @property
    def mirror_groups(self) -> list[OpGroup]:
        """The half stages that follow the comparison with mirror rows; the second half of the registers holds the
        mirror rows.
        """
        half = self.height // 2
        return op_groups(swaps(halves(half)) + swaps(mirrored(halves(half), half, half)))

    @property
    def half_groups(self) -> Iterator[tuple[int, list[OpGroup]]]:
        """The half stages of a pass: for each, the distance between compared registers, and the operations."""
        for far in (self.height >> i for i in range(1, self.height.bit_length())):
            yield far, op_groups(swaps(tuple(c for c in halves(self.height) if c[1] - c[0] == far)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBlock:
    """Sorts a block of up to `most` keys in one sequential lane, by rows of `row` keys.

    Runs of `row` rows are sorted in registers, and then merged between two halves of a tile.  After each run of a half
    there are `row` greatest keys, so that no load of a row needs a bound.
    """

    row: int
    most: int
    chains: int = 4

    @property
    def run(self) -> int:
        """Keys of a run that is sorted in registers."""
        return self.row * self.row

    @property
    def half(self) -> int:
        """Slots of a half of the tile."""
        return self.most + self.most // self.run * self.row

    @property
    def columns(self) -> list[OpGroup]:
        """The comparators that sort the columns of a run."""
        return op_groups(swaps(sorting(self.row)))

    @property
    def merges(self) -> Iterator[tuple[int, list[OpGroup]]]:
        """The merges of a run: the rows of a part, and the comparators of rows that merge all pairs of parts."""
        for part in (1 << i for i in range(self.row.bit_length() - 1)):
            pairs = (moved_to(first, halves(2 * part)) for first in range(0, self.row, 2 * part))
            yield part, op_groups(swaps(tuple(chain.from_iterable(pairs))))


def moved_to(first: int, network: Network) -> Network:
    """Return `network` for the values from `first` on."""
    return tuple((first + i, first + j) for i, j in network)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """`scale` merge stages over distant rows: each lane sorts a column of single keys, in registers only.

    Rows are in units of the stride, which is in the argument of the launch.
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
