"""WebGPU, in C with the standard header webgpu.h.  Kernels are WGSL text, which wgpu-native or Dawn compiles."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hsgen.apis.api import Api, Harness, Option, Package, Probe, Tables
from hsgen.core.errors import Unavailable
from hsgen.system import compilers

_MODULES = (
    *("hs_webgpu_player.js", "hs_webgpu_player.d.ts", "hs_webgpu_columns.js"),
    *("hs_webgpu_columns.d.ts", "hs_webgpu_splats.js", "hs_webgpu_splats.d.ts", "sort.d.ts"),
)
_TEMPLATES = (
    "hs_webgpu.js",
    "hs_webgpu.d.ts",
    "hs_webgpu_operations.js",
    "hs_webgpu_operations.d.ts",
    "index.js",
    "index.d.ts",
)
_ORIGINS = {
    "subgroups": "no kernel can require a width",
    "shuffle": "only for kernels that run at any width",
    "work_group": "maxComputeInvocationsPerWorkgroup",
    "groups": "maxComputeWorkgroupsPerDimension",
    "local_bytes": "maxComputeWorkgroupStorageSize",
    "int64": "WGSL has none",
    "storage8": "packed in words",
    "storage16": "packed in words",
    "binding_bytes": "maxStorageBufferBindingSize",
    "local": "the adapter's type",
}

PACKAGE = "wgpu"
"""The Python package that contains wgpu-native and its headers."""


def native() -> tuple[Path, Path]:
    """Return the library of wgpu-native and the folder of its headers.

    Raises:
        Unavailable: the Python package wgpu is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    folders = [Path(p) / "resources" for p in (spec.submodule_search_locations or ())] if spec else []
    for folder in folders:
        for library in sorted(folder.glob("*wgpu_native*")):
            return library, folder
    raise Unavailable("no wgpu-native; pip install 'hsgen[webgpu]'")


def compiler() -> list[str]:
    """Return the command that compiles C99 for a shared library and links the wgpu-native library of `native`."""
    library, headers = native()
    linked = [f"-I{headers}", "-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{headers}"]
    return [*compilers.shared_c99(), *linked]


def _facts(_: Sequence[int], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a device, without subgroups: devices report widths, but kernels cannot require a width."""
    packed = {"storage8": True, "storage16": True}
    return {**report, "subgroups": [1], "shuffle": False, "ballot": False, **packed}


API = Api(
    name="webgpu",
    title="WebGPU",
    order=6,
    dialect="wgsl",
    suffix="wgsl",
    language="WGSL",
    sources=("hs_{api}.c", "hs_{api}_device.c", "hs_{api}_create.c", "hs_{api}_cache.c", "hs_{api}_record.c"),
    prefixes=("wgpu",),
    member=".buffer",
    tables=Tables(target="{target}_webgpu.c", suffix="c"),
    package=Package(
        files={
            "package.json": "js/package.json.j2",
            **{f"js/{name}": f"js/{name}" for name in _MODULES},
            **{f"js/{name}": f"js/{name}.j2" for name in _TEMPLATES},
        },
        folder="js",
    ),
    key_pairs=True,
    alignment=256,  # minStorageBufferOffsetAlignment
    harness=Harness(sources=("webgpu.c", "webgpu_calls.c", "webgpu_device.c", "webgpu_memory.c"), command=compiler),
    options={
        "validation": Option(1, help="validation=1 for the layers below WebGPU"),
        "limits": Option(1, help="limits=1 for those that every implementation grants"),
        "trusted": Option(1, help="trusted=1 for shader modules without wgpu-native's checks of indices and loops"),
        "poison": Option(1),
    },
    probe=Probe(origins=_ORIGINS, facts=_facts),
)
