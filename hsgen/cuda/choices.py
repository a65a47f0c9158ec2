"""The rules that choose how `hsgen.torch.sort`, `hsgen.cupy.sort` and `hsgen.jax.sort` sort rows: by one of hsgen's
methods, or by the array library's own sort.

The rules follow from the times below, in microseconds, to sort float32 rows with 64-bit indices on an H200 with
PyTorch 2.11.  The columns are torch.sort and the methods `ROWS`, `SEGMENTS` and `EACH`:

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

Rows of 4097 to 32768 keys had no method `ROWS` at that time.  Times since then, of replayed graphs on an H200:

| rows x keys | torch.sort | rows | segments | each |
|---|---|---|---|---|
| 2 x 8192 | 69 | 22 | 62 | 31 |
| 512 x 8192 | 358 | 79 | 185 | |
| 2 x 16384 | 65 | 37 | 65 | 32 |
| 3 x 16384 | 67 | 37 | 66 | 48 |
| 512 x 16384 | 667 | 174 | 384 | |
| 2 x 24576 | 68 | 54 | 67 | 34 |
| 3 x 24576 | 70 | 54 | 70 | 51 |
| 2 x 32000 | 70 | 69 | 83 | 36 |
| 4 x 32000 | 74 | 69 | 84 | 69 |
| 32 x 32000 | 135 | 69 | 104 | |
| 132 x 32000 | 458 | 85 | 270 | |
| 512 x 32000 | 1254 | 331 | 1129 | |
| 2 x 17000, int64 | 103 | 73 | 105 | 23 |
| 512 x 18432, int64 | 1577 | 342 | 1383 | |
| 2 x 32000, bfloat16 | 50 | 41 | 42 | 28 |
| 512 x 32000, bfloat16 | 612 | 212 | 469 | |

Rows with a frequent key slow down `each`.  Example: three rows of 7809 outputs of ReLU, half of which are zero.  On an
H100, `each` takes 145 microseconds, `segments` 86, and torch.sort 91.
"""

from __future__ import annotations

from dataclasses import dataclass

WHOLE, ROWS, SEGMENTS, EACH, LIBRARY = "whole", "rows", "segments", "each", ""
"""The methods.

WHOLE sorts a single row.  ROWS is one launch that sorts each row by one work-group.  SEGMENTS is a segmented sort of
all rows.  EACH calls the sort of a single row for one row after another.  LIBRARY is the array library's own sort.
"""

WIDE_UP_TO = 1 << 20
"""Up to this number of keys in all rows, the methods `WHOLE` and `EACH` sort integers with 64-bit indices.

For more keys, a sort with 32-bit indices is faster, although the indices must then be widened (`hsgen.cuda.finish`).
"""
RAW_UP_TO = 1 << 19
"""Up to this number of floats in a row, the methods `WHOLE` and `EACH` sort each row by one launch, if possible.

The launch sorts the row, and stores 64-bit indices.  In the output, zeros and NaNs have the same bits as in the input.
For longer rows, a further launch may have to store these indices and bits after the sort (`hsgen.cuda.finish`).
"""
UNEVEN_UP_TO = 1 << 21
"""Up to this number of keys, a row of floats is sorted by a single launch, and a longer row by passes with look-back.

The single launch partitions keys among work-groups by the quantiles of a sample of keys.  If a work-group would get
more keys than it can hold, the launch instead sorts all keys by one digit after another.
"""
WIDEST = 1 << 32
"""From this number of keys on, indices need more than 32 bits."""
TOGETHER = (1 << 30) - 1
"""The greatest number of keys in all rows for the methods `ROWS` and `SEGMENTS`, which sort all rows in one call."""
ANY = 1 << 62


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: the method for `rows` to `most` rows with `length` to `to` keys in each row; all limits are inclusive.

    keys: the key types that the rule fits; empty for all types.  total: the greatest number of keys in all rows.
    """

    method: str
    rows: int = 1
    most: int = ANY
    length: int = 0
    to: int = ANY
    keys: tuple[str, ...] = ()
    total: int = ANY


_LIKEWISE = ("bool", "u8", "i8", "i16", "i32", "i64")
"""The key types for which the array library's sort has the same result as hsgen.

