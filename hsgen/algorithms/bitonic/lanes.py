"""The passes of a block sort in which the lanes of a subgroup exchange keys, to merge their columns."""

from __future__ import annotations

from functools import lru_cache

from hsgen.algorithms.bitonic.passes import KEPT, Pass, Steps, clean_columns, half_rows, steps, swaps
from hsgen.algorithms.bitonic.rows import Flip, Half, Op, Row
from hsgen.core.networks import bitonic_merge, mirrored, odd_part


def held_rows(rows: int, most: int) -> int:
    """Return how many of the `rows` rows in its column a lane holds at once while columns are merged.

    The result is at most `most`.  The result is 0 if the lane must hold more than `most` rows together.
    most: the number of keys for which a lane has registers.
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

    A column has `rows` rows.  The order within a group is lane-major (rank = lane * rows + row).  In the first pass,
    lanes exchange keys in the flip stage and then in half stages.  For the flip stage, a lane must hold rows of its
    column together with their mirror rows.  After these exchanges, each column is an arbitrary bitonic sequence.  Each
    lane sorts its column by a recursive bitonic merge.  The merge allows odd lengths, so `rows` may be any number.
    scale, split: as in `merge_runs`.  most: as in `held_rows`.  spans: the number of groups that are merged.
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
    """Return the half stages between lanes that are `lanes` / 2, `lanes` / 4, and so on down to 1 apart."""
    masks = [1 << b for b in reversed(range(lanes.bit_length() - 1))]
    return tuple(Half(r, m) for m in masks for r in range(registers))
