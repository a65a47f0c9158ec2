"""Digests in the Python APIs: the options of a call, and the arrays that it reads."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.operations.digest import WORDS
from hsgen.runners.base import Base


class DigestCalls(Base):
    """Calls of a digest of keys and values."""

    _noun, _verb, _done, _items = "check", "check", "checked", "keys"
    _operation = "digest"
    _looked = 0  # elements that the current call reads

    def _asked(self, values: Any, size: Any, begin_bit: Any, end_bit: Any) -> Options:
        """The options of a call with these values, after checks."""
        if (begin_bit or end_bit is not None) and not self._sort.signature.bit_range:
            raise ValueError("begin_bit or end_bit is given; make the checker with bit_range=True")
        if (values is None) == (self._sort.signature.value_bytes > 0 and not self._sort.signature.index):
            raise ValueError(f"values are {'missing' if values is None else 'given'}; this checker's are {self.value}")
        size = operator.index(size)
        if not 0 <= size <= self.max_n:
            raise ValueError(f"size {size}: give 0 to {self.max_n}")
        return replace(self._how, begin=operator.index(begin_bit), end=end_bit, capacity=size)

    def _length(self, role: str, n: int) -> int:
        """The items that a call uses of the buffer of a role: all that it reads."""
        return WORDS if role == "report" else max(n, self._looked)
