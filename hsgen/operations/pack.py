"""Packing columns into keys: the ordered bits of each column of a row, joined, the first column on top.

An ascending sort of the keys puts rows in the order of the columns, each with its own type and order.  A column is an
array, or a field of an array of records.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options
from hsgen.core.keys import ORDERS, PLAIN, TYPES, Signature, Type
from hsgen.core.numbers import MOST, integer
from hsgen.core.sort import Sort
from hsgen.operations.arguments import Arguments, Buffer, Number
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import Keys
from hsgen.operations.oracle import ordered
from hsgen.operations.records import ITEM, MANY, MOST_STRIDE, By, field, layouts, size, stride_of, tables_of

ROLES = ("source", "other", "other_values", "values")
"""The buffers of columns, the most significant first."""
SIGNATURE = replace(PLAIN, rows=True)
BYTES = 16
"""The most bytes of all columns of a row."""
WIDTH, BEGIN = 6, 24
"""The bits of a column in the number of a call; the bit at which the words to leave out at the low end begin."""
KIND, DESCENDING, PRESENT = 2, 16, 32
"""Of a column: bits 0 and 1 are the logarithm of its bytes, those from `KIND` on its kind; flags."""
_MOST_WORDS = 2**31 - 1  # of a table: indices of words are signed 32-bit integers

HALVES = {4: (("i16", "descending"), ("u16", "ascending")), 8: (("i32", "descending"), ("u32", "ascending"))}
"""The columns of a benchmark, by the bytes of a key: two that fill it."""


def number(columns: By, begin_bit: int = 0) -> int:
    """Return the number of a call that packs these columns and stores their bits from `begin_bit` on.

    Raises:
        Usage: there are no such columns, or too many; begin_bit is no multiple of 32, or beyond them.
    """
    if not 1 <= len(columns) <= len(ROLES):
        raise Usage(f"{len(columns)} columns: give 1 to {len(ROLES)}")
    for name, order in columns:
        if name not in TYPES or order not in ORDERS:
            raise Usage(f"column {name} {order}: give one of {', '.join(TYPES)}, ascending or descending")
    total, begin_bit = sum(size(name) for name, _ in columns), integer("begin_bit", begin_bit, -MOST, MOST)
    if total > BYTES:
        raise Usage(f"columns of {total} bytes: give at most {BYTES}")
    if begin_bit % 32 or not 0 <= begin_bit < 8 * total:
        raise Usage(f"begin_bit {begin_bit}: give a multiple of 32 below {8 * total}")
    made = begin_bit // 32 << BEGIN
    for i, (name, order) in enumerate(columns):
        one = size(name).bit_length() - 1 | TYPES[name].kind << KIND | PRESENT
        made |= (one | DESCENDING * (order == "descending")) << WIDTH * i
    return made


def packed(columns: Sequence[NDArray[Any]], by: By, begin_bit: int, key_bytes: int) -> Keys:
    """Return the keys of rows; columns are the bits of their types as unsigned numbers, shape (n,)."""
    n = len(columns[0])
    parts = [np.zeros((n, BYTES + 8), np.uint8)]
    for column, (name, order) in zip(columns, by, strict=True):
        bits = ordered(column, TYPES[name].kind, descending=order == "descending")
        big = np.ascontiguousarray(bits.astype(f">u{size(name)}"))
        parts.append(big.view(np.uint8).reshape(n, size(name)))
    joined = np.concatenate(parts, axis=1)
    end = joined.shape[1] - begin_bit // 8
    chosen = np.ascontiguousarray(joined[:, end - key_bytes : end])
    return chosen.view(f">u{key_bytes}").reshape(n).astype(f"u{key_bytes}")


def _columns(sort: Sort, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Columns of random types and orders, of which the first one fits the buffer of keys."""
    names, first = [*TYPES], [name for name in TYPES if size(name) <= sort.key.bytes]
    while True:
        count = int(rng.integers(len(ROLES)))
        found = [str(rng.choice(first)), *(str(x) for x in rng.choice(names, count))]
        if sum(size(name) for name in found) <= BYTES:
            return [(name, ORDERS[rng.integers(2)]) for name in found]


