"""Digests in the Python APIs: the options of a call, and the arrays that it reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.core.numbers import integer
from hsgen.operations.digest import WORDS
from hsgen.runners.base import Base


class DigestCalls(Base):
    """Calls of a digest of keys and values."""

    _noun, _verb, _done, _items = "check", "check", "checked", "keys"
    _operation = "digest"
    _looked = 0  # elements that the current call reads

    def _integers(self, n: Any, size: Any, begin: Any, end: Any) -> tuple[int | None, int, int, int | None]:
        """Return the numbers of a call as integers of Python."""
        return self._count(n), integer("size", size, 0, self.max_n), *self._bits(begin, end)

    def _asked(self, values: Any, size: int, begin_bit: int, end_bit: int | None) -> Options:
        """Return the options of a call with these values, after checks."""
        if (begin_bit or end_bit is not None) and not self._sort.signature.bit_range:
            raise ValueError("begin_bit or end_bit is given; make the checker with bit_range=True")
        if (values is None) == (self._sort.signature.value_bytes > 0 and not self._sort.signature.index):
            raise ValueError(f"values are {'missing' if values is None else 'given'}; this checker's are {self.value}")
        return replace(self._how, begin=begin_bit, end=end_bit, capacity=size)

    def _length(self, role: str, n: int) -> int:
        """Return the number of items that a call reads or writes in the buffer of a role."""
        return WORDS if role == "report" else max(n, self._looked)
