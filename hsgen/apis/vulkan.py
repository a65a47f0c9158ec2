"""Vulkan 1.1 and later.  Kernels are GLSL, which hsgen compiles to SPIR-V when it generates a bundle."""

from __future__ import annotations

from hsgen.apis.api import Api, Harness, Option, Probe
from hsgen.system import compilers

_ORIGINS = {
    "subgroups": "subgroupSize, or minSubgroupSize to maxSubgroupSize where one can be asked for",
    "shuffle": "subgroup operations in compute: shuffle",
    "work_group": "maxComputeWorkGroupInvocations",
    "groups": "maxComputeWorkGroupCount",
    "local_bytes": "maxComputeSharedMemorySize",
    "int64": "shaderInt64",
    "storage8": "storageBuffer8BitAccess",
    "storage16": "storageBuffer16BitAccess",
    "binding_bytes": "maxStorageBufferRange",
    "local": "the device's own report",
    "cores": "the vendor's extension about shader cores",
    "units": "simdPerComputeUnit",
    "threads": "shaderWarpsPerSM, shaderWarpsPerCore, or SIMDs x wavefrontsPerSimd",
    "registers": "SIMDs x vgprsPerSimd x wavefrontSize",
}

API = Api(
    name="vulkan",
    title="Vulkan",
    order=2,
    dialect="glsl",
    suffix="comp",
    language="GLSL",
    sources=("hs_{api}.c", "hs_{api}_device.c", "hs_{api}_create.c", "hs_{api}_record.c"),
    prefixes=("pfn", "vk"),
    member=".buffer",
    spirv=True,
    key_pairs=True,
    harness=Harness(
        sources=tuple(f"vulkan{x}.c" for x in ("", "_calls", "_facts", "_instance", "_memory", "_open")),
        command=compilers.shared_c99,
        link=("-ldl",),
        header="vulkan/vulkan_core.h",
        package="libvulkan-dev",
    ),
    options={
        "validation": Option(2, help="validation=1 or 2, which is GPU-assisted"),
        "binding_limit": Option(2**62, help="binding_limit=BYTES"),
        "binding": Option(2, help="binding=1 for push descriptors, 2 for device addresses"),
        "first": Option(2, help="first=1 for the sort that is compiled first, 2 for it and then the others"),
        "size_control": Option(1, default=1, help="size_control=0"),
        "poison": Option(1),
    },
    probe=Probe(origins=_ORIGINS),
)
