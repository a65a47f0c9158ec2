"""`sort`, `argsort` and `topk`, which sort numpy arrays on a device, with the results of numpy's stable sorts."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from threading import RLock
from typing import Any, TypeVar, Unpack, overload

import numpy as np

from hsgen.core.errors import wrong_type
from hsgen.core.keys import TYPES
from hsgen.core.numbers import integer
from hsgen.cuda import background
from hsgen.numpy import meanwhile
from hsgen.numpy.devices import CudaDevice, Device, chosen, device_of
from hsgen.numpy.large import Progress, Sort, bar, greatest_length, in_turn, sort_large
from hsgen.numpy.sorter import bits
from hsgen.runners import row_numbers
from hsgen.runners.row_numbers import RowNumbers, Selected, SelectedEntries

T = TypeVar("T")
_KEYS = {t.element: t.name for t in TYPES.values()} | {"bool": "u8"}
CHUNKS = 64
"""The usual number of chunks of a long array.  A short array has fewer, an array beyond device memory may have more."""
CHUNK = 64 << 20
"""The least number of bytes of a chunk, unless device memory permits only smaller chunks."""
_WIDEST = 1 << 32  # least count that needs 64-bit indices


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    descending: bool = False,
    device: str | None = None,
    out: Any = None,
    memory: int | None = None,
    progress: bool | Progress = False,
) -> Any:
    """Return a sorted copy of an array along an axis, as numpy.sort does; axis None flattens the array.

    The array is copied to the device and back, which takes longer than most sorts.  NaNs are greater than all numbers,
    and all have the same bits in the result.  Arrays beyond the memory of the device are sorted in chunks.

    Args:
        out: the array or memory map for the result, which may be `a`; None makes a new array.
        memory: the greatest number of bytes of device memory that a sort uses.  None is 15/16 of the free memory of a
            GPU through CUDA, or half of the memory of an OpenCL device.
        progress: True to show a bar, or a function that is called with the work done and the total work.  For an array
            in chunks, these count every key twice; for several rows, they count rows.  For an array that fits the
            device, there is no call.

    Raises:
        TypeError: no kernel sorts elements of this type, the array is masked, or an argument has a wrong Python type.
        ValueError: `out` has another type or shape, or is read-only.
        numpy.exceptions.AxisError: there is no such axis.
        hsgen.core.errors.HsgenError: see `hsgen.Sorter`; there is no room for a temporary file.
    """
    rows, key, axis = _rows(a, axis)
    result = np.empty(rows.shape, rows.dtype) if out is None else _checked(out, rows, axis)
    if rows.size and rows.shape[-1] > 1:
        run = partial(_sort_on_device, key=key, descending=descending, device=device, memory=memory)
        kind = "sort", rows.shape, key, descending
        instead = partial(meanwhile.sorted_rows, rows, key, descending=descending)
        call = partial(run, rows, result, progress=progress)
        _served(kind, rows.size, device, call, lambda: run(*_dummies(rows)), lambda: np.copyto(result, instead()))
    else:
        result[...] = _numeric(rows, zeros=False)
    return np.moveaxis(result, -1, axis) if out is None else out


def _sort_on_device(
    rows: Any,
    result: Any,
    *,
    key: str,
    descending: bool,
    device: str | None,
    memory: int | None,
    progress: bool | Progress = False,
) -> None:
    """Sort rows on a device into `result`; if the device has too little memory, sort in chunks."""
    on, order = device_of(device), "descending" if descending else "ascending"
    sorter = _sorter(on, "Sorter" if rows.size == rows.shape[-1] else "SegmentedSorter", key, None, order)
    length = greatest_length(sorter, *on.room(memory))
    if rows.size > length:
        background.slow()  # raise `Slow` now: later, the result, which may be `a` itself, would have changed
    chunk = partial(_sorted, key=key, descending=descending, device=device)
    with bar(progress) as report:
        chunked = partial(_sort_chunked, on, sorter, chunk, key, memory, descending=descending)
        _sort_rows(rows, result, chunk, length, chunked, report)


def _dummies(rows: Any) -> tuple[Any, Any]:
    """Return an array of zeros with the shape of `rows`, and an array for its result; a thread sorts the zeros, so that
    all kernels of the sort are loaded.
    """
    return np.zeros_like(rows), np.empty_like(rows)


def _checked(out: Any, rows: Any, axis: int) -> Any:
    """Check the type and the shape of `out`; return a view of it in which the sorted axis is the last."""
    if not isinstance(out, np.ndarray):
        raise wrong_type("out", "an array of numpy", out)
    turned = np.moveaxis(out, axis, -1) if out.ndim == rows.ndim else out
    if turned.shape != rows.shape or out.dtype != rows.dtype:
        raise ValueError(f"out is {out.dtype} of shape {out.shape}, the result {rows.dtype} of {rows.ndim} dimensions")
    if not out.flags.writeable:
        raise ValueError("out is read-only; give a writable array")
    return turned


def _sorted(rows: Any, key: str, *, descending: bool, device: str | None) -> Any:
    """Return a sorted copy of rows that together fit the device."""
    keys = np.array(_numeric(rows, zeros=False))
    _run(keys, key, keys, None, descending=descending, device=device)
    return keys


def _sort_chunked(
    on: Device,
    sorter: Any,
    chunk: Sort,
    key: str,
    memory: int | None,
    a: Any,
    out: Any,
    report: Progress | None,
    *,
    descending: bool,
) -> None:
    """Sort a flat array in chunks into `out`; on an NVIDIA GPU, copies overlap with sorts."""
    if isinstance(on, CudaDevice):
        from hsgen.numpy.pipeline import COUNTS, SLOTS, Pipeline  # a slow import, which would delay first results

        numeric, (room, allocation) = _sorter(on, "Sorter", key, None, sorter.order, numeric=True), on.room(memory)
        length, size = greatest_length(numeric, room, allocation, chunks=SLOTS), numeric.dtype.itemsize
        length = min(length, max(-(-len(a) // CHUNKS), CHUNK // size))
        if length:
            left = (room - SLOTS * length * size - numeric.scratch_bytes(length) - COUNTS) // size
            staying = min(left, len(a)) if left >= length else 0
            with Pipeline(on.gpu, numeric, length, key, descending=descending, room=staying) as p:
                sort_large(a, out, p, length, key, descending=descending, progress=report, keeper=p)
            return
    length = greatest_length(sorter, *on.room(memory))
    sort_large(a, out, in_turn(chunk), length, key, descending=descending, progress=report)


def _sort_rows(
    rows: Any,
    out: Any,
    chunk: Sort,
    length: int,
    chunked: Callable[[Any, Any, Progress | None], None],
    report: Progress | None,
) -> None:
    """Sort rows into `out`, as many rows at once as the memory of the device can hold.  If a single row is too long,
    `chunked` sorts it.
    """
    row = rows.shape[-1]
    if rows.size <= length:
        out[...] = chunk(rows)
    elif rows.ndim == 1:
        chunked(rows, out, report)
    elif rows.size == row:
        _sort_rows(rows.reshape(-1), out.reshape(-1), chunk, length, chunked, report)
    else:
        flat = rows.reshape(-1, row)
        at_once = max(length // row, 1)
        for begin in range(0, len(flat), at_once):
            part = flat[begin : begin + at_once]
            done = np.empty_like(part)
            if len(part) * row <= length:
                done[...] = chunk(part)
            else:
                chunked(part.reshape(-1), done.reshape(-1), None)
            for i, values in enumerate(done, begin):
                out[np.unravel_index(i, rows.shape[:-1])] = values
            if report:
                report(begin + len(part), len(flat))


def argsort(a: Any, axis: int | None = -1, *, descending: bool = False, device: str | None = None) -> Any:
    """Return the indices that sort an array along an axis, as numpy.argsort with kind="stable" does.

    Axis None flattens the array.  Equal elements, such as -0 and 0, keep their order, also if `descending`.  The array
    is copied as by `sort`; errors are those of `sort`.
    """
    rows, key, axis = _rows(a, axis)
    order = np.zeros(rows.shape, np.intp)
    run = partial(_run, key=key, out=None, descending=descending, device=device)

    def by_numpy() -> None:
        order[...] = meanwhile.argsorted_rows(rows, key, descending=descending)

    if rows.size and rows.shape[-1] > 1:
        _served(
            ("argsort", rows.shape, key, descending),
            rows.size,
            device,
            lambda: run(_numeric(rows, zeros=True), order=order),
            lambda: run(np.zeros_like(rows), order=np.zeros_like(order)),
            by_numpy,
        )
    return np.moveaxis(order, -1, axis)


_ARRAYS = row_numbers.Arrays(
    kind=np.ndarray, noun="an array", is_integer=lambda x: x.dtype.kind in "iu", device=lambda x: None
)


@overload
def topk(
    a: Any,
    k: int,
    axis: int | None = -1,
    *,
    largest: bool = True,
    sorted: bool = True,
    device: str | None = None,
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
    device: str | None = None,
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
    device: str | None = None,
    table: Any = None,
    **numbers: Unpack[RowNumbers],
) -> Selected | SelectedEntries:
    """Return the k greatest or least elements along an axis, and their indices; axis None flattens the array.

    The array is copied to the device, as by `sort`.  NaNs are equal and greater than all numbers, and -0 equals 0.  Of
    equal elements, those with the lowest indices are selected, in the order of indices.  Elements keep their bits.  If
    `sorted` is False, the result has the same elements in an unspecified order, which is the same in every call.

    numbers: arrays with an integer for each row, such as its length; see `hsgen.runners.row_numbers.RowNumbers`.  A row
    may then have fewer than k elements to select.  The rest of its result has the index -1 and a padding value: -inf or
    the least integer, or if `largest` is False, NaN or the greatest integer.
    table: a look-up table, whose entry for each selected index is a third result.  The entry is -1 for the index -1,
    and for an index that lies beyond the table; in a table of unsigned integers, all its bits are 1.

    Raises:
        TypeError: as `sort`; k is not an integer, or numbers are not integers.
        ValueError: k exceeds the axis, or numbers have a wrong shape.
        numpy.exceptions.AxisError: there is no such axis.
        hsgen.core.errors.HsgenError: see `hsgen.Sorter`.
    """
    rows, key, axis = _rows(a, axis)
    k = integer("k", k, 0, rows.shape[-1])
    present = {name: np.asarray(x) for name, x in row_numbers.present({**numbers, "table": table}).items()}
    row_numbers.check(present, np.moveaxis(rows, -1, axis), axis % rows.ndim, _ARRAYS, "a")
    if "table" in present and "table_starts" not in present:
        present["table"] = np.moveaxis(present["table"], axis, -1)
    values, order = _selected(rows, key, k, present, largest=largest, sorted=sorted, device=device)
    values, indices = np.moveaxis(values, -1, axis), np.moveaxis(order, -1, axis)
    if table is None:
        return Selected(values, indices)
    return SelectedEntries(values, indices, np.moveaxis(_entries(order, present), -1, axis))


def _selected(
    rows: Any, key: str, k: int, present: Mapping[str, Any], *, largest: bool, sorted: bool, device: str | None
) -> tuple[Any, Any]:
    """Return the first k elements of each row and their indices.

    present: the arrays with a number per row, and the look-up table, by name.
    """
    last, counted = _last(rows.dtype, largest=largest), None
    if not present.keys().isdisjoint(row_numbers.BOUNDS):
        rows, counted = _windows(rows, present)
        rows = np.where(counted, rows, last)
    if rows.size == 0 or k == 0:
        order = np.zeros((*rows.shape[:-1], k), np.intp)
    else:
        ordered = sorted or "takes" in present  # of a sorted result, the first 3 elements are the result for k = 3
        order = _first(rows, key, k, largest=largest, sorted=ordered, device=device)
    values = np.take_along_axis(rows, order, -1)
    if counted is not None:
        order[~np.take_along_axis(counted, order, -1)] = -1
    if "takes" in present:
        beyond = np.arange(k) >= present["takes"][..., None]
        values[beyond], order[beyond] = last, -1
    return values, order


def _first(rows: Any, key: str, k: int, *, largest: bool, sorted: bool, device: str | None) -> Any:
    """Return the indices of the first k elements of each row.  A device selects them, or numpy while a thread still
    compiles kernels for the device.
    """
    select = partial(_select, key=key, k=k, largest=largest, sorted=sorted, device=device)
    return _served(
        ("topk", rows.shape, key, k, largest, sorted),
        rows.size if sorted else meanwhile.MOST + 1,  # unsorted: numpy's order would differ from the device's
        device,
        lambda: select(_numeric(rows, zeros=True)),
        lambda: select(np.zeros_like(rows)),
        lambda: meanwhile.argsorted_rows(rows, key, descending=largest)[..., :k],
    )


def _served(
    kind: Hashable,
    size: int,
    device: str | None,
    call: Callable[[], T],
    prepare: Callable[[], Any],
    instead: Callable[[], T],
) -> T:
    """Return the result of `call`, which uses a device.  While a thread still runs `prepare`, return the result of
    `instead`, which uses numpy.

    If the caller named the device, or there are too many elements for numpy, `call` waits for the compilation.  See
    `hsgen.cuda.background.served`.
    """
    if device is not None or size > meanwhile.MOST or not background.enabled():
        return call()
    chosen()  # if there is no device, raise the error in this call, not in the thread
    return background.served(kind, call, prepare, instead)


def _windows(rows: Any, numbers: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the rows, each shifted to begin at its start, and a mask: True for each element that takes part."""
    length, places = rows.shape[-1], np.arange(rows.shape[-1])
    sizes = numbers.get("lengths", np.full(rows.shape[:-1], length)).astype(np.int64)
    if "starts" in numbers:
        starts = np.minimum(numbers["starts"], length).astype(np.int64)
        rows = np.take_along_axis(rows, np.minimum(places + starts[..., None], max(length - 1, 0)), -1)
        sizes = np.minimum(sizes, length - starts)
    if "count" in numbers:
        sizes = np.where(np.arange(sizes.size).reshape(sizes.shape) < numbers["count"], sizes, 0)
    return rows, places < sizes[..., None]


