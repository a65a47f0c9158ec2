"""Prefix sums of arrays on NVIDIA GPUs: build once, sum many times.

>>> scanner = Scanner("u32", columns=4)                  # inclusive sums of each of four columns
>>> scanner(rows)                                        # the sums replace the rows
>>> scanner(rows, out=sums)                              # into another array
"""

from __future__ import annotations

import os
from typing import Any

from hsgen.cuda.runner import Runner
from hsgen.runners.scan import ScanCalls


class Scanner(Runner):
    """The prefix sum of every column of a table on one GPU.  Tables are row-major; sums of integers wrap.

    Args:
        key: "u32", "i32", "f32", "u64", "i64", or the numpy type of the elements; sums of unsigned numbers also accept
            arrays of signed numbers.
        target, device: as in `hsgen.cuda.Sorter`.
        columns: the number of elements in a row.
        exclusive: whether a row's sums exclude the row itself.

    Raises:
        hsgen.core.errors.Usage: there is no such target, element type, prefix sum or GPU.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _calls: ScanCalls

    def __init__(
        self,
        key: Any = "u32",
        *,
        target: str | os.PathLike[str] | None = None,
        columns: int = 1,
        exclusive: bool = False,
        device: int | None = None,
    ) -> None:
        calls = ScanCalls(key, columns, exclusive)
        super().__init__(device, target, calls)
        self.columns, self.exclusive = calls.columns, calls.exclusive

    def __call__(self, keys: Any, out: Any = None, *, n: int | None = None, stream: Any = None) -> None:
        """Enqueue the sums of the first `n` rows of `keys` (all by default).

        The call runs on `stream`, by default on the current stream of the library of `keys`.

        Arrays are flat or of shape (rows, columns).  Without `out`, sums replace their rows; with `out`, rows are only
        read.  Rows from n on are not written.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`, or the shape is wrong.
            hsgen.core.errors.Usage: n exceeds `max_n`.
        """
        self._run((keys, out), (self._calls.count(n),), stream)
