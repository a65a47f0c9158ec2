/* Sorting with Direct3D 12, or another host that runs HLSL: the kernels as text, and the launches of a call.  There is
 * no runtime: the program compiles the kernels, binds their buffers and dispatches them.
 *
 * KERNELS: the text of a sort has all of its kernels.  A macro HS_KERNEL_<name> selects the kernel to compile; its
 * entry point has the same name.  A kernel with waves needs shader model 6.0, and waves of at least hs_kernel.subgroup
 * lanes.  If the device also has narrower waves, compile the kernel for 6.6, with the macro HS_WAVE_SIZE as its wave
 * size.  Keys of 64 bits are uint64_t from shader model 6 on; the macro HS_TWO_WORDS makes them pairs of words.
 *
 * ROOT SIGNATURE: constants b0, then the unordered access views u0, u1, .. of raw buffers (RWByteAddressBuffer), as
 * many as hs_kernel.bindings. The size of each buffer is less than 4 GiB, and a multiple of 4 bytes. */
#ifndef HS_HLSL_H
#define HS_HLSL_H

#include "hs/hs_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its HLSL text, line by line; a target's C file defines it. */
typedef struct hs_hlsl_kernels {
    const hs_sort *sort;
    const char *const *lines;
    size_t line_count;
} hs_hlsl_kernels;

typedef struct hs_hlsl_target {
    const hs_target *target;
    const hs_hlsl_kernels *const *sorts; /* in the order of the sorts in hs_target */
} hs_hlsl_target;

/* Direct3D's limit of work-groups in each dimension of a dispatch. */
enum { HS_HLSL_GROUPS = 65535 };

/* The constants of a kernel: the byte at which each buffer begins, n, the argument, two numbers, and grid[0]. */
enum { HS_HLSL_CONSTANTS = HS_BINDINGS + 5 };

/* One dispatch. */
typedef struct hs_hlsl_launch {
    uint32_t kernel;  /* index into the sort's kernels */
    uint32_t grid[2]; /* work-groups; the third dimension is 1 */
    uint32_t bindings;
    hs_role roles[HS_BINDINGS]; /* the buffer of the call that is bound as u0, u1, .. */
    uint32_t constant_count;
    uint32_t constants[HS_HLSL_CONSTANTS]; /* b0 */
} hs_hlsl_launch;

/* Compute the launch of a step; call hs_survey before, which checks and completes the call and its spans.  Returns 1; 0
 * if the step does not run; -1 if its grid exceeds HS_HLSL_GROUPS, a buffer ends beyond 2^32 bytes, or its kernel is
 * for 64-bit counts. Between launches, the host needs a barrier for unordered access views, which makes all stores
 * visible. */
int hs_hlsl_step(const hs_sort *sort, uint32_t step, const hs_call *call, const hs_span spans[HS_ROLES],
                 hs_hlsl_launch *launch);

/* 1 if the sort's kernels work on a device whose waves have at least `lanes` lanes. */
int hs_hlsl_runs(const hs_sort *sort, uint32_t lanes);

/* The sort with HLSL text that suits the device best; null if there is none.  `lanes` is that of hs_hlsl_runs. */
const hs_hlsl_kernels *hs_hlsl_match(const hs_hlsl_target *const *targets, size_t count, const char *key,
                                     const char *value, const hs_device *device, uint32_t lanes);

/* The number of bytes of a text, with the 0 at its end.  If `text` is not null, the text is stored there. */
size_t hs_hlsl_text(const hs_hlsl_kernels *kernels, char *text);

#ifdef __cplusplus
}
#endif
#endif
