"""The first k keys of each row of pyopencl arrays: build once, select many times.

>>> select = TopK(queue.context, "f32", value="index")          # the greatest keys, and their indices
>>> select(queue, keys, 10, out=best, values_out=places)        # from one array; returns the event
>>> select(queue, logits, 50, rows=64, out=best, values_out=places)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Unpack

from hsgen.opencl.runner import Runner
from hsgen.operations.top_k import sorted_up_to
from hsgen.runners.base import alone
from hsgen.runners.top_k import Features, Numbers, TopKCalls


class TopK(Runner):
    """A selection of the first keys of rows, compiled for a context of one device; see docs/guides/top-k.md.

    Among equal keys, the keys of the lowest indices are selected, and come first.  Up to k = `sorted_up_to`, the
    selected keys are sorted; for a greater k, they keep their order in the row.  Scratch memory is kept between calls,
    as in a `hsgen.opencl.Sorter`.

    Rows may differ in length, start and k.  The constructor then takes the keywords in `hsgen.runners.top_k.Features`,
    and each call the arrays in `hsgen.runners.top_k.Numbers`.

    Args:
        context, key, target: as in `hsgen.opencl.Sorter`.
        value: None for no values; a numpy type or a number of bytes (4, 8 or 16) for values that are selected with
            keys.  With "index" or "index64", the value of a key is its index in its row, of 32 or 64 bits.
        order: "descending" for the greatest keys, greatest first; "ascending" for the least.
        features: the keywords lengths, starts, takes, row_count and value_starts; True if every call passes an array
            with these numbers.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type, value or order, or no selection that combines them.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    _calls: TopKCalls

    def __init__(
        self,
        context: Any,
        key: Any = "f32",
        *,
        value: Any = None,
        order: str = "descending",
        target: str | os.PathLike[str] | None = None,
        **features: Unpack[Features],
    ) -> None:
        super().__init__(context, target, TopKCalls(key, value, order, features))
        self.sorted_up_to = sorted_up_to(self._sort)

    @alone
    def __call__(
        self,
        queue: Any,
        keys: Any,
        k: int,
        *,
        out: Any,
        rows: int = 1,
        values: Any = None,
        values_out: Any = None,
        n: int | None = None,
        wait_for: Sequence[Any] | None = None,
        **numbers: Unpack[Numbers],
    ) -> Any:
        """Enqueue the selection of `k` keys from each of `rows` rows of equal length; return the event of its end.

        `keys` has the rows one after another, `n` keys in total (all by default).  `out` and `values_out` receive
        rows * k keys and values.  All buffers are `pyopencl.array.Array` or `pyopencl.Buffer` objects.  Inputs are only
        read.

        numbers: the keywords lengths, starts, takes, count and value_starts, each an array in device memory.  A call
        must pass exactly those for which the constructor got True.

        Raises:
            TypeError: an argument has a wrong Python type, such as a numpy array.
            ValueError: a buffer is missing, unexpected or invalid.
            hsgen.core.errors.Usage: there are more than `max_n` keys, the keys cannot be split into equal rows, or k is
                not 1 to the length of a row.
        """
        arrays = self._calls.arrays(numbers, keys=keys, out=out, values=values, values_out=values_out)
        return self._run(queue, arrays, self._calls.numbers(n, k=k, rows=rows), wait_for)
