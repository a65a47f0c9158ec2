"""Digests of arrays: what a host compares before and after a sort to know that the device sorted right.

Hashes that do not depend on the order tell whether keys, and keys with their values, are the same ones; counts tell how
often neighbours are out of order; a hash of places tells whether anything behind the array changed.  All arithmetic is
of 32 bits.  The mixers are the finalizer of MurmurHash3 (A. Appleby) and "lowbias32" (C. Wellons, hash-prospector).
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
