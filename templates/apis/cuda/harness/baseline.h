/* What the baselines of the CUDA harness share.  CUB takes long to compile, so each baseline is compiled for one width
 * of keys, HN_KEY_BYTES, and one size of values, HN_VALUE_BYTES. */
#ifndef HN_BASELINE_H
#define HN_BASELINE_H

#include "hn_cuda.h"

#include <cuda_runtime.h>

#if HN_KEY_BYTES == 8
using hn_key = uint64_t;
#else
using hn_key = uint32_t;
#endif

#if HN_VALUE_BYTES == 16
using hn_value = uint4;
#elif HN_VALUE_BYTES == 8
using hn_value = uint2;
#else
using hn_value = uint32_t;
#endif

/* Buffer `slot` as elements of a type. */
template <typename T> static inline T *hn_at(int slot) { return reinterpret_cast<T *>(hn_state.buffers[slot]); }

/* Whether buffer `slot` holds `count` elements of `bytes` bytes. */
static inline bool hn_holds(int slot, uint64_t count, unsigned bytes)
{
    return hn_state.buffers[slot] && hn_state.sizes[slot] / bytes >= count;
}

/* The reason why the baseline cannot run a call, or null. */
static inline const char *hn_unfit(int key_bytes, int value_bytes, uint64_t n)
{
    if (!hn_state.open) return hn_wrong("no device is open");
    if (key_bytes != HN_KEY_BYTES || value_bytes != HN_VALUE_BYTES || n > UINT32_MAX)
        return hn_wrong("this baseline was compiled for keys or values of another size");
    return NULL;
}

/* Check the buffers of a sort of n keys, and of their values if there are any.  Returns what is wrong, or null. */
static inline const char *hn_short(uint64_t n)
{
    for (int slot = HN_KEYS; slot <= (HN_VALUE_BYTES ? HN_VALUES_OUT : HN_KEYS_OUT); slot++)
        if (!hn_holds(slot, n, slot < HN_VALUES ? HN_KEY_BYTES : sizeof(hn_value)))
            return hn_wrong("a buffer holds fewer keys or values");
    return NULL;
}

/* Call `call` twice, as CUB requires.  The first call gets no memory, and only returns the size of the temporary memory
 * that it needs.  The memory is kept for later runs, and its allocation is not timed. */
template <typename Call> static const char *hn_play(const char *name, Call call, double *device_seconds)
{
    size_t temporary = 0;
    cudaError_t code = call(static_cast<void *>(NULL), temporary);
    if (code != cudaSuccess) return hn_said(name, code);
    if (temporary == 0) temporary = 1;
    if (temporary > hn_state.baseline_size)
        if (const char *wrong = hn_allocate(&hn_state.baseline, &hn_state.baseline_size, temporary)) return wrong;
    code = cudaEventRecord(hn_state.start, hn_state.stream);
    if (code == cudaSuccess) code = call(static_cast<void *>(hn_state.baseline), temporary);
    if (code == cudaSuccess) code = cudaEventRecord(hn_state.stop, hn_state.stream);
    return code != cudaSuccess ? hn_said(name, code) : hn_time(device_seconds);
}

#endif
