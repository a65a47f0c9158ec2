"""Where the facts of a probed device are from: the names of queries, and what stands in for what no API tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hsgen.tools.suggest.facts import NVIDIA

AMD, ARM, QUALCOMM, APPLE, INTEL = 0x1002, 0x13B5, 0x5143, 0x106B, 0x8086

SAFE: Mapping[str, tuple[Any, str]] = {
    "groups": (65535, "not told: the least that Vulkan allows"),
    "binding_bytes": (1 << 27, "not told: the least that Vulkan and OpenCL allow"),
    "storage8": (False, "not told"),
    "storage16": (False, "not told"),
    "progress": ("none", "no API tells: none is promised"),
    "local": ("chip", "not told"),
    "threads": (None, ""),
    "units": (None, ""),
    "registers": (None, ""),
    "cores": (None, ""),
}
"""Facts that may not be told: the value that is then safe (None leaves the fact out), and what is said of it."""


class Known(NamedTuple):
    """Of the cores of a vendor's GPUs: subgroups, SIMD units and registers; and for which of them that holds."""

    core: tuple[int, int, int]
    whence: str


VENDORS: Mapping[int, Known] = {
    NVIDIA: Known((64, 4, 65536), "an SM of most GPUs since Kepler (CUDA guide)"),
    AMD: Known((32, 4, 65536), "a compute unit of GCN to RDNA (LLVM's AMDGPU guide)"),
    INTEL: Known((56, 8, 57344), "a subslice of Gen8 to Gen11 (Intel's Gen8 architecture)"),
    ARM: Known((64, 2, 32768), "a core as a Mali-G720 reports it, its registers assumed"),
    QUALCOMM: Known((16, 2, 32768), "a shader processor of Adreno 6xx (Mesa's device table)"),
    APPLE: Known((96, 4, 53248), "assumed: a core of the M1"),
}
"""What stands in for the facts of a core where the API does not tell them."""
