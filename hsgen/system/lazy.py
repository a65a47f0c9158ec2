"""Lazy imports for packages: a public name is imported at its first use, because importing all modules takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return functions that the package `package` can define as its `__getattr__` and `__dir__`.

    modules: for each public name of the package, the module that defines the name.
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
