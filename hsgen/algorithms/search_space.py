"""Search spaces: the values of a target table that `hsgen tune` tries.

A search space is a union of *search regions* (`Box`).  A region has a list of candidate values for each key of the
table, and contains all combinations of these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Box = Mapping[str, tuple[Any, ...]]
"""A search region: the ordered candidate values for each key of a target table.

The candidate None stands for a table without the key.
"""


def steps(low: int, high: int, *, thirds: bool = False) -> tuple[int, ...]:
    """Return the powers of two from `low` to `high`; with `thirds`, also those times 3/2 up to `high`, such as 96."""
    powers = [1 << b for b in range(low.bit_length() - (low & (low - 1) == 0), high.bit_length())]
    powers += [3 * n // 2 for n in powers if thirds and n > 1]
    return tuple(sorted(n for n in powers if low <= n <= high))
