"""Top-k: a selection of the k least or the k greatest keys of each row.

The *first* keys of a row are the least in ascending order, and the greatest in descending order.  Among equal keys, a
selection takes those with the lowest indices.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature, Type
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.arguments import ONE, SCRATCH, Arguments, Buffer, Length, Number, options_member
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import Keys


def sorted_up_to(sort: Sort) -> int:
    """Return the greatest k for which a selection sorts the selected keys.

    For a greater k, the selected keys keep the order that they have in their row.
    """
    return int(getattr(sort.parts[0].params, "capacity", 0))


def _first(by: Keys, take: int) -> NDArray[np.intp]:
    """Return the indices of the `take` least keys of each row, in ascending order of indices, shape (rows, take).

    Among equal keys, those with the lowest indices are taken.  The function calls `numpy.partition`, which is faster
    than a sort, to find the greatest key to take.
    by: transformed keys, shape (rows, length).
    """
    rows, length = by.shape
    if take == length:
        return np.tile(np.arange(length), (rows, 1))
    last = np.partition(by, take - 1, axis=1)[:, take - 1 : take]
    below = by < last
    equal = np.flatnonzero(by == last)
    row = equal // length
    before = np.searchsorted(row, np.arange(rows))
    missing = take - np.count_nonzero(below, axis=1)
    below.reshape(-1)[equal[np.arange(len(equal)) - before[row] < missing[row]]] = True
    indices: NDArray[np.intp] = np.flatnonzero(below).reshape(rows, take) % length
    return indices


NO_INDEX = (1 << 32) - 1
"""The index that a selection with indices as values writes after those of a row with fewer than k keys to take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The numbers that a call reads from device memory for each row.  Arrays have the shape (rows,).

    The *pitch* is n / rows, the greatest length of a row.

    lengths: the number of keys in each row.  The call replaces a number above the pitch by the pitch.
    starts: the index of the first key of each row.
    takes: the number of keys to take from each row.  The call replaces a number above k by k.
    value_starts: the index of the first value of each row.
    live: the number of rows from which the call selects.  Results of the remaining rows are not written.
    """

    lengths: NDArray[np.int64]
    starts: NDArray[np.int64]
    takes: NDArray[np.int64]
    value_starts: NDArray[np.int64]
    live: int


def of_rows(
    sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rows: Rows
) -> tuple[Keys, NDArray[Any] | None]:
    """Return the selected keys and their values, as `selected` does, for rows with the starts and lengths in `rows`.

    The result of a row has k keys.  If fewer keys are taken, the rest of the result has the key that is last in the
    order of the call: the greatest key of the type, if the order is ascending.  All bits of the values there are set,
    so 32-bit indices are `NO_INDEX`.
    """
    pitch, take = len(keys) // options.segment_count, options.take
    ordered_ = oracle.ordered(keys, options.kind, descending=options.descending)
    by = np.full((options.segment_count, take), ~ordered_.dtype.type(0))
    index, flat = np.full((2, options.segment_count, take), -1, np.int64)
    for row in range(options.segment_count):
        start, number = int(rows.starts[row]), int(min(rows.lengths[row], rows.takes[row], take, pitch))
        part = ordered_[start : start + min(int(rows.lengths[row]), pitch)]
        first = np.argsort(part, kind="stable")[:number]
        if number > sorted_up_to(sort):
            first = np.sort(first)
        by[row, : len(first)], index[row, : len(first)] = part[first], first
        flat[row, : len(first)] = int(rows.value_starts[row]) + first
    out = oracle.unordered(by.reshape(-1), options.kind, descending=options.descending)
    after = oracle.values_expected(values, (index if sort.signature.index else flat).reshape(-1), sort)
    if after is not None:
        after[index.reshape(-1) < 0] = NO_INDEX
    return out, after


def positions(sort: Sort, keys: Keys, options: Options) -> NDArray[np.intp]:
    """Return the index of each selected key within its row, shape (rows, k)."""
    by = oracle.ordered(keys, options.kind, descending=options.descending).reshape(options.segment_count, -1)
    indices = _first(by, options.take)
    if min(by.shape[1], options.take) > sorted_up_to(sort):
        return indices
    order = np.argsort(np.take_along_axis(by, indices, axis=1), axis=1, kind="stable")
    sorted_: NDArray[np.intp] = np.take_along_axis(indices, order, axis=1)
    return sorted_


def selected(sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options) -> tuple[Keys, NDArray[Any] | None]:
    """Return the selected keys and their values.

    Keys have the shape (rows * k,).  Values have the shape (rows * k, 32-bit words of a value), or are None.
    """
    rows = positions(sort, keys, options)
    flat = (rows + np.arange(len(rows)).reshape(-1, 1) * (len(keys) // max(len(rows), 1))).reshape(-1)
    after = oracle.values_expected(values, rows.reshape(-1) if sort.signature.index else flat, sort)
    return keys[flat], after


_TAKEN = Length(factors=("number", "take"))


def _of_rows(*, name: str, role: str, feature: str, meaning: str, about: str) -> Buffer:
    """Return an argument with a 32-bit number for each row; calls have it if and only if the sort has `feature`."""
    each = Length(factors=("number",))
    return Buffer(
        name=name,
        role=role,
        meaning=meaning,
        words=True,
        length=each,
        optional=True,
        feature=feature,
        python=name,
        about=about,
    )


class _TopK(Operation):
    """The operation that selects the first k keys from each of `segment_count` rows of equal length."""

    name, noun, c_kind = "top_k", "selection", "HS_TOP_K"
    c_number = 5
    arguments = Arguments(
        about="The first k keys of each of row_count rows (HS_TOP_K), in the order of the options: descending, the k "
        "greatest.  Equal keys are in the order of their indices.  Up to the `block` keys of the sort they are "
        "sorted; beyond, they are in the order of the row.  A row with fewer than k keys to take ends with the "
        "last key of the order, and values with all bits set: index 0xffffffff.",
        members=(
            Number(name="n", meaning="keys of all rows"),
            Number(
                name="row_count",
                meaning="rows of n / row_count keys",
                call="call->segment_count",
                field="segment_count",
                python="rows",
                javascript="rows",
                about="The number of rows of equal length; 1 by default.",
            ),
            Number(
                name="k",
                meaning="keys to take of each row, at least 1",
                call="call->take",
                field="take",
                python="k",
                javascript="k",
                about="The number of keys to take of each row.",
                optional=False,
            ),
            options_member("type and order", "order"),
            Buffer(name="source", role="source", about="The rows, one after another."),
            Buffer(
                name="destination",
                role="destination",
                meaning="k keys of each row",
                written=True,
                length=_TAKEN,
                about="Receives rows * k keys.",
            ),
            SCRATCH,
            _of_rows(
                name="lengths",
                role="other",
                feature="row_lengths",
                meaning="the length of each row, at most n / row_count counts (--feature row-lengths); else null",
                about="The length of each row, as 32-bit words (--feature row-lengths); n / rows is the greatest.",
            ),
            _of_rows(
                name="starts",
                role="other_values",
                feature="row_starts",
                meaning="the index of the first key of each row (--feature row-starts); else null",
                about="The index of the first key of each row, as 32-bit words (--feature row-starts).",
            ),
            _of_rows(
                name="takes",
                role="takes",
                feature="row_takes",
                meaning="the number of keys to take of each row, at most k counts (--feature row-takes); else null",
                about="The keys to take of each row, as 32-bit words (--feature row-takes); k is the greatest number.",
            ),
            Buffer(
                name="count",
                role="count",
                meaning="32 bits: the number of rows, at most row_count counts (--feature row-count); else null",
                words=True,
                single=True,
                length=ONE,
                optional=True,
                feature="row_count",
                about="A buffer whose first 32-bit word is the number of rows (--feature row-count).",
            ),
            _of_rows(
                name="value_starts",
                role="value_starts",
                feature="value_starts",
                meaning="the index of the first value of each row (--feature value-starts); else null: that of the key",
                about="The index of the first value of each row, as 32-bit words (--feature value-starts).",
            ),
            Buffer(
                name="values",
                role="values",
                meaning="the value of each key, for selections with values",
                about="The value of each key.",
            ),
            Buffer(
                name="values_destination",
                role="values_out",
                meaning="k values of each row, or the indices of the keys in their row",
                written=True,
                length=_TAKEN,
                about="Receives the values of these keys, or their indices in the row.",
            ),
        ),
        number="{row_count}",
        take="{k}",
        javascript="Selections of the first k keys of each row: the greatest keys, unless the order is ascending.",
    )
    order = 4
    timed = typed_baselines = selects = True

    def signature(self, signature: Signature) -> Signature:
        """Return a signature with a key transform; of `signature`, it keeps the values and the features for rows.

        The feature `row_starts` implies the feature `row_lengths`.
        """
        return replace(
            PLAIN,
            value=signature.value,
            key_transform=True,
            rows=True,
            row_lengths=signature.row_lengths or signature.row_starts,
            row_starts=signature.row_starts,
            row_takes=signature.row_takes,
            row_count=signature.row_count,
            value_starts=signature.value_starts and signature.value_bytes > 0 and not signature.index,
        )

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """Return the signature with a key transform, which supports keys of all types."""
        return replace(signature, key_transform=True, rows=True)

    def settled(self, n: int, options: Options, roles: Container[str]) -> Options:
        """Check that the number of rows divides n, and that rows have at least k keys."""
        if n and (options.segment_count == 0 or n % options.segment_count):
            wrong = f"{n} keys cannot be divided into that number of equal rows"
            raise OutOfRange("segment_count", options.segment_count, wrong)
        if n and not 1 <= options.take <= n // options.segment_count:
            raise OutOfRange("take", options.take, f"give 1 to {n // options.segment_count}, the length of a row")
        return options

    def inputs(self, sort: Sort) -> Mapping[str, int]:
        """Return 4 bytes per key for each buffer that has a number for each row: there are no more rows than keys."""
        numbers = (b for b in self.arguments.buffers if b.feature and not b.single)
        return {b.role: 4 for b in numbers if getattr(sort.signature, b.feature)}

    def second(self, options: Options, n: int) -> Options | None:
        """Return the options of the first call, so that the second call is not in place, either: no selection is."""
        return options

    def reported(self, options: Options) -> list[str]:
        """Return a phrase with k and the number of rows."""
        return [f"{options.take} of each of {options.segment_count} rows"]

    def call(
        self, sort: Sort, keys: Keys, options: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return a call that selects from rows of equal, random length; keys after the last whole row are omitted."""
        n, limit = len(keys), sorted_up_to(sort)
        rows = int(rng.choice([1, 1, 2, 3, 7])) if rng.integers(2) else max(1, n // int(rng.integers(1, 3 * limit)))
        length = n // rows
        keys = keys[: rows * length]
        most = int(rng.choice([1, 2, 40, limit, 2 * limit, length]))
        take = int(rng.integers(1, min(most, length) + 1)) if length else 0
        options = replace(
            options, discard=False, segment_count=rows, take=min(length, most) if rng.integers(2) else take
        )
        values = oracle.values_for(rng, len(keys), sort)
        if sort.signature.of_rows:
            return call_of_rows(sort, keys, values, options, rng)
        expected, after = selected(sort, keys, values, options)
        return Call(
            n=len(keys), keys=keys, expected=expected, in_place=False, values=values, values_expected=after, how=options
        )

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """Return a selection from one row and, if n has a suitable divisor, another from rows of at least 4096 keys."""
        rows = math.gcd(n, max(1, n >> 12))
        calls = [Options(segment_count=r, take=min(64, n // r)) for r in dict.fromkeys((1, rows))]
        return tuple(("random", options) for options in calls)

    def load(
        self, sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
    ) -> Load:
        """Return a workload that selects `options.take` keys from each of `segment_count` rows, by default one."""
        options = replace(options, segment_count=options.segment_count or 1)
        expected, after = selected(sort, keys, values, options)
        return Load(keys=keys, values=values, expected=expected, values_expected=after, how=options, count=len(keys))


def _drawn(rng: np.random.Generator, most: int, count: int) -> NDArray[np.int64]:
    """Return `count` random numbers up to `most`; about a quarter of them equal `most`."""
    numbers = rng.integers(0, most + 1, count) >> rng.integers(0, 8, count)
    return np.where(rng.integers(0, 4, count) == 0, most, numbers)


def _beyond(rng: np.random.Generator, numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return a copy of `numbers` in which about half of those that equal `most` become the greatest 32-bit number."""
    return np.where((numbers == most) & (rng.integers(0, 2, len(numbers)) > 0), NO_INDEX, numbers)


def call_of_rows(
    sort: Sort, keys: Keys, values: NDArray[Any] | None, options: Options, rng: np.random.Generator
) -> Call:
    """Return a call whose rows have random lengths, starts and numbers of keys to take, if the sort has these features.

    Some lengths and numbers of keys to take are 0, or exceed the pitch or k.
    """
    s, count, k = sort.signature, options.segment_count, options.take
    pitch, every = len(keys) // count, np.arange(count)
    lengths = _drawn(rng, pitch, count) if s.row_lengths else np.full(count, pitch)
    starts, table = rng.integers(0, np.stack([len(keys) - lengths + 1] * 2))
    starts = starts if s.row_starts else every * pitch
    table = table if s.value_starts else starts
    lengths = _beyond(rng, lengths, pitch) if s.row_lengths else lengths
    takes = _beyond(rng, _drawn(rng, k, count), k) if s.row_takes else np.full(count, k)
    number = int(rng.choice([0, count // 2, count - 1, count, NO_INDEX])) if s.row_count else count
    rows = Rows(lengths=lengths, starts=starts, takes=takes, value_starts=table, live=min(number, count))
    expected, after = of_rows(sort, keys, values, options, rows)
    return Call(
        n=len(keys),
        keys=keys,
        expected=expected,
        in_place=False,
        values=values,
        values_expected=after,
        how=options,
        count=number if s.row_count else None,
        other=lengths.astype(np.uint32) if s.row_lengths else None,
        other_values=starts.astype(np.uint32) if s.row_starts else None,
        takes=takes.astype(np.uint32) if s.row_takes else None,
        value_starts=table.astype(np.uint32) if s.value_starts else None,
        unchanged=np.repeat(every >= rows.live, k) if s.row_count else None,
    )


OPERATION = _TopK()
