"""A pack of columns into keys, by which a sort can order the rows of a data frame.

The key of a row concatenates the bits of the row's columns; the first column has the highest bits.  The bits of each
column are first transformed, so that their unsigned order is the order of the column's type, ascending or descending.
An ascending sort of the keys therefore orders rows by their columns.  A column is an array, or a field in an array of
records (`hsgen.operations.records`).
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
"""The roles of the columns' buffers, from the most significant column to the least."""
SIGNATURE = replace(PLAIN, rows=True)
BYTES = 16
"""The greatest size in bytes of all columns of a row together."""
WIDTH, BEGIN = 6, 24
"""The layout of the code `Options.columns`.

A column has a field of `WIDTH` bits; the first column has the lowest bits.  The bits from `BEGIN` on are a number of
32-bit words: the lowest words of the concatenated columns that the key omits.
"""
KIND, DESCENDING, PRESENT = 2, 16, 32
"""The layout of a column's field of `WIDTH` bits in `Options.columns`.

Bits 0 and 1 are log2 of the column's size in bytes.  The kind of the column's type starts at bit `KIND`.  `DESCENDING`
and `PRESENT` are flags.
"""
_MOST_WORDS = 2**31 - 1  # in an array of records, because kernels index words by signed 32-bit integers

HALVES = {4: (("i16", "descending"), ("u16", "ascending")), 8: (("i32", "descending"), ("u32", "ascending"))}
"""The types and orders of the two columns that a benchmark packs, by the key's size in bytes: they fill the key."""


