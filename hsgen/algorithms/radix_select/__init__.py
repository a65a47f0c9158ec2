"""The first k keys of each row by radix select: histograms of digits, the highest digit first, narrow down the k-th
key.

A work-group holds up to `capacity` keys with their indices, and sorts them.  A row that fits is sorted as a whole.  In
a longer row, passes over digits end as soon as the keys that may be among the first k fit.  These keys are gathered in
any order, and sorted by key and index, so the result does not depend on timing.

The keys never fit if k is greater than `capacity`, or if too many keys equal the k-th key.  The selection then keeps
the order of the row: tiles are counted, counts are scanned, and each tile stores its selected keys.  One work-group
selects from a row of up to `row_limit` keys; several work-groups share a longer row.  See Alabi, Blanchard, Gordon and
Steinbach, "Fast k-Selection Algorithms for Graphics Processing Units", 2012.
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
