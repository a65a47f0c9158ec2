/* Sorting with CUDA.  Calls are enqueued on the caller's stream and wait for nothing; graphs can capture them. */
#ifndef HS_CUDA_H
#define HS_CUDA_H

#include "hs/hs.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its kernels; a target's .cu file defines it. */
typedef struct hs_cuda_kernels {
    const hs_sort *sort;
    const void *const *kernels; /* in the order of the kernels in hs_sort */
} hs_cuda_kernels;

typedef struct hs_cuda_target {
    const hs_target *target;
    const hs_cuda_kernels *const *sorts; /* in the order of the sorts in hs_target */
} hs_cuda_target;

/* A sort or another operation, made ready for one device.
 *
 * THREADS: "any thread" means that concurrent calls are allowed, also with the same sorter. Launches only read a
 * sorter, so threads may share it; the sorter's device must be the current device of each thread. */
typedef struct hs_cuda hs_cuda;

/* Options for the creation of a sorter.  All members 0 have the same effect as hs_cuda_create. */
typedef struct hs_cuda_create_options {
    hs_scope scope; /* the calls for which the sorter is created */
} hs_cuda_create_options;

/* Make a sorter for all calls of a sort: load the kernels on the current device. `error`, if not null, gets CUDA's
 * error code. Any thread. */
hs_status hs_cuda_create(const hs_cuda_kernels *sort, hs_cuda **sorter, cudaError_t *error);

/* hs_cuda_create with options, which may be null. CUDA loads a kernel when it is first used: here, not at the first
 * sort. Kernels outside the scope are not loaded, and the device need not support them. Any thread. */
hs_status hs_cuda_create_with(const hs_cuda_kernels *sort, const hs_cuda_create_options *options, hs_cuda **sorter,
                              cudaError_t *error);

/* The number of kernels that a sorter has.  Any thread. */
uint32_t hs_cuda_kernel_count(const hs_cuda *sorter);

/* Release a sorter; null does nothing.  Sorts that are still running continue.  No other thread may use the sorter at
 * the same time. */
void hs_cuda_release(hs_cuda *sorter);

/* The sort for which a sorter was created, for hs_describe, hs_pad and hs_scratch.  Any thread. */
const hs_sort *hs_cuda_sort_of(const hs_cuda *sorter);

/* Calls.  Set unused members to 0.  Pointers are to device memory. */

/* Every call is enqueued on `stream` of the sorter's device, which must be the current device.  A call returns at once.
 * Any thread. */

/* HSGEN_CALLS */

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves.  Of the sorts of these targets that run on
 * the current device, the result is the one that suits the device best; null if there is none.  A failed query is an
 * error.  A kernel that was not compiled for the device is no error: its sort is skipped.  Any thread. */
hs_status hs_cuda_match(const hs_cuda_target *const *targets, size_t count, const char *key, const char *value,
                        const hs_cuda_kernels **sort);

/* hs_cuda_match for sorts of `kind` instead of HS_SORT. */
hs_status hs_cuda_match_kind(const hs_cuda_target *const *targets, size_t count, hs_kind kind, const char *key,
                             const char *value, const hs_cuda_kernels **sort);

/* Writes the reasons why a match of these arguments returned null to `text`, a buffer of `room` bytes: a line for each
 * target, as from hs_explain.  Any thread. */
hs_status hs_cuda_explain(const hs_cuda_target *const *targets, size_t count, hs_kind kind, const char *key,
                          const char *value, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
