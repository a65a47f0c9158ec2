"""First shapes of algorithms: a module is named like the package of the algorithm that it is about."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from hsgen.algorithms import ALGORITHMS, listed
from hsgen.tools.suggest.facts import Facts, Table


class Shape(Protocol):
    """What each module here offers.

    Those of algorithms that share the counts of ``[sort.KEY]`` also have `ALONE`, why one serves all counts, and
    `serves_all`; those that can come after another have `takeover`.
    """

    ALONE: str

    def tables(self, f: Facts, size: int, width: int) -> Mapping[str, Table]:
        """Return tables for keys of `size` bytes by variant, "" for none; `width` is the subgroup of a sort's others.

        Whether they fit local memory is not looked at.
        """

    def smaller(self, table: Table) -> Iterator[Table]:
        """Yield tables that need less and less local memory."""

    def serves_all(self, f: Facts) -> bool:
        """Whether nothing is faster at any count of such a device."""

    def takeover(self, f: Facts, size: int, width: int) -> tuple[str, Table]:
        """Return why it serves the many keys, and the counts from which it takes over: `upto`, and maybe others."""


SHAPES: Mapping[str, Shape] = {
    name: cast(Shape, importlib.import_module(module)) for name, module in listed(__name__, ALGORITHMS).items()
}
"""Who suggests the shapes of an algorithm, by its name."""
