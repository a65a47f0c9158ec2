"""Search spaces: a *box* is a product of lists of values, a space is a union of boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Box = Mapping[str, tuple[Any, ...]]
"""The candidate values of each key of a table, in order; None omits the key."""


def steps(low: int, high: int, *, thirds: bool = False) -> tuple[int, ...]:
    """Return the powers of two from `low` to `high`; with `thirds`, also the powers of two times 3/2."""
    powers = [1 << b for b in range(low.bit_length() - (low & (low - 1) == 0), high.bit_length())]
    powers += [3 * n // 2 for n in powers if thirds and n > 1]
    return tuple(sorted(n for n in powers if low <= n <= high))
