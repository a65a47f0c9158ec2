"""Prefix sums of each column of n rows, inclusive or exclusive, in wrapping arithmetic.

The *coordination* combines the sums of tiles.  `scan` reduces all tiles, scans their sums, and then scans the tiles.
`lookback` reads the rows once (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016);
on a device without forward progress, tiles whose look-back gives up are scanned again.  `sections` reads the rows once
too, and each tile looks back only within its section.
"""

from hsgen.algorithms.scan.constraints import DERIVED, alone, derive, problems, space, specialize
from hsgen.algorithms.scan.kernels import context, kernels
from hsgen.algorithms.scan.params import FIELDS, Params, block, notes, params
from hsgen.algorithms.scan.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.scan.rule import RULE, expanded, listed
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "scan", "scan"
TRAITS = Traits(rule=True)
