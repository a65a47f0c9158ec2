"""Compiles HIP kernels with clang's AMDGPU back end, without ROCm; the clangs are those of `amdgcn`.

ROCm's hipcc is the same clang, with AMD's headers and device library.  ``hip.h`` in this folder replaces both.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from hsgen.apis.hip import API
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.tools.compile.amdgcn import Amdgcn, narrow, wave
from hsgen.tools.compile.base import Request

_SHARED = re.compile(r"extern (__shared__ unsigned long long hs_shared)\[\];")


class Hip(Amdgcn):
    """clang for AMD GPUs, as a HIP compiler.

    HIP kernels get their shared memory at the launch, so the compiler would not count it.  Therefore this class
    declares, in each kernel's text, an array of the size that the launch allocates.
    """

    name = "hip"
    api = API.name
    language = ("-x", "hip", "-std=c++17", "--cuda-device-only", "-nogpuinc", "-w", "-O3", "-S", "-D__HIPCC_RTC__")
    prelude = Path(__file__).with_name("hip.h")
    suffix = "hip"

    def target(self, device: str) -> tuple[str, ...]:
        """Return the compiler's options for one device."""
        return ("-nogpulib", f"--offload-arch={device}")

    def text(self, request: Request) -> str:
        """Return the kernels' text, in which shared memory is an array of the size that a launch allocates."""
        sort, source = request.sort, request.source
        parts = {k.name: _sized(source.parts[k.name], k, sort) for k in request.kernels}
        return replace(source, parts=parts).only(*parts)

    def wave(self, request: Request) -> int:
        """Return the wavefront width for a request, in lanes.

        HIP's headers refuse 64 lanes on devices whose default is 32 lanes.

        Raises:
            Wrong: the device has no wavefronts of the sort's subgroup size.
        """
        return wave(request, (32,) if narrow(request.device) else (64,))


def _sized(text: str, kernel: Kernel, sort: Sort) -> str:
    """Return a kernel's text, in which shared memory is an array of the size that a launch allocates."""
    return _SHARED.sub(rf"\1[{-(-kernel.local_bytes(sort.key) // 8)}];", text)
