/* Sorting with Metal: encodes into the caller's command buffer.  For Objective-C, and for C and C++, where Metal's
 * objects are pointers: what [object retain] returns, or an object of metal-cpp. */
#ifndef HS_METAL_H
#define HS_METAL_H

#include "hs/hs.h"

#ifdef __OBJC__
#import <Metal/Metal.h>
typedef __unsafe_unretained id<MTLDevice> hs_metal_device;
typedef __unsafe_unretained id<MTLCommandBuffer> hs_metal_commands;
typedef __unsafe_unretained id<MTLBuffer> hs_metal_memory;
#else
typedef void *hs_metal_device;   /* an id<MTLDevice> */
typedef void *hs_metal_commands; /* an id<MTLCommandBuffer> */
typedef void *hs_metal_memory;   /* an id<MTLBuffer> */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its text in Metal's language, line by line, defined by a target's C file. */
typedef struct hs_metal_kernels {
    const hs_sort *sort;
    const char *const *lines;
    size_t line_count;
} hs_metal_kernels;

typedef struct hs_metal_target {
    const hs_target *target;
    const hs_metal_kernels *const *sorts; /* in the order of the target's */
} hs_metal_target;

/* A sort or scan built for one device.
 *
 * THREADS: "any thread": concurrent calls are allowed, also with the same sorter.  Encoding only reads a sorter, so
 * threads may share it; a command buffer is for one thread at a time. */
typedef struct hs_metal hs_metal;

/* What went wrong beyond the status: the code of Metal's NSError, and the first lines of what it says.  Optional. */
typedef struct hs_metal_error {
    long code;
    char log[1024];
} hs_metal_error;

/* How a sorter is created; all 0: as by hs_metal_create. */
typedef struct hs_metal_create_options {
    hs_scope scope; /* the calls that it is for */
} hs_metal_create_options;

/* Compile the kernels of a sort and make their pipelines, for all of its calls.  `error` may be null.  Any thread. */
hs_status hs_metal_create(const hs_metal_kernels *sort, hs_metal_device device, hs_metal **sorter,
                          hs_metal_error *error);

/* The same with options, which may be null.  Only the pipelines of the scope are made.  Any thread. */
hs_status hs_metal_create_with(const hs_metal_kernels *sort, hs_metal_device device,
                               const hs_metal_create_options *options, hs_metal **sorter, hs_metal_error *error);

/* The number of pipelines that a sorter has.  Any thread. */
uint32_t hs_metal_pipeline_count(const hs_metal *sorter);

/* Release a sorter; null does nothing.  Command buffers keep the pipelines that they use.  While no other
 * thread uses the sorter. */
void hs_metal_release(hs_metal *sorter);

/* The sort of a sorter, for hs_describe, hs_pad and hs_scratch.  Any thread. */
const hs_sort *hs_metal_sort_of(const hs_metal *sorter);

/* A buffer from `offset` on, in bytes, a multiple of the size of an element; `memory` null: none. */
typedef struct hs_metal_buffer {
    hs_metal_memory memory;
    uint64_t offset;
} hs_metal_buffer;

/* Calls.  Set unused members to 0.  The caller keeps the buffers. */

/* Calls are encoded into a command buffer that has no open encoder, by one compute encoder, which has ended on return.
 * Arguments are checked before anything is encoded.  Metal orders a call after earlier commands on the same buffers;
 * the caller orders buffers of a heap or without hazard tracking, with fences or events.  Any thread. */

/* A sort of n keys. */
typedef struct hs_metal_sort_args {
    uint64_t n;                          /* keys; with `count` the capacity, below 2^30 */
    uint64_t shift;                      /* low bits of keys that the stage after the sort ignores */
    hs_options options;                  /* type, order, bits */
    hs_metal_buffer source;              /* written only if it is also the destination */
    hs_metal_buffer destination;         /* null: sort in place, or the keys are discarded */
    /* at least hs_scratch_with bytes; offset a multiple of 256; null where that is 0 */
    hs_metal_buffer scratch;
    hs_metal_buffer values;              /* the value of each key, for sorts with values */
    hs_metal_buffer values_destination;  /* null: in place, like the keys; required if indices are made */
    hs_metal_buffer count;               /* the device-side count, 32 bits, at most n counts; null: n keys */
    /* output of the stage after the sort, such as run boundaries */
    hs_metal_buffer report;
} hs_metal_sort_args;

hs_status hs_metal_sort(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_sort_args *args);

