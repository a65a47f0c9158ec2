"""The first k keys of each row of pyopencl arrays: build once, select many times.

>>> select = TopK(queue.context, "f32", value="index")          # the greatest keys, and their indices
>>> select(queue, keys, 10, out=best, values_out=places)        # of one array; returns the event
>>> select(queue, logits, 50, rows=64, out=best, values_out=places)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hsgen.opencl.runner import Runner
from hsgen.operations.top_k import sorted_up_to
from hsgen.runners.base import alone
from hsgen.runners.top_k import TopKCalls


class TopK(Runner):
    """A selection of the first keys of rows, compiled for a context of one device; see docs/guides/top-k.md.

    Equal keys are selected in the order of their indices, the lowest index first.  Scratch memory is kept as in a
    `hsgen.opencl.sorter.Sorter`.  `sorted_up_to` is the greatest k with a sorted result; the result for a greater k is
    in the order of the row.

    Calls may pass numbers of rows in device memory.  n / rows is the greatest of `lengths`.  Without `starts`, row i
    begins at i times this length.  `takes` has the number of keys to take of each row; k is the greatest.  If a row has
    fewer keys to take than k, the rest of its result is the last key of the order.  Values of the rest have all bits
    set, such as the index 0xffffffff.  `count` is the number of rows; further rows are neither read nor written.
    `value_starts` has the index of each row's first value: key i of a row has value number ``value_starts[row] + i``.

    Args:
        context, key, target: as of `hsgen.opencl.Sorter`.
        value: the value that is selected with each key: None, a numpy type or a number of bytes (4, 8 or 16), "index"
            or "index64" for the index of the key in its row.
        order: "descending" for the greatest keys, greatest first; "ascending" for the least.
        lengths: whether calls pass the lengths of rows.
        starts: whether calls also pass the starts of rows.
        takes: whether calls pass the number of keys to take of each row.
        row_count: whether calls pass the number of rows in device memory.
        value_starts: whether calls pass the starts of the rows' values, such as page tables.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such target, key type, value or order, or no selection that combines them.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    def __init__(
        self,
        context: Any,
        key: Any = "f32",
        *,
        value: Any = None,
        order: str = "descending",
        lengths: bool = False,
        starts: bool = False,
        takes: bool = False,
        row_count: bool = False,
        value_starts: bool = False,
        target: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(
            context,
            target,
            TopKCalls(
                key,
                value,
                order,
                lengths=lengths or starts,
                starts=starts,
                takes=takes,
                row_count=row_count,
                value_starts=value_starts,
            ),
        )
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
        lengths: Any = None,
        starts: Any = None,
        takes: Any = None,
        count: Any = None,
        value_starts: Any = None,
        values: Any = None,
        values_out: Any = None,
        n: int | None = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue the selection of `k` keys of each of `rows` rows of equal length; return the event of its end.

        `keys` has the rows one after another, `n` keys in total (all by default).  `out` and `values_out` receive
        rows * k keys and values.  All buffers are `pyopencl.array.Array` or `pyopencl.Buffer` objects.  Inputs are only
        read.

        `lengths`, `starts`, `takes`, `count` and `value_starts` are 32-bit numbers in device memory: one for each row,
        but a single count.

        Raises:
            TypeError: an argument has a wrong Python type, such as a numpy array.
            ValueError: a buffer is missing, unexpected or invalid.
            hsgen.core.errors.Usage: there are more than `max_n` keys, the keys cannot be split into equal rows, or k is
                not 1 to the length of a row.
        """
        numbers = self._calls.numbers(n, k=k, rows=rows)
        return self._run(
            queue, (keys, out, lengths, starts, takes, count, value_starts, values, values_out), numbers, wait_for
        )
