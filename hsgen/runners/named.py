"""Operations by name in the Python APIs: calls that follow from the table of the operation alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hsgen import operations
from hsgen.core.errors import Usage
from hsgen.runners.base import Calls, Numbers


class NamedCalls(Calls):
    """Calls of the operation `name`.

    Raises:
        Usage: there is no such operation, key type, value or order.
    """

    def __init__(self, name: str, key: Any, value: Any, order: Any) -> None:
        if name not in operations.EVERY:
            raise Usage(f"operation {name}: unknown; give {', '.join(operations.EVERY)}")
        self.operation = operations.EVERY[name]
        super().__init__(key, value, order)

    def arguments(self, n: Any, arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], Numbers]:
        """Return the arrays of a call in the order of `roles`, and its numbers.

        arguments: the arrays and numbers by the names of the table.

        Raises:
            TypeError: the operation has no such argument, or a number is no integer.
        """
        numbers = {name: x for name, x in arguments.items() if name not in self.names.values()}
        return tuple(arguments.get(name) for name in self.names.values()), self.numbers(n, **numbers)
