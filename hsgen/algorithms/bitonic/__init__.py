"""Bitonic merge sort after HotSort (A. MacKinnon).

A work-group sorts a block of keys, which becomes a sorted *run*.  Each *level* of the sort then merges pairs of runs by
a bitonic network.  A *stage* of the network compares each key with one other key.  Three kernels run the stages:
- A *flip merge* runs the first stages.  The very first is the *flip stage*.  There, each key of one run is compared
  with the key at the mirrored position of the other run.
- *Half merges* run further stages.  A *half stage* compares keys at a fixed distance, which halves from stage to stage.
- The *clean* runs the last stages, within chunks that fit local memory.

The positions of compared keys do not depend on the keys.  A sort takes O(n log^2 n) comparisons, which suits small
arrays.  Between kernels, a sorted run lies in memory in ascending order, not transposed by lanes.  Kernels add no
padding, and write nothing at or beyond index n.  Keys without values need no scratch.
"""

from hsgen.algorithms.bitonic.constraints import alone, problems, space, specialize
from hsgen.algorithms.bitonic.kernels import context, kernels
from hsgen.algorithms.bitonic.params import FIELDS, Params, block, notes, params
from hsgen.algorithms.bitonic.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "bitonic", "sort"
TRAITS = Traits()