def _entries(order: Any, numbers: Mapping[str, Any]) -> Any:
    """Return the look-up table's entries for the selected indices of rows.

    All bits of the entry are 1 for the index -1, and for an index that lies beyond the table.
    """
    table = numbers["table"]
    if "table_starts" in numbers:
        first = numbers["table_starts"].astype(np.int64)
    else:
        first = np.arange(math.prod(order.shape[:-1])).reshape(order.shape[:-1]) * table.shape[-1]
        first = first + numbers.get("starts", 0)
    flat, places = table.reshape(-1), first[..., None] + order
    within = (order >= 0) & (places >= 0) & (places < flat.size)
    entries = np.full(order.shape, ~flat.dtype.type(0) if flat.dtype.kind == "u" else -1, flat.dtype)
    entries[within] = flat[places[within]]
    return entries


def _last(type: Any, *, largest: bool) -> Any:
    """Return the element that is last in the order of a selection.

    If `largest`, this is the least element (-inf for floats), else the greatest (NaN for floats).
    """
    if type.kind == "b":
        return np.bool_(not largest)
    if type.kind in "iu":
        return np.iinfo(type).min if largest else np.iinfo(type).max
    return type.type("-inf" if largest else "nan")


def _select(keys: Any, key: str, k: int, *, largest: bool, sorted: bool, device: str | None) -> Any:
    """Return the indices of the k selected keys of each row, in the order of the keys if `sorted`."""
    on, rows, length = device_of(device), keys.size // keys.shape[-1], keys.shape[-1]
    select = _sorter(on, "TopK", key, "index", "descending" if largest else "ascending")
    flat = bits(keys).ravel().view(select.dtype)
    out, index = np.empty(rows * k, flat.dtype), np.empty(rows * k, np.uint32)
    with on.arrays() as copied:
        on_keys, on_out, on_index = copied(flat), copied(out), copied(index)
        on.call(select, on_keys, k=k, rows=rows, out=on_out, values_out=on_index)
        on.read(on_index, index)
    order = index.reshape(rows, k).astype(np.intp)
    if sorted and min(k, length) > select.sorted_up_to:
        order = np.take_along_axis(order, _ranks(np.take_along_axis(keys.reshape(rows, length), order, 1), largest), 1)
    return order.reshape(*keys.shape[:-1], k)


