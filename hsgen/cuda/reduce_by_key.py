"""Reductions of runs of equal adjacent keys on NVIDIA GPUs: build once, reduce many times.

>>> reduce = ReduceByKey("u32", value="f32")
>>> reduce(keys, out=run_keys, groups=number, values=values, values_out=sums)
>>> reduce(keys, out=run_keys, groups=number, values=values, values_out=most, reduction="max", counts=counts)
"""

from __future__ import annotations

import os
from typing import Any

from hsgen.cuda.runner import Runner
from hsgen.runners.reduce_by_key import ReductionCalls


class ReduceByKey(Runner):
    """A reduction of runs of equal keys on one GPU; see docs/guides/reduce-by-key.md.

    Keys are equal if their bits are equal.

    Args:
        key, target, device: as in `hsgen.cuda.Sorter`.
        value: the type of the values: "u32", "i32" or "f32", or the equivalent numpy type; None for no values.
        device_count: whether calls may take the number of keys from a buffer on the device.

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, type of values or GPU.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _calls: ReductionCalls

    def __init__(
        self,
        key: Any = "u32",
        *,
        value: Any = None,
        device_count: bool = False,
        target: str | os.PathLike[str] | None = None,
        device: int | None = None,
    ) -> None:
        super().__init__(device, target, ReductionCalls(key, value, device_count=device_count))

    def __call__(
        self,
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
        stream: Any = None,
    ) -> None:
        """Enqueue the reduction of the runs of the first `n` keys (by default all).

        The call runs on `stream`, by default on the current stream of the library of `keys`.  Arguments are those of
        `hsgen.opencl.ReduceByKey`.

        `groups` receives the number of runs, a 32-bit number.  All other outputs receive one element per run, and must
        have room for n elements.  Inputs are only read.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`.
            hsgen.core.errors.Usage: n exceeds `max_n`, or there is no such reduction.
        """
        arrays = (keys, values, count, groups, out, values_out, counts, first_indices)
        self._run(arrays, self._calls.integers(n, reduction), stream)
