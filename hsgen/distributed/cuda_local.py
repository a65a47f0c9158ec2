"""What a rank with tensors on a GPU does by itself: it sorts, counts and merges keys by the kernels of `hsgen.cuda`.

The keys of a `Run` keep their type.  The sort gives all NaNs the same bits and, with values, both zeros the same bits.
Merges and counts compare the transformed bits of keys (docs/reference/semantics.md).  Because equal floats have equal
bits, sorted floats are also in the order of these bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hsgen.cuda import Sorter, TopK
from hsgen.cuda.driver import device as gpu_of
from hsgen.cuda.merges import Merges
from hsgen.cuda.splitters import SplitterCounts
from hsgen.distributed.communicator import Span
from hsgen.distributed.local import NARROW, Local, Run, Search, digits
from hsgen.distributed.torch_group import on

MERGED = 16
"""The greatest number of runs that `merge` merges, two at a time; the keys of more runs are sorted instead."""
SORTED = 1 << 23
"""Up to this number of received keys, `merge` sorts all of them instead of merging, because the launches of several
merges would take longer.
"""
OVERLAPPED = 3 << 26
"""If the part that each rank receives has at least this number of keys, the exchange between ranks overlaps with
merges.
"""
CHUNKS = 4
"""The number of chunks into which an exchange divides a part, if it overlaps with merges."""
COUNTS = 1 << 20
"""The number of counts that a GPU receives from all ranks in a round of a search for splitters: 8 MiB."""
_ITEMS = {4: torch.int32, 8: torch.int64, 16: torch.complex128}
"""The tensor type in which a kernel moves a value, by the size of a value in bytes."""
_MERGED = (("source", "other", "destination"), ("values", "other_values", "values_out"))
"""The roles (`ROLES`) of the first input, the second input and the result of a merge: a tuple for keys, then one for
values.
"""
_SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@cache
def _sorter(key: str, value: Any, order: str, device: int) -> Any:
    return Sorter(key, value=value, order=order, numeric=True, device=device)


@cache
def _merger(key: str, value: Any, order: str, device: int) -> Any:
    return Merges(key, value=value, order=order, device=device)


@cache
def _top_k(key: str, order: str, device: int) -> Any:
    return TopK(key, value="index64", order=order, device=device)


@cache
def _splitter_counts(key: str, descending: bool, device: int) -> SplitterCounts:
    return SplitterCounts(gpu_of(device), key, descending=descending)


@lru_cache(maxsize=64)
def _placed(places: tuple[int, ...], device: torch.device, stream: int) -> torch.Tensor:
    """Return `places`, the global indices of boundaries between parts, as a tensor on a device; calls with equal
    arguments share the tensor.
    """
    return on(np.array(places, np.int64), device)


class CudaSearch(Search):
    """A search for splitters whose counts stay in GPU memory; the host waits for the GPU only in `ends`."""

    local: CudaLocal

    def __init__(self, local: CudaLocal, run: Run, n: int, places: Sequence[int], ranks: int) -> None:
        super().__init__(local, run, n, places, ranks)
        device = local.device
        self._stream = torch.cuda.current_stream(device)
        self._places = _placed(tuple(places), device, self._stream.cuda_stream)
        self._starts = torch.empty((len(self.digits), len(places)), dtype=torch.int64, device=device)
        self._kernels = _splitter_counts(local.key, local.descending, device.index)

    def counts(self, number: int, rows: Any) -> Any:
        """See `Search`."""
        (shift, bits), many = self.digits[number], len(self.places)
        counts = self._starts.new_empty(many * ((1 << bits) + 1))
        before = (0, 0, 0) if rows is None else (rows.data_ptr(), len(rows), self.digits[number - 1][1])
        numbers = (
            self.run.keys.data_ptr(),
            len(self.run),
            *before,
            self._starts[number - 1].data_ptr(),
            self._starts[number].data_ptr(),
            self._places.data_ptr(),
            counts.data_ptr(),
            shift,
            bits,
        )
        self._kernels.count_keys(numbers, many, bits, self._stream.cuda_stream)
        return counts

    def ends(self, rows: Any, meanwhile: Callable[[], None]) -> NDArray[np.int64]:
        """See `Search`; the kernel writes the result to pinned host memory."""
        host = torch.empty((len(rows), 2, len(self.places)), dtype=torch.int64, pin_memory=True)
        numbers = (rows.data_ptr(), len(rows), self.digits[-1][1], self._places.data_ptr(), host.data_ptr())
        self._kernels.count_ends(numbers, len(self.places), self._stream.cuda_stream)
        counted = self._stream.record_event()
        meanwhile()
        counted.synchronize()
        result: NDArray[np.int64] = host.numpy()
        return result


def widened(index: torch.Tensor, total: int) -> torch.Tensor:
    """Convert indices, all less than `total`, to int64; the bits of int32 indices are read as unsigned numbers."""
    if index.dtype == torch.int64:
        return index
    wide = index.to(torch.int64)
    return wide if total <= NARROW // 2 else wide.bitwise_and_(NARROW - 1)


def items(values: torch.Tensor) -> torch.Tensor | None:
    """Return values as a flat tensor of a type in `_ITEMS`; None if kernels do not move values of this size.

    The tensor is a view of `values` if their address is a multiple of the size of a value; otherwise it is a copy.
    """
    size = values.dtype.itemsize * prod(values.shape[1:])
    if size not in _ITEMS:
        return None
    kind = _ITEMS[size]
    if not len(values):
        return torch.empty(0, dtype=kind, device=values.device)
    if values.data_ptr() % size or values.storage_offset() * values.dtype.itemsize % size:
        values = values.clone()
    return values.reshape(-1).view(kind)


def _moved(run: Run) -> list[torch.Tensor]:
    """Return the keys of a run, and its columns as views in tensor types that kernels can move (`_ITEMS`)."""
    columns = [items(x) for x in run.columns]
    return [run.keys, *(x for x in columns if x is not None)]


def restored(moved: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return `moved`, items that a kernel has moved, as a tensor with the element type and the item shape of `like`."""
    return moved.view(like.dtype).reshape(-1, *like.shape[1:])


