"""The APIs.  Nothing registers one: every module here that has an `API` is one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping

from hsgen.apis.api import Api


def _found() -> dict[str, Api]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found: list[Api] = [module.API for module in modules if hasattr(module, "API")]
    return {api.name: api for api in sorted(found, key=lambda a: (a.order, a.extends is not None, a.name))}


APIS: Mapping[str, Api] = _found()
"""Every API by its name, in the order of lists."""


def having(quality: Callable[[Api], object]) -> list[Api]:
    """Return the APIs that have a quality."""
    return [api for api in APIS.values() if quality(api)]


def listed(names: Iterable[str]) -> list[Api]:
    """Return the APIs of these names, in the order of lists."""
    wanted = set(names)
    return having(lambda api: api.name in wanted)
