"""Selections in the Python APIs: the options of a call, and its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.core.keys import Signature
from hsgen.core.numbers import MOST, integer
from hsgen.operations.top_k import OPERATION
from hsgen.runners.base import Base, Given


class TopKCalls(Base):
    """Calls of a selection of the first keys of rows."""

    _noun, _verb, _done = "selection", "select", "selected"
    _operation = OPERATION.name
    _numbers: Mapping[str, str] = {"segment_count": "rows", "take": "k"}
    _apart = True
    _required = ("source", "destination")
    _rows_hint = ", and the rows as rows={rows}"
    _last: Options  # the options of the current call

    def _signature(self) -> Signature:
        """Return the signature of the selection; call `_name_keys` first."""
        return OPERATION.signature(Signature(value=self.value))

    def _integers(self, n: Any, k: Any, rows: Any) -> tuple[int | None, int, int]:
        """Return the numbers of a call as integers of Python."""
        return self._count(n), integer("k", k, 0, self.max_n), integer("rows", rows, 0, MOST)

    def _asked(self, k: int, rows: int) -> Options:
        """Return the options of a call."""
        self._last = replace(self._how, segment_count=rows, take=k)
        return self._last

    def _check_given(self, arrays: Given) -> None:
        """Check for unexpected and missing values."""
        signature = self._sort.signature
        takes = {
            "values": signature.value_bytes > 0 and not signature.index,
            "values_out": signature.value_bytes > 0,
        }
        self._check_values(arrays, takes, self._noun, f"has {signature.value_bytes} bytes a key")

    def _length(self, role: str, n: int) -> int:
        """Return the number of items that a call uses in the buffer of a role."""
        if role in ("destination", "values_out"):
            return self._last.segment_count * self._last.take if n else 0
        return super()._length(role, n)
