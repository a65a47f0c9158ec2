"""The base of the Python API's classes: calls on arrays and buffers of pyopencl."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from hsgen.apis.opencl import API
from hsgen.core.errors import Unavailable
from hsgen.core.interpreter import Options, scratch_bytes
from hsgen.core.keys import TYPES
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import hosts, isolated_build
from hsgen.engines.pyopencl import Compiled
from hsgen.opencl.arguments import key_name, order_name, value_name, wrong
from hsgen.opencl.arrays import Memory, memory, overlapping
from hsgen.stages.attach import report_length
from hsgen.system import toolchain
from hsgen.targets.target import Target

_NAMES = {"source": "keys", "destination": "out"}  # argument names of roles; other roles have their own name
_VALUES = ("values", "values_out", "other_values")
_WRITTEN = ("destination", "values_out", "report")

Given = dict[str, Any]
"""Arrays and buffers of a call by their roles; None: not given."""


P = ParamSpec("P")
R = TypeVar("R")
Self = TypeVar("Self", bound="Runner")


def alone(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R]:
    """Let one thread at a time run a method of a runner, since kernel objects hold the arguments of the call."""

    @wraps(method)
    def call(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return method(self, *args, **kwargs)

    return call


class Runner:
    """An operation compiled for a context of one device, with the scratch memory that its calls share.

    Calls from several threads are enqueued one after the other.
    """

    _noun, _verb, _done, _items = "sort", "sort", "sorted", "keys"  # for messages
    _names: Mapping[str, str] = _NAMES
    _apart = False  # whether no call is in place
    _required: tuple[str, ...] = ("source",)  # roles that every call needs
    _operation = "sort"
    _attributes: tuple[str, ...] = ("key", "value", "order")  # for `__repr__`
    _rows_hint = ""  # for messages about tables

    def __init__(self, context: Any, host: hosts.Host, found: Target, sort: Sort, dtype: Any = None) -> None:
        """Compile a sort of the target `found`; `dtype` is the type of its elements, by default unsigned integers."""
        if lacking := hosts.lacks(sort, host):
            raise Unavailable(f"{host.label} {lacking}")
        self._context, self._device = context, host.label
        self.target = found.name
        self.dtype = np.dtype(dtype or f"u{sort.key.bytes}")
        self.max_n = sort.plan.max_n
        self._sort = sort
        source = isolated_build.once(host, sort, render(sort, API.name))
        self._compiled = Compiled(context, sort, source)
        self._lock = RLock()

    def __repr__(self) -> str:
        """Operation, attributes, target and device."""
        named = ", ".join(f"{name}={getattr(self, name)!r}" for name in (*self._attributes, "target"))
        return f"<{type(self).__name__}: {self._operation}, {named}, device={self._device!r}>"

    def scratch_bytes(self, n: int) -> int:
        """Return the bytes of scratch memory that a call for `n` items needs."""
        return scratch_bytes(self._sort, n)

    def _name_keys(self, key: Any, value: Any, order: str) -> Options:
        """Store the names of key type, value and order; return the options of every call that follow from them."""
        self.key, self.value, self.order = key_name(key), value_name(value), order_name(order)
        return Options(kind=TYPES[self.key].kind, descending=order == "descending")

    def _size(self, role: str) -> int:
        """The bytes of one item in the buffer of a role."""
        if role in ("source", "destination"):
            return self._sort.item_bytes
        return 4 if role in ("count", "report") else self._sort.signature.value_bytes

    def _length(self, role: str, n: int) -> int:
        """The items that a call for `n` uses of the buffer of a role."""
        return report_length(self._sort, n) if role == "report" else 1 if role == "count" else n

    def _elements(self, role: str) -> np.dtype[Any] | None:
        """The type that elements of an array must have; None: any of the right size."""
        if role in ("source", "destination"):
            return self.dtype
        if role in ("count", "report"):
            return np.dtype(np.uint32)
        return np.dtype(f"u{self._sort.signature.value_bytes}") if self._sort.signature.index else None

    def _memory(self, given: Any, role: str) -> Memory:
        """The memory range of an array or buffer, after checks of its elements."""
        name = self._names.get(role, role)
        if hasattr(given, "base_data"):
            self._check_shape(name, given)
        at = memory(given, name, self._context)
        if at.is_array:
            wanted, have = self._elements(role), given.dtype
            if wanted is not None and have != wanted:
                raise ValueError(f"{name} has elements of {have}, this {self._noun} takes {wanted}")
            if wanted is None and have.itemsize != self._size(role):
                raise ValueError(
                    f"{name} has elements of {have.itemsize} bytes, this {self._noun} takes {self._size(role)}"
                )
        return at

    def _check_shape(self, name: str, given: Any) -> None:
        """Refuse arrays of more than one dimension: their sort order is not defined."""
        if len(given.shape) > 1:
            hint = self._rows_hint.format(rows=given.size // max(given.shape[-1], 1))
            raise ValueError(f"{name} has the shape {given.shape}; give one dimension, as {name}.ravel() has{hint}")

    def _run(self, queue: Any, given: Given, n: int | None, wait_for: Sequence[Any] | None, how: Options) -> Any:
        """Enqueue a call, after all checks; return the event of its end."""
        if not isinstance(queue, toolchain.pyopencl().CommandQueue):
            raise wrong("queue", "a pyopencl.CommandQueue", queue)
        if isinstance(wait_for, toolchain.pyopencl().Event):
            raise wrong("wait_for", "a list of events", wait_for)
        if queue.context != self._context:
            raise ValueError(f"the queue belongs to another context than this {self._noun}")
        held = {role: self._memory(x, role) for role, x in given.items() if x is not None or role in self._required}
        count = held["source"].size // self._size("source") if n is None else operator.index(n)
        for role, x in held.items():
            self._check_room(role, x, self._length(role, count))
        placed = held if self._apart else _in_place(held, self._verb, discard=how.discard)
        self._check_overlaps(placed, count)
        events = [*(wait_for or []), *(e for x in held.values() for e in getattr(x.given, "events", []))]
        event = self._enqueue(queue, placed, count, events or None, how)
        for role in _WRITTEN:
            for x in {id(x[role].given): x[role].given for x in (held, placed) if role in x}.values():
                if hasattr(x, "add_event"):
                    x.add_event(event)
        return event

    def _enqueue(self, queue: Any, placed: dict[str, Memory], n: int, events: Any, how: Options) -> Any:
        """Enqueue a checked call.  Roles of the same range get the same object, which makes the call in place."""
        parts: dict[int, Any] = {}
        for x in placed.values():
            if id(x) not in parts:
                parts[id(x)] = x.part()
        try:
            return self._compiled.run(queue, {r: parts[id(x)] for r, x in placed.items()}, n, events, how)
        finally:
            while parts:  # NVIDIA's driver requires sub-buffers to be released in reverse order
                parts.popitem()

    def _check_room(self, role: str, x: Memory, need: int) -> None:
        if need * (size := self._size(role)) > x.size:
            words = {"count": "counts", "report": "words", **dict.fromkeys(_VALUES, "values")}
            what, does = words.get(role, self._items), f"to be {self._done}"
            does = "needed" if role in ("count", "report") else does
            raise ValueError(f"{self._names.get(role, role)} holds {x.size // size} {what}, {need} are {does}")

    def _check_overlaps(self, placed: dict[str, Memory], n: int) -> None:
        used: dict[int, tuple[str, Memory, int, bool]] = {}
        for role, x in placed.items():
            name = used.get(id(x), (self._names.get(role, role),))[0]
            size = self._size(role) * self._length(role, n)
            used[id(x)] = name, x, size if n > 0 or role == "report" else 0, role in _WRITTEN
        if both := overlapping(used.values()):
            hint = f"; omit out to {self._verb} in place" if both == ("keys", "out") else ""
            raise ValueError(f"{both[0]} and {both[1]} overlap{hint}")


def _in_place(held: dict[str, Memory], verb: str, *, discard: bool) -> dict[str, Memory]:
    """Return the ranges by role; in place, an output has the range of its input.

    Raises:
        ValueError: only one of keys and values is sorted in place.
    """
    pairs = [("source", "destination")] * (not discard) + [("values", "values_out")] * ("values" in held)
    same = {to not in held or held[to].begins_with(held[from_]) for from_, to in pairs}
    if len(same) > 1:
        raise ValueError(f"one of out and values_out is given; give both, or neither to {verb} in place")
    return {**held, **{to: held[from_] for from_, to in pairs}} if same == {True} else held
