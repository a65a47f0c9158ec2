"""The comparators and passes of each kernel of a bitonic sort, as data from which templates generate code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import chain

from hsgen.algorithms.bitonic.passes import Pass, swaps
from hsgen.algorithms.bitonic.rows import Op, OpGroup, Row, RowGroup, op_groups, row_groups
from hsgen.core.networks import Network, halves, mirrored, sorting

_FEW = 8  # up to this subgroup width, the masks of exchanges between lanes are constants


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSort:
    """The kernel that sorts a block of `slabs` slabs in one work-group, from the source to the destination.

    The block is divided into groups of `tall` slabs.  W is the number of lanes of a subgroup.  A *column* consists of
    the `column` keys that one lane has in all slabs of a group.  The kernel has four phases:
    sort: each lane sorts the keys in its registers, which are those of one slab.
    runs: the W columns of each group are sorted, each by itself, by merges of the sorted slabs.
    levels: the W columns of each group are merged.  Each level joins twice as many columns as the level before.  After
    the last level, the rank of a key in its group is lane * `column` + row.  A transposition through local memory then
    puts the keys at the slots of their ranks.
    linear: the sorted groups are merged, in row-major order.

    pitch: the distance of two columns in local memory during the transposition, in keys.
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
        """The passes of the phases `runs` and `levels`, which precede the transposition."""
        return (*self.runs, *chain.from_iterable(self.levels))

    @property
    def sort_groups(self) -> list[OpGroup]:
        """The operations of the phase `sort`, grouped so that the template can write each group as a loop."""
        return op_groups(self.sort)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopedBlock(BlockSort):
    """The kernel that sorts a block of up to `slabs` slabs, with loops over its passes, so that it compiles fast.

    The number of slabs of a block is the least power of two, at least `least`, with which the block holds its keys.  In
    every pass, a lane holds `height` rows, a power of two.  The same code can therefore merge runs of rows, and the
    columns of different lanes.  The first pass of a merge compares rows with their mirror rows.  Then the pass runs
    half stages among the rows of a lane.  Further passes run the remaining half stages, down to adjacent rows.

    lanes: the numbers of lanes whose columns a merge joins, if each of these merges has separate code with constant
    masks for exchanges between lanes.  If `lanes` is empty, the same code with variable masks runs all of these merges.
    On Intel's CPU runtime, variable masks make blocks of u64 keys on 8 lanes 7 % slower.  The same masks make blocks of
    u32 keys or of pairs on 16 lanes 5 to 7 % faster.
    """

    least: int
    height: int
    lanes: tuple[int, ...]

    @classmethod
    def of(cls, block: BlockSort, height: int, subgroup: int) -> LoopedBlock:
        """Return the same block sort by loops.

        height: the number of rows of a slab.  subgroup: the subgroup width.
        """
        members = {f.name: getattr(block, f.name) for f in fields(block)}
        lanes = tuple(1 << i for i in range(subgroup.bit_length() - 1)) if subgroup <= _FEW else ()
        return cls(**members, least=max(1, subgroup // height), height=height, lanes=lanes)

    @property
    def mirror_groups(self) -> list[OpGroup]:
        """The half stages after the comparison of rows with mirror rows, grouped for loops in the template.

        The first half of the registers holds the rows, the second half their mirror rows.
        """
        half = self.height // 2
        return op_groups(swaps(halves(half)) + swaps(mirrored(halves(half), half, half)))

    @property
    def half_groups(self) -> Iterator[tuple[int, list[OpGroup]]]:
        """(distance of compared registers, operations grouped for loops), for each half stage of a pass."""
        for far in (self.height >> i for i in range(1, self.height.bit_length())):
            yield far, op_groups(swaps(tuple(c for c in halves(self.height) if c[1] - c[0] == far)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBlock:
    """The kernel in which one sequential lane sorts a block of up to `most` keys, by rows of `row` keys (vectors).

    The lane sorts runs of `row` rows in registers.  In each merge level, the lane then merges pairs of runs from one
    half of a tile in local memory to the other.  In each half, `row` copies of the greatest key follow each run, so
    that loads of rows need no bounds check.

    chains: the number of independent merges that the lane interleaves.
    """

    row: int
    most: int
    chains: int = 4

    @property
    def run(self) -> int:
        """The number of keys in a run that is sorted in registers."""
        return self.row * self.row

    @property
    def half(self) -> int:
        """The number of slots in each half of the tile."""
        return self.most + self.most // self.run * self.row

    @property
    def columns(self) -> list[OpGroup]:
        """The comparators that sort the columns of a run, grouped for loops in the template."""
        return op_groups(swaps(sorting(self.row)))

    @property
    def merges(self) -> Iterator[tuple[int, list[OpGroup]]]:
        """(rows of a sorted part, comparators that merge all pairs of parts), for each level of the merge within a run.

        The comparators are grouped for loops in the template.
        """
        for part in (1 << i for i in range(self.row.bit_length() - 1)):
            pairs = (moved_to(first, halves(2 * part)) for first in range(0, self.row, 2 * part))
            yield part, op_groups(swaps(tuple(chain.from_iterable(pairs))))


def moved_to(first: int, network: Network) -> Network:
    """Return `network` with its indices increased by `first`."""
    return tuple((first + i, first + j) for i, j in network)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A streaming kernel, which runs `scale` merge stages between distant keys, without local memory.

    Each lane loads a column of up to 2^`scale` keys to registers, runs the stages, and stores the keys.  The distance
    of adjacent keys of a column, the stride, is in the launch's argument.

    flip: whether the first stage is a flip stage.
    """

    flip: bool
    scale: int
    rows: tuple[Row, ...]
    ops: tuple[Op, ...]

    @property
    def row_groups(self) -> list[RowGroup]:
        """The rows, grouped so that the template can write each group as a loop."""
        return row_groups(self.rows)

    @property
    def op_groups(self) -> list[OpGroup]:
        """The operations, grouped so that the template can write each group as a loop."""
        return op_groups(self.ops)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clean:
    """The kernel that runs the last half stages: each work-group sorts a bitonic chunk of `chunk` keys.

    The first pass loads keys directly from global memory to registers.
    """

    chunk: int
    passes: tuple[Pass, ...]
