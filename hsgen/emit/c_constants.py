"""C enums with the constants of `hsgen.core.flags`, which the C runtime and the kernels' launch plans share."""

from __future__ import annotations

from collections.abc import Iterable

from hsgen.core.flags import (
    ARGUMENTS,
    BIT,
    FLAGS,
    FLOAT_SUM,
    PLACES,
    QUANTITIES,
    RANGES,
    REDUCTION_MASK,
    REDUCTIONS,
)

PLACE = "/* HSGEN_CONSTANTS */\n"
"""The line in a C file that `hsgen.emit.c_files` replaces by the enums."""


def constants() -> str:
    """Return the constants as C enums."""
    return "\n".join(
        [
            "/* Whether a step runs in place, out of place, or in both cases. */",
            _line(PLACES.values()),
            "/* Whether a step runs for the whole bit range, for a part of it, or in both cases. */",
            _line(RANGES.values()),
            "/* Whether a step runs for reductions that give the same in any order of the values, for sums of floats,",
            " * or in both cases; the bits of the second number of a call that say so, those of a sum of floats. */",
            _line(REDUCTIONS.values()),
            f"enum {{ HS_REDUCTION_MASK = {REDUCTION_MASK}, HS_FLOAT_SUM = {FLOAT_SUM} }};\n",
            "/* The quantity that determines a grid or a guard: n, the second number of the call, n divided by it. */",
            _line(QUANTITIES.values()),
            "/* The argument of a step's kernel, with flags: */",
            _enum([(f"HS_{name.upper()} = {i}", meaning) for i, (name, meaning) in enumerate(ARGUMENTS.items())]),
            "/* The flags of arguments.  The bits below them hold the number of a pass, its digit's shift << 8 and its",
            " * digit's width << 16, or the end of the bit range and its start << 8. */",
            _enum([(f"HS_{name} = 1 << {BIT[name]}", meaning) for name, meaning in FLAGS.items()]),
        ]
    )


def _line(names: Iterable[str]) -> str:
    return "enum { " + ", ".join(f"HS_{name} = {i}" for i, name in enumerate(names)) + " };\n"


def _enum(rows: list[tuple[str, str]]) -> str:
    lines = [f"    {text}{',' if i < len(rows) else ''} /* {meaning} */" for i, (text, meaning) in enumerate(rows, 1)]
    return "\n".join(["enum {", *lines, "};\n"])
