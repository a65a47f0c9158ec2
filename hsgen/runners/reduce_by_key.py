"""Reductions by key in the Python APIs: the options of a call, and the arrays that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hsgen.core.errors import Usage
from hsgen.core.interpreter import PLAIN, Options
from hsgen.core.keys import TYPES, Signature
from hsgen.operations.reduce_by_key import OPERATION, number
from hsgen.runners.arguments import key_name, value_name
from hsgen.runners.base import WRITTEN, Base, Given


def _reduced(value: Any) -> str:
    """Return the type of values to reduce; "none" without values, and unsigned if `value` is only a size."""
    if value is None or (isinstance(value, str) and value == "none"):
        return "none"
    if not hasattr(type(value), "__index__"):  # no number of bytes
        with suppress(Usage):
            return key_name(value)
    return "u32" if value_name(value) == "v4" else str(value)


class ReductionCalls(Base):
    """Calls of a reduction of the runs of equal keys."""

    _noun, _verb, _done = "reduction", "reduce", "reduced"
    _operation = OPERATION.name
    _apart = True
    _required = ("source", "destination", "report")
    _names: Mapping[str, str] = {
        "source": "keys",
        "destination": "out",
        "report": "groups",
        "other": "counts",
        "other_values": "first_indices",
    }
    _written = (*WRITTEN, "other", "other_values")
    _counting = (*Base._counting, "other", "other_values")
    _attributes: tuple[str, ...] = ("key", "value")

    def _signature(self, key: Any, value: Any, *, device_count: bool) -> Signature:
        """Store the types of keys and values; return the signature of their reduction."""
        self.key, self.value = key_name(key), _reduced(value)
        self._valued = self.value != "none"
        self._number, self._how = number(value=self.value if self._valued else "u32"), PLAIN
        return OPERATION.signature(Signature(value="v4" if self._valued else "none", device_count=bool(device_count)))

    def _asked(self, reduction: str, arrays: Given) -> Options:
        """Return the options of a call with these arrays, after checks."""
        self._check_given(arrays)
        counted = arrays.get("count") is not None
        return replace(self._how, reduction=number(reduction) | self._number, device_count=counted)

    def _check_given(self, arrays: Given) -> None:
        """Check for unexpected and missing values, and an unexpected count."""
        takes = dict.fromkeys(("values", "values_out"), self._valued)
        self._check_values(arrays, takes, self._noun, f"has values of {self.value}")
        if arrays.get("count") is not None and not self._sort.signature.device_count:
            raise ValueError("count is given; give device_count=True when the reduction is made")

    def _size(self, role: str) -> int:
        """Return the bytes of one item in the buffer of a role."""
        return 4 if role.startswith("other") else super()._size(role)

    def _elements(self, role: str) -> str:
        """Return the required element type of an array."""
        if role.startswith("values"):
            return TYPES[self.value if self._valued else "u32"].element
        return "uint32" if role.startswith("other") else super()._elements(role)
