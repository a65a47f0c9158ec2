"""Reductions of runs of equal adjacent keys of pyopencl arrays: build once, reduce many times.

>>> reduce = ReduceByKey(queue.context, "u32", value="f32")
>>> reduce(queue, keys, out=run_keys, groups=number, values=values, values_out=sums)   # returns the event
>>> reduce(queue, keys, out=run_keys, groups=number, values=values, values_out=most, reduction="max", counts=counts)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hsgen.opencl.runner import Runner
from hsgen.runners.base import alone
from hsgen.runners.reduce_by_key import ReductionCalls


class ReduceByKey(Runner):
    """A reduction of runs of equal keys, compiled for a context of one device; see docs/guides/reduce-by-key.md.

    Keys are equal if their bits are equal.  Scratch memory is kept between calls, as in a `hsgen.opencl.Sorter`.

    Args:
        context, key, target: as in `hsgen.opencl.Sorter`.
        value: the type of the values: "u32", "i32" or "f32", or the equivalent numpy type.  4 and "v4" mean "u32".
            None for no values.
        device_count: whether calls may take the number of keys from a buffer on the device.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type or type of values.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    _calls: ReductionCalls

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        device_count: bool = False,
        target: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(context, target, ReductionCalls(key, value, device_count=device_count))

    @alone
    def __call__(
        self,
        queue: Any,
        keys: Any,
        *,
        out: Any,
        groups: Any,
        values: Any = None,
        values_out: Any = None,
        reduction: str = "sum",
        counts: Any = None,
        first_indices: Any = None,
        n: int | None = None,
        count: Any = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue the reduction of the runs of the first `n` keys (by default all); return the event of its end.

        `groups` receives the number of runs as uint32 or int32.  All other outputs receive one element per run, and
        must have room for n elements.  `out` receives the key of the run, and `values_out` its reduced values:
        `reduction` is "sum", "min" or "max".  `counts` receives the length of the run, and `first_indices` the index of
        its first key.  Both have elements of uint32 or int32, and may be omitted.  With `count`, a uint32 or int32
        on the device, only the first min(count, n) keys are reduced.  All buffers are `pyopencl.array.Array` or
        `pyopencl.Buffer` objects.  Inputs are only read.

        Raises:
            TypeError: an argument has a wrong Python type, such as a numpy array.
            ValueError: a buffer is missing, unexpected or invalid.
            hsgen.core.errors.Usage: n exceeds `max_n`, or there is no such reduction.
        """
        arrays = (keys, values, count, groups, out, values_out, counts, first_indices)
        return self._run(queue, arrays, self._calls.integers(n, reduction), wait_for)
