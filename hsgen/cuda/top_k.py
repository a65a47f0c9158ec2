"""The first k keys of each row of arrays on NVIDIA GPUs: build once, select many times.

>>> select = TopK("f32", value="index")                   # the greatest keys, and their indices
>>> select(keys, 10, out=best, values_out=places)         # from one array
>>> select(logits, 50, rows=64, out=best, values_out=places)
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Unpack

from hsgen.cuda.driver import Device
from hsgen.cuda.numeric import rewriting
from hsgen.cuda.prepared import Prepared
from hsgen.cuda.runner import Runner
from hsgen.operations.top_k import sorted_up_to
from hsgen.runners.top_k import Features, Numbers, TopKCalls


class TopK(Runner):
    """A selection of the first keys of rows on one GPU; see docs/guides/top-k.md.

    Among equal keys, the keys of the lowest indices are selected, and come first.  Up to k = `sorted_up_to`, the
    selected keys are sorted; for a greater k, they keep their order in the row.

    Rows may differ in length, start and k.  The constructor then takes the keywords in `hsgen.runners.top_k.Features`,
    and each call the arrays in `hsgen.runners.top_k.Numbers`.

    Args:
        key, target, device: as in `hsgen.cuda.Sorter`.
        value: None for no values; a numpy type or a number of bytes (4, 8 or 16) for values that are selected with
            keys.  With "index" or "index64", the value of a key is its index in its row, of 32 or 64 bits.
        order: "descending" for the greatest keys, greatest first; "ascending" for the least.
        numeric: floats in the order of numpy and PyTorch, as in `hsgen.cuda.Sorter`.
        features: the keywords lengths, starts, takes, row_count and value_starts; True if every call passes an array
            with these numbers.

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
        target: str | os.PathLike[str] | None = None,
        numeric: bool = False,
        device: int | None = None,
        **features: Unpack[Features],
    ) -> None:
        calls = TopKCalls(key, value, order, features)
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
        values: Any = None,
        values_out: Any = None,
        n: int | None = None,
        stream: Any = None,
        **numbers: Unpack[Numbers],
    ) -> None:
        """Enqueue the selection of `k` keys from each of `rows` rows of equal length.

        The call runs on `stream`, by default on the current stream of the library of `keys`.

        `keys` has the rows one after another, `n` keys in total (all by default).  `out` and `values_out` receive
        rows * k keys and values.  Inputs are only read.

        numbers: the keywords lengths, starts, takes, count and value_starts, each an array in device memory.  A call
        must pass exactly those for which the constructor got True.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`.
            hsgen.core.errors.Usage: there are more than `max_n` keys, the keys cannot be split into equal rows, or k is
                not 1 to the length of a row.
        """
        arrays = self._calls.arrays(numbers, keys=keys, out=out, values=values, values_out=values_out)
        self._run(arrays, self._calls.numbers(n, k=k, rows=rows), stream)


def prepared_selection(select: TopK, n: int, k: int, rows: int) -> tuple[Prepared, Device]:
    """Return the launches by which `select` takes `k` keys from each of `rows` rows, and the GPU of the launches.

    n: the number of keys in all rows.

    Raises:
        hsgen.core.errors.OutOfRange: a number does not fit n.
        hsgen.core.errors.Unavailable, hsgen.core.errors.Wrong: a kernel does not compile, or the GPU cannot run it.
    """
    options = replace(select._calls.options, segment_count=rows, take=k)
    options = select._calls.settled(n, options, select._roles)
    return select.prepared(n, options, in_place=False), select._gpu
