"""The passes of a bitonic sort as data.  A pass loads and stores all keys of a tile, or of a pair of runs, once.

A *pass* divides the rows of keys into columns, and distributes the columns among lanes.  A lane loads the rows of one
column into registers, runs a network on these rows, and stores them.  With 2^s rows per column, a pass therefore runs s
merge stages.  In a tile in local memory, a row is W consecutive keys, one for each lane of a subgroup.  The subgroup
processes a column.  In the streaming kernels, a row is a single key, and a lane processes a column.

**Virtual rows.**  A merge joins two sorted runs: A has R rows, and B has at most R rows.  The rows of A and B are a
*span*.  The merge network has 2 P virtual rows, with P = pow2_ceil(R).  A ends and B starts in the middle of the
virtual rows.  Virtual rows before A and after B do not exist in memory.  Virtual rows before A count as the least key,
those after B as the greatest key, so no comparator would move them.  All comparators with such rows are therefore left
out.  If a row is outside in every column, the generated code does not contain it; otherwise a guard tests for it at run
time.  Merges are thus exact for any R and any count, without padding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from hsgen.algorithms.bitonic.rows import Op, OpGroup, Row, RowGroup, Swap, op_groups, row_groups
from hsgen.core.networks import Network, halves, mirrored, pow2_ceil


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """A pass over `spans` spans; a span consists of the rows of two runs to merge.

    Column q is column ``x = q % columns`` of span ``q // columns``.  Its base is ``x // stride * chunk + x % stride``.
    Its register i holds the virtual row ``v = rows[i].offset + rows[i].sign * base``, which is row ``v - front`` of the
    span.

    note: a comment for generated code.
    columns: the number of columns of a span.
    stride, chunk: see the formula of the base.
    front: the number of virtual rows before the first row of the span.
    length: the number of rows of a full span.
    rows: the rows in the registers of a lane, as in the formula.
    ops: the network, as operations on registers.
    limit: the number of rows of the tile; 0 if no span exceeds the tile.
    mirror: whether lanes reverse rows with sign -1: lane l takes the key of lane W - 1 - l.
    """

    note: str
    columns: int
    stride: int
    chunk: int
    front: int
    length: int
    spans: int
    rows: tuple[Row, ...]
    ops: tuple[Op, ...]
    limit: int = 0
    mirror: bool = False

    @property
    def count(self) -> int:
        """The number of columns of all spans."""
        return self.spans * self.columns

    @property
    def row_groups(self) -> list[RowGroup]:
        """The rows, grouped as in `rows.row_groups`; offsets count from the first row of the span."""
        return row_groups(self.rows, self.front)

    @property
    def op_groups(self) -> list[OpGroup]:
        """The operations, grouped so that the template can write each group as a loop."""
        return op_groups(self.ops)

    @property
    def lane_groups(self) -> list[OpGroup]:
        """The groups of `op_groups`, with only the first of the half stages between lanes: that of the greatest mask.

        A template that loops over masks writes the other half stages by the same code.
        """
        groups = self.op_groups
        top = max((numbers[0][2] for kind, numbers in groups if kind == "half"), default=0)
        return [g for g in groups if g[0] != "half" or g[1][0][2] == top]


def swaps(network: Network) -> tuple[Op, ...]:
    """Return the comparators of `network` as operations on registers."""
    return tuple(Swap(i, j) for i, j in network)


def flip_rows(scale: int, double: int) -> tuple[tuple[Row, ...], tuple[Op, ...]]:
    """Return the rows and operations of a lane in a flip merge of `double` virtual rows, with 2**scale rows per lane.

    The first stage compares each row with its mirror row.  Half stages among the rows, and among the mirror rows,
    follow.
    """
    half = 1 << (scale - 1)
    stride = double // (2 * half)
    rows = [Row(i * stride, 1) for i in range(half)]
    rows += [Row(double - 1 - i * stride, -1) for i in range(half)]
    ops: tuple[Op, ...] = tuple(Swap(i, half + i) for i in range(half))
    ops += swaps(halves(half)) + swaps(mirrored(halves(half), half, half))
    return tuple(rows), ops


def renumber(ops: tuple[Op, ...], number: dict[int, int]) -> tuple[Op, ...]:
    """Return the comparators with new register numbers, without those that have a register that is not in `number`.

    number: the new number of each register that remains, by its old number.
    """
    return tuple(
        Swap(number[op.lo], number[op.hi]) for op in ops if isinstance(op, Swap) and op.lo in number and op.hi in number
    )


def truncate(
    rows: tuple[Row, ...], ops: tuple[Op, ...], front: int, length: int, width: int
) -> tuple[tuple[Row, ...], tuple[Op, ...]]:
    """Return the rows and comparators without the rows that lie outside the span in every column.

    The remaining rows have the guards that they need.
    front: the number of virtual rows before the first row of the span.
    length: the number of rows of the span.
    width: the number of different bases of columns.
    """
    inside: list[Row] = []
    number: dict[int, int] = {}
    for i, row in enumerate(rows):
        low = row.offset if row.sign > 0 else row.offset - width + 1
        high = low + width - 1
        if high < front or low >= front + length:
            continue
        number[i] = len(inside)
        inside.append(replace(row, front=low < front, end=high >= front + length))
    return tuple(inside), renumber(ops, number)


def _run_pass(
    note: str, run: int, tile: int, stride: int, chunk: int, rows: tuple[Row, ...], ops: tuple[Op, ...]
) -> Pass:
    """Return a pass that merges runs of `run` rows in a tile of `tile` rows, without rows that exist in no column."""
    double = 2 * pow2_ceil(run)
    front, length = double // 2 - run, 2 * run
    rows, ops = truncate(rows, ops, front, length, double - chunk + stride)
    spans = -(-(tile - run) // length)  # a last run without a partner is left as it is
    return Pass(
        note=note,
        columns=double // chunk * stride,
        stride=stride,
        chunk=chunk,
        front=front,
        length=length,
        spans=spans,
        rows=rows,
        ops=ops,
        limit=tile if spans * length > tile else 0,
    )


def half_rows(stride: int, count: int) -> tuple[Row, ...]:
    """Return the rows of a lane in half stages: `count` rows, `stride` apart."""
    return tuple(Row(i * stride, 1) for i in range(count))


def steps(stages: int, scale: int) -> list[int]:
    """Return the number of stages of each pass, if few passes of at most `scale` stages share `stages` evenly."""
    passes = -(-stages // scale)
    return [stages // passes + (i < stages % passes) for i in range(passes)]


def full_steps(stages: int, scale: int) -> list[int]:
    """Return the number of stages of each pass, if every pass except the last has `scale` of all `stages`."""
    return [min(scale, stages - done) for done in range(0, stages, scale)]


Steps = Callable[[int, int], list[int]]
KEPT = 512
"""The number of merges whose passes stay in a cache: more than all targets need."""


@lru_cache(KEPT)
def merge_runs(run: int, tile: int, scale: int, *, mirror: bool = False, split: Steps = steps) -> tuple[Pass, ...]:
    """Return the passes that merge pairs of adjacent sorted runs of `run` rows in a tile of `tile` rows.

    The merge is HotSort's bitonic merge with a flip, on virtual rows.
    scale: a lane holds at most 2**scale rows.
    mirror: whether the flip also compares reversed lanes, because runs are in row-major order.
    split: the function that distributes the stages among passes.
    """
    chunk = 2 * pow2_ceil(run)
    stages = chunk.bit_length() - 1
    if mirror:
        scale = min(scale, stages - 1)  # a pass with reversed lanes cannot include the final stages between lanes
    out: list[Pass] = []
    for step in split(stages, scale):
        stride = chunk >> step
        if out:
            rows, ops = half_rows(stride, 1 << step), swaps(halves(1 << step))
            note = f"merge runs of {run} rows: half stages, rows {chunk // 2} to {stride} apart"
        else:
            rows, ops = flip_rows(step, chunk)
            note = f"merge runs of {run} rows: flip, then {step - 1} half stages"
        merged = _run_pass(note, run, tile, stride, chunk, rows, ops)
        out.append(replace(merged, mirror=mirror and not out))
        chunk = stride
    return tuple(out)


def clean_columns(rows: int, scale: int, chunk: int, spans: int = 1, split: Steps = steps) -> list[Pass]:
    """Return the passes of half stages that sort bitonic chunks of `chunk` rows, within spans of `rows` rows."""
    out = []
    for step in split(chunk.bit_length() - 1, scale) if chunk > 1 else []:
        stride = chunk >> step
        out.append(
            Pass(
                note=f"half stages, rows {chunk // 2} to {stride} apart",
                columns=rows >> step,
                stride=stride,
                chunk=chunk,
                front=0,
                length=rows,
                spans=spans,
                rows=half_rows(stride, 1 << step),
                ops=swaps(halves(1 << step)),
            )
        )
        chunk = stride
    return out
