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
"""The bytes of which items have a multiple."""
MOST_ITEM = 16 * MOST
"""The most bytes of an item: as many of the widest values as kernels count."""


def size_of_item(
    itemsize: int, shape: tuple[int, ...], name: str, *, contiguous: bool, item_bytes: int | None = None
) -> int:
    """Return the bytes of an item: `given`, or those of array[0], or of an element of a flat array.

    Raises:
        ValueError: the array is not in C order.
    """
    if not contiguous:
        raise ValueError(f"{name} is not in C order; give an array whose items are contiguous")
    return int(itemsize) * prod(map(int, shape[1:])) if item_bytes is None else item_bytes


def item_bytes_of(value: Any) -> int | None:
    """Return the argument `item_bytes` of a call as an integer; None: that of the items of arrays.

    Raises:
        TypeError: it is no integer.
        OutOfRange: it is no multiple of 4, or beyond what a gather moves.
    """
    if value is None:
        return None
    size = integer("item_bytes", value, 1, MOST_ITEM)
    if size % UNIT:
        raise OutOfRange("item_bytes", size, f"give a multiple of {UNIT}")
    return size


def same_items(size: int, after: int) -> int:
    """Return the bytes of an item of a table, which items of the result have, too.

    Raises:
        ValueError: they do not.
    """
    if size != after:
        raise ValueError(f"out has items of {after} bytes, source of {size}")
    return size


class GatherCalls(Base):
    """Calls of a gather of items that consist of one kind of values."""

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
        """The signature of the gather of a kind of values."""
        return OPERATION.signature(Signature(value=value))

    def _renamed(self, e: OutOfRange) -> OutOfRange:
        """The error of a number, which follows from the sizes of arrays."""
        value, options = self._sort.signature.value_bytes, self._how_now
        if e.argument == "segment_count" and options.segment_count == 0:
            return OutOfRange("source holds 0", "items", f"give at least one, of {value * options.take} bytes")
        return OutOfRange(f"items of {value * options.take}", "bytes", e.remedy)

    def _asked(self, table_bytes: int, size: int) -> Options:
        """The options of a call that gathers items of `size` bytes from a table."""
        take = size // self._sort.signature.value_bytes
        self._how_now = replace(PLAIN, segment_count=table_bytes // size, take=take)
        return self._how_now

    def _length(self, role: str, n: int) -> int:
        """The values that a call uses of the buffer of a role."""
        return n if role == "source" else self._how_now.take * (self._how_now.segment_count if role == "values" else n)

    def _check_elements(self, role: str, have: str, size: int) -> None:
        """Refuse indices of another type; items are of any."""
        if role == "source":
            super()._check_elements(role, have, size)

    def _check_shape(self, name: str, shape: tuple[int, ...], *, rows: bool) -> None:
        """Refuse indices of more than one dimension."""
        if name == self._names["source"]:
            super()._check_shape(name, shape, rows=rows)
