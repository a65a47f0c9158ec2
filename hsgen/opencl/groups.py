"""Groups of equal keys in any order: a sort, and a reduction of its runs.

>>> group_by = GroupBy(queue.context, "u32", value="f32")
>>> group_by(queue, keys, out=group_keys, groups=number, values=values, values_out=sums)   # returns the event
>>> unique(queue, keys)                     # the distinct keys, ascending
>>> run_length_encode(queue, keys)          # the keys of runs, and how many keys each has
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from hsgen.opencl.reduce_by_key import ReduceByKey
from hsgen.opencl.sorter import Sorter
from hsgen.system import toolchain


class GroupBy:
    """A sort of keys with their values, followed by a reduction by key, for a context of one device.

    The sort is stable, so that the result is the same in every call, also of sums of floats.  The sorted keys and
    values are kept in memory of the greatest n so far, as scratch memory is.

    Args:
        context, key, value, target: as of `ReduceByKey`.
        order: the order of groups, "ascending" or "descending".

    Raises:
        TypeError, hsgen.core.errors.Usage, hsgen.core.errors.Unavailable, hsgen.core.errors.Wrong: as `ReduceByKey`.
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
        self._reduce = ReduceByKey(context, key, value=value, target=target)
        self._sort = Sorter(context, key, value=None if value is None else 4, order=order, target=target)
        self.max_n = min(self._reduce.max_n, self._sort.max_n)
        self._valued, self._room = value is not None, 0
        self._keys: Any = None
        self._values: Any = None

    def __repr__(self) -> str:
        """Of the reduction and of the sort."""
        return f"<{type(self).__name__}: {self._sort!r}, {self._reduce!r}>"

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

        `keys` and `values` are `pyopencl.array.Array` objects, which are only read; the outputs are those of
        `ReduceByKey`, with `first_indices` in the sorted array.  Calls of one object are for one queue at a time.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Usage: as `ReduceByKey`.
        """
        n = int(keys.size)
        self._grow(queue, n, keys, values)
        ordered = {"values": values, "values_out": self._values} if self._valued else {}
        done = self._sort(queue, keys, self._keys, n=n, **ordered, wait_for=wait_for)
        return self._reduce(
            queue,
            self._keys,
            out=out,
            groups=groups,
            values=self._values if self._valued else values,
            values_out=values_out,
            reduction=reduction,
            counts=counts,
            first_indices=first_indices,
            n=n,
            wait_for=[done],
        )

    def _grow(self, queue: Any, n: int, keys: Any, values: Any) -> None:
        """Make room for `n` sorted keys, and values."""
        if self._keys is None or n > self._room:
            arrays = _arrays()
            self._room = n
            self._keys = arrays.empty(queue, n, keys.dtype)
            self._values = None if values is None else arrays.empty(queue, n, values.dtype)


def unique(queue: Any, keys: Any, *, return_counts: bool = False, order: str = "ascending") -> Any:
    """Return the distinct keys of a `pyopencl.array.Array` in order, as a new array; waits for their number.

    With `return_counts`, a pair: these, and how many keys equal each, 32-bit numbers.

    Raises:
        TypeError, ValueError, hsgen.core.errors.Usage: as `GroupBy`.
    """
    found = _runs(queue, keys, _group_by(queue.context, np.dtype(keys.dtype).name, order))
    return found if return_counts else found[0]


def run_length_encode(queue: Any, keys: Any) -> Any:
    """Return a pair of new arrays, for each run of equal adjacent keys of a `pyopencl.array.Array` its key, and its
    length as a 32-bit number; waits for their number.

    Raises:
        TypeError, ValueError, hsgen.core.errors.Usage: as `ReduceByKey`.
    """
    return _runs(queue, keys, _reduce(queue.context, np.dtype(keys.dtype).name))


def _runs(queue: Any, keys: Any, reduce: Any) -> tuple[Any, Any]:
    """The keys of runs, and their lengths."""
    arrays, n = _arrays(), int(keys.size)
    out, counts = arrays.empty(queue, n, keys.dtype), arrays.empty(queue, n, np.uint32)
    groups = arrays.empty(queue, 1, np.uint32)
    reduce(queue, keys, out=out, groups=groups, counts=counts)
    found = int(groups.get()[0])
    return out[:found], counts[:found]


def _arrays() -> Any:
    toolchain.pyopencl()
    return import_module("pyopencl.array")


@lru_cache(maxsize=16)
def _group_by(context: Any, key: str, order: str) -> GroupBy:
    """Compiled once for a context and a type of keys."""
    return GroupBy(context, key, order=order)


@lru_cache(maxsize=16)
def _reduce(context: Any, key: str) -> ReduceByKey:
    return ReduceByKey(context, key)