u16, u32 and u64 are missing because torch.sort does not support them.  Floats are missing because torch.sort puts NaNs
with a sign bit first.
"""

RULES = (
    Rule(WHOLE, most=1),
    Rule(LIBRARY, length=1 << 31),
    Rule(EACH, most=64, length=1 << 23),
    Rule(ROWS, to=16384, total=TOGETHER),
    Rule(EACH, most=2, to=1 << 18),
    Rule(ROWS, to=32768, total=TOGETHER),
    Rule(LIBRARY, most=4, length=(1 << 17) + 1, to=1 << 18, keys=_LIKEWISE),
    Rule(SEGMENTS, total=TOGETHER),
    Rule(LIBRARY),
)
"""The rules for sorts; the first rule that fits the rows determines the method."""


def choice(key: str, rows: int, length: int, without: str | None = None) -> str:
    """Return the method that sorts `rows` rows of `length` keys; "" means the array library's own sort.

    without: a method that the GPU does not support for such rows.
    """
    for rule in RULES:
        fits = rule.rows <= rows <= rule.most and rule.length <= length <= rule.to and rows * length <= rule.total
        if fits and (not rule.keys or key in rule.keys) and rule.method != without:
            return rule.method
    return LIBRARY


SELECTS_ROWS_FROM, SELECTS_FROM, SELECTS_TOGETHER = 1 << 13, 1 << 16, 1 << 20
"""From these row lengths on, hsgen's selections are faster than torch.topk: `SELECTS_FROM` for a single row,
`SELECTS_ROWS_FROM` for two rows or more.

With shorter rows, hsgen is faster if all rows together have at least `SELECTS_TOGETHER` keys.

Each number in the table is the time of torch.topk divided by the time of hsgen, for calls on a stream of an H100 with
PyTorch 2.11.  k is 64 unless stated:

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

For a greater k in short rows, the selection would sort all keys of a row in local memory.  For a greater k in long
rows, its result would not be sorted.
"""
GROUPS_FROM = 1 << 24
"""The least number of int64 keys for which hsgen's `unique` is faster than torch.unique.

The time of torch.unique divided by the time of hsgen, on an H100 with PyTorch 2.11, is 1.6 to 1.8 for 2^24 int64 keys,
and 1.3 to 1.6 for the same keys with return_inverse.  From 2^20 int64 keys on, the quotient is 0.8 to 1.6.  From 2^24
int32 keys on, the quotient is 1.0 to 1.8.  For fewer keys, it is less.
"""
GROUPS_ROWS_FROM, GROUPS_WIDTH = 1 << 20, 3
"""The least number of rows, and the greatest number of keys in a row, for which hsgen finds distinct rows faster than
torch.unique.

On an H100 with PyTorch 2.11, torch.unique takes 1.4 (int32) and 1.8 (int64) times as long as hsgen for 2^20 rows of
three keys.  For rows of four keys the factor is 1.04, and for fewer or longer rows less.
"""


def selects(key: str, rows: int, length: int, k: int) -> bool:
    """Return True if hsgen selects the first k keys of rows faster than the array library."""
    together = rows * length
    if k > (SELECTS_MOST if length > 1 << 15 else SELECTS_FEW) or together > TOGETHER:
        return False
    return length >= (SELECTS_ROWS_FROM if rows > 1 else SELECTS_FROM) or together >= SELECTS_TOGETHER


def groups(key: str, n: int, *, inverse: bool, sort: bool = True) -> bool:
    """Return True if hsgen finds the distinct keys among `n` keys faster than the array library.

    sort: False for torch.unique_consecutive, which compares only adjacent keys and does not sort.
    """
    return n >= GROUPS_FROM and key == "i64" and sort


def groups_rows(key: str, n: int, width: int) -> bool:
    """Return True if hsgen finds the distinct rows among `n` rows of `width` keys faster than the array library."""
    return n >= GROUPS_ROWS_FROM and width <= GROUPS_WIDTH
