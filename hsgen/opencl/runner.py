"""The base of the classes for pyopencl: calls with arrays and buffers of pyopencl."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hsgen.apis.opencl import API
from hsgen.core.errors import OutOfRange, Unavailable, wrong_type
from hsgen.core.interpreter import Options
from hsgen.core.sort import Sort
from hsgen.emit.kernels import render
from hsgen.engines import hosts, isolated_build
from hsgen.engines.compiled import Compiled
from hsgen.opencl.arrays import Memory, memory
from hsgen.runners.base import Base, Given
from hsgen.runners.ranges import in_place
from hsgen.system import toolchain
from hsgen.targets.target import Target

_name = lru_cache(maxsize=64)(str)  # the name of a type; numpy computes it each time


class Runner(Base):
    """An operation compiled for a context of one device, with the scratch memory that its calls share."""

    def __init__(self, context: Any, host: hosts.Host, target: Target, sort: Sort, element: str = "") -> None:
        """Compile a sort of `target`; `element` is the type of its elements, by default unsigned integers."""
        if lacking := hosts.lacks(sort, host):
            raise Unavailable(f"{host.label} {lacking}")
        super().__init__(host.label, target, sort, element)
        self._context = context
        source = isolated_build.once(host, sort, render(sort, API.name))
        self._compiled = Compiled(context, sort, source)

    def _memory(self, array: Any, role: str) -> Memory:
        """Return the memory range of an array or buffer, after checks of its elements."""
        name = self._names.get(role, role)
        if hasattr(array, "base_data"):
            self._check_shape(name, tuple(map(int, array.shape)), rows=bool(array.flags.c_contiguous))
        at = memory(array, name, self._context)
        if at.is_array:
            self._check_elements(role, _name(array.dtype), array.dtype.itemsize)
        return at

    def _run(self, queue: Any, arrays: Given, n: int | None, wait_for: Sequence[Any] | None, options: Options) -> Any:
        """Enqueue a call, after all checks; return the event of its end."""
        return self._checked(queue, arrays, n, wait_for, options)[0]

    def _checked(
        self, queue: Any, arrays: Given, n: int | None, wait_for: Sequence[Any] | None, options: Options
    ) -> tuple[Any, dict[str, Memory], int]:
        """Enqueue a call, after all checks; return the event of its end, the ranges by role, and the count."""
        if not isinstance(queue, toolchain.pyopencl().CommandQueue):
            raise wrong_type("queue", "a pyopencl.CommandQueue", queue)
        if isinstance(wait_for, toolchain.pyopencl().Event):
            raise wrong_type("wait_for", "a list of events", wait_for)
        if queue.context != self._context:
            raise ValueError(f"the queue belongs to another context than this {self._noun}")
        ranges = {role: self._memory(x, role) for role, x in arrays.items() if x is not None or role in self._required}
        count = ranges["source"].size // self._size("source") if n is None else n
        self._check_count(count)
        for role, x in ranges.items():
            self._check_room(role, x, self._length(role, count))
        placed = ranges if self._apart else in_place(ranges, self._verb, discard=options.discard)
        self._check_overlaps(placed, count)
        events = [*(wait_for or []), *(e for x in ranges.values() for e in getattr(x.argument, "events", []))]
        event = self._enqueue(queue, placed, count, events or None, options)
        for role in self._written:
            for x in {id(x[role].argument): x[role].argument for x in (ranges, placed) if role in x}.values():
                if hasattr(x, "add_event"):
                    x.add_event(event)
        return event, placed, count

    def _enqueue(self, queue: Any, placed: dict[str, Memory], n: int, events: Any, options: Options) -> Any:
        """Enqueue a checked call.  Roles of the same range get the same object, which makes the call in place."""
        parts: dict[int, Any] = {}
        for x in placed.values():
            if id(x) not in parts:
                parts[id(x)] = x.part()
        try:
            return self._compiled.run(queue, {r: parts[id(x)] for r, x in placed.items()}, n, events, options)
        except OutOfRange as e:
            raise self._renamed(e) from None
        finally:
            while parts:  # NVIDIA's driver requires sub-buffers to be released in reverse order
                parts.popitem()
