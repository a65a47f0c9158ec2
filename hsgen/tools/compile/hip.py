"""clang's AMDGPU back end for HIP kernels: the compilers of `hsgen.tools.compile.amdgcn`, without ROCm.

ROCm's hipcc is the same clang with AMD's headers and device library; ``hip.h`` in this folder replaces both.
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
    """clang for AMD GPUs, as the compiler of HIP.

    A launch determines the size of shared memory.  This class declares shared memory with that size, so that the
    compiler counts it.
    """

    name = "hip"
    api = API.name
    language = ("-x", "hip", "-std=c++17", "--cuda-device-only", "-nogpuinc", "-w", "-O3", "-S", "-D__HIPCC_RTC__")
    prelude = Path(__file__).with_name("hip.h")
    suffix = "hip"

    def target(self, device: str) -> tuple[str, ...]:
        """See `Amdgcn`."""
        return ("-nogpulib", f"--offload-arch={device}")

    def text(self, request: Request) -> str:
        """See `Amdgcn`."""
        sort, source = request.sort, request.source
        parts = {k.name: _sized(source.parts[k.name], k, sort) for k in request.kernels}
        return replace(source, parts=parts).only(*parts)

    def wave(self, request: Request) -> int:
        """See `Amdgcn`; HIP's headers refuse wavefronts of 64 lanes on devices whose default is 32."""
        return wave(request, (32,) if narrow(request.device) else (64,))


def _sized(text: str, kernel: Kernel, sort: Sort) -> str:
    """Return the text of a kernel with its shared memory declared in the size of its launch."""
    return _SHARED.sub(rf"\1[{-(-kernel.local_bytes(sort.key) // 8)}];", text)
