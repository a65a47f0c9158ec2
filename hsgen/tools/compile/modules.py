"""Compiles kernels to SPIR-V modules, and validates the modules with spirv-val of SPIRV-Tools."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hsgen.apis.vulkan import API
from hsgen.core.errors import Unavailable
from hsgen.emit import spirv
from hsgen.system import processes, toolchain
from hsgen.targets.isa import SPIRV
from hsgen.tools.compile.base import Request, Use
from hsgen.tools.compile.refusals import refusal

_TOOL = "spirv-val"
_DEVICES = ("vulkan1.1", "vulkan1.2", "vulkan1.3")


def modules(request: Request, folder: Path, seconds: float) -> list[dict[str, Any]]:
    """Compile the kernels of a request to SPIR-V modules in `folder`; return a description of each module.

    Its fields are `kernel` (name), `path`, `bindings` (number of buffers), `push` (bytes of push constants) and
    `subgroup` (lanes of a subgroup).

    Raises:
        Unavailable: there is no GLSL compiler.
        Wrong: the GLSL compiler refuses a kernel.
        subprocess.TimeoutExpired: the compilation takes longer than `seconds`.
    """
    using = spirv.compiler()
    if using is None:
        raise Unavailable(f"no GLSL compiler; {spirv.install()}")
    begin, kernels = time.monotonic(), {k.name: k for k in request.kernels}
    out: list[dict[str, Any]] = []
    for module in spirv.modules(request.sort):
        if (kernel := kernels.get(module.kernel)) is None:
            continue
        if time.monotonic() - begin > seconds:
            raise subprocess.TimeoutExpired(using.path, seconds)
        source = request.source
        data = spirv.compile_one(source.text, source.path, module, using, request.sort.vulkan)
        path = folder / f"{len(out)}.spv"
        path.write_bytes(data)
        buffers = len(kernel.buffers)  # push constants: an 8-byte address per buffer, the 4-byte count and argument
        order = {"kernel": kernel.name, "path": str(path), "bindings": buffers, "push": 8 * buffers + 8}
        out.append({**order, "subgroup": kernel.subgroup})
    return out


class Spirv:
    """The SPIR-V validator: compiles all variants of a kernel to SPIR-V, and validates them for a version of Vulkan.

    The only resource that it reports is the local memory of a kernel's arrays.
    """

    name = SPIRV
    api = API.name
    install = "apt-get install spirv-tools glslang-tools"

    def devices(self) -> Sequence[str]:
        """Return the versions of Vulkan, which stand for devices, by spirv-val's names."""
        return _DEVICES

    def identity(self, device: str) -> str | None:
        """Return the versions of spirv-val and the GLSL compiler; None if either is missing or `device` is unknown."""
        path, using = toolchain.tool(_TOOL), spirv.compiler()
        return f"{_version(path)}, {using.identity}" if path and using and device in _DEVICES else None

    def recipe(self, request: Request) -> str:
        """Return the version of Vulkan for which the modules are compiled."""
        return f"1 {request.sort.vulkan}"

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile and validate; see `hsgen.tools.compile.base.Compiler.compile`."""
        path, begin = toolchain.tool(_TOOL), time.monotonic()
        if path is None or request.device not in _DEVICES:
            raise Unavailable(
                f"{_TOOL} for {request.device}: is not installed, or no version of Vulkan; {self.install}"
            )
        for module in modules(request, folder, seconds):
            left = max(1.0, seconds - (time.monotonic() - begin))
            done = processes.run([path, "--target-env", request.device, module["path"]], left, folder)
            if done.returncode:
                raise refusal(f"{_TOOL} for {request.device}: kernel {module['kernel']}", done, folder)
        return {k.name: Use(local_bytes=k.local_bytes(request.sort.key)) for k in request.kernels}


@cache
def _version(path: str) -> str:
    match = re.search(r"SPIRV-Tools (v[\w.]+)", toolchain.run([path, "--version"], 60).stdout)
    return f"{_TOOL} {match[1]}" if match else f"{_TOOL} of unknown version"
