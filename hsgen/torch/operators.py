"""hsgen's sort, argsort and topk as custom operators of PyTorch, for tensors that need its dispatcher.

Each operator has a function that states the shapes of its results, for torch.compile.  The operators with values also
have gradients, for autograd.
"""

from __future__ import annotations

from typing import Any

import torch

from hsgen.runners import row_numbers
from hsgen.torch.rows import argsorted_rows, sorted_rows
from hsgen.torch.selections import first_of_rows


def _sort(input: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    return sorted_rows(input, dim, descending)


def _argsort(input: torch.Tensor, dim: int, descending: bool) -> torch.Tensor:
    return argsorted_rows(input, dim, descending)


def _sort_shape(input: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    values = torch.empty(input.shape, dtype=input.dtype, device=input.device)
    return values, _argsort_shape(input, dim, descending)


def _argsort_shape(input: torch.Tensor, dim: int, descending: bool) -> torch.Tensor:
    return torch.empty(input.shape, dtype=torch.int64, device=input.device)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    ctx.dim = inputs[1]
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1])


def _gradients(ctx: Any, values: torch.Tensor, indices: Any) -> tuple[torch.Tensor, None, None]:
    """Return the gradient of the input: that of each sorted element, put back to the element's original index."""
    (order,) = ctx.saved_tensors
    if order.dim() == 0:
        return values, None, None
    return torch.zeros_like(values).scatter(ctx.dim, order, values), None, None


NUMBERS = row_numbers.NAMES[:4]
"""The names of the optional arguments of the operator `TOPK`, in order; `hsgen.runners.row_numbers.RowNumbers`
describes them.

The look-up table is no argument: the caller of the operator looks up entries by the resulting indices.
"""


def _topk(
    input: torch.Tensor,
    k: int,
    dim: int,
    largest: bool,
    sorted: bool,
    lengths: torch.Tensor | None = None,
    starts: torch.Tensor | None = None,
    takes: torch.Tensor | None = None,
    count: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    numbers = dict(zip(NUMBERS, (lengths, starts, takes, count), strict=True))
    values, indices = first_of_rows(input, k, dim, largest, sorted, row_numbers.present(numbers))
    return values, indices


def _topk_shape(
    input: torch.Tensor, k: int, dim: int, largest: bool, sorted: bool, *numbers: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    shape = list(input.shape)
    if shape:
        shape[dim] = k
    return input.new_empty(shape), input.new_empty(shape, dtype=torch.int64)


def _keep_selected(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    ctx.shape, ctx.dim, ctx.ragged = inputs[0].shape, inputs[2], any(x is not None for x in inputs[5:])
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(output[1], inputs[6])


def _selected_gradients(ctx: Any, values: torch.Tensor, indices: Any) -> tuple[torch.Tensor | None, ...]:
    """Return the gradient of the input: that of each selected element at the element's index, and 0 elsewhere."""
    places, starts = ctx.saved_tensors
    none = (None,) * 8
    if ctx.ragged:
        beyond = places < 0
        values = torch.where(beyond, 0, values)
        if starts is not None and ctx.shape:
            places = places + starts.to(torch.int64).unsqueeze(ctx.dim)
        places = torch.where(beyond, 0, places)
    if not ctx.shape:
        return values, *none
    zeros = values.new_zeros(ctx.shape)
    # results with index -1, for rows with fewer than k elements, add 0 to the gradient of element 0
    gradients = (zeros.scatter_add if ctx.ragged else zeros.scatter)(ctx.dim, places, values)
    return gradients, *none


SORT = torch.library.custom_op("hsgen::sort", _sort, mutates_args=())
"""The operator that returns the sorted elements and their indices."""
ARGSORT = torch.library.custom_op("hsgen::argsort", _argsort, mutates_args=())
"""The operator that returns the indices of the sorted elements."""
TOPK = torch.library.custom_op("hsgen::topk", _topk, mutates_args=())
"""The operator that returns the first elements of rows and their indices."""

SORT.register_fake(_sort_shape)
ARGSORT.register_fake(_argsort_shape)
TOPK.register_fake(_topk_shape)
SORT.register_autograd(_gradients, setup_context=_keep)
TOPK.register_autograd(_selected_gradients, setup_context=_keep_selected)
