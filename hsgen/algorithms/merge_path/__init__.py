"""Merging two sorted arrays by merge paths: every lane computes which input keys form its part of the output.

The matrix of all pairs of keys has a diagonal for each cut of the output.  A binary search locates where the merge path
crosses the diagonal (Green, McColl and Bader, "GPU Merge Path", 2012; Odeh et al., "Merge Path - Parallel Merging Made
Simple", 2012).  The merge is stable: equal keys of the first array precede those of the second.
"""

from hsgen.algorithms.implicit import FIELDS, space
from hsgen.algorithms.merge_path.constraints import alone, problems
from hsgen.algorithms.merge_path.kernels import context, kernels
from hsgen.algorithms.merge_path.params import Params, block, notes, params
from hsgen.algorithms.merge_path.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.merge_path.specialize import specialize
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "merge_path", "merge"
TRAITS = Traits(bit_ranges=True)
