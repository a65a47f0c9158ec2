"""The public functions of `hsgen.distributed`; this module checks arguments and converts results."""

from __future__ import annotations

from typing import Any, NamedTuple

from hsgen.core.errors import Usage
from hsgen.core.numbers import integer
from hsgen.distributed import grouping, selection, sorting
from hsgen.distributed.backend import Backend, backend_of
from hsgen.distributed.local import REDUCTIONS
from hsgen.distributed.sorting import Shard

_MEMORY = ("normal", "low")
_MOST = 1 << 62  # greatest number of keys


class Sorted(NamedTuple):
    """Sorted keys, and the values or the global indices that belong to them."""

    keys: Any
    values: Any


class Groups(NamedTuple):
    """Distinct keys in order.  For each key, `counts` has the number of its occurrences, and `values` the reduction of
    its values.  Without values, `values` is None.
    """

    keys: Any
    counts: Any
    values: Any


def sort(
    keys: Any,
    values: Any = None,
    *,
    descending: bool = False,
    index: bool = False,
    size: int | None = None,
    memory: str = "normal",
    group: Any = None,
) -> Any:
    """Sort the keys of all ranks together; return this rank's part of the sorted keys.

    Every rank passes its shard, a tensor or array of one dimension, which may be empty.  Rank 0 gets the first keys,
    rank 1 the next keys, and so on.  By default, the lengths of parts differ by at most 1.  The sort is stable across
    ranks.  NaNs are equal and greatest; all get the same bits.  -0 equals 0; with values or indices, both become 0.

    Args:
        keys: a tensor of PyTorch on a GPU or the CPU, or with a rank of `Threads` an array of numpy.
        values: an array with an item for each key, which moves with the key, or None.
        descending: whether the greatest keys come first.
        index: whether to return the index of each key in the concatenated shards of all ranks, as a 64-bit number.
        size: the number of keys that this rank gets; None on every rank for parts whose lengths differ by at most 1.
        memory: "normal", or "low" to let the function overwrite `keys` and `values`.
        group: a process group of torch.distributed (None: the default group), or a rank of `Threads`.

    Returns:
        The keys; with values or indices, a `Sorted` of the keys and the values or indices.

    Raises:
        TypeError, ValueError, hsgen.core.errors.Usage: an argument is invalid, or differs between ranks.
        hsgen.core.errors.Wrong: another rank raised an error.
        hsgen.core.errors.Unavailable: there is no process group.
    """
    backend = backend_of(group)
    check = lambda: _shard(backend, "sort", keys, values, descending, index, size, memory)  # noqa: E731
    of, run = sorting.sort(backend.comm, check, index=bool(index))
    ordered = backend.keys(of.shard.local, run.keys, keys)
    if index:
        return Sorted(ordered, backend.index(run.columns[0], of.total))
    return Sorted(ordered, backend.values(run.columns[0], values)) if run.columns else ordered


def argsort(
    keys: Any, *, descending: bool = False, size: int | None = None, memory: str = "normal", group: Any = None
) -> Any:
    """Return this rank's part of the global indices (int64) that sort the keys of all ranks; see `sort`."""
    return sort(keys, descending=descending, index=True, size=size, memory=memory, group=group).values


def topk(keys: Any, k: int, *, largest: bool = True, group: Any = None) -> Sorted:
    """Return the first `k` keys of all ranks and their global indices (int64); every rank gets the same result.

    A global index is that in the concatenated shards of all ranks.  Of equal keys, those with the least global indices
    are selected, in the order of these indices.

    largest: True for the greatest keys, greatest first; False for the least keys, least first.

    Raises:
        Exception: as `sort`; k is negative, or exceeds the number of keys of all ranks.
    """
    backend = backend_of(group)

    def check() -> Shard:
        number = integer("k", k, 0, _MOST)
        return _shard(backend, "topk", keys, None, largest, True, None, "normal", {"k": str(number)})

    of = sorting.agreed(backend.comm, check)
    integer("k", k, 0, of.total)
    run = selection.top_k(backend.comm, of, int(k))
    return Sorted(backend.keys(of.shard.local, run.keys, keys), backend.index(run.columns[0], _MOST))


def unique(keys: Any, *, return_counts: bool = False, descending: bool = False, group: Any = None) -> Any:
    """Return this rank's part of the distinct keys of all ranks, in order and in even parts.

    With `return_counts`, return two arrays: the distinct keys, and how often each occurs on all ranks (int64).

    Raises:
        Exception: as `sort`.
    """
    backend = backend_of(group)
    of = sorting.agreed(backend.comm, lambda: _shard(backend, "unique", keys, None, descending, False, None, "normal"))
    run = grouping.group_by(backend.comm, of, "sum")
    ordered = backend.keys(of.shard.local, run.keys, keys)
    return (ordered, backend.index(run.columns[0], _MOST)) if return_counts else ordered


def group_by(
    keys: Any, values: Any = None, *, reduction: str = "sum", descending: bool = False, group: Any = None
) -> Groups:
    """Return this rank's part of the groups of equal keys of all ranks, in order and in even parts.

    A sum of integers has 64 bits.  A sum of floats has the type of the floats; a sum of 16-bit floats is a float32.

    Args:
        values: a number for each key, or None.
        reduction: "sum", "min" or "max".

    Raises:
        Exception: as `sort`.
    """
    backend = backend_of(group)

    def check() -> Shard:
        if reduction not in REDUCTIONS:
            raise Usage(f"reduction {reduction}: unknown; give {', '.join(REDUCTIONS)}")
        if values is not None:
            backend.check_values(values, len(keys))
            backend.check_numbers(values)
        facts = {"reduction": reduction}
        return _shard(backend, "group_by", keys, values, descending, False, None, "normal", facts)

    of = sorting.agreed(backend.comm, check)
    run = grouping.group_by(backend.comm, of, reduction)
    counts, *reduced = run.columns
    ordered = backend.keys(of.shard.local, run.keys, keys)
    return Groups(ordered, backend.index(counts, _MOST), backend.reduced(reduced[0]) if reduced else None)


def _shard(
    backend: Backend,
    function: str,
    keys: Any,
    values: Any,
    descending: Any,
    index: Any,
    size: Any,
    memory: Any,
    facts: dict[str, str] | None = None,
) -> Shard:
    """Check the arguments of this rank; return them as a `Shard`, with those arguments that must be equal on every
    rank.
    """
    if memory not in _MEMORY:
        raise Usage(f"memory {memory}: unknown; give {' or '.join(_MEMORY)}")
    if index and values is not None:
        raise Usage("values and index are given; give one of them")
    key = backend.check_keys(keys)
    item = "none" if values is None else backend.check_values(values, len(keys))
    common = {
        "function": function,
        "keys": key,
        "values": item,
        "device": backend.device_of(keys),
        "descending": str(bool(descending)),
        "index": str(bool(index)),
        "memory": memory,
    }
    return Shard(
        local=backend.local(keys, descending=bool(descending)),
        keys=backend.array(keys),
        values=None if values is None else backend.array(values),
        length=len(keys),
        size=None if size is None else integer("size", size, 0, _MOST),
        overwrite=memory == "low",
        facts=common | (facts or {}),
    )
