"""Packages whose names are imported at their first use, because the import of all modules takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package.

    modules: the module of each public name.
    """

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def directory() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return get, directory
