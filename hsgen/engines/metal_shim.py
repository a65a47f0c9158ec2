"""A source translation of Metal kernels to the language C++ for OpenCL 2021, so that machines without Apple devices can
test them.

The shim replaces the definitions before the kernels (the prelude) and the kernel signatures, and leaves the statements
of kernels unchanged.  The tests run on any device that supports the language.  They show that the kernel text is
complete, and that the kernels sort.  Tests with Apple's compiler remain necessary, because it compiles another language
to other machine code.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

from hsgen.apis.metal import API as API
from hsgen.core.errors import Unavailable
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines.hosts import Host, hosts
from hsgen.engines.signatures import OPTION, attributes, framed, functions
from hsgen.system import toolchain
from hsgen.tree.nodes import Call, Directive, Element, Function, Group, Plain, Statement, Token, Tree
from hsgen.tree.printing import text as printed
from hsgen.tree.reading import read
from hsgen.tree.walking import arguments

LANGUAGE = "C++ for OpenCL"
UNDRIVEN = "hsgen drives no Metal devices"

_PRELUDE = """\
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define device __global
#define threadgroup __local
namespace mem_flags { enum flags { mem_threadgroup = CLK_LOCAL_MEM_FENCE, mem_device = CLK_GLOBAL_MEM_FENCE }; }
#define threadgroup_barrier(flags) work_group_barrier(flags)
#undef memory_order_relaxed
#define memory_order_relaxed ((memory_order)__ATOMIC_RELAXED)
#define uint2(...) ((uint2)(__VA_ARGS__))
#define uint3(...) ((uint3)(__VA_ARGS__))
#define uint4(...) ((uint4)(__VA_ARGS__))
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


def source(sort: Sort) -> Source:
    """Return the Metal kernels of `sort` with OpenCL signatures.

    pyopencl can run this text in place of the OpenCL text of the sort, because kernels have the same names and
    parameters.  The compiler option that selects the language is `Source.option`.
    """
    rendered = render(sort, API.name)
    more = (_LANES if sort.lanes > 1 else "") + (_VOTES if sort.ballot else "")
    kernels = {k.name: k for k in sort.kernels}
    parts = {name: _kernel(text, kernels[name], sort) for name, text in rendered.parts.items()}
    return replace(rendered, prelude=_PRELUDE + more + _words(rendered.prelude), parts=parts, option=OPTION)


def _words(prelude: str) -> str:
    """Return the prelude without the `#include` and the `using` of Metal's standard library."""
    tree = read(prelude)
    return printed(Tree([x for x in tree.body if not _is_library(x)], tree.end))


def _is_library(statement: Statement) -> bool:
    match statement:
        case Directive(line=Token(text="#include <metal_stdlib>")):
            return True
        case Plain(words=[Token(text="using"), *_]):
            return True
    return False


def _kernel(text: str, kernel: Kernel, sort: Sort) -> str:
    """Return the Metal kernel `kernel` with an OpenCL signature.

    The parameters that are indices of work-groups and lanes become local variables.  Each number of the struct
    `hs_numbers` becomes a parameter after the buffers.
    """

    def signature(function: Function) -> Function:
        *_, call = function.head
        assert isinstance(call, Call)
        buffers, begin = [], ""
        for parameter in arguments(call):
            *type_, access = parameter
            assert isinstance(access, Element)
            declaration, attribute = "".join(map(printed, [*type_, access.name])).strip(), _attribute(access)
            if attribute in _PLACES:
                begin += f"\n    const {declaration} = {_PLACES[attribute]};"
            elif not any(isinstance(w, Token) and w.text == "hs_numbers" for w in type_):
                buffers.append(declaration)
        numbers = [f"{'long' if kernel.index64 else 'int'} n_", "int argument_"]
        numbers += ["int low_", "int high_"] * sort.signature.numbers
        given_ = "n_, argument_, " + ("low_, high_" if sort.signature.numbers else "0, 0")
        begin += f"\n    const hs_numbers hs_given = {{{given_}}};"
        head = f"{attributes(kernel)}__kernel void {call.name.text}({', '.join([*buffers, *numbers])})\n{{{begin}\n}}"
        return framed(head, function, function.body.body)

    return functions(text, signature)


def _attribute(access: Element) -> str:
    """Return the name of the attribute of a parameter ``name [[attribute]]``."""
    match access.index.words:
        case [Group(words=[Token(text=name)])] | [Group(words=[Call(name=Token(text=name))])]:
            return name
    raise AssertionError(access)


def takers() -> list[Host]:
    """Return the OpenCL devices that compile C++ for OpenCL 2021.

    Raises:
        Unavailable: no device compiles the language, or there is no OpenCL.
    """
    if taking := [h for h in hosts() if _takes(h)]:
        return taking
    raise Unavailable(
        f"no OpenCL device that takes {LANGUAGE} 2021, as which Metal's kernels are run; {toolchain.how_to_get_one()}"
    )


@cache
def _takes(host: Host) -> bool:
    """Return True if a device compiles C++ for OpenCL 2021.

    A trial compilation decides, because few devices list the extension for the language.
    """
    cl = toolchain.pyopencl()
    text = "template <typename T> T of(T x) { return x; }\n__kernel void probe(__global int *x) { *x = of(*x); }"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cl.Program(cl.Context([host.handle]), text).build(options=[OPTION])
        except cl.Error:
            return False
    return True
