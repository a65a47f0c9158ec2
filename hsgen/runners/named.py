"""Calls of any operation by its name, in `hsgen.cuda` and `hsgen.opencl`.  The checks of such calls follow from
`Operation.arguments` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsgen import operations
from hsgen.algorithms import IMPLICIT
from hsgen.core.errors import Usage
from hsgen.runners.base import Calls, Numbers


class NamedCalls(Calls):
    """Checks the arguments of calls of the operation `name`.

    Raises:
        Usage: there is no such operation, key type, value or order, or every algorithm of the operation needs a table
            in a target file.
    """

    def __init__(self, name: str, key: Any, value: Any, order: Any) -> None:
        if name not in operations.EVERY:
            raise Usage(f"operation {name}: unknown; give {', '.join(operations.EVERY)}")
        self.operation = operations.EVERY[name]
        implicit = (algorithm.OPERATION for algorithm in IMPLICIT.values())
        if not self.operation.by_count and name not in implicit:
            raise Usage(f"operation {name}: every algorithm needs a table of a target; use the class of the operation")
        super().__init__(key, value, order)

    def arguments(self, n: Any, arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], Numbers]:
        """Return the arrays of a call in the order of `roles`, and its numbers.

        arguments: the arrays and numbers by their names in `Operation.arguments`.

        Raises:
            TypeError: the operation has no such argument, or a number is no integer.
        """
        numbers = {name: x for name, x in arguments.items() if name not in self.names.values()}
        return tuple(arguments.get(name) for name in self.names.values()), self.numbers(n, **numbers)
