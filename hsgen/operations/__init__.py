"""The operations: what a call computes, independent of the algorithm.

Every module of this package with an `OPERATION` defines one; there is no registry.  Other packages query the object and
never compare its name.
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


def _found() -> dict[str, Operation]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [cast(Operation, module.OPERATION) for module in modules if hasattr(module, "OPERATION")]
    return {operation.name: operation for operation in sorted(found, key=lambda o: o.name)}


EVERY: Mapping[str, Operation] = _found()
"""All operations by name, in alphabetical order."""


def of(sort: Sort) -> Operation:
    """Return the operation of a sort."""
    return EVERY[sort.operation]


def settled(sort: Sort, n: int, how: Options, given: Container[str]) -> Options:
    """Return the options of a call for `n` items with the buffer roles `given`, checked and completed.

    Raises:
        OutOfRange: a number of the call does not fit the count; it is named as in `Options`.
    """
    for name in NUMBERS[:-1]:
        integer(name, getattr(how, name), 0, MOST)
    return of(sort).settled(n, how, given)
