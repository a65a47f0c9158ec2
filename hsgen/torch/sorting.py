"""The public functions of `hsgen.torch`.  The rules in `hsgen.cuda.choices` decide whether PyTorch or hsgen sorts a
tensor.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Unpack, overload

import torch

from hsgen.core.numbers import MOST, integer
from hsgen.runners import row_numbers
from hsgen.runners.row_numbers import RowNumbers
from hsgen.torch import grouping, operators, selections
from hsgen.torch.rows import argsorted_rows, checked, dimension, prepared, sorted_rows


class Sorted(NamedTuple):
    """The sorted elements, and the index of each element in its row, as torch.sort returns them."""

    values: torch.Tensor
    indices: torch.Tensor


class Selected(NamedTuple):
    """The first k elements of each row, and the index of each element in its row, as torch.topk returns them."""

    values: torch.Tensor
    indices: torch.Tensor


class SelectedEntries(NamedTuple):
    """The first k elements of each row; for each element, its index in the row and its entry in the look-up table."""

    values: torch.Tensor
    indices: torch.Tensor
    entries: torch.Tensor


def sort(input: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> Sorted:
    """Sort a tensor along a dimension, as torch.sort does; return the elements and their indices (int64).

    The sort is always stable, regardless of `stable`.  NaNs are equal and greater than all numbers, and -0 equals 0.
    For a distributed tensor, every rank must call this function; the results have the placements of the tensor.
    """
    if _plain(input):
        return Sorted(*sorted_rows(input, dimension(dim), bool(descending)))
    if _sharded(input):
        return Sorted(*_sorted_shards(input, dimension(dim), bool(descending)))
    return Sorted(*operators.SORT(input, dim, bool(descending)))


def argsort(input: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> torch.Tensor:
    """Return the indices (int64) that sort a tensor along a dimension, as torch.argsort does; see `sort`."""
    if _plain(input):
        return argsorted_rows(input, dimension(dim), bool(descending))
    if _sharded(input):
        return _sorted_shards(input, dimension(dim), bool(descending))[1]
    indices: torch.Tensor = operators.ARGSORT(input, dim, bool(descending))
    return indices


def method(input: torch.Tensor, dim: int = -1) -> str:
    """Return how `sort` sorts a tensor, as text: "torch.sort", or "hsgen: " and a method in `hsgen.cuda.choices`."""
    ready = prepared(input, checked(input, dimension(dim)), descending=False, keys=True)
    return f"hsgen: {ready.method}" if ready else "torch.sort"


def unique(
    input: torch.Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the distinct elements, or slices along a dimension, as torch.unique does.

    Elements are always in ascending order, regardless of `sorted`.  With `return_inverse` or `return_counts`, the
    result is a tuple: the distinct elements, then the inverse indices and the counts, as requested.  The host waits
    once, for the number of distinct elements.
    """
    ours = None
    if _plain(input) and input.is_cuda:
        if dim is None:
            ours = grouping.distinct(input, return_inverse, return_counts)
        else:
            ours = grouping.distinct_slices(input, dimension(dim), return_inverse, return_counts)
    if ours is None:
        return torch.unique(input, sorted, return_inverse, return_counts, dim)
    return _requested(ours, return_inverse, return_counts)


