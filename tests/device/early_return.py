"""A child process that runs a kernel with an early return, with or without a final barrier; exit code 1 if it is wrong.

usage: early_return.py PLATFORM no|yes
"""

from __future__ import annotations

import sys

import numpy as np

from hsgen.system import toolchain

_TEXT = """
__attribute__((reqd_work_group_size(16, 1, 1)))
__kernel void copied(__global const uint *source, __global uint *destination, __global const uint *words, int n)
{
    __local uint held[1024];
    const int lane = (int)get_local_id(0);
    if (words[0] != 0u) return;
    for (int i = lane; i < n; i += 16) held[i] = source[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = lane * 16; i < n; i++) destination[i] = held[i];
    END
}
"""
_GUARD = 0x5A5A5A5A


def main() -> int:
    platform, end = sys.argv[1:]
    cl = toolchain.pyopencl()
    device = next(d for p in cl.get_platforms() if p.name.strip() == platform for d in p.get_devices())
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    text = _TEXT.replace("END", "barrier(CLK_LOCAL_MEM_FENCE);" if end == "yes" else "")
    kernel = cl.Kernel(cl.Program(context, text).build(), "copied")
    for n in (1, 2, 15, 16, 17, 33, 200):
        images = np.arange(1024, dtype=np.uint32), np.full(2048, _GUARD, np.uint32), np.zeros(4, np.uint32)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=image) for image in images]
        kernel(queue, (16,), (16,), *buffers, np.int32(n))
        found = np.empty_like(images[1])
        cl.enqueue_copy(queue, found, buffers[1], is_blocking=True)
        if not np.array_equal(found[:n], images[0][:n]) or (found[n:] != _GUARD).any():
            print(f"n = {n}: wrong", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
