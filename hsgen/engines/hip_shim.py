"""A source translation of HIP kernels to the language C++ for OpenCL 2021, so that machines without AMD devices can
test them.

The shim replaces the definitions before the kernels (the prelude) and the kernel signatures, and leaves the statements
of kernels unchanged.  The tests run on any device that supports the language and subgroups as wide as AMD's wavefronts.
Results show that the kernels sort.  Tests with AMD's compiler and devices remain necessary, because there, lanes
exchange values by other instructions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from hsgen.apis.hip import API as API
from hsgen.core.kernels import Kernel
from hsgen.core.sort import Sort
from hsgen.emit.kernels import Source, render
from hsgen.engines.signatures import OPTION, attributes, framed, functions
from hsgen.tree.nodes import Call, Function, Plain, Statement, Token
from hsgen.tree.printing import text as printed
from hsgen.tree.reading import read, tokens
from hsgen.tree.walking import arguments

Change = Callable[[Sequence[Token]], list[Token]]
"""A function that takes the tokens of a text or of a preprocessor directive, and returns tokens to replace them."""


def spelled(text: str, change: Change) -> str:
    """Return a copy of a text in which `change` has replaced the tokens, including those in preprocessor directives."""
    out: list[Token] = []
    for token in tokens(text):
        mark, directive, rest = token.text.partition("#")
        if directive and not mark:
            out.append(Token(token.before, directive + spelled(rest, change)))
        else:
            out.append(token)
    return "".join(part for token in change(out) for part in token)


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
_NUMBER = re.compile(r"((?:0x[0-9a-f]+|\d+)u?l)l")


def source(sort: Sort) -> Source:
    """Return the HIP kernels of `sort` with OpenCL signatures.

    pyopencl can run this text in place of the OpenCL text of the sort, because kernels have the same names and
    parameters.  The compiler option that selects the language is `Source.option`.
    """
    rendered = render(sort, API.name)
    more = (_LANES.format(lanes=sort.lanes) if sort.lanes > 1 else "") + (_VOTES if sort.ballot else "")
    parts = {k.name: _long(_kernel(rendered.parts[k.name], k, sort)) for k in sort.kernels}
    return replace(rendered, prelude=_PRELUDE + more + _long(rendered.prelude), parts=parts, option=OPTION)


def _long(text: str) -> str:
    """Return a text with ``long`` in place of ``long long``.

    In OpenCL, ``long`` has 64 bits, and ``long long`` is reserved for 128 bits.
    """
    return spelled(text, _shorter)


def _shorter(tokens: Sequence[Token]) -> list[Token]:
    out: list[Token] = []
    for token in tokens:
        if token.text == "long" and out and out[-1].text == "long":
            continue
        number = _NUMBER.fullmatch(token.text)
        out.append(Token(token.before, number[1]) if number else token)
    return out


def _kernel(text: str, kernel: Kernel, sort: Sort) -> str:
    """Return a kernel with an OpenCL signature and a local array of fixed size.

    The size is the number of bytes of shared memory that a HIP launch states.
    """
    size = -(-kernel.local_bytes(sort.key) // 8)
    shared = read(f"\n    __local unsigned long long hs_shared[{size}];").body

    def signature(function: Function) -> Function:
        *_, bounds, call = function.head
        assert isinstance(bounds, Call) and isinstance(call, Call)
        parameters, begin = [], ""
        for parameter in arguments(call):
            declared = "".join(map(printed, parameter)).strip()
            pointer = any(isinstance(w, Token) and w.text == "*" for w in parameter)
            if pointer and any(isinstance(w, Token) and w.text == "hs_pair" for w in parameter):
                # C++ for OpenCL copies a structure only through a pointer to the generic address space
                begin += f"\n    {declared} = {printed(parameter[-1])}_;"
                declared += "_"
            parameters.append(f"__global {declared}" if pointer else declared)
        head = f"{attributes(kernel)}__kernel void {call.name.text}({', '.join(parameters)})\n{{{begin}\n}}"
        body = [x for s in function.body.body for x in (shared if _is_shared(s) else [s])]
        return framed(head, function, body)

    return functions(text, signature)


def _is_shared(statement: Statement) -> bool:
    match statement:
        case Plain(words=[Token(text="extern"), Token(text="__shared__"), *_]):
            return True
    return False
