"""Sorting pyopencl arrays and buffers: build once, sort as often as wanted.

>>> sorter = Sorter(queue.context, "u32")      # picks the target that matches the device
>>> sorter(queue, keys)                        # in place; returns the event
>>> sorter(queue, keys, out=sorted_keys)       # into another array
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from hsgen import target as targets
from hsgen import toolchain
from hsgen.backends import hosts
from hsgen.backends.opencl import Compiled
from hsgen.errors import Unavailable, Usage
from hsgen.spec import KEYS, Sort
from hsgen.target import Target


class Sorter:
    """A sort of one key type, compiled for a context of one device.

    A sort that needs scratch memory allocates it when it is first called, and keeps as much as the greatest n so far
    needed; `scratch_bytes` tells how much that is.  Calls of one sorter then wait for each other on the device, also
    on different queues.

    Args:
        context: a `pyopencl.Context`; its first device decides the target.
        key: "u32", "u64", or the numpy type of such keys.
        target: the name of a target or a path ending in .toml; None picks the one that matches.

    Raises:
        hsgen.errors.Usage: there is no such target or key type.
        hsgen.errors.Unavailable: the device lacks what the target needs.
        hsgen.errors.Wrong: the kernels do not build.
    """

    _noun, _verb, _done, _items = "sort", "sort", "sorted", "keys"  # as messages have it

    def __init__(self, context: Any, key: Any = "u32", target: str | None = None) -> None:
        name, host = key_name(key), host_of(context)
        found = target_of(host, target)
        self._make(context, host, found, found.default(name))

    def _make(self, context: Any, host: hosts.Host, found: Target, sort: Sort) -> None:
        """Compile a sort of the target `found` for the context."""
        if lacking := hosts.lacks(sort, host):
            raise Unavailable(f"{host.label} {lacking}")
        self._context = context
        self.target = found.name
        self.dtype = np.dtype(f"u{sort.key.bytes}")
        self.max_n = sort.plan.max_n
        self._compiled = Compiled(context, sort)

    def __call__(
        self, queue: Any, keys: Any, out: Any = None, *, n: int | None = None, wait_for: Sequence[Any] | None = None
    ) -> Any:
        """Enqueue a sort of the first `n` keys (all by default), ascending; return the event of its end.

        `keys` and `out` are `pyopencl.array.Array` objects of this key type or `pyopencl.Buffer` objects; without
        `out` the keys are sorted in place, otherwise they are only read.  Nothing at or beyond n is written.

        Raises:
            TypeError: keys or out is neither a pyopencl array nor a buffer, or n no whole number.
            ValueError: a wrong element type, a strided array, fewer than n keys, buffers that overlap, or a queue of
                another context.
            hsgen.errors.Usage: n is beyond `max_n`.
        """
        if queue.context != self._context:
            raise ValueError(f"the queue belongs to another context than the one that this {self._noun} was built for")
        source, room = self._memory(keys, "keys")
        destination, out_room = (source, room) if out is None else self._memory(out, "out")
        if out is not None and _span(keys) == _span(out):
            destination = source  # the same memory, if by another object: in place
        count = room if n is None else operator.index(n)
        for name, have in (("keys", room), ("out", out_room)):
            if count > have:
                raise ValueError(f"{name} holds {have} {self._items}, {count} are to be {self._done}")
        if out is not None and _overlap(keys, out):
            raise ValueError(f"keys and out overlap; leave out away to {self._verb} in place")
        events = [*(wait_for or []), *getattr(keys, "events", []), *getattr(out, "events", [])]
        event = self._compiled.run(queue, {"source": source, "destination": destination}, count, events or None)
        changed = keys if out is None else out
        if hasattr(changed, "add_event"):
            changed.add_event(event)
        return event

    def scratch_bytes(self, n: int) -> int:
        """Return the bytes of scratch memory that a sort of `n` keys needs."""
        return self._compiled.sort.plan.scratch.bytes(n)

    def _memory(self, given: Any, name: str) -> tuple[Any, int]:
        """The memory object of an array or buffer, and how many keys it holds."""
        if not hasattr(given, "base_data"):
            if not isinstance(given, toolchain.pyopencl().MemoryObjectHolder):
                raise TypeError(f"{name} is a {type(given).__name__}; give a pyopencl array or buffer")
            return given, given.size // self.dtype.itemsize
        if given.dtype != self.dtype:
            raise ValueError(f"{name} has elements of {given.dtype}, this sort takes {self.dtype}")
        if not given.flags.forc:
            raise ValueError(f"{name} is strided; give a contiguous array")
        if given.offset == 0:
            return given.base_data, given.size
        align = given.queue.device.mem_base_addr_align // 8 if given.queue is not None else 1
        if given.offset % align:
            raise ValueError(
                f"{name} begins {given.offset} bytes into its buffer; the device wants multiples of {align}"
            )
        return given.base_data.get_sub_region(given.offset, max(given.nbytes, 1)), given.size


def _span(x: Any) -> tuple[Any, int, int]:
    """The memory object of an array or buffer, and which of its bytes it is."""
    return getattr(x, "base_data", x), getattr(x, "offset", 0), getattr(x, "nbytes", None) or x.size


def _overlap(a: Any, b: Any) -> bool:
    """Whether two arrays or buffers share memory without being the same."""
    (left, at, size), (right, to, length) = _span(a), _span(b)
    return bool(left == right) and at < to + length and to < at + size and (at, size) != (to, length)


def host_of(context: Any) -> hosts.Host:
    """Return the first device of a context.

    Raises:
        Unavailable: it is a part of a device.
    """
    host = next((h for h in hosts.hosts() if h.handle == context.devices[0]), None)
    if host is None:
        raise Unavailable(
            f"{context.devices[0].name.strip()}: is no whole device of a platform; give its parent's context"
        )
    return host


def target_of(host: hosts.Host, name: str | None) -> Target:
    """Return the target called `name`, or the one that matches the device.

    Raises:
        Usage: there is no such target.
    """
    return targets.find(name) if name else hosts.target_for(host, [targets.find(n) for n in targets.names()])


def key_name(key: Any) -> str:
    """Return hsgen's name of a key type: of its name, or of a numpy type in this machine's byte order.

    Raises:
        Usage: it is none.
    """
    if isinstance(key, str) and key in KEYS:
        return key
    try:
        dtype = np.dtype(key)
    except TypeError:
        raise Usage(f"key type {key}: unknown; give {' or '.join(KEYS)} or the numpy type") from None
    if key is None or not dtype.isnative:
        raise Usage(f"key type {key}: not a number of this machine; give {' or '.join(KEYS)} or the numpy type")
    return f"{dtype.kind}{dtype.itemsize * 8}"
