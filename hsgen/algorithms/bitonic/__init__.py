"""Bitonic merge sort after HotSort: block sort, streaming flip and half merges, block clean.

Data-oblivious, with O(n log^2 n) comparisons; for small arrays.  Keys are in rank order in memory throughout, n is
exact, nothing is written at or beyond n, and keys alone need no scratch memory.  Source: HotSort (A. MacKinnon).
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
