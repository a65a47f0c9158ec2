"""Suggests shapes, with a module for each algorithm; the module is called like the algorithm's package."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from hsgen.algorithms import ALGORITHMS, listed
from hsgen.tools.suggest.facts import Facts, Table


class Shape(Protocol):
    """The interface of the modules in this package.

    All modules have `tables` and `smaller`.  Modules of sorts also have `serves_all` and `ALONE`.  `ALONE` is the
    reason that a target file states if the sort serves all counts alone.  Modules of sorts that can serve the greater
    counts also have `takeover`.
    """

    ALONE: str

    def tables(self, f: Facts, size: int, width: int) -> Mapping[str, Table]:
        """Return the suggested tables for keys of `size` bytes, by variant; "" stands for no variant.

        width: the subgroup width, which is the same for all algorithms of "auto".  If the algorithm has strategies, a
        table has the key `strategy`.  A table may need more local memory than the device has; then the caller tries
        smaller tables.
        """

    def smaller(self, table: Table) -> Iterator[Table]:
        """Yield variants of `table`; each variant needs less local memory than the one before."""

    def serves_all(self, f: Facts) -> bool:
        """Return True if the algorithm is assumed to be the fastest one at every count on such a device."""

    def takeover(self, f: Facts, size: int, width: int) -> Table:
        """Return the greatest counts up to which the preceding algorithm should serve instead of this one.

        The result has the key `ranges`, and optionally `ranges_values`, for sorts with values.
        """


SHAPES: Mapping[str, Shape] = {
    name: cast(Shape, importlib.import_module(module)) for name, module in listed(__name__, ALGORITHMS).items()
}
"""The modules that suggest shapes, by the names of their algorithms."""
