"""Reductions by key for keys in any order, on NVIDIA GPUs: build once, reduce many times.

>>> group_by = GroupBy("u32", value="f32")
>>> group_by(keys, out=group_keys, groups=number, values=values, values_out=sums)
>>> unique(keys)                            # the distinct keys, ascending
>>> run_length_encode(keys)                 # the key and the length of each run
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from hsgen.cuda.libraries import library_of
from hsgen.cuda.reduce_by_key import ReduceByKey
from hsgen.cuda.runner import Runner
from hsgen.runners.group_by import GroupingCalls


class GroupBy(Runner):
    """A reduction of groups of equal keys on one GPU; the keys of a group need not be adjacent.

    A call sorts keys and values into scratch memory, then reduces runs of equal keys.  Groups are therefore sorted
    by key.  The sort is stable, so the result is the same in every call, even for sums of floats.

    Args:
        key, value, target, device: as in `ReduceByKey`.
        order: the order of groups, "ascending" or "descending".

    Raises:
        hsgen.core.errors.Usage, hsgen.core.errors.Unavailable: as in `ReduceByKey`.
    """

    _calls: GroupingCalls

    def __init__(
        self,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        device: int | None = None,
    ) -> None:
        super().__init__(device, target, GroupingCalls(key, value, order))

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
        stream: Any = None,
    ) -> None:
        """Enqueue the reduction of all groups of equal keys; arguments are those of `ReduceByKey`.

        `first_indices` receives indices in the sorted array, not in `keys`.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Usage, hsgen.core.errors.Wrong: as in `ReduceByKey`.
        """
        arrays = (keys, values, groups, out, values_out, counts, first_indices)
        self._run(arrays, self._calls.integers(None, reduction), stream)


def unique(keys: Any, *, return_counts: bool = False, order: str = "ascending") -> Any:
    """Return a new sorted array of the distinct keys of a flat array of PyTorch or CuPy; wait until their number is
    known.

    With `return_counts`, return two arrays: the distinct keys, and how often each occurs, as 32-bit integers.

    Raises:
        TypeError, ValueError, hsgen.core.errors.Usage: as in `GroupBy`; an array of another library.
    """
    runs = _runs(keys, lambda key, device: _group_by(key, order, device))
    return runs if return_counts else runs[0]


def run_length_encode(keys: Any) -> Any:
    """Return two new arrays, the key and the length of each run; wait until the number of runs is known.

    A run consists of equal adjacent keys of a flat array of PyTorch or CuPy.  Lengths are 32-bit numbers.

    Raises:
        TypeError, ValueError, hsgen.core.errors.Usage: as in `ReduceByKey`; an array of another library.
    """
    return _runs(keys, _reduce)


def _runs(keys: Any, reducer: Any) -> tuple[Any, Any]:
    """Call the reduction that `reducer` returns for a key type and a GPU; return the key and the length of each run."""
    library = library_of(keys, "keys")
    _, facts = library.view(keys)
    n = facts.shape[0] if len(facts.shape) == 1 else 0  # the reduction raises an error if the array is not flat
    out, counts, groups = library.empty(keys, n), library.empty(keys, n, words=True), library.empty(keys, 1, words=True)
    device = facts.device if facts.device >= 0 else None  # the reduction raises an error for an array on the host
    reducer(facts.type, device)(keys, out=out, groups=groups, counts=counts)
    count = int(groups[0])
    return out[:count], counts[:count]


@lru_cache(maxsize=16)
def _group_by(key: Any, order: str, device: int | None) -> GroupBy:
    """Return a `GroupBy` without values; the cache keeps the last 16, so that `unique` builds each once."""
    return GroupBy(key, order=order, device=device)


@lru_cache(maxsize=16)
def _reduce(key: Any, device: int | None) -> ReduceByKey:
    return ReduceByKey(key, device=device)
