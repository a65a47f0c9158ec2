"""Groups of equal keys: the sort of a target, followed by a reduction by key, in one plan."""

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
"""The fields of `Params` that the table of another algorithm replaces, with the name of that algorithm."""


def context(p: object) -> dict[str, object]:
    """Return the names that the templates use in addition to `kernel` and `p`."""
    return pair_partition_kernels.context(p) if isinstance(p, PairPartition) else _context(p)
