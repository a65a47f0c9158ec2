"""Merges in `hsgen.cuda` and `hsgen.opencl`: the checks of a call's arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hsgen.core.errors import Usage
from hsgen.core.interpreter import Options
from hsgen.operations.merge import OPERATION
from hsgen.runners.base import Calls, Numbers
from hsgen.runners.ranges import AnyRange


class MergeCalls(Calls):
    """Checks the arguments of calls that merge two sorted arrays into a third one."""

    operation = OPERATION
    noun, verb, done, holder = "merge", "merge", "merged", "merger"
    sources = ("source", "other")

    def __init__(self, key: Any, value: Any, order: Any) -> None:
        super().__init__(key, value, order)
        if self.value not in ("none", "v4", "v8", "v16"):
            raise Usage(f"value {self.value}: merges take values of 4, 8 or 16 bytes, or none")

    def settle(self, ranges: dict[str, AnyRange], numbers: Numbers) -> tuple[int, Options]:
        """See `Calls`; the method removes inputs without items from `ranges`, because they have no memory to bind."""
        first, second = (ranges[role].size // self.size(role) for role in self.sources)
        options = replace(self.options, first_count=first)
        for role in [r for r in ranges if r not in self.written and not self.length(r, first + second, options)]:
            del ranges[role]
        return first + second, options

    def values(self) -> str:
        """See `Calls`."""
        return f"takes {self.sort.signature.value_bytes} bytes a key"
