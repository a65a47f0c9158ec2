/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
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

/* A sort of n keys. */
typedef struct hs_cuda_sort_args {
    uint64_t n;                          /* keys; with `count` the capacity, below 2^30 */
    uint64_t shift;                      /* low bits of keys that the stage after the sort ignores */
    hs_options options;                  /* type, order, bits */
    const void *source;                  /* written only if it is also the destination */
    void *destination;                   /* null: sort in place, or the keys are discarded */
    /* at least hs_scratch_with bytes, aligned to 256 as cudaMalloc does; null where that is 0 */
    void *scratch;
    const void *values;                  /* the value of each key, for sorts with values */
    void *values_destination;            /* null: in place, like the keys; required if indices are made */
    const uint32_t *count;               /* the device-side count, 32 bits, at most n counts; null: n keys */
    uint32_t *report;                    /* output of the stage after the sort, such as run boundaries */
    size_t source_bytes;                 /* what it holds; 0: not checked */
    size_t destination_bytes;
    size_t scratch_bytes;                /* what it holds */
    size_t values_bytes;
    size_t values_destination_bytes;
    size_t report_bytes;
} hs_cuda_sort_args;

hs_status hs_cuda_sort(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_sort_args *args, cudaError_t *error);

/* The prefix sums of each column of a table of n rows (HS_SCAN). */
typedef struct hs_cuda_scan_args {
    uint64_t n;                          /* rows */
    hs_options options;                  /* type: integers, whose sums wrap, or 32-bit floats */
    const void *source;                  /* written only if it is also the destination */
    void *destination;                   /* null: in place */
    /* at least hs_scratch_with bytes, aligned to 256 as cudaMalloc does; null where that is 0 */
    void *scratch;
    size_t source_bytes;                 /* what it holds; 0: not checked */
    size_t destination_bytes;
    size_t scratch_bytes;                /* what it holds */
} hs_cuda_scan_args;

hs_status hs_cuda_scan(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_scan_args *args, cudaError_t *error);

/* A sort of each segment of n keys (HS_SEGMENTED_SORT).  Segment i begins at offsets[i] and ends at offsets[i + 1],
 * or at ends[i] in a sort with --feature segment-ends.  If offsets decrease or exceed n, or a segment begins before
 * the end of the one before it, nothing is written, and hs_device_status reports it. */
typedef struct hs_cuda_segmented_sort_args {
    uint64_t n;                          /* keys of all segments */
    uint64_t segment_count;
    hs_options options;                  /* type and order */
    const void *source;                  /* written only if it is also the destination */
    void *destination;                   /* null: sort in place */
    /* at least hs_scratch_with bytes, aligned to 256 as cudaMalloc does; null where that is 0 */
    void *scratch;
    const uint32_t *offsets;             /* segment_count + 1 32-bit numbers; null: segments are rows of equal length */
    const uint32_t *ends;                /* segment_count of them, and of offsets; null unless segments have ends */
    /* 32 bits: the number of segments, at most segment_count counts; null: segment_count */
    const uint32_t *count;
    const void *values;                  /* the value of each key, for sorts with values */
    void *values_destination;            /* null: in place, like the keys; required if indices are made */
    size_t source_bytes;                 /* what it holds; 0: not checked */
    size_t destination_bytes;
    size_t scratch_bytes;                /* what it holds */
    size_t offsets_bytes;
    size_t ends_bytes;
    size_t values_bytes;
    size_t values_destination_bytes;
} hs_cuda_segmented_sort_args;

hs_status hs_cuda_segmented_sort(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_segmented_sort_args *args, cudaError_t *error);

/* A merge of two sorted arrays (HS_MERGE). */
typedef struct hs_cuda_merge_args {
    uint64_t n;                          /* keys of both arrays */
    uint64_t first_count;                /* keys of the first array */
    hs_options options;                  /* type and order */
    const void *first;
    const void *second;
    void *destination;
    /* at least hs_scratch_with bytes, aligned to 256 as cudaMalloc does; null where that is 0 */
    void *scratch;
    const void *first_values;            /* the value of each key, for merges with values */
    const void *second_values;
    void *values_destination;
    size_t first_bytes;                  /* what it holds; 0: not checked */
    size_t second_bytes;
    size_t destination_bytes;
    size_t scratch_bytes;                /* what it holds */
    size_t first_values_bytes;
    size_t second_values_bytes;
    size_t values_destination_bytes;
} hs_cuda_merge_args;

