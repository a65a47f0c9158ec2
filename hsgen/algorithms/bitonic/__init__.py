"""The merge sort of HotSort's family: block sort, streaming flip and half merges, block clean.

Bitonic, data-oblivious, O(n log^2 n) work; for small arrays.  Keys lie in rank order in memory all the time,
counts are exact, nothing is written at or beyond n, and the sort needs no scratch memory.
"""

from hsgen.algorithms.bitonic.constraints import alone, problems
from hsgen.algorithms.bitonic.kernels import context, kernels
from hsgen.algorithms.bitonic.params import FIELDS, Params, block, notes, params
from hsgen.algorithms.bitonic.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.bitonic.search_space import space
from hsgen.algorithms.bitonic.specialize import specialize
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "bitonic", "sort"
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
