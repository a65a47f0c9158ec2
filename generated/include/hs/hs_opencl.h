/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Sorting with OpenCL 1.2 and later.  The includer chooses CL_TARGET_OPENCL_VERSION, 120 or more, or leaves it out. */
#ifndef HS_OPENCL_H
#define HS_OPENCL_H

#include "hs/hs.h"

#if defined(__APPLE__)
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A sort or another operation, built for one device.
 *
 * THREADS: "any thread" means that concurrent calls are allowed, also with the same sorter. Only one thread at a time
 * may enqueue with a sorter, because OpenCL kernels keep their arguments. Make a sorter for each thread, or hold a lock
 * around each call. If the compiler has atomic exchanges, a second concurrent call returns HS_ERROR_BUSY and does
 * nothing; compile hs_opencl.c with HS_CHECK_THREADS defined as 0 to omit the check. */
typedef struct hs_opencl hs_opencl;

/* Details of an error: the code of OpenCL, and the start of the compiler's log. */
typedef struct hs_opencl_error {
    cl_int code;
    char log[1024];
} hs_opencl_error;

/* Options for the creation of a sorter.  All members 0 have the same effect as hs_opencl_create. */
typedef struct hs_opencl_create_options {
    hs_scope scope;      /* the calls for which the sorter is created */
    const void *binary;  /* a result of hs_opencl_binary, possibly from another process; null: the source is compiled */
    size_t binary_bytes;
} hs_opencl_create_options;

/* Build all kernels that any call of a sort may need.  The caller keeps the context and the device alive until
 * hs_opencl_release.  `error` may be null.  Any thread. */
hs_status hs_opencl_create(const hs_sort *sort, cl_context context, cl_device_id device, hs_opencl **sorter,
                           hs_opencl_error *error);

/* hs_opencl_create with options, which may be null.  Only the kernels of the scope are compiled.  A binary that is
 * damaged, or of another sort, scope, device or driver version, is ignored, and the source is compiled instead.  A
 * driver trusts the content of a binary: load it only from a place where no one else can write.  Any thread. */
hs_status hs_opencl_create_with(const hs_sort *sort, cl_context context, cl_device_id device,
                                const hs_opencl_create_options *options, hs_opencl **sorter, hs_opencl_error *error);

/* The compiled program of a sorter, for `binary` of hs_opencl_create_options.  `bytes` gets its size.  `data` is null
 * or a buffer of `room` bytes; HS_ERROR_COUNT if the program does not fit in the buffer.  Any thread. */
hs_status hs_opencl_binary(const hs_opencl *sorter, void *data, size_t room, size_t *bytes, hs_opencl_error *error);

/* 1 if a sorter was created from a binary, 0 if it was compiled.  Any thread. */
int hs_opencl_from_binary(const hs_opencl *sorter);

/* The number of kernels that a sorter has.  Any thread. */
uint32_t hs_opencl_kernel_count(const hs_opencl *sorter);

/* Release a sorter; null does nothing.  Sorts that are running continue.  No other thread may use the sorter at the
 * same time. */
void hs_opencl_release(hs_opencl *sorter);

/* The sort for which a sorter was created, for hs_describe, hs_pad and hs_scratch.  Any thread. */
const hs_sort *hs_opencl_sort_of(const hs_opencl *sorter);

/* Calls.  Set unused members to 0.  All buffers are buffers or sub-buffers; none that is written overlaps
 * another.  `scratch` has at least the bytes of hs_scratch_with, and is null where these are 0.
 *
 * A call is enqueued on an in-order or out-of-order queue, and returns at once. One thread at a time for a sorter, else
 * HS_ERROR_BUSY. After an error nothing more is enqueued, and keys of the destination may be in any order. */

