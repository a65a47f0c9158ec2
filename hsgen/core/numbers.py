"""Counts, sizes and other numbers that callers give: as Python integers within their bounds."""

from __future__ import annotations

import operator
from typing import Any

from hsgen.core.errors import OutOfRange, wrong_type

MOST = 2**31 - 1
"""The greatest number of a call apart from its count, as kernels get it."""
_SHOWN = 256  # bits of the greatest number that a message shows


def integer(name: str, given: Any, least: int, greatest: int) -> int:
    """Return a number of a caller as a Python integer, whose arithmetic never wraps; `name` is its argument.

    Raises:
        TypeError: it is no integer, or a bool.
        OutOfRange: it is less than `least`, or greater than `greatest`.
    """
    if type(given) is int:
        number = given
    else:
        try:
            number = operator.index(given)
            refused = isinstance(given, bool) or "bool" in str(getattr(given, "dtype", ""))
        except (TypeError, RuntimeError):  # the latter of tensors without a value
            refused = True
        if refused:
            raise wrong_type(name, f"an integer from {least} to {greatest}", given)
    if not least <= number <= greatest:
        said = number if number.bit_length() <= _SHOWN else f"of {number.bit_length()} bits"
        raise OutOfRange(name, said, f"give {least} to {greatest}" if least < greatest else f"give {least}")
    return number
