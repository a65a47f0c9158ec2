"""HLSL for Direct3D 12 and Unity.  Bundles have kernels and plans (lists of kernel launches), but no runtime that
launches the kernels.

hsgen itself runs the kernels with Vulkan.
"""

from __future__ import annotations

from dataclasses import replace

from hsgen.apis import vulkan
from hsgen.apis.api import Api, Harness, Tables
from hsgen.system import dxc

_OPTION = "-DHS_HLSL=1"
"""The C compiler option that makes the Vulkan runtime run kernels compiled from HLSL."""


def spirv(text: str, kernel: str) -> bytes:
    """Return the SPIR-V of one kernel of a text, for Vulkan 1.1.

    Raises:
        Unavailable: there is no DXC.
        Wrong: DXC rejects the text.
    """
    options = ["-T", "cs_6_0", "-E", "main", "-O3", "-spirv", "-fspv-target-env=vulkan1.1"]
    return dxc.compiled(text, [*options, "-D", "HS_VULKAN", "-D", f"HS_KERNEL_{kernel}"])


def _harness() -> Harness:
    """Return the harness (test program) of Vulkan, made to run kernels that DXC has compiled to SPIR-V."""
    assert vulkan.API.harness
    return replace(vulkan.API.harness, runtime=vulkan.API, spirv=spirv, options=(_OPTION,))


API = Api(
    name="hlsl",
    title="HLSL",
    order=5,
    dialect="hlsl",
    suffix="hlsl",
    language="HLSL",
    sources=("hs_{api}.c",),
    internal=(),
    example="sort_{api}.cpp",
    prefixes=("d3d", "dx", "hlsl"),
    tables=Tables(target="{target}_hlsl.c", suffix="c"),
    key_pairs=True,
    local_bytes=32768,
    launches=False,
    harness=_harness(),
    options=vulkan.API.options,
)
