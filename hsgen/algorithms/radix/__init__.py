"""LSD radix sorts: stable, one pass a digit, from buffer to buffer.

Two ways to put tiles in order (*coordination*): `scan` counts all tiles, scans the counts and scatters; `lookback`
is onesweep (Adinets and Merrill, arXiv:2206.01784), which reads the keys once for all digits and then once a pass,
and redoes by counting what a device without forward progress leaves undone.  Five ways to rank the keys of a tile
(*ranker*); see `hsgen.algorithms.radix.params`.
"""

from hsgen.algorithms.radix.constraints import alone, problems
from hsgen.algorithms.radix.kernels import context, kernels
from hsgen.algorithms.radix.params import FIELDS, Params, block, notes, params
from hsgen.algorithms.radix.plan import edges, moved, plan, row_ends
from hsgen.algorithms.radix.search_space import space
from hsgen.algorithms.radix.specialize import formed
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "radix", "sort"
TRAITS = Traits(bit_ranges=True, several=True)

__all__ = [
    "FIELDS",
    "NAME",
    "OPERATION",
    "TRAITS",
    "Params",
    "alone",
    "block",
    "context",
    "edges",
    "formed",
    "kernels",
    "moved",
    "notes",
    "params",
    "plan",
    "problems",
    "row_ends",
    "space",
]
