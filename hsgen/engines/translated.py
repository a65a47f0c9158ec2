"""Compile the kernels of an API that has no runtime of its own, such as HLSL, to SPIR-V modules.

The runtime of another API, such as Vulkan, runs these modules (`hsgen.apis.api.Harness.runtime`).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from hsgen.apis.api import Api
from hsgen.bundle import build
from hsgen.bundle.manifest import Compiled
from hsgen.core.errors import Wrong
from hsgen.core.sort import Sort
from hsgen.emit import c_spirv, spirv
from hsgen.emit.kernels import Source, render


def words(api: Api) -> build.Words:
    """Return a function that compiles the kernels of a sort for `api` to SPIR-V modules, which access all buffers
    through descriptors.

    The function raises:
        Unavailable: there is no compiler.
        Wrong: the compiler rejects a kernel.
    """
    assert api.harness and api.harness.spirv
    compiled = api.harness.spirv

    def compile_words(sort: Sort, _: Source) -> tuple[bytes, Compiled]:
        source = render(sort, api.name)
        modules_needed = [m for m in spirv.modules(sort) if not m.address]

        def one(module: spirv.Module) -> bytes:
            try:
                return compiled(source.text, module.kernel)
            except Wrong as e:
                raise Wrong(f"{source.path}: kernel {module.kernel}: {e}") from None

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            modules = dict(zip(modules_needed, pool.map(one, modules_needed), strict=True))
        text = c_spirv.modules_c(sort, modules, api.title, "hs")
        return text, Compiled(build.glsl_hash(sort, source), api.title)

    return compile_words
