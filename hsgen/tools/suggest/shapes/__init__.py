"""First shapes of algorithms; each module is named like the package of its algorithm."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from hsgen.algorithms import ALGORITHMS, listed
from hsgen.tools.suggest.facts import Facts, Table


class Shape(Protocol):
    """The interface of the modules here.

    Those of algorithms that share the counts of ``[sort.KEY]`` also have `ALONE`, the reason if one serves all counts,
    and `serves_all`; those that can follow another have `takeover`.
    """

    ALONE: str

    def tables(self, f: Facts, size: int, width: int) -> Mapping[str, Table]:
        """Return tables for keys of `size` bytes by variant, "" for none; `width` is the subgroup of a sort's others.

        A table has the key `strategy` if its algorithm has strategies.  It may exceed local memory.
        """

    def smaller(self, table: Table) -> Iterator[Table]:
        """Yield tables that need less and less local memory."""

    def serves_all(self, f: Facts) -> bool:
        """Whether nothing is faster at any count of such a device."""

    def takeover(self, f: Facts, size: int, width: int) -> Table:
        """Return the greatest counts of the algorithm before it: `ranges`, and maybe `ranges_values`."""


SHAPES: Mapping[str, Shape] = {
    name: cast(Shape, importlib.import_module(module)) for name, module in listed(__name__, ALGORITHMS).items()
}
"""The modules that suggest shapes, by the names of their algorithms."""
