"""Top-k of each row, by radix select (Alabi, Blanchard, Gordon and Steinbach, "Fast k-Selection Algorithms
for Graphics Processing Units", 2012).

A work-group can hold and sort up to `capacity` keys with their indices.  A row of up to `capacity` keys is sorted as a
whole, by a smaller work-group if the row is short.

In a longer row, passes over the digits, from the highest digit down, determine the k-th key.  A *candidate* is a key
that may still be among the first k.  The passes end as soon as a work-group can hold all candidates.  The candidates
are gathered in any order, then sorted by key and index, so the result does not depend on timing.

If k exceeds `capacity`, or if too many keys equal the k-th key, a work-group can never hold all candidates.  The
selected keys then keep the order of the row: work-groups count the selected keys of each tile, scan the counts, and
store the selected keys.  A single work-group selects from a row of up to `row_limit` keys.  Several work-groups share a
longer row.

For a small k, kernels avoid the passes: they compute a *bound* that at least k keys do not exceed, and sort only the
keys up to the bound.  The kernels compute the bound from keys in registers or, in long rows, from a sample (`kernels`).
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