class _Pack(Operation):
    """The keys of n rows of columns."""

    name, noun, c_kind = "pack", "pack", "HS_PACK"
    c_number = 8
    arguments = Arguments(
        about="A pack (HS_PACK) of the columns of each of n rows into a key, the first column on top: bits begin_bit "
        "and above of the ordered bits of all columns, as many as the key has.  Columns of together up to 16 "
        "bytes; each is read in whole 32-bit words, for which its buffer has room.  Columns may be fields of the "
        "same records.",
        members=(
            Number(name="n", meaning="rows"),
            Number(name="column_count", meaning="1 to HS_COLUMNS", call="hn_columns(call, args.columns, args.fields)"),
            Number(name="columns[HS_COLUMNS]", meaning="types and orders", type="hs_column"),
            Number(
                name="begin_bit",
                meaning="a multiple of 32",
                type="uint32_t",
                call="(uint32_t)(call->columns >> 24) * 32",
            ),
            Buffer(name="keys", columns=True, meaning="the columns; null from column_count on"),
            Buffer(name="destination", role="destination", meaning="n keys", written=True),
            Number(
                name="fields[HS_COLUMNS]",
                meaning="where their items are in `keys`, as records; 0: arrays",
                type="hs_field",
                last=True,
            ),
        ),
        number="hs_pack_number({columns}, {column_count}, {begin_bit})",
        take="hs_pack_layouts({columns}, {fields}, {column_count})",
    )
    items, unit, element = "rows", "rows", "key"
    section = "pack", "Packs columns into {} keys"
    order = 7
    timed = True
    workload = "pack of two columns"
    least_input = MANY * MOST_STRIDE

    def subject(self, sort: Sort) -> str:
        """See `Operation`."""
        return f"pack of columns into {sort.label} keys"

    def signature(self, signature: Signature) -> Signature:
        """See `Operation`: types and orders are those of the columns of a call, as are the numbers of kernels."""
        return SIGNATURE

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """See `Operation`."""
        return SIGNATURE

    def serves(self, sort: Sort, key: Type) -> bool:
        """See `Operation`: packed keys are unsigned."""
        return key.name == sort.label

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """See `Operation`."""
        for i, role in enumerate(ROLES):
            if n and how.columns >> WIDTH * i & PRESENT and role not in given:
                raise Usage(f"column {i + 1}: is missing")
            if n * stride_of(how, i) > _MOST_WORDS:
                raise Usage(f"column {i + 1}: a table of records has up to {4 * _MOST_WORDS} bytes")
        if n and not how.columns & PRESENT:
            raise Usage("columns: give at least one")
        return how

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """See `Operation`: columns, or records of few bytes."""
        return dict.fromkeys(ROLES, ITEM)

    def second(self, how: Options, n: int) -> Options | None:
        """See `Operation`: no pack is in place; the second case has other columns."""
        return how

    def reported(self, how: Options) -> list[str]:
        """See `Operation`."""
        return [f"columns {how.columns:#x}"] + [f"layouts {how.layouts:#x}"] * bool(how.layouts)

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return the call that packs random columns, of which the first has the low bits of the keys."""
        by, n = _columns(sort, rng), len(keys)
        begin = 32 * int(rng.integers(-(-sum(size(name) for name, _ in by) // 4)))
        tables, owners, fields = tables_of(by, n, rng)
        first = (
            keys.astype(f"u{size(by[0][0])}").view(np.uint8).reshape(n, -1) if n else tables[0][:0, : size(by[0][0])]
        )
        tables[0][:, fields[0][1] : fields[0][1] + size(by[0][0])] = first
        given = [field(table, at, size(name)) for table, (_, at), (name, _) in zip(tables, fields, by, strict=True)]
        more = {ROLES[i]: tables[i].reshape(-1) for i, owner in enumerate(owners) if owner == i}
        return Call(
            n=n,
            keys=more["source"],
            expected=packed(given, by, begin, sort.key.bytes),
            in_place=False,
            other=more.get("other", np.zeros(n, np.uint8)),  # a buffer that no column uses is not read
            other_values=more.get("other_values"),
            values=more.get("values"),
            how=replace(how, columns=number(by, begin), layouts=layouts(by, fields)),
            shared={ROLES[i]: ROLES[owner] for i, owner in enumerate(owners) if owner < i},
        )

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return the pack of the high and the low bits of these keys: the column of `HALVES` and the next one."""
        by, size = HALVES[sort.key.bytes], 4 * sort.key.bytes
        low = f"u{sort.key.bytes // 2}"
        columns = [(keys >> keys.dtype.type(size)).astype(low), keys.astype(low)]
        return Load(
            keys=columns[0],
            values=None,
            expected=packed(columns, by, 0, sort.key.bytes),
            values_expected=None,
            how=replace(how, columns=number(by)),
            other=np.pad(columns[1], (0, len(keys) % 2)),  # columns are read as whole words
        )

    def moved(self, sort: Sort, n: int, how: Options) -> int | None:
        """See `Operation`: the columns, and the keys that they fill."""
        return 2 * n * sort.key.bytes


OPERATION = _Pack()
