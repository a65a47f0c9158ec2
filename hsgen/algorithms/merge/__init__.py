"""The merge sort of HotSort's family: block sort, streaming flip and half merges, block clean.

Bitonic, data-oblivious, O(n log^2 n) work; for small arrays.  Keys lie in rank order in memory all the time,
counts are exact, nothing is written at or beyond n, and the sort needs no scratch memory.
"""

from hsgen.algorithms.merge.bodies import context, kernels
from hsgen.algorithms.merge.forms import formed
from hsgen.algorithms.merge.limits import alone, problems
from hsgen.algorithms.merge.schedule import edges, moved, plan, row_ends
from hsgen.algorithms.merge.shape import FIELDS, Params, block, notes, params
from hsgen.algorithms.merge.space import space

__all__ = [
    "FIELDS",
    "Params",
    "alone",
    "block",
    "context",
    "edges",
    "formed",
    "kernels",
    "moved",
    "notes",
    "params",
    "plan",
    "problems",
    "row_ends",
    "space",
]
