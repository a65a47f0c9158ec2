"""The base classes `Runner` and `Calls` of the classes in `hsgen.cuda` and `hsgen.opencl`.

A `Runner` is an object that users create and call, such as a sorter.  Its `Calls` object checks the arguments of each
call.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from functools import wraps
from math import prod
from threading import RLock
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

import numpy as np

from hsgen.algorithms import implicit_for
from hsgen.core.errors import OutOfRange, Unavailable
from hsgen.core.interpreter import Options, scratch_bytes
from hsgen.core.keys import BFLOAT16, TYPES, Signature
from hsgen.core.numbers import MOST, integer
from hsgen.core.sort import Sort
from hsgen.engines import hosts
from hsgen.operations import settled
from hsgen.operations.arguments import N
from hsgen.operations.base import Operation
from hsgen.runners.arguments import key_name, order_name, serving, value_name
from hsgen.runners.ranges import AnyRange, Range, in_place, overlapping
from hsgen.targets.target import Target

_NOUNS = {"count": "counts", "report": "words"}  # the nouns for items of arrays with these roles, in messages

Numbers = tuple[Any, ...]
"""The arguments of a call that are numbers, such as n, all as Python integers, so that caches can compare two calls."""

P = ParamSpec("P")
R = TypeVar("R")
Self = TypeVar("Self", bound="Runner")


def alone(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Decorate a method of a runner so that only one thread at a time runs it.

    The lock is needed because all calls of a runner use the same scratch memory.
    """

    @wraps(method)
    def call(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **kwargs)

    return call


