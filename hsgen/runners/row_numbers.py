"""The keywords by which callers of `topk` pass one number per row, such as the row's length; they are the same for all
array libraries.

The module has the names, the meanings and the checks of these keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

from hsgen.core.errors import wrong_type


class RowNumbers(TypedDict, total=False):
    """The keywords of the functions `topk`: arrays of integers that are not negative.

    All arrays but `count` have the shape of the input without the dimension along which elements are selected.

    lengths: the number of elements of each row that take part in the selection, from the row's start on.
    starts: the position in each row of the first element that takes part; by default 0.  Indices in the result are
        relative to this position.
    takes: the number of elements to select from each row, at most k.
    count: a single number of rows.  In the order of memory, all rows after the first `count` are treated as empty.
    table_starts: for each row, the position in the flattened look-up table of the entry for the row's index 0.
    """

    lengths: Any
    starts: Any
    takes: Any
    count: Any
    table_starts: Any


NAMES = (*RowNumbers.__annotations__, "table")
"""The names of the keywords, in order.  The last, `table`, is the look-up table.

With a look-up table, the result also has the table's entry for each selected index.  An entry has 4 or 8 bytes.  The
table has the shape of the input, with one entry for each element.  With `table_starts`, the table may have any shape.
"""
_EACH = {"lengths": "length", "starts": "start", "takes": "k", "table_starts": "start"}
"""The noun by which messages call an element of each array, such as "length" for the array `lengths`."""
BOUNDS = ("lengths", "starts", "count")
"""The keywords that determine which elements take part in the selection."""
ENTRIES = (4, 8)
"""The possible sizes of an entry of the look-up table, in bytes."""


class Selected(NamedTuple):
    """A result of `topk`: the selected elements of each row, and the index of each element in its row."""

    values: Any
    indices: Any


class SelectedEntries(NamedTuple):
    """A result of `topk` with a look-up table.

    values, indices: the selected elements of each row, and the index of each element in its row.
    entries: the entry of the look-up table for each selected element.
    """

    values: Any
    indices: Any
    entries: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """What the checks of this module must know about the arrays of a library.

    kind: the class of arrays.
    noun: the noun for an array in messages.
    is_integer: a function that returns True for an array of integers.
    device: a function that returns the device of an array, or None.
    """

    kind: Any
    noun: str
    is_integer: Callable[[Any], bool]
    device: Callable[[Any], Any]

    def check(self, name: str, x: Any, meaning: str) -> Any:
        """Return the element type of `x`, which must be an array of integers.

        name, meaning: the name of the argument and the meaning of its elements, for messages.

        Raises:
            TypeError: `x` is not an array of integers.
        """
        if not isinstance(x, self.kind):
            raise wrong_type(name, f"{self.noun} with {meaning}", x)
        if not self.is_integer(x):
            raise TypeError(f"{name} has elements of {x.dtype}; give integers")
        return x.dtype


def keywords(named: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    """Return the keywords `named` of a call, whose names must all be in `names`.

    Raises:
        TypeError: a name is not in `names`.
    """
    for name in named:
        if name not in names:
            raise TypeError(f"{name}: no such argument; give {', '.join(names)}")
    return named


def present(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return those keywords of a call that are not None, in the order of `NAMES`.

    Raises:
        TypeError: a name is not in `NAMES`.
    """
    named = keywords(numbers, NAMES)
    return {name: named[name] for name in NAMES if named.get(name) is not None}


def check(numbers: Mapping[str, Any], x: Any, dim: int, arrays: Arrays, name: str) -> None:
    """Check the arrays of numbers that a call passes; `x` is the input of the selection, which messages call `name`.

    Raises:
        TypeError: a number is no array of integers.
        ValueError: a number has the wrong shape, size or device.
    """
    shape = tuple(x.shape)
    rows = shape[:dim] + shape[dim + 1 :]
    for key, y in numbers.items():
        has = tuple(getattr(y, "shape", ()))
        if key in _EACH:
            arrays.check(key, y, f"the {_EACH[key]} of each row")
            if has != rows:
                raise ValueError(f"{key} has the shape {has}; give {rows}, a {_EACH[key]} for each row")
        elif key == "count":
            arrays.check(key, y, "the number of rows")
            if has not in ((), (1,)):
                raise ValueError(f"count has the shape {has}; give one number")
        else:
            kind = arrays.check(key, y, "an entry for each element")
            if kind.itemsize not in ENTRIES:
                raise TypeError(f"table has elements of {kind}; give integers of 4 or 8 bytes")
            if "table_starts" not in numbers and has != shape:
                raise ValueError(f"table has the shape {has}; give {shape}, that of {name}, or table_starts")
        if (here := arrays.device(x)) != (there := arrays.device(y)):
            raise ValueError(f"{key} is on {there}, {name} on {here}")
    if "table_starts" in numbers and "table" not in numbers:
        raise ValueError("table_starts is given, but no table")