hs_status hs_cuda_merge(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_merge_args *args, cudaError_t *error);

/* A digest of n keys, and of the memory after them (HS_DIGEST); hs_digest_compare compares two. */
typedef struct hs_cuda_digest_args {
    uint64_t n;                          /* keys */
    uint64_t capacity;                   /* keys from n up to here are memory after them; 0 to n: none */
    hs_options options;                  /* type, order, bits */
    const void *source;
    const void *values;                  /* the value of each key, for digests with values */
    uint32_t *digest;                    /* 8 32-bit words */
    size_t source_bytes;                 /* what it holds; 0: not checked */
    size_t values_bytes;
    size_t digest_bytes;
} hs_cuda_digest_args;

hs_status hs_cuda_digest(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_digest_args *args, cudaError_t *error);

/* The first k keys of each of row_count rows (HS_TOP_K), in the order of the options: descending, the k greatest.
 * Equal keys are in the order of their indices.  Up to the `block` keys of the sort they are sorted; beyond, they
 * are in the order of the row.  A row with fewer than k keys to take ends with the last key of the order, and values
 * with all bits set: index 0xffffffff. */
typedef struct hs_cuda_top_k_args {
    uint64_t n;                          /* keys of all rows */
    uint64_t row_count;                  /* rows of n / row_count keys */
    uint64_t k;                          /* keys to take of each row, at least 1 */
    hs_options options;                  /* type and order */
    const void *source;
    void *destination;                   /* k keys of each row */
    /* at least hs_scratch_with bytes, aligned to 256 as cudaMalloc does; null where that is 0 */
    void *scratch;
    /* the length of each row, at most n / row_count counts (--feature row-lengths); else null */
    const uint32_t *lengths;
    const uint32_t *starts;              /* the index of the first key of each row (--feature row-starts); else null */
    /* the number of keys to take of each row, at most k counts (--feature row-takes); else null */
    const uint32_t *takes;
    /* 32 bits: the number of rows, at most row_count counts (--feature row-count); else null */
    const uint32_t *count;
    /* the index of the first value of each row (--feature value-starts); else null: that of the key */
    const uint32_t *value_starts;
    const void *values;                  /* the value of each key, for selections with values */
    void *values_destination;            /* k values of each row, or the indices of the keys in their row */
    size_t source_bytes;                 /* what it holds; 0: not checked */
    size_t destination_bytes;
    size_t scratch_bytes;                /* what it holds */
    size_t lengths_bytes;
    size_t starts_bytes;
    size_t takes_bytes;
    size_t value_starts_bytes;
    size_t values_bytes;
    size_t values_destination_bytes;
} hs_cuda_top_k_args;

hs_status hs_cuda_top_k(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_top_k_args *args, cudaError_t *error);

/* The runs of equal adjacent keys (HS_REDUCE_BY_KEY), in their order: of sorted keys, the groups of all equal keys.
 * Keys are equal if their bits are.  All outputs have room for n elements; `group_count` gets how many were written. */
typedef struct hs_cuda_reduce_by_key_args {
    uint64_t n;                          /* keys; with `count` the capacity, below 2^30 */
    hs_reduction reduction;              /* of the values of a run */
    hs_type value_type;                  /* HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32 */
    const void *keys;
    const void *values;                  /* the value of each key, for reductions with values (--value v4) */
    const uint32_t *count;               /* the device-side count, 32 bits, at most n counts; null: n keys */
    uint32_t *group_count;               /* a 32-bit number: the runs */
    void *group_keys;                    /* the key of each run */
    void *group_values;                  /* the reduction of the values of each run, for reductions with values */
    uint32_t *counts;                    /* a 32-bit number for each run: its keys; null: not stored */
    uint32_t *first_indices;             /* the same: the index of its first key; null: not stored */
    /* at least hs_scratch_with bytes, aligned to 256 as cudaMalloc does; null where that is 0 */
    void *scratch;
    size_t keys_bytes;                   /* what it holds; 0: not checked */
    size_t values_bytes;
    size_t group_keys_bytes;
    size_t group_values_bytes;
    size_t counts_bytes;
    size_t first_indices_bytes;
    size_t scratch_bytes;                /* what it holds */
} hs_cuda_reduce_by_key_args;

