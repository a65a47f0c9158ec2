"""Sorts of a tensor along a dimension; the results are new contiguous tensors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch

from hsgen.core.numbers import MOST, integer
from hsgen.cuda import background
from hsgen.cuda.choices import choice
from hsgen.cuda.subjects import Shape
from hsgen.torch import meanwhile, repeats

if TYPE_CHECKING:
    from hsgen.cuda.order import Order
    from hsgen.cuda.selections import Selection

KEYS = {
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
    torch.bool: "u8",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
}
"""hsgen's key type for each element type of PyTorch."""


def prepared(x: torch.Tensor, dim: int, *, descending: bool, keys: bool, method: str = "") -> Order | None:
    """Return the `Order`, the kernel launches that sort a tensor along a dimension; None if PyTorch's own sort must
    run.

    keys: whether the sorted elements are needed, not only their indices.  method: a method of `hsgen.cuda.choices`; by
    default, the rules of that module select the method.
    """
    shape = _shape(x, dim, descending=descending, keys=keys)
    return _order(shape, method) if shape else None


def _shape(x: torch.Tensor, dim: int, *, descending: bool, keys: bool) -> Shape | None:
    """Return the `Shape` that describes the sort of `x` along a dimension; None if hsgen does not sort the tensor on a
    GPU.

    hsgen sorts tensors on a GPU, of a type in `KEYS`, whose rows have at least two elements.
    """
    key = KEYS.get(x.dtype)
    if key is None or not x.is_cuda or x.dim() == 0 or (length := x.shape[dim]) < 2 or (count := x.numel()) == 0:
        return None
    return Shape(number=x.get_device(), key=key, rows=count // length, length=length, descending=descending, keys=keys)


def _order(shape: Shape, method: str) -> Order | None:
    ready: Order | None = background.module("hsgen.cuda.order").order(shape, method)
    return ready


def unprepared(x: torch.Tensor, dim: int, *, descending: bool, keys: bool, method: str = "") -> bool:
    """Return True while a thread compiles the sort for tensors of this type and shape, so that PyTorch must sort `x`.

    The first call for a type and a shape starts the preparation (`hsgen.cuda.background`).

    Raises:
        HsgenError: the preparation failed.
    """
    if not background.enabled() or (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        return False
    shape = _shape(x, dim, descending=descending, keys=keys)
    if shape is None or not (method or choice(shape.key, shape.rows, shape.length)):
        return False
    return shape.length <= meanwhile.LONGEST and background.pending((shape, method), lambda: _order(shape, method))


def _settled(x: torch.Tensor, dim: int) -> bool:
    """Return True if no row has more than one element, so that no sort is needed.

    The caller then does not call torch.sort, which may not support the element type.
    """
    return x.is_cuda and x.dtype in KEYS and (x.dim() == 0 or x.numel() == 0 or x.shape[dim] < 2)


_known: dict[tuple[Any, ...], Order] = {}
_KEPT = 256


def _ready(x: torch.Tensor, call: tuple[Any, ...]) -> Order | None:
    """Return the kernel launches that an earlier equal call prepared; None if there are none, or if `x` is not
    contiguous.
    """
    ready = _known.get((x.dtype, x.shape, x.get_device(), call))
    return ready if ready is not None and x.is_cuda and x.is_contiguous() else None


def _keep(x: torch.Tensor, call: tuple[Any, ...], ready: Order) -> None:
    """Keep the kernel launches of a call, from which `_ready` serves later equal calls; the call sorts along the last
    dimension.
    """
    if len(_known) >= _KEPT:
        _known.clear()
    _known[x.dtype, x.shape, x.get_device(), call] = ready


def sorted_rows(x: torch.Tensor, dim: int, descending: bool, method: str = "") -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sorted elements and their indices as contiguous tensors."""
    call = dim, descending, method, True
    ready = _ready(x, call)
    if ready is None:
        dim = checked(x, dim)
        if unprepared(x, dim, descending=descending, keys=True, method=method):
            with suppress(torch.cuda.OutOfMemoryError):  # if so, wait for hsgen's sort, which needs less memory
                return meanwhile.sorted_rows(x, dim, descending)
        ready = prepared(x, dim, descending=descending, keys=True, method=method)
        if ready is None:
            if _settled(x, dim):
                return x.clone(memory_format=torch.contiguous_format), _zeros(x)
            values, indices = torch.sort(x, dim=dim, descending=descending, stable=True)
            return values.contiguous(), indices.contiguous()
        if dim != x.dim() - 1:
            values, indices = sorted_rows(x.movedim(dim, -1).contiguous(), -1, descending, method)
            return values.movedim(-1, dim).contiguous(), indices.movedim(-1, dim).contiguous()
        _keep(x, call, ready)
        x = x.contiguous()
    values, indices = torch.empty_like(x), torch.empty_like(x, dtype=torch.int64)
    launch(ready, x, values, indices)
    return values, indices


def argsorted_rows(x: torch.Tensor, dim: int, descending: bool, method: str = "") -> torch.Tensor:
    """Return the indices of the sorted elements as a contiguous tensor."""
    call = dim, descending, method, False
    ready = _ready(x, call)
    if ready is None:
        dim = checked(x, dim)
        if unprepared(x, dim, descending=descending, keys=False, method=method):
            with suppress(torch.cuda.OutOfMemoryError):
                return meanwhile.argsorted_rows(x, dim, descending)
        ready = prepared(x, dim, descending=descending, keys=False, method=method)
        if ready is None:
            if _settled(x, dim):
                return _zeros(x)
            return torch.argsort(x, dim=dim, descending=descending, stable=True).contiguous()
        if dim != x.dim() - 1:
            indices = argsorted_rows(x.movedim(dim, -1).contiguous(), -1, descending, method)
            return indices.movedim(-1, dim).contiguous()
        _keep(x, call, ready)
        x = x.contiguous()
    indices = torch.empty_like(x, dtype=torch.int64)
    launch(ready, x, None, indices)
    return indices


def sorted_alike(x: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return the sorted elements and their indices, with the strides that torch.sort returns, for `enable`.

    The result is None if PyTorch's own sort must run.  PyTorch sorts in the first of several similar calls
    (`hsgen.torch.repeats`), while a thread prepares the sort, and if PyTorch is faster for this shape.
    """
    call = dim, descending, "", True
    ready, count = _ready(x, call), x.dim()
    if ready is None:
        if not -count <= dim < count or not repeats.again(x, call):
            return None
        dim %= count
        if unprepared(x, dim, descending=descending, keys=True):
            return None
        ready = prepared(x, dim, descending=descending, keys=True)
        if ready is None:
            return None
        if dim != count - 1 or not x.is_contiguous():
            return _sorted_strided(ready, x, dim)
        _keep(x, call, ready)
    values, indices = torch.empty_like(x), torch.empty_like(x, dtype=torch.int64)
    launch(ready, x, values, indices)
    return values, indices


def _sorted_strided(ready: Order, x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the result of `sorted_alike` for a tensor whose rows are not contiguous, or not in C order.

    `dim` first becomes the last dimension, after all others in the order of their strides.  A transposed tensor
    therefore needs no copy.
    """
    outer = sorted((d for d in range(x.dim()) if d != dim), key=lambda d: -x.stride(d))
    rows = x.permute(*outer, dim)
    source = rows.contiguous()
    values, indices = torch.empty_like(source), torch.empty_like(source, dtype=torch.int64)
    launch(ready, source, values, indices)
    back = sorted(range(x.dim()), key=[*outer, dim].__getitem__)
    results = values.permute(back), indices.permute(back)
    if rows.is_contiguous():
        return results
    alike = torch.empty_like(x), torch.empty_like(x, dtype=torch.int64)
    return alike[0].copy_(results[0]), alike[1].copy_(results[1])


def _zeros(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros(x.shape, dtype=torch.int64, device=x.device)


def dimension(dim: int) -> int:
    """Return a dimension as a Python integer, because it is part of the dictionary key of prepared launches.

    Raises:
        TypeError: the dimension is not an integer.
    """
    return dim if type(dim) is int else integer("dim", dim, -MOST, MOST)


def checked(x: torch.Tensor, dim: int) -> int:
    """Return a dimension, which may be negative, as a number from 0 up; raise PyTorch's error if there is none."""
    count = x.dim()
    if not -max(count, 1) <= dim < max(count, 1):
        torch.sort(x, dim=dim)
    return dim % count if count else 0


_raw: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)


def launch(
    ready: Order | Selection,
    rows: torch.Tensor,
    values: torch.Tensor | None,
    indices: torch.Tensor,
    numbers: Mapping[str, torch.Tensor] | None = None,
    **sizes: int,
) -> None:
    """Run the launches `ready` of a sort or selection on the current stream of its GPU; scratch memory comes from
    PyTorch's allocator.

    numbers: for a selection, tensors by name, whose addresses are passed to `Selection.run` in its argument `numbers`.

    sizes: numbers that are passed unchanged in the same argument.
    """
    number = ready.gpu.number
    stream = _raw(number) if _raw else torch.cuda.current_stream(number).cuda_stream
    scratch = None
    if ready.scratch:
        scratch = torch.empty(ready.scratch, dtype=torch.uint8, device=rows.device)
    to, work = (0 if x is None else x.data_ptr() for x in (values, scratch))
    more = ({name: x.data_ptr() for name, x in numbers.items()} | sizes,) if numbers else ()
    ready.run(rows.data_ptr(), to, indices.data_ptr(), work, stream, *more)
