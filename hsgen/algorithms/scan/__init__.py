"""Prefix sums of each column of n rows.  Sums are inclusive or exclusive; integer sums wrap.

The *coordination* is the method by which a tile learns the sum of all earlier tiles:
`scan`: in the first launch, each work-group sums its tiles.  A second launch scans these sums, and a third launch scans
the tiles.  The rows are read twice.
`lookback`: one launch, by decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
Look-back", 2016).  The rows are read once.  On a device without guaranteed forward progress, a look-back may give up
before it knows the sum of the earlier tiles.  Two later kernels then scan the tile again.
`sections`: one launch that reads the rows once.  Tiles are divided into *sections* of at most as many tiles as a
work-group has lanes.  A tile publishes its sum as its *state*.  Each tile reads, all at once, the states of all earlier
tiles in its section, and the sum of all rows before the section.  Sums are added in the same order in every call.
"""

from hsgen.algorithms.scan.constraints import DERIVED, alone, derive, problems, space, specialize
from hsgen.algorithms.scan.kernels import context, kernels
from hsgen.algorithms.scan.params import FIELDS, Params, block, notes, params
from hsgen.algorithms.scan.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.scan.rule import RULE, expanded, listed
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "scan", "scan"
TRAITS = Traits(rule=True)
