"""The numbers of rows that the functions `topk` on arrays take: names, meanings and checks for all libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from hsgen.core.errors import wrong_type
from hsgen.runners.arguments import keywords


class RowNumbers(TypedDict, total=False):
    """The keywords of the functions `topk`: arrays of integers, of which none is negative.

    `lengths`, `starts`, `takes` and `table_starts` have the shape of the input without the dimension of the selection.

    lengths: the number of elements that count in each row, from its start.
    starts: the place of the first element that counts in each row; by default 0.  Indices in the result count from
        this place.
    takes: the elements to select of each row; k is the greatest number.
    count: one number: the rows that count, in the order of memory; further rows count as empty.
    table: a table from which the selected indices select entries of 4 or 8 bytes.  The table has the shape of the
        input: the entry of an element is in the element's place.
    table_starts: the place in the flattened table of each row's entry 0; the table then has any shape.
    """

    lengths: Any
    starts: Any
    takes: Any
    count: Any
    table: Any
    table_starts: Any


NAMES = tuple(RowNumbers.__annotations__)
"""The names of the numbers, in order."""
_EACH = {"lengths": "length", "starts": "start", "takes": "k", "table_starts": "start"}
"""The meaning of each number that every row has."""
BOUNDS = ("lengths", "starts", "count")
"""The numbers on which it depends which elements count."""
ENTRIES = (4, 8)
"""The sizes of entries of a table in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """The arrays of a library, for checks.

    kind: the class of arrays.  noun: their name in messages.  is_integer: True for an array of integers.
    device: the device of an array, or None.
    """

    kind: type
    noun: str
    is_integer: Callable[[Any], bool]
    device: Callable[[Any], Any]

    def check(self, name: str, x: Any, meaning: str) -> None:
        """Check that `x` is an array of integers.

        Raises:
            TypeError: it is not.
        """
        if not isinstance(x, self.kind):
            raise wrong_type(name, f"{self.noun} with {meaning}", x)
        if not self.is_integer(x):
            raise TypeError(f"{name} has elements of {x.dtype}; give integers")


def present(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers that a call has, in the order of `NAMES`.

    Raises:
        TypeError: there is no such keyword.
    """
    named = keywords(numbers, RowNumbers)
    return {name: named[name] for name in NAMES if named.get(name) is not None}


def check(numbers: Mapping[str, Any], x: Any, dim: int, arrays: Arrays, name: str) -> None:
    """Check the numbers that a call has; `x` is the input, whose argument is `name`.

    Raises:
        TypeError: a number is no array of integers.
        ValueError: a number has the wrong shape, size or device.
    """
    shape = tuple(x.shape)
    rows = shape[:dim] + shape[dim + 1 :]
    for key, y in numbers.items():
        own = tuple(getattr(y, "shape", ()))
        if key in _EACH:
            arrays.check(key, y, f"the {_EACH[key]} of each row")
            if own != rows:
                raise ValueError(f"{key} has the shape {own}; give {rows}, a {_EACH[key]} for each row")
        elif key == "count":
            arrays.check(key, y, "the number of rows")
            if own not in ((), (1,)):
                raise ValueError(f"count has the shape {own}; give one number")
        else:
            arrays.check(key, y, "an entry for each element")
            if y.dtype.itemsize not in ENTRIES:
                raise TypeError(f"table has elements of {y.dtype}; give integers of 4 or 8 bytes")
            if "table_starts" not in numbers and own != shape:
                raise ValueError(f"table has the shape {own}; give {shape}, that of {name}, or table_starts")
        if (here := arrays.device(x)) != (there := arrays.device(y)):
            raise ValueError(f"{key} is on {there}, {name} on {here}")
    if "table_starts" in numbers and "table" not in numbers:
        raise ValueError("table_starts is given, but no table")
