"""Sorting pyopencl arrays and buffers: build once, sort many times.

>>> sorter = Sorter(queue.context, "u32")      # picks the target that matches the device
>>> sorter(queue, keys)                        # in place; returns the event
>>> sorter(queue, keys, out=sorted_keys)       # into another array
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hsgen.opencl.repeat import Repeat, repeatable
from hsgen.opencl.runner import Runner
from hsgen.runners.base import Numbers, alone
from hsgen.runners.sort import SortCalls


class Sorter(Runner):
    """A sort of keys of one type, compiled for a context of one device; docs/reference/semantics.md defines the order.

    A sorter allocates scratch memory at its first call, and keeps it; only a greater n makes the memory grow.
    `scratch_bytes` is the size for n keys.  Some sorts need no scratch memory.  All others share it between calls, so
    calls wait for each other on the device, even on different queues.

    Args:
        context: a `pyopencl.Context`; its first device determines the target.
        key: "u8" to "u64", "i8" to "i64", "f16", "bf16", "f32", "f64" or "bool", or the numpy type of such keys.
        value: None for no values; a type or a number of bytes (4, 8 or 16) for values that move with keys.  "index" or
            "index64" makes an argsort with indices of 32 or 64 bits.  With "packed", an element is a 64-bit word: the
            key is the upper half, the value the lower half.
        order: "ascending" or "descending".
        target: the name of a target, which has the sorts that are tuned for a device model; or the path of a target
        file (.toml).  None selects the target that matches the device, or the generic target if the matching target has
        no such sort.
        bit_range: whether calls may choose the bits to sort by.
        device_count: whether calls may take the count from a buffer on the device.
        run_boundaries: whether calls report where runs of equal keys start.
        epilogue: the text of a Jinja template whose code runs for every sorted key; see docs/guides/epilogue.md.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type, value or order, or no sort that combines them.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    _calls: SortCalls

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        bit_range: bool = False,
        device_count: bool = False,
        run_boundaries: bool = False,
        epilogue: str = "",
    ) -> None:
        features = {"bit_range": bit_range, "device_count": device_count, "run_boundaries": run_boundaries}
        super().__init__(context, target, SortCalls(key, value, order, epilogue=epilogue, **features))
        self._again: Repeat | None = None

    def scratch_bytes(self, n: int, *, discard_keys: bool = False) -> int:
        """Return the bytes of scratch memory that a sort of `n` keys needs.

        Raises:
            TypeError: n is no integer.
            hsgen.core.errors.OutOfRange: n is negative, or exceeds `max_n`.
        """
        return self._calls.scratch_bytes(n, discard_keys=discard_keys)

    @alone
    def __call__(
        self,
        queue: Any,
        keys: Any,
        out: Any = None,
        *,
        values: Any = None,
        values_out: Any = None,
        n: int | None = None,
        begin_bit: int = 0,
        end_bit: int | None = None,
        count: Any = None,
        discard_keys: bool = False,
        report: Any = None,
        shift: int = 0,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue a sort of the first `n` keys (by default all); return the event of its end.

        All buffers are `pyopencl.array.Array` or `pyopencl.Buffer` objects.  Without `out` and `values_out` the sort is
        in place; otherwise `keys` and `values` are only read.  An argsort always writes the indices of the keys to
        `values_out`; with `discard_keys` it does not write keys.  Keys are sorted by the bits from `begin_bit` up to
        but excluding `end_bit` (None: all higher bits).  With `count`, a uint32 or int32 on the device, min(count, n)
        keys are sorted.  Elements from n on are not written.
        `report` receives at most n + 1 32-bit words: the number of runs, then the index at which each run starts.  A
        run is a longest sequence of sorted keys that agree in their bits from `shift` up.  With an epilogue, `report`
        is what the epilogue writes, and `shift` is a number for the epilogue.

        Raises:
            TypeError: an argument has a wrong Python type, such as a numpy array, or `queue` or `keys` is None.
            ValueError: a buffer is missing, unexpected or invalid, the sorter does not support a bit range, count or
                report, or the shift exceeds the key.
            hsgen.core.errors.Usage: n exceeds `max_n`, or the bit range is reversed or exceeds the key.
        """
        arrays = keys, out, values, values_out, count, report
        numbers = self._calls.integers(n, begin_bit, end_bit, discard_keys, shift)
        again = None if wait_for else self._again
        if again is not None and again.fits(queue, arrays, numbers):
            return again.run(arrays)
        return self._first(queue, arrays, numbers, wait_for)

    def _first(self, queue: Any, arrays: tuple[Any, ...], numbers: Numbers, wait_for: Any) -> Any:
        """Check a call and enqueue it; store the call, so that an equal next call needs no checks."""
        event, placed, items, options = self._checked(queue, arrays, numbers, wait_for)
        if repeatable(queue, arrays):
            written = self._calls.written
            self._again = Repeat(self._compiled, queue, arrays, numbers, placed, items, options, written)
        return event
