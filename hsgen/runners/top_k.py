"""Selections in the Python APIs."""

from __future__ import annotations

from hsgen.core.interpreter import Options
from hsgen.operations.top_k import OPERATION
from hsgen.runners.base import Calls


class TopKCalls(Calls):
    """Calls of a selection of the first keys of rows."""

    operation = OPERATION
    verb, done = "select", "selected"
    hint = ", and the rows as rows={rows}"

    def length(self, role: str, n: int, options: Options) -> int:
        """See `Calls`; without keys, nothing is selected."""
        return super().length(role, n, options) if n else 0
