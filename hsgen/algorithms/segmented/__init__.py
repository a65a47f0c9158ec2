"""Segmented sorts: every segment of an array is sorted independently and stably.

A segment is *short*, *medium* or *long*, according to its number of keys:
- The array is cut into *windows* of equal length.  A work-group sorts all short segments that start in its window
  together on chip: by keys and then by segment numbers, or by bins (templates/segmented_sort/windows_by_bins.j2).
- A work-group sorts a medium segment alone, on chip.
- Long segments are sorted by passes, one for each digit.  A long segment is divided into *columns* of adjacent keys.  A
  pass counts the digits in each column, scans the counts within the segment, and scatters the keys.

A kernel lists the medium and the long segments, so the host need not know the lengths; the launches depend only on n.
Tiles are ranked as in the target's radix sort (`hsgen.algorithms.radix`).  If each lane of that sort has a chunk of its
own (on CPUs), lanes are *sequential*: they sort short segments by sorting networks, or, with values, by comparing all
pairs of keys.
"""

from hsgen.algorithms.implicit import FIELDS, alone, problems, space
from hsgen.algorithms.segmented.kernels import context, kernels
from hsgen.algorithms.segmented.params import Params, block, notes, params, specialize
from hsgen.algorithms.segmented.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "segmented_sort", "segmented_sort"
TRAITS = Traits(bit_ranges=True, segments=True)
