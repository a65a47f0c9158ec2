"""Which way of sorting rows is used: the one table of rules for the functions on arrays.

It follows from measurements on an H200 with PyTorch 2.11, of float32 rows with 64-bit indices, in microseconds:

| rows x keys | torch.sort | segments | each |
|---|---|---|---|
| 4 x 2^18 | 147 | 171 | 167 |
| 64 x 2^18 | 1170 | 952 | 2711 |
| 4 x 2^20 | | 272 | 356 |
| 8 x 2^20 | 812 | 491 | 705 |
| 16 x 2^20 | | 930 | 1419 |
| 4 x 2^22 | | 913 | 976 |
| 8 x 2^22 | | 1760 | 1942 |
| 2 x 2^24 | | 1934 | 1606 |
| 4096 x 8192 | 2600 | 1734 | |

Rows of up to 4096 keys took 34 (2 and 64 rows), 37 (1024 x 512), 156 (1024 x 4096), 564 (16384 x 1024), 1754 (65536 x
512) and 3922 (65536 x 2048) by torch.sort; segments, 15 launches at that time, took 95, 88, 190, 696, 1337 and 4994.
`ROWS`, one launch, has not been measured yet.
"""

from __future__ import annotations

from dataclasses import dataclass

WHOLE, ROWS, SEGMENTS, EACH, LIBRARY = "whole", "rows", "segments", "each", ""
"""Methods: one sort of one row; one launch with a work-group for each row; a segmented sort of all rows; a sort of each
row, one after another; the array library's own sort."""

WIDE_UP_TO = 1 << 17
"""Up to this count, a sort writes 64-bit indices itself; above, it writes 32-bit ones that are widened afterwards."""
WIDEST = 1 << 32
"""The count from which on 32-bit indices do not suffice."""
TOGETHER = (1 << 30) - 1
"""The most keys of all rows that are sorted together."""
ANY = 1 << 62


@dataclass(frozen=True, slots=True)
class Rule:
    """A method for rows of at least `length` and at most `to` keys, in `rows` to `most` rows, of these key types.

    total: the most keys of all rows.
    """

    method: str
    rows: int = 1
    most: int = ANY
    length: int = 0
    to: int = ANY
    keys: tuple[str, ...] = ()
    total: int = ANY


RULES = (
    Rule(WHOLE, most=1),
    Rule(LIBRARY, length=1 << 31),
    Rule(EACH, most=64, length=1 << 23),
    Rule(ROWS, to=4096, total=TOGETHER),
    Rule(LIBRARY, most=4, to=1 << 18),
    Rule(SEGMENTS, total=TOGETHER),
    Rule(LIBRARY),
)
"""The first rule that fits decides."""


def choice(key: str, rows: int, length: int) -> str:
    """Return the method for rows of a length; "" for the array library's own sort."""
    for rule in RULES:
        fits = rule.rows <= rows <= rule.most and rule.length <= length <= rule.to and rows * length <= rule.total
        if fits and (not rule.keys or key in rule.keys):
            return rule.method
    return LIBRARY
