"""Gathers in `hsgen.cuda` and `hsgen.opencl`: the sizes of items, and the checks of a call's arguments."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.numbers import MOST, integer
from hsgen.operations.gather import OPERATION
from hsgen.runners.base import Calls, Numbers
from hsgen.runners.ranges import AnyRange

UNIT = 4
"""The size of an item must be a multiple of this number of bytes."""
MOST_ITEM = 16 * MOST
"""The greatest size of an item in bytes: the size of the widest value (16 bytes), times the greatest number of values.
"""


def size_of_item(
    itemsize: int, shape: tuple[int, ...], name: str, *, contiguous: bool, item_bytes: int | None = None
) -> int:
    """Return the size in bytes of an item of the array `name`: `item_bytes`, or the size of array[0] if that is None.

    Raises:
        ValueError: the array is not in C order.
    """
    if not contiguous:
        raise ValueError(f"{name} is not in C order; give an array whose items are contiguous")
    return int(itemsize) * prod(map(int, shape[1:])) if item_bytes is None else item_bytes


def item_bytes_of(value: Any) -> int | None:
    """Return the argument `item_bytes` of a call as an integer; None if the arrays determine the size.

    Raises:
        TypeError: the value is not an integer.
        OutOfRange: the value is not a multiple of 4, or exceeds `MOST_ITEM`.
    """
    if value is None:
        return None
    size = integer("item_bytes", value, 1, MOST_ITEM)
    if size % UNIT:
        raise OutOfRange("item_bytes", size, f"give a multiple of {UNIT}")
    return size


def same_items(size: int, after: int) -> int:
    """Return `size`, the size of a source item in bytes, after a check that it equals `after`, the size of a result
    item.

    Raises:
        ValueError: items of the result have another size.
    """
    if size != after:
        raise ValueError(f"out has items of {after} bytes, source of {size}")
    return size


class GatherCalls(Calls):
    """Checks the arguments of calls that gather items; all items consist of values of the kind `value`."""

    operation = OPERATION
    verb, done = "gather", "gathered"

    def __init__(self, value: str) -> None:
        super().__init__("u32", value, "ascending")

    def integers(self, n: Any, size: int) -> Numbers:
        """Return the count of a call as an integer, and the size of an item in bytes."""
        return self.count(n), size

    def settle(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options]:
        """See `Calls`; the size of the source determines the number of its items."""
        n, size = numbers
        take = size // self.sort.signature.value_bytes
        options = replace(PLAIN, segment_count=ranges["values"].size // size, take=take)
        return self.length_of(ranges, n), options

    def renamed(self, e: OutOfRange, options: Options) -> OutOfRange:
        """See `Calls`; the error names the caller's arrays, because their sizes determine the numbers of the call."""
        size = self.sort.signature.value_bytes * options.take
        if e.argument == "segment_count" and options.segment_count == 0:
            return OutOfRange("source holds 0", "items", f"give at least one, of {size} bytes")
        return OutOfRange(f"items of {size}", "bytes", e.remedy)

    def check_elements(self, role: str, have: str, size: int) -> None:
        """Check the type of indices; items may have any type."""
        if role == "source":
            super().check_elements(role, have, size)

    def check_shape(self, role: str, shape: tuple[int, ...], *, rows: bool) -> None:
        """Check that indices have one dimension."""
        if role == "source":
            super().check_shape(role, shape, rows=rows)
