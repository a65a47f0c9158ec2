"""Draws the shapes of algorithms, with a module for each algorithm; it is called like the algorithm's package."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Protocol, cast

from hsgen.algorithms import EVERY, listed
from hsgen.tools.report.drawing import Figure


class Drawer(Protocol):
    """The interface of the modules in this package."""

    def figures(self, p: object, most: int) -> list[Figure]:
        """Return the drawings of the parameters `p`, which serve up to `most` keys."""


DRAWERS: Mapping[str, Drawer] = {
    name: cast(Drawer, importlib.import_module(module)) for name, module in listed(__name__, EVERY).items()
}
"""The modules that draw, by algorithm.  Algorithms without such a module are only described by text."""
