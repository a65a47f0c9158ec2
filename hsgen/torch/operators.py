"""The sorts as operators of PyTorch, with shapes for torch.compile and gradients for autograd."""

from __future__ import annotations

from typing import Any

import torch

from hsgen.torch.rows import argsorted_rows, sorted_rows


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
    """Return the gradients; the gradient of an element is stored at the element's index before the sort."""
    (order,) = ctx.saved_tensors
    if order.dim() == 0:
        return values, None, None
    return torch.zeros_like(values).scatter(ctx.dim, order, values), None, None


SORT = torch.library.custom_op("hsgen::sort", _sort, mutates_args=())
"""The operator that returns the sorted elements and their indices."""
ARGSORT = torch.library.custom_op("hsgen::argsort", _argsort, mutates_args=())
"""The operator that returns the indices of the sorted elements."""

SORT.register_fake(_sort_shape)
ARGSORT.register_fake(_argsort_shape)
SORT.register_autograd(_gradients, setup_context=_keep)
