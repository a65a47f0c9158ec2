"""HIP kernels as C++ for OpenCL 2021, by a prelude and by rewriting signatures: logic stays as it is.

No substitute for AMD's compiler and devices: other instructions exchange values between lanes.  What it shows is that
the kernels sort, with wavefronts of as many lanes as their subgroups, on any device that takes the language.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hsgen.apis.hip import API as API
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines.metal_shim import OPTION

_PRELUDE = """\
#define __device__
#define __forceinline__ inline
struct hs_place { uint x, y; };
#define threadIdx (hs_place{(uint)get_local_id(0), 0u})
#define blockIdx (hs_place{(uint)get_group_id(0), (uint)get_group_id(1)})
#define gridDim (hs_place{(uint)get_num_groups(0), (uint)get_num_groups(1)})
#define __syncthreads() work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define hs_word(p) ((volatile atomic_uint *)(p))
#define hs_relaxed ((memory_order)__ATOMIC_RELAXED), ((memory_scope)__OPENCL_MEMORY_SCOPE_DEVICE)
#define __hip_atomic_load(p, order, scope) atomic_load_explicit(hs_word(p), hs_relaxed)
#define __hip_atomic_store(p, x, order, scope) atomic_store_explicit(hs_word(p), x, hs_relaxed)
#define atomicAdd(p, x) atomic_fetch_add_explicit(hs_word(p), x, hs_relaxed)
#define atomicOr(p, x) atomic_fetch_or_explicit(hs_word(p), x, hs_relaxed)
#define atomicMin(p, x) atomic_fetch_min_explicit(hs_word(p), x, hs_relaxed)
inline uint atomicCAS(uint *p, uint old, uint x)
{
    atomic_compare_exchange_strong_explicit(hs_word(p), &old, x, ((memory_order)__ATOMIC_RELAXED), hs_relaxed);
    return old;
}
#define __popc(x) ((int)popcount((uint)(x)))
#define __popcll(x) ((int)popcount((ulong)(x)))
#define __float_as_uint(x) as_uint(x)
#define __uint_as_float(x) as_float(x)
#define __fadd_rn(a, b) ((a) + (b))
"""
_LANES = """\
#define warpSize {lanes}
#define __builtin_amdgcn_fence(order, scope) ((void)0)
#define __builtin_amdgcn_wave_barrier() sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define __shfl_xor(a, mask) sub_group_shuffle_xor(a, (uint)(mask))
#define __shfl(a, lane, lanes) sub_group_broadcast(a, (uint)(lane))
"""
_VOTES = """\
inline ulong __ballot(bool vote)
{
    const uint4 set = sub_group_ballot(vote);
    return (ulong)set.x | (ulong)set.y << 32;
}
"""
_KERNEL = re.compile(r"HS_KERNEL void __launch_bounds__\((\d+)\) (\w+)\(([^)]*)\)\n\{\n")
_PAIRS = re.compile(r"((?:const )?hs_pair \*(\w+))")
"""A buffer of structures, which the language copies from generic memory only."""
_SHARED = re.compile(r"extern __shared__ (unsigned long long hs_shared)\[\];")


def source(sort: Sort) -> Source:
    """Return the HIP text of `sort`, rewritten, in the place of its OpenCL text: the same kernels with the same
    parameters; the compiler gets the language by its option."""
    made = render(sort, API.name)
    more = (_LANES.format(lanes=sort.lanes) if sort.lanes > 1 else "") + (_VOTES if sort.ballot else "")
    parts = {k.name: _long(_rewritten(made.parts[k.name], k, sort)) for k in sort.kernels}
    return replace(made, prelude=_PRELUDE + more + _long(made.prelude), parts=parts, option=OPTION)


def _long(text: str) -> str:
    """Types of 64 bits by their names in OpenCL, where ``long long`` is reserved for 128."""
    return re.sub(r"\b((?:0x[0-9a-f]+|\d+)u?l)l\b", r"\1", text.replace("long long", "long"))


def _rewritten(text: str, kernel: Kernel, sort: Sort) -> str:
    """A kernel with OpenCL's signature, and shared memory of the size of its launch."""

    def signature(found: re.Match[str]) -> str:
        lanes, name, parameters = found.groups()
        listed = [f"__global {p}" if "*" in p else p for p in parameters.split(", ")]
        given = ", ".join(_PAIRS.sub(r"\g<0>_", p) for p in listed)
        generic = "".join(f"    {m[1]} = {m[2]}_;\n" for p in listed if (m := _PAIRS.search(p)))
        width = f"__attribute__((intel_reqd_sub_group_size({kernel.subgroup})))\n" if kernel.subgroup > 1 else ""
        group = f"__attribute__((reqd_work_group_size({lanes}, 1, 1)))\n"
        return f"{width}{group}__kernel void {name}({given})\n{{\n{generic}"

    size = -(-kernel.local_bytes(sort.key) // 8)
    return _SHARED.sub(rf"__local \1[{size}];", _KERNEL.sub(signature, text, count=1))
