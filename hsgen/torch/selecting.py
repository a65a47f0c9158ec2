"""The first k elements of rows, with the results of torch.topk."""

from __future__ import annotations

from functools import lru_cache

import torch

from hsgen.core.keys import TYPES
from hsgen.cuda.choices import selects
from hsgen.cuda.top_k import TopK
from hsgen.torch.rows import KEYS

Pair = tuple[torch.Tensor, torch.Tensor]


@lru_cache(maxsize=64)
def _selection(key: str, order: str, number: int) -> TopK:
    return TopK(key, value="index64", order=order, numeric=True, device=number)


def selected(x: torch.Tensor, k: int, dim: int, largest: bool, in_order: bool, *, always: bool = False) -> Pair | None:
    """Return the k greatest or least elements along a dimension and their indices; None is PyTorch's own selection.

    Equal elements are selected in the order of their indices.  in_order: the result must be sorted.  always: also where
    PyTorch is faster.
    """
    key, count = KEYS.get(x.dtype), x.dim()
    if key is None or not count or not -count <= dim < count or not 0 < k <= x.shape[dim]:
        return None
    dim, length = dim % count, x.shape[dim]
    rows = x.numel() // length
    if not (always or selects(key, rows, length, k)):
        return None
    select = _selection(key, "descending" if largest else "ascending", x.get_device())
    if x.numel() > select.max_n or (in_order and length > select.sorted_up_to < k):
        return None
    source = x.movedim(dim, -1).contiguous()
    shape = (*source.shape[:-1], k)
    values = torch.empty(shape, dtype=x.dtype, device=x.device)
    indices = torch.empty(shape, dtype=torch.int64, device=x.device)
    flat = source.view(-1)
    select(flat, k, rows=rows, out=values.view(-1), values_out=indices.view(-1))
    if TYPES[key].kind == 2:  # the selection has one zero and one NaN; the elements have their bits
        values = source.gather(-1, indices)
    return values.movedim(-1, dim).contiguous(), indices.movedim(-1, dim).contiguous()
