"""The kernels of a bitonic sort as data, from which their templates generate code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import chain

from hsgen.algorithms.bitonic.passes import Pass, swaps
from hsgen.algorithms.bitonic.rows import Op, OpGroup, Row, RowGroup, op_groups, row_groups
from hsgen.core.networks import Network, halves, mirrored, sorting

_FEW = 8  # up to this subgroup width, lane exchanges have constant masks


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSort:
    """The kernel that sorts a block of `slabs` slabs in one work-group, from the source to the destination.

    The block is divided into groups of `tall` slabs.  W is the number of lanes of a subgroup.  Four phases follow one
    another:
    sort: each lane sorts its registers.
    runs: each group of slabs is sorted as W columns of `column` rows, one column for each lane.
    levels: the columns of lanes are merged.  Each level merges twice as many lanes as the level before.  After the last
    level, the rank of a key is lane * `column` + row.  A transposition through local memory then stores keys by rank.
    linear: the sorted groups of slabs are merged in row-major order.

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
        """The passes before the transposition, which work on columns."""
        return (*self.runs, *chain.from_iterable(self.levels))

    @property
    def sort_groups(self) -> list[OpGroup]:
        """The operations of `sort`, grouped for loops."""
        return op_groups(self.sort)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopedBlock(BlockSort):
    """The kernel that sorts a block of up to `slabs` slabs, by loops over its passes.

    The block has the least number of slabs that holds its keys, a power of two of at least `least`.  Every pass holds
    `height` rows, a power of two.  The same code can therefore merge runs of rows and columns of lanes.  The first pass
    of a merge compares rows with their mirror rows.  Then it runs the half stages that its rows allow.  Further passes
    run half stages down to adjacent rows, without the stages whose distance exceeds the chunk.

    lanes: the sizes of groups of lanes.  Merges of groups of each size have separate code, with a constant mask.  If
    `lanes` is empty, the same code with variable masks serves every size.  On Intel's CPU runtime, variable masks make
    blocks of u64 keys on 8 lanes 7 % slower.  The same masks make blocks of u32 keys or of pairs on 16 lanes 5 to 7 %
    faster.
    """

    least: int
    height: int
    lanes: tuple[int, ...]

    @classmethod
    def of(cls, block: BlockSort, height: int, subgroup: int) -> LoopedBlock:
        """Return the looped form of `block`, given the rows of a slab and the subgroup width."""
        members = {f.name: getattr(block, f.name) for f in fields(block)}
        lanes = tuple(1 << i for i in range(subgroup.bit_length() - 1)) if subgroup <= _FEW else ()
        return cls(**members, least=max(1, subgroup // height), height=height, lanes=lanes)

    @property
    def mirror_groups(self) -> list[OpGroup]:
        """The half stages that follow the comparison of rows with mirror rows, grouped for loops.

        The second half of the registers holds the mirror rows.
        """
        half = self.height // 2
        return op_groups(swaps(halves(half)) + swaps(mirrored(halves(half), half, half)))

    @property
    def half_groups(self) -> Iterator[tuple[int, list[OpGroup]]]:
        """For each half stage of a pass, the distance between compared registers, and the grouped operations."""
        for far in (self.height >> i for i in range(1, self.height.bit_length())):
            yield far, op_groups(swaps(tuple(c for c in halves(self.height) if c[1] - c[0] == far)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBlock:
    """The kernel that sorts a block of up to `most` keys in one sequential lane, by rows of `row` keys.

    Runs of `row` rows are sorted in registers.  Then each merge level moves the keys from one half of a tile to the
    other.  In each half, `row` copies of the greatest key follow each run, so loads of rows need no bounds check.

    chains: the number of merges that the lane interleaves.
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
        """The comparators that sort the columns of a run, grouped for loops."""
        return op_groups(swaps(sorting(self.row)))

    @property
    def merges(self) -> Iterator[tuple[int, list[OpGroup]]]:
        """The merge levels that sort the rows of a run.

        For each level: the number of rows in a sorted part, and the comparators of rows that merge all pairs of parts.
        """
        for part in (1 << i for i in range(self.row.bit_length() - 1)):
            pairs = (moved_to(first, halves(2 * part)) for first in range(0, self.row, 2 * part))
            yield part, op_groups(swaps(tuple(chain.from_iterable(pairs))))


def moved_to(first: int, network: Network) -> Network:
    """Return `network` with its indices increased by `first`."""
    return tuple((first + i, first + j) for i, j in network)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A streaming kernel: `scale` merge stages over distant rows.

    Each lane runs the stages on a column of single keys, in registers only.  Row numbers are multiples of a stride,
    which the argument of the launch gives.
    """

    flip: bool
    scale: int
    rows: tuple[Row, ...]
    ops: tuple[Op, ...]

    @property
    def row_groups(self) -> list[RowGroup]:
        """The rows, grouped for loops."""
        return row_groups(self.rows)

    @property
    def op_groups(self) -> list[OpGroup]:
        """The operations, grouped for loops."""
        return op_groups(self.ops)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clean:
    """The kernel that sorts bitonic chunks of `chunk` keys, each in one work-group.

    The first pass reads global memory directly, not through local memory.
    """

    chunk: int
    passes: tuple[Pass, ...]
