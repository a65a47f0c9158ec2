"""Sorting the rows of tables by several columns: build once, sort many times.

>>> sorter = ColumnSorter(queue.context, [("f32", "descending"), "u64"])
>>> sorter(queue, [price, key], values=[names, records])         # all in place; returns the event
>>> sorter(queue, [price, key], index_out=order)                 # only the order of the rows
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any

from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, TYPES
from hsgen.opencl.arguments import host_of
from hsgen.opencl.arrays import memory
from hsgen.opencl.gatherer import Gatherer
from hsgen.opencl.packing import WORDS, By, Pack, Packer, packs
from hsgen.opencl.pitched import Column, copy, fill
from hsgen.opencl.rows import Field, Key, Move, check_overlaps, key, move, rows_of
from hsgen.opencl.sorter import Sorter
from hsgen.runners.arguments import key_name, order_name
from hsgen.system import toolchain

_WORD = 4  # bytes of an index, and of what the narrowest gather moves


def _padded(size: int) -> int:
    return -(-size // _WORD) * _WORD


class ColumnSorter:
    """A stable sort of rows by key columns, the first of which is the most significant; see docs/guides/columns.md.

    Adjacent columns of at most 8 bytes together are packed into one word each row, and sorted at once.  Packs are
    sorted one after the other, from the last one on: an argsort of the last, then for each further one a gather of its
    keys and a sort of these with the order so far.  Temporary memory is kept between calls: at most 20 bytes a row,
    that of the sorts, and for calls in place as much as the largest array takes.  Calls wait for each other on the
    device.

    Args:
        context, target: as of `hsgen.opencl.Sorter`.
        by: the key columns, each a key type as of `Sorter`, or a pair of a key type and an order.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: no column; there is no such target, key type or order.
        hsgen.core.errors.Unavailable: the device lacks what the target needs.
        hsgen.core.errors.Wrong: the kernels do not build, or the compiler crashes.
    """

    def __init__(self, context: Any, by: Iterable[Any], *, target: str | os.PathLike[str] | None = None) -> None:
        self._host = host_of(context)
        pairs = [x if isinstance(x, tuple) else (x, "ascending") for x in by]
        if not pairs:
            raise Usage("by is empty; give the type of at least one column")
        self.by = tuple((key_name(name), order_name(order)) for name, order in pairs)
        self._context, self._lock, self._gather = context, RLock(), Gatherer(context, target=target)
        *others, last = packs(self.by)
        self._packs = [_Pack(context, self.by, x, target, last=x is last) for x in (*others, last)]
        self.max_n = min(1 << 30, *(x.sort.max_n for x in self._packs))
        self._rooms: dict[str, Any] = {}
        self._event: Any = None  # of the last call, which uses the temporary memory

    def __repr__(self) -> str:
        """Columns and device."""
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

        `keys` has a pyopencl array for each column, or a `Field` of an array of records.  `values` are any number of
        arrays whose items, values[i] or elements, move with their rows.  `out` has an array for each column, and
        `values_out` for each of `values`; without them, the sort is in place.  With `index_out`, an array of 32-bit
        unsigned numbers, the original index of each row is stored, and keys are only read unless there is `out`.  The
        records of a `Field` are only read; give them as values to sort them, too.

        Raises:
            TypeError: an argument is no pyopencl array.
            ValueError: a wrong number of arrays, arrays of different lengths, keys of a wrong type, arrays that are not
                in C order, outputs that overlap other arguments, a queue of another context.
            hsgen.core.errors.Usage: more than `max_n` rows, or an array of 2^31 words or more.
        """
        with self._lock:
            pairs = [*self._pairs(keys, out, index_out), *self._pairs(values, values_out, None)]
            return self._checked(queue, keys, pairs, index_out, wait_for or ())

    def _checked(
        self,
        queue: Any,
        keys: Sequence[Any],
        pairs: Sequence[tuple[Any, Any]],
        index_out: Any,
        wait_for: Sequence[Any],
    ) -> Any:
        """Enqueue a call, after all checks; `pairs` are the arrays that move, each with its output."""
        columns = [key(x, f"keys {i}", t, self._context) for i, (x, (t, _)) in enumerate(self._paired(keys))]
        moves = [move(x, to, f"array {i}", self._context) for i, (x, to) in enumerate(pairs)]
        check_overlaps(columns, moves, None if index_out is None else memory(index_out, "index_out", self._context))
        n = rows_of(columns, moves)
        if n > self.max_n:
            raise Usage(f"{n} rows: this sort takes up to {self.max_n}")
        given = [*keys, *(x for pair in pairs for x in pair), index_out]
        events = [e for x in given for e in getattr(getattr(x, "records", x), "events", [])]
        events += [*wait_for, *([self._event] if self._event is not None else [])]
        self._event = toolchain.pyopencl().enqueue_marker(queue, wait_for=events or None)
        if n:
            self._sort(queue, columns, moves, index_out, n)
        for x in moves:
            x.to.given.add_event(self._event)
        return self._event

    def _pairs(self, arrays: Sequence[Any], out: Sequence[Any] | None, index_out: Any) -> list[tuple[Any, Any]]:
        """The arrays that move, each with its output, or None for those in place; with an index, none is in place."""
        if out is None:
            return [(x, None) for x in arrays if index_out is None and not isinstance(x, Field)]
        if len(out) != len(arrays):
            raise ValueError(f"there are {len(out)} outputs for {len(arrays)} arrays; give one for each")
        return [*zip(arrays, out, strict=True)]

    def _paired(self, keys: Sequence[Any]) -> list[tuple[Any, tuple[str, str]]]:
        if len(keys) != len(self.by):
            raise ValueError(f"keys has {len(keys)} columns, this sorter has {len(self.by)}")
        return [*zip(keys, self.by, strict=True)]

    def _sort(self, queue: Any, columns: Sequence[Key], moves: Sequence[Move], index: Any, n: int) -> None:
        """Enqueue the sorts of all columns, and the gathers of what moves."""
        order = self._room("index", _WORD * n) if index is None else index
        *others, last = self._packs
        keys = self._keys(queue, last, columns, n)
        self._event = last.sort(
            queue, keys, values_out=order, n=n, discard_keys=True, wait_for=[self._event], **last.bits
        )
        for pack in reversed(others):
            keys, size = self._keys(queue, pack, columns, n), pack.size
            picked = self._room("keys", size * n)
            self._event = self._gather(queue, order, keys, picked, item_bytes=size, n=n, wait_for=[self._event])
            self._event = pack.sort(queue, picked, values=order, n=n, wait_for=[self._event], **pack.bits)
        for x in moves:
            self._reorder(queue, order, x, n)

    def _keys(self, queue: Any, pack: _Pack, columns: Sequence[Key], n: int) -> Any:
        """The keys of a pack next to each other."""
        if pack.packer is not None:
            room = self._room("column", pack.size * n)
            self._event = pack.packer(queue, [x.column for x in columns], room, n, [self._event])
            return room
        column = columns[pack.column]
        whole = column.array is not None and column.bytes == pack.size
        return column.array if whole else self._extracted(queue, column, pack.size, n)

    def _extracted(self, queue: Any, column: Key, size: int, n: int) -> Any:
        """The keys of a column next to each other; narrow ones as the upper bits of words if `size` is 4."""
        room = self._room("column", size * n)
        if size > column.bytes:
            self._event = fill(queue, room, size * n, [self._event])
        to = Column(room, size - column.bytes, size)
        self._event = copy(queue, to, column.column, column.bytes, n, [self._event])
        return room

    def _reorder(self, queue: Any, order: Any, x: Move, n: int) -> None:
        """Enqueue the gather of an array: through copies in place, and where its items are no multiple of 4 bytes."""
        size, words = x.item_bytes, _padded(x.item_bytes)
        source, to = x.source.given, x.to.given
        if size != words or x.in_place:
            source = self._room("before", words * n)
            from_ = Column(x.source.root, x.source.at, size)
            if size == words:  # one long copy
                cl = toolchain.pyopencl()
                more = {"src_offset": x.source.at, "byte_count": size * n}
                self._event = cl.enqueue_copy(queue, source, x.source.root, wait_for=[self._event], **more)
            else:
                self._event = copy(queue, Column(source, 0, words), from_, size, n, [self._event])
        if size != words:
            to = self._room("after", words * n)
        self._event = self._gather(queue, order, source, to, item_bytes=words, n=n, wait_for=[self._event])
        if size != words:
            column = Column(x.to.root, x.to.at, size)
            self._event = copy(queue, column, Column(to, 0, words), size, n, [self._event])

    def _room(self, name: str, size: int) -> Any:
        """Temporary memory of at least `size` bytes."""
        if name not in self._rooms or self._rooms[name].size < size:
            cl = toolchain.pyopencl()
            self._rooms[name] = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, size)
        return self._rooms[name]


class _Pack:
    """Columns that are sorted at once: the first one's number, their sort, the bytes of a key, and what packs them."""

    def __init__(self, context: Any, by: By, pack: Pack, target: Any, *, last: bool) -> None:
        (self.column, shift), value = pack[0], "index" if last else _WORD
        self.packer = Packer(context, by, pack) if len(pack) > 1 or shift else None
        self.bits: dict[str, Any] = {}
        name, order = by[self.column]
        if self.packer is not None:
            name, order = WORDS[self.packer.size], "ascending"
        elif not last:
            name = _wide(name)
        self.size = KEYS[TYPES[name].key].bytes
        if self.packer is not None and self.packer.bits < 8 * self.size:
            with suppress(Usage):  # without radix sorts, by the zeros above, too
                self.sort = Sorter(context, name, value=value, target=target, bit_range=True)
                self.bits = {"end_bit": self.packer.bits}
        if not self.bits:
            self.sort = Sorter(context, name, value=value, order=order, target=target)


def _wide(name: str) -> str:
    """The key type of 32 bits whose upper bits hold the keys of a narrower type, in the same order; else the type."""
    of = TYPES[name]
    return name if KEYS[of.key].bytes >= _WORD else ("u32", "i32", "f32")[of.kind]
