"""Merges in the Python APIs: the arrays that a call needs."""

from __future__ import annotations

from hsgen.core.errors import Usage
from hsgen.runners.base import Base, Given

_NAMES = {"source": "a", "other": "b", "destination": "out", "values": "a_values", "other_values": "b_values"}


class MergeCalls(Base):
    """Calls of a merge of two sorted arrays into a third one."""

    _noun, _verb, _done = "merge", "merge", "merged"
    _names = _NAMES
    _sources = ("source", "other")
    _apart = True
    _required: tuple[str, ...] = ()  # an empty array has no memory
    _keyed = ("source", "other", "destination")
    _operation = "merge"
    _first_count = 0  # keys of the first array of the current call

    def _check_value(self) -> None:
        """Check that a merge supports the kind of values."""
        if self.value not in ("none", "v4", "v8", "v16"):
            raise Usage(f"value {self.value}: merges take values of 4, 8 or 16 bytes, or none")

    def _check_given(self, arrays: Given) -> None:
        """Check for unexpected and missing values."""
        size = self._sort.signature.value_bytes
        takes = dict.fromkeys(("values", "other_values", "values_out"), size > 0)
        self._check_values(arrays, takes, "merger", f"takes {size} bytes a key")

    def _length(self, role: str, n: int) -> int:
        """Return the number of items that a call uses in the buffer of a role."""
        first = {"source": self._first_count, "values": self._first_count}
        return first.get(role, n - self._first_count if role.startswith("other") else n)

    def _size(self, role: str) -> int:
        """Return the bytes of one item in the buffer of a role."""
        return super()._size("source" if role == "other" else role)

    def _elements(self, role: str) -> str:
        """Return the required element type of an array; "" is any type of the right size."""
        return super()._elements("source" if role == "other" else role)
