"""Selections of the first k elements of a tensor along a dimension; the results are new contiguous tensors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch

from hsgen.cuda import background
from hsgen.cuda.subjects import Take
from hsgen.runners import row_numbers
from hsgen.torch import meanwhile
from hsgen.torch.rows import KEYS, checked, launch

if TYPE_CHECKING:
    from hsgen.cuda.selections import Selection

Numbers = Mapping[str, torch.Tensor]
"""The optional tensors of a selection by name: those with one number per row, such as "lengths", and the look-up table.
Their order is that of `hsgen.runners.row_numbers.NAMES`.
"""
NONE: Numbers = {}
ARRAYS = row_numbers.Arrays(
    kind=torch.Tensor,
    noun="a tensor",
    is_integer=lambda x: not (x.dtype.is_floating_point or x.dtype.is_complex or x.dtype is torch.bool),
    device=lambda x: x.device,
)
_known: dict[tuple[Any, ...], Selection] = {}
_KEPT = 256


def prepared(
    x: torch.Tensor, k: int, dim: int, *, largest: bool, sorted: bool, numbers: Numbers = NONE, method: str = ""
) -> Selection | None:
    """Return the `Selection`, the kernel launches that select along a dimension; None if PyTorch's own function must
    run.

    method: a method of `hsgen.cuda.top_k_choices`; by default, the rules of that module select the method.
    """
    take = _take(x, k, dim, largest=largest, sorted=sorted, numbers=numbers)
    return _selection(take, method) if take else None


def _take(x: torch.Tensor, k: int, dim: int, *, largest: bool, sorted: bool, numbers: Numbers = NONE) -> Take | None:
    """Return the `Take` that describes a selection from `x`; None if hsgen does not select from the tensor on a GPU.

    hsgen selects from tensors on a GPU, of bool or a type in `KEYS`, if the result has elements.
    """
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
        numbers=tuple(numbers),
        entry=numbers["table"].element_size() if "table" in numbers else 4,
    )


def _selection(take: Take, method: str) -> Selection | None:
    ready: Selection | None = background.module("hsgen.cuda.selections").selection(take, method)
    return ready


def unprepared(x: torch.Tensor, k: int, dim: int, *, largest: bool, sorted: bool, method: str = "") -> bool:
    """Return True while a thread compiles the selection for tensors of this type and shape, so that PyTorch must
    select.

    The first call for a type and a shape starts the preparation (`hsgen.cuda.background`).

    Raises:
        HsgenError: the preparation failed.
    """
    if not background.enabled() or (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        return False
    take = _take(x, k, dim, largest=largest, sorted=sorted)
    if take is None or take.length > meanwhile.LONGEST or (not sorted and take.k > meanwhile.SORTED_UP_TO):
        return False
    return background.pending((take, method), lambda: _selection(take, method))


def first_of_rows(
    x: torch.Tensor,
    k: int,
    dim: int,
    largest: bool,
    sorted: bool,
    numbers: Numbers = NONE,
    method: str = "",
) -> tuple[torch.Tensor, ...]:
    """Return the first k elements of each row and their indices as contiguous tensors; see `hsgen.torch.topk`.

    With a look-up table, a third tensor has the table's entries for the selected indices.
    """
    call = k, dim, largest, sorted, tuple(numbers), method
    table = numbers.get("table")
    known = x.dtype, x.shape, x.get_device(), call, table is not None and table.element_size()
    ready = _known.get(known)
    if ready is None or not (x.is_cuda and x.is_contiguous()):
        dim = checked(x, dim)
        check_count(x, k, dim)
        if numbers:
            row_numbers.check(numbers, x, dim, ARRAYS, "input")
        elif unprepared(x, k, dim, largest=largest, sorted=sorted, method=method):
            with suppress(torch.cuda.OutOfMemoryError):
                return meanwhile.first_of_rows(x, k, dim, largest)
        ready = prepared(x, k, dim, largest=largest, sorted=sorted, numbers=numbers, method=method)
        if ready is None:
            return _by_torch(x, k, dim, largest, sorted, numbers)
        if x.dim() and dim != x.dim() - 1:
            if table is not None and "table_starts" not in numbers:
                numbers = {**numbers, "table": table.movedim(dim, -1)}
            moved = first_of_rows(x.movedim(dim, -1).contiguous(), k, -1, largest, sorted, numbers, method)
            return tuple(y.movedim(-1, dim).contiguous() for y in moved)
        if x.is_contiguous():
            _keep(known, ready)
        x = x.contiguous()
    elif numbers:
        row_numbers.check(numbers, x, x.dim() - 1, ARRAYS, "input")
    return _selected(ready, x, k, numbers)


def _selected(ready: Selection, x: torch.Tensor, k: int, numbers: Numbers) -> tuple[torch.Tensor, ...]:
    """Return the result of `first_of_rows` for a contiguous tensor, by the kernel launches `ready`."""
    table = numbers.get("table")
    shape = (*x.shape[:-1], k) if x.dim() else ()
    values, indices = x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)
    if not numbers:
        launch(ready, x, values, indices)
        return values, indices
    passed = {name: y.to(_KINDS.get(name, torch.int32)).contiguous() for name, y in numbers.items() if y is not table}
    if table is None:
        launch(ready, x, values, indices, passed)
        return values, indices
    entries = table.new_empty(shape)
    passed |= {"table": table.contiguous(), "entries": entries}
    launch(ready, x, values, indices, passed, size=table.numel())
    return values, indices, entries


_KINDS = {"table_starts": torch.int64}
"""The element type in which kernels read an array with a number per row, by the array's name; int32 for all names that
are absent here.
"""
_ENTRIES = {4: torch.int32, 8: torch.int64}


def entries_of(x: torch.Tensor, dim: int, indices: torch.Tensor, numbers: Numbers) -> torch.Tensor:
    """Return the look-up table's entries for selected indices of `x`.

    The entry is -1 for the index -1, and for an index that lies beyond the table.
    """
    if not x.dim():
        x, dim, indices = x.reshape(1), 0, indices.reshape(1)
    table = numbers["table"]
    if "table_starts" in numbers:
        first = numbers["table_starts"].to(torch.int64)
    else:
        table = table.reshape(x.shape).movedim(dim, -1)
        length = max(x.shape[dim], 1)
        first = torch.arange(0, x.numel(), length, device=x.device).reshape(table.shape[:-1])
        if "starts" in numbers:
            first = first + numbers["starts"].to(torch.int64)
    words = table.reshape(-1).view(_ENTRIES[table.element_size()])  # PyTorch cannot index unsigned numbers
    places = first.reshape(x.movedim(dim, -1).shape[:-1]).unsqueeze(dim) + indices
    within = (indices >= 0) & (places >= 0) & (places < words.numel())
    if words.numel() == 0:
        return torch.full_like(places, -1, dtype=words.dtype).view(table.dtype)
    return torch.where(within, words[torch.where(within, places, 0)], -1).view(table.dtype)


def _keep(known: tuple[Any, ...], ready: Selection) -> None:
    """Keep the kernel launches of a call for later equal calls; the call selects along the last dimension."""
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


def _empty(x: torch.Tensor, k: int) -> bool:
    """Return True if the result has no elements.

    The result for a tensor without dimensions has one element, whatever k is.
    """
    return x.numel() == 0 or (k == 0 and x.dim() > 0)


def _by_torch(
    x: torch.Tensor, k: int, dim: int, largest: bool, sorted: bool, numbers: Numbers
) -> tuple[torch.Tensor, ...]:
    """Return the result of `first_of_rows` by torch.topk or torch.sort; empty tensors if the result has no elements.

    With numbers per row, such as lengths, only some elements of a row take part.  All others are replaced by the value
    that is last in the order.  In the sorted row, they must come after elements that take part and have the same value.
    A stable sort ensures this; torch.topk would not.
    """
    if _empty(x, k):
        shape = list(x.shape)
        shape[dim] = k
        values, indices = x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)
    elif not sorts(numbers):
        values, indices = torch.topk(x, k, dim=dim, largest=largest, sorted=sorted)
    else:
        rows, counted = _windows(x.movedim(dim, -1) if x.dim() else x.reshape(1), numbers)
        last = torch.full((), _last(x.dtype, largest=largest), dtype=x.dtype, device=x.device)
        values, indices = torch.sort(torch.where(counted, rows, last), dim=-1, descending=largest, stable=True)
        k = k if x.dim() else 1
        values, indices = values[..., :k], indices[..., :k]
        within = counted.gather(-1, indices)
        if "takes" in numbers:
            within = within & (torch.arange(k, device=x.device) < numbers["takes"].to(torch.int64).unsqueeze(-1))
        values, indices = torch.where(within, values, last), torch.where(within, indices, -1)
        values, indices = (y.movedim(-1, dim) if x.dim() else y.reshape(()) for y in (values, indices))
    values, indices = values.contiguous(), indices.contiguous()
    if "table" not in numbers:
        return values, indices
    return values, indices, entries_of(x, dim, indices, numbers).reshape(indices.shape)


def sorts(numbers: Numbers) -> bool:
    """Return True if PyTorch must sort instead of select, because rows differ in length, start or k (see
    `_by_torch`).
    """
    return any(name in numbers for name in (*row_numbers.BOUNDS, "takes"))


def _windows(rows: torch.Tensor, numbers: Numbers) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows, each shifted to begin at its start, and a mask: True for each element that takes part."""
    length, device = rows.shape[-1], rows.device
    places = torch.arange(length, device=device)
    wide = {name: numbers[name].to(torch.int64) for name in row_numbers.BOUNDS if name in numbers}
    sizes = wide.get("lengths", torch.full(rows.shape[:-1], length, device=device))
    if "starts" in wide:
        starts = wide["starts"].clamp(max=length)
        rows = rows.gather(-1, (places + starts.unsqueeze(-1)).clamp(max=length - 1))
        sizes = torch.minimum(sizes, length - starts)
    if "count" in wide:
        number = torch.arange(sizes.numel(), device=device).reshape(sizes.shape)
        sizes = torch.where(number < wide["count"], sizes, 0)
    return rows, places < sizes.unsqueeze(-1)


def _last(type: torch.dtype, *, largest: bool) -> Any:
    """Return the value that is last in the order of a selection.

    If `largest`, this is the least value (-inf for floats), else the greatest (NaN for floats).
    """
    if type.is_floating_point:
        return -torch.inf if largest else torch.nan
    if type is torch.bool:
        return not largest
    limits = torch.iinfo(type)
    return limits.min if largest else limits.max
