"""The function that runs in place of torch.topk after `enable`; see `hsgen.torch.selections`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from hsgen.cuda.choices import selects
from hsgen.torch import repeats, selections
from hsgen.torch.rows import KEYS, launch

if TYPE_CHECKING:
    from hsgen.cuda.selections import Selection

Pair = tuple[torch.Tensor, torch.Tensor]
_known: dict[tuple[Any, ...], Selection] = {}
_KEPT = 256


def selected(x: torch.Tensor, k: int, dim: int, largest: bool, in_order: bool) -> Pair | None:
    """Return the k greatest or least elements along a dimension and their indices; None if torch.topk must run.

    Of equal elements, those with the lowest indices are selected.  in_order: whether the result must be sorted.
    """
    call = k, dim, largest, in_order
    key = x.dtype, x.shape, x.get_device(), call
    ready = _known.get(key)
    if ready is not None and x.is_contiguous():
        return _selected(ready, x, k)
    if not _selects(x, k, dim) or not repeats.again(x, call):
        return None
    dim %= x.dim()
    if selections.unprepared(x, k, dim, largest=largest, sorted=in_order):
        return None
    ready = selections.prepared(x, k, dim, largest=largest, sorted=in_order)
    if ready is None:
        return None
    if dim != x.dim() - 1:
        values, indices = _selected(ready, x.movedim(dim, -1).contiguous(), k)
        return values.movedim(-1, dim).contiguous(), indices.movedim(-1, dim).contiguous()
    if x.is_contiguous():
        if len(_known) >= _KEPT:
            _known.clear()
        _known[key] = ready
    return _selected(ready, x.contiguous(), k)


def _selects(x: torch.Tensor, k: int, dim: int) -> bool:
    """Return True if hsgen must serve the call: its arguments are valid for torch.topk, which takes no bools, and hsgen
    is faster.
    """
    key, count = KEYS.get(x.dtype), x.dim()
    if key is None or x.dtype is torch.bool or not -count <= dim < count or not 0 < k <= x.shape[dim]:
        return False
    length = x.shape[dim]
    return x.numel() > 0 and selects(key, x.numel() // length, length, k)


def _selected(ready: Selection, rows: torch.Tensor, k: int) -> Pair:
    """Return the first k elements of contiguous rows and their indices, by the kernel launches `ready`."""
    shape = (*rows.shape[:-1], k)
    values, indices = rows.new_empty(shape), rows.new_empty(shape, dtype=torch.int64)
    launch(ready, rows, values, indices)
    return values, indices
