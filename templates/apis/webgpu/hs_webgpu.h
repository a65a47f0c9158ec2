/* Sorting with WebGPU: records into the caller's command encoder.  For the webgpu.h that wgpu-native and Dawn share, since
 * it has WGPUStringView; nothing of either implementation alone is needed. */
#ifndef HS_WEBGPU_H
#define HS_WEBGPU_H

#include "hs/hs.h"

#ifndef WEBGPU_H_ /* a program may include it by another path before */
#include <webgpu/webgpu.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its text in WGSL, line by line, defined by a target's C file. */
typedef struct hs_webgpu_kernels {
    const hs_sort *sort;
    const char *const *lines;
    size_t line_count;
} hs_webgpu_kernels;

typedef struct hs_webgpu_target {
    const hs_target *target;
    const hs_webgpu_kernels *const *sorts; /* in the order of the target's */
} hs_webgpu_target;

/* A sort, scan or other operation built for one device, with its bind groups.
 *
 * THREADS: "any thread": concurrent calls are allowed for different sorters.  Recording changes a sorter, so that one
 * thread at a time may use it.  The implementation of WebGPU must allow several threads if several are used. */
typedef struct hs_webgpu_sorter hs_webgpu_sorter;

/* What went wrong beyond the status: the WGPUErrorType, or 0, and a sentence: what the implementation says, or which limit
 * or feature is missing.  Optional. */
typedef struct hs_webgpu_error {
    long code;
    char log[1024];
} hs_webgpu_error;

/* The device of a sorter, with the adapter, which hs_webgpu_match and sorts with subgroups need, and the instance that it comes from: while a
 * sorter is created, events of the instance are processed until the errors of shader modules and pipelines are known. */
typedef struct hs_webgpu_device {
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice device;
    uint32_t subgroup_min_size; /* the fewest lanes of a subgroup; 0: as the adapter reports it */
} hs_webgpu_device;

/* How a sorter is created; all 0: as by hs_webgpu_create. */
typedef struct hs_webgpu_create_options {
    hs_scope scope;    /* the calls that it is for */
    uint32_t deferred; /* 1: without pipelines, which hs_webgpu_create_next makes */
    /* Creates the shader module, such as one without run-time checks; null: wgpuDeviceCreateShaderModule. */
    WGPUShaderModule (*shader_module)(WGPUDevice device, const WGPUShaderModuleDescriptor *descriptor);
} hs_webgpu_create_options;

/* The numbers of calls, the buffers of steps and the alignment of buffers. */
enum {
    HS_WEBGPU_CALLS = 8,      /* a sorter keeps the arguments of that many different calls */
    HS_WEBGPU_GROUPS = 64,    /* and that many bind groups of the caller's buffers */
    HS_WEBGPU_ALIGNMENT = 256 /* bytes; offsets of buffers are multiples of it */
};

/* Compile the kernels of a sort and make their pipelines, for all of its calls.  HS_ERROR_DEVICE if the device lacks a
 * limit or feature, which `error` names; it may be null.  Any thread. */
hs_status hs_webgpu_create(const hs_webgpu_kernels *sort, const hs_webgpu_device *device, hs_webgpu_sorter **sorter,
                           hs_webgpu_error *error);

/* The same with options, which may be null.  Only the pipelines of the scope are made.  Any thread. */
hs_status hs_webgpu_create_with(const hs_webgpu_kernels *sort, const hs_webgpu_device *device,
                                const hs_webgpu_create_options *options, hs_webgpu_sorter **sorter, hs_webgpu_error *error);

/* Make the next pipeline of a deferred sorter; `left`, if not null, gets the number that are still missing.  Calls get
 * HS_ERROR_SCOPE until it is 0.  One thread at a time for a sorter. */
hs_status hs_webgpu_create_next(hs_webgpu_sorter *sorter, uint32_t *left, hs_webgpu_error *error);

/* The number of pipelines that a sorter has when it is complete.  Any thread. */
uint32_t hs_webgpu_pipeline_count(const hs_webgpu_sorter *sorter);

/* Release the bind groups of a sorter, and with them the callers' buffers that they keep alive.  One thread at a time. */
void hs_webgpu_forget(hs_webgpu_sorter *sorter);

/* Release a sorter; null does nothing.  Command buffers keep what they use.  While no other thread uses the sorter. */
void hs_webgpu_release(hs_webgpu_sorter *sorter);

