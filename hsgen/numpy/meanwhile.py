"""Sorts by numpy on the host, which serve calls while a thread still prepares the device; the results have the same
bits as those of the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hsgen.core.keys import TYPES
from hsgen.cuda.numeric import nan
from hsgen.operations import oracle

MOST = 1 << 22
"""The greatest number of elements that numpy sorts while a thread prepares the device. numpy sorts them in less than a
second.

A call with more elements waits for the device.
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
    """Return contiguous keys as unsigned integers that have the order of the sort; zeros: whether -0 equals +0."""
    words = rows.view(f"u{rows.dtype.itemsize}")
    if TYPES[key].kind == 2:
        words = np.where(np.isnan(rows), words.dtype.type(nan(key)), words)
        if zeros:
            words[rows == 0] = 0
    return oracle.ordered(words, TYPES[key].kind, descending=descending)
