"""Reduction by key: each *run* of equal adjacent keys becomes one group, and its values are reduced.

On most devices there are three launches, in which no work-group waits for another.  A *span* consists of the adjacent
tiles of one work-group:
- `count` counts the runs that start in each span.
- `write` sums the counts of earlier spans, to learn the number of the first group in its span.  Then it reduces the
  values of the span, tile by tile.  A segmented scan over lanes reduces a tile (Blelloch, "Prefix Sums and Their
  Applications", 1990).
- `finish` completes the runs that continue in later spans, by a segmented scan over spans in one work-group.
Keys are read twice, and values once.  If all keys fit one tile, one launch of one work-group suffices.

On devices whose work-groups may wait for each other, one kernel replaces the three.  The kernel reads keys and values
once, and looks back within *sections* of tiles, as in `hsgen.algorithms.scan`.
"""

from hsgen.algorithms.reduce_by_key.kernels import context, kernels
from hsgen.algorithms.reduce_by_key.params import (
    FIELDS,
    Params,
    alone,
    block,
    notes,
    params,
    problems,
    space,
    specialize,
)
from hsgen.algorithms.reduce_by_key.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "reduce_by_key", "reduce_by_key"
TRAITS = Traits()