/* The sort of a sorter, for hs_describe and hs_pad.  Any thread. */
const hs_sort *hs_webgpu_sort_of(const hs_webgpu_sorter *sorter);

/* The bytes of scratch that a call for n keys with these options, which may be null, needs; `in_place`: without a
 * destination.  It is more than hs_scratch_with returns in place: WebGPU forbids that a kernel has a buffer twice, so that
 * the keys and values are copied to scratch first.  Any thread. */
hs_status hs_webgpu_scratch(const hs_sort *sort, uint64_t n, const hs_options *options, int in_place, uint64_t *bytes);

/* A buffer from `offset` on, in bytes, a multiple of HS_WEBGPU_ALIGNMENT; `buffer` null: none.  It has room for whole
 * 32-bit words: keys and values of 1 or 2 bytes may be followed by up to 3 bytes that are not changed. */
typedef struct hs_webgpu_buffer {
    WGPUBuffer buffer;
    uint64_t offset;
} hs_webgpu_buffer;

/* Calls.  Set unused members to 0.  The caller keeps the buffers.  Every buffer has WGPUBufferUsage_Storage; scratch also
 * CopySrc with `count`, and in place the keys and values also CopySrc and scratch CopyDst. */

/* Calls are recorded into a command encoder that has no open pass: compute passes, and copies where a call is in place or
 * has a device-side count.  WebGPU orders them with what is recorded before and after.  Arguments are checked before
 * anything is recorded.  Nothing waits for the device.  Nothing is allocated when a call repeats one of the last
 * HS_WEBGPU_CALLS by its numbers and uses the same buffers; otherwise small objects are made.  `error` may be null.  One
 * thread at a time for a sorter; others get HS_ERROR_BUSY. */

/* A sort of n keys. */
typedef struct hs_webgpu_sort_args {
    uint64_t n;                          /* keys; with `count` the capacity, below 2^30 */
    uint64_t shift;                      /* low bits of keys that the stage after the sort ignores */
    hs_options options;                  /* type, order, bits */
    hs_webgpu_buffer source;              /* written only if it is also the destination */
    hs_webgpu_buffer destination;         /* null: sort in place, or the keys are discarded */
    /* at least hs_webgpu_scratch bytes; null where that is 0 */
    hs_webgpu_buffer scratch;
    hs_webgpu_buffer values;              /* the value of each key, for sorts with values */
    hs_webgpu_buffer values_destination;  /* null: in place, like the keys; required if indices are made */
    hs_webgpu_buffer count;               /* the device-side count, 32 bits, at most n counts; null: n keys */
    /* output of the stage after the sort, such as run boundaries */
    hs_webgpu_buffer report;
} hs_webgpu_sort_args;

hs_status hs_webgpu_sort(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_sort_args *args,
                         hs_webgpu_error *error);

/* The prefix sums of each column of a table of n rows (HS_SCAN). */
typedef struct hs_webgpu_scan_args {
    uint64_t n;                          /* rows */
    hs_options options;                  /* type: integers, whose sums wrap, or 32-bit floats */
    hs_webgpu_buffer source;              /* written only if it is also the destination */
    hs_webgpu_buffer destination;         /* null: in place */
    /* at least hs_webgpu_scratch bytes; null where that is 0 */
    hs_webgpu_buffer scratch;
} hs_webgpu_scan_args;

hs_status hs_webgpu_scan(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_scan_args *args,
                         hs_webgpu_error *error);

/* A sort of each segment of n keys (HS_SEGMENTED_SORT).  Segment i begins at offsets[i] and ends at offsets[i + 1],
 * or at ends[i] in a sort with --feature segment-ends.  If offsets decrease or exceed n, or a segment begins before the
 * end of the one before it, nothing is written, and hs_device_status reports it. */
