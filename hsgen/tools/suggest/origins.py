"""Sources of the facts of a probed device: vendors, and substitutes for facts that no API reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hsgen.tools.suggest.facts import NVIDIA

AMD, ARM, QUALCOMM, APPLE, INTEL = 0x1002, 0x13B5, 0x5143, 0x106B, 0x8086

SAFE: Mapping[str, tuple[Any, str]] = {
    "groups": (65535, "not reported: the least that Vulkan allows"),
    "binding_bytes": (1 << 27, "not reported: the least that Vulkan and OpenCL allow"),
    "storage8": (False, "not reported"),
    "storage16": (False, "not reported"),
    "progress": ("none", "no API reports it: none is promised"),
    "local": ("chip", "not reported"),
    "threads": (None, ""),
    "units": (None, ""),
    "registers": (None, ""),
    "cores": (None, ""),
}
"""Facts that an API may not report: a safe value (None omits the fact), and its reason."""


class Known(NamedTuple):
    """The subgroups, SIMD units and registers of a core of a vendor's GPUs, and the source of these numbers."""

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
"""Substitutes for the facts of a core that the API does not report."""
