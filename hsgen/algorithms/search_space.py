"""The words of search spaces: a *box* is a product of lists, a space a union of boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Box = Mapping[str, tuple[Any, ...]]
"""For each key of a table the values that are worth trying, neighbours side by side; None leaves the key out."""


def steps(low: int, high: int, *, thirds: bool = False) -> tuple[int, ...]:
    """Return the powers of two from `low` to `high`, with `thirds` also those half as much again."""
    found = [1 << b for b in range(low.bit_length() - (low & (low - 1) == 0), high.bit_length())]
    found += [3 * n // 2 for n in found if thirds and n > 1]
    return tuple(sorted(n for n in found if low <= n <= high))
