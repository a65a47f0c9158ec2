"""The rules by which the functions on arrays choose a method to sort rows.

The rules follow from these times in microseconds, of float32 rows with 64-bit indices, on an H200 with PyTorch 2.11.
The columns are torch.sort and three of the methods below:

| rows x keys | torch.sort | rows | segments | each |
|---|---|---|---|---|
| 2 x 4096 | 30 | 18 | 95 | 29 |
| 64 x 4096 | 31 | 18 | 95 | 807 |
| 1024 x 4096 | 154 | 80 | 190 | |
| 65536 x 2048 | 3910 | 2029 | 4994 | |
| 16384 x 1024 | 558 | 278 | 696 | |
| 1024 x 512 | 39 | 25 | 88 | |
| 65536 x 512 | 1744 | 679 | 1337 | |
| 262144 x 128 | 1650 | 1572 | 1334 | |
| 1048576 x 32 | 1138 | 4967 | 1064 | |
| 4096 x 8192 | 2578 | | 1698 | |
| 1024 x 32768 | 2500 | | 1673 | |
| 2 x 2^13 | 79 | | 86 | 44 |
| 2 x 2^16 | 90 | | 86 | 67 |
| 2 x 2^18 | 109 | | 130 | 85 |
| 3 x 2^13 | 88 | | 82 | 64 |
| 3 x 2^16 | 92 | | 86 | 99 |
| 3 x 2^18 | 130 | | 137 | 125 |
| 4 x 2^13 | 85 | | 86 | 84 |
| 4 x 2^16 | 95 | | 84 | 130 |
| 4 x 2^18 | 150 | | 155 | 167 |
| 64 x 2^18 | 1167 | | 955 | 2743 |
| 4 x 2^20 | 416 | | 269 | 333 |
| 8 x 2^20 | 813 | | 483 | 660 |
| 16 x 2^20 | 1655 | | 929 | 1337 |
| 4 x 2^22 | 1078 | | 903 | 1042 |
| 8 x 2^22 | 2171 | | 1812 | 2172 |
| 2 x 2^24 | 1601 | | 1909 | 1600 |

Rows with a frequent key slow down `each`.  Example: three rows of 7809 outputs of ReLU, half of which are zero.  On an
H100, `each` takes 145 microseconds, `segments` 86, and torch.sort 91.
"""

from __future__ import annotations

from dataclasses import dataclass

WHOLE, ROWS, SEGMENTS, EACH, LIBRARY = "whole", "rows", "segments", "each", ""
"""The methods.

WHOLE is one sort of one row.  ROWS is one launch with a work-group per row.  SEGMENTS is a segmented sort of all rows.
EACH sorts one row after another, each by a sort of its own.  LIBRARY is the array library's own sort.
"""

WIDE_UP_TO = 1 << 20
"""Up to this count, a sort writes 64-bit indices.  For more keys, a sort writes 32-bit indices, and a later launch
widens them.
"""
RAW_UP_TO = 1 << 19
"""Up to this count, a sort of floats moves 64-bit indices and itself restores the bits of zeros and NaNs."""
UNEVEN_UP_TO = 1 << 21
"""Up to this count, a single launch sorts floats: it partitions them by the quantiles of a sample of keys.  For more
keys, passes with look-back sort them.

If a work-group would get more keys than it can hold, the single launch sorts by all digits instead.
"""
WIDEST = 1 << 32
"""The least count that needs indices of more than 32 bits."""
TOGETHER = (1 << 30) - 1
"""The greatest total number of keys for which all rows are sorted together."""
ANY = 1 << 62


@dataclass(frozen=True, slots=True)
class Rule:
    """A method for `rows` to `most` rows, each of `length` to `to` keys.

    keys: the key types; empty for all types.  total: the greatest number of keys in all rows.
    """

    method: str
    rows: int = 1
    most: int = ANY
    length: int = 0
    to: int = ANY
    keys: tuple[str, ...] = ()
    total: int = ANY


_LIKEWISE = ("bool", "u8", "i8", "i16", "i32", "i64")
"""The types that the sorts of all libraries put in the same order.

The other unsigned types are missing because torch.sort does not support them.  Floats are missing because torch.sort
puts NaNs with a sign bit first.
"""

RULES = (
    Rule(WHOLE, most=1),
    Rule(LIBRARY, length=1 << 31),
    Rule(EACH, most=64, length=1 << 23),
    Rule(ROWS, to=4096, total=TOGETHER),
    Rule(EACH, most=2, to=1 << 18),
    Rule(LIBRARY, most=4, length=(1 << 17) + 1, to=1 << 18, keys=_LIKEWISE),
    Rule(SEGMENTS, total=TOGETHER),
    Rule(LIBRARY),
)
"""The rules; the first rule that fits determines the method."""


