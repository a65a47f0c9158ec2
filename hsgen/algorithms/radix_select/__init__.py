"""The first k keys of each row, by radix select (Alabi, Blanchard, Gordon and Steinbach, "Fast k-Selection Algorithms
for Graphics Processing Units", 2012).

Histograms of digits, from the highest digit down, narrow down the k-th key.  A *candidate* is a key that may be among
the first k.  A work-group can hold and sort up to `capacity` keys with their indices.  A row that fits is sorted as a
whole; smaller work-groups sort shorter rows.  In a longer row, the passes over digits end as soon as the candidates
fit.  Candidates are gathered in any order, and then sorted by key and index, so the result does not depend on timing.

The candidates never fit if k is greater than `capacity`, or if too many keys equal the k-th key.  The result is then in
the order of the row: the selected keys of tiles are counted, the counts are scanned, and each tile stores its selected
keys.  A single work-group selects from a row of up to `row_limit` keys.  Several work-groups share a longer row.
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