/* The prefix sums of each column of a table of n rows (HS_SCAN). */
typedef struct hs_metal_scan_args {
    uint64_t n;                          /* rows */
    hs_options options;                  /* type: integers, whose sums wrap, or 32-bit floats */
    hs_metal_buffer source;              /* written only if it is also the destination */
    hs_metal_buffer destination;         /* null: in place */
    /* at least hs_scratch_with bytes; offset a multiple of 256; null where that is 0 */
    hs_metal_buffer scratch;
} hs_metal_scan_args;

hs_status hs_metal_scan(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_scan_args *args);

/* A sort of each segment of n keys (HS_SEGMENTED_SORT).  Segment i begins at offsets[i] and ends at offsets[i + 1],
 * or at ends[i] in a sort with --feature segment-ends.  If offsets decrease or exceed n, or a segment begins before the
 * end of the one before it, nothing is written, and hs_device_status reports it. */
typedef struct hs_metal_segmented_sort_args {
    uint64_t n;                          /* keys of all segments */
    uint64_t segment_count;
    hs_options options;                  /* type and order */
    hs_metal_buffer source;              /* written only if it is also the destination */
    hs_metal_buffer destination;         /* null: sort in place */
    /* at least hs_scratch_with bytes; offset a multiple of 256; null where that is 0 */
    hs_metal_buffer scratch;
    hs_metal_buffer offsets;             /* segment_count + 1 32-bit numbers; null: segments are rows of equal length */
    hs_metal_buffer ends;                /* segment_count of them, and of offsets; null unless segments have ends */
    hs_metal_buffer count;               /* 32 bits: the number of segments, at most segment_count counts; null: segment_count */
    hs_metal_buffer values;              /* the value of each key, for sorts with values */
    hs_metal_buffer values_destination;  /* null: in place, like the keys; required if indices are made */
} hs_metal_segmented_sort_args;

hs_status hs_metal_segmented_sort(const hs_metal *sorter, hs_metal_commands commands,
                            const hs_metal_segmented_sort_args *args);

/* A merge of two sorted arrays (HS_MERGE). */
typedef struct hs_metal_merge_args {
    uint64_t n;                          /* keys of both arrays */
    uint64_t first_count;                /* keys of the first array */
    hs_options options;                  /* type and order */
    hs_metal_buffer first;
    hs_metal_buffer second;
    hs_metal_buffer destination;
    /* at least hs_scratch_with bytes; offset a multiple of 256; null where that is 0 */
    hs_metal_buffer scratch;
    hs_metal_buffer first_values;        /* the value of each key, for merges with values */
    hs_metal_buffer second_values;
    hs_metal_buffer values_destination;
} hs_metal_merge_args;

hs_status hs_metal_merge(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_merge_args *args);

/* A digest of n keys, and of the memory after them (HS_DIGEST); hs_digest_compare compares two. */
typedef struct hs_metal_digest_args {
    uint64_t n;                          /* keys */
    uint64_t capacity;                   /* keys from n up to here are memory after them; 0 to n: none */
    hs_options options;                  /* type, order, bits */
    hs_metal_buffer source;
    hs_metal_buffer values;              /* the value of each key, for digests with values */
    hs_metal_buffer digest;              /* 8 32-bit words */
} hs_metal_digest_args;

hs_status hs_metal_digest(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_digest_args *args);

/* The first k keys of each of row_count rows (HS_TOP_K), in the order of the options: descending, the k greatest.  Equal
 * keys are in the order of their indices.  Up to the `block` keys of the sort they are sorted; beyond, they are in the order
 * of the row. */
typedef struct hs_metal_top_k_args {
    uint64_t n;                          /* keys of all rows */
    uint64_t row_count;                  /* rows of n / row_count keys */
    uint64_t k;                          /* keys to take of each row, at least 1 */
    hs_options options;                  /* type and order */
    hs_metal_buffer source;
    hs_metal_buffer destination;         /* k keys of each row */
    /* at least hs_scratch_with bytes; offset a multiple of 256; null where that is 0 */
    hs_metal_buffer scratch;
    hs_metal_buffer values;              /* the value of each key, for selections with values */
    hs_metal_buffer values_destination;  /* k values of each row, or the indices of the keys in their row */
} hs_metal_top_k_args;

hs_status hs_metal_top_k(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_top_k_args *args);

/* The runs of equal adjacent keys (HS_REDUCE_BY_KEY), in their order: of sorted keys, the groups of all equal keys.  Keys are
 * equal if their bits are.  All outputs have room for n elements; `group_count` gets how many were written. */
