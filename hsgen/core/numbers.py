"""Checks of the counts, sizes and other numbers that callers give."""

from __future__ import annotations

import operator
from typing import Any

from hsgen.core.errors import OutOfRange, wrong_type

MOST = 2**31 - 1
"""The greatest number that a call can pass to kernels, except the count n, which may be greater."""
_SHOWN = 256  # a message shows the digits of numbers of at most this many bits


def integer(name: str, value: Any, least: int, greatest: int) -> int:
    """Return `value` as a Python integer, whose arithmetic never wraps around.

    name: the name of the caller's argument, for messages.  least, greatest: the valid range, inclusive.

    Raises:
        TypeError: the value is not an integer, or is a bool.
        OutOfRange: the value is less than `least` or greater than `greatest`.
    """
    if type(value) is int:
        number = value
    else:
        try:
            number = operator.index(value)
            refused = isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))
        except (TypeError, RuntimeError):  # tensors without a value raise RuntimeError
            refused = True
        if refused:
            raise wrong_type(name, f"an integer from {least} to {greatest}", value)
    if not least <= number <= greatest:
        text = number if number.bit_length() <= _SHOWN else f"of {number.bit_length()} bits"
        raise OutOfRange(name, text, f"give {least} to {greatest}" if least < greatest else f"give {least}")
    return number
