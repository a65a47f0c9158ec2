"""The first k keys of each row by radix select: histograms of digits, the highest first, narrow the k-th key down.

A work-group holds up to `capacity` keys with their indices, and sorts them.  A row that fits is sorted as a whole.
In a longer row, passes over digits end as soon as the keys that may be among the first k fit; they are then gathered in
any order, and sorted by key and index, so that the result does not depend on timing.  If they never fit, because k is
greater or because too many keys equal the k-th, the selection keeps the order of the row: tiles are counted, counts are
scanned, and each tile stores what is selected of it.  Rows up to `row_limit` are the work of one work-group, longer
ones that of several.  See Alabi, Blanchard, Gordon and Steinbach, "Fast k-Selection Algorithms for Graphics Processing
Units", 2012.
"""

from hsgen.algorithms.radix_select.constraints import alone, problems
from hsgen.algorithms.radix_select.kernels import context, kernels
from hsgen.algorithms.radix_select.params import FIELDS, Params, block, notes, params, specialize
from hsgen.algorithms.radix_select.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.radix_select.search_space import space
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "radix_select", "top_k"
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