def _ranks(keys: Any, largest: bool) -> Any:
    """Return the indices that sort each row stably, in descending order if `largest`."""
    if not largest:
        return np.argsort(keys, axis=1, kind="stable")
    return keys.shape[1] - 1 - np.argsort(keys[:, ::-1], axis=1, kind="stable")[:, ::-1]


def _rows(a: Any, axis: int | None) -> tuple[Any, str, int]:
    """Return `a` in C order with the axis to sort as the last; the key type of its elements; and the axis."""
    if isinstance(a, np.ma.MaskedArray):
        raise wrong_type("a", "a plain array, such as a.filled() or a.compressed(), since masks are not sorted", a)
    a = np.asarray(a)
    if axis is None:
        a, axis = a.ravel(), -1
    np.sort(np.empty((0,) * a.ndim), axis=axis)  # raises numpy's own error if there is no such axis
    axis = operator.index(axis)
    key = _KEYS.get(a.dtype.name) if a.dtype.isnative else None
    if key is None:
        raise TypeError(f"elements are {a.dtype.str if not a.dtype.isnative else a.dtype}; give {', '.join(_KEYS)}")
    return np.ascontiguousarray(np.moveaxis(a, axis, -1)), key, axis


def _numeric(rows: Any, *, zeros: bool) -> Any:
    """Replace every NaN by the NaN that is greatest in the kernels' order, and if `zeros`, -0 by 0; return the keys."""
    if rows.dtype.kind in "biu":
        return rows
    keys = np.where(np.isnan(rows), rows.dtype.type("nan"), rows)
    return np.where(keys == 0, rows.dtype.type(0), keys) if zeros else keys


