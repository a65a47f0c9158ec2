"""The keywords of the functions `topk` that give each row its own numbers: names, meanings and checks for all
libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

from hsgen.core.errors import wrong_type


class RowNumbers(TypedDict, total=False):
    """The keywords of the functions `topk`: arrays of integers that are not negative.

    All arrays but `count` have the shape of the input without the dimension along which elements are selected.

    lengths: the number of elements that count in each row, from its start.
    starts: the place of the first element that counts in each row; by default 0.  Indices in the result count from
        this place.
    takes: the number of elements to select from each row, at most k.
    count: one number; the first `count` rows, in the order of memory, count, and all further rows are treated as empty.
    table_starts: for each row, the index in the flattened look-up table of the entry that belongs to the row's index 0.
    """

    lengths: Any
    starts: Any
    takes: Any
    count: Any
    table_starts: Any


NAMES = (*RowNumbers.__annotations__, "table")
"""The names of the keywords, in order; the last is that of the look-up table.

The result has the table's entry for each selected index.  An entry has 4 or 8 bytes.  The table has the shape of the
input, with one entry for each element.  With `table_starts`, the table may have any shape.
"""
_EACH = {"lengths": "length", "starts": "start", "takes": "k", "table_starts": "start"}
"""For messages, what each array holds that has one number for every row."""
BOUNDS = ("lengths", "starts", "count")
"""The keywords that determine which elements count."""
ENTRIES = (4, 8)
"""The possible sizes of an entry of the look-up table, in bytes."""


class Selected(NamedTuple):
    """The first elements of each row, and the index of each in its row."""

    values: Any
    indices: Any


class SelectedEntries(NamedTuple):
    """The first elements of each row, the index of each in its row, and the entry of each in the look-up table."""

    values: Any
    indices: Any
    entries: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """What checks must know about the arrays of a library.

    kind: the class of arrays.  noun: what messages call such an array.  is_integer: a function that returns True for an
    array of integers.  device: a function that returns the device of an array, or None.
    """

    kind: Any
    noun: str
    is_integer: Callable[[Any], bool]
    device: Callable[[Any], Any]

    def check(self, name: str, x: Any, meaning: str) -> Any:
        """Return the type of the elements of `x` after a check that `x` is an array of integers.

        Raises:
            TypeError: `x` is no such array.
        """
        if not isinstance(x, self.kind):
            raise wrong_type(name, f"{self.noun} with {meaning}", x)
        if not self.is_integer(x):
            raise TypeError(f"{name} has elements of {x.dtype}; give integers")
        return x.dtype


def keywords(named: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    """Return the keywords of a call after a check of their names.

    Raises:
        TypeError: there is no such keyword.
    """
    for name in named:
        if name not in names:
            raise TypeError(f"{name}: no such argument; give {', '.join(names)}")
    return named


def present(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a call that are not None, in the order of `NAMES`.

    Raises:
        TypeError: there is no such keyword.
    """
    named = keywords(numbers, NAMES)
    return {name: named[name] for name in NAMES if named.get(name) is not None}


def check(numbers: Mapping[str, Any], x: Any, dim: int, arrays: Arrays, name: str) -> None:
    """Check the numbers that a call has; `x` is the input, which messages call `name`.

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
