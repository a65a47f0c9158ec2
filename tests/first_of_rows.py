"""The definition in numpy of the first elements of rows, with all numbers of rows that `topk` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hsgen.cuda.selected import fill


class First(NamedTuple):
    """The first elements of rows, their indices, counted from the starts of rows, and the entries of a table."""

    keys: Any
    indices: Any
    entries: Any


def ranks_of(rows: Any, *, largest: bool) -> Any:
    """Return the rank of each element among the elements of all rows, least first; all NaNs are one element."""
    ranks = np.unique(rows, return_inverse=True)[1].reshape(rows.shape).astype(np.int64)
    return -ranks if largest else ranks


def first_of_rows(key: str, rows: Any, ranks: Any, k: int, *, largest: bool, numbers: Mapping[str, Any]) -> First:
    """Return the first k elements of each row of a matrix by rank; numbers are those of `hsgen.runners.row_numbers`.

    Rows with fewer elements to take end with the last element in order, index -1 and entry -1.
    """
    (count, length), none = rows.shape, np.zeros(len(rows), np.int64)
    starts = np.minimum(numbers.get("starts", none), length).astype(np.int64)[:, None]
    sizes = np.asarray(numbers.get("lengths", none + length)).astype(np.int64)[:, None]
    sizes = np.minimum(sizes, length - starts)
    if "count" in numbers:
        sizes = np.where(np.arange(count)[:, None] < numbers["count"].reshape(-1)[0], sizes, 0)
    counted = (np.arange(length) >= starts) & (np.arange(length) < starts + sizes)
    order = np.argsort(ranks, axis=1, kind="stable")
    later = np.argsort(~np.take_along_axis(counted, order, 1), axis=1, kind="stable")[:, :k]
    places = np.take_along_axis(order, later, 1)
    beyond = ~np.take_along_axis(counted, places, 1)
    if "takes" in numbers:
        beyond |= np.arange(k) >= numbers["takes"].astype(np.int64)[:, None]
    keys, indices = np.take_along_axis(rows, places, 1), np.where(beyond, -1, places - starts)
    keys.view(f"u{rows.itemsize}")[beyond] = fill(key, largest=largest)
    if "table" not in numbers:
        return First(keys, indices, None)
    flat, first = numbers["table"].reshape(-1), np.arange(count)[:, None] * length + starts
    at = (numbers["table_starts"].astype(np.int64)[:, None] if "table_starts" in numbers else first) + indices
    within = ~beyond & (at >= 0) & (at < flat.size)
    return First(keys, indices, np.where(within, flat[np.where(within, at, 0)], flat.dtype.type(-1)))


def drawn(rng: np.random.Generator, names: tuple[str, ...], rows: int, length: int, k: int) -> dict[str, Any]:
    """Return random numbers of these names; some are 0, and some are beyond the greatest that counts."""
    greatest = {"lengths": length, "starts": length, "takes": k}
    numbers = {name: rng.integers(0, most + most // 4 + 2, rows) for name, most in greatest.items() if name in names}
    if "starts" in numbers:
        numbers["starts"] = np.where(rng.random(rows) < 0.6, numbers["starts"] // 5, numbers["starts"])
    if "count" in names:
        numbers["count"] = np.array([int(rng.integers(0, rows + 2))])
    if "table" in names:
        numbers["table"] = rng.integers(0, 1 << 31, (rows, length))
    if "table_starts" in names:
        numbers["table"] = rng.integers(0, 1 << 31, 2 * length)
        numbers["table_starts"] = rng.integers(0, length + length // 2, rows)
    return numbers
