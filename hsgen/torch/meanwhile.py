"""Sorts by torch.sort with exactly the results of hsgen, for calls while a thread prepares hsgen's sorts.

PyTorch has one sort for short rows and another for long rows; the two order a NaN with a sign bit differently.  PyTorch
does not sort most unsigned types.  `_ordered` therefore maps keys to other keys, which both sorts of PyTorch support
and order alike.
"""

from __future__ import annotations

import torch

_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
LONGEST = (1 << 31) - 1
"""The greatest length of a row that PyTorch sorts on a GPU."""
SORTED_UP_TO = 2048
"""The greatest k for which hsgen's selections are always sorted, even with ``sorted=False``.

For a greater k with ``sorted=False``, this module would return the elements in another order than hsgen.
"""
_UNSIGNED = (torch.bool, torch.uint16, torch.uint32, torch.uint64)


def sorted_rows(x: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sorted elements, with the original bits of zeros and NaNs, and their indices as contiguous tensors."""
    indices = argsorted_rows(x, dim, descending)
    words = x.view(_WORDS[x.element_size()])  # on a CPU, PyTorch's gather changes the bits of 16-bit NaNs
    return words.gather(dim, indices).contiguous().view(x.dtype), indices


def argsorted_rows(x: torch.Tensor, dim: int, descending: bool) -> torch.Tensor:
    """Return the indices of the sorted elements as a contiguous tensor."""
    return torch.sort(_ordered(x), dim=dim, descending=descending, stable=True)[1].contiguous()


def first_of_rows(x: torch.Tensor, k: int, dim: int, largest: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first k elements of each sorted row, and their indices, as contiguous tensors.

    torch.topk is no substitute, because it may select any of several equal elements.  hsgen selects those of the lowest
    indices.
    """
    if not x.dim():
        return x.clone(), torch.zeros((), dtype=torch.int64, device=x.device)
    values, indices = sorted_rows(x, dim, largest)
    return values.narrow(dim, 0, k).contiguous(), indices.narrow(dim, 0, k).contiguous()


def _ordered(x: torch.Tensor) -> torch.Tensor:
    """Map elements to a type that PyTorch sorts, so that it sorts them in hsgen's order.

    All NaNs become one NaN, -0 becomes 0, bools become uint8, and unsigned numbers of 16 bits or more become signed.
    """
    if x.dtype.is_floating_point:
        return torch.where(x.isnan(), torch.nan, x) + 0.0  # -0 + 0 is 0
    if x.dtype in _UNSIGNED:
        words = _WORDS[x.element_size()]
        return x.view(words) ^ torch.iinfo(words).min
    return x
