"""A gather of items by index: item i of the result is item index[i] of a *table*, an array of items.

In `Call`, `keys` are the indices, and `values` are the table: `segment_count` items of `take` values each.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import OutOfRange, Usage
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature, Type
from hsgen.core.numbers import integer
from hsgen.core.sort import Sort
from hsgen.operations.arguments import Arguments, Buffer, Length, Number
from hsgen.operations.base import Operation
from hsgen.operations.calls import UNTOUCHED, Call, Load
from hsgen.operations.inputs import KINDS, Keys, Make

UNITS = ("v16", "v8", "v4")
"""The kinds of values of which an item may consist, such as "v16" (16 bytes), from the widest to the narrowest."""
MOST_BYTES = 256
"""The greatest size in bytes of an item in validations.  Kernels support larger items, too."""
_MOST_VALUES = 2**31 - 1  # in each of table and result, because kernels index values by signed 32-bit integers
_MOST_BYTES = 16 * _MOST_VALUES
_NAMES = "random", "sorted", "reversed", "all equal", "all greatest", "few distinct", "organ pipe", "zipf", "hot bucket"
_INDICES: dict[str, Make] = {name: KINDS[name] for name in _NAMES}


def unit(item_bytes: int) -> str:
    """Return the widest kind of values whose size divides `item_bytes`.

    Raises:
        Usage: the size is not a positive multiple of 4 bytes.
    """
    item_bytes = integer("item_bytes", item_bytes, -_MOST_BYTES, _MOST_BYTES)
    if item_bytes <= 0 or item_bytes % 4:
        raise Usage(f"items of {item_bytes} bytes: give a multiple of 4")
    return next(name for name in UNITS if item_bytes % int(name[1:]) == 0)


def gathered(index: Keys, table: NDArray[np.uint32], options: Options, blank: int = UNTOUCHED) -> NDArray[np.uint32]:
    """Return the values of the gathered items, shape (n * take, 32-bit words of a value).

    table: the values of all items, shape (segment_count * take, 32-bit words of a value).
    blank: the expected content of the words of a result whose index is beyond the table.  The call does not write it.
    """
    items = table.reshape(options.segment_count, -1)
    out = np.full((len(index), items.shape[1]), blank, np.uint32)
    valid = index < options.segment_count
    out[valid] = items[index[valid]]
    return out.reshape(-1, table.shape[1])


def _valued(value: str) -> str:
    """Return `value` if it is one of `UNITS`; otherwise "v4", because the size of items is a multiple of 4 bytes."""
    return value if value in UNITS else UNITS[-1]


def _table(rng: np.random.Generator, sort: Sort, rows: int, take: int) -> NDArray[np.uint32]:
    return rng.integers(0, 1 << 32, (rows * take, sort.signature.value_bytes // 4), np.uint32)


class _Gather(Operation):
    """The operation that gathers n items of a table by their indices."""

    name, noun, c_kind = "gather", "gather", "HS_GATHER"
    agent = "Gatherer"
    c_number = 7
    arguments = Arguments(
        about="A gather (HS_GATHER): item i of the destination is item index[i] of the source.  An item whose index is "
        "not less than source_count is not written.  item_bytes is a multiple of the value_bytes of the sort: 4, "
        "8 or 16.",
        members=(
            Number(name="n", meaning="indices"),
            Number(
                name="source_count",
                meaning="items of the source",
                call="call->segment_count",
                field="segment_count",
                javascript="items",
                about="The number of items of the table; by default all that its buffer has.",
            ),
            Number(name="item_bytes", meaning="bytes of an item", call="call->take * sort->value_bytes", field="take"),
            Buffer(
                name="index",
                role="source",
                meaning="n 32-bit numbers",
                words=True,
                python="index",
                javascript="index",
                about="32-bit indices; for an index beyond the table, nothing is written.",
            ),
            Buffer(
                name="source",
                role="values",
                length=Length(factors=("number", "take")),
                always=True,
                python="source",
                javascript="table",
                about="The items.",
            ),
            Buffer(
                name="destination",
                role="values_out",
                meaning="n items",
                written=True,
                length=Length(factors=("n", "take")),
                always=True,
                python="out",
                about="Receives n items.",
            ),
        ),
        javascript="Gathers: out[i] = table[index[i]], for items of `itemBytes` bytes, a multiple of 4.",
        number="{source_count}",
        take="{item_bytes}",
    )
    items, unit, element = "indices", "indices", "index"
    section = "gather", "Gathers by {} indices"
    order = 6
    timed = selects = True
    take_label = "items of {} values"
    kinds = _INDICES

    def subject(self, sort: Sort) -> str:
        """Return a description of the gather."""
        return f"gather of items of {sort.signature.value_bytes}-byte values by {sort.label} indices"

    def signature(self, signature: Signature) -> Signature:
        """Return a signature with only the kind of values of `signature`, because indices have no types or orders."""
        return replace(PLAIN, value=_valued(signature.value), rows=True)

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return `signature` unchanged, although it supports only unsigned indices: `serves` rejects other types."""
        return replace(signature, value=_valued(signature.value), key_transform=key.kind > 0, rows=True)

    def serves(self, sort: Sort, key: Type) -> bool:
        """Whether `key` is the unsigned type of the gather's indices."""
        return key.name == sort.label

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Check that table and items are not empty, and that neither table nor result has 2^31 values or more.

        For n = 0, nothing is checked.
        """
        if not n:
            return options
        for argument, count in (("segment_count", options.segment_count), ("take", options.take)):
            if not count:
                raise OutOfRange(
                    argument, 0, f"give the {'items of the table' if argument != 'take' else 'values of an item'}"
                )
        if max(n, options.segment_count) * options.take > _MOST_VALUES:
            raise OutOfRange(
                "take", options.take, f"table and result have up to {_MOST_VALUES} values; give wider ones"
            )
        return options

    def second(self, options: Options, n: int) -> Options | None:
        """Return the options of the first call, so that the second call is not in place, either: no gather is."""
        return options

    def reported(self, options: Options) -> list[str]:
        """Return a phrase with the number of values per item and the number of items."""
        return [f"{options.take} values of each of {options.segment_count} items"]

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call that gathers items of a random size from a random table.

        A few indices may be beyond the table.  The result has at most len(keys) values.  The buffer of the table
        usually has further items after the table, which the call must not gather.
        """
        most = MOST_BYTES // sort.signature.value_bytes
        take = 1 if rng.integers(2) else min(int(rng.integers(1, most + 1)), max(len(keys), 1))
        room = max(len(keys) // take, 1)
        most = max(room - 1, 1)
        rows = (1, most, int(rng.integers(1, most + 1)))[rng.integers(3)]
        index = (keys[: len(keys) // take].astype(np.uint64) * np.uint64(rows) >> np.uint64(32)).astype(np.uint32)
        if len(index) and not rng.integers(3):
            index[rng.integers(0, len(index), 3)] = rows, rng.integers(rows, 1 << 32), (1 << 32) - 1
        options = replace(options, discard=False, segment_count=rows, take=take)
        table = _table(rng, sort, room, take)
        after = gathered(index, table[: rows * take], options)
        return Call(
            n=len(index), keys=index, expected=None, in_place=False, values=table, values_expected=after, how=options
        )

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """Return two gathers by random indices: one with single values as items, one with items of 8 values."""
        return tuple(("random", Options(take=take)) for take in (1, 8))

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload whose indices are the keys, scaled from 0 to 2^32 down to the number of items in the table.

        The table has `segment_count` items; if this is 0, it has as many items as there are keys.
        """
        options = replace(options, segment_count=options.segment_count or max(len(keys), 1))
        index = (keys.astype(np.uint64) * np.uint64(options.segment_count) >> np.uint64(32)).astype(np.uint32)
        table = _table(rng, sort, options.segment_count, options.take)
        none = np.zeros(0, np.uint32)
        return Load(
            keys=index,
            values=table,
            expected=none,
            values_expected=gathered(index, table, options),
            how=options,
            count=len(index),
        )

    def moved(self, sort: Sort, n: int, options: Options) -> int | None:
        """Return the bytes that a gather moves: it reads n indices, and reads and writes n items."""
        return n * (sort.key.bytes + 2 * options.take * sort.signature.value_bytes)


OPERATION = _Gather()
