"""Runs of equal keys by three launches, without waits between work-groups.

Every work-group has a *span* of adjacent tiles.  `count` counts the runs that start in each span.  `write` adds up the
counts of preceding spans, and reduces the values of its own span tile by tile, by a segmented scan over lanes
(Blelloch, "Prefix Sums and Their Applications", 1990).  A run that continues in the next span is completed by `finish`,
a segmented scan over spans in one work-group.  Keys are read twice, values once.  One work-group does all for at most a
tile.
"""

from hsgen.algorithms.reduce_by_key.constraints import alone, problems
from hsgen.algorithms.reduce_by_key.kernels import context, kernels
from hsgen.algorithms.reduce_by_key.params import FIELDS, Params, block, notes, params, specialize
from hsgen.algorithms.reduce_by_key.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.reduce_by_key.search_space import space
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "reduce_by_key", "reduce_by_key"
TRAITS = Traits()

__all__ = [
    "FIELDS",
    "NAME",
    "OPERATION",
    "TRAITS",
    "Params",
    "alone",
    "block",
    "context",
    "kernels",
    "moved",
    "notes",
    "params",
    "plan",
    "problems",
    "row_test_counts",
    "space",
    "specialize",
    "test_counts",
]
