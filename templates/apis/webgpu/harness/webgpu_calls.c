/* The WebGPU harness: the arguments of each operation, from the call that Python describes. */
#include "hn_webgpu.h"

#include <string.h>

/* The buffer of a role, from the call's offset on; all 0 if the call has no buffer in this role. */
static hs_webgpu_buffer hn_part(const hn_call *call, int role)
{
    hs_webgpu_buffer part = {NULL, 0};
    if (!hn_plays(call, role)) return part;
    part.offset = call->offsets[role];
    part.buffer = hn.buffers[call->slots[role]].buffer;
    return part;
}

static hs_webgpu_buffer hn_scratch_part(uint64_t bytes)
{
    hs_webgpu_buffer part = {NULL, 0};
    if (bytes) part.buffer = hn.scratch.buffer;
    return part;
}

/* HSGEN_CALLS */
