"""Segmented sorts: every segment of an array is sorted independently and stably.  The number of launches depends on n
only.

Segments are classified by length.  A work-group sorts many *short* segments together on chip: by keys and then by
segment numbers, or by bins (templates/segmented_sort/windows_by_bins.j2).  A work-group sorts one *medium* segment at a
time.  *Longer* segments are sorted by one pass per digit.  A pass counts the digits of tiles, scans the counts within
each segment, and scatters the keys.

The device builds the lists of segments, without host synchronization.  Sequential lanes (CPUs) sort short segments by
sorting networks.  If there are values, they compare all pairs of keys instead.  Tiles are ranked as in the target's
radix sort (`hsgen.algorithms.radix`).
"""

from hsgen.algorithms.implicit import FIELDS, alone, problems, space
from hsgen.algorithms.segmented.kernels import context, kernels
from hsgen.algorithms.segmented.params import Params, block, notes, params, specialize
from hsgen.algorithms.segmented.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "segmented_sort", "segmented_sort"
TRAITS = Traits(bit_ranges=True, segments=True)
