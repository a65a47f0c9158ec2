"""The array arguments of a sort of rows by columns, and their checks: the key columns, and the arrays whose items move
with the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hsgen.core.errors import OutOfRange
from hsgen.core.keys import KEYS, TYPES, Type
from hsgen.core.numbers import integer
from hsgen.runners.gather import size_of_item
from hsgen.runners.ranges import Range, overlapping

_MOST_BYTES = 2**63 - 1  # the greatest size of a record


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """What the checks of this module must know about an array, whatever its library.

    range: the memory range.
    element, itemsize: the name of the element type, and its size in bytes.
    contiguous: whether the array is in C order.
    """

    range: Range
    element: str
    itemsize: int
    shape: tuple[int, ...]
    contiguous: bool
    readonly: bool = False

    def item_bytes(self, name: str, size: int | None = None) -> int:
        """Return the size of array[0] in bytes, or `size` if it is not None; `name` is the array's name in messages."""
        return size_of_item(self.itemsize, self.shape, name, contiguous=self.contiguous, item_bytes=size)


Look = Callable[[Any, str], Array]
"""A function that returns the facts about an array; its arguments are the array and its name in messages.

The function raises TypeError for an object that is not an array.
"""


class Field:
    """A key column inside records: the key of row i starts at byte `offset` of record i.

    Args:
        records: an array in C order.  By default, record i is records[i].
        offset: the first byte of the key in a record.
        item_bytes: the size of a record in bytes, if a record is not records[i].

    Raises:
        TypeError: a number is no integer.
        hsgen.core.errors.OutOfRange: a number is negative, or 2^63 or greater; a record has no bytes.
    """

    def __init__(self, records: Any, offset: int = 0, *, item_bytes: int | None = None) -> None:
        self.records, self.offset = records, integer("offset", offset, 0, _MOST_BYTES)
        self.item_bytes = None if item_bytes is None else integer("item_bytes", item_bytes, 1, _MOST_BYTES)


@dataclass(frozen=True, slots=True)
class Column:
    """Where a key column is in memory: key i begins at byte ``at + i * pitch`` of the memory object `root`."""

    root: Any
    at: int
    pitch: int


@dataclass(frozen=True, slots=True)
class Key:
    """A key column of a call.

    column: where the keys are in memory.
    rows: the number of rows.
    array: the memory range of the column's array; None for a `Field`.
    """

    type: Type
    column: Column
    rows: int
    array: Range | None

    @property
    def bytes(self) -> int:
        """The size of a key in bytes."""
        return KEYS[self.type.key].bytes


@dataclass(frozen=True, slots=True)
class Move:
    """An array whose items are put in the order of the sorted rows.

    source, to: the memory of the input and of the output.  They are the same range if the result replaces the input.
    rows, item_bytes: the number of items, and the size of an item in bytes.
    name, to_name: the names of the input and of the output in messages.
    """

    source: Range
    to: Range
    rows: int
    item_bytes: int
    name: str
    to_name: str

    @property
    def in_place(self) -> bool:
        """Whether the result replaces the input."""
        return self.source is self.to or self.source.begins_with(self.to)


def key(column: Any, name: str, key_type: str, look: Look) -> Key:
    """Return a key column of a call, after a check of its type and of its place in its array.

    name, key_type: the name of the column in messages, and the key type that it must have.

    Raises:
        TypeError: the column is neither an array nor a field of an array.
        ValueError: keys have another type or several dimensions, or a field exceeds its record.
    """
    of = TYPES[key_type]
    facts = look(column.records if isinstance(column, Field) else column, name)
    at = facts.range
    if isinstance(column, Field):
        size, record = KEYS[of.key].bytes, facts.item_bytes(name, column.item_bytes)
        if record < size:
            raise ValueError(f"{name} has records of {record} bytes, which hold no key of {size}")
        if column.offset > record - size:
            sizes = f"its keys have {size} bytes, its records {record}"
            raise OutOfRange(f"{name}: offset", column.offset, f"give 0 to {record - size}; {sizes}")
        return Key(of, Column(at.root, at.at + column.offset, record), at.size // record, None)
    if len(facts.shape) != 1 or facts.element not in (of.element, of.numpy):
        raise ValueError(f"{name} has shape {facts.shape} of {facts.element}; give one dimension of {of.element}")
    return Key(of, Column(at.root, at.at, facts.itemsize), facts.shape[0], at)


def move(source: Any, to: Any, name: str, to_name: str, look: Look) -> Move:
    """Return a `Move`: an array to put in order, and its output.  Both must have the same number of items and the same
    item size.

    to: the output; None if the result replaces the array.
    name, to_name: the names of both arrays in messages.

    Raises:
        TypeError: an argument is not an array.
        ValueError: source and destination have items of different sizes, or different numbers of items, or the
            destination is read-only.
    """
    before = look(source, name)
    after = before if to is None else look(to, to_name)
    size = before.item_bytes(name)
    if (after.item_bytes(to_name), after.shape[:1]) != (size, before.shape[:1]):
        raise ValueError(f"{to_name} has other items than {name}, or another number of them")
    if after.readonly:
        raise ValueError(f"{to_name} is read-only; give a writable array")
    return Move(before.range, after.range, before.shape[0] if before.shape else 1, size, name, to_name)


def rows_of(keys: Sequence[Key], moves: Sequence[Move]) -> int:
    """Return the number of rows of all columns and arrays.

    Raises:
        ValueError: columns or arrays have different numbers of rows.
    """
    counts = {x.rows for x in keys} | {x.rows for x in moves}
    if len(counts) > 1:
        raise ValueError(f"columns have {' and '.join(map(str, sorted(counts)))} rows; give as many in each")
    return counts.pop()


def check_overlaps(keys: Sequence[Key], moves: Sequence[Move], index: Range | None) -> None:
    """Check that no output overlaps another argument.

    Raises:
        ValueError: an output overlaps another argument.
    """
    used = [(x.name, x.source, x.source.size, x.in_place) for x in moves]
    used += [(x.to_name, x.to, x.to.size, True) for x in moves if not x.in_place]
    used += [("index_out", index, index.size, True)] if index is not None else []
    moved = {(x.source.root, x.source.at) for x in moves}
    for i, x in enumerate(keys):
        if (x.column.root, x.column.at) not in moved and x.array is not None:
            at = Range(x.array.argument, x.column.root, x.column.at, x.rows * x.bytes)
            used.append((f"keys {i}", at, at.size, False))
    if both := overlapping(used):
        raise ValueError(f"{both[0]} and {both[1]} overlap")