/* A sort of n keys. */
typedef struct hs_opencl_sort_args {
    uint64_t n;                          /* keys; with `count` the capacity, below 2^30 */
    uint64_t shift;                      /* low bits of keys that the stage after the sort ignores */
    hs_options options;                  /* type, order, bits */
    cl_mem source;                       /* written only if it is also the destination */
    cl_mem destination;                  /* null: sort in place, or the keys are discarded */
    cl_mem scratch;
    cl_mem values;                       /* the value of each key, for sorts with values */
    cl_mem values_destination;           /* null: in place, like the keys; required if indices are made */
    cl_mem count;                        /* the device-side count, 32 bits, at most n counts; null: n keys */
    cl_mem report;                       /* output of the stage after the sort, such as run boundaries */
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_sort_args;

hs_status hs_opencl_sort(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_sort_args *args, hs_opencl_error *error);

/* The prefix sums of each column of a table of n rows (HS_SCAN). */
typedef struct hs_opencl_scan_args {
    uint64_t n;                          /* rows */
    hs_options options;                  /* type: integers, whose sums wrap, or 32-bit floats */
    cl_mem source;                       /* written only if it is also the destination */
    cl_mem destination;                  /* null: in place */
    cl_mem scratch;
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_scan_args;

hs_status hs_opencl_scan(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_scan_args *args, hs_opencl_error *error);

/* A sort of each segment of n keys (HS_SEGMENTED_SORT).  Segment i begins at offsets[i] and ends at offsets[i + 1],
 * or at ends[i] in a sort with --feature segment-ends.  If offsets decrease or exceed n, or a segment begins before
 * the end of the one before it, nothing is written, and hs_device_status reports it. */
typedef struct hs_opencl_segmented_sort_args {
    uint64_t n;                          /* keys of all segments */
    uint64_t segment_count;
    hs_options options;                  /* type and order */
    cl_mem source;                       /* written only if it is also the destination */
    cl_mem destination;                  /* null: sort in place */
    cl_mem scratch;
    cl_mem offsets;                      /* segment_count + 1 32-bit numbers; null: segments are rows of equal length */
    cl_mem ends;                         /* segment_count of them, and of offsets; null unless segments have ends */
    /* 32 bits: the number of segments, at most segment_count counts; null: segment_count */
    cl_mem count;
    cl_mem values;                       /* the value of each key, for sorts with values */
    cl_mem values_destination;           /* null: in place, like the keys; required if indices are made */
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_segmented_sort_args;

hs_status hs_opencl_segmented_sort(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_segmented_sort_args *args, hs_opencl_error *error);

/* A merge of two sorted arrays (HS_MERGE). */
typedef struct hs_opencl_merge_args {
    uint64_t n;                          /* keys of both arrays */
    uint64_t first_count;                /* keys of the first array */
    hs_options options;                  /* type and order */
    cl_mem first;
    cl_mem second;
    cl_mem destination;
    cl_mem scratch;
    cl_mem first_values;                 /* the value of each key, for merges with values */
    cl_mem second_values;
    cl_mem values_destination;
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_merge_args;

hs_status hs_opencl_merge(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_merge_args *args, hs_opencl_error *error);

/* A digest of n keys, and of the memory after them (HS_DIGEST); hs_digest_compare compares two. */
typedef struct hs_opencl_digest_args {
    uint64_t n;                          /* keys */
    uint64_t capacity;                   /* keys from n up to here are memory after them; 0 to n: none */
    hs_options options;                  /* type, order, bits */
    cl_mem source;
    cl_mem values;                       /* the value of each key, for digests with values */
    cl_mem digest;                       /* 8 32-bit words */
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_digest_args;

hs_status hs_opencl_digest(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_digest_args *args, hs_opencl_error *error);

/* The first k keys of each of row_count rows (HS_TOP_K), in the order of the options: descending, the k greatest.
 * Equal keys are in the order of their indices.  Up to the `block` keys of the sort they are sorted; beyond, they
 * are in the order of the row.  A row with fewer than k keys to take ends with the last key of the order, and values
 * with all bits set: index 0xffffffff. */
typedef struct hs_opencl_top_k_args {
    uint64_t n;                          /* keys of all rows */
    uint64_t row_count;                  /* rows of n / row_count keys */
    uint64_t k;                          /* keys to take of each row, at least 1 */
    hs_options options;                  /* type and order */
    cl_mem source;
    cl_mem destination;                  /* k keys of each row */
    cl_mem scratch;
    /* the length of each row, at most n / row_count counts (--feature row-lengths); else null */
    cl_mem lengths;
    cl_mem starts;                       /* the index of the first key of each row (--feature row-starts); else null */
    /* the number of keys to take of each row, at most k counts (--feature row-takes); else null */
    cl_mem takes;
    /* 32 bits: the number of rows, at most row_count counts (--feature row-count); else null */
    cl_mem count;
    /* the index of the first value of each row (--feature value-starts); else null: that of the key */
    cl_mem value_starts;
    cl_mem values;                       /* the value of each key, for selections with values */
    cl_mem values_destination;           /* k values of each row, or the indices of the keys in their row */
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_top_k_args;

hs_status hs_opencl_top_k(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_top_k_args *args, hs_opencl_error *error);

/* The runs of equal adjacent keys (HS_REDUCE_BY_KEY), in their order: of sorted keys, the groups of all equal keys.
 * Keys are equal if their bits are.  All outputs have room for n elements; `group_count` gets how many were written. */
typedef struct hs_opencl_reduce_by_key_args {
    uint64_t n;                          /* keys; with `count` the capacity, below 2^30 */
    hs_reduction reduction;              /* of the values of a run */
    hs_type value_type;                  /* HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32 */
    cl_mem keys;
    cl_mem values;                       /* the value of each key, for reductions with values (--value v4) */
    cl_mem count;                        /* the device-side count, 32 bits, at most n counts; null: n keys */
    cl_mem group_count;                  /* a 32-bit number: the runs */
    cl_mem group_keys;                   /* the key of each run */
    cl_mem group_values;                 /* the reduction of the values of each run, for reductions with values */
    cl_mem counts;                       /* a 32-bit number for each run: its keys; null: not stored */
    cl_mem first_indices;                /* the same: the index of its first key; null: not stored */
    cl_mem scratch;
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_reduce_by_key_args;

hs_status hs_opencl_reduce_by_key(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_reduce_by_key_args *args, hs_opencl_error *error);

/* A gather (HS_GATHER): item i of the destination is item index[i] of the source.  An item whose index is not less
 * than source_count is not written.  item_bytes is a multiple of the value_bytes of the sort: 4, 8 or 16. */
typedef struct hs_opencl_gather_args {
    uint64_t n;                          /* indices */
    uint64_t source_count;               /* items of the source */
    uint64_t item_bytes;                 /* bytes of an item */
    cl_mem index;                        /* n 32-bit numbers */
    cl_mem source;
    cl_mem destination;                  /* n items */
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_gather_args;

hs_status hs_opencl_gather(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_gather_args *args, hs_opencl_error *error);

/* A pack (HS_PACK) of the columns of each of n rows into a key, the first column on top: bits begin_bit and above of
 * the ordered bits of all columns, as many as the key has.  Columns of together up to 16 bytes; each is read in
 * whole 32-bit words, for which its buffer has room.  Columns may be fields of the same records. */
typedef struct hs_opencl_pack_args {
    uint64_t n;                          /* rows */
    uint64_t column_count;               /* 1 to HS_COLUMNS */
    hs_column columns[HS_COLUMNS];       /* types and orders */
    uint32_t begin_bit;                  /* a multiple of 32 */
    cl_mem keys[HS_COLUMNS];             /* the columns; null from column_count on */
    cl_mem destination;                  /* n keys */
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
    hs_field fields[HS_COLUMNS];         /* where their items are in `keys`, as records; 0: arrays */
} hs_opencl_pack_args;

hs_status hs_opencl_pack(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_pack_args *args, hs_opencl_error *error);

/* The groups of equal keys of an array in any order (HS_GROUP_BY): a stable sort by key and a reduction by key in
 * one call.  Groups are in the order of their keys, which are equal if their bits are.  Never in place.  All outputs
 * have room for n elements; `group_count` gets how many were written. */
typedef struct hs_opencl_group_by_args {
    uint64_t n;                          /* keys */
    hs_options options;                  /* type of the keys, order of the groups */
    hs_reduction reduction;              /* of the values of a group */
    hs_type value_type;                  /* HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32 */
    cl_mem keys;
    cl_mem values;                       /* the value of each key, for operations with values (--value v4) */
    cl_mem group_count;                  /* a 32-bit number: the groups */
    cl_mem group_keys;                   /* the key of each group */
    cl_mem group_values;                 /* the reduction of the values of each group, for operations with values */
    cl_mem counts;                       /* a 32-bit number for each group: its keys; null: not stored */
    /* the same: the index of its first key in the sorted array; null: not stored */
    cl_mem first_indices;
    cl_mem scratch;
    cl_uint wait_count;                  /* events to wait for */
    const cl_event *wait;
    /* if not null: the event of completion, also for n = 0, which the caller releases */
    cl_event *event;
} hs_opencl_group_by_args;

hs_status hs_opencl_group_by(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_group_by_args *args, hs_opencl_error *error);

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves.  Of the sorts of these targets that the
 * device can run, the result is the one that suits the device best; null if there is none.  A query or an allocation
 * that fails is an error.  Any thread. */
hs_status hs_opencl_match(const hs_target *const *targets, size_t count, const char *key, const char *value,
                          cl_device_id device, const hs_sort **sort);

/* hs_opencl_match for sorts of `kind` instead of HS_SORT. */
hs_status hs_opencl_match_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, cl_device_id device, const hs_sort **sort);

/* Writes the reasons why a match of these arguments returned null to `text`, a buffer of `room` bytes: a line for each
 * target, as from hs_explain.  Any thread. */
hs_status hs_opencl_explain(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                            const char *value, cl_device_id device, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
