"""The constants of `hsgen.core.flags` as C."""

from __future__ import annotations

from hsgen.core.flags import BIT, FLAGS, SENTINELS

PLACE = "/* HSGEN_CONSTANTS */\n"
"""The line of a C file that the constants replace."""


def constants() -> str:
    """Return the enums of C."""
    sentinels = [(f"HS_{name} = {-1 - i}", what) for i, (name, what) in enumerate(SENTINELS.items())]
    flags = [(f"HS_{name} = 1 << {BIT[name]}", what) for name, what in FLAGS.items()]
    return (
        "/* The number of a step that is not a pass. */\n"
        + _enum(sentinels)
        + "\n/* Flags of arguments, above the number of a pass, the shift of its digit << 8 and the digit's bits\n"
        " * << 16, or above the end of the range and its begin << 8. */\n" + _enum(flags)
    )


def _enum(rows: list[tuple[str, str]]) -> str:
    last = rows[-1]
    lines = [f"    {text}{'' if row is last else ','} /* {what} */" for row in rows for text, what in [row]]
    return "\n".join(["enum {", *lines, "};\n"])
