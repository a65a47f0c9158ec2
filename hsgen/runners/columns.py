"""Sorts of the rows of a table by several columns, in `hsgen.cuda` and `hsgen.opencl`.

The least significant column is sorted first, and each sort is stable.  Columns that fit into a word together are
packed, so that one sort serves all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from hsgen.core.errors import Usage
from hsgen.core.keys import KEYS, TYPES
from hsgen.runners.arguments import key_name, order_name
from hsgen.runners.packing import WORDS, By, Pack, Packing, packs
from hsgen.runners.ranges import Range
from hsgen.runners.rows import Field, Key, Look, Move, check_overlaps, key, move, rows_of

WORD = 4
"""The size in bytes of an index, and of the smallest items that a gather moves."""
MOST_ROWS = 1 << 30
INDICES = ("uint32", "int32")
"""The accepted types of index arrays.  Indices are less than 2^31, so they have the same bits in both types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSort:
    """A sort by one key column, or by a *pack*: several columns that are packed into one word per row.

    column: the index of the column, or of the first column in the pack.
    sort: the sorter.
    size: the size of a key in bytes.
    packer: the packing of the columns into a key; None for a single column.
    bits: the arguments of calls that select a bit range; empty if calls sort by all bits.
    """

    column: int
    sort: Any
    size: int
    packer: Any = None
    bits: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The arrays of one call that sorts the rows of a table, after all checks.

    columns: the key columns.
    moves: the arrays to put in the order of the sorted rows.
    index: the memory that receives the original index of each row; None if the call has no `index_out`.
    n: the number of rows.
    """

    columns: list[Key]
    moves: list[Move]
    index: Range | None
    n: int


class Steps(Protocol):
    """The methods by which CUDA or OpenCL enqueues the commands of a call; the device runs the commands one after
    another.
    """

    def room(self, name: str, size: int) -> Range:
        """Return temporary memory of at least `size` bytes; `name` states its use."""

    def pack(self, packer: Any, columns: Sequence[Key], words: Range, n: int) -> None:
        """Pack the columns of n rows into `words`."""

    def extract(self, column: Key, size: int, n: int) -> Range:
        """Return the keys of a column in contiguous memory.

        If `size` is 4 and keys have fewer than 32 bits, each key becomes the upper bits of a 32-bit word.
        """

    def argsort(self, one: ColumnSort, keys: Range, order: Range, n: int) -> None:
        """Store in `order` the original indices of n keys in sorted order; the command may overwrite the keys."""

    def sort(self, one: ColumnSort, keys: Range, order: Range, n: int) -> None:
        """Sort n keys in place, and move the row indices in `order`, which earlier commands have stored, with the
        keys.
        """

    def gather(self, order: Range, source: Range, to: Range, size: int, n: int) -> None:
        """Store item order[i] of `source` as item i of `to`, for n items of `size` bytes each."""

    def reorder(self, order: Range, one: Move, n: int) -> None:
        """Put the n items of an array in the order of the sorted rows, by the indices `order`."""


def column_sorts(by: By, sorter: Callable[..., Any], packer: Callable[[Pack], Packing]) -> list[ColumnSort]:
    """Return one sort for each pack of the key columns `by`, in the order of columns.  The last sort, an argsort, runs
    first.

    sorter: a function that returns a sorter; its arguments are the key type and the keywords `value`, `order` and
    `bit_range`.
    packer: a function that takes a pack, and returns the `Packing` that stores its columns in words.
    """
    every = packs(by)
    return [_column_sort(by, pack, sorter, packer, last=pack is every[-1]) for pack in every]


def _column_sort(
    by: By, pack: Pack, sorter: Callable[..., Any], packer: Callable[[Pack], Packing], *, last: bool
) -> ColumnSort:
    (column, shift), value = pack[0], "index" if last else WORD
    packing = packer(pack) if len(pack) > 1 or shift else None
    name, order = by[column]
    if packing is not None:
        name, order = WORDS[packing.size], "ascending"
    elif not last:
        name = _wide(name)
    size = KEYS[TYPES[name].key].bytes
    if packing is not None and packing.bits < 8 * size:
        with suppress(Usage):  # only radix sorts have bit ranges; other sorts also compare the upper bits, which are 0
            ranged = sorter(name, value=value, bit_range=True)
            return ColumnSort(column=column, sort=ranged, size=size, packer=packing, bits={"end_bit": packing.bits})
    return ColumnSort(column=column, sort=sorter(name, value=value, order=order), size=size, packer=packing)


def _wide(name: str) -> str:
    """Return the 32-bit key type by which keys of a narrower type are sorted; each key is stored in the upper bits of a
    32-bit word.

    Return `name` itself if its keys have at least 32 bits.
    """
    of = TYPES[name]
    return name if KEYS[of.key].bytes >= WORD else ("u32", "i32", "f32")[of.kind]


def enqueue(steps: Steps, sorts: Sequence[ColumnSort], table: Table) -> None:
    """Enqueue the sorts by all columns, then the reordering of all arrays in `table.moves`."""
    n, columns = table.n, table.columns
    order = steps.room("index", WORD * n) if table.index is None else table.index
    *earlier, last = sorts
    steps.argsort(last, _keys(steps, last, columns, n), order, n)
    for one in reversed(earlier):
        keys, picked = _keys(steps, one, columns, n), steps.room("keys", one.size * n)
        steps.gather(order, keys, picked, one.size, n)
        steps.sort(one, picked, order, n)
    for x in table.moves:
        steps.reorder(order, x, n)


def _keys(steps: Steps, one: ColumnSort, columns: Sequence[Key], n: int) -> Range:
    """Return the keys of the sort `one` in contiguous memory.  If necessary, this function first enqueues a command
    that packs or copies columns.
    """
    if one.packer is not None:
        room = steps.room("column", one.size * n)
        steps.pack(one.packer, columns, room, n)
        return room
    column = columns[one.column]
    return column.array if column.array and column.bytes == one.size else steps.extract(column, one.size, n)


class ColumnCalls:
    """Checks the arguments of calls that sort rows by columns."""

    by: tuple[tuple[str, str], ...]
    max_n: int

    def _name_columns(self, by: Iterable[Any]) -> None:
        """Store the types and orders of columns.

        Raises:
            Usage: there are no columns, or no such type or order.
        """
        pairs = [x if isinstance(x, tuple) else (x, "ascending") for x in by]
        if not pairs:
            raise Usage("by is empty; give the type of at least one column")
        self.by = tuple((key_name(name), order_name(order)) for name, order in pairs)

    def _table(
        self,
        keys: Sequence[Any],
        out: Sequence[Any] | None,
        values: Sequence[Any],
        values_out: Sequence[Any] | None,
        index_out: Any,
        look: Look,
    ) -> Table:
        """Check the arrays of a call, and return them as a `Table`."""
        index = None if index_out is None else _index(index_out, look)
        pairs = [*_moving("keys", keys, "out", out, index), *_moving("values", values, "values_out", values_out, None)]
        if len(keys) != len(self.by):
            raise ValueError(f"keys has {len(keys)} columns, this sorter has {len(self.by)}")
        columns = [key(x, f"keys {i}", self.by[i][0], look) for i, x in enumerate(keys)]
        moves = [move(*pair, look) for pair in pairs]
        check_overlaps(columns, moves, index)
        n = rows_of(columns, moves)
        if n > self.max_n:
            raise Usage(f"{n} rows: this sort takes up to {self.max_n}")
        if index is not None and index.size < WORD * n:
            raise ValueError(f"index_out holds {index.size // WORD} indices, {n} are to be stored")
        return Table(columns=columns, moves=moves, index=index, n=n)


def _index(array: Any, look: Look) -> Range:
    """Check `index_out`, which receives the original indices of rows; return its memory range."""
    facts = look(array, "index_out")
    if facts.element not in INDICES or len(facts.shape) != 1 or not facts.contiguous:
        types = " or ".join(INDICES)
        raise ValueError(f"index_out has shape {facts.shape} of {facts.element}; give one dimension of {types}")
    if facts.readonly:
        raise ValueError("index_out is read-only; give a writable array")
    return facts.range


def _moving(
    name: str, arrays: Sequence[Any], to_name: str, out: Sequence[Any] | None, index: Range | None
) -> list[tuple[Any, Any, str, str]]:
    """Return a tuple for each array whose items are put in order: the array, its output, and the names of both in
    messages.

    The output is None if the result replaces the array.  If the call has `index_out` (`index`), arrays without an
    output are not put in order.
    """
    if out is None:
        return [
            (x, None, f"{name} {i}", f"{name} {i}")
            for i, x in enumerate(arrays)
            if index is None and not isinstance(x, Field)
        ]
    if len(out) != len(arrays):
        raise ValueError(f"{to_name} has {len(out)} arrays, {name} {len(arrays)}; give one for each")
    return [(x, to, f"{name} {i}", f"{to_name} {i}") for i, (x, to) in enumerate(zip(arrays, out, strict=True))]
