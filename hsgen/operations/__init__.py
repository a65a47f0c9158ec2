"""The operations, such as sort, merge and top-k.  An operation defines what a call computes, not by which algorithm.

Each module of this package that has an object `OPERATION` defines an operation.  The package imports its modules to
find these objects, so an operation needs no registration.  The other packages query the attributes and methods of the
object, and never compare its name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Container, Mapping
from typing import cast

from hsgen.core.interpreter import NUMBERS, Options
from hsgen.core.numbers import MOST, integer
from hsgen.core.sort import Sort
from hsgen.operations.base import Operation


def _discover() -> dict[str, Operation]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    every = [cast(Operation, module.OPERATION) for module in modules if hasattr(module, "OPERATION")]
    return {operation.name: operation for operation in sorted(every, key=lambda o: o.name)}


EVERY: Mapping[str, Operation] = _discover()
"""All operations by name, in alphabetical order."""


def of(sort: Sort) -> Operation:
    """Return the operation that the generated code `sort` performs: a `Sort` may also merge, for example."""
    return EVERY[sort.operation]


def settled(sort: Sort, n: int, options: Options, roles: Container[str]) -> Options:
    """Check and complete the options of a call for `n` items, and return them.

    roles: the roles of the buffers that the call passes, such as "values" (`hsgen.core.plan.ROLES`).

    Raises:
        OutOfRange: a number in the options is invalid, or does not fit n.  The error has the name of the field of
            `Options`.
    """
    for name in NUMBERS[:-1]:
        integer(name, getattr(options, name), 0, MOST)
    return of(sort).settled(n, options, roles)
