"""The first k keys of each row, in either order: of equal keys those with the lowest indices."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hsgen.core.errors import OutOfRange
from hsgen.core.interpreter import Options
from hsgen.core.keys import PLAIN, Signature, Type
from hsgen.core.sort import Sort
from hsgen.operations import oracle
from hsgen.operations.arguments import SCRATCH, Arguments, Buffer, Number, options
from hsgen.operations.base import Operation
from hsgen.operations.calls import Call, Load
from hsgen.operations.inputs import Keys


def sorted_up_to(sort: Sort) -> int:
    """Return the greatest k whose result is sorted; a greater one is in the order of the row."""
    return int(getattr(sort.parts[0].params, "capacity", 0))


def _first(by: Keys, take: int) -> NDArray[np.intp]:
    """Return the indices of the `take` least keys of each row, ascending, shape (rows, take): of equal ones the first.

    by: shape (rows, length).  A partition of each row finds its greatest key that is taken faster than a sort.
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
    found: NDArray[np.intp] = np.flatnonzero(below).reshape(rows, take) % length
    return found


def positions(sort: Sort, keys: Keys, how: Options) -> NDArray[np.intp]:
    """Return the indices within their rows of the keys that are taken, shape (rows, k)."""
    by = oracle.ordered(keys, how.kind, descending=how.descending).reshape(how.segment_count, -1)
    found = _first(by, how.take)
    if min(by.shape[1], how.take) > sorted_up_to(sort):
        return found
    order = np.argsort(np.take_along_axis(by, found, axis=1), axis=1, kind="stable")
    sorted_: NDArray[np.intp] = np.take_along_axis(found, order, axis=1)
    return sorted_


def taken(sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options) -> tuple[Keys, NDArray[Any] | None]:
    """Return the keys that are taken, shape (rows * k,), and their values, shape (rows * k, 32-bit words), or None."""
    rows = positions(sort, keys, how)
    flat = (rows + np.arange(len(rows)).reshape(-1, 1) * (len(keys) // max(len(rows), 1))).reshape(-1)
    after = oracle.values_expected(values, rows.reshape(-1) if sort.signature.index else flat, sort)
    return keys[flat], after


class _TopK(Operation):
    """The first k keys of each of `segment_count` rows of equal length."""

    name, noun, c_kind = "top_k", "selection", "HS_TOP_K"
    c_number = 5
    arguments = Arguments(
        about="The first k keys of each of row_count rows (HS_TOP_K), in the order of the options: descending, the k "
        "greatest.  Equal keys are in the order of their indices.  Up to the `block` keys of the sort they are "
        "sorted; beyond, they are in the order of the row.",
        members=(
            Number(name="n", meaning="keys of all rows"),
            Number(name="row_count", meaning="rows of n / row_count keys", call="call->segment_count"),
            Number(name="k", meaning="keys to take of each row, at least 1", call="call->take"),
            options("type and order"),
            Buffer(name="source", role="source"),
            Buffer(name="destination", role="destination", meaning="k keys of each row", written=True),
            SCRATCH,
            Buffer(name="values", role="values", meaning="the value of each key, for selections with values"),
            Buffer(
                name="values_destination",
                role="values_out",
                meaning="k values of each row, or the indices of the keys in their row",
                written=True,
            ),
        ),
        number="{row_count}",
        take="{k}",
    )
    order = 4
    timed = typed_baselines = selects = True

    def signature(self, signature: Signature) -> Signature:
        """See `Operation`: keys of all types in both orders, without features."""
        return replace(PLAIN, value=signature.value, key_transform=True, rows=True)

    def of_type(self, signature: Signature, key: Type) -> Signature:
        """See `Operation`."""
        return replace(signature, key_transform=True, rows=True)

    def settled(self, n: int, how: Options, given: Container[str]) -> Options:
        """See `Operation`: rows have equal lengths, and k keys at least."""
        if n and (how.segment_count == 0 or n % how.segment_count):
            wrong = f"{n} keys cannot be divided into that number of equal rows"
            raise OutOfRange("segment_count", how.segment_count, wrong)
        if n and not 1 <= how.take <= n // how.segment_count:
            raise OutOfRange("take", how.take, f"give 1 to {n // how.segment_count}, the length of a row")
        return how

    def second(self, how: Options, n: int) -> Options | None:
        """See `Operation`: no selection is in place."""
        return how

    def reported(self, how: Options) -> list[str]:
        """See `Operation`."""
        return [f"{how.take} of each of {how.segment_count} rows"]

    def call(
        self, sort: Sort, keys: Keys, how: Options, *, in_place: bool, count: int | None, rng: np.random.Generator
    ) -> Call:
        """Return the call that selects from rows: one, or some of an arbitrary length, with the last keys left out."""
        n, limit = len(keys), sorted_up_to(sort)
        rows = int(rng.choice([1, 1, 2, 3, 7])) if rng.integers(2) else max(1, n // int(rng.integers(1, 3 * limit)))
        length = n // rows
        keys = keys[: rows * length]
        most = int(rng.choice([1, 2, 40, limit, 2 * limit, length]))
        take = int(rng.integers(1, min(most, length) + 1)) if length else 0
        how = replace(how, discard=False, segment_count=rows, take=min(length, most) if rng.integers(2) else take)
        values = oracle.values_for(rng, len(keys), sort)
        expected, after = taken(sort, keys, values, how)
        return Call(
            n=len(keys), keys=keys, expected=expected, in_place=False, values=values, values_expected=after, how=how
        )

    def typical(self, n: int) -> tuple[tuple[str, Options], ...]:
        """See `Operation`: one row, and rows of some thousand keys."""
        rows = math.gcd(n, max(1, n >> 12))
        calls = [Options(segment_count=r, take=min(64, n // r)) for r in dict.fromkeys((1, rows))]
        return tuple(("random", how) for how in calls)

    def load(self, sort: Sort, keys: Keys, values: NDArray[Any] | None, how: Options, rng: np.random.Generator) -> Load:
        """Return the rows, or one row, and the k that `how` has."""
        how = replace(how, segment_count=how.segment_count or 1)
        expected, after = taken(sort, keys, values, how)
        return Load(keys=keys, values=values, expected=expected, values_expected=after, how=how, count=len(keys))


OPERATION = _TopK()
