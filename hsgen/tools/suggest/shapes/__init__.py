"""First shapes of algorithms; a module has the name of the algorithm's package."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from hsgen.algorithms import ALGORITHMS, listed
from hsgen.tools.suggest.facts import Facts, Table


class Shape(Protocol):
    """The interface of the modules in this package.

    Modules of algorithms that share the counts of ``[sort.KEY]`` also have `serves_all` and `ALONE`, the reason for a
    single algorithm.  Modules of algorithms that can follow another algorithm have `takeover`.
    """

    ALONE: str

    def tables(self, f: Facts, size: int, width: int) -> Mapping[str, Table]:
        """Return tables for keys of `size` bytes, by variant; the key is "" for an algorithm without variants.

        `width` is the width of subgroups in the other algorithms of the sort.  A table has the key `strategy` if its
        algorithm has strategies.  A table may exceed local memory.
        """

    def smaller(self, table: Table) -> Iterator[Table]:
        """Yield tables that need less and less local memory."""

    def serves_all(self, f: Facts) -> bool:
        """Return True if the algorithm is the fastest at every count on such a device."""

    def takeover(self, f: Facts, size: int, width: int) -> Table:
        """Return the greatest counts of the preceding algorithm: `ranges`, and optionally `ranges_values`."""


SHAPES: Mapping[str, Shape] = {
    name: cast(Shape, importlib.import_module(module)) for name, module in listed(__name__, ALGORITHMS).items()
}
"""The modules that suggest shapes, by the names of their algorithms."""
