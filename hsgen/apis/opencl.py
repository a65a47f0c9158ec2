"""OpenCL 1.2 and later.  Kernels are text, which the driver compiles."""

from __future__ import annotations

from hsgen.apis.api import Api, Harness, Option, Probe
from hsgen.system import compilers, toolchain

_INTEL = 0x8086  # the PCI number of Intel, on whose devices CL_DEVICE_MAX_COMPUTE_UNITS is the number of SIMD units
_ORIGINS = {
    "subgroups": "widths at which a kernel compiled",
    "shuffle": "cl_intel_subgroups, or cl_khr_subgroup_shuffle",
    "work_group": "CL_DEVICE_MAX_WORK_GROUP_SIZE",
    "groups": "as CL_DEVICE_ADDRESS_BITS allow",
    "local_bytes": "CL_DEVICE_LOCAL_MEM_SIZE",
    "int64": "part of OpenCL's full profile",
    "storage8": "part of OpenCL since 1.1",
    "storage16": "part of OpenCL since 1.1",
    "binding_bytes": "CL_DEVICE_MAX_MEM_ALLOC_SIZE",
    "local": "CL_DEVICE_LOCAL_MEM_TYPE",
    "cores": "CL_DEVICE_MAX_COMPUTE_UNITS",
    "units": "CL_DEVICE_SIMD_PER_COMPUTE_UNIT_AMD",
    "threads": "the device's own report",
    "registers": "CL_DEVICE_REGISTERS_PER_BLOCK_NV",
}

API = Api(
    name="opencl",
    title="OpenCL",
    order=1,
    dialect="opencl",
    suffix="cl",
    language="OpenCL C",
    sources=("hs_{api}.c", "hs_{api}_device.c", "hs_{api}_create.c", "hs_{api}_enqueue.c"),
    prefixes=("cl",),
    text=True,
    lone_lanes=True,
    rows=True,
    python=True,
    cpu_platform="Intel",
    prepare=lambda: toolchain.prepare_opencl(),
    alignment=1024,  # the alignment of sub-buffers
    harness=Harness(
        sources=("opencl.c", "opencl_calls.c", "opencl_device.c"),
        command=compilers.shared_c99,
        link=("-lOpenCL",),
        header="CL/cl.h",
        package="ocl-icd-opencl-dev",
    ),
    options={"out_of_order": Option(1, help="out_of_order=1"), "poison": Option(1)},
    probe=Probe(origins=_ORIGINS, cores_are_units=(_INTEL,)),
)
