"""Reduction by key: reduces the values of each run of equal adjacent keys.

On most devices there are three launches, in which no work-group waits for another.  Every work-group has a *span* of
adjacent tiles.  The kernel `count` counts the runs that start in each span.  The kernel `write` sums the counts of
preceding spans, and reduces the values of its span tile by tile.  A segmented scan over lanes reduces a tile (Blelloch,
"Prefix Sums and Their Applications", 1990).  The kernel `finish` completes runs that continue in the next span, by a
segmented scan over spans in one work-group.  Keys are read twice, and values once.  If the keys fit one tile, one
work-group does all of this in one launch.

On devices whose work-groups may wait for each other, one kernel reduces any number of tiles, by look-back within
*sections* of tiles.
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