typedef struct hs_webgpu_segmented_sort_args {
    uint64_t n;                          /* keys of all segments */
    uint64_t segment_count;
    hs_options options;                  /* type and order */
    hs_webgpu_buffer source;              /* written only if it is also the destination */
    hs_webgpu_buffer destination;         /* null: sort in place */
    /* at least hs_webgpu_scratch bytes; null where that is 0 */
    hs_webgpu_buffer scratch;
    hs_webgpu_buffer offsets;             /* segment_count + 1 32-bit numbers; null: segments are rows of equal length */
    hs_webgpu_buffer ends;                /* segment_count of them, and of offsets; null unless segments have ends */
    hs_webgpu_buffer count;               /* 32 bits: the number of segments, at most segment_count counts; null: segment_count */
    hs_webgpu_buffer values;              /* the value of each key, for sorts with values */
    hs_webgpu_buffer values_destination;  /* null: in place, like the keys; required if indices are made */
} hs_webgpu_segmented_sort_args;

hs_status hs_webgpu_segmented_sort(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder,
                                   const hs_webgpu_segmented_sort_args *args, hs_webgpu_error *error);

/* A merge of two sorted arrays (HS_MERGE). */
typedef struct hs_webgpu_merge_args {
    uint64_t n;                          /* keys of both arrays */
    uint64_t first_count;                /* keys of the first array */
    hs_options options;                  /* type and order */
    hs_webgpu_buffer first;
    hs_webgpu_buffer second;
    hs_webgpu_buffer destination;
    /* at least hs_webgpu_scratch bytes; null where that is 0 */
    hs_webgpu_buffer scratch;
    hs_webgpu_buffer first_values;        /* the value of each key, for merges with values */
    hs_webgpu_buffer second_values;
    hs_webgpu_buffer values_destination;
} hs_webgpu_merge_args;

hs_status hs_webgpu_merge(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_merge_args *args,
                          hs_webgpu_error *error);

/* A digest of n keys, and of the memory after them (HS_DIGEST); hs_digest_compare compares two. */
typedef struct hs_webgpu_digest_args {
    uint64_t n;                          /* keys */
    uint64_t capacity;                   /* keys from n up to here are memory after them; 0 to n: none */
    hs_options options;                  /* type, order, bits */
    hs_webgpu_buffer source;
    hs_webgpu_buffer values;              /* the value of each key, for digests with values */
    hs_webgpu_buffer digest;              /* 8 32-bit words */
} hs_webgpu_digest_args;

hs_status hs_webgpu_digest(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_digest_args *args,
                           hs_webgpu_error *error);

/* The first k keys of each of row_count rows (HS_TOP_K), in the order of the options: descending, the k greatest.  Equal
 * keys are in the order of their indices.  Up to the `block` keys of the sort they are sorted; beyond, they are in the order
 * of the row. */
typedef struct hs_webgpu_top_k_args {
    uint64_t n;                          /* keys of all rows */
    uint64_t row_count;                  /* rows of n / row_count keys */
    uint64_t k;                          /* keys to take of each row, at least 1 */
    hs_options options;                  /* type and order */
    hs_webgpu_buffer source;
    hs_webgpu_buffer destination;         /* k keys of each row */
    /* at least hs_webgpu_scratch bytes; null where that is 0 */
    hs_webgpu_buffer scratch;
    hs_webgpu_buffer values;              /* the value of each key, for selections with values */
    hs_webgpu_buffer values_destination;  /* k values of each row, or the indices of the keys in their row */
} hs_webgpu_top_k_args;

hs_status hs_webgpu_top_k(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_top_k_args *args,
                          hs_webgpu_error *error);

/* The runs of equal adjacent keys (HS_REDUCE_BY_KEY), in their order: of sorted keys, the groups of all equal keys.  Keys are
 * equal if their bits are.  All outputs have room for n elements; `group_count` gets how many were written. */
typedef struct hs_webgpu_reduce_by_key_args {
    uint64_t n;                          /* keys; with `count` the capacity, below 2^30 */
    hs_reduction reduction;              /* of the values of a run */
    hs_type value_type;                  /* HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32 */
    hs_webgpu_buffer keys;
    hs_webgpu_buffer values;              /* the value of each key, for reductions with values (--value v4) */
    hs_webgpu_buffer count;               /* the device-side count, 32 bits, at most n counts; null: n keys */
    hs_webgpu_buffer group_count;         /* a 32-bit number: the runs */
    hs_webgpu_buffer group_keys;          /* the key of each run */
    hs_webgpu_buffer group_values;        /* the reduction of the values of each run, for reductions with values */
    hs_webgpu_buffer counts;              /* a 32-bit number for each run: its keys; null: not stored */
    hs_webgpu_buffer first_indices;       /* the same: the index of its first key; null: not stored */
    /* at least hs_webgpu_scratch bytes; null where that is 0 */
    hs_webgpu_buffer scratch;
} hs_webgpu_reduce_by_key_args;

