"""Operations that are selected by name, for pyopencl arrays: build once, call many times.

>>> reverse = Operation(queue.context, "reverse", "u32")
>>> reverse(queue, keys=keys, out=reversed_keys)         # returns the event
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hsgen.opencl.runner import Runner
from hsgen.runners.base import alone
from hsgen.runners.named import NamedCalls


class Operation(Runner):
    """An operation for which `hsgen.opencl` has no class, compiled for a context of one device.

    An example is an operation that you add to hsgen; see docs/internals/add-an-operation.md.

    Args:
        context, key, order, target: as in `hsgen.opencl.Sorter`.
        name: the name of the operation.
        value: None for no values; a numpy type or a number of bytes (4, 8 or 16) for a value with each key.

    Raises:
        TypeError: `context` is not a `pyopencl.Context`.
        hsgen.core.errors.Usage: there is no such operation, target, key type, value or order.
        hsgen.core.errors.Unavailable: the device lacks a requirement of the target.
        hsgen.core.errors.Wrong: the kernels do not compile, or the compiler crashes.
    """

    _calls: NamedCalls

    def __init__(
        self,
        context: Any,
        name: str,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(context, target, NamedCalls(name, key, value, order))

    @alone
    def __call__(
        self, queue: Any, /, *, n: int | None = None, wait_for: Sequence[Any] | None = None, **arguments: Any
    ) -> Any:
        """Enqueue a call for the first `n` items (by default all of the source); return the event of its end.

        `arguments` are arrays and numbers, by the names in `hsgen.operations.base.Operation.arguments`.  Arrays are
        `pyopencl.array.Array` or `pyopencl.Buffer` objects.

        Raises:
            TypeError: an argument has a wrong Python type, or the operation has no such argument.
            ValueError: an array is missing, unexpected or invalid.
            hsgen.core.errors.Usage: n exceeds `max_n`, or a number does not fit n.
        """
        arrays, numbers = self._calls.arguments(n, arguments)
        return self._run(queue, arrays, numbers, wait_for)
