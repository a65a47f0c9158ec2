"""The public functions of `hsgen.cupy`.  The rules in `hsgen.cuda.choices` decide whether CuPy or hsgen sorts an
array.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack, overload

import cupy

from hsgen.core.keys import TYPES
from hsgen.core.numbers import MOST, integer
from hsgen.cuda import background
from hsgen.cuda.choices import choice
from hsgen.cuda.subjects import Shape, Take
from hsgen.cuda.top_k_choices import SORT
from hsgen.runners import row_numbers
from hsgen.runners.row_numbers import RowNumbers, Selected, SelectedEntries

if TYPE_CHECKING:
    from hsgen.cuda.order import Order
    from hsgen.cuda.selections import Selection

_KEYS = {t.element: t.name for t in TYPES.values()} | {"bool": "u8"}


_ARRAYS = row_numbers.Arrays(
    kind=cupy.ndarray,
    noun="an array of CuPy",
    is_integer=lambda x: x.dtype.kind in "iu",
    device=lambda x: getattr(x, "device", None),
)


def sort(a: Any, axis: int | None = -1, kind: str | None = None) -> Any:
    """Return a sorted copy of an array along an axis, as cupy.sort does; axis None flattens the array.

    NaNs are last, and all have the same bits in the result.  `kind` is "stable" or None.
    """
    _check(a, kind)
    a, axis = _flat(a, axis)
    ready = _order_now(a, axis, keys=True)
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
    ready = _order_now(a, axis, keys=False)
    if ready is None:
        return cupy.argsort(a, axis=axis)
    rows = _rows(a, axis)
    out = cupy.empty(rows.shape, cupy.int64)
    _launch(ready, rows, 0, out.data.ptr)
    return _back(out, axis)


@overload
def topk(
    a: Any,
    k: int,
    axis: int | None = -1,
    *,
    largest: bool = True,
    sorted: bool = True,
    table: None = None,
    **numbers: Unpack[RowNumbers],
) -> Selected: ...
@overload
def topk(
    a: Any,
    k: int,
    axis: int | None = -1,
    *,
    largest: bool = True,
    sorted: bool = True,
    table: Any,
    **numbers: Unpack[RowNumbers],
) -> SelectedEntries: ...
def topk(
    a: Any,
    k: int,
    axis: int | None = -1,
    *,
    largest: bool = True,
    sorted: bool = True,
    table: Any = None,
    **numbers: Unpack[RowNumbers],
) -> Selected | SelectedEntries:
    """Return the k greatest or least elements along an axis, and their indices (int64); axis None flattens the array.

    NaNs are equal and greater than all numbers, and -0 equals 0.  Of equal elements, those with the lowest indices are
    selected, in the order of indices.  Elements keep their bits.  If `sorted` is False, the result has the same
    elements in an unspecified order, which is the same in every call.

    numbers: arrays with an integer for each row, such as its length; see `hsgen.runners.row_numbers.RowNumbers`.  A row
    may then have fewer than k elements to select.  The rest of its result has the index -1 and a padding value: -inf or
    the least integer, or if `largest` is False, NaN or the greatest integer.
    table: a look-up table, whose entry for each selected index is a third result.  The entry is -1 for the index -1,
    and for an index that lies beyond the table.

    Raises:
        TypeError: an argument has a wrong Python type, or no kernel selects from elements of this type.
        ValueError: k exceeds the axis, or numbers have a wrong shape.
    """
    present = row_numbers.present({**numbers, "table": table})
    ready, a, k, axis = _selection(a, k, axis, largest=largest, sorted=sorted, numbers=present)
    shape = (*a.shape[:axis], *a.shape[axis + 1 :], k)
    out, indices = cupy.empty(shape, a.dtype), cupy.empty(shape, cupy.int64)
    entries = None if table is None else cupy.empty(shape, table.dtype)
    if ready is not None:
        passed = {name: _passed(name, x, axis, present) for name, x in present.items()}
        addresses = {name: x.data.ptr for name, x in passed.items()}
        if entries is not None:
            addresses |= {"entries": entries.data.ptr, "size": table.size}
        _launch(ready, _rows(a, axis), out.data.ptr, indices.data.ptr, *([addresses] if addresses else []))
    if entries is None:
        return Selected(_back(out, axis), _back(indices, axis))
    return SelectedEntries(_back(out, axis), _back(indices, axis), _back(entries, axis))


def _passed(name: str, x: Any, axis: int, numbers: Mapping[str, Any]) -> Any:
    """Return the array `name` as kernels read it: contiguous, of int32 numbers, or of int64 for `table_starts`.

    The look-up table keeps its element type; `axis` becomes its last axis.
    """
    if name == "table":
        return cupy.ascontiguousarray(x) if "table_starts" in numbers else _rows(x, axis)
    return cupy.ascontiguousarray(x.astype(cupy.int64 if name == "table_starts" else cupy.int32))


def topk_method(
    a: Any,
    k: int,
    axis: int | None = -1,
    *,
    largest: bool = True,
    sorted: bool = True,
    table: Any = None,
    **numbers: Unpack[RowNumbers],
) -> str:
    """Return how `topk` selects from an array, as text: "hsgen: " and the steps that it runs, or "none" for an empty
    result.

    The steps are "select" (a selection), "select, sort" (a sort of the selected elements follows) or "sort" (a sort of
    all rows).
    """
    present = row_numbers.present({**numbers, "table": table})
    ready, *_ = _selection(a, k, axis, largest=largest, sorted=sorted, numbers=present)
    return f"hsgen: {ready.steps}" if ready else "none"


def _selection(
    a: Any, k: int, axis: int | None, *, largest: bool, sorted: bool, numbers: Mapping[str, Any]
) -> tuple[Selection | None, Any, int, int]:
    """Check the arguments of a selection; return its `Selection`, the array, k, and the axis as a number from 0 up.

    The `Selection`, which has the kernel launches, is None if the result has no elements.
    """
    _check(a, None)
    a, axis = _flat(a, axis)
    key = "bool" if a.dtype.name == "bool" else _KEYS.get(a.dtype.name) if a.dtype.isnative else None
    if key is None:
        raise TypeError(
            f"a has elements of {a.dtype.str if not a.dtype.isnative else a.dtype}; give {', '.join(_KEYS)}"
        )
    k = integer("k", k, 0, a.shape[axis])
    row_numbers.check(numbers, a, axis, _ARRAYS, "a")
    if a.size == 0 or k == 0:
        return None, a, k, axis
    take = Take(
        number=a.data.device_id,
        key=key,
        rows=a.size // a.shape[axis],
        length=a.shape[axis],
        k=k,
        largest=bool(largest),
        sorted=bool(sorted),
        numbers=tuple(numbers),
        entry=numbers["table"].itemsize if "table" in numbers else 4,
    )
    selection = background.module("hsgen.cuda.selections").selection
    return selection(take) or selection(take, SORT), a, k, axis


def method(a: Any, axis: int = -1) -> str:
    """Return how `sort` sorts an array, as text: "cupy.sort", or "hsgen: " and a method in `hsgen.cuda.choices`."""
    ready = _order(*_flat(a, axis), keys=True)
    return f"hsgen: {ready.method}" if ready else "cupy.sort"


def _check(a: Any, kind: str | None) -> None:
    if not isinstance(a, cupy.ndarray):
        raise TypeError(f"a is a {type(a).__name__}; give an array of CuPy")
    if kind not in (None, "stable"):
        raise ValueError(f"kind {kind}: unknown; give 'stable' or None")


def _flat(a: Any, axis: int | None) -> tuple[Any, int]:
    """Return the array, flat if `axis` is None, and the axis as a number from 0 up.

    Raises:
        TypeError: the axis is not an integer.
        numpy.exceptions.AxisError: there is no such axis; CuPy raises this error.
    """
    if axis is None:
        return a.ravel(), 0
    axis = integer("axis", axis, -MOST, MOST)
    if not -a.ndim <= axis < a.ndim:
        cupy.sort(a, axis=axis)
    return a, axis % max(a.ndim, 1)


def _one_nan(array: Any) -> Any:
    """Replace every NaN in a sorted array by the same NaN, as hsgen's sorts do; return the array.

    CuPy has sorted the array, and needs 0.7 s to compile a kernel that replaces NaNs.  The function therefore runs the
    kernel only if the array may have NaNs.
    """
    if array.dtype.kind == "f" and not _ends_in_number(array):
        array[cupy.isnan(array)] = cupy.nan
    return array


def _ends_in_number(array: Any) -> bool:
    """Return True if a sorted array has no NaN: NaNs would be last, so the host reads the last element.

    The function returns False, without reading, for an array of several dimensions, or while a graph is captured.
    """
    if array.ndim != 1 or array.size < 2 or _captured():
        return False
    last = float(array[-1])
    return last == last


def _captured() -> bool:
    return bool(cupy.cuda.runtime.streamIsCapturing(cupy.cuda.get_current_stream().ptr))


def _order_now(a: Any, axis: int, *, keys: bool) -> Order | None:
    """Return the kernel launches that sort an array; None if CuPy's own sort must run, for example while a thread still
    compiles the kernels.
    """
    shape = _shape(a, axis, keys=keys)
    if shape is None or not background.enabled() or not choice(shape.key, shape.rows, shape.length) or _captured():
        return _prepared(shape)
    return None if background.pending(shape, lambda: _prepared(shape)) else _prepared(shape)


def _order(a: Any, axis: int, *, keys: bool) -> Order | None:
    return _prepared(_shape(a, axis, keys=keys))


def _prepared(shape: Shape | None) -> Order | None:
    ready: Order | None = background.module("hsgen.cuda.order").order(shape) if shape else None
    return ready


def _shape(a: Any, axis: int, *, keys: bool) -> Shape | None:
    """Return the `Shape` that describes the sort of `a` along an axis; None if hsgen does not sort the array.

    hsgen sorts arrays of a type in `_KEYS`, in native byte order, whose rows have at least two elements.
    """
    key = _KEYS.get(a.dtype.name) if a.dtype.isnative else None
    if key is None or a.ndim == 0 or a.size < 2 or a.shape[axis] < 2:
        return None
    length = a.shape[axis]
    return Shape(number=a.data.device_id, key=key, rows=a.size // length, length=length, keys=keys, indices=not keys)


def _rows(a: Any, axis: int) -> Any:
    """Return a contiguous array whose last axis is `axis`; a copy only if necessary."""
    return cupy.ascontiguousarray(a if axis == a.ndim - 1 else cupy.moveaxis(a, axis, -1))


def _back(rows: Any, axis: int) -> Any:
    return rows if axis == rows.ndim - 1 else cupy.ascontiguousarray(cupy.moveaxis(rows, -1, axis))


def _launch(ready: Order | Selection, rows: Any, out: int, indices: int, *numbers: Mapping[str, int]) -> None:
    """Run the launches `ready` of a sort or selection on the current stream; scratch memory comes from CuPy's pool.

    out, indices: addresses of the results.  numbers: none, or the `numbers` of `Selection.run`.
    """
    stream = cupy.cuda.get_current_stream().ptr
    scratch = cupy.cuda.alloc(ready.scratch) if ready.scratch else None
    ready.run(rows.data.ptr, out, indices, scratch.ptr if scratch is not None else 0, stream, *numbers)
