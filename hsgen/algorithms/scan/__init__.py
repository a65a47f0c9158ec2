"""Prefix sums of each column of n rows.  Sums are inclusive or exclusive; integer sums wrap.

The *coordination* is the way in which the sums of tiles are combined.
`scan`: reduce all tiles, scan their sums, and then scan the tiles.  The rows are read twice.
`lookback`: read the rows once, by decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with
Decoupled Look-back", 2016).  On a device without guaranteed forward progress, a look-back may give up.  Later kernels
then scan these tiles again.
`sections`: read the rows once too, but each tile looks back only within its section of tiles.
"""

from hsgen.algorithms.scan.constraints import DERIVED, alone, derive, problems, space, specialize
from hsgen.algorithms.scan.kernels import context, kernels
from hsgen.algorithms.scan.params import FIELDS, Params, block, notes, params
from hsgen.algorithms.scan.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.scan.rule import RULE, expanded, listed
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "scan", "scan"
TRAITS = Traits(rule=True)
