"""Sorting the rows of tables by several columns on NVIDIA GPUs: build once, sort many times.

>>> sorter = ColumnSorter([("f32", "descending"), "u64"])
>>> sorter([price, key], values=[names, records])                # sort all four in place
>>> sorter([price, key], index_out=order)                        # only the original index of each row
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from math import gcd
from typing import Any

from hsgen.core.plan import ROLES
from hsgen.cuda import calls
from hsgen.cuda.driver import Device, bindings, chosen, done
from hsgen.cuda.gatherer import Gatherer
from hsgen.cuda.libraries import Library, Memory, bytes_of, library_of, named
from hsgen.cuda.packing import Packer, copy_rows
from hsgen.cuda.prepared import DESTINATION, SCRATCH, Prepared
from hsgen.cuda.sorter import Sorter
from hsgen.runners.columns import MOST_ROWS, WORD, ColumnCalls, ColumnSort, column_sorts, enqueue
from hsgen.runners.ranges import Range
from hsgen.runners.rows import Array, Column, Field, Key, Move

_NOUN = "sort"
_VALUES, _VALUES_OUT = (ROLES.index(r) for r in ("values", "values_out"))


class ColumnSorter(ColumnCalls):
    """A stable sort of rows by key columns on one GPU, the first column the most significant; see
    docs/guides/columns.md.

    Adjacent columns are packed and sorted as in `hsgen.opencl.ColumnSorter`.  Each call allocates temporary memory as
    `Sorter` does, and frees it in stream order.  Temporary memory has at most 20 bytes per row, plus the scratch memory
    of the sorts.  Calls in place also need a copy of the largest array.

    Args:
        by: the key columns, each a key type as in `Sorter`, or a pair of a key type and an order.
        target, device: as in `hsgen.cuda.Sorter`.

    Raises:
        hsgen.core.errors.Usage: there is no column, or no such target, key type, order or GPU.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    def __init__(
        self, by: Iterable[Any], *, target: str | os.PathLike[str] | None = None, device: int | None = None
    ) -> None:
        self._gpu = chosen(device)
        self._name_columns(by)
        where: dict[str, Any] = {"target": target, "device": self._gpu.number}
        self._sorts = column_sorts(self.by, partial(Sorter, **where), partial(Packer, self._gpu, self.by))
        self._gather = Gatherer(**where)
        self.max_n = min(MOST_ROWS, *(x.sort.max_n for x in self._sorts))

    def __repr__(self) -> str:
        """The columns and the device as text."""
        return f"<{type(self).__name__}: by={self.by!r}, device={self._gpu.host.label!r}>"

    def __call__(
        self,
        keys: Sequence[Any],
        out: Sequence[Any] | None = None,
        *,
        values: Sequence[Any] = (),
        values_out: Sequence[Any] | None = None,
        index_out: Any = None,
        stream: Any = None,
    ) -> None:
        """Enqueue the sort of all rows; arguments are those of `hsgen.opencl.ColumnSorter`.

        The call runs on `stream`, by default on the current stream of the library of the first column.

        `keys` has an array for each column, or a `Field` for a column inside of records.  `values` are any number of
        arrays whose items move with their rows.  The item of row i is values[j][i], which may be a slice.  Without
        `out` and `values_out`, the sort is in place.  `index_out`, an array of 32-bit numbers, receives the original
        index of each row.  With `index_out` and without `out`, keys are only read.  A `Field` is always only read; to
        sort its records, pass them as values too.

        Raises:
            TypeError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`.
            ValueError: a wrong number of arrays, arrays of different lengths, keys of a wrong type, arrays that are not
                in C order or on another GPU, outputs that overlap other arguments, a stream of another GPU.
            hsgen.core.errors.Usage: more than `max_n` rows, or an array of 2^31 words or more.
        """
        table = self._table(keys, out, values, values_out, index_out, self._look)
        arrays = [x.records if isinstance(x, Field) else x for x in keys]
        arrays += [*(out or ()), *values, *(values_out or ()), *([] if index_out is None else [index_out])]
        library = library_of(arrays[0], "keys 0")

        def steps(now: int, current: bool) -> None:
            if table.n:
                sequence = _Steps(self._gpu, library, self._gather, now, current=current)
                try:
                    enqueue(sequence, self._sorts, table)
                finally:
                    sequence.free()

        calls.run(self._gpu, _NOUN, library, arrays, stream, steps)

    def _look(self, array: Any, name: str) -> Array:
        """Check that an array is on the sorter's GPU; return its memory range, element type and shape."""
        address, facts = library_of(array, name).view(array)
        calls.check_place(facts, name, _NOUN, self._gpu)
        size = bytes_of(facts)
        return Array(
            range=Range(array, self._gpu.number if size else None, address, size),
            element=named(facts.type),
            itemsize=int(facts.type.itemsize),
            shape=tuple(facts.shape),
            contiguous=facts.contiguous,
            readonly=facts.readonly,
        )


