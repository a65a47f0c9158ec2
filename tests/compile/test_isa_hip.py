"""clang as the compiler of HIP: all that kernels use compiles for both widths of wavefronts, and spills are seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from isa_requests import needed, own, real

from hsgen.core.errors import Wrong
from hsgen.tools.compile.base import Use
from hsgen.tools.compile.hip import Hip

HIP = Hip()
ARGUMENTS = "(const unsigned *source, unsigned *destination, int n, int argument)"
HEAD = f'extern "C" __global__ void __launch_bounds__({{}}) {{}}{ARGUMENTS}'
GREEDY = f"""{HEAD.format(1024, "greedy")}
{{
    unsigned r[100];
    _Pragma("unroll") for (int i = 0; i < 100; i++) r[i] = source[i * 1024 + threadIdx.x];
    __syncthreads();
    _Pragma("unroll") for (int i = 0; i < 100; i++)
        destination[i * 1024 + threadIdx.x] = r[i] * r[(i * 7 + 1) % 100];
}}
"""
EVERY = f"""{HEAD.format(64, "every")}
{{
    __shared__ unsigned s[64];
    unsigned x = source[threadIdx.x];
    unsigned long long wide = (unsigned long long)x << 32 | (threadIdx.x + blockIdx.y);
    s[threadIdx.x % warpSize] = blockIdx.x + gridDim.x;
    x += atomicAdd(&s[1], x) + atomicOr(&destination[n], 0u);
    wide = max(__shfl_xor(wide, 5), __shfl(wide, 3, 32)) + __popcll(__ballot(x > 7u)) + __popc(x);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront"), __builtin_amdgcn_wave_barrier();
    __hip_atomic_store(&destination[1], x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __syncthreads();
    x += __hip_atomic_load(&destination[2], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    destination[64 + threadIdx.x] = x + s[0] + (unsigned)wide + (unsigned)min(n, argument);
}}
"""


def compiled(device: str, folder: Path, texts: dict[str, str], lanes: int = 1, group: int = 64) -> dict[str, Use]:
    needed(HIP, device)
    return HIP.compile(own(HIP, device, texts, lanes=lanes, group=group), folder, 60)


@pytest.mark.parametrize(("device", "lanes"), [("gfx803", 64), ("gfx90a", 64), ("gfx1030", 32)])
def test_all_that_kernels_use_of_hip_compiles(device: str, lanes: int, tmp_path: Path) -> None:
    use = compiled(device, tmp_path, {"every": EVERY}, lanes=lanes)["every"]
    assert use.local_bytes == 256 and use.spill_bytes == 0
    text = (tmp_path / "kernels.s").read_text(encoding="utf-8")
    assert f".wavefront_size: {lanes}" in text and "ds_bpermute_b32" in text


def test_kernels_that_spill_are_seen_to_spill(tmp_path: Path) -> None:
    use = compiled("gfx906", tmp_path, {"greedy": GREEDY}, group=1024)["greedy"]
    assert use.registers == 64 and use.spill_bytes >= 4 * (100 - 64)


def test_wavefronts_of_64_lanes_are_refused_where_hip_has_none(tmp_path: Path) -> None:
    """ROCm's hip_runtime.h is an error on RDNA with wavefronts of 64 lanes."""
    with pytest.raises(Wrong, match=r"^clang for gfx1030: subgroups have 32 lanes, not 64"):
        compiled("gfx1030", tmp_path, {"every": EVERY}, lanes=64)


def test_kernels_of_hsgen(tmp_path: Path) -> None:
    """Shared memory, whose size a launch gives, is counted."""
    needed(HIP, "gfx906")
    found = HIP.compile(real(HIP, "gfx906", "amd-gcn", "bitonic", "clean", "flip_1"), tmp_path, 60)
    assert found["clean"].local_bytes == 65536 and (found["clean"].occupancy or 1) < 0.8
    assert found["flip_1"].occupancy == 1.0 and all(u.spill_bytes == 0 for u in found.values())
