"""The base class of `Sorter`, `Merger` and the other classes of `hsgen.opencl`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hsgen.apis.opencl import API
from hsgen.core.errors import OutOfRange, Unavailable, wrong_type
from hsgen.core.interpreter import Options
from hsgen.emit.kernels import render
from hsgen.engines import builds, hosts, isolated_build
from hsgen.engines.compiled import Compiled
from hsgen.opencl.arrays import Memory, memory
from hsgen.runners import base as runners
from hsgen.system import toolchain


def host_of(context: Any) -> hosts.Host:
    """Return the `Host` of the first device of a context.

    Raises:
        TypeError: the argument is not a context of pyopencl.
        Unavailable: the device is a sub-device.
    """
    if not isinstance(context, toolchain.pyopencl().Context):
        raise wrong_type("context", "a pyopencl.Context", context)
    host = next((h for h in hosts.hosts() if h.handle == context.devices[0]), None)
    if host is None:
        raise Unavailable(
            f"{context.devices[0].name.strip()}: is a part of a device; give a context of the whole device"
        )
    return host


_name = lru_cache(maxsize=64)(str)  # the name of an element type; cached, because numpy computes it each time


class Runner(runners.Runner):
    """The base class of an operation, such as a sort, that is compiled for a context of one device; all its calls share
    scratch memory.
    """

    def __init__(self, context: Any, target: str | os.PathLike[str] | None, calls: runners.Calls) -> None:
        """Compile the kernels for the operation that `calls` states.

        target: the name of a target or a path ending in .toml; None for the target that matches the device.
        """
        host = host_of(context)
        super().__init__(host, target, calls)
        self._context = context
        source = isolated_build.once(host, self._sort, builds.chosen(render(self._sort, API.name)))
        self._compiled = Compiled(context, self._sort, source)

    def _memory(self, array: Any, role: str) -> Memory:
        """Check the shape and the element type of an array; return the memory range of the array or buffer."""
        if hasattr(array, "base_data"):
            self._calls.check_shape(role, tuple(map(int, array.shape)), rows=bool(array.flags.c_contiguous))
        at = memory(array, self._calls.names[role], self._context)
        if at.is_array:
            self._calls.check_elements(role, _name(array.dtype), array.dtype.itemsize)
        return at

    def _run(self, queue: Any, arrays: Sequence[Any], numbers: runners.Numbers, wait_for: Any) -> Any:
        """Enqueue a call, after all checks; return the event of its end.

        arrays: the arrays of a call in the order of `Calls.roles`; None for absent arrays.
        """
        return self._checked(queue, arrays, numbers, wait_for)[0]

    def _checked(
        self, queue: Any, arrays: Sequence[Any], numbers: runners.Numbers, wait_for: Sequence[Any] | None
    ) -> tuple[Any, dict[str, Memory], int, Options]:
        """Check a call and enqueue it; return the event of its end, the memory ranges by role, the count and the
        options.
        """
        calls = self._calls
        if not isinstance(queue, toolchain.pyopencl().CommandQueue):
            raise wrong_type("queue", "a pyopencl.CommandQueue", queue)
        if isinstance(wait_for, toolchain.pyopencl().Event):
            raise wrong_type("wait_for", "a list of events", wait_for)
        if queue.context != self._context:
            raise ValueError(f"the queue belongs to another context than this {calls.noun}")
        present = {role: x for role, x in zip(calls.roles, arrays, strict=True) if x is not None}
        for role in calls.required:
            if role not in present:
                raise wrong_type(calls.names[role], "a pyopencl array or buffer", None)
        calls.check_given(present)
        ranges = {role: self._memory(x, role) for role, x in present.items()}
        count, options, placed = calls.checked(ranges, numbers)
        events = [*(wait_for or []), *(e for x in ranges.values() for e in getattr(x.argument, "events", []))]
        event = self._enqueue(queue, placed, count, events or None, options)
        for role in calls.written:
            for x in {id(x[role].argument): x[role].argument for x in (ranges, placed) if role in x}.values():
                if hasattr(x, "add_event"):
                    x.add_event(event)
        return event, placed, count, options

    def _enqueue(self, queue: Any, placed: dict[str, Memory], n: int, events: Any, options: Options) -> Any:
        """Enqueue a checked call; return the event of its end.

        If the source and the destination have the same range, both get the same memory object.  The call is in place.
        """
        parts: dict[int, Any] = {}
        for x in placed.values():
            if id(x) not in parts:
                parts[id(x)] = x.part()
        try:
            return self._compiled.run(queue, {r: parts[id(x)] for r, x in placed.items()}, n, events, options)
        except OutOfRange as e:
            raise self._calls.renamed(e, options) from None
        finally:
            while parts:  # NVIDIA's driver requires sub-buffers to be released in reverse order
                parts.popitem()