class _Steps:
    """The CUDA implementation of `hsgen.runners.columns.Steps`: all steps of a call run on one stream."""

    def __init__(self, device: Device, library: Library, gather: Gatherer, stream: int, *, current: bool) -> None:
        self._gpu, self._library, self._gather, self._stream = device, library, gather, stream
        self._current = current
        self._rooms: dict[str, Range] = {}
        self._memories: list[Memory] = []

    def free(self) -> None:
        """Return all temporary memory to the library, which may reuse it once the stream has run the enqueued steps."""
        while self._memories:
            self._library.free(self._memories.pop(), self._stream)

    def room(self, name: str, size: int) -> Range:
        """See `Steps`."""
        if name not in self._rooms or self._rooms[name].size < size:
            memory = self._library.allocate(size, self._gpu.number, self._stream, current=self._current)
            self._memories.append(memory)
            self._rooms[name] = Range(None, self._gpu.number, memory.address, size)
        return self._rooms[name]

    def pack(self, packer: Packer, columns: Sequence[Key], words: Range, n: int) -> None:
        """See `Steps`."""
        packer([x.column for x in columns], words.at, n, self._stream)

    def extract(self, column: Key, size: int, n: int) -> Range:
        """See `Steps`."""
        room, driver = self.room("column", size * n), bindings()
        if size > column.bytes:
            done(driver.cuMemsetD8Async(room.at, 0, size * n, self._stream), "cuMemsetD8Async")
        to = Column(room.root, room.at + size - column.bytes, size)
        copy_rows(self._gpu, to, column.column, column.bytes, n, self._stream)
        return room

    def argsort(self, one: ColumnSort, keys: Range, order: Range, n: int) -> None:
        """See `Steps`."""
        prepared = one.sort.prepared(n, one.sort.options(discard=True, **one.bits), in_place=False)
        self._run(prepared, keys.at, {_VALUES_OUT: order.at})

    def sort(self, one: ColumnSort, keys: Range, order: Range, n: int) -> None:
        """See `Steps`."""
        prepared = one.sort.prepared(n, one.sort.options(**one.bits), in_place=True)
        self._run(prepared, keys.at, {DESTINATION: keys.at, _VALUES: order.at, _VALUES_OUT: order.at})

    def gather(self, order: Range, source: Range, to: Range, size: int, n: int) -> None:
        """See `Steps`."""
        aligned = gcd(size, source.at, to.at)
        if aligned % WORD:
            columns = Column(to.root, to.at, size), Column(source.root, source.at, size)
            copy_rows(self._gpu, *columns, size, n, self._stream, index=order.at)
        else:
            prepared = self._gather.of(aligned).launches(n, size)
            self._run(prepared, order.at, {_VALUES: source.at, _VALUES_OUT: to.at})

    def reorder(self, order: Range, one: Move, n: int) -> None:
        """See `Steps`.  In place, the items are first copied, and gathered from the copy."""
        source, size = one.source, one.item_bytes
        if one.in_place:
            source, driver = self.room("before", size * n), bindings()
            done(driver.cuMemcpyDtoDAsync(source.at, one.to.at, size * n, self._stream), "cuMemcpyDtoDAsync")
        self.gather(order, source, one.to, size, n)

    def _run(self, prepared: Prepared, source: int, roles: dict[int, int]) -> None:
        """Run prepared launches on the keys at the address `source`, and on the arrays whose addresses `roles` has by
        role.
        """
        bases = [source] * len(ROLES)
        for role, address in roles.items():
            bases[role] = address
        if prepared.scratch:
            bases[SCRATCH] = self.room("scratch", prepared.scratch).at
        prepared.run(bases, self._stream)