hs_status hs_webgpu_reduce_by_key(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_reduce_by_key_args *args,
                                  hs_webgpu_error *error);

/* The groups of equal keys of an array in any order (HS_GROUP_BY): a stable sort by key and a reduction by key in one call.
 * Groups are in the order of their keys, which are equal if their bits are.  Never in place.  All outputs have room for n
 * elements; `group_count` gets how many were written. */
typedef struct hs_webgpu_group_by_args {
    uint64_t n;                          /* keys */
    hs_options options;                  /* type of the keys, order of the groups */
    hs_reduction reduction;              /* of the values of a group */
    hs_type value_type;                  /* HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32 */
    hs_webgpu_buffer keys;
    hs_webgpu_buffer values;              /* the value of each key, for operations with values (--value v4) */
    hs_webgpu_buffer group_count;         /* a 32-bit number: the groups */
    hs_webgpu_buffer group_keys;          /* the key of each group */
    hs_webgpu_buffer group_values;        /* the reduction of the values of each group, for operations with values */
    hs_webgpu_buffer counts;              /* a 32-bit number for each group: its keys; null: not stored */
    hs_webgpu_buffer first_indices;       /* the same: the index of its first key in the sorted array; null: not stored */
    /* at least hs_webgpu_scratch bytes; null where that is 0 */
    hs_webgpu_buffer scratch;
} hs_webgpu_group_by_args;

hs_status hs_webgpu_group_by(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_group_by_args *args,
                             hs_webgpu_error *error);

/* A gather (HS_GATHER): item i of the destination is item index[i] of the source.  An item whose index is not less than
 * source_count is not written.  item_bytes is a multiple of the value_bytes of the sort: 4, 8 or 16. */
typedef struct hs_webgpu_gather_args {
    uint64_t n;                          /* indices */
    uint64_t source_count;               /* items of the source */
    uint64_t item_bytes;                 /* bytes of an item */
    hs_webgpu_buffer index;               /* n 32-bit numbers */
    hs_webgpu_buffer source;
    hs_webgpu_buffer destination;         /* n items */
} hs_webgpu_gather_args;

hs_status hs_webgpu_gather(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_gather_args *args,
                           hs_webgpu_error *error);

/* A pack (HS_PACK) of the columns of each of n rows into a key, the first column on top: bits begin_bit and above of the
 * ordered bits of all columns, as many as the key has.  Columns of together up to 16 bytes; each is read in whole 32-bit
 * words, for which its buffer has room.  Columns may be fields of the same records;
 * `destination` is in another WGPUBuffer. */
typedef struct hs_webgpu_pack_args {
    uint64_t n;                           /* rows */
    uint64_t column_count;                /* 1 to HS_COLUMNS */
    hs_column columns[HS_COLUMNS];        /* types and orders */
    hs_webgpu_buffer keys[HS_COLUMNS];    /* the columns; null from column_count on */
    uint32_t begin_bit;                   /* a multiple of 32 */
    hs_webgpu_buffer destination;         /* n keys */
    hs_field fields[HS_COLUMNS];          /* where their items are in `keys`, as records; 0: arrays */
} hs_webgpu_pack_args;

hs_status hs_webgpu_pack(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_pack_args *args,
                         hs_webgpu_error *error);

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves, among these targets that suits the device
 * best and that its limits and features allow; null if none.  Only adapter and device of `device` are read; before there
 * is a device, what the adapter offers counts.  Any thread. */
hs_status hs_webgpu_match(const hs_webgpu_target *const *targets, size_t count, const char *key, const char *value,
                          const hs_webgpu_device *device, const hs_webgpu_kernels **sort);

/* The same for any kind. */
hs_status hs_webgpu_match_kind(const hs_webgpu_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, const hs_webgpu_device *device,
                               const hs_webgpu_kernels **sort);

/* Why a match of these arguments found nothing: a line for each target, as by hs_explain, in the `room` bytes of `text`.
 * Any thread. */
hs_status hs_webgpu_explain(const hs_webgpu_target *const *targets, size_t count, hs_kind kind, const char *key,
                            const char *value, const hs_webgpu_device *device, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
