"""The constants that plans, kernels and the C runtimes share: flags of arguments and kinds of steps.

They are defined here alone.  C gets them rendered (`hsgen.emit.c_constants`), templates of kernels as `bit.NAME`.
"""

from __future__ import annotations

FLAGS = {
    "REDO": "only if a look-back failed",
    "DIRECT": "this pass may store to the destination",
    "DISCARD": "the sorted keys are not wanted",
    "DEVICE_COUNT": "the count lies on the device",
    "SIGNED": "keys are signed",
    "FLOAT": "keys are floats; SIGNED is set too",
    "DESCENDING": "the greatest key comes first",
    "ROWS": "segments are rows of equal length; there are no offsets",
}
"""The flags of arguments, by bit, with what they mean.  In a plan DIRECT says that the interpreter may set it."""

FIRST = 20
"""The bit of the first flag.  Below it an argument holds the number of a pass, the shift of its digit << 8 and the
digit's bits << 16; that of a kernel for all passes at once, the end of the bit range and its begin << 8."""

BIT = {name: FIRST + i for i, name in enumerate(FLAGS)}
"""The bit of each flag."""

REDO, DIRECT, DISCARD, DEVICE_COUNT, SIGNED, FLOAT, DESCENDING, ROWS = (1 << bit for bit in BIT.values())

ARGUMENTS = {
    "literal": "`value`",
    "pass": "the pass `value` over digits of at most `bits` bits: its number, the digit's shift and width",
    "bit_range": "the end of the bit range and its begin",
    "pass_count": "the number of passes over digits of at most `bits` bits",
    "call_number": "the number that a call has besides n, without flags",
    "indirect_grids": "for the kernel that works out the grids of all other steps, from a count on the device",
}
"""The kinds of arguments of steps, with what kernels get."""

PLACES = {"any": "ANYWHERE", "in": "IN_PLACE", "out": "OUT_OF_PLACE"}
"""When a step runs: always, only in place, only from one buffer to another; with its name in C."""

RANGES = {"any": "ANY_BITS", "whole": "ALL_BITS", "part": "SOME_BITS"}
"""When a step runs: always, only if all bits of the keys are sorted by, only if fewer are; with its name in C."""

QUANTITIES = {"n": "BY_N", "number": "BY_NUMBER"}
"""What a grid follows from: n, or the number that a call has besides n; with its name in C."""
