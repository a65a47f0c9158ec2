"""Selections in the Python APIs."""

from __future__ import annotations

from collections.abc import Container

from hsgen.core.interpreter import Options
from hsgen.operations.top_k import OPERATION
from hsgen.runners.base import Calls


class TopKCalls(Calls):
    """Calls of a selection of the first keys of rows."""

    operation = OPERATION
    verb, done = "select", "selected"
    hint = ", and the rows as rows={rows}"

    def check_given(self, present: Container[str]) -> None:
        """See `Calls`; lengths and starts of rows are given if and only if the selection has these features."""
        signature = self.sort.signature
        for role, takes, feature in (
            ("other", signature.row_lengths, "lengths"),
            ("other_values", signature.row_starts, "starts"),
        ):
            if role in present and not takes:
                raise ValueError(f"{feature} is given; make the selection with {feature}=True")
            if role not in present and takes:
                raise ValueError(f"{feature} is missing: this selection takes the {feature} of rows")
        super().check_given(present)

    def length(self, role: str, n: int, options: Options) -> int:
        """See `Calls`; without keys, nothing is selected, and rows with starts may share keys."""
        if role == "source" and self.sort.signature.row_starts:
            return min(n, 1)
        return super().length(role, n, options) if n else 0
