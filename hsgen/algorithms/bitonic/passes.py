"""Passes: what one sweep over a tile or over memory does, as data.

A *pass* deals columns of rows to lanes.  A lane holds the rows of one column in registers, runs a network on
them and puts them back, so that log2(rows) merge stages cost one trip.  In a tile a "row" is W consecutive
keys, one for each lane of the subgroup, and a column belongs to a subgroup; in the streaming kernels a row
is a single key and a column belongs to a lane.

**Virtual rows.**  Two sorted runs A (R rows) and B (at most R rows) are merged as if A ended and B began in
the middle of 2 P rows, P = pow2_ceil(R): in front of A lie P - R rows of the least key, behind B rows of the
greatest.  Neither ever moves, so every comparator that touches one is dropped, at generation time where the
whole row is outside, otherwise by a guard.  This is what makes half-cleaners exact for any R, and exact for
any count, without padding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from hsgen.core.networks import Network, bitonic_merge, halves, mirrored, odd_part, pow2_ceil


class Swap(NamedTuple):
    """Registers `lo` and `hi`: the smaller key goes to `lo`."""

    lo: int
    hi: int
    kind: str = "swap"


class Half(NamedTuple):
    """Lanes l and l ^ mask exchange register `reg`; the lane without the bit keeps the smaller key."""

    reg: int
    mask: int
    kind: str = "half"


class Flip(NamedTuple):
    """Lanes l and l ^ mask exchange `a` against `b`; the lane without the top bit of mask keeps the smaller."""

    a: int
    b: int
    mask: int
    kind: str = "flip"


Op = Swap | Half | Flip


@dataclass(frozen=True, slots=True)
class Row:
    """Virtual row ``offset + sign * base`` of a column; `front` and `end` say which guards it needs."""

    offset: int
    sign: int
    front: bool = False
    end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One sweep over spans of rows.

    Column q is number ``x = q % columns`` of span ``q // columns``; its base is ``x // stride * chunk +
    x % stride``; its register i holds the virtual row ``rows[i].offset + rows[i].sign * base``, which is row
    ``virtual - front`` of the span.  `length` is the rows of a full span, `limit` the rows of the tile.
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
        """Columns in the whole tile."""
        return self.spans * self.columns


def swaps(network: Network) -> tuple[Op, ...]:
    """Return the comparators of `network` as register operations."""
    return tuple(Swap(i, j) for i, j in network)


def flip_rows(scale: int, double: int) -> tuple[tuple[Row, ...], tuple[Op, ...]]:
    """Rows and operations of a flip merge of 2**scale rows over `double` (2 P) virtual rows.

    The first stage compares virtual row v with its mirror image; both halves go on with half-cleaners.
    """
    half = 1 << (scale - 1)
    stride = double // (2 * half)
    rows = [Row(i * stride, 1) for i in range(half)]
    rows += [Row(double - 1 - i * stride, -1) for i in range(half)]
    ops: tuple[Op, ...] = tuple(Swap(i, half + i) for i in range(half))
    ops += swaps(halves(half)) + swaps(mirrored(halves(half), half, half))
    return tuple(rows), ops


def renumber(ops: tuple[Op, ...], number: dict[int, int]) -> tuple[Op, ...]:
    """Keep the comparators whose registers are all in `number`, under their new numbers."""
    return tuple(
        Swap(number[op.lo], number[op.hi]) for op in ops if isinstance(op, Swap) and op.lo in number and op.hi in number
    )


def truncate(
    rows: tuple[Row, ...], ops: tuple[Op, ...], front: int, length: int, width: int
) -> tuple[tuple[Row, ...], tuple[Op, ...]]:
    """Drop the rows that lie outside a span whatever the column, with their comparators; mark guards.

    `width` is how many bases there are, `front` and `length` place the span in virtual rows.
    """
    kept: list[Row] = []
    number: dict[int, int] = {}
    for i, row in enumerate(rows):
        low = row.offset if row.sign > 0 else row.offset - width + 1
        high = low + width - 1
        if high < front or low >= front + length:
            continue
        number[i] = len(kept)
        kept.append(replace(row, front=low < front, end=high >= front + length))
    return tuple(kept), renumber(ops, number)


def _run_pass(
    note: str, run: int, tile: int, stride: int, chunk: int, rows: tuple[Row, ...], ops: tuple[Op, ...]
) -> Pass:
    """Place the rows of a merge of runs of `run` rows in a tile of `tile` rows."""
    double = 2 * pow2_ceil(run)
    front, length = double // 2 - run, 2 * run
    rows, ops = truncate(rows, ops, front, length, double - chunk + stride)
    spans = -(-(tile - run) // length)  # a last run that has no partner is left alone
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


def _half_rows(stride: int, count: int) -> tuple[Row, ...]:
    return tuple(Row(i * stride, 1) for i in range(count))


def steps(stages: int, scale: int) -> list[int]:
    """Deal `stages` merge stages evenly to as few passes as `scale` stages a pass allow."""
    passes = -(-stages // scale)
    return [stages // passes + (i < stages % passes) for i in range(passes)]


def merge_runs(run: int, tile: int, scale: int, *, mirror: bool = False) -> list[Pass]:
    """Passes that merge neighbouring sorted runs of `run` rows in a tile of `tile` rows.

    At most 2**scale rows are held at once.  Source: the flip form of the bitonic merge that HotSort uses,
    on virtual rows.
    """
    chunk = 2 * pow2_ceil(run)
    stages = chunk.bit_length() - 1
    if mirror:
        scale = min(scale, stages - 1)  # stages between lanes follow: never in the pass with reversed lanes
    out: list[Pass] = []
    for step in steps(stages, scale):
        stride = chunk >> step
        if out:
            rows, ops = _half_rows(stride, 1 << step), swaps(halves(1 << step))
            note = f"merge runs of {run} rows: half stages, rows {chunk // 2} to {stride} apart"
        else:
            rows, ops = flip_rows(step, chunk)
            note = f"merge runs of {run} rows: flip, then {step - 1} half stages"
        made = _run_pass(note, run, tile, stride, chunk, rows, ops)
        out.append(replace(made, mirror=mirror and not out))
        chunk = stride
    return out


def clean_columns(rows: int, scale: int, chunk: int, spans: int = 1) -> list[Pass]:
    """Passes that finish columns of `rows` rows by half stages, from bitonic chunks of `chunk` rows down."""
    out = []
    for step in steps(chunk.bit_length() - 1, scale) if chunk > 1 else []:
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
                rows=_half_rows(stride, 1 << step),
                ops=swaps(halves(1 << step)),
            )
        )
        chunk = stride
    return out


def held_rows(rows: int, most: int) -> int:
    """Rows of one column that a lane holds while lanes merge, with at most `most` registers; 0: impossible."""
    if rows <= most:
        return rows
    held = odd_part(rows)
    if 2 * held > most:
        return 0
    while 4 * held <= most:
        held *= 2
    return held


def merge_lanes(rows: int, lanes: int, scale: int, most: int, spans: int) -> list[Pass]:
    """Passes that merge two groups of `lanes` / 2 sorted columns of `rows` rows into a group of `lanes`.

    The rank order is lane-major (rank = lane * rows + row).  The first pass exchanges between lanes: the flip
    needs a row and its mirror image in one lane, so a column is held with its mirror column.  Then every
    lane's own column is an arbitrary bitonic sequence, which the odd-merge recursion sorts for any height.
    """
    held = held_rows(rows, most)
    stride = rows // held
    net = bitonic_merge(held)
    if stride == 1:
        table = _half_rows(1, rows)
        ops: tuple[Op, ...] = tuple(Flip(i, rows - 1 - i, lanes - 1) for i in range(rows // 2))
        merges = swaps(net)
    else:
        table = _half_rows(stride, held) + tuple(Row(rows - 1 - i * stride, -1) for i in range(held))
        ops = tuple(Flip(i, held + i, lanes - 1) for i in range(held))
        merges = swaps(net) + swaps(mirrored(net, held, held))
    ops += lane_halves(len(table), lanes // 2) + merges
    columns = max(1, stride // 2)
    first = Pass(
        note=f"merge {lanes // 2} + {lanes // 2} lanes: flip, lane exchanges, column stages",
        columns=columns,
        stride=columns,
        chunk=columns,
        front=0,
        length=rows,
        spans=spans,
        rows=table,
        ops=ops,
    )
    return [first, *clean_columns(rows, scale, stride, spans)]


def lane_halves(registers: int, lanes: int) -> tuple[Op, ...]:
    """Half stages of distance `lanes` / 2 to 1 between the lanes, for every register."""
    masks = [1 << b for b in reversed(range(lanes.bit_length() - 1))]
    return tuple(Half(r, m) for m in masks for r in range(registers))
