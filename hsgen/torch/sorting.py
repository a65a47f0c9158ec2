"""The functions for tensors; `hsgen.cuda.choices` selects PyTorch's own sort or a sort of hsgen."""

from __future__ import annotations

import sys
from typing import NamedTuple

import torch

from hsgen.torch import operators
from hsgen.torch.rows import argsorted_rows, checked, dimension, prepared, sorted_rows


class Sorted(NamedTuple):
    """The sorted elements, and the index of each element in its row, as torch.sort returns them."""

    values: torch.Tensor
    indices: torch.Tensor


def sort(input: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> Sorted:
    """Sort a tensor along a dimension, as torch.sort does; return the elements and their indices (int64).

    The sort is stable for any `stable`.  NaNs are equal and greater than all numbers, and -0 equals 0.  Results of a
    distributed tensor have its placements; every rank calls this function.
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
    """Return the method of `sort` for a tensor: "torch.sort", or "hsgen: " and a name in `hsgen.cuda.choices`."""
    ready = prepared(input, checked(input, dimension(dim)), descending=False, keys=True)
    return f"hsgen: {ready.method}" if ready else "torch.sort"


def _sharded(x: torch.Tensor) -> bool:
    """Return True for a distributed tensor, whose module is imported if there is one."""
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(x, module.DTensor)


def _sorted_shards(x: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    from hsgen.torch.shards import sorted_shards

    return sorted_shards(x, dim, descending)


def _plain(x: torch.Tensor) -> bool:
    """Return True if a tensor can be sorted without PyTorch's dispatcher: no tracing, transformation or gradient."""
    if type(x) is not torch.Tensor or (x.requires_grad and torch.is_grad_enabled()):
        return False
    return not (torch.compiler.is_compiling() or _observed())


def _observed() -> bool:
    """Return True if a mode or a transformation is active that must see operators."""
    c = torch._C
    modes: int = c._len_torch_dispatch_stack() + c._len_torch_function_stack()
    return modes > 0 or c._functorch.peek_interpreter_stack() is not None
