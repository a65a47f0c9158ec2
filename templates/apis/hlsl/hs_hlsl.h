/* Sorting with Direct3D 12, or another host that runs HLSL: the kernels as text, and the launches of a call.  There is no
 * runtime: the program compiles the kernels, binds their buffers and dispatches them.
 *
 * KERNELS: the text of a sort has all of its kernels; a macro HS_KERNEL_<name> selects the one to compile, whose entry
 * point has its name.  Those with waves need shader model 6.0 and waves of at least as many lanes as hs_kernel.subgroup
 * says: where the device has shorter ones, too, compile for 6.6 with the macro HS_WAVE_SIZE, which is a size of waves.
 * Keys of 64 bits are uint64_t from shader model 6 on; the macro HS_TWO_WORDS makes them pairs of words.
 *
 * ROOT SIGNATURE: constants b0, then the unordered access views u0, u1, .. of raw buffers (RWByteAddressBuffer), as many
 * as hs_kernel.bindings.  Each holds less than 4 GiB, and a multiple of 4 bytes. */
#ifndef HS_HLSL_H
#define HS_HLSL_H

#include "hs/hs_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its text in HLSL, line by line, defined by a target's C file. */
typedef struct hs_hlsl_kernels {
    const hs_sort *sort;
    const char *const *lines;
    size_t line_count;
} hs_hlsl_kernels;

typedef struct hs_hlsl_target {
    const hs_target *target;
    const hs_hlsl_kernels *const *sorts; /* in the order of the sorts in hs_target */
} hs_hlsl_target;

/* Work-groups of a dispatch in each dimension: Direct3D's limit. */
enum { HS_HLSL_GROUPS = 65535 };

/* The constants of a kernel: where its buffers begin in bytes, n, the argument, two numbers, the first grid. */
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

/* The launch of a step in a call that hs_survey has completed with its buffers.  Returns 1; 0 if the step does not run;
 * -1 if its grid or the start of a buffer is beyond what HLSL can express.  Between launches the host makes all stores
 * visible: a barrier for unordered access views. */
int hs_hlsl_step(const hs_sort *sort, uint32_t step, const hs_call *call, const hs_span spans[HS_ROLES],
                 hs_hlsl_launch *launch);

/* Whether the sort's kernels are right on a device whose waves have at least `lanes` lanes. */
int hs_hlsl_runs(const hs_sort *sort, uint32_t lanes);

/* The sort of this bundle that suits the device best and has text; null: none.  `lanes`: as above. */
const hs_hlsl_kernels *hs_hlsl_match(const hs_hlsl_target *const *targets, size_t count, const char *key,
                                     const char *value, const hs_device *device, uint32_t lanes);

/* The bytes of a text with its end, and, if `text` is not null, the text. */
size_t hs_hlsl_text(const hs_hlsl_kernels *kernels, char *text);

#ifdef __cplusplus
}
#endif
#endif
