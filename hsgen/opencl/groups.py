"""Reductions by key for the keys of a pyopencl array in any order: build once, reduce many times.

>>> group_by = GroupBy(queue.context, "u32", value="f32")
>>> group_by(queue, keys, out=group_keys, groups=number, values=values, values_out=sums)   # returns the event
>>> unique(queue, keys)                     # the distinct keys, ascending
>>> run_length_encode(queue, keys)          # the key and the length of each run
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from hsgen.opencl.reduce_by_key import ReduceByKey
from hsgen.opencl.runner import Runner
from hsgen.runners.base import alone
from hsgen.runners.group_by import GroupingCalls
from hsgen.system import toolchain


class GroupBy(Runner):
    """A reduction of groups of equal keys, which need not be adjacent, compiled for a context of one device.

    A call sorts keys and values into scratch memory, then reduces runs of equal keys.  Groups are therefore sorted
    by key.  The sort is stable, so the result is the same in every call, even for sums of floats.  Scratch memory is
    kept between calls, as in a `hsgen.opencl.Sorter`.

    Args:
        context, key, value, target: as in `ReduceByKey`.
        order: the order of groups, "ascending" or "descending".

    Raises:
        TypeError, hsgen.core.errors.Usage, hsgen.core.errors.Unavailable, hsgen.core.errors.Wrong: as `ReduceByKey`.
    """

    _calls: GroupingCalls

    def __init__(
        self,
        context: Any,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(context, target, GroupingCalls(key, value, order))

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
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue the reduction of all groups of equal keys; return the event of its end.

        `keys` and `values` are only read.  The outputs are those of `ReduceByKey`; `first_indices` receives indices in
        the sorted array, not in `keys`.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Usage: as `ReduceByKey`.
        """
        arrays = (keys, values, groups, out, values_out, counts, first_indices)
        return self._run(queue, arrays, self._calls.integers(None, reduction), wait_for)


def unique(queue: Any, keys: Any, *, return_counts: bool = False, order: str = "ascending") -> Any:
    """Return a new sorted array of the distinct keys of a `pyopencl.array.Array`; wait until their number is known.

    With `return_counts`, return two arrays: the distinct keys, and how often each occurs, as uint32.

    Raises:
        TypeError, ValueError, hsgen.core.errors.Usage: as `GroupBy`.
    """
    runs = _runs(queue, keys, _group_by(queue.context, np.dtype(keys.dtype).name, order))
    return runs if return_counts else runs[0]


def run_length_encode(queue: Any, keys: Any) -> Any:
    """Return two new arrays, the key and the length of each run; wait until the number of runs is known.

    A run consists of equal adjacent keys of a `pyopencl.array.Array`.  Lengths are 32-bit numbers.

    Raises:
        TypeError, ValueError, hsgen.core.errors.Usage: as `ReduceByKey`.
    """
    return _runs(queue, keys, _reduce(queue.context, np.dtype(keys.dtype).name))


def _runs(queue: Any, keys: Any, reduce: Any) -> tuple[Any, Any]:
    """Call `reduce`; return two arrays with an element per run: its key and its length."""
    arrays, n = _arrays(), int(keys.size)
    out, counts = arrays.empty(queue, n, keys.dtype), arrays.empty(queue, n, np.uint32)
    groups = arrays.empty(queue, 1, np.uint32)
    reduce(queue, keys, out=out, groups=groups, counts=counts)
    count = int(groups.get()[0])
    return out[:count], counts[:count]


def _arrays() -> Any:
    toolchain.pyopencl()
    return import_module("pyopencl.array")


@lru_cache(maxsize=16)
def _group_by(context: Any, key: str, order: str) -> GroupBy:
    """Return a `GroupBy` without values; the cache keeps the last 16, so that `unique` compiles each once."""
    return GroupBy(context, key, order=order)


@lru_cache(maxsize=16)
def _reduce(context: Any, key: str) -> ReduceByKey:
    return ReduceByKey(context, key)
