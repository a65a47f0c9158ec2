"""Selections in the Python APIs."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.operations.top_k import OPERATION
from hsgen.runners.base import Calls

_NUMBERS = (
    ("other", "row_lengths", "lengths", "the lengths of rows"),
    ("other_values", "row_starts", "starts", "the starts of rows"),
    ("takes", "row_takes", "takes", "the numbers of keys to take"),
    ("count", "row_count", "row_count", "the number of rows"),
    ("value_starts", "value_starts", "value_starts", "the starts of values"),
)
"""The numbers of rows in device memory: role, feature, argument of the class, and meaning."""


class TopKCalls(Calls):
    """Calls of a selection of the first keys of rows.

    Further arguments are numbers of rows that calls pass in device memory, by the names of the classes' arguments.
    """

    operation = OPERATION
    verb, done = "select", "selected"
    hint = ", and the rows as rows={rows}"

    def __init__(self, key: Any, value: Any, order: Any, **numbers: Any) -> None:
        features = {feature: numbers.get(argument, False) for _, feature, argument, _ in _NUMBERS}
        super().__init__(key, value, order, **features)

    def check_given(self, present: Container[str]) -> None:
        """See `Calls`; numbers of rows are given if and only if the selection has these features."""
        for role, feature, argument, meaning in _NUMBERS:
            name, takes = self.names[role], getattr(self.sort.signature, feature)
            if role in present and not takes:
                raise ValueError(f"{name} is given; make the selection with {argument}=True")
            if role not in present and takes:
                raise ValueError(f"{name} is missing: this selection takes {meaning}")
        super().check_given(present)

    def length(self, role: str, n: int, options: Options) -> int:
        """See `Calls`; without keys, nothing is selected, and rows that start anywhere may share keys and values."""
        signature = self.sort.signature
        anywhere = role == "source" and signature.row_starts
        anywhere |= role == "values" and (signature.row_starts or signature.value_starts)
        return min(n, 1) if anywhere else super().length(role, n, options) if n else 0
