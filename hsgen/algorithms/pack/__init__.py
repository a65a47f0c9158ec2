"""Packing the columns of rows into keys, in one launch: a lane joins the columns of a row.

A work-group packs a tile of rows.  Its lanes take adjacent rows, so that loads and stores coalesce.  On CPUs, a
work-group is one lane, which packs one row after the other.
"""

from hsgen.algorithms.pack.constraints import alone, problems
from hsgen.algorithms.pack.kernels import context, kernels
from hsgen.algorithms.pack.params import FIELDS, Params, block, notes, params, specialize
from hsgen.algorithms.pack.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.pack.search_space import space
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "pack", "pack"
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
