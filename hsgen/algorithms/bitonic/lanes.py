"""Passes over columns in which the lanes of a subgroup exchange keys."""

from __future__ import annotations

from functools import lru_cache

from hsgen.algorithms.bitonic.passes import KEPT, Pass, Steps, clean_columns, half_rows, steps, swaps
from hsgen.algorithms.bitonic.rows import Flip, Half, Op, Row
from hsgen.core.networks import bitonic_merge, mirrored, odd_part


def held_rows(rows: int, most: int) -> int:
    """Return how many rows of a column a lane holds at once while columns of lanes are merged.

    A lane has `most` registers.  The result is 0 if the rows do not fit.
    """
    if rows <= most:
        return rows
    fitting = odd_part(rows)
    if 2 * fitting > most:
        return 0
    while 4 * fitting <= most:
        fitting *= 2
    return fitting


@lru_cache(KEPT)
def merge_lanes(rows: int, lanes: int, scale: int, most: int, spans: int, split: Steps = steps) -> tuple[Pass, ...]:
    """Return the passes that merge two sorted groups of `lanes` / 2 columns into one sorted group of `lanes` columns.

    A column has `rows` rows.  The order within a group is lane-major (rank = lane * rows + row).  The first pass
    exchanges keys between lanes.  Its flip stage needs a row and the mirror row in one lane.  A lane therefore holds
    rows of its column together with their mirror rows.  After the exchanges, each column is an arbitrary bitonic
    sequence.  A recursive merge that allows odd lengths sorts it for any height.
    """
    fitting = held_rows(rows, most)
    stride = rows // fitting
    net = bitonic_merge(fitting)
    if stride == 1:
        table = half_rows(1, rows)
        ops: tuple[Op, ...] = tuple(Flip(i, rows - 1 - i, lanes - 1) for i in range(rows // 2))
        merges = swaps(net)
    else:
        table = half_rows(stride, fitting) + tuple(Row(rows - 1 - i * stride, -1) for i in range(fitting))
        ops = tuple(Flip(i, fitting + i, lanes - 1) for i in range(fitting))
        merges = swaps(net) + swaps(mirrored(net, fitting, fitting))
    ops += lane_halves(len(table), lanes // 2) + merges
    columns = max(1, stride // 2)
    first = Pass(
        note="merge lanes: flip, lane exchanges, column stages",
        columns=columns,
        stride=columns,
        chunk=columns,
        front=0,
        length=rows,
        spans=spans,
        rows=table,
        ops=ops,
    )
    return first, *clean_columns(rows, scale, stride, spans, split)


def lane_halves(registers: int, lanes: int) -> tuple[Op, ...]:
    """Return the half stages between lanes, at distances from `lanes` / 2 down to 1, for every register."""
    masks = [1 << b for b in reversed(range(lanes.bit_length() - 1))]
    return tuple(Half(r, m) for m in masks for r in range(registers))
