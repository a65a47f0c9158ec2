"""The columns that a pack combines into keys: arrays, or fields of records.

A *record* is a struct of up to `MOST_STRIDE` bytes.  Several columns may be fields of the same array of records.
"""

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
"""The numbers of bits that the stride and the offset of a column have in `Options.layouts`.

There, the stride is the size of a record in 32-bit words, and the offset is that of the field in its record, in bytes.
Both are 0 if the column is an array.
"""
MOST_STRIDE = 256
"""The greatest size of a record, in bytes."""
MANY, ITEM = 4096, 16
"""In validations of more than `MANY` rows, records have at most `ITEM` bytes."""

By = Sequence[tuple[str, str]]
"""For each column, the key type and the order, such as ("u32", "descending")."""
Fields = Sequence[tuple[int, int]]
"""For each column, the stride of its records and the offset of its field in a record, in bytes; (0, 0) for an array."""


def size(name: str) -> int:
    """Return the size of a key type in bytes."""
    return KEYS[TYPES[name].key].bytes


def layouts(columns: By, fields: Fields) -> int:
    """Return the code `Options.layouts` for a call that packs `columns`, whose strides and offsets are `fields`.

    Raises:
        Usage: a stride is not a multiple of 4 or is too large; a field is misaligned or not within its record.
    """
    out = 0
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
        out |= (stride // 4 | offset << STRIDE) << (STRIDE + OFFSET) * i
    return out


def stride_of(options: Options, i: int) -> int:
    """Return the stride of column `i` in 32-bit words; 0 for an array."""
    return options.layouts >> (STRIDE + OFFSET) * i & (1 << STRIDE) - 1


def field(table: NDArray[np.uint8], offset: int, size: int) -> NDArray[Any]:
    """Return a field of n records as unsigned numbers, shape (n,).

    table: the records, shape (n, bytes of a record).
    offset, size: those of the field, in bytes.
    """
    return np.ascontiguousarray(table[:, offset : offset + size]).view(f"u{size}").reshape(len(table))


def _table(rng: np.random.Generator, n: int, stride: int) -> NDArray[np.uint8]:
    """Return n records of random bytes, shape (n, stride).

    In about a quarter of the records, all bytes are equal: 0, 127, 128 or 255, the same number in all of these records.
    """
    table = rng.integers(0, 256, (n, stride), np.uint8)
    table[rng.random(n) < 0.25] = rng.choice(np.array([0, 127, 128, 255], np.uint8))
    return table


def tables_of(
    by: By, n: int, rng: np.random.Generator
) -> tuple[list[NDArray[np.uint8]], list[int], list[tuple[int, int]]]:
    """Return random data for columns, as three lists with an element for each column.

    The first list has the array of the column, or the array of records that contains the column, as n rows of bytes.
    The second list has the index of the first column that is in the same records; for an array, it is the column's own
    index.  The third list has the stride and the offset of the column, as in `Fields`.
    """
    tables: list[NDArray[np.uint8]] = []
    owners: list[int] = []
    fields: list[tuple[int, int]] = []
    for i, (name, _) in enumerate(by):
        bytes_, owner, stride = size(name), i, 0
        if rng.random() < 0.6:
            stride = 4 * int(rng.integers(-(-bytes_ // 4), (MOST_STRIDE if n <= MANY else ITEM) // 4 + 1))
            if earlier := [k for k in range(i) if fields[k][0] >= bytes_ and rng.random() < 0.7]:
                owner = owners[earlier[0]]
                stride = fields[owner][0]
        unit = min(bytes_, 4)
        offset = unit * int(rng.integers((stride - bytes_) // unit + 1)) if stride else 0
        tables.append(tables[owner] if owner < i else _table(rng, n, stride or bytes_))
        owners.append(owner)
        fields.append((stride, offset))
    return tables, owners, fields
