"""The base of the Python APIs' classes: names of keys, and the sizes and checks of the arrays of a call."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import wraps
from math import prod
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import Options, scratch_bytes
from hsgen.core.keys import BFLOAT16, TYPES
from hsgen.core.numbers import integer
from hsgen.core.sort import Sort
from hsgen.operations import settled
from hsgen.runners.arguments import key_name, order_name, value_name
from hsgen.runners.ranges import Range, overlapping
from hsgen.stages.attach import report_length
from hsgen.targets.target import Target

_NAMES = {"source": "keys", "destination": "out"}  # argument names of roles; other roles have their own name
_NOUNS = {"count": "counts", "report": "words"}  # for messages
WRITTEN = ("destination", "values_out", "report")
"""The roles that calls of most operations write."""

Given = dict[str, Any]
"""Arrays and buffers of a call by role; None: the caller passed none."""

P = ParamSpec("P")
R = TypeVar("R")
Self = TypeVar("Self", bound="Base")


def alone(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Let one thread at a time run a method of a runner, because the runner stores the arguments of the call."""

    @wraps(method)
    def call(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **kwargs)

    return call


class Base:
    """An operation of a target for keys of one type.  Calls from several threads are enqueued one after another."""

    _noun, _verb, _done, _items = "sort", "sort", "sorted", "keys"  # for messages
    _names: Mapping[str, str] = _NAMES
    _numbers: Mapping[str, str] = {}  # arguments of the numbers of `Options`; other numbers have their own name
    _sources: tuple[str, ...] = ("source",)  # roles whose items determine the count
    _counting: tuple[str, ...] = (
        "count",
        "report",
    )  # roles of counts, offsets and indices
    _apart = False  # whether no call is in place
    _required: tuple[str, ...] = ("source",)  # roles that every call needs
    _keyed: tuple[str, ...] = ("source", "destination")  # roles that hold keys
    _written: tuple[str, ...] = WRITTEN
    _operation = "sort"
    _attributes: tuple[str, ...] = ("key", "value", "order")  # for `__repr__`
    _rows_hint = ""  # for messages about tables
    _how: Options  # the options of every call

    def __init__(self, device: str, target: Target, sort: Sort, element: str = "") -> None:
        """Use a sort of `target`; `element` is the type of its elements, by default unsigned integers."""
        self._device = device
        self.target = target.name
        self._element = element or f"uint{sort.key.bits}"
        self.dtype = np.dtype(f"u{sort.key.bytes}" if element == BFLOAT16 else self._element)
        self.max_n = sort.plan.max_n
        self._sort = sort
        self._lock = RLock()

    def __repr__(self) -> str:
        """Operation, attributes, target and device."""
        named = ", ".join(f"{name}={getattr(self, name)!r}" for name in (*self._attributes, "target"))
        return f"<{type(self).__name__}: {self._operation}, {named}, device={self._device!r}>"

    def scratch_bytes(self, n: int) -> int:
        """Return the bytes of scratch memory that a call for `n` items needs.

        Raises:
            TypeError: n is no integer.
            hsgen.core.errors.OutOfRange: n is negative, or exceeds `max_n`.
        """
        return scratch_bytes(self._sort, integer("n", n, 0, self.max_n))

    def _count(self, n: Any) -> int | None:
        """Return the argument `n` of a call as an integer; None: the arrays determine the count."""
        return None if n is None else integer("n", n, 0, self.max_n)

    def _bits(self, begin: Any, end: Any) -> tuple[int, int | None]:
        """Return the arguments `begin_bit` and `end_bit` of a call as integers; end None is the end of the key."""
        bits = self._sort.plan.bits
        if end is None:
            return integer("begin_bit", begin, 0, bits), None
        end = integer("end_bit", end, 0, bits)
        return integer("begin_bit", begin, 0, end), end

    def _check_count(self, n: int) -> None:
        """Check that arrays have at most `max_n` items."""
        if n > self.max_n:
            names = [self._names.get(role, role) for role in self._sources]
            hold = "holds" if len(names) == 1 else "hold"
            raise OutOfRange(f"{' and '.join(names)} {hold} {n}", self._items, f"give at most {self.max_n}")

    def _settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Return the options of a call for `n` items with these roles, checked and completed."""
        try:
            return settled(self._sort, n, options, roles)
        except OutOfRange as e:
            raise self._renamed(e) from None

    def _renamed(self, e: OutOfRange) -> OutOfRange:
        """Return the error of a number, with the name of the caller's argument."""
        return e.renamed(self._numbers.get(e.argument, e.argument))

    def _name_keys(self, key: Any, value: Any, order: str) -> Options:
        """Store the names of key type, value and order; return the options that these determine for every call."""
        self.key, self.value, self.order = key_name(key), value_name(value), order_name(order)
        self._how = Options(kind=TYPES[self.key].kind, descending=order == "descending")
        return self._how

    def _size(self, role: str) -> int:
        """Return the bytes of one item in the buffer of a role."""
        if role in ("source", "destination"):
            return self._sort.item_bytes
        return 4 if role in ("count", "report") else self._sort.signature.value_bytes

    def _length(self, role: str, n: int) -> int:
        """Return the number of items that a call for `n` items uses in the buffer of a role."""
        return report_length(self._sort, n) if role == "report" else 1 if role == "count" else n

    def _elements(self, role: str) -> str:
        """Return the required element type of an array; "" is any type of the right size."""
        if role in ("source", "destination"):
            return self._element
        if role in ("count", "report"):
            return "uint32"
        return f"uint{8 * self._sort.signature.value_bytes}" if self._sort.signature.index else ""

    def _check_values(self, arrays: Given, takes: Mapping[str, bool], noun: str, has: str) -> None:
        """Check for unexpected and missing values; `takes` is True for each role that calls take."""
        for role, wants in takes.items():
            name = self._names.get(role, role)
            if arrays[role] is not None and not wants:
                raise ValueError(f"{name} is given, but this {noun} has none; give value= when it is made")
            if arrays[role] is None and wants:
                raise ValueError(f"{name} is missing: this {noun} {has}")

    def _check_elements(self, role: str, have: str, size: int) -> None:
        """Check the type of an array's elements, and their size in bytes."""
        name, element = self._names.get(role, role), self._elements(role)
        if not element and size != self._size(role):
            raise ValueError(f"{name} has elements of {size} bytes, this {self._noun} takes {self._size(role)}")
        if element and have not in self._accepted(role, element):
            takes = " or ".join(self._accepted(role, element))
            raise ValueError(f"{name} has elements of {have}, this {self._noun} takes {takes}")

    def _accepted(self, role: str, element: str) -> tuple[str, ...]:
        """Return the names of types that are accepted for an element type.

        Counts and indices may also be signed, because signed numbers have the same bits.
        """
        if role in self._counting or (role == "values_out" and self._sort.signature.index):
            return element, element.removeprefix("u")
        return (element, str(self.dtype)) if element == BFLOAT16 else (element,)

    def _check_shape(self, name: str, shape: tuple[int, ...], *, rows: bool) -> None:
        """Check that an array has one dimension, because the order of others is not defined; rows: it is in C order."""
        if len(shape) > 1:
            hint = self._rows_hint.format(rows=prod(shape) // max(shape[-1], 1))
            raise ValueError(f"{name} has the shape {shape}; give one dimension, as {name}.ravel() has{hint}")

    def _check_room(self, role: str, x: Range, need: int) -> None:
        """Check that an array has at least `need` items."""
        if need * (size := self._size(role)) > x.size:
            default = "numbers" if role in self._counting else "values" if "values" in role else self._items
            noun = _NOUNS.get(role, default)
            purpose = "needed" if role in self._counting else f"to be {self._done}"
            are = "is" if need == 1 else "are"
            raise ValueError(f"{self._names.get(role, role)} holds {x.size // size} {noun}, {need} {are} {purpose}")

    def _check_overlaps(self, placed: Mapping[str, Range], n: int) -> None:
        """Check that no output of a call overlaps another array."""
        used: dict[int, tuple[str, Range, int, bool]] = {}
        for role, x in placed.items():
            name = used.get(id(x), (self._names.get(role, role),))[0]
            size = self._size(role) * self._length(role, n)
            used[id(x)] = name, x, size if n > 0 or role == "report" else 0, role in self._written
        if both := overlapping(used.values()):
            hint = f"; omit out to {self._verb} in place" if both == ("keys", "out") else ""
            raise ValueError(f"{both[0]} and {both[1]} overlap{hint}")
