"""Bitonic merge sort after HotSort (A. MacKinnon).

Block sorts leave sorted *runs* of one block each.  Each *level* then merges pairs of runs, by these kernels:
- a flip merge runs the first stages, which begin with the *flip stage*: it compares each key of one run with the key at
  the mirrored position of the other run;
- half merges run further stages: a *half stage* compares keys at a fixed distance, which halves from stage to stage;
- the clean runs the last stages, within chunks that fit local memory.

The positions of compared keys do not depend on the keys.  A sort takes O(n log^2 n) comparisons, which suits small
arrays.  Between kernels, a sorted run lies in memory in ascending order, not transposed by lanes.  Nothing is padded,
and nothing is written at or beyond n.  Keys without values need no scratch memory.
"""

from hsgen.algorithms.bitonic.constraints import alone, problems, space, specialize
from hsgen.algorithms.bitonic.kernels import context, kernels
from hsgen.algorithms.bitonic.params import FIELDS, Params, block, notes, params
from hsgen.algorithms.bitonic.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "bitonic", "sort"
TRAITS = Traits()
