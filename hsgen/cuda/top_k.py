"""The first k keys of each row of arrays on NVIDIA GPUs: build once, select many times.

>>> select = TopK("f32", value="index")                   # the greatest keys, and their indices
>>> select(keys, 10, out=best, values_out=places)         # of one array
>>> select(logits, 50, rows=64, out=best, values_out=places)
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from hsgen.cuda.driver import Device
from hsgen.cuda.numeric import rewriting
from hsgen.cuda.prepared import Prepared
from hsgen.cuda.runner import Runner
from hsgen.operations.top_k import sorted_up_to
from hsgen.runners.top_k import TopKCalls


class TopK(Runner):
    """A selection of the first keys of rows on one GPU; see docs/guides/top-k.md.

    Equal keys are selected in the order of their indices, the lowest index first.  `sorted_up_to` is the greatest k
    with a sorted result; the result for a greater k is in the order of the row.

    Calls may pass numbers of rows in device memory.  n / rows is the greatest of `lengths`.  Without `starts`, row i
    begins at i times this length.  `takes` has the number of keys to take of each row; k is the greatest.  If a row has
    fewer keys to take than k, the rest of its result is the last key of the order.  Values of the rest have all bits
    set, such as the index 0xffffffff.  `count` is the number of rows; further rows are neither read nor written.
    `value_starts` has the index of each row's first value: key i of a row has value number ``value_starts[row] + i``.

    Args:
        key, target, device: as of `hsgen.cuda.Sorter`.
        value: the value that is selected with each key: None, a numpy type or a number of bytes (4, 8 or 16), "index"
            or "index64" for the index of the key in its row.
        order: "descending" for the greatest keys, greatest first; "ascending" for the least.
        lengths: whether calls pass the lengths of rows.
        starts: whether calls also pass the starts of rows.
        takes: whether calls pass the number of keys to take of each row.
        row_count: whether calls pass the number of rows in device memory.
        value_starts: whether calls pass the starts of the rows' values, such as page tables.
        numeric: floats in the order of numpy and PyTorch, as of `hsgen.cuda.Sorter`.

    Raises:
        hsgen.core.errors.Usage: there is no such target, key type, value, order or GPU, or no selection that combines
            them.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _calls: TopKCalls

    def __init__(
        self,
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
        numeric: bool = False,
        device: int | None = None,
    ) -> None:
        calls = TopKCalls(
            key,
            value,
            order,
            lengths=lengths or starts,
            starts=starts,
            takes=takes,
            row_count=row_count,
            value_starts=value_starts,
        )
        rewrite = rewriting(calls.key, calls.value, selects=True) if numeric else str
        super().__init__(device, target, calls, rewrite)
        self.sorted_up_to = sorted_up_to(self._sort)

    def __call__(
        self,
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
        stream: Any = None,
    ) -> None:
        """Enqueue the selection of `k` keys of each of `rows` rows of equal length, on the current stream of the
        library of `keys`, or on `stream`.

        `keys` has the rows one after another, `n` keys in total (all by default).  `out` and `values_out` receive
        rows * k keys and values.  Inputs are only read.

        `lengths`, `starts`, `takes`, `count` and `value_starts` are 32-bit numbers in device memory: one for each row,
        but a single count.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as of `hsgen.cuda.Sorter`.
            hsgen.core.errors.Usage: there are more than `max_n` keys, the keys cannot be split into equal rows, or k is
                not 1 to the length of a row.
        """
        self._run(
            (keys, out, lengths, starts, takes, count, value_starts, values, values_out),
            self._calls.numbers(n, k=k, rows=rows),
            stream,
        )


def prepared_selection(select: TopK, n: int, k: int, rows: int) -> tuple[Prepared, Device]:
    """Return the launches that select `k` keys of each of `rows` rows, of `n` keys in total, and their GPU.

    Raises:
        hsgen.core.errors.OutOfRange: a number does not fit n.
        hsgen.core.errors.Unavailable, hsgen.core.errors.Wrong: a kernel does not compile, or the GPU cannot run it.
    """
    options = replace(select._calls.options, segment_count=rows, take=k)
    options = select._calls.settled(n, options, select._roles)
    return select.prepared(n, options, in_place=False), select._gpu
