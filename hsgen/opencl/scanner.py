"""Prefix sums of pyopencl arrays and buffers: build once, sum many times.

>>> scanner = Scanner(queue.context, "u32", columns=4)   # inclusive sums of each of four columns
>>> scanner(queue, rows)                                 # the sums replace the rows; returns the event
>>> scanner(queue, rows, out=sums)                       # into another array
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hsgen.opencl.runner import Runner
from hsgen.runners.base import alone
from hsgen.runners.scan import ScanCalls


class Scanner(Runner):
    """The prefix sum of every column of a table, compiled for a context of one device.

    Tables are row-major; sums of integers wrap.  Scratch memory is kept between calls, as in a `hsgen.opencl.Sorter`.

    Args:
        context: a `pyopencl.Context`; its first device determines the target.
        key: "u32", "i32", "f32", "u64", "i64", or the numpy type of the elements.
        target: as in `hsgen.opencl.Sorter`.
        columns: the number of elements in a row.
        exclusive: whether a row's sums exclude the row itself.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, element type or prefix sum.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        target: str | os.PathLike[str] | None = None,
        columns: int = 1,
        exclusive: bool = False,
    ) -> None:
        calls = ScanCalls(key, columns, exclusive)
        super().__init__(context, target, calls)
        self.columns, self.exclusive = calls.columns, calls.exclusive

    @alone
    def __call__(
        self, queue: Any, keys: Any, out: Any = None, *, n: int | None = None, wait_for: Sequence[Any] | None = None
    ) -> Any:
        """Enqueue the sums of the first `n` rows of `keys` (all by default); return the event of their end.

        `keys` and `out` are `pyopencl.array.Array` objects of this element type, flat or of shape (rows, columns), or
        `pyopencl.Buffer` objects.  Without `out`, sums replace their rows; with `out`, rows are only read.  Rows from n
        on are not written.

        Raises:
            TypeError: keys or out is neither a pyopencl array nor a buffer, or n is not an integer.
            ValueError: an array has a wrong element type or shape, is not in C order or has fewer than n rows, buffers
                overlap, or the queue is of another context.
            hsgen.core.errors.Usage: n exceeds `max_n`.
        """
        return self._run(queue, (keys, out), (self._calls.count(n),), wait_for)
