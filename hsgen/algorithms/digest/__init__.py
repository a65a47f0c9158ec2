"""Digests of arrays, which a host compares before and after a sort to verify the result.

Order-independent hashes cover the keys, and the keys with their values; counts give the adjacent keys out of order; a
hash with positions covers the elements beyond n.  All arithmetic is 32-bit.  The mixers are the finalizer of
MurmurHash3 (A. Appleby) and "lowbias32" (C. Wellons, hash-prospector).
"""

from hsgen.algorithms.digest.kernels import context, kernels
from hsgen.algorithms.digest.params import Params, block, notes, params, specialize
from hsgen.algorithms.digest.plan import moved, plan, row_test_counts, test_counts
from hsgen.algorithms.implicit import FIELDS, alone, problems, space
from hsgen.algorithms.traits import Traits

NAME, OPERATION = "digest", "digest"
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
