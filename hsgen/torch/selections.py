"""Selections of the first elements of rows of tensors, into new contiguous tensors."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch

from hsgen.core.errors import wrong_type
from hsgen.cuda import background
from hsgen.cuda.subjects import Take
from hsgen.torch import meanwhile
from hsgen.torch.rows import KEYS, checked, launch

if TYPE_CHECKING:
    from hsgen.cuda.selections import Selection

_known: dict[tuple[Any, ...], Selection] = {}
_KEPT = 256


def prepared(
    x: torch.Tensor, k: int, dim: int, *, largest: bool, sorted: bool, lengths: bool = False, method: str = ""
) -> Selection | None:
    """Return the prepared selection from a tensor along a dimension; None is PyTorch's own function.

    `method` is a method of `hsgen.cuda.top_k_choices`; by default the rules select the method.
    """
    take = _take(x, k, dim, largest=largest, sorted=sorted, lengths=lengths)
    return _selection(take, method) if take else None


def _take(x: torch.Tensor, k: int, dim: int, *, largest: bool, sorted: bool, lengths: bool) -> Take | None:
    """Return the subject of a selection from a tensor; None if there is nothing to select on a GPU."""
    key = "bool" if x.dtype is torch.bool else KEYS.get(x.dtype)
    if key is None or not x.is_cuda or _empty(x, k):
        return None
    length, k = (x.shape[dim], k) if x.dim() else (1, 1)
    return Take(
        number=x.get_device(),
        key=key,
        rows=x.numel() // length,
        length=length,
        k=k,
        largest=largest,
        sorted=sorted,
        lengths=lengths,
    )


def _selection(take: Take, method: str) -> Selection | None:
    ready: Selection | None = background.module("hsgen.cuda.selections").selection(take, method)
    return ready


def unprepared(x: torch.Tensor, k: int, dim: int, *, largest: bool, sorted: bool, method: str = "") -> bool:
    """Return True while a thread prepares such a selection, which PyTorch serves meanwhile.

    Raises:
        HsgenError: the preparation failed.
    """
    if not background.enabled() or (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        return False
    take = _take(x, k, dim, largest=largest, sorted=sorted, lengths=False)
    if take is None or take.length > meanwhile.LONGEST or (not sorted and take.k > meanwhile.SORTED_UP_TO):
        return False
    return background.pending((take, method), lambda: _selection(take, method))


def first_of_rows(
    x: torch.Tensor,
    k: int,
    dim: int,
    largest: bool,
    sorted: bool,
    lengths: torch.Tensor | None = None,
    method: str = "",
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first elements of rows in order, and their indices, as contiguous tensors; see `hsgen.torch.topk`."""
    call = k, dim, largest, sorted, lengths is None, method
    known = x.dtype, x.shape, x.get_device(), call
    ready = _known.get(known)
    if ready is None or not (x.is_cuda and x.is_contiguous()):
        dim = checked(x, dim)
        check_count(x, k, dim)
        if lengths is not None:
            check_lengths(x, dim, lengths)
        elif unprepared(x, k, dim, largest=largest, sorted=sorted, method=method):
            with suppress(torch.cuda.OutOfMemoryError):
                return meanwhile.first_of_rows(x, k, dim, largest)
        ready = prepared(x, k, dim, largest=largest, sorted=sorted, lengths=lengths is not None, method=method)
        if ready is None:
            return _by_torch(x, k, dim, largest, sorted, lengths)
        if x.dim() and dim != x.dim() - 1:
            moved = x.movedim(dim, -1).contiguous()
            values, indices = first_of_rows(moved, k, -1, largest, sorted, lengths, method)
            return values.movedim(-1, dim).contiguous(), indices.movedim(-1, dim).contiguous()
        if x.is_contiguous():
            _keep(known, ready)
        x = x.contiguous()
    elif lengths is not None:
        check_lengths(x, x.dim() - 1, lengths)
    shape = (*x.shape[:-1], k) if x.dim() else ()
    values, indices = x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)
    if lengths is not None:
        lengths = lengths.to(torch.int32).contiguous()
    launch(ready, x, values, indices, lengths)
    return values, indices


def _keep(known: tuple[Any, ...], ready: Selection) -> None:
    """Keep the prepared selection of a call along the last dimension."""
    if len(_known) >= _KEPT:
        _known.clear()
    _known[known] = ready


def check_count(x: torch.Tensor, k: int, dim: int) -> None:
    """Check that a dimension has at least k elements.

    Raises:
        RuntimeError: the dimension has fewer elements, as torch.topk reports it.
    """
    length = x.shape[dim] if x.dim() else 1
    if not 0 <= k <= length:
        raise RuntimeError(f"selected index k out of range: k is {k}, dimension {dim} has {length} elements")


def check_lengths(x: torch.Tensor, dim: int, lengths: torch.Tensor) -> None:
    """Check that there is an integer for each row, on the GPU of the rows.

    Raises:
        TypeError: the lengths are not a tensor of integers.
        ValueError: the lengths have another shape or device.
    """
    if not isinstance(lengths, torch.Tensor):
        raise wrong_type("lengths", "a tensor with the length of each row", lengths)
    if lengths.dtype not in KEYS or lengths.dtype.is_floating_point or lengths.dtype is torch.bool:
        raise TypeError(f"lengths has elements of {lengths.dtype}; give integers")
    expected = x.shape[:dim] + x.shape[dim + 1 :]
    if lengths.shape != expected:
        raise ValueError(f"lengths has the shape {tuple(lengths.shape)}; give {tuple(expected)}, a length for each row")
    if lengths.device != x.device:
        raise ValueError(f"lengths is on {lengths.device}, input on {x.device}")


def _empty(x: torch.Tensor, k: int) -> bool:
    """Return True if the result has no elements; a tensor without dimensions has one element for any k."""
    return x.numel() == 0 or (k == 0 and x.dim() > 0)


def _by_torch(
    x: torch.Tensor, k: int, dim: int, largest: bool, sorted: bool, lengths: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the result of PyTorch's own function, or without elements of tensors of the required shape.

    With lengths, a stable sort serves, because the elements beyond a length must be after all equal elements.
    """
    if _empty(x, k):
        shape = list(x.shape)
        shape[dim] = k
        return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)
    if lengths is None:
        values, indices = torch.topk(x, k, dim=dim, largest=largest, sorted=sorted)
        return values.contiguous(), indices.contiguous()
    rows = x.movedim(dim, -1) if x.dim() else x.reshape(1)
    counted = torch.arange(rows.shape[-1], device=x.device) < lengths.unsqueeze(-1)
    last = torch.full((), _last(x.dtype, largest=largest), dtype=x.dtype, device=x.device)
    values, indices = torch.sort(torch.where(counted, rows, last), dim=-1, descending=largest, stable=True)
    values, indices = values[..., :k], indices[..., :k]
    indices = torch.where(counted.gather(-1, indices), indices, -1)
    if not x.dim():
        return values.reshape(()), indices.reshape(())
    return values.movedim(-1, dim).contiguous(), indices.movedim(-1, dim).contiguous()


def _last(type: torch.dtype, *, largest: bool) -> Any:
    """Return the last element in order of a type: the least, or if not `largest` the greatest or NaN."""
    if type.is_floating_point:
        return -torch.inf if largest else torch.nan
    if type is torch.bool:
        return not largest
    limits = torch.iinfo(type)
    return limits.min if largest else limits.max
