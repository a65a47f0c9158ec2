"""Gathering items of pyopencl arrays by index: build once, gather many times.

>>> gather = Gatherer(queue.context)
>>> gather(queue, order, records, out)         # out[i] = records[order[i]]; returns the event
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import RLock
from typing import Any

from hsgen.opencl.runner import Runner, host_of
from hsgen.operations.gather import unit
from hsgen.runners.base import alone
from hsgen.runners.gather import GatherCalls, item_bytes_of, same_items, size_of_item


def item_size(array: Any, name: str, item_bytes: int | None = None) -> int:
    """Return the number of bytes in an item: `item_bytes`, or if that is None, the size of array[0].

    Raises:
        ValueError: the array is not in C order; or `item_bytes` is None for a buffer, which has no element type.
    """
    if not hasattr(array, "base_data"):
        if item_bytes is None:
            raise ValueError(f"{name} is a buffer; give item_bytes, the size of its items")
        return item_bytes
    flat = bool(array.flags.c_contiguous)
    return size_of_item(array.dtype.itemsize, array.shape, name, contiguous=flat, item_bytes=item_bytes)


class _Values(Runner):
    """A gather whose kernel moves each item in units of 4, 8 or 16 bytes."""

    _calls: GatherCalls

    def __init__(self, context: Any, value: str, target: str | os.PathLike[str] | None) -> None:
        """Compile the kernel that moves units of 4, 8 or 16 bytes; `value` is "v4", "v8" or "v16"."""
        super().__init__(context, target, GatherCalls(value))

    @alone
    def run(self, queue: Any, index: Any, source: Any, out: Any, size: int, n: Any, wait_for: Any) -> Any:
        """Enqueue the gather of items of `size` bytes; return the event of its end."""
        return self._run(queue, (index, source, out), self._calls.integers(n, size), wait_for)


class Gatherer:
    """Gathers of items by index for a context of one device; see docs/guides/columns.md.

    The size of an item is a multiple of 4 bytes.  There are three kernels, which move 16, 8 and 4 bytes at a time.
    Each kernel is compiled at its first use.

    Args:
        context, target: as in `hsgen.opencl.Sorter`.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
    """

    def __init__(self, context: Any, *, target: str | os.PathLike[str] | None = None) -> None:
        self._host = host_of(context)
        self._context, self._target = context, target
        self._by_value: dict[str, _Values] = {}
        self._lock = RLock()

    def __repr__(self) -> str:
        """The operation and the device as text."""
        return f"<{type(self).__name__}: gather, device={self._host.label!r}>"

    def __call__(
        self,
        queue: Any,
        index: Any,
        source: Any,
        out: Any,
        *,
        item_bytes: int | None = None,
        n: int | None = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue out[i] = source[index[i]] for the first `n` indices (by default all); return the event of its end.

        `index` has elements of uint32 or int32.  An item is array[i]: an element, which may have a structured type, or
        a slice of an array with more dimensions.  `item_bytes` sets another size of an item; buffers require it.  If
        index[i] is not below the number of items in `source`, out[i] is not written.

        Raises:
            TypeError: an argument is neither a pyopencl array nor a buffer.
            ValueError: items have different sizes, an array is not in C order, `out` is too small or overlaps another
                argument, or the queue is of another context.
            hsgen.core.errors.Usage: the size of items is not a multiple of 4 bytes; there are 2^31 values or more in
                `source` or `out`; there is no such target.
            hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
            hsgen.core.errors.Wrong: the kernel does not build.
        """
        bytes_named = item_bytes_of(item_bytes)
        size = same_items(item_size(source, "source", bytes_named), item_size(out, "out", bytes_named))
        return self._of(unit(size)).run(queue, index, source, out, size, n, wait_for)

    def _of(self, value: str) -> _Values:
        """Return the gather in units `value` ("v4", "v8" or "v16"); compile it at its first use."""
        with self._lock:
            if value not in self._by_value:
                self._by_value[value] = _Values(self._context, value, self._target)
            return self._by_value[value]
