"""Constants that plans, kernels and the C runtimes share: argument flags and kinds of steps.

Only this module defines the constants.  `hsgen.emit.c_constants` renders them for C; kernel templates read `bit.NAME`.
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
"""The meaning of each argument flag, in the order of bits.

DIRECT in a plan is a permission: the interpreter decides for each call whether the kernel gets the flag.
"""

FIRST = 20
"""The bit of the first flag.

The lower bits for a pass: the number of the pass, the digit's shift << 8 and the digit's width << 16.  The lower bits
for a kernel that runs all passes: the end of the bit range and its start << 8.
"""

BIT = {name: FIRST + i for i, name in enumerate(FLAGS)}
"""The bit of each flag."""

REDO, DIRECT, DISCARD, DEVICE_COUNT, SIGNED, FLOAT, DESCENDING, ROWS = (1 << bit for bit in BIT.values())

ARGUMENTS = {
    "literal": "`value`",
    "pass": "the pass `value` over digits of at most `bits` bits: its number, the digit's shift and width",
    "bit_range": "the end of the bit range and its start",
    "pass_count": "the number of passes over digits of at most `bits` bits",
    "call_number": "the second number of the call, without flags; the sign bit is set if it bounds one on the device",
    "indirect_grids": "for the kernel that computes the grids of all other steps from a device-side count",
}
"""The kinds of step arguments, each with the number that the kernel receives."""

PLACES = {"any": "ANYWHERE", "in": "IN_PLACE", "out": "OUT_OF_PLACE"}
"""The calls for which a step runs: all, only in place, only out of place; each with its name in C."""

RANGES = {"any": "ANY_BITS", "whole": "ALL_BITS", "part": "SOME_BITS"}
"""The calls for which a step runs: all, only for the whole bit range, only for a part; each with its name in C."""

REDUCTIONS = {"any": "ANY_REDUCTION", "exact": "EXACT_REDUCTION", "rounded": "ROUNDED_REDUCTION"}
"""The calls for which a step runs, each with its name in C.

exact: only for reductions whose result is the same in any order of values.  rounded: only for sums of floats, whose
result is rounded at each addition.
"""

REDUCTION_MASK, FLOAT_SUM = 15, 8
"""The bits of a call's second number that identify the reduction and the type of values, and these bits for a sum of
floats.  `hsgen.operations.reduce_by_key.number` returns the bits."""

QUANTITIES = {"n": "BY_N", "number": "BY_NUMBER", "length": "BY_LENGTH", "rows": "BY_ROWS"}
"""The quantity that determines a grid or a guard, each with its name in C.

number: the second number of the call, for grids only.  length: the length of rows, n divided by that number, for guards
only.  rows: for grids only, the work-groups for a row of that length, times the number of rows.
"""
