/* The CUDA harness: the arguments of each operation, from the call that Python describes. */
#include "cuda_calls.h"

/* The address at which the buffer of a role begins, and its bytes; null if the call has no buffer in this role. */
static unsigned char *hn_part(const hn_call *call, int role, size_t *bytes)
{
    if (!hn_plays(call, role)) return NULL;
    *bytes = hn_state.sizes[call->slots[role]] - call->offsets[role];
    return hn_state.buffers[call->slots[role]] + call->offsets[role];
}

/* HSGEN_CALLS */
