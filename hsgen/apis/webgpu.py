"""WebGPU, in C by the standard webgpu.h: kernels are WGSL text, which wgpu-native or Dawn compiles."""

from __future__ import annotations

from hsgen.apis.api import Api, Harness, Option, Package, Probe, Tables
from hsgen.system import compilers

_ORIGINS = {
    "subgroups": "subgroupMinSize to subgroupMaxSize where the adapter has subgroups",
    "shuffle": "the feature subgroups",
    "work_group": "maxComputeInvocationsPerWorkgroup",
    "groups": "maxComputeWorkgroupsPerDimension",
    "local_bytes": "maxComputeWorkgroupStorageSize",
    "int64": "no part of WGSL",
    "storage8": "no part of WGSL",
    "storage16": "no part of WGSL",
    "binding_bytes": "maxStorageBufferBindingSize",
}

API = Api(
    name="webgpu",
    title="WebGPU",
    order=5,
    dialect="wgsl",
    suffix="wgsl",
    language="WGSL",
    sources=("hs_{api}.c",),
    internal=(),
    prefixes=("wgpu",),
    member=".buffer",
    tables=Tables(target="{target}_webgpu.c", suffix="c"),
    package=Package(
        files={
            "package.json": "js/package.json.j2",
            **{f"js/{name}": f"js/{name}" for name in ("hs_webgpu.js", "hs_webgpu.d.ts", "index.d.ts", "sort.d.ts")},
            "js/index.js": "js/index.js.j2",
        },
        folder="js",
    ),
    key_pairs=True,
    alignment=256,  # minStorageBufferOffsetAlignment
    harness=Harness(sources=("webgpu.c",), command=compilers.shared_c99),
    options={"poison": Option(1)},
    probe=Probe(origins=_ORIGINS),
)
