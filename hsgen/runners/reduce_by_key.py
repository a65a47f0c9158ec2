"""Reductions by key in `hsgen.cuda` and `hsgen.opencl`: the types of values, and the checks of a call's arguments."""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hsgen.core.errors import Usage
from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.keys import TYPES
from hsgen.operations.base import Operation
from hsgen.operations.reduce_by_key import OPERATION, number
from hsgen.runners.arguments import key_name, value_name
from hsgen.runners.base import Calls, Numbers
from hsgen.runners.ranges import AnyRange


def _reduced(value: Any) -> str:
    """Return the type of the values to reduce, such as "f32"; "none" without values.

    If `value` states only a size of 4 bytes, the type is "u32".
    """
    if value is None or (isinstance(value, str) and value == "none"):
        return "none"
    if not hasattr(type(value), "__index__"):  # an integer would be the size of a value in bytes
        with suppress(Usage):
            return key_name(value)
    return "u32" if value_name(value) == "v4" else str(value)


class ReductionCalls(Calls):
    """Checks the arguments of calls that reduce the runs of equal keys."""

    operation: Operation = OPERATION
    noun, verb, done = "reduction", "reduce", "reduced"
    attributes: tuple[str, ...] = ("key", "value")

    def __init__(self, key: Any, value: Any, *, device_count: bool = False) -> None:
        self._reduced = _reduced(value)
        super().__init__(key, "none" if self._reduced == "none" else "v4", "ascending", device_count=device_count)
        self.value, self.options = self._reduced, PLAIN
        self._number = number(value="u32" if self.value == "none" else self.value)

    def integers(self, n: Any, reduction: str) -> Numbers:
        """Return the count of a call as an integer, and the name of its reduction."""
        return self.count(n), reduction

    def check_given(self, present: Container[str]) -> None:
        """See `Calls`."""
        super().check_given(present)
        if "count" in present and not self.sort.signature.device_count:
            raise ValueError("count is given; give device_count=True when the reduction is made")

    def settle(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options]:
        """See `Calls`."""
        n, reduction = numbers
        options = replace(self.options, reduction=number(reduction) | self._number, device_count="count" in ranges)
        return self.length_of(ranges, n), options

    def values(self) -> str:
        """See `Calls`."""
        return f"has values of {self.value}"

    def element_of(self, role: str) -> str:
        """See `Calls`; values have the type of the reduction."""
        if self.buffers[role].element == "value":
            return TYPES["u32" if self.value == "none" else self.value].element
        return super().element_of(role)
