"""Operations that are selected by name, on NVIDIA GPUs: build once, call many times.

>>> reverse = Operation("reverse", "u32")
>>> reverse(keys=keys, out=reversed_keys)
"""

from __future__ import annotations

import os
from typing import Any

from hsgen.cuda.runner import Runner
from hsgen.runners.named import NamedCalls


class Operation(Runner):
    """An operation on one GPU for which `hsgen.cuda` has no class, such as one that you add
    (docs/internals/add-an-operation.md).

    Args:
        name, value: as in `hsgen.opencl.Operation`.
        key, order, target, device: as in `hsgen.cuda.Sorter`.

    Raises:
        hsgen.core.errors.Usage: there is no such operation, target, key type, value, order or GPU.
        hsgen.core.errors.Unavailable: cuda.bindings or the driver is missing, or the GPU lacks what a target requires.
    """

    _calls: NamedCalls

    def __init__(
        self,
        name: str,
        key: Any = "u32",
        *,
        value: Any = None,
        order: str = "ascending",
        target: str | os.PathLike[str] | None = None,
        device: int | None = None,
    ) -> None:
        super().__init__(device, target, NamedCalls(name, key, value, order))

    def __call__(self, *, n: int | None = None, stream: Any = None, **arguments: Any) -> None:
        """Enqueue a call for the first `n` items (by default all of the source); arguments are those of
        `hsgen.opencl.Operation`.

        The call runs on `stream`, by default on the current stream of the library of the source.

        Raises:
            TypeError, ValueError, hsgen.core.errors.Wrong: as in `hsgen.cuda.Sorter`; the operation has no such
                argument.
            hsgen.core.errors.Usage: n exceeds `max_n`, or a number does not fit n.
        """
        arrays, numbers = self._calls.arguments(n, arguments)
        self._run(arrays, numbers, stream)
