"""The arguments of sorts of tables: key columns and the arrays that move, checked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hsgen.core.keys import KEYS, TYPES, Type
from hsgen.opencl.arrays import Memory, memory
from hsgen.opencl.gatherer import item_size
from hsgen.opencl.pitched import Column
from hsgen.runners.arguments import wrong
from hsgen.runners.ranges import overlapping


class Field:
    """A key column inside of records: the key of record i starts at byte `offset` of records[i].

    Args:
        records: a pyopencl array in C order; a record is records[i], or has `item_bytes` bytes.
        offset: the first byte of the key in a record.

    Raises:
        TypeError: `records` is no pyopencl array.
        ValueError: it is not in C order.
    """

    def __init__(self, records: Any, offset: int = 0, *, item_bytes: int | None = None) -> None:
        if not hasattr(records, "base_data"):
            raise wrong("records", "a pyopencl array", records)
        self.records, self.offset = records, offset
        self.item_bytes = item_size(records, "records", item_bytes)


@dataclass(frozen=True, slots=True)
class Key:
    """A key column of a call: its type, its place, the number of rows, and its array, or None for a field."""

    type: Type
    column: Column
    rows: int
    array: Any

    @property
    def bytes(self) -> int:
        """The size of a key in bytes."""
        return KEYS[self.type.key].bytes


@dataclass(frozen=True, slots=True)
class Move:
    """An array whose items are put in order: from, to (the same in place), and the bytes of an item."""

    source: Memory
    to: Memory
    item_bytes: int

    @property
    def in_place(self) -> bool:
        """Whether the result replaces the input."""
        return self.source.begins_with(self.to)


def key(given: Any, name: str, key_type: str, context: Any) -> Key:
    """Return a key column after checks of its type and place.

    Raises:
        TypeError: it is neither a pyopencl array nor a field of one.
        ValueError: keys of another type or of several dimensions; a field that exceeds its record.
    """
    of = TYPES[key_type]
    if isinstance(given, Field):
        size, at = KEYS[of.key].bytes, memory(given.records, name, context)
        if not 0 <= given.offset <= given.item_bytes - size:
            raise ValueError(f"{name} is at byte {given.offset} of {given.item_bytes}; its keys have {size} bytes")
        return Key(of, Column(at.root, at.at + given.offset, given.item_bytes), at.size // given.item_bytes, None)
    if not hasattr(given, "base_data"):
        raise wrong(name, "a pyopencl array, or a Field of one", given)
    if len(given.shape) != 1 or str(given.dtype) not in (of.element, of.numpy):
        raise ValueError(f"{name} has shape {given.shape} of {given.dtype}; give one dimension of {of.element}")
    at = memory(given, name, context)
    return Key(of, Column(at.root, at.at, given.dtype.itemsize), len(given), given)


def move(source: Any, to: Any, name: str, context: Any) -> Move:
    """Return an array to be put in order; without `to`, in place.

    Raises:
        TypeError: it is no pyopencl array.
        ValueError: source and destination have items of different sizes, or different numbers of these.
    """
    for array in (source, to):
        if array is not None and not hasattr(array, "base_data"):
            raise wrong(name, "a pyopencl array", array)
    size = item_size(source, name)
    if to is not None and (item_size(to, f"{name}_out"), to.shape[0]) != (size, source.shape[0]):
        raise ValueError(f"the output of {name} has other items than its input, or another number of them")
    from_ = memory(source, name, context)
    return Move(from_, from_ if to is None else memory(to, name, context), size)


def rows_of(keys: Sequence[Key], moves: Sequence[Move]) -> int:
    """Return the number of rows, which all columns and arrays have.

    Raises:
        ValueError: they have different numbers.
    """
    counts = {x.rows for x in keys} | {x.source.size // max(x.item_bytes, 1) for x in moves}
    if len(counts) > 1:
        raise ValueError(f"columns have {' and '.join(map(str, sorted(counts)))} rows; give as many in each")
    return counts.pop()


def check_overlaps(keys: Sequence[Key], moves: Sequence[Move], index: Memory | None) -> None:
    """Refuse outputs that overlap other arguments.

    Raises:
        ValueError: they do.
    """
    used = [(f"values {i}", x.source, x.source.size, x.in_place) for i, x in enumerate(moves)]
    used += [(f"output {i}", x.to, x.to.size, True) for i, x in enumerate(moves) if not x.in_place]
    used += [("index_out", index, index.size, True)] if index is not None else []
    moved = {(x.source.root, x.source.at) for x in moves}
    for i, x in enumerate(keys):
        if (x.column.buffer, x.column.at) not in moved and x.array is not None:
            at = Memory(x.array, x.column.buffer, x.column.at, x.rows * x.bytes)
            used.append((f"keys {i}", at, at.size, False))
    if both := overlapping(used):
        raise ValueError(f"{both[0]} and {both[1]} overlap")
