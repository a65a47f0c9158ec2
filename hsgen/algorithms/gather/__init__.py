"""Gathering items by index, in one launch: the values of an item are the work of adjacent lanes.

A work-group moves a tile of items.  Its lanes take adjacent values of the result, so that stores coalesce, and so do
loads of the values of an item.  On CPUs, a work-group is one lane, which moves one item after the other.
"""

from hsgen.algorithms.gather.constraints import alone, problems
from hsgen.algorithms.gather.kernels import context, kernels
from hsgen.algorithms.gather.params import FIELDS, Params, block, notes, params, specialize
from hsgen.algorithms.gather.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.gather.search_space import space
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "gather", "gather"
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
