"""The functions `enable` and `disable`; after `enable`, PyTorch's own functions run hsgen's sorts.

`enable` replaces the kernels of PyTorch's operators for CUDA tensors in PyTorch's dispatcher, below autograd, vmap and
torch.compile.  All callers get the replacement: Python, compiled graphs and C++.  If PyTorch sorts a tensor faster, the
replacement calls PyTorch's kernel.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from threading import RLock
from typing import Any

import torch

from hsgen.core.errors import HsgenError, Unavailable, Wrong
from hsgen.cuda import driver
from hsgen.torch import grouping, selecting
from hsgen.torch.rows import sorted_alike

KEY = "CUDA"
"""The dispatch key of the replaced kernels."""
_lock = RLock()
_failed: set[str] = set()


class Enabled:
    """The result of `enable`; in a `with` statement, it calls `disable` at the end of the block.

    If hsgen was already enabled before this call of `enable`, it stays enabled after the block.
    """

    def __init__(self, *, before: bool) -> None:
        self._before = before

    def __enter__(self) -> Enabled:
        """Return the object."""
        return self

    def __exit__(self, *failure: object) -> None:
        """Call `disable`, unless hsgen was already enabled before this call of `enable`."""
        if not self._before:
            disable()


class _Replacements:
    """Replaces PyTorch's kernels when it is created, until `restore`."""

    def __init__(self) -> None:
        self._library = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "(?s).*Overriding a previously registered kernel")
            for name, replacement in _OPERATORS.items():
                native = torch.library.get_kernel(f"aten::{name}", KEY)
                self._library.impl(name, replacement(native.call_boxed), KEY, with_keyset=True)

    def restore(self) -> None:
        """Put PyTorch's kernels back."""
        self._library._destroy()


_replaced: _Replacements | None = None


def enable() -> Enabled:
    """Let PyTorch's functions on CUDA tensors use hsgen where hsgen is faster, in all threads of the process.

    The functions are torch.sort, argsort, msort, topk, unique and unique_consecutive, the methods of tensors, and all
    other code that calls their operators.  Results are those of PyTorch, but sorts are stable even without
    `stable=True`.

    Raises:
        Unavailable: PyTorch has no CUDA or is older than 2.9; cuda.bindings or the driver is missing.
    """
    global _replaced
    if torch.version.cuda is None and KEY == "CUDA":
        raise Unavailable(f"PyTorch {torch.__version__} was built without CUDA; install a build for CUDA")
    if not hasattr(torch.library, "get_kernel"):
        raise Unavailable(f"PyTorch {torch.__version__} cannot call a replaced kernel; install 2.9 or later")
    driver.bindings()
    with _lock:
        before = _replaced is not None
        _replaced = _replaced or _Replacements()
    return Enabled(before=before)


def disable() -> None:
    """Put PyTorch's own kernels back; without effect unless `enable` was called."""
    global _replaced
    with _lock:
        if _replaced is not None:
            _replaced.restore()
        _replaced = None


def enabled() -> bool:
    """Return True between `enable` and `disable`."""
    return _replaced is not None


