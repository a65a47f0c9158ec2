"""The numbers that plans, kernels and the C runtimes share: flags of arguments and sentinels of steps.

They are defined here alone.  C gets them rendered (`hsgen.emit.c_constants`), templates of kernels as `bit.NAME`.
"""

from __future__ import annotations

FLAGS = {
    "REDO": "only if a look-back failed",
    "DIRECT": "this pass may store to the destination",
    "DISCARD": "the sorted keys are not wanted",
    "COUNTED": "the count lies on the device",
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

REDO, DIRECT, DISCARD, COUNTED, SIGNED, FLOAT, DESCENDING, ROWS = (1 << bit for bit in BIT.values())

SENTINELS = {
    "ALONE": "its argument is complete",
    "SPAN": "it gets the bit range",
    "LAST": "it gets the number of passes",
    "GRIDS": "it works out the grids of all other steps from a count on the device, by which only Vulkan launches",
    "PARTS": "it gets the number that a call has besides n, and no flags",
}
"""The numbers of steps that are not passes, from -1 downwards, with what they mean."""

ALONE, SPAN, LAST, GRIDS, PARTS = (-1 - i for i in range(len(SENTINELS)))
