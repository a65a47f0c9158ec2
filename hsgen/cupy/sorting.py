"""The functions for arrays of CuPy; `hsgen.cuda.choices` selects CuPy's own sort or a sort of hsgen."""

from __future__ import annotations

from typing import Any

import cupy

from hsgen.core.keys import TYPES
from hsgen.core.numbers import MOST, integer
from hsgen.cuda.order import Order, Shape, order

_KEYS = {t.element: t.name for t in TYPES.values()} | {"bool": "u8"}


def sort(a: Any, axis: int | None = -1, kind: str | None = None) -> Any:
    """Return a sorted copy of an array along an axis, as cupy.sort does; axis None flattens the array.

    NaNs are last, and have one bit pattern in the result.  `kind` is "stable" or None.
    """
    _check(a, kind)
    a, axis = _flat(a, axis)
    ready = _order(a, axis, keys=True)
    if ready is None:
        return _one_nan(cupy.sort(a, axis=axis))
    rows = _rows(a, axis)
    out = cupy.empty_like(rows)
    _launch(ready, rows, out.data.ptr, 0)
    return _back(out, axis)


def argsort(a: Any, axis: int | None = -1, kind: str | None = None) -> Any:
    """Return the indices (int64) of a stable sort along an axis, as cupy.argsort does; axis None flattens the array."""
    _check(a, kind)
    a, axis = _flat(a, axis)
    ready = _order(a, axis, keys=False)
    if ready is None:
        return cupy.argsort(a, axis=axis)
    rows = _rows(a, axis)
    out = cupy.empty(rows.shape, cupy.int64)
    _launch(ready, rows, 0, out.data.ptr)
    return _back(out, axis)


def method(a: Any, axis: int = -1) -> str:
    """Return the method of `sort` for an array: "cupy.sort", or "hsgen: " and a name in `hsgen.cuda.choices`."""
    ready = _order(*_flat(a, axis), keys=True)
    return f"hsgen: {ready.method}" if ready else "cupy.sort"


def _check(a: Any, kind: str | None) -> None:
    if not isinstance(a, cupy.ndarray):
        raise TypeError(f"a is a {type(a).__name__}; give an array of CuPy")
    if kind not in (None, "stable"):
        raise ValueError(f"kind {kind}: unknown; give 'stable' or None")


def _flat(a: Any, axis: int | None) -> tuple[Any, int]:
    """Return the array and the number of its axis, counted from the front; raise CuPy's error for an invalid axis.

    Raises:
        TypeError: the axis is not an integer.
    """
    if axis is None:
        return a.ravel(), 0
    axis = integer("axis", axis, -MOST, MOST)
    if not -a.ndim <= axis < a.ndim:
        cupy.sort(a, axis=axis)
    return a, axis % max(a.ndim, 1)


def _one_nan(array: Any) -> Any:
    """Return a sorted array with one bit pattern for all NaNs, as sorts of hsgen return it."""
    if array.dtype.kind == "f":
        array[cupy.isnan(array)] = cupy.nan
    return array


def _order(a: Any, axis: int, *, keys: bool) -> Order | None:
    key = _KEYS.get(a.dtype.name) if a.dtype.isnative else None
    if key is None or a.ndim == 0 or a.size < 2 or a.shape[axis] < 2:
        return None
    length = a.shape[axis]
    shape = Shape(number=a.data.device_id, key=key, rows=a.size // length, length=length, keys=keys, indices=not keys)
    return order(shape)


def _rows(a: Any, axis: int) -> Any:
    """Return the array as a contiguous array with the axis last."""
    return cupy.ascontiguousarray(a if axis == a.ndim - 1 else cupy.moveaxis(a, axis, -1))


def _back(rows: Any, axis: int) -> Any:
    return rows if axis == rows.ndim - 1 else cupy.ascontiguousarray(cupy.moveaxis(rows, -1, axis))


def _launch(ready: Order, rows: Any, out: int, indices: int) -> None:
    """Launch on the current stream, with scratch memory of CuPy's pool."""
    stream = cupy.cuda.get_current_stream().ptr
    scratch = cupy.cuda.alloc(ready.scratch) if ready.scratch else None
    ready.run(rows.data.ptr, out, indices, scratch.ptr if scratch is not None else 0, stream)
