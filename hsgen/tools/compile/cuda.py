"""Compiles CUDA kernels for NVIDIA's instruction sets, with NVRTC or nvcc."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hsgen.apis.cuda import API
from hsgen.core.errors import Unavailable, Wrong
from hsgen.core.kernels import Kernel
from hsgen.system import processes
from hsgen.targets.isa import KINDS
from hsgen.tools.compile import nvidia, nvrtc
from hsgen.tools.compile.base import Request, Use


class Cuda:
    """NVIDIA's compilers: the first of NVRTC 11.8, NVRTC 12.9 and nvcc that supports the device.

    `Use.registers` and `Use.spill_bytes` are those of a lane.  ``ptxas -v`` reports the bytes of spill stores and of
    spill loads; `spill_bytes` is the greater of the two.  ptxas counts each instruction once, even inside of a loop.
    """

    name = "cuda"
    api = API.name
    install = f"{nvrtc.INSTALL}, or put nvcc of the CUDA toolkit on the path"

    def devices(self) -> Sequence[str]:
        """Return the names sm_NN of all architectures that past and present compilers support."""
        return KINDS[self.name].devices

    def identity(self, device: str) -> str | None:
        """Return the name and version of the compiler for `device`, or None."""
        try:
            return _compiler(_arch(device)).name
        except Unavailable:
            return None

    def recipe(self, request: Request) -> str:
        """Return the version of this class's parser of results, and the limits of the device's multiprocessors."""
        return f"1 {nvidia.LIMITS.get(_arch(request.device))}"

    def compile(self, request: Request, folder: Path, seconds: float) -> dict[str, Use]:
        """Compile in another process; see `hsgen.tools.compile.base.Compiler`."""
        arch, out = _arch(request.device), folder / "answer.json"
        by = _compiler(arch)
        order = {"name": by.name, "path": str(by.path), "arch": arch, "text": request.text, "out": str(out)}
        done = processes.run(processes.python("hsgen.tools.compile.nvrtc"), seconds, folder, json.dumps(order))
        if done.returncode or not out.is_file():
            ending = processes.ending(done.returncode)
            raise Wrong(f"{by.name} for {request.device} {ending}", done.stdout + done.stderr)
        answer = json.loads(out.read_text(encoding="utf-8"))
        if "wrong" in answer:
            raise Wrong(*answer["wrong"])
        uses = {kernel: nvrtc.Use(**use) for kernel, use in answer["uses"].items()}
        if lacking := [k.name for k in request.kernels if k.name not in uses]:
            raise Wrong(f"{by.name} for {request.device} omits {', '.join(lacking)}")
        key = request.sort.key
        return {k.name: _use(uses[k.name], arch, k, k.local_bytes(key)) for k in request.kernels}


@cache
def _compiler(arch: int) -> nvrtc.Compiler:
    """Return the first compiler that supports an architecture; cached, because querying all compilers is slow."""
    return nvrtc.compiler_for(arch)


def _use(use: nvrtc.Use, arch: int, kernel: Kernel, local: int) -> Use:
    """Return the resources of a kernel; `local` is the shared memory, in bytes, that a launch adds to static arrays."""
    shared = local + use.shared
    share = nvidia.occupancy(arch, kernel.work_group, use.registers, shared)
    if share == 0:
        needs = f"{kernel.work_group} lanes with {use.registers} registers each and {shared} bytes"
        raise Wrong(f"sm_{arch}: kernel {kernel.name}: no multiprocessor holds a block of {needs}")
    return Use(
        registers=use.registers,
        spill_bytes=max(use.spill_stores, use.spill_loads),
        local_bytes=shared,
        instructions=use.instructions,
        occupancy=share,
    )


def _arch(device: str) -> int:
    return int(device.removeprefix("sm_"))
