"""Sorts by PyTorch with the results of hsgen, which serve calls while a thread prepares hsgen's sorts.

PyTorch has one sort for short rows and another for long rows; the two order a NaN with a sign bit differently.  PyTorch
does not sort most unsigned types.  Keys are therefore mapped to other keys, which both sorts of PyTorch support and
order alike.
"""

from __future__ import annotations

import torch

_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
LONGEST = (1 << 31) - 1
"""The greatest length of a row that PyTorch sorts on a GPU."""
SORTED_UP_TO = 2048
"""The greatest k for which every selection of hsgen returns sorted elements, even if the caller does not require sorted
elements.
"""
_UNSIGNED = (torch.bool, torch.uint16, torch.uint32, torch.uint64)


def sorted_rows(x: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sorted elements, with their bits, and their indices as contiguous tensors."""
    indices = argsorted_rows(x, dim, descending)
    words = x.view(_WORDS[x.element_size()])  # PyTorch changes NaNs of 16 bits that it gathers on a CPU
    return words.gather(dim, indices).contiguous().view(x.dtype), indices


def argsorted_rows(x: torch.Tensor, dim: int, descending: bool) -> torch.Tensor:
    """Return the indices of the sorted elements as a contiguous tensor."""
    return torch.sort(_ordered(x), dim=dim, descending=descending, stable=True)[1].contiguous()


def first_of_rows(x: torch.Tensor, k: int, dim: int, largest: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first elements of rows in order, and their indices, as contiguous tensors.

    torch.topk would not do, because it may select any of several equal elements.
    """
    if not x.dim():
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    values, indices = sorted_rows(x, dim, largest)
    return values.narrow(dim, 0, k).contiguous(), indices.narrow(dim, 0, k).contiguous()


def _ordered(x: torch.Tensor) -> torch.Tensor:
    """Map elements to a type that PyTorch sorts, in the same order.

    All NaNs become equal, -0 becomes 0, bools become uint8, and unsigned numbers of 16 bits or more become signed.
    """
    if x.dtype.is_floating_point:
        return torch.where(x.isnan(), torch.nan, x) + 0.0  # -0 + 0 is 0
    if x.dtype in _UNSIGNED:
        words = _WORDS[x.element_size()]
        return x.view(words) ^ torch.iinfo(words).min
    return x
