/* The Vulkan harness: the arguments of each operation, from the call that Python describes. */
#include "hn_vulkan.h"

#include <string.h>

/* The buffer of a role, from the call's offset to its end; all 0 if the call has no buffer in this role. */
static hs_vulkan_buffer hn_part(const hn_call *call, int role)
{
    hs_vulkan_buffer part;
    const hn_memory *memory;
    memset(&part, 0, sizeof part);
    if (!hn_plays(call, role)) return part;
    memory = &hn.buffers[call->slots[role]];
    part.offset = call->offsets[role];
    part.buffer = memory->buffer;
    part.size = memory->bytes > part.offset ? memory->bytes - part.offset : 0;
    part.address = memory->address;
    return part;
}

/* Scratch of this size. */
static hs_vulkan_buffer hn_scratch_part(uint64_t bytes)
{
    hs_vulkan_buffer part;
    memset(&part, 0, sizeof part);
    part.buffer = hn.scratch.buffer;
    part.size = bytes;
    part.address = hn.scratch.address;
    return part;
}

/* HSGEN_CALLS */