def unique_consecutive(
    input: torch.Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the first element of each run of equal elements, as torch.unique_consecutive does; see `unique`."""
    ours = None
    if _plain(input) and input.is_cuda and dim is None:
        ours = grouping.runs(input, return_inverse, return_counts)
    if ours is None:
        return torch.unique_consecutive(input, return_inverse, return_counts, dim)
    return _requested(ours, return_inverse, return_counts)


def _requested(results: grouping.Triple, inverse: bool, counts: bool) -> Any:
    """Return the distinct elements, or a tuple of them and the requested indices and counts."""
    chosen = (results[0], *([results[1]] if inverse else []), *([results[2]] if counts else []))
    return chosen if len(chosen) > 1 else chosen[0]


@overload
def topk(
    input: torch.Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    table: None = None,
    **numbers: Unpack[RowNumbers],
) -> Selected: ...
@overload
def topk(
    input: torch.Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    table: torch.Tensor,
    **numbers: Unpack[RowNumbers],
) -> SelectedEntries: ...
def topk(
    input: torch.Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    table: torch.Tensor | None = None,
    **numbers: Unpack[RowNumbers],
) -> Selected | SelectedEntries:
    """Return the k greatest or least elements along a dimension and their indices (int64), as torch.topk does.

    NaNs are equal and greater than all numbers, and -0 equals 0.  Of equal elements, those with the lowest indices are
    selected, in the order of indices.  The result equals the first k elements of a stable `sort`.  If `sorted` is
    False, the result has the same elements in an unspecified order, which is the same in every call.

    numbers: tensors with an integer for each row, such as its length; see `hsgen.runners.row_numbers.RowNumbers`.  A
    row may then have fewer than k elements to select.  The rest of its result has the index -1 and a padding value:
    -inf or the least integer, or if `largest` is False, NaN or the greatest integer.
    table: a look-up table, whose entry for each selected index is a third result.  The entry is -1 for the index -1,
    and for an index that lies beyond the table.

    Raises:
        TypeError: k or the dimension is not an integer, or numbers are not a tensor of integers.
        ValueError: numbers have a wrong shape, or are on another device.
        RuntimeError, IndexError: k exceeds the dimension, or there is no such dimension.
    """
    present = row_numbers.present({**numbers, "table": table})
    if _plain(input):
        count, dim = integer("k", k, -MOST, MOST), dimension(dim)
        result = selections.first_of_rows(input, count, dim, bool(largest), bool(sorted), present)
    else:
        if table is not None:
            row_numbers.check(present, input, checked(input, dimension(dim)), selections.ARRAYS, "input")
        bounds = [present.get(name) for name in operators.NUMBERS]
        result = operators.TOPK(input, k, dim, bool(largest), bool(sorted), *bounds)
        if table is not None:
            result = (*result, selections.entries_of(input, dim, result[1], present))
    return Selected(*result) if table is None else SelectedEntries(*result)


def topk_method(
    input: torch.Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    table: torch.Tensor | None = None,
    **numbers: Unpack[RowNumbers],
) -> str:
    """Return how `topk` selects from a tensor, as text: "torch.topk", "torch.sort", or "hsgen: " and the steps that it
    runs.

    The steps are "select" (a selection), "select, sort" (a sort of the selected elements follows) or "sort" (a sort of
    all rows).
    """
    count, dim = integer("k", k, -MOST, MOST), checked(input, dimension(dim))
    selections.check_count(input, count, dim)
    present = row_numbers.present({**numbers, "table": table})
    row_numbers.check(present, input, dim, selections.ARRAYS, "input")
    ready = selections.prepared(input, count, dim, largest=bool(largest), sorted=bool(sorted), numbers=present)
    return f"hsgen: {ready.steps}" if ready else "torch.sort" if selections.sorts(present) else "torch.topk"


def _sharded(x: torch.Tensor) -> bool:
    """Return True for a distributed tensor (DTensor); there is none before `torch.distributed.tensor` is imported."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(x, module.DTensor)


def _sorted_shards(x: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    from hsgen.torch.shards import sorted_shards

    return sorted_shards(x, dim, descending)


def _plain(x: torch.Tensor) -> bool:
    """Return True if hsgen may launch its kernels on a tensor directly, without a custom operator in PyTorch's
    dispatcher.

    torch.compile, autograd and transformations such as vmap see a sort only if the dispatcher runs it.
    """
    if type(x) is not torch.Tensor or (x.requires_grad and torch.is_grad_enabled()):
        return False
    return not (torch.compiler.is_compiling() or _observed())


def _observed() -> bool:
    """Return True if a dispatch mode, or a transformation such as vmap, is active; it must see every sort as an
    operator.
    """
    c = torch._C
    modes: int = c._len_torch_dispatch_stack() + c._len_torch_function_stack()
    return modes > 0 or c._functorch.peek_interpreter_stack() is not None
