"""The constants of `hsgen.core.flags` as C."""

from __future__ import annotations

from collections.abc import Iterable

from hsgen.core.flags import ARGUMENTS, BIT, FLAGS, PLACES, QUANTITIES, RANGES

PLACE = "/* HSGEN_CONSTANTS */\n"
"""The line of a C file that the constants replace."""


def constants() -> str:
    """Return the enums of C."""
    return "\n".join(
        [
            "/* Whether a step is for sorting in place, from one buffer to another, or for both. */",
            _line(PLACES.values()),
            "/* Whether a step is for sorting by all bits of the keys, by a part of them, or for both. */",
            _line(RANGES.values()),
            "/* What a grid follows from: n, or the number that a call has besides n. */",
            _line(QUANTITIES.values()),
            "/* What the kernel of a step gets besides n, with flags: */",
            _enum([(f"HS_{name.upper()} = {i}", what) for i, (name, what) in enumerate(ARGUMENTS.items())]),
            "/* The flags of arguments.  Below them are the number of a pass, the shift of its digit << 8 and the",
            " * digit's bits << 16, or the end of the bit range and its begin << 8. */",
            _enum([(f"HS_{name} = 1 << {BIT[name]}", what) for name, what in FLAGS.items()]),
        ]
    )


def _line(names: Iterable[str]) -> str:
    return "enum { " + ", ".join(f"HS_{name} = {i}" for i, name in enumerate(names)) + " };\n"


def _enum(rows: list[tuple[str, str]]) -> str:
    lines = [f"    {text}{',' if i < len(rows) else ''} /* {what} */" for i, (text, what) in enumerate(rows, 1)]
    return "\n".join(["enum {", *lines, "};\n"])
