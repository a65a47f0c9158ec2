"""Columns in arrays, and as fields of records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options
from hsgen.core.keys import KEYS, TYPES
from hsgen.core.numbers import MOST, integer

STRIDE, OFFSET = 7, 8
"""The bits of the stride of a column, in 32-bit words, and of its offset, in bytes, which follow in `Options.layouts`;
0: an array."""
MOST_STRIDE = 256
"""The greatest stride, in bytes."""
MANY, ITEM = 4096, 16
"""Rows, and bytes: validations of more rows have records of no more bytes."""

By = Sequence[tuple[str, str]]
"""Columns: key types, and orders."""
Fields = Sequence[tuple[int, int]]
"""Where the items of columns are: the bytes from one record to the next, and those of a record before the field; in an
array (0, 0)."""


def size(name: str) -> int:
    """Return the bytes of a key type."""
    return KEYS[TYPES[name].key].bytes


def layouts(columns: By, fields: Fields) -> int:
    """Return the layouts of a call that packs these columns.

    Raises:
        Usage: a stride is no multiple of 4 or too large, a field is not within its record or misaligned.
    """
    made = 0
    for i, ((name, _), where) in enumerate(zip(columns, fields, strict=True)):
        stride, offset = (integer(x, n, -MOST, MOST) for x, n in zip(("stride", "offset"), where, strict=True))
        if stride % 4 or not 0 <= stride <= MOST_STRIDE:
            raise Usage(f"stride {stride}: give a multiple of 4 up to {MOST_STRIDE}, or 0 for an array")
        if offset < 0 or (offset and offset + size(name) > stride):
            raise Usage(f"offset {offset}: {name} is not within a record of {stride} bytes")
        if stride and size(name) > stride:
            raise Usage(f"stride {stride}: {name} is not within a record")
        if offset % min(size(name), 4):
            raise Usage(f"offset {offset}: give a multiple of {min(size(name), 4)} for {name}")
        made |= (stride // 4 | offset << STRIDE) << (STRIDE + OFFSET) * i
    return made


def stride_of(how: Options, i: int) -> int:
    """Return the stride of column i, in words."""
    return how.layouts >> (STRIDE + OFFSET) * i & (1 << STRIDE) - 1


def field(table: NDArray[np.uint8], offset: int, size: int) -> NDArray[Any]:
    """Return the field of each record as an unsigned number; a table has shape (n, bytes of a record)."""
    return np.ascontiguousarray(table[:, offset : offset + size]).view(f"u{size}").reshape(len(table))


def _table(rng: np.random.Generator, n: int, stride: int) -> NDArray[np.uint8]:
    """Records of random bytes; those of some are all 0, 127, 128 or 255."""
    table = rng.integers(0, 256, (n, stride), np.uint8)
    table[rng.random(n) < 0.25] = rng.choice(np.array([0, 127, 128, 255], np.uint8))
    return table


def tables_of(
    by: By, n: int, rng: np.random.Generator
) -> tuple[list[NDArray[np.uint8]], list[int], list[tuple[int, int]]]:
    """Return the tables of columns, random arrays or records; the column whose table each has; and their fields."""
    tables: list[NDArray[np.uint8]] = []
    owners: list[int] = []
    fields: list[tuple[int, int]] = []
    for i, (name, _) in enumerate(by):
        bytes_, owner, stride = size(name), i, 0
        if rng.random() < 0.6:
            stride = 4 * int(rng.integers(-(-bytes_ // 4), (MOST_STRIDE if n <= MANY else ITEM) // 4 + 1))
            if others := [k for k in range(i) if fields[k][0] >= bytes_ and rng.random() < 0.7]:
                owner = owners[others[0]]
                stride = fields[owner][0]
        unit = min(bytes_, 4)
        offset = unit * int(rng.integers((stride - bytes_) // unit + 1)) if stride else 0
        tables.append(tables[owner] if owner < i else _table(rng, n, stride or bytes_))
        owners.append(owner)
        fields.append((stride, offset))
    return tables, owners, fields
