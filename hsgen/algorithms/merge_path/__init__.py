"""A merge of two sorted arrays by merge paths: the output is cut into equal parts, each of which one lane merges.

For each cut, a binary search determines how many of the preceding output keys come from the first array.  The search
runs along a diagonal of the matrix of all pairs of keys (Green, McColl and Bader, "GPU Merge Path", 2012; Odeh et al.,
"Merge Path - Parallel Merging Made Simple", 2012).  The merge is stable: equal keys of the first array precede those of
the second.
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