def choice(key: str, rows: int, length: int) -> str:
    """Return the method for `rows` rows of `length` keys; "" is the array library's own sort."""
    for rule in RULES:
        fits = rule.rows <= rows <= rule.most and rule.length <= length <= rule.to and rows * length <= rule.total
        if fits and (not rule.keys or key in rule.keys):
            return rule.method
    return LIBRARY


ALONE_UP_TO = UNEVEN_UP_TO
"""The greatest length of one row of float32 keys that hsgen sorts faster than torch.sort even if one key is frequent.

The times, in microseconds on an H100 with PyTorch 2.11, are of outputs of ReLU, half of which are zero.  The sample of
the keys decides whether a single work-group must read all zeros:

| keys | torch.sort | whole |
|---|---|---|
| 2^18 | 68 | 50 |
| 2^20 | 107 | 88 |
| 2^22 | 290 | 691 |
| 8180262 | 478 | 381 |
| 11571999 | 639 | 1907 |
| 2^24 | 880 | 675 |
"""


def frequent_keys_slow(key: str, rows: int, length: int) -> bool:
    """Return True if a frequent key may make the sort slower than the array library's sort."""
    return key == "f32" and rows == 1 and length > ALONE_UP_TO


SELECTS_ROWS_FROM, SELECTS_FROM, SELECTS_TOGETHER = 1 << 13, 1 << 16, 1 << 20
"""From these lengths on, selections are faster than torch.topk: `SELECTS_ROWS_FROM` for two rows or more,
`SELECTS_FROM` for a single row.

Shorter rows are selected if all rows together have at least `SELECTS_TOGETHER` keys.

Each number is the time of torch.topk divided by the time of hsgen, for calls on a stream of an H100 with PyTorch 2.11.
k is 64 unless stated:

| rows x keys | float32 | int64 | bfloat16 |
|---|---|---|---|
| 1 x 2^12 | 0.8 | 1.4 | 0.9 |
| 1 x 2^16 | 2.7 | 4.5 | 2.1 |
| 1 x 2^18 | 2.8 | 4.4 | 2.2 |
| 1 x 2^20 | 3.2 | 5.6 | 2.1 |
| 1 x 2^24 | 4.2 | 5.3 | 2.5 |
| 64 x 2^12 | 1.2 | | |
| 64 x 2^13 | 2.8 | 5.1 | 2.2 |
| 64 x 2^18 | 3.9 | 3.1 | 2.7 |
| 1024 x 2^12 | 3.0 | 3.4 | 2.6 |
| 1024 x 2^17 | 5.4 | | |
| 16384 x 2^10, k 8 | 3.7 | | |
| 32768 x 2^7, k 8 | 5.6 | | |
"""
SELECTS_FEW, SELECTS_MOST = 128, 4096
"""The greatest k that hsgen serves: `SELECTS_FEW` for rows of up to 2^15 keys, `SELECTS_MOST` for longer rows.

For a greater k, the selection would sort all keys of a row in local memory, or leave its result in the order of the
row.
"""
GROUPS_FROM = 1 << 24
"""The least number of 64-bit integers for which groups of equal keys are faster than torch.unique.

Factors of the time of torch.unique over the time of hsgen, on an H100 with PyTorch 2.11: 1.6 to 1.8 for 2^24 int64
keys, 1.3 to 1.6 for the same keys with the inverse.  From 2^20 int64 keys on, the factor is 0.8 to 1.6.  From 2^24
int32 keys on, it is 1.0 to 1.8.  For fewer keys it is less.
"""
GROUPS_ROWS_FROM, GROUPS_WIDTH = 1 << 20, 3
"""The least number of rows, and the greatest number of keys in a row, for which groups of rows are faster than
torch.unique.

On an H100 with PyTorch 2.11, torch.unique of 2^20 rows of three keys takes 1.4 (int32) and 1.8 (int64) times as long.
For rows of four keys the factor is 1.04, and for fewer or longer rows less.
"""


def selects(key: str, rows: int, length: int, k: int) -> bool:
    """Return True if hsgen selects the first k keys of rows faster than the array library."""
    together = rows * length
    if k > (SELECTS_MOST if length > 1 << 15 else SELECTS_FEW) or together > TOGETHER:
        return False
    return length >= (SELECTS_ROWS_FROM if rows > 1 else SELECTS_FROM) or together >= SELECTS_TOGETHER


def groups(key: str, n: int, *, inverse: bool, sort: bool = True) -> bool:
    """Return True if hsgen computes the distinct keys faster than the array library.

    sort: False if only runs of equal adjacent keys are wanted.
    """
    return n >= GROUPS_FROM and key == "i64" and sort


def groups_rows(key: str, n: int, width: int) -> bool:
    """Return True if hsgen computes the distinct rows of `width` keys faster than the array library."""
    return n >= GROUPS_ROWS_FROM and width <= GROUPS_WIDTH