hs_status hs_cuda_reduce_by_key(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_reduce_by_key_args *args, cudaError_t *error);

/* A gather (HS_GATHER): item i of the destination is item index[i] of the source.  An item whose index is not less
 * than source_count is not written.  item_bytes is a multiple of the value_bytes of the sort: 4, 8 or 16. */
typedef struct hs_cuda_gather_args {
    uint64_t n;                          /* indices */
    uint64_t source_count;               /* items of the source */
    uint64_t item_bytes;                 /* bytes of an item */
    const uint32_t *index;               /* n 32-bit numbers */
    const void *source;
    void *destination;                   /* n items */
    size_t index_bytes;                  /* what it holds; 0: not checked */
    size_t source_bytes;
    size_t destination_bytes;
} hs_cuda_gather_args;

hs_status hs_cuda_gather(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_gather_args *args, cudaError_t *error);

/* A pack (HS_PACK) of the columns of each of n rows into a key, the first column on top: bits begin_bit and above of
 * the ordered bits of all columns, as many as the key has.  Columns of together up to 16 bytes; each is read in
 * whole 32-bit words, for which its buffer has room.  Columns may be fields of the same records. */
typedef struct hs_cuda_pack_args {
    uint64_t n;                          /* rows */
    uint64_t column_count;               /* 1 to HS_COLUMNS */
    hs_column columns[HS_COLUMNS];       /* types and orders */
    uint32_t begin_bit;                  /* a multiple of 32 */
    const void *keys[HS_COLUMNS];        /* the columns; null from column_count on */
    void *destination;                   /* n keys */
    size_t keys_bytes[HS_COLUMNS];       /* what it holds; 0: not checked */
    size_t destination_bytes;
    hs_field fields[HS_COLUMNS];         /* where their items are in `keys`, as records; 0: arrays */
} hs_cuda_pack_args;

hs_status hs_cuda_pack(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_pack_args *args, cudaError_t *error);

/* The groups of equal keys of an array in any order (HS_GROUP_BY): a stable sort by key and a reduction by key in
 * one call.  Groups are in the order of their keys, which are equal if their bits are.  Never in place.  All outputs
 * have room for n elements; `group_count` gets how many were written. */
typedef struct hs_cuda_group_by_args {
    uint64_t n;                          /* keys */
    hs_options options;                  /* type of the keys, order of the groups */
    hs_reduction reduction;              /* of the values of a group */
    hs_type value_type;                  /* HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32 */
    const void *keys;
    const void *values;                  /* the value of each key, for operations with values (--value v4) */
    uint32_t *group_count;               /* a 32-bit number: the groups */
    void *group_keys;                    /* the key of each group */
    void *group_values;                  /* the reduction of the values of each group, for operations with values */
    uint32_t *counts;                    /* a 32-bit number for each group: its keys; null: not stored */
    /* the same: the index of its first key in the sorted array; null: not stored */
    uint32_t *first_indices;
    /* at least hs_scratch_with bytes, aligned to 256 as cudaMalloc does; null where that is 0 */
    void *scratch;
    size_t keys_bytes;                   /* what it holds; 0: not checked */
    size_t values_bytes;
    size_t group_keys_bytes;
    size_t group_values_bytes;
    size_t counts_bytes;
    size_t first_indices_bytes;
    size_t scratch_bytes;                /* what it holds */
} hs_cuda_group_by_args;

hs_status hs_cuda_group_by(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_group_by_args *args, cudaError_t *error);

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
