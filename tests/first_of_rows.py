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
    count, length = rows.shape
    keys, indices = np.zeros((count, k), rows.dtype), np.full((count, k), -1, np.int64)
    table = numbers.get("table")
    entries = None if table is None else np.full((count, k), -1).astype(table.dtype)
    keys.view(f"u{rows.itemsize}")[...] = fill(key, largest=largest)
    live = count if "count" not in numbers else int(numbers["count"].reshape(-1)[0])
    for row in range(min(count, live)):
        start = min(int(numbers["starts"][row]), length) if "starts" in numbers else 0
        size = min(int(numbers["lengths"][row]) if "lengths" in numbers else length, length - start)
        take = min(k, size, int(numbers["takes"][row]) if "takes" in numbers else k)
        places = np.argsort(ranks[row, start : start + size], kind="stable")[:take]
        keys[row, :take], indices[row, :take] = rows[row, start + places], places
        if entries is not None:
            begin = numbers["table_starts"][row] if "table_starts" in numbers else row * length + start
            for i, place in enumerate(begin + places):
                entries[row, i] = table.reshape(-1)[place] if 0 <= place < table.size else -1
    return First(keys, indices, entries)


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
