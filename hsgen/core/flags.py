"""Constants that launch plans (`hsgen.core.plan`), kernels and the C runtimes share.

There are two groups: flag bits in the 32-bit argument that a launch passes to its kernel, and codes for the fields of a
plan.  Only this module defines the constants.  `hsgen.emit.c_constants` writes them as C enums.  A kernel template
reads the flag NAME as `bit.NAME`.
"""

from __future__ import annotations

FLAGS = {
    "REDO": "only if a look-back failed",
    "DIRECT": "this pass may store to the destination",
    "DISCARD": "the sorted keys are discarded",
    "DEVICE_COUNT": "the count is in device memory",
    "SIGNED": "keys are signed",
    "FLOAT": "keys are floats; SIGNED is also set",
    "DESCENDING": "the greatest key comes first",
    "ROWS": "segments are rows of equal length; there are no offsets",
}
"""The meaning of each flag in the argument of a kernel, in the order of bits.

A plan sets DIRECT for each step that may store to the destination.  For a call, the interpreter of plans clears DIRECT
in sorts in place, and in each pass that an odd number of passes follows.  The reason for the latter: passes store
alternately to two buffers, and the last pass must store to the destination.
"""

FIRST = 20
"""The index of the bit of the first flag in the argument of a kernel.

The lower 20 bits hold numbers.  A kernel of one radix pass gets ``pass number | digit shift << 8 | digit width << 16``.
A kernel that runs all passes gets ``end | start << 8``; the bit range is from bit `start` to bit ``end - 1``.
"""

BIT = {name: FIRST + i for i, name in enumerate(FLAGS)}
"""The index of the bit of each flag."""

REDO, DIRECT, DISCARD, DEVICE_COUNT, SIGNED, FLOAT, DESCENDING, ROWS = (1 << bit for bit in BIT.values())

ARGUMENTS = {
    "literal": "`value`",
    "pass": "the pass `value` over digits of at most `bits` bits: its number, the digit's shift and width",
    "bit_range": "the end of the bit range and its start",
    "pass_count": "the number of passes over digits of at most `bits` bits",
    "call_number": "the second number of the call, without flags; the sign bit is set if it bounds one on the device",
    "indirect_grids": "for the kernel that computes the grids of all other steps from a device-side count",
}
"""The number that a kernel receives, for each class of `hsgen.core.plan.Argument`; the key is the class's `kind`."""

PLACES = {"any": "ANYWHERE", "in": "IN_PLACE", "out": "OUT_OF_PLACE"}
"""The values of `Guard.place`, each with its name in C.

The step runs for all calls ("any"), only for sorts in place ("in"), or only for sorts out of place ("out").
"""

RANGES = {"any": "ANY_BITS", "whole": "ALL_BITS", "part": "SOME_BITS"}
"""The values of `Guard.range`, each with its name in C.

The step runs for all calls ("any"), only for sorts by all bits ("whole"), or only for sorts by fewer bits ("part").
"""

REDUCTIONS = {"any": "ANY_REDUCTION", "exact": "EXACT_REDUCTION", "rounded": "ROUNDED_REDUCTION"}
"""The values of `Guard.reduction`, each with its name in C.

any: the step runs for all calls.
exact: the step runs only for reductions whose result does not depend on the order of the values.
rounded: the step runs only for sums of floats, because each addition rounds.
"""

REDUCTION_MASK, FLOAT_SUM = 15, 8
"""`REDUCTION_MASK` selects the bits of `Options.reduction` that identify the reduction and the type of its values.
`FLOAT_SUM` is the value of these bits for a sum of floats.  `hsgen.operations.reduce_by_key.number` returns the bits.
"""

QUANTITIES = {"n": "BY_N", "number": "BY_NUMBER", "length": "BY_LENGTH", "rows": "BY_ROWS"}
"""The quantities that a grid (`Grid.x`) or a guard (`Guard.x`) may depend on, each with its name in C.

n: the count.
number: the second number of the call (`Options.number`), such as a number of segments; only grids use this quantity.
length: the length of each row, which is n divided by the number of rows; only guards use this quantity.
rows: the number of rows.  Each row gets the work-groups that its length requires.  Only grids use this quantity.
"""
