"""Digests in `hsgen.cuda` and `hsgen.opencl`: the checks of a call's arguments."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

from hsgen.core.interpreter import Options
from hsgen.core.numbers import integer
from hsgen.operations.digest import OPERATION
from hsgen.runners.base import Calls, Numbers
from hsgen.runners.ranges import AnyRange


class DigestCalls(Calls):
    """Checks the arguments of calls that compute a digest of keys and values."""

    operation = OPERATION
    noun, verb, done = "check", "check", "checked"

    def integers(self, n: Any, size: Any, begin: Any, end: Any) -> Numbers:
        """Return the numbers of a call as Python integers."""
        return self.count(n), integer("size", size, 0, self.max_n), *self.bits(begin, end)

    def check_given(self, present: Container[str]) -> None:
        """See `Calls`."""
        signature = self.sort.signature
        if ("values" not in present) == (signature.value_bytes > 0 and not signature.index):
            have = "given" if "values" in present else "missing"
            raise ValueError(f"values are {have}; this checker's are {self.value}")

    def settle(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options]:
        """See `Calls`."""
        n, size, begin, end = numbers
        if (begin or end is not None) and not self.sort.signature.bit_range:
            raise ValueError("begin_bit or end_bit is given; make the checker with bit_range=True")
        n = self.length_of(ranges, n)
        return n, replace(self.options, begin=begin, end=end, capacity=max(n, size))