def number(columns: By, begin_bit: int = 0) -> int:
    """Return the code `Options.columns` of a call that packs `columns`.

    begin_bit: the bit of the concatenated columns that becomes bit 0 of the key.


    Raises:
        Usage: there are not 1 to 4 columns, a type or an order does not exist, or a row has more than `BYTES` bytes;
            begin_bit is not a multiple of 32, or is not less than the bits of a row.
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
    out = begin_bit // 32 << BEGIN
    for i, (name, order) in enumerate(columns):
        one = size(name).bit_length() - 1 | TYPES[name].kind << KIND | PRESENT
        out |= (one | DESCENDING * (order == "descending")) << WIDTH * i
    return out


def packed(columns: Sequence[NDArray[Any]], by: By, begin_bit: int, key_bytes: int) -> Keys:
    """Return the keys of n rows, shape (n,).

    columns: the bits of each column as unsigned numbers, shape (n,).
    by: the types and orders of the columns.
    begin_bit: the bit of the concatenated columns that becomes bit 0 of the key.
    key_bytes: the size of a key in bytes.
    """
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
    """Return random types and orders of columns.  The type of the first column is no wider than a key."""
    names, first = [*TYPES], [name for name in TYPES if size(name) <= sort.key.bytes]
    while True:
        count = int(rng.integers(len(ROLES)))
        types = [str(rng.choice(first)), *(str(x) for x in rng.choice(names, count))]
        if sum(size(name) for name in types) <= BYTES:
            return [(name, ORDERS[rng.integers(2)]) for name in types]


class _Pack(Operation):
    """The operation that packs the columns of each of n rows into a key."""

    name, noun, c_kind = "pack", "pack", "HS_PACK"
    agent = "Packer"
    c_number = 8
    arguments = Arguments(
        about="A pack (HS_PACK) of the columns of each of n rows into a key, the first column on top: bits begin_bit "
        "and above of the ordered bits of all columns, as many as the key has.  Columns of together up to 16 "
        "bytes; each is read in whole 32-bit words, for which its buffer has room.  Columns may be fields of the "
        "same records.",
        members=(
            Number(name="n", meaning="rows", about="The number of rows; by default all that the first column has."),
            Number(name="column_count", meaning="1 to HS_COLUMNS", call="hn_columns(call, args.columns, args.fields)"),
            Number(name="columns[HS_COLUMNS]", meaning="types and orders", type="hs_column"),
            Number(
                name="begin_bit",
                meaning="a multiple of 32",
                type="uint32_t",
                call="(uint32_t)(call->columns >> 24) * 32",
                javascript="beginBit",
                about="The bit of all columns at which keys begin, a multiple of 32; 0 by default.",
            ),
            Buffer(
                name="keys",
                columns=True,
                meaning="the columns; null from column_count on",
                javascript="columns",
                about="The columns, each with room for whole 32-bit words; several may be fields of the same records.",
            ),
            Buffer(
                name="destination",
                role="destination",
                meaning="n keys",
                written=True,
                about="Receives a key for each row, in another GPUBuffer than the columns.",
            ),
            Number(
                name="fields[HS_COLUMNS]",
                meaning="where their items are in `keys`, as records; 0: arrays",
                type="hs_field",
                last=True,
            ),
        ),
        number="hs_pack_number({columns}, {column_count}, {begin_bit})",
        take="hs_pack_layouts({columns}, {fields}, {column_count})",
        javascript='Packs of 1 to 4 columns of at most 16 bytes into keys "u32" or "u64", the first column on top: '
        "docs/guides/columns.md.",
    )
    items, unit, element = "rows", "rows", "key"
    section = "pack", "Packs columns into {} keys"
    order = 7
    timed = True
    workload = "pack of two columns"
    least_input = MANY * MOST_STRIDE

    def subject(self, sort: Sort) -> str:
        """Return a description of the pack."""
        return f"pack of columns into {sort.label} keys"

    def signature(self, signature: Signature) -> Signature:
        """Return the signature that all packs share, because each call states the types and orders of its columns."""
        return SIGNATURE

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature that all packs share."""
        return SIGNATURE

    def serves(self, sort: Sort, key: Type) -> bool:
        """Whether `key` is the unsigned type of the packed keys."""
        return key.name == sort.label

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Check that there is at least one column, and that each column has a buffer with less than 2^31 words."""
        for i, role in enumerate(ROLES):
            if n and options.columns >> WIDTH * i & PRESENT and role not in roles:
                raise Usage(f"column {i + 1}: is missing")
            if n * stride_of(options, i) > _MOST_WORDS:
                raise Usage(f"column {i + 1}: a table of records has up to {4 * _MOST_WORDS} bytes")
        if n and not options.columns & PRESENT:
            raise Usage("columns: give at least one")
        return options

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return the bytes per row of each column's buffer: `ITEM`.

        `ITEM` suffices for arrays, and for more than `MANY` rows in records; `least_input` suffices for fewer rows.
        """
        return dict.fromkeys(ROLES, ITEM)

    def second(self, options: Options, n: int) -> Options | None:
        """Return the options of the first call: no pack is in place, and `call` packs other random columns."""
        return options

    def reported(self, options: Options) -> list[str]:
        """Return phrases with the codes `columns` and, if it is not 0, `layouts`."""
        return [f"columns {options.columns:#x}"] + [f"layouts {options.layouts:#x}"] * bool(options.layouts)

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call that packs random columns.  The first column consists of the low bits of `keys`."""
        by, n = _columns(sort, rng), len(keys)
        begin = 32 * int(rng.integers(-(-sum(size(name) for name, _ in by) // 4)))
        tables, owners, fields = tables_of(by, n, rng)
        first = (
            keys.astype(f"u{size(by[0][0])}").view(np.uint8).reshape(n, -1) if n else tables[0][:0, : size(by[0][0])]
        )
        tables[0][:, fields[0][1] : fields[0][1] + size(by[0][0])] = first
        columns = [field(table, at, size(name)) for table, (_, at), (name, _) in zip(tables, fields, by, strict=True)]
        more = {ROLES[i]: tables[i].reshape(-1) for i, owner in enumerate(owners) if owner == i}
        return Call(
            n=n,
            keys=more["source"],
            expected=packed(columns, by, begin, sort.key.bytes),
            in_place=False,
            other=more.get("other", np.zeros(n, np.uint8)),  # kernels do not read a buffer that no column uses
            other_values=more.get("other_values"),
            values=more.get("values"),
            how=replace(options, columns=number(by, begin), layouts=layouts(by, fields)),
            shared={ROLES[i]: ROLES[owner] for i, owner in enumerate(owners) if owner < i},
        )

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload that packs two columns: the upper halves and the lower halves of the keys."""
        by, size = HALVES[sort.key.bytes], 4 * sort.key.bytes
        low = f"u{sort.key.bytes // 2}"
        columns = [(keys >> keys.dtype.type(size)).astype(low), keys.astype(low)]
        return Load(
            keys=columns[0],
            values=None,
            expected=packed(columns, by, 0, sort.key.bytes),
            values_expected=None,
            how=replace(options, columns=number(by)),
            other=np.pad(columns[1], (0, len(keys) % 2)),  # kernels read columns in whole 32-bit words
        )

    def moved(self, sort: Sort, n: int, options: Options) -> int | None:
        """Return twice the bytes of all keys: the two columns of a benchmark have as many bytes as the keys."""
        return 2 * n * sort.key.bytes


OPERATION = _Pack()
