"""The APIs, such as CUDA, OpenCL and Vulkan, for which hsgen generates bundles: folders with kernels and a C runtime.

Each module of this package that has an object `API` describes an API.  The package imports its modules to find these
objects, so an API needs no registration.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping

from hsgen.apis.api import Api


def _discover() -> dict[str, Api]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    apis: list[Api] = [module.API for module in modules if hasattr(module, "API")]
    return {api.name: api for api in sorted(apis, key=lambda a: (a.order, a.extends is not None, a.name))}


APIS: Mapping[str, Api] = _discover()
"""The APIs by name, in the order of lists."""


def having(quality: Callable[[Api], object]) -> list[Api]:
    """Return the APIs for which the function `quality` returns True, in the order of `APIS`."""
    return [api for api in APIS.values() if quality(api)]


def listed(names: Iterable[str]) -> list[Api]:
    """Return the APIs with these names, in the order of `APIS`."""
    chosen = set(names)
    return having(lambda api: api.name in chosen)