_sorters: dict[Any, Any] = {}
_building = RLock()


def _sorter(on: Device, kind: str, key: str, value: str | None, order: str, **more: Any) -> Any:
    """Return an object of the class `kind` for a device; a cache keeps all objects, so each is built once."""
    alike = on, kind, key, value, order, *more.items()
    if alike not in _sorters:
        background.slow()
        with _building:
            if alike not in _sorters:
                _sorters[alike] = on.build(kind, key, value=value, order=order, **more)
    return _sorters[alike]


def _run(rows: Any, key: str, out: Any, order: Any, *, descending: bool, device: str | None) -> None:
    """Sort rows on a device; store the keys in `out`, or their indices within their rows in `order`."""
    on, n, length = device_of(device), rows.size, rows.shape[-1]
    index = None if order is None else np.empty(n, np.uint32 if n < _WIDEST else np.uint64)
    value = None if index is None else "index" if index.itemsize == 4 else "index64"
    kind, more = ("Sorter", {}) if n == length else ("SegmentedSorter", {"segments": n // length})
    sorter = _sorter(on, kind, key, value, "descending" if descending else "ascending")
    keys = bits(rows).ravel().view(sorter.dtype)
    with on.arrays() as copied:
        on_keys, on_index = copied(keys), copied(index)
        on.call(sorter, on_keys, **more, **({} if index is None else {"values_out": on_index}))
        if index is None:
            on.read(on_keys, fetched := np.empty_like(keys))
            out.reshape(-1)[...] = fetched.view(out.dtype)
        else:
            on.read(on_index, index)
            order[...] = index.reshape(order.shape)
            order -= (np.arange(n // length) * length).reshape(*order.shape[:-1], 1)
