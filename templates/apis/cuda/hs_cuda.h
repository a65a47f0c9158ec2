/* Sorting with CUDA: enqueues on the caller's stream, can be captured into a graph, waits for nothing. */
#ifndef HS_CUDA_H
#define HS_CUDA_H

#include "hs/hs.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its kernels, defined by a target's .cu file. */
typedef struct hs_cuda_kernels {
    const hs_sort *sort;
    const void *const *kernels; /* in the order of the sort's */
} hs_cuda_kernels;

typedef struct hs_cuda_target {
    const hs_target *target;
    const hs_cuda_kernels *const *sorts; /* in the order of the target's */
} hs_cuda_target;

/* A sort or scan made ready for one device.
 *
 * THREADS: launching only reads it, so threads may share it, each with the sorter's device as its current one.  All
 * other functions may be called by any thread, but for hs_cuda_release while another uses the sorter. */
typedef struct hs_cuda hs_cuda;

/* Make a sort ready for the current device.  `error`, if not null, gets the API's own code. */
hs_status hs_cuda_create(const hs_cuda_kernels *sort, hs_cuda **sorter, cudaError_t *error);

/* Release a sorter; null does nothing.  Sorts that are still running go on. */
void hs_cuda_release(hs_cuda *sorter);

/* The sort that a sorter was made of, for hs_describe, hs_pad and hs_scratch. */
const hs_sort *hs_cuda_sort_of(const hs_cuda *sorter);

/* One sort, or whatever else its kind does.  Set what is not needed to 0.  Pointers are to device memory. */
typedef struct hs_cuda_args {
    uint64_t n;            /* keys, or rows; with `count` the most that there can be, below 2^30 */
    hs_options options;    /* type, order, bits; a scan has none */
    const void *source;    /* never written unless it is the destination too */
    void *destination;     /* null: sort in place, source is then written, or the keys are discarded */
    void *scratch;         /* at least hs_scratch_with bytes, aligned to 256 as cudaMalloc does; null where that is 0 */
    const void *values;    /* the value of each key, for sorts that have such; written where sorted in place */
    void *values_destination; /* null: in place as the keys are; always given where indices are made */
    const uint32_t *count; /* the count, at most n counts; null: n keys */
    size_t scratch_bytes;
    size_t source_bytes, destination_bytes; /* what the buffers hold; 0: not checked */
    size_t values_bytes, values_destination_bytes;
    const void *other;     /* offsets of segments (null: they are of equal length), or the second array of a merge */
    const void *other_values; /* the values of its keys */
    uint32_t *report;      /* what a check says, or where sorted keys change */
    size_t other_bytes, other_values_bytes, report_bytes;
    uint64_t parts;        /* of segments, of keys of the first array, of keys to look at; or a shift of keys */
} hs_cuda_args;

/* Enqueue a sort on `stream` of the sorter's device, which must be the current one; returns at once. */
hs_status hs_cuda_sort(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_args *args, cudaError_t *error);

/* The same for a scan (HS_SCAN): the prefix sums of each column of a table of n rows. */
hs_status hs_cuda_scan(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_args *args, cudaError_t *error);

/* The same for HS_SEGMENTS: each of `parts` segments of n keys is sorted by itself.  Segment i begins at other[i] and
 * ends at other[i + 1].  Where offsets decrease or run past n nothing is written, and hs_outcome says so. */
hs_status hs_cuda_segments(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_args *args, cudaError_t *error);

/* The same for HS_MERGE: `parts` keys of source and n - parts of other, both in order, go to destination in order. */
hs_status hs_cuda_merge(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_args *args, cudaError_t *error);

/* The same for HS_CHECK: 8 words about n keys of source, and about those from n to `parts`, go to report. */
hs_status hs_cuda_check(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_args *args, cudaError_t *error);

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves, among these targets that suits the current
 * device best and runs on it; null if none.  A query that fails is an error, but not that a kernel was not compiled for
 * the device: its sort is passed over. */
hs_status hs_cuda_match(const hs_cuda_target *const *targets, size_t count, const char *key, const char *value,
                        const hs_cuda_kernels **sort);

/* The same for any kind. */
hs_status hs_cuda_match_kind(const hs_cuda_target *const *targets, size_t count, hs_kind kind, const char *key,
                             const char *value, const hs_cuda_kernels **sort);

#ifdef __cplusplus
}
#endif
#endif
