"""Merges of two sorted pyopencl arrays: build once, merge many times.

>>> merger = Merger(queue.context, "u32")      # picks the target that matches the device
>>> merger(queue, a, b, out)                   # merge all of `a` and `b` into a third array; return the event
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hsgen.opencl.runner import Runner
from hsgen.runners.base import alone
from hsgen.runners.merge import MergeCalls


class Merger(Runner):
    """A merge of two sorted arrays, compiled for a context of one device; see docs/guides/merge.md.

    A merge needs a few bytes of scratch memory per thousand keys.  The memory is kept between calls, as in a
    `hsgen.opencl.Sorter`.

    Args:
        context, key, order, target: as in `hsgen.opencl.Sorter`.
        value: None for no values; a numpy type or a number of bytes (4, 8 or 16) for values that move with keys.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type, value or order, or no merge that combines them.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(context, target, MergeCalls(key, value, order))

    @alone
    def __call__(
        self,
        queue: Any,
        a: Any,
        b: Any,
        out: Any,
        *,
        a_values: Any = None,
        b_values: Any = None,
        values_out: Any = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue the merge of all keys of `a` and `b` into `out`; return the event of its end.

        `a` and `b` must be sorted in the order of this merger.  All arguments are `pyopencl.array.Array` or
        `pyopencl.Buffer` objects.  Only the first len(a) + len(b) keys of `out` are written.  The merge is stable:
        equal keys of `a` come before equal keys of `b`, and keep their order.  Values move with their keys.

        Raises:
            TypeError: an argument is neither a pyopencl array nor a buffer.
            ValueError: a buffer is missing, unexpected or invalid, or an output overlaps another buffer.
            hsgen.core.errors.Usage: there are more than `max_n` keys.
        """
        return self._run(queue, (a, b, out, a_values, b_values, values_out), (), wait_for)
