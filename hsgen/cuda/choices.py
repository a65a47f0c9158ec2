"""Which way of sorting rows is used: the one table of rules for the functions on arrays.

It follows from how the sorts work; it has not been measured on a GPU yet.
"""

from __future__ import annotations

from dataclasses import dataclass

WHOLE, SEGMENTS, EACH, LIBRARY = "whole", "segments", "each", ""
"""Methods: one sort of one row; a segmented sort of all rows; a sort of each row, one after another; the array
library's own sort."""

WIDE_UP_TO = 1 << 17
"""Up to this count, a sort writes 64-bit indices itself; above, it writes 32-bit ones that are widened afterwards."""
WIDEST = 1 << 32
"""The count from which on 32-bit indices do not suffice."""
ANY = 1 << 62


@dataclass(frozen=True, slots=True)
class Rule:
    """A method for rows of at least `length` and at most `to` keys, in `rows` to `most` rows, of these key types."""

    method: str
    rows: int = 1
    most: int = ANY
    length: int = 0
    to: int = ANY
    keys: tuple[str, ...] = ()


RULES = (
    Rule(WHOLE, most=1),
    Rule(LIBRARY, rows=2, length=1 << 31),
    Rule(EACH, rows=2, most=64, length=1 << 19),
    Rule(SEGMENTS, rows=2),
)
"""The first rule that fits decides."""


def choice(key: str, rows: int, length: int) -> str:
    """Return the method for rows of a length; "" for the array library's own sort."""
    for rule in RULES:
        if rule.rows <= rows <= rule.most and rule.length <= length <= rule.to and (not rule.keys or key in rule.keys):
            return rule.method
    return LIBRARY
