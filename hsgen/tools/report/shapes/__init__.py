"""Drawings of shapes: a module is named like the package of the algorithm that it draws."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Protocol, cast

from hsgen.algorithms import EVERY, listed
from hsgen.tools.report.drawing import Figure


class Drawer(Protocol):
    """The interface of each module here."""

    def figures(self, p: object, most: int) -> list[Figure]:
        """Return the drawings of a shape; `most` is the greatest count that it serves."""


DRAWERS: Mapping[str, Drawer] = {
    name: cast(Drawer, importlib.import_module(module)) for name, module in listed(__name__, EVERY).items()
}
"""The drawers by the names of their algorithms; the shapes of other algorithms are only described in words."""
