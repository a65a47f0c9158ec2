"""Distinct elements of tensors, with the results of torch.unique and torch.unique_consecutive.

`distinct`, `runs` and `distinct_slices` return three tensors: the distinct elements; for each element of the input, its
index among the distinct elements; and how often each distinct element occurs.  The last two are empty unless requested.
If hsgen does not serve a tensor, the result is None, and the caller must call PyTorch's own function.  The host waits
once, for the number of distinct elements.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch

from hsgen import cuda
from hsgen.core.keys import TYPES
from hsgen.cuda.choices import groups, groups_rows
from hsgen.torch.rows import KEYS, sorted_rows

if TYPE_CHECKING:
    from hsgen.cuda import ColumnSorter, GroupBy, ReduceByKey

Triple = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
_SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_MOST = (1 << 30) - 1
"""The greatest number of elements in a call of `GroupBy`, `ReduceByKey` or `ColumnSorter`."""
COLUMNS = 16
"""The greatest number of elements in a slice that `distinct_slices` serves; each is a key column."""


def distinct(x: torch.Tensor, inverse: bool, counts: bool) -> Triple | None:
    """Return the distinct elements in ascending order, with indices and counts, as torch.unique does."""
    key, n = KEYS.get(x.dtype), x.numel()
    if key is None or not 0 < n <= _MOST or not groups(key, n, inverse=inverse):
        return None
    flat = x.contiguous().view(-1)
    if TYPES[key].kind == 2 or inverse:
        elements, order = sorted_rows(flat, 0, False)
        starts, groups_of, lengths = _cut(_steps(elements), order, x.shape, inverse=inverse, counts=counts)
        return _picked(elements, 0, starts), groups_of, lengths
    out, number = _reduced(_group_by(key, x.get_device()), flat, counts)
    return _first(out, number, _bits(flat), x.dtype)


def runs(x: torch.Tensor, inverse: bool, counts: bool) -> Triple | None:
    """Return the first element of each run of equal elements, with indices and counts, as torch.unique_consecutive."""
    key, n = KEYS.get(x.dtype), x.numel()
    if key is None or not 0 < n <= _MOST or not groups(key, n, inverse=inverse, sort=False):
        return None
    flat = x.contiguous().view(-1)
    if TYPES[key].kind == 2 or inverse:  # `ReduceByKey` compares bits, but equal floats may have different bits
        starts, groups_of, lengths = _cut(_steps(flat), None, x.shape, inverse=inverse, counts=counts)
        return _picked(flat, 0, starts), groups_of, lengths
    out, number = _reduced(_reduction(key, x.get_device()), flat, counts)
    return _first(out, number, _bits(flat), x.dtype)


def distinct_slices(x: torch.Tensor, dim: int, inverse: bool, counts: bool) -> Triple | None:
    """Return the distinct slices along a dimension in lexicographical order, with indices and counts."""
    key, count = KEYS.get(x.dtype), x.dim()
    if key is None or TYPES[key].kind == 2 or not count or not -count <= dim < count or not 0 < x.numel() <= _MOST:
        return None
    n = x.shape[dim]
    width = x.numel() // n
    if width > COLUMNS or not groups_rows(key, n, width):
        return None
    records = x.movedim(dim, 0).reshape(n, width).contiguous()
    order = torch.empty(n, dtype=torch.int32, device=x.device)
    size = x.element_size()
    octets = _bits(records).view(torch.uint8).view(n, width * size)
    _columns(key, width, x.get_device())([cuda.Field(octets, size * i) for i in range(width)], index_out=order)
    words = _bits(records).index_select(0, order)
    steps = (words[1:] != words[:-1]).any(1)
    starts, groups_of, lengths = _cut(steps, order, (n,), inverse=inverse, counts=counts)
    return _picked(x, dim, order.index_select(0, starts)), groups_of, lengths


def _bits(x: torch.Tensor) -> torch.Tensor:
    """Return a view of integers or bools as signed integers: old versions of PyTorch lack unsigned operators."""
    return x.view(_SIGNED[x.element_size()])


def _steps(flat: torch.Tensor) -> torch.Tensor:
    """Return a boolean tensor, which tells for each element but the first whether it differs from the element before
    it.
    """
    same = flat if flat.dtype.is_floating_point else _bits(flat)
    return same[1:] != same[:-1]


def _picked(x: torch.Tensor, dim: int, indices: torch.Tensor) -> torch.Tensor:
    """Return the slices `indices` along a dimension as a new contiguous tensor, as torch.unique does for CUDA."""
    words = x if x.dtype.is_floating_point else _bits(x)
    return words.index_select(dim, indices).view(x.dtype)


def _cut(
    steps: torch.Tensor,
    order: torch.Tensor | None,
    shape: tuple[int, ...],
    *,
    inverse: bool,
    counts: bool,
) -> Triple:
    """Return three tensors that describe the groups of equal adjacent elements: where each group starts, the group of
    each element, and the length of each group.

    The second tensor has a group number for each element, in the order of the input.

    steps: for each element but the first, whether the element starts a group.  order: the index of each element in the
    input; None if the elements are not sorted.  shape: the shape of the input.
    """
    n, device = len(steps) + 1, steps.device
    starts = torch.cat([torch.zeros(1, dtype=torch.int64, device=device), steps.nonzero().view(-1) + 1])
    groups_of, lengths = _none(device), _none(device)
    if inverse:
        groups_of = torch.zeros(n, dtype=torch.int64, device=device)
        torch.cumsum(steps, 0, out=groups_of[1:])
        if order is not None:
            groups_of = torch.empty_like(groups_of).scatter_(0, order.long(), groups_of)
        groups_of = groups_of.view(shape)
    if counts:
        lengths = torch.diff(starts, append=torch.full((1,), n, dtype=torch.int64, device=device))
    return starts, groups_of, lengths


def _none(device: torch.device) -> torch.Tensor:
    return torch.empty(0, dtype=torch.int64, device=device)


def _reduced(reducer: GroupBy | ReduceByKey, flat: torch.Tensor, counts: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Call `reducer`; return a tensor that begins with the key of each group, and an int32 tensor for `_first`.

    The first tensor has as many elements as `flat`.  The second begins with the counts of the groups, if requested; its
    last element is the number of groups.
    """
    words = torch.empty(len(flat) * counts + 1, dtype=torch.int32, device=flat.device)
    source = flat.view(torch.uint8) if flat.dtype == torch.bool else flat
    out = torch.empty_like(source)
    reducer(source, out=out, groups=words[-1:], counts=words[:-1] if counts else None)
    return out, words


def _first(out: torch.Tensor, words: torch.Tensor, flat: torch.Tensor, dtype: torch.dtype) -> Triple:
    """Return the results of `_reduced`, shortened to the number of groups; the host waits for this number.

    If the keys fill at most half of `out`, return a copy of them, so that the memory of `out` is freed.
    """
    number = int(words[-1])
    keys = _bits(out)[:number]
    keys = keys.clone() if 2 * number <= len(flat) else keys
    counts = words[: min(number, len(words) - 1)].long()
    return keys.view(dtype), _none(flat.device), counts


@lru_cache(maxsize=64)
def _group_by(key: str, number: int) -> GroupBy:
    return cuda.GroupBy(key, device=number)


@lru_cache(maxsize=64)
def _reduction(key: str, number: int) -> ReduceByKey:
    return cuda.ReduceByKey(key, device=number)


@lru_cache(maxsize=64)
def _columns(key: str, width: int, number: int) -> ColumnSorter:
    return cuda.ColumnSorter([key] * width, device=number)
