"""Group-by: one plan that runs the target's sort and then a reduction by key.

If there are few distinct keys, hash tables may replace the sort (`few`).  For 32-bit keys with 32-bit values, a
partition into buckets may replace the sort (`pair_partition`).
"""

from hsgen.algorithms.group_by import pair_partition_kernels
from hsgen.algorithms.group_by.kernels import context as _context
from hsgen.algorithms.group_by.kernels import kernels
from hsgen.algorithms.group_by.pair_partition import PairPartition
from hsgen.algorithms.group_by.params import Params, block, notes, params, sorting, specialize
from hsgen.algorithms.group_by.plan import joined, moved, plan, row_test_counts, test_counts
from hsgen.algorithms.implicit import FIELDS, alone, problems, space
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "group_by", "group_by"
TRAITS = Traits(joins=True)
PARTS = {"reduce": "reduce_by_key"}
"""The algorithms whose tables in a target replace derived parameters of a group-by, by the field of `Params`."""


def context(p: object) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return pair_partition_kernels.context(p) if isinstance(p, PairPartition) else _context(p)
