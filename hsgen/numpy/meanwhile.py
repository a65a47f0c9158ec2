"""Sorts by numpy, which serve calls while a thread prepares a device; the results equal the device's to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsgen.core.keys import TYPES
from hsgen.cuda.numeric import nan
from hsgen.operations import oracle

MOST = 1 << 22
"""The greatest number of elements that numpy sorts in the meantime, in less than a second; calls with more elements
wait.
"""


def sorted_rows(rows: Any, key: str, *, descending: bool) -> Any:
    """Return the sorted elements of each row; all NaNs get the same bits, and in ascending order -0 is before +0."""
    words = _ordered(rows, key, descending=descending, zeros=False)
    words.sort(axis=-1)
    return oracle.unordered(words, TYPES[key].kind, descending=descending).view(rows.dtype)


def argsorted_rows(rows: Any, key: str, *, descending: bool) -> Any:
    """Return the indices that sort each row; the sort is stable, also if descending, and -0 equals +0."""
    return np.argsort(_ordered(rows, key, descending=descending, zeros=True), axis=-1, kind="stable")


def _ordered(rows: Any, key: str, *, descending: bool, zeros: bool) -> Any:
    """Return unsigned integers that have the order of contiguous keys; zeros: whether -0 and +0 are equal."""
    words = rows.view(f"u{rows.dtype.itemsize}")
    if TYPES[key].kind == 2:
        words = np.where(np.isnan(rows), words.dtype.type(nan(key)), words)
        if zeros:
            words[rows == 0] = 0
    return oracle.ordered(words, TYPES[key].kind, descending=descending)
