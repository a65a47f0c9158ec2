"""HIP of ROCm 5.2 and later, for AMD GPUs.

The C runtime is that of CUDA with HIP's names; hipcc or another clang compiles it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hsgen.apis import cuda
from hsgen.apis.api import Harness, Option, Probe
from hsgen.core.errors import Unavailable
from hsgen.system import toolchain

_ORIGINS = {
    "subgroups": "warpSize",
    "shuffle": "part of HIP",
    "work_group": "maxThreadsPerBlock",
    "groups": "maxGridSize",
    "local_bytes": "sharedMemPerBlock",
    "int64": "part of HIP",
    "storage8": "part of HIP",
    "storage16": "part of HIP",
    "binding_bytes": "totalGlobalMem, up to 2^32 - 1",
    "local": "the device's own report",
    "cores": "multiProcessorCount",
}
_WORDS = 1 << 32
_RENAMED = (
    ("<cuda_runtime_api.h>", "<hip/hip_runtime_api.h>"),
    ("struct cudaFuncAttributes", "hipFuncAttributes"),
    ("cudaDevAttrMaxSharedMemoryPerBlockOptin", "hipDeviceAttributeMaxSharedMemoryPerBlock"),
    ("cudaDevAttrMultiProcessorCount", "hipDeviceAttributeMultiprocessorCount"),
    ("cudaDevAttr", "hipDeviceAttribute"),
    ("cudaDeviceAttr ", "hipDeviceAttribute_t "),
    ("a target's .cu file", "a target's .hip file"),
    ("Built by nvcc", "Built by hipcc"),
    ("CUDA", "HIP"),
)
"""Pairs (CUDA text, HIP text) for texts that differ in more than the prefix of a name."""


def compiler() -> list[str]:
    """Return the command that compiles for this machine's GPUs: hipcc, else nvcc with a header that maps HIP to CUDA.

    Raises:
        Unavailable: there is neither hipcc nor nvcc, or no GPU for nvcc.
        Wrong: NVIDIA's driver does not answer.
    """
    path = toolchain.tool("hipcc")
    if path is not None:
        return [path, "-x", "hip", "-O3", "-fPIC"]  # by default, hipcc compiles for this machine's GPUs
    try:
        command = cuda.nvcc()
    except Unavailable as e:
        raise Unavailable(f"no hipcc on the PATH; install AMD's ROCm (to try kernels on NVIDIA's GPUs: {e})") from None
    return [*command, "-x", "cu", "-D__HIP_PLATFORM_NVIDIA__", "-Iharness/on_cuda"]


def _facts(widths: Sequence[int], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a device.

    The only subgroup width is the greatest one, the width of a wavefront, because the lanes of a wavefront run
    together.
    """
    facts = {name: value for name, value in report.items() if name != "memory_bytes"}
    binding = min(report.get("memory_bytes", _WORDS), _WORDS) - 1
    return {"subgroups": [max(widths)], **facts, "storage8": True, "storage16": True, "binding_bytes": binding}


API = cuda.API.extended(
    "hip",
    "HIP",
    dialect="hip",
    suffix="hip",
    language="HIP C++",
    calls="hip",
    replaced=_RENAMED,
    cooperative=False,
    harness=Harness(sources=("cuda.cu", "cuda_calls.cu", "hip_device.hip"), command=compiler),
    options={"graph": Option(1, help="graph=1"), "poison": Option(1)},
    probe=Probe(origins=_ORIGINS, facts=_facts, started=True),
    torch="",
)
