"""Segmented sorts: every segment of an array sorted by itself, stable, in a number of launches that no key decides.

Segments are sifted by their length: short ones are sorted together on chip, by their keys and then by the number of
their segment; longer ones each by a work-group; those that no work-group holds a digit at a time, by counts of tiles
that are scanned segment by segment.  The device lists them; no host reads anything.  Lanes that walk alone (CPUs) sort
short segments by networks, or where values move along compare their keys with each other.  Tiles are ranked as by the
target's radix sort (`hsgen.algorithms.radix`).
"""

from hsgen.algorithms.implicit import FIELDS, alone, problems, space
from hsgen.algorithms.segmented.kernels import context, kernels
from hsgen.algorithms.segmented.params import Params, block, notes, params, specialize
from hsgen.algorithms.segmented.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "segmented_sort", "segmented_sort"
TRAITS = Traits(bit_ranges=True)

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