class Calls:
    """Checks the arguments of calls: the arrays and numbers that users pass to an operation on keys of one type, such
    as a sort.

    Each array has a role, a name in `hsgen.core.plan.ROLES`, such as "source" or "values_out".  `Operation.arguments`
    states the names, element types and lengths of arrays by role.  A subclass adds rules that `Operation.arguments`
    does not state.
    """

    operation: Operation
    noun, verb, done = "", "work", "processed"  # the words for the operation in messages; "": `Operation.noun`
    holder = ""  # the noun for the runner in messages about values; "": `noun`
    sources: tuple[str, ...] = ("source",)  # roles of the arrays whose items together are the n items of a call
    attributes: tuple[str, ...] = ("key", "value", "order")  # the attributes that `Runner.__repr__` shows
    hint: ClassVar[str] = ""  # the end of messages about arrays with several dimensions
    wraps: ClassVar[bool] = False  # whether results for signed and unsigned keys have the same bits
    signs = False
    """Whether arrays other than keys may have signed types, because old array libraries have no unsigned types."""
    sort: Sort
    dtype: np.dtype[Any]
    max_n: int

    def __init__(self, key: Any, value: Any, order: Any, **features: Any) -> None:
        """Store the names of the key type, the kind of values and the order.

        features: further fields of `Signature`, such as `bit_range`, which calls may use.
        """
        self.key, self.value, self.order = key_name(key), value_name(value), order_name(order)
        self.options = Options(kind=TYPES[self.key].kind, descending=order == "descending")
        transform = self.options.kind > 0 or self.options.descending
        enabled: dict[str, Any] = {name: on if isinstance(on, str) else bool(on) for name, on in features.items()}
        self.signature = self.operation.signature(Signature(value=self.value, key_transform=transform, **enabled))
        self._read_table()

    def _read_table(self) -> None:
        """Store in attributes what `Operation.arguments` states about arrays and numbers."""
        table = self.operation.arguments
        self.buffers = {b.role: b for b in table.passed}
        self.roles = tuple(self.buffers)
        """The roles of a call's arrays, in the order of `Operation.arguments`."""
        self._values = {role: b for role, b in self.buffers.items() if b.element == "value"}
        self.names = {role: b.in_python for role, b in self.buffers.items()}
        self.required = tuple(role for role, b in self.buffers.items() if b.required)
        self.written = tuple(role for role, b in self.buffers.items() if b.written)
        self.in_place = table.in_place
        self._fields = {m.python or m.field: m.field for m in table.numbers if m.field}
        self._arguments = {field: name for name, field in self._fields.items()}
        self.noun = self.noun or self.operation.noun
        self.items = self.operation.items

    def select(self, host: hosts.Host, name: Any) -> tuple[Target, Sort]:
        """Return the target `name`, and its sort that serves these calls; without a name, the target is the one that
        matches the device.

        Raises:
            Usage: there is no such target, or no such sort.
        """
        label = "" if self.operation.by_count else implicit_for(self.operation)
        return serving(host, name, self.key, self.signature, label)

    def use(self, sort: Sort) -> None:
        """Store the sort that serves the calls, and what follows from it: the greatest count, and the element types and
        sizes of arrays.
        """
        self.sort, self.max_n = sort, sort.plan.max_n
        self.element = f"uint{sort.key.bits}" if sort.signature.value == "packed" else TYPES[self.key].element
        self.dtype = np.dtype(f"u{sort.key.bytes}" if self.element == BFLOAT16 else self.element)
        sizes = {"key": sort.item_bytes, "value": sort.signature.value_bytes, "word": 4}
        self._sizes = {role: sizes[b.element] for role, b in self.buffers.items()}
        self._types = {role: self._accepted(role, self.element_of(role)) for role in self.roles}

    def count(self, n: Any) -> int | None:
        """Return the argument `n` of a call, the count, as an integer; None if the lengths of the arrays determine the
        count.
        """
        return None if n is None else integer("n", n, 0, self.max_n)

    def bits(self, begin: Any, end: Any) -> tuple[int, int | None]:
        """Return the arguments `begin_bit` and `end_bit` of a call as integers; `end` None means the end of the key."""
        bits = self.sort.plan.bits
        if end is None:
            return integer("begin_bit", begin, 0, bits), None
        end = integer("end_bit", end, 0, bits)
        return integer("begin_bit", begin, 0, end), end

    def numbers(self, n: Any, **numbers: Any) -> Numbers:
        """Return n, and a pair (field of `Options`, number) for each further number of a call.

        numbers: the numbers, by the names of the caller's arguments.

        Raises:
            TypeError: the operation has no such number.
        """
        try:
            return self.count(n), tuple((self._fields[x], integer(x, v, 0, MOST)) for x, v in numbers.items())
        except KeyError as e:
            raise TypeError(f"{e.args[0]}: {self.operation.name} has no such argument") from None

    def settle(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options]:
        """Check the numbers of a call; return the count and the `Options` of a call with these arrays and numbers.

        ranges: the memory ranges of the arrays, by role.
        numbers: a result of `numbers`, or of `integers` of a subclass.
        """
        n, fields = numbers
        return self.length_of(ranges, n), replace(self.options, **dict(fields))

    def length_of(self, ranges: Mapping[str, Range], n: int | None) -> int:
        """Return the count of a call: `n`, or the number of items in the source if `n` is None."""
        return ranges["source"].size // self.size("source") if n is None else n

    def checked(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options, dict[str, AnyRange]]:
        """Check the sizes and overlaps of a call's arrays; return the count, the `Options`, and the memory ranges by
        role.

        If the call is in place, the ranges of outputs are those of the inputs that they replace.
        """
        n, options = self.settle(ranges, numbers)
        if n > self.max_n:
            names = [self.names[role] for role in self.sources]
            hold = "holds" if len(names) == 1 else "hold"
            raise OutOfRange(f"{' and '.join(names)} {hold} {n}", self.items, f"give at most {self.max_n}")
        for role, x in ranges.items():
            self._check_room(role, x, self.length(role, n, options), options)
        placed = in_place(ranges, self.verb, discard=options.discard) if self.in_place else ranges
        self._check_overlaps(placed, n, options)
        return n, options, placed

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Check the options of a call for `n` items; return them, with the fields that follow from the call's arrays.

        roles: the roles of the call's arrays.  An error message names the argument that the caller passed.
        """
        try:
            return settled(self.sort, n, options, roles)
        except OutOfRange as e:
            raise self.renamed(e, options) from None

    def renamed(self, e: OutOfRange, options: Options) -> OutOfRange:
        """Return an error like `e` whose message names the caller's argument, not the field of `Options`."""
        return e.renamed(self._arguments.get(e.argument, e.argument))

    def size(self, role: str) -> int:
        """Return the size in bytes of an item of the array that has the role."""
        return self._sizes[role]

    def length(self, role: str, n: int, options: Options) -> int:
        """Return the number of items that a call uses in the array that has the role; n is the count of the call."""
        length = self.buffers[role].length
        return n if length is N else length.of(n, options.number, options.take)

    def element_of(self, role: str) -> str:
        """Return the element type that the array with the role must have; "" allows any type of the right size."""
        element = self.buffers[role].element
        if element == "value":
            return f"uint{8 * self.sort.signature.value_bytes}" if self.sort.signature.index else ""
        return "uint32" if element == "word" else self.element

    def check_given(self, present: Container[str]) -> None:
        """Raise a ValueError if the call has an unexpected array of values, or lacks one.

        present: the roles of the call's arrays.
        """
        size, index = self.sort.signature.value_bytes, self.sort.signature.index
        for role, buffer in self._values.items():
            takes = size > 0 and not (index and role == "values")
            if role in present and not takes:
                noun = self.holder or self.noun
                raise ValueError(f"{buffer.in_python} is given, but this {noun} has none; give value= when it is made")
            if role not in present and takes:
                raise ValueError(f"{buffer.in_python} is missing: this {self.holder or self.noun} {self.values()}")

    def values(self) -> str:
        """Return the words by which an error message describes the values."""
        return f"has {self.sort.signature.value_bytes} bytes a key"

    def check_elements(self, role: str, have: str, size: int) -> None:
        """Check the type `have` of an array's elements, and their size in bytes."""
        accepted = self._types[role]
        if not accepted and size != self.size(role):
            raise ValueError(
                f"{self.names[role]} has elements of {size} bytes, this {self.noun} takes {self.size(role)}"
            )
        if accepted and have not in accepted:
            types = " or ".join(accepted)
            raise ValueError(f"{self.names[role]} has elements of {have}, this {self.noun} takes {types}")

    def _accepted(self, role: str, element: str) -> tuple[str, ...]:
        """Return the element types that the array with the role may have, or () for any type.

        element: a result of `element_of`.  For 32-bit numbers and for indices, the signed type of the same size is
        accepted, too.
        """
        if not element:
            return ()
        kind, signature = self.buffers[role].element, self.sort.signature
        signed = kind == "word" or (role == "values_out" and signature.index)
        if signed or (self.signs and (kind != "key" or self.wraps or signature.value == "packed")):
            return tuple(dict.fromkeys((element, element.removeprefix("u"))))
        return (element, str(self.dtype)) if element == BFLOAT16 else (element,)

    def check_shape(self, role: str, shape: tuple[int, ...], *, rows: bool) -> None:
        """Check that an array has at most one dimension, because the order of elements would be unclear with more
        dimensions.

        rows: whether the array is in C order.
        """
        if len(shape) > 1:
            name, hint = self.names[role], self.hint.format(rows=prod(shape) // max(shape[-1], 1))
            raise ValueError(f"{name} has the shape {shape}; give one dimension, as {name}.ravel() has{hint}")

    def purpose(self, role: str, options: Options) -> str:
        """Return the words by which an error message states the purpose of the array's items, such as "to be
        sorted".
        """
        return "needed" if self.buffers[role].element == "word" else f"to be {self.done}"

    def _check_room(self, role: str, x: Range, need: int, options: Options) -> None:
        """Check that an array has at least `need` items."""
        if need * (size := self.size(role)) > x.size:
            kind = self.buffers[role].element
            noun = _NOUNS.get(role, {"word": "numbers", "value": "values", "key": self.items}[kind])
            are = "is" if need == 1 else "are"
            have = f"{self.names[role]} holds {x.size // size} {noun}"
            raise ValueError(f"{have}, {need} {are} {self.purpose(role, options)}")

    def uses(
        self, placed: Mapping[str, AnyRange], n: int, options: Options
    ) -> Iterable[tuple[str, AnyRange, int, bool]]:
        """Return (role, range, bytes used, written) for each distinct array of a call.

        An array with several roles is listed once, under its first role.  `bytes used` is the greatest number of bytes
        that one of the roles uses.  `written` is True if the call writes the array in one of the roles.
        """
        used: dict[int, tuple[str, AnyRange, int, bool]] = {}
        for role, x in placed.items():
            first, _, most, before = used.get(id(x), (role, x, 0, False))
            size = self.size(role) * self.length(role, n, options) if n > 0 or role == "report" else 0
            used[id(x)] = first, x, max(size, most), role in self.written or before
        return used.values()

    def _check_overlaps(self, placed: Mapping[str, Range], n: int, options: Options) -> None:
        """Check that no output of a call overlaps another array."""
        used = self.uses(placed, n, options)
        if both := overlapping((self.names[role], x, size, written) for role, x, size, written in used):
            hint = f"; omit out to {self.verb} in place" if both == ("keys", "out") else ""
            raise ValueError(f"{both[0]} and {both[1]} overlap{hint}")


class Runner:
    """The base class of an operation on keys of one type on a device, such as a sorter or a merger."""

    def __init__(self, host: hosts.Host, target: Any, calls: Calls) -> None:
        """Select the sort that serves `calls`.

        target: the name of a target or the path of its file; None selects the target that matches the device.

        Raises:
            Usage: there is no such target, or no such sort.
            Unavailable: the device lacks a requirement of the sort.
        """
        selected, sort = calls.select(host, target)
        if lacking := hosts.lacks(sort, host):
            raise Unavailable(f"{host.label} {lacking}")
        calls.use(sort)
        self.target, self.dtype, self.max_n = selected.name, calls.dtype, calls.max_n
        self._device, self._sort, self._calls, self._lock = host.label, sort, calls, RLock()

    @property
    def key(self) -> str:
        """The name of the key type."""
        return self._calls.key

    @property
    def value(self) -> str:
        """The name of the kind of values."""
        return self._calls.value

    @property
    def order(self) -> str:
        """The name of the order."""
        return self._calls.order

    def __repr__(self) -> str:
        """The operation, the attributes, the target and the device as text."""
        named = ", ".join(f"{name}={getattr(self, name)!r}" for name in (*self._calls.attributes, "target"))
        return f"<{type(self).__name__}: {self._calls.operation.name}, {named}, device={self._device!r}>"

    def scratch_bytes(self, n: int) -> int:
        """Return the size in bytes of the scratch memory that a call for `n` items needs.

        Raises:
            TypeError: n is no integer.
            hsgen.core.errors.OutOfRange: n is negative, or exceeds `max_n`.
        """
        return scratch_bytes(self._sort, integer("n", n, 0, self.max_n))
