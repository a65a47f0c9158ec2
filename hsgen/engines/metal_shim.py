"""Metal kernels as C++ for OpenCL 2021, by a prelude and by rewriting signatures: logic stays as it is.

No substitute for Apple's compiler: it accepts another language, and another compiler makes the code.  What it shows is
that the text is whole, and that the kernels sort, on a device of any vendor that takes the language.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from functools import cache

from hsgen.apis.metal import API as API
from hsgen.core.errors import Unavailable
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines.hosts import Host, hosts
from hsgen.system import toolchain

LANGUAGE = "C++ for OpenCL"
OPTION = "-cl-std=CLC++2021"
UNDRIVEN = "hsgen drives no Metal devices"

_PRELUDE = """\
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define device __global
#define threadgroup __local
namespace mem_flags { enum flags { mem_threadgroup = CLK_LOCAL_MEM_FENCE, mem_device = CLK_GLOBAL_MEM_FENCE }; }
#define threadgroup_barrier(flags) work_group_barrier(flags)
#undef memory_order_relaxed
#define memory_order_relaxed ((memory_order)__ATOMIC_RELAXED)
template <typename To, typename From> inline To as_type(From x) { return __builtin_astype(x, To); }
"""
_LANES = """\
#define simdgroup_barrier(flags) sub_group_barrier(flags)
#define simd_broadcast(a, lane) sub_group_broadcast(a, (uint)(lane))
inline uint simd_shuffle_xor(uint a, ushort mask) { return sub_group_shuffle_xor(a, (uint)mask); }
inline uint2 simd_shuffle_xor(uint2 a, ushort mask)
{
    return (uint2)(simd_shuffle_xor(a.x, mask), simd_shuffle_xor(a.y, mask));
}
inline uint4 simd_shuffle_xor(uint4 a, ushort mask)
{
    return (uint4)(simd_shuffle_xor(a.lo, mask), simd_shuffle_xor(a.hi, mask));
}
"""
_VOTES = """\
namespace simd_vote { typedef ulong vote_t; }
inline simd_vote::vote_t simd_ballot(bool vote)
{
    const uint4 set = sub_group_ballot(vote);
    return (ulong)set.x | (ulong)set.y << 32;
}
"""
_PLACES = {
    "threadgroup_position_in_grid": "(uint3)((uint)get_group_id(0), (uint)get_group_id(1), 0u)",
    "threadgroups_per_grid": "(uint3)((uint)get_num_groups(0), (uint)get_num_groups(1), 1u)",
    "thread_index_in_threadgroup": "(uint)get_local_id(0)",
    "thread_index_in_simdgroup": "get_sub_group_local_id()",
    "simdgroup_index_in_threadgroup": "get_sub_group_id()",
}
_KERNEL = re.compile(
    r"\[\[max_total_threads_per_threadgroup\((\d+)\)\]\]\nkernel void (\w+)\(\n(.*?)\)\n\{\n", re.DOTALL
)
_PARAMETER = re.compile(r"\s*([^\[\]]+?) (&?\*?\w+) \[\[(\w+)(?:\((\d+)\))?\]\],?")


def source(sort: Sort) -> Source:
    """Return the Metal text of `sort`, rewritten, in the place of its OpenCL text: the same kernels with the same
    parameters; the compiler gets the language by its option."""
    made = render(sort, API.name)
    prelude = re.sub(r"#include <metal_stdlib>\nusing namespace metal;\n", "", made.prelude)
    more = (_LANES if sort.lanes > 1 else "") + (_VOTES if sort.ballot else "")
    kernels = {k.name: k for k in sort.kernels}
    parts = {name: _rewritten(text, kernels[name], sort) for name, text in made.parts.items()}
    return replace(made, prelude=_PRELUDE + more + _vectors(prelude), parts=parts, option=OPTION)


def _vectors(text: str) -> str:
    """Vectors are made by what looks like a function in Metal, like a cast in OpenCL."""
    return re.sub(r"(?<![\w<(])(uint[234])\(", r"(\1)(", text)


def _rewritten(text: str, kernel: Kernel, sort: Sort) -> str:
    """A kernel with its places as local names, and the numbers behind its buffers one by one."""

    def signature(found: re.Match[str]) -> str:
        lanes, name, parameters = found.groups()
        buffers, begin = [], ""
        for type_, what, attribute, _ in _PARAMETER.findall(parameters):
            if attribute in _PLACES:
                begin += f"    const {type_} {what} = {_PLACES[attribute]};\n"
            elif "hs_numbers" not in type_:
                buffers.append(f"{type_} {what}")
        numbers = [f"{'long' if kernel.index64 else 'int'} n_", "int argument_"]
        numbers += ["int low_", "int high_"] * sort.signature.numbers
        given = "n_, argument_, " + ("low_, high_" if sort.signature.numbers else "0, 0")
        width = f"__attribute__((intel_reqd_sub_group_size({kernel.subgroup})))\n" if kernel.subgroup > 1 else ""
        return (
            f"{width}__attribute__((reqd_work_group_size({lanes}, 1, 1)))\n"
            f"__kernel void {name}({', '.join([*buffers, *numbers])})\n{{\n{begin}"
            f"    const hs_numbers hs_given = {{{given}}};\n"
        )

    return _vectors(_KERNEL.sub(signature, text, count=1))


def takers() -> list[Host]:
    """Return the OpenCL devices that compile the language.

    Raises:
        Unavailable: there is no such device, or no OpenCL.
    """
    if taking := [h for h in hosts() if _takes(h)]:
        return taking
    raise Unavailable(
        f"no OpenCL device that takes {LANGUAGE} 2021, as which Metal's kernels are run; {toolchain.how_to_get_one()}"
    )


@cache
def _takes(host: Host) -> bool:
    """Whether a device compiles the language, which few list among their extensions: one has to try."""
    cl = toolchain.pyopencl()
    text = "template <typename T> T of(T x) { return x; }\n__kernel void probe(__global int *x) { *x = of(*x); }"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cl.Program(cl.Context([host.handle]), text).build(options=[OPTION])
        except cl.Error:
            return False
    return True
