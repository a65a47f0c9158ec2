"""Constants that plans, kernels and the C runtimes share: argument flags and kinds of steps.

They are defined only here; C gets them rendered (`hsgen.emit.c_constants`), kernel templates read `bit.NAME`.
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
"""Argument flags in the order of their bits, with meanings.  In a plan, DIRECT permits the interpreter to set it."""

FIRST = 20
"""The bit of the first flag.  The lower bits hold the number of a pass, its digit's shift << 8 and its digit's width
<< 16; for a kernel that does all passes, the end of the bit range and its start << 8."""

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
"""The kinds of step arguments, each with what the kernel receives."""

PLACES = {"any": "ANYWHERE", "in": "IN_PLACE", "out": "OUT_OF_PLACE"}
"""When a step runs: always, only in place, only out of place; each with its name in C."""

RANGES = {"any": "ANY_BITS", "whole": "ALL_BITS", "part": "SOME_BITS"}
"""When a step runs: always, only for the whole bit range, only for a part of it; each with its name in C."""

REDUCTIONS = {"any": "ANY_REDUCTION", "exact": "EXACT_REDUCTION", "rounded": "ROUNDED_REDUCTION"}
"""When a step runs: always, only for reductions of values whose result is the same in any order of these, only for sums
of floats, which are rounded at each addition; each with its name in C."""

REDUCTION_MASK, FLOAT_SUM = 15, 8
"""The bits of the second number of a call that say which reduction of which type of values it is, and these bits of
the sum of floats (`hsgen.operations.reduce_by_key.number`)."""

QUANTITIES = {"n": "BY_N", "number": "BY_NUMBER", "length": "BY_LENGTH"}
"""The quantity that determines a grid or a guard: n, the second number of the call (grids only), or the length of rows,
n divided by that number (guards only); each with its name in C."""
