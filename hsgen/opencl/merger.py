"""Merges of two sorted pyopencl arrays: build once, merge many times.

>>> merger = Merger(queue.context, "u32")      # picks the target that matches the device
>>> merger(queue, a, b, out)                   # all of both into a third array, in order; returns the event
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hsgen.algorithms import implicit_for
from hsgen.core.keys import TYPES, Signature
from hsgen.opencl.arguments import host_of
from hsgen.opencl.runner import Runner
from hsgen.operations.merge import OPERATION
from hsgen.runners.arguments import serving
from hsgen.runners.base import alone
from hsgen.runners.merge import MergeCalls


class Merger(MergeCalls, Runner):
    """A merge of two sorted arrays, compiled for a context of one device; see docs/guides/merge.md.

    Scratch memory, a few bytes for each thousand keys, is kept as in a `hsgen.opencl.sorter.Sorter`.

    Args:
        context, key, order, target: as of `hsgen.opencl.Sorter`.
        value: what moves along with each key: None, a numpy type or a number of bytes (4, 8 or 16).

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
        host, options = host_of(context), self._name_keys(key, value, order)
        self._check_value()
        signature = Signature(value=self.value, key_transform=options.kind > 0 or options.descending)
        served, sort = serving(host, target, self.key, signature, implicit_for(OPERATION))
        super().__init__(context, host, served, sort, TYPES[self.key].element)

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
        """Enqueue the merge of all keys of `a` and all of `b` into `out`; return the event of its end.

        `a` and `b` must be sorted in the order of this merger.  All arguments are `pyopencl.array.Array` or
        `pyopencl.Buffer` objects.  Only the first len(a) + len(b) keys of `out` are written.  The merge is stable:
        equal keys of `a` come before equal keys of `b`, and keep their order.  Values move with their keys.

        Raises:
            TypeError: an argument is neither a pyopencl array nor a buffer.
            ValueError: a buffer is missing, unexpected or invalid, or an output overlaps another buffer.
            hsgen.core.errors.Usage: there are more than `max_n` keys.
        """
        keys = {"source": a, "other": b, "destination": out}
        sizes = {role: self._memory(x, role).size // self._size(role) for role, x in keys.items()}
        self._first_count, n = sizes["source"], sizes["source"] + sizes["other"]
        arrays = {**keys, "values": a_values, "other_values": b_values, "values_out": values_out}
        self._check_given(arrays)
        for role in [r for r in arrays if r not in ("destination", "values_out") and self._length(r, n) == 0]:
            arrays[role] = None  # an empty array has no memory
        return self._run(queue, arrays, n, wait_for, replace(self._how, first_count=self._first_count))
