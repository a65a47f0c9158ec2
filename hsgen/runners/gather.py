"""Gathers in the Python APIs: the items of arrays, the options of a call, and the arrays that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.keys import Signature
from hsgen.core.numbers import MOST, integer
from hsgen.operations.gather import OPERATION
from hsgen.runners.base import Base

UNIT = 4
"""The size of an item must be a multiple of this number of bytes."""
MOST_ITEM = 16 * MOST
"""The greatest size of an item in bytes: the widest values, as many as kernels count."""


def size_of_item(
    itemsize: int, shape: tuple[int, ...], name: str, *, contiguous: bool, item_bytes: int | None = None
) -> int:
    """Return the bytes of an item: `item_bytes`, or the size of array[0], or of an element of a flat array.

    Raises:
        ValueError: the array is not in C order.
    """
    if not contiguous:
        raise ValueError(f"{name} is not in C order; give an array whose items are contiguous")
    return int(itemsize) * prod(map(int, shape[1:])) if item_bytes is None else item_bytes


def item_bytes_of(value: Any) -> int | None:
    """Return the argument `item_bytes` of a call as an integer; None: the arrays determine the size.

    Raises:
        TypeError: the value is not an integer.
        OutOfRange: the value is not a multiple of 4, or exceeds the greatest item of a gather.
    """
    if value is None:
        return None
    size = integer("item_bytes", value, 1, MOST_ITEM)
    if size % UNIT:
        raise OutOfRange("item_bytes", size, f"give a multiple of {UNIT}")
    return size


def same_items(size: int, after: int) -> int:
    """Return the bytes of an item of a table, `size`, after comparing it with the items of the result.

    Raises:
        ValueError: items of the result have another size.
    """
    if size != after:
        raise ValueError(f"out has items of {after} bytes, source of {size}")
    return size


class GatherCalls(Base):
    """Calls of a gather of items; an item consists of values of one kind."""

    _noun, _verb, _done, _items = "gather", "gather", "gathered", "indices"
    _names: Mapping[str, str] = {"source": "index", "values": "source", "values_out": "out"}
    _apart = True
    _required = ("source", "values", "values_out")
    _keyed = ()  # indices of any signedness that a library has
    _operation = OPERATION.name
    _counting = (*Base._counting, "source")
    _how_now = PLAIN  # the options of the current call

    @staticmethod
    def _signature(value: str) -> Signature:
        """Return the signature of the gather of a kind of values."""
        return OPERATION.signature(Signature(value=value))

    def _renamed(self, e: OutOfRange) -> OutOfRange:
        """Return the error of a number in the words of the caller, because the sizes of arrays determine the number."""
        value, options = self._sort.signature.value_bytes, self._how_now
        if e.argument == "segment_count" and options.segment_count == 0:
            return OutOfRange("source holds 0", "items", f"give at least one, of {value * options.take} bytes")
        return OutOfRange(f"items of {value * options.take}", "bytes", e.remedy)

    def _asked(self, table_bytes: int, size: int) -> Options:
        """Return the options of a call that gathers items of `size` bytes from a table."""
        take = size // self._sort.signature.value_bytes
        self._how_now = replace(PLAIN, segment_count=table_bytes // size, take=take)
        return self._how_now

    def _length(self, role: str, n: int) -> int:
        """Return the number of values that a call uses in the buffer of a role."""
        return n if role == "source" else self._how_now.take * (self._how_now.segment_count if role == "values" else n)

    def _check_elements(self, role: str, have: str, size: int) -> None:
        """Check the type of indices; items may have any type."""
        if role == "source":
            super()._check_elements(role, have, size)

    def _check_shape(self, name: str, shape: tuple[int, ...], *, rows: bool) -> None:
        """Check that indices have one dimension."""
        if name == self._names["source"]:
            super()._check_shape(name, shape, rows=rows)
