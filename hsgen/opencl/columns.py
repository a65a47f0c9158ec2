"""Sorting the rows of tables by several columns: build once, sort many times.

>>> sorter = ColumnSorter(queue.context, [("f32", "descending"), "u64"])
>>> sorter(queue, [price, key], values=[names, records])         # sort all four in place; return the event
>>> sorter(queue, [price, key], index_out=order)                 # only the original index of each row
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from threading import RLock
from typing import Any

import numpy as np

from hsgen.core.errors import wrong_type
from hsgen.engines import builds
from hsgen.opencl.arrays import memory
from hsgen.opencl.gatherer import Gatherer
from hsgen.opencl.runner import host_of
from hsgen.opencl.sorter import Sorter
from hsgen.runners.columns import INDICES, MOST_ROWS, WORD, ColumnCalls, ColumnSort, column_sorts, enqueue
from hsgen.runners.packing import NAME, By, Language, Pack, Packing
from hsgen.runners.ranges import Range
from hsgen.runners.rows import Array, Column, Key, Move
from hsgen.system import toolchain

_LANES = 256  # global sizes are multiples of this number, so that the driver can choose a work-group size

OPENCL = Language("""#define HS_KERNEL __kernel void
#define HS_GLOBAL __global
#define HS_ROW get_global_id(0)
typedef uchar hs_u8;
typedef ushort hs_u16;
typedef uint hs_u32;
typedef ulong hs_u64;
""")


class Packer(Packing):
    """Kernels that pack the key columns of each row into one 4-byte or 8-byte word, for a context of one device."""

    def __init__(self, context: Any, by: By, pack: Pack) -> None:
        super().__init__(by, pack)
        self._context = context
        self._kernels: dict[tuple[bool, ...], Any] = {}

    def __call__(self, queue: Any, columns: Sequence[Column], words: Any, n: int, wait_for: Sequence[Any]) -> Any:
        """Enqueue the kernel that stores one packed word for each of `n` rows in `words`; return the event of its end.

        columns: all key columns of the table; the kernel reads only those that it packs.
        """
        selected = self.select(columns)
        aligned = self.aligned(selected)
        if aligned not in self._kernels:
            option = builds.standard(self._context, lanes=False)
            text = self.text(aligned, OPENCL)
            self._kernels[aligned] = builds.build(self._context, text, "the packing of columns", [NAME], option)[NAME]
        kernel = self._kernels[aligned]
        places = [x for c in selected for x in (c.root, np.uint64(c.at), np.uint64(c.pitch))]
        kernel.set_args(words, np.uint32(n), *places)
        lanes = (-(-n // _LANES) * _LANES,)
        return toolchain.pyopencl().enqueue_nd_range_kernel(queue, kernel, lanes, None, wait_for=wait_for)


class ColumnSorter(ColumnCalls):
    """A stable sort of rows by key columns, the first of which is the most significant; see docs/guides/columns.md.

    Adjacent columns of at most 8 bytes in total are packed into one word per row; one sort then serves the whole pack.
    As in an LSD radix sort, the last pack, which is the least significant, is sorted first, by an argsort.  For each
    earlier pack, its words are gathered in the current order of the rows, and sorted with the row indices as values.

    A sorter keeps temporary memory between calls: at most 20 bytes per row, and the scratch memory of the sorts.  Calls
    in place also need a copy of the largest array.  Calls wait for each other on the device, even on different queues.

    Args:
        context, target: as in `hsgen.opencl.Sorter`.
        by: the key columns, each a key type as in `Sorter`, or a pair of a key type and an order.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no column, or no such target, key type or order.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    def __init__(self, context: Any, by: Iterable[Any], *, target: str | os.PathLike[str] | None = None) -> None:
        self._host = host_of(context)
        self._name_columns(by)
        self._context, self._lock, self._gather = context, RLock(), Gatherer(context, target=target)
        sorter, packer = partial(Sorter, context, target=target), partial(Packer, context, self.by)
        self._sorts = column_sorts(self.by, sorter, packer)
        self.max_n = min(MOST_ROWS, *(x.sort.max_n for x in self._sorts))
        self._rooms: dict[str, Any] = {}
        self._event: Any = None  # end of the last call, which uses the temporary memory until then

    def __repr__(self) -> str:
        """The columns and the device as text."""
        return f"<{type(self).__name__}: by={self.by!r}, device={self._host.label!r}>"

    def __call__(
        self,
        queue: Any,
        keys: Sequence[Any],
        out: Sequence[Any] | None = None,
        *,
        values: Sequence[Any] = (),
        values_out: Sequence[Any] | None = None,
        index_out: Any = None,
        wait_for: Sequence[Any] | None = None,
    ) -> Any:
        """Enqueue the sort of all rows; return the event of its end.

        `keys` has a pyopencl array for each column.  A `Field` in place of an array is a column inside of records.
        `values` are any number of arrays whose items move with their rows.  The item of row i is values[j][i]: an
        element, or a slice of an array with more dimensions.
        `out` has an array for each column, and `values_out` an array for each of `values`; without both, the sort is in
        place.  `index_out`, an array of uint32 or int32, receives the original index of each row.  With `index_out` and
        without `out`, keys are only read.  A `Field` is always only read; to sort its records, pass them as values too.

        Raises:
            TypeError: an argument is not a pyopencl array.
            ValueError: a wrong number of arrays, arrays of different lengths, keys of a wrong type, arrays that are not
                in C order, outputs that overlap other arguments, a queue of another context.
            hsgen.core.errors.Usage: more than `max_n` rows, or an array of 2^31 words or more.
        """
        with self._lock:
            table = self._table(keys, out, values, values_out, index_out, self._look)
            arrays = [*keys, *values, *(out or ()), *(values_out or ()), index_out]
            events = [e for x in arrays for e in getattr(getattr(x, "records", x), "events", [])]
            events += [*(wait_for or ()), *([self._event] if self._event is not None else [])]
            self._event = toolchain.pyopencl().enqueue_marker(queue, wait_for=events or None)
            if table.n:
                steps = _Steps(queue, self._context, self._gather, self._rooms, self._event)
                enqueue(steps, self._sorts, table)
                self._event = steps.event
            written = [x.to.argument for x in table.moves]
            for x in [*written, *([index_out] if hasattr(index_out, "add_event") else [])]:
                x.add_event(self._event)
            return self._event

    def _look(self, array: Any, name: str) -> Array:
        """Return the memory range, element type and shape of an array.

        `index_out` may also be a buffer.  A buffer has no element type, so its elements count as uint32.
        """
        if name == "index_out" and not hasattr(array, "base_data"):
            at = memory(array, name, self._context)
            return Array(range=at, element=INDICES[0], itemsize=WORD, shape=(at.size // WORD,), contiguous=True)
        if not hasattr(array, "base_data"):
            raise wrong_type(name, "a pyopencl array", array)
        at, flat = memory(array, name, self._context), bool(array.flags.c_contiguous)
        kind, shape = array.dtype, tuple(map(int, array.shape))
        return Array(range=at, element=str(kind), itemsize=kind.itemsize, shape=shape, contiguous=flat)


class _Steps:
    """The OpenCL implementation of `hsgen.runners.columns.Steps`: each step waits for the event of the step before.

    `event` is the event of the last step.
    """

    def __init__(self, queue: Any, context: Any, gather: Gatherer, rooms: dict[str, Any], event: Any) -> None:
        self._queue, self._context, self._gather, self._rooms, self.event = queue, context, gather, rooms, event

    def room(self, name: str, size: int) -> Range:
        """See `Steps`; the sorter keeps the buffer of each name for later calls."""
        if name not in self._rooms or self._rooms[name].size < size:
            cl = toolchain.pyopencl()
            self._rooms[name] = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, size)
        buffer = self._rooms[name]
        return Range(buffer, buffer, 0, size)

    def pack(self, packer: Packer, columns: Sequence[Key], words: Range, n: int) -> None:
        """See `Steps`."""
        self.event = packer(self._queue, [x.column for x in columns], words.argument, n, [self.event])

    def extract(self, column: Key, size: int, n: int) -> Range:
        """See `Steps`."""
        room = self.room("column", size * n)
        if size > column.bytes:
            self.event = fill(self._queue, room.argument, size * n, [self.event])
        self._copy(Column(room.root, size - column.bytes, size), column.column, column.bytes, n)
        return room

    def argsort(self, one: ColumnSort, keys: Range, order: Range, n: int) -> None:
        """See `Steps`."""
        options: dict[str, Any] = {**one.bits, "n": n, "wait_for": [self.event]}
        self.event = one.sort(self._queue, keys.argument, values_out=order.argument, discard_keys=True, **options)

    def sort(self, one: ColumnSort, keys: Range, order: Range, n: int) -> None:
        """See `Steps`."""
        options: dict[str, Any] = {**one.bits, "n": n, "wait_for": [self.event]}
        self.event = one.sort(self._queue, keys.argument, values=order.argument, **options)

    def gather(self, order: Range, source: Range, to: Range, size: int, n: int) -> None:
        """See `Steps`."""
        arrays = order.argument, source.argument, to.argument
        self.event = self._gather(self._queue, *arrays, item_bytes=size, n=n, wait_for=[self.event])

    def reorder(self, order: Range, one: Move, n: int) -> None:
        """See `Steps`.

        If source and destination are one buffer, the items are first copied, and gathered from the copy.  A gather
        moves multiples of 4 bytes: items of other sizes are padded by a copy before the gather, and unpadded by a copy
        after it.
        """
        size, words = one.item_bytes, -(-one.item_bytes // WORD) * WORD
        source, to = one.source, one.to
        if size != words or one.in_place:
            source = self.room("before", words * n)
            if size == words:  # without padding, one copy of size * n bytes suffices
                cl = toolchain.pyopencl()
                more = {"src_offset": one.source.at, "byte_count": size * n}
                self.event = cl.enqueue_copy(
                    self._queue, source.argument, one.source.root, wait_for=[self.event], **more
                )
            else:
                self._copy(Column(source.root, 0, words), Column(one.source.root, one.source.at, size), size, n)
        if size != words:
            to = self.room("after", words * n)
        self.gather(order, source, to, words, n)
        if size != words:
            self._copy(Column(one.to.root, one.to.at, size), Column(to.root, 0, words), size, n)

    def _copy(self, to: Column, source: Column, size: int, n: int) -> None:
        self.event = copy(self._queue, to, source, size, n, [self.event])


def copy(queue: Any, to: Column, source: Column, size: int, n: int, wait_for: Sequence[Any] | None = None) -> Any:
    """Enqueue a strided copy of `size` bytes from each of `n` records in `source` to the same record in `to`; return
    its event.
    """
    return toolchain.pyopencl().enqueue_copy(
        queue,
        to.root,
        source.root,
        src_origin=(source.at, 0, 0),
        dst_origin=(to.at, 0, 0),
        region=(size, n, 1),
        src_pitches=(source.pitch, source.pitch * n),
        dst_pitches=(to.pitch, to.pitch * n),
        wait_for=wait_for,
    )


def fill(queue: Any, buffer: Any, size: int, wait_for: Sequence[Any] | None = None) -> Any:
    """Enqueue a fill of the first `size` bytes of a buffer with zeros; return the event of its end."""
    return toolchain.pyopencl().enqueue_fill_buffer(queue, buffer, b"\0", 0, size, wait_for=wait_for)
