"""The shims, source translations by which `hsgen validate` runs Metal and HIP kernels as C++ for OpenCL 2021.

The kernels run on any OpenCL device that supports the language.  Metal kernels always run through their shim, because
hsgen drives no Metal devices.  HIP kernels run through theirs with ``--runtime python``.
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
    """The shim of an API.

    source: a function that returns the rewritten kernels of a sort.
    compiler: the compiler of the API's own devices, for messages.
    """

    source: Callable[[Sort], Source]
    compiler: str


SHIMS: Mapping[str, Shim] = {
    metal_shim.API.name: Shim(metal_shim.source, "Apple's compiler"),
    hip_shim.API.name: Shim(hip_shim.source, "AMD's compiler"),
}
"""The shims, by the name of the API."""
