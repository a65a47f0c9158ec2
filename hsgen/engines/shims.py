"""Kernels that `hsgen validate` can run as C++ for OpenCL 2021, on any OpenCL device that takes the language.

Those of Metal, which hsgen drives no devices of, always; those of other APIs with ``--runtime python``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source
from hsgen.engines import hip_shim, metal_shim
from hsgen.engines.metal_shim import LANGUAGE as LANGUAGE
from hsgen.engines.metal_shim import takers as takers


@dataclass(frozen=True, slots=True)
class Shim:
    """How kernels of an API are rewritten, and the compiler that makes them for its own devices."""

    source: Callable[[Sort], Source]
    compiler: str


SHIMS: Mapping[str, Shim] = {
    metal_shim.API.name: Shim(metal_shim.source, "Apple's compiler"),
    hip_shim.API.name: Shim(hip_shim.source, "AMD's compiler"),
}
"""By API."""
