"""Kernels of an API without a runtime of its own, as SPIR-V for the runtime that its harness names."""

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
    """Return where the SPIR-V of a sort comes from: from its kernels of `api`, with buffers by descriptor only.

    Raises (when called with a sort):
        Unavailable: there is no compiler.
        Wrong: it rejects a kernel.
    """
    assert api.harness and api.harness.spirv
    compiled = api.harness.spirv

    def made(sort: Sort, _: Source) -> tuple[bytes, Compiled]:
        source = render(sort, api.name)
        wanted = [m for m in spirv.modules(sort) if not m.address]

        def one(module: spirv.Module) -> bytes:
            try:
                return compiled(source.text, module.kernel)
            except Wrong as e:
                raise Wrong(f"{source.path}: kernel {module.kernel}: {e}") from None

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            modules = dict(zip(wanted, pool.map(one, wanted), strict=True))
        text = c_spirv.modules_c(sort, modules, api.title, "hs")
        return text, Compiled(build.glsl_hash(sort, source), api.title)

    return made