class CudaLocal(Local):
    """A `Local` for tensors on a GPU; calls run on PyTorch's current stream."""

    def __init__(self, key: str, *, descending: bool, device: torch.device) -> None:
        super().__init__("u8" if key == "bool" else key, descending=descending)
        self.device = device
        self._order = "descending" if descending else "ascending"

    def _typed(self, keys: torch.Tensor) -> torch.Tensor:
        """Return keys in a type that sorters take: a view of bools as uint8, all other keys themselves."""
        return keys.view(torch.uint8) if keys.dtype == torch.bool else keys

    def _kernel(self, kind: Any, value: Any = None) -> Any:
        number = self.device.index
        return kind(self.key, value, self._order, number)

    def sort(self, keys: Any, values: Any, *, zeros: bool = False, overwrite: bool = False) -> Run:
        """See `Local`.  If kernels cannot move values of this size, the sort returns indices, by which the values are
        then gathered.
        """
        keys = self._typed(keys)
        if values is None:
            return Run(self._sorted(keys + 0.0 if zeros and self.kind == 2 else keys, overwrite=overwrite))
        moved = items(values)
        if moved is None:
            run = self.sort_index(keys, 0, len(keys), overwrite=overwrite)
            return Run(run.keys, (values[widened(run.columns[0], len(keys))],))
        out, out_values = (keys, moved) if overwrite else (torch.empty_like(keys), torch.empty_like(moved))
        if len(keys):
            sorter = self._kernel(_sorter, moved.dtype.itemsize)
            if overwrite:
                sorter(keys, values=moved)
            else:
                sorter(keys, out=out, values=moved, values_out=out_values)
        return Run(out, (restored(out_values, values),))

    def _sorted(self, keys: Any, *, overwrite: bool) -> Any:
        """Return the sorted keys, without values; if `overwrite`, sorted in place."""
        sorter = self._kernel(_sorter)
        if overwrite:
            if len(keys):
                sorter(keys)
            return keys
        out = torch.empty_like(keys)
        if len(keys):
            sorter(keys, out=out)
        return out

    def sort_index(self, keys: Any, first: int, total: int, *, overwrite: bool) -> Run:
        """See `Local`; indices have 32 bits if all ranks together have fewer than 2^32 keys."""
        keys = self._typed(keys)
        narrow = total < NARROW
        index = torch.empty(len(keys), dtype=torch.int32 if narrow else torch.int64, device=keys.device)
        out = keys if overwrite else torch.empty_like(keys)
        if len(keys):
            sorter = self._kernel(_sorter, "index" if narrow else "index64")
            sorter(keys, out=None if overwrite else out, values_out=index)
        run = Run(out, (index,))
        if first:
            self.shift(run, first)
        return run

    def shift(self, run: Run, first: int) -> None:
        """See `Local`; 32-bit indices are unsigned numbers in int32 tensors."""
        index = run.columns[0]
        index += first - (NARROW if index.dtype == torch.int32 and first >= NARROW // 2 else 0)

    def first(self, keys: Any, k: int, first: int) -> Run:
        """See `Local`."""
        keys = self._typed(keys)
        if 0 < k <= (select := self._top_k()).sorted_up_to and len(keys) <= select.max_n:
            if self.kind == 2:
                keys = keys + 0.0
                keys = torch.where(torch.isnan(keys), torch.nan, keys)
            out, index = keys.new_empty(k), torch.empty(k, dtype=torch.int64, device=keys.device)
            select(keys, k, out=out, values_out=index)
            return Run(out, (index + first,))
        run = self.sort_index(keys, 0, len(keys), overwrite=False)
        return Run(run.keys[:k].clone(), (widened(run.columns[0][:k], len(keys)) + first,))

    def _top_k(self) -> Any:
        return _top_k(self.key, self._order, self.device.index)

    def words(self, x: NDArray[np.int64]) -> Any:
        """See `Local`."""
        return on(x, self.device)

    def digits(self, boundaries: int, ranks: int) -> list[tuple[int, int]]:
        """See `Local`."""
        return digits(self.bits, boundaries, COUNTS // ranks)

    def search(self, run: Run, n: int, places: Sequence[int], ranks: int) -> Search:
        """See `Local`."""
        return CudaSearch(self, run, n, places, ranks)

    def room(self, like: Run, n: int) -> Run:
        """See `Local`."""
        keys, *columns = (x.new_empty((n, *x.shape[1:])) for x in like.arrays)
        return Run(keys, tuple(columns))

    def merge(self, run: Run, spans: Sequence[Span], spare: Run | None = None) -> Run:
        """See `Local`; either pairs of neighbouring runs are merged until one run is left, or all keys are sorted."""
        moved = [items(x) for x in run.columns]
        if len(moved) > 1 or None in moved:
            index = torch.arange(len(run), dtype=torch.int64, device=run.keys.device)
            merged = self.merge(Run(run.keys, (index,)), spans)
            return Run(merged.keys, tuple(x[merged.columns[0]] for x in run.columns))
        spans = [(begin, end) for begin, end in spans if begin < end]
        if len(spans) < 2:
            return self.part(run, *(spans[0] if spans else (0, 0)))
        arrays, n = [run.keys, *(x for x in moved if x is not None)], sum(end - begin for begin, end in spans)
        to = self._spare(arrays, n, spare)
        if len(spans) > MERGED or n <= SORTED or n > self._merges(arrays).max_n:
            for x, y in zip(arrays, to, strict=True):
                torch.cat([x[begin:end] for begin, end in spans], out=y)
            sorter = self._kernel(_sorter, to[1].dtype.itemsize if moved else None)
            arrays = [x[:n] for x in arrays]
            sorter(to[0], out=arrays[0], **({"values": to[1], "values_out": arrays[1]} if moved else {}))
        else:
            arrays = self._merged(arrays, spans, to)
        return Run(arrays[0], tuple(restored(x, like) for x, like in zip(arrays[1:], run.columns, strict=True)))

    def chunks(self, sizes: Sequence[int], item: int) -> int:
        """See `Local`; a part has several chunks only if the number of merge levels is even.

        Each level merges pairs of runs, from `run` to spare arrays or back.  After an even number of levels, the merged
        chunk is in `run`, where it arrived.
        """
        levels = (len(sizes) - 1).bit_length()
        even = levels % 2 == 0 and 2 < len(sizes) <= MERGED
        return CHUNKS if even and item in (0, *_ITEMS) and min(sizes) >= OVERLAPPED else 1

    def merge_within(self, run: Run, spans: Sequence[Span], begin: int, spare: Run) -> None:
        """See `Local`."""
        spans = [(a - begin, b - begin) for a, b in spans if a < b]
        if spans and spans != [(0, spans[0][1])]:
            n = sum(b - a for a, b in spans)
            arrays = [x[begin:] for x in _moved(run)]
            to = self._spare(arrays, n, spare)
            if len(spans) > 1:
                merged = self._merged(arrays, spans, to)
            else:
                merged = [y.copy_(x[slice(*spans[0])]) for x, y in zip(arrays, to, strict=True)]
            for x, y in zip(arrays, merged, strict=True):
                if x.data_ptr() != y.data_ptr():
                    x[:n].copy_(y)

    def _merges(self, arrays: Sequence[torch.Tensor]) -> Any:
        return self._kernel(_merger, arrays[1].dtype.itemsize if len(arrays) > 1 else None)

    def _spare(self, arrays: Sequence[torch.Tensor], n: int, spare: Run | None) -> list[torch.Tensor]:
        """Return uninitialized arrays of `n` items like those of `arrays`, in the memory of `spare` if it suffices."""
        old = [] if spare is None else _moved(spare)
        if len(old) == len(arrays) and all(len(x) >= n for x in old):
            return [x[:n] for x in old]
        return [x.new_empty(n) for x in arrays]

    def _merged(
        self, arrays: Sequence[torch.Tensor], spans: Sequence[Span], to: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        """Merge pairs of neighbouring runs from `arrays` to `to` and back, until one is left; return its arrays."""
        merges, stream = self._merges(arrays), self._stream()
        scratch = arrays[0].new_empty(merges.scratch_bytes(sum(b - a for a, b in spans)), dtype=torch.uint8)
        while len(spans) > 1:
            merged, begin = [], 0
            for (a, b), (c, d) in zip(spans[::2], spans[1::2], strict=False):
                addresses = {"scratch": scratch.data_ptr()}
                for roles, x, y in zip(_MERGED, arrays, to, strict=False):
                    size, base = x.itemsize, x.data_ptr()
                    places = (base + size * a, base + size * c, y.data_ptr() + size * begin)
                    addresses.update(zip(roles, places, strict=True))
                merges.enqueue(addresses, b - a, d - c, stream)
                end = begin + b - a + d - c
                merged.append((begin, end))
                begin = end
            if len(spans) % 2:
                a, b = spans[-1]
                for x, y in zip(arrays, to, strict=True):
                    y[begin : begin + b - a].copy_(x[a:b])
                merged.append((begin, begin + b - a))
            arrays, to, spans = to, arrays, merged
        return [x[: spans[0][1]] for x in arrays]

    def _stream(self) -> int:
        """Return the handle of the current stream."""
        return int(torch.cuda.current_stream(self.device).cuda_stream)

    def groups(self, run: Run) -> Run:
        """See `Local`."""
        bits = run.keys.view(_SIGNED[self.bits // 8])
        _, counts = torch.unique_consecutive(bits, return_counts=True)
        starts = counts.cumsum(0) - counts
        return Run(run.keys.view(bits.dtype)[starts].view(run.keys.dtype), (counts, starts))

    def reduce(self, values: Any, starts: Any, counts: Any, reduction: str) -> Any:
        """See `Local`."""
        floats = values.dtype.is_floating_point
        if reduction == "sum":
            values = values.to(
                torch.float32 if values.dtype == torch.float16 else values.dtype if floats else torch.int64
            )
            if floats:
                return torch.segment_reduce(values, "sum", lengths=counts) if len(counts) else values[:0]
            sums = torch.cat((values.new_zeros(1), values.cumsum(0)))
            return sums[starts + counts] - sums[starts]
        group = torch.repeat_interleave(counts)
        out = values[starts]
        return out.scatter_reduce_(0, group, values, f"a{reduction}") if len(values) else out

    def part(self, run: Run, begin: int, end: int) -> Run:
        """See `Local`."""
        return Run(run.keys[begin:end], tuple(x[begin:end] for x in run.columns))

    def repeated(self, run: Run, times: int) -> Run:
        """See `Local`."""
        keys, *columns = (torch.cat([x] * times) for x in run.arrays)
        return Run(keys, tuple(columns))