def _attempt(name: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of `call`, a function of hsgen; None if the caller must run PyTorch's own kernel of the
    operator `name`.

    If a kernel of hsgen does not compile or load, warn (once for each operator) and return None.
    """
    try:
        return call(*arguments)
    except Unavailable as e:
        _warn(name, e)
    except Wrong as e:
        if "CUDA_ERROR" in str(e):  # the CUDA context may be lost: PyTorch's kernel would fail too
            raise
        _warn(name, e)
    return None


def _warn(name: str, error: HsgenError) -> None:
    if name not in _failed:
        _failed.add(name)
        warnings.warn(f"hsgen: {error.lines[0]}; PyTorch's own {name} runs instead", RuntimeWarning, stacklevel=4)


Native = Callable[..., Any]
"""PyTorch's kernel of an operator; its arguments are the set of dispatch keys, then the operator's own arguments."""


def _sort(native: Native) -> Callable[..., Any]:
    def sort(
        keys: Any, self: torch.Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
    ) -> Any:
        ours = _attempt("sort", sorted_alike, self, dim, descending)
        return native(keys, self, stable=stable, dim=dim, descending=descending) if ours is None else ours

    return sort


def _sort_out(native: Native) -> Callable[..., Any]:
    def sort_out(
        keys: Any,
        self: torch.Tensor,
        *,
        stable: bool | None = None,
        dim: int = -1,
        descending: bool = False,
        values: torch.Tensor,
        indices: torch.Tensor,
    ) -> Any:
        ours = None
        if _takes(self, self.shape, values, indices):
            ours = _attempt("sort", sorted_alike, self, dim, descending)
        if ours is None:
            options = {"stable": stable, "dim": dim, "descending": descending}
            return native(keys, self, **options, values=values, indices=indices)
        return _stored(ours[0], values), _stored(ours[1], indices)

    return sort_out


def _takes(x: torch.Tensor, shape: tuple[int, ...], values: torch.Tensor, indices: torch.Tensor) -> bool:
    """Return True if the caller's output tensors fit a result: their types and device are those of the result, and they
    have its shape or no elements.

    With any other output tensors, PyTorch's kernel runs, and warns or raises the usual error.
    """
    types = values.dtype == x.dtype and indices.dtype == torch.int64
    return types and all(y.device == x.device and (y.shape == shape or not y.numel()) for y in (values, indices))


def _stored(result: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """Copy a result to the caller's output tensor, and return this tensor."""
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)


def _topk(native: Native) -> Callable[..., Any]:
    def topk(keys: Any, self: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        ours = _attempt("topk", selecting.selected, self, k, dim, largest, sorted)
        return native(keys, self, k, dim, largest, sorted) if ours is None else ours

    return topk


def _topk_out(native: Native) -> Callable[..., Any]:
    def topk_out(
        keys: Any,
        self: torch.Tensor,
        k: int,
        dim: int = -1,
        largest: bool = True,
        sorted: bool = True,
        *,
        values: torch.Tensor,
        indices: torch.Tensor,
    ) -> Any:
        ours = None
        if self.dim() and -self.dim() <= dim < self.dim():
            shape = list(self.shape)
            shape[dim] = k
            if _takes(self, torch.Size(shape), values, indices):
                ours = _attempt("topk", selecting.selected, self, k, dim, largest, sorted)
        if ours is None:
            return native(keys, self, k, dim, largest, sorted, values=values, indices=indices)
        return _stored(ours[0], values), _stored(ours[1], indices)

    return topk_out


def _unique(native: Native) -> Callable[..., Any]:
    def unique(
        keys: Any,
        self: torch.Tensor,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
    ) -> Any:
        ours = _attempt("unique", grouping.distinct, self, return_inverse, return_counts)
        return native(keys, self, sorted, return_inverse, return_counts) if ours is None else ours

    return unique


def _unique_dim(native: Native) -> Callable[..., Any]:
    def unique_dim(
        keys: Any,
        self: torch.Tensor,
        dim: int,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
    ) -> Any:
        ours = _attempt("unique", grouping.distinct_slices, self, dim, return_inverse, return_counts)
        return native(keys, self, dim, sorted, return_inverse, return_counts) if ours is None else ours

    return unique_dim


def _unique_consecutive(native: Native) -> Callable[..., Any]:
    def unique_consecutive(
        keys: Any,
        self: torch.Tensor,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        ours = None
        if dim is None:
            ours = _attempt("unique_consecutive", grouping.runs, self, return_inverse, return_counts)
        return native(keys, self, return_inverse, return_counts, dim) if ours is None else ours

    return unique_consecutive


_OPERATORS: dict[str, Callable[[Native], Callable[..., Any]]] = {
    "sort.stable": _sort,
    "sort.values_stable": _sort_out,
    "topk": _topk,
    "topk.values": _topk_out,
    "_unique2": _unique,
    "unique_dim": _unique_dim,
    "unique_consecutive": _unique_consecutive,
}
"""For each operator, a function that takes PyTorch's kernel and returns the replacement."""