typedef struct hs_metal_reduce_by_key_args {
    uint64_t n;                          /* keys; with `count` the capacity, below 2^30 */
    hs_reduction reduction;              /* of the values of a run */
    hs_type value_type;                  /* HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32 */
    hs_metal_buffer keys;
    hs_metal_buffer values;              /* the value of each key, for reductions with values (--value v4) */
    hs_metal_buffer count;               /* the device-side count, 32 bits, at most n counts; null: n keys */
    hs_metal_buffer group_count;         /* a 32-bit number: the runs */
    hs_metal_buffer group_keys;          /* the key of each run */
    hs_metal_buffer group_values;        /* the reduction of the values of each run, for reductions with values */
    hs_metal_buffer counts;              /* a 32-bit number for each run: its keys; null: not stored */
    hs_metal_buffer first_indices;       /* the same: the index of its first key; null: not stored */
    /* at least hs_scratch_with bytes; offset a multiple of 256; null where that is 0 */
    hs_metal_buffer scratch;
} hs_metal_reduce_by_key_args;

hs_status hs_metal_reduce_by_key(const hs_metal *sorter, hs_metal_commands commands,
                                 const hs_metal_reduce_by_key_args *args);

/* The groups of equal keys of an array in any order (HS_GROUP_BY): a stable sort by key and a reduction by key in one call.
 * Groups are in the order of their keys, which are equal if their bits are.  Never in place.  All outputs have room for n
 * elements; `group_count` gets how many were written. */
typedef struct hs_metal_group_by_args {
    uint64_t n;                          /* keys */
    hs_options options;                  /* type of the keys, order of the groups */
    hs_reduction reduction;              /* of the values of a group */
    hs_type value_type;                  /* HS_U32, HS_I32 or HS_F32; 0: as matched, and for "v4" HS_U32 */
    hs_metal_buffer keys;
    hs_metal_buffer values;              /* the value of each key, for operations with values (--value v4) */
    hs_metal_buffer group_count;         /* a 32-bit number: the groups */
    hs_metal_buffer group_keys;          /* the key of each group */
    hs_metal_buffer group_values;        /* the reduction of the values of each group, for operations with values */
    hs_metal_buffer counts;              /* a 32-bit number for each group: its keys; null: not stored */
    hs_metal_buffer first_indices;       /* the same: the index of its first key in the sorted array; null: not stored */
    /* at least hs_scratch_with bytes; offset a multiple of 256; null where that is 0 */
    hs_metal_buffer scratch;
} hs_metal_group_by_args;

hs_status hs_metal_group_by(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_group_by_args *args);

/* A gather (HS_GATHER): item i of the destination is item index[i] of the source.  An item whose index is not less than
 * source_count is not written.  item_bytes is a multiple of the value_bytes of the sort: 4, 8 or 16. */
typedef struct hs_metal_gather_args {
    uint64_t n;                          /* indices */
    uint64_t source_count;               /* items of the source */
    uint64_t item_bytes;                 /* bytes of an item */
    hs_metal_buffer index;               /* n 32-bit numbers */
    hs_metal_buffer source;
    hs_metal_buffer destination;         /* n items */
} hs_metal_gather_args;

hs_status hs_metal_gather(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_gather_args *args);

/* A pack (HS_PACK) of the columns of each of n rows into a key, the first column on top: bits begin_bit and above of the
 * ordered bits of all columns, as many as the key has.  Columns of together up to 16 bytes; each is read in whole 32-bit
 * words, for which its buffer has room.  Columns may be fields of the same records. */
typedef struct hs_metal_pack_args {
    uint64_t n;                          /* rows */
    uint64_t column_count;               /* 1 to HS_COLUMNS */
    hs_column columns[HS_COLUMNS];       /* types and orders */
    hs_metal_buffer keys[HS_COLUMNS];    /* the columns; null from column_count on */
    uint32_t begin_bit;                  /* a multiple of 32 */
    hs_metal_buffer destination;         /* n keys */
    hs_field fields[HS_COLUMNS];         /* where their items are in `keys`, as records; 0: arrays */
} hs_metal_pack_args;

hs_status hs_metal_pack(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_pack_args *args);

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves, among these targets that suits the device
 * best and that its general limits allow; null if none.  How wide SIMD groups are is found out by hs_metal_create.  Any
 * thread. */
hs_status hs_metal_match(const hs_metal_target *const *targets, size_t count, const char *key, const char *value,
                         hs_metal_device device, const hs_metal_kernels **sort);

/* The same for any kind. */
hs_status hs_metal_match_kind(const hs_metal_target *const *targets, size_t count, hs_kind kind, const char *key,
                              const char *value, hs_metal_device device, const hs_metal_kernels **sort);

/* Why a match of these arguments found nothing: a line for each target, as by hs_explain, in the `room` bytes of `text`.
 * Any thread. */
hs_status hs_metal_explain(const hs_metal_target *const *targets, size_t count, hs_kind kind, const char *key,
                           const char *value, hs_metal_device device, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
