/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* The types of sorts and targets, and the declarations that all APIs share.  The file is C99 and also C++.
 *
 * A *sort* (hs_sort) is a constant that the C file of a target defines: kernels and a launch plan. All other
 * operations, such as scans, segmented sorts and merges, are sorts of another kind (hs_kind). A *sorter* is a sort made
 * ready for a device, by a function such as hs_opencl_create, hs_vulkan_create or hs_cuda_create. Nothing here
 * allocates device memory, keeps global state or ends the program: every call that can fail returns a status. The
 * functions of this file and of hs_plan.h change no shared data: any thread may call them at any time. */
#ifndef HS_H
#define HS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HS_VERSION "1.0.0"

typedef enum hs_status {
    HS_OK = 0,
    HS_ERROR_ARGUMENT,    /* a pointer or handle that must not be null is null */
    HS_ERROR_COUNT,       /* more keys than the plan sorts or the buffer holds */
    HS_ERROR_SCRATCH,     /* scratch is smaller than hs_scratch_with returns, or the status words are not as many bytes
                             as hs_device_status_at returns */
    HS_ERROR_ALIGNMENT,   /* an offset is not a multiple of the element size, or of what the device requires */
    HS_ERROR_OVERLAP,     /* a written buffer overlaps another buffer but is not the same buffer */
    HS_ERROR_KERNELS,     /* the sort has no kernels for this API, or is of another kind than the call */
    HS_ERROR_DEVICE,      /* the device lacks what the sort needs, such as an enabled feature or a grid size */
    HS_ERROR_BUILD,       /* the driver refused to build a kernel */
    HS_ERROR_HOST_MEMORY, /* out of host memory */
    HS_ERROR_DEVICE_MEMORY, /* out of device memory, or of descriptors */
    HS_ERROR_DEVICE_LOST, /* the device is lost */
    HS_ERROR_API,         /* any other error of the API */
    HS_ERROR_OPTION,      /* the sort was not generated for an option or buffer of the call */
    HS_ERROR_RANGE,       /* a bit range is out of order or reaches beyond the key */
    HS_ERROR_PARTS,       /* shift, segment_count, first_count, capacity, row_count, k, source_count, item_bytes or
                             columns is out of its range, or does not suit n */
    HS_ERROR_SEGMENTS,    /* offsets of segments decrease, or one exceeds n; the device wrote nothing */
    HS_ERROR_BUSY,        /* another thread is in a call of the same sorter, which serves one thread at a time */
    HS_ERROR_SCOPE        /* the sorter was not created for such a call, or not all of its pipelines exist yet */
} hs_status;

/* The meaning of a status as a short English phrase; never null. */
const char *hs_status_text(hs_status status);

/* The version of hsgen that generated these files: HS_VERSION when hs.c was compiled. */
const char *hs_version(void);

/* The type of keys: bytes << 4 | kind, where kind is 0 for unsigned, 1 for signed, 2 for floats.  HS_AS_MATCHED is the
 * type that the sort was matched for, and HS_UNSIGNED the unsigned type with the width of the sort's keys.  Floats are
 * sorted in IEEE 754 totalOrder: -NaN, -infinity, .. -0, +0, .. +infinity, +NaN. */
typedef enum hs_type {
    HS_AS_MATCHED = 0,
    HS_UNSIGNED = 0x100,
    HS_U8 = 0x10,
    HS_BOOL = HS_U8, /* a byte, 0 or 1; 0 comes first */
    HS_I8 = 0x11,
    HS_U16 = 0x20,
    HS_I16 = 0x21,
    HS_F16 = 0x22,
    HS_BF16 = HS_F16, /* bfloat16: its bits are ordered as those of HS_F16 */
    HS_U32 = 0x40,
    HS_I32 = 0x41,
    HS_F32 = 0x42,
    HS_U64 = 0x80,
    HS_I64 = 0x81,
    HS_F64 = 0x82
} hs_type;

/* Options of a call.  All 0 means: keys of the type that the sort was matched for, in ascending order, by all bits. */
typedef struct hs_options {
    hs_type type;                /* 0: the type that the sort was matched for.  Only typed sorts take signed and float
                                    types.  In packed sorts, the type of an element's upper half. */
    uint32_t descending;         /* 1: greatest first; only typed sorts take it */
    uint32_t begin_bit, end_bit; /* the sort compares these bits of the key, after the transform that orders it as an
                                    unsigned number; end_bit 0: up to the last bit.  Only sorts generated for bit
                                    ranges take less than all bits. */
    uint32_t discard_keys;       /* 1: an argsort without a destination, which stores only the indices */
} hs_options;

/* Kinds of calls: in place or out of place; by all bits or by some; with the count in host or in device memory. */
enum {
    HS_CALLS_IN_PLACE = 1,
    HS_CALLS_OUT_OF_PLACE = 2, /* also calls that discard the keys */
    HS_CALLS_ALL_BITS = 4,
    HS_CALLS_SOME_BITS = 8,
    HS_CALLS_HOST_COUNT = 16,
    HS_CALLS_DEVICE_COUNT = 32
};

/* The calls for which a sorter is created.  All members 0 mean every call that the sort takes.  A sorter has only the
 * kernels that these calls can launch, and refuses other calls with HS_ERROR_SCOPE. n = 0 is always within the
 * range. */
typedef struct hs_scope {
    uint64_t min_n, max_n; /* the range of n; with a device-side count, n is the capacity.  max_n 0 means the greatest
                              n of the sort. */
    uint32_t calls;        /* a sum of HS_CALLS_...; if it has neither of two opposite kinds, both are included */
} hs_scope;

/* The buffers of a call by role.  Scratch is one buffer, of which each step may bind a different part. */
typedef enum hs_role {
    HS_SOURCE = 0,
    HS_DESTINATION = 1,
    HS_SCRATCH = 2,
    HS_VALUES = 3,     /* the value of each key */
    HS_VALUES_OUT = 4, /* the values in the order of the keys, or the indices of the keys */
    HS_COUNT = 5,      /* the device-side count of keys, segments or rows, one 32-bit number */
    HS_OTHER_INPUT = 6, /* segmented sorts: 32-bit offsets; merges: the second array; selections: lengths of rows;
                           reductions store the counts of runs or groups here */
    HS_OTHER_VALUES = 7, /* segmented sorts: ends; merges: the values of the second array; selections: starts of
                            rows; reductions store the index of each run's or group's first key here */
    HS_REPORT = 8,     /* 32-bit words: run boundaries, an epilogue's report, a digest, a number of runs or groups */
    HS_TAKES = 9,      /* the number of keys to select from each row */
    HS_VALUE_STARTS = 10 /* the index of the first value of each row */
} hs_role;
enum { HS_ROLES = 11, HS_BINDINGS = 11 };

/* A buffer that a step binds: the buffer of `role`, from byte hs_offset(binding, n) = plus + per_n * n on. */
typedef struct hs_binding {
    hs_role role;
    uint64_t plus, per_n;
    uint64_t max_n; /* if not 0: a greater n has the offset of this n */
} hs_binding;

/* Whether a step runs in place, out of place, or in both cases. */
enum { HS_ANYWHERE = 0, HS_IN_PLACE = 1, HS_OUT_OF_PLACE = 2 };

/* Whether a step runs for the whole bit range, for a part of it, or in both cases. */
enum { HS_ANY_BITS = 0, HS_ALL_BITS = 1, HS_SOME_BITS = 2 };

/* Whether a step runs for reductions that give the same in any order of the values, for sums of floats,
 * or in both cases; the bits of the second number of a call that say so, those of a sum of floats. */
enum { HS_ANY_REDUCTION = 0, HS_EXACT_REDUCTION = 1, HS_ROUNDED_REDUCTION = 2 };

enum { HS_REDUCTION_MASK = 15, HS_FLOAT_SUM = 8 };

/* The quantity that determines a grid or a guard: n, the second number of the call, n divided by it. */
enum { HS_BY_N = 0, HS_BY_NUMBER = 1, HS_BY_LENGTH = 2, HS_BY_ROWS = 3 };

/* The argument of a step's kernel, with flags: */
enum {
    HS_LITERAL = 0, /* `value` */
    HS_PASS = 1, /* the pass `value` over digits of at most `bits` bits: its number, the digit's shift and width */
    HS_BIT_RANGE = 2, /* the end of the bit range and its start */
    HS_PASS_COUNT = 3, /* the number of passes over digits of at most `bits` bits */
    HS_CALL_NUMBER = 4, /* the second number of the call, without flags; the sign bit is set if it bounds one on the device */
    HS_INDIRECT_GRIDS = 5 /* for the kernel that computes the grids of all other steps from a device-side count */
};

/* The flags of arguments.  The bits below them hold the number of a pass, its digit's shift << 8 and its
 * digit's width << 16, or the end of the bit range and its start << 8. */
enum {
    HS_REDO = 1 << 20, /* only if a look-back failed */
    HS_DIRECT = 1 << 21, /* this pass may store to the destination */
    HS_DISCARD = 1 << 22, /* the sorted keys are discarded */
    HS_DEVICE_COUNT = 1 << 23, /* the count is in device memory */
    HS_SIGNED = 1 << 24, /* keys are signed */
    HS_FLOAT = 1 << 25, /* keys are floats; SIGNED is also set */
    HS_DESCENDING = 1 << 26, /* the greatest key comes first */
    HS_ROWS = 1 << 27 /* segments are rows of equal length; there are no offsets */
};

/* The condition under which a step runs: min_n < n <= max_n, and the call is of these kinds. */
typedef struct hs_guard {
    uint64_t min_n, max_n;
    uint32_t place;   /* HS_ANYWHERE, HS_IN_PLACE or HS_OUT_OF_PLACE */
    uint32_t range;   /* HS_ANY_BITS, HS_ALL_BITS or HS_SOME_BITS */
    uint32_t at_zero; /* 1: the step also runs for n = 0, regardless of min_n */
    uint32_t x;       /* HS_BY_N: min_n and max_n bound n; HS_BY_LENGTH: they bound the length of rows, n / number */
    uint32_t reduction; /* HS_ANY_REDUCTION, HS_EXACT_REDUCTION or HS_ROUNDED_REDUCTION */
    uint32_t min_take, max_take; /* if max_take is not 0: the step runs only for min_take < k <= max_take */
} hs_guard;

/* The grid of a step: min((x + add) / div * mul, cap) work-groups.  With HS_BY_ROWS, x is the length of a row, and the
 * grid is min((x + add) / div * mul * rows, cap) work-groups. */
typedef struct hs_grid_rule {
    uint32_t x; /* HS_BY_N: x is n; HS_BY_NUMBER: the number of the call; HS_BY_ROWS: the length of a row */
    int64_t add;
    uint64_t div, mul, cap;
} hs_grid_rule;

/* The argument that a step's kernel gets in addition to n; hs_argument computes it from this rule. */
typedef struct hs_argument_rule {
    uint32_t kind;  /* one of HS_LITERAL to HS_INDIRECT_GRIDS */
    int32_t value;  /* the literal, or the number of the pass */
    uint32_t bits;  /* the most bits in the digit of a pass */
    uint32_t flags; /* a sum of HS_REDO and HS_DIRECT */
} hs_argument_rule;

/* One launch of a plan, and the condition under which it runs. */
typedef struct hs_step {
    uint32_t kernel; /* index into the sort's kernels */
    hs_guard guard;
    hs_grid_rule grid;
    hs_argument_rule argument;
    hs_binding bindings[HS_BINDINGS]; /* as many are used as the kernel has bindings */
} hs_step;

typedef struct hs_kernel {
    const char *name;
    uint32_t work_group;  /* lanes */
    uint32_t subgroup;    /* the number of lanes that exchange values; 1: none do */
    uint32_t local_bytes; /* shared memory of a work-group */
    uint32_t bindings;
    uint32_t ballot; /* 1: lanes of a subgroup vote */
    uint32_t index64;   /* 1: n is passed as a 64-bit number; 0: as an int */
    uint32_t cooperative; /* 1: its work-groups wait for each other, so all must be resident; CUDA only */
} hs_kernel;

/* A kernel as a SPIR-V module, with the entry point main. A module's buffers are all bound by descriptor, or all passed
 * by address. `bytes` is 0 if the sort never uses the kernel with such buffers. */
typedef struct hs_spirv {
    const uint32_t *words; /* null if the words are in `text` */
    size_t bytes;
    const char *const *text; /* or the words encoded as strings, which hs_vulkan_create.c decodes; null ends the list */
} hs_spirv;

/* The bytes of scratch that some steps need for n items: 0 for up to min_n items, else
 * plus + per_n * m + per_unit * min(ceil(m / unit), units) with m = min(n, max_n). */
typedef struct hs_scratch_rule {
    uint64_t min_n, max_n, plus, per_n, unit, per_unit, units;
} hs_scratch_rule;

/* Where in scratch the status words of a sort of more than min_n keys are, and how many 32-bit words. A word is not 0
 * if the pass of this number was redone, or if offsets of segments were refused. */
typedef struct hs_device_status_rule {
    hs_binding binding;
    uint32_t words; /* 0: the sort reports no status */
    uint64_t min_n;
} hs_device_status_rule;

/* The operation of a call on n items, in this order: sort; prefix sums; segmented sort; merge of two sorted arrays;
 * digest; selection of the first keys of each row; reduction of runs of equal keys; gather of the items at n indices;
 * packing of n rows of columns into keys; reduction of groups of equal keys, which may be anywhere in the array. */
typedef enum hs_kind {
    HS_SORT = 0,
    HS_SCAN = 1,
    HS_SEGMENTED_SORT = 2,
    HS_MERGE = 3,
    HS_DIGEST = 4,
    HS_TOP_K = 5,
    HS_REDUCE_BY_KEY = 6,
    HS_GATHER = 7,
    HS_PACK = 8,
    HS_GROUP_BY = 9
} hs_kind;

/* How the values of equal keys are reduced; the minimum and maximum of floats are by totalOrder. */
typedef enum hs_reduction { HS_SUM = 0, HS_MIN = 1, HS_MAX = 2 } hs_reduction;

/* A column to pack: its type, one of HS_U8 to HS_F64, and its order.  descending is 1 if the greatest comes first. */
typedef struct hs_column {
    hs_type type;
    uint32_t descending;
} hs_column;
enum { HS_COLUMNS = 4 };

/* Where the items of a column are.  (0, 0): the column is an array.  Otherwise each item is a field of a record.
 * `stride` is the number of bytes from one record to the next, a multiple of 4 up to HS_STRIDE.  `offset` is the number
 * of bytes in a record before the field, a multiple of the size of its type; for types of 8 bytes, a multiple of 4
 * suffices. */
typedef struct hs_field {
    uint32_t stride, offset;
} hs_field;
enum { HS_STRIDE = 256 };

typedef struct hs_sort {
    const char *target, *algorithm, *key; /* "intel-gen8", "bitonic", "u32" */
    const char *value; /* the values sorted with the keys: "none", "v4", "v8", "v16", "index", "index64" or "packed" */
    hs_kind kind;
    uint32_t columns; /* the number of elements of an item: 1 for keys; for a scan, the number of columns of a row */
    uint32_t key_bytes, value_bytes; /* bytes of an element, which is also the alignment of buffers; 0 without values */
    uint32_t first_bit, key_bits; /* the lowest bit of an element that is compared, and the number of bits; in packed
                                     sorts, the upper half of an element is compared */
    uint32_t key_transform, bit_range, device_count; /* 1 if calls may have, respectively: a type and an order; a bit
                                                        range; a device-side count */
    uint32_t index;      /* 1: an argsort; values are not read, but generated: the indices of the keys */
    uint32_t block;      /* the number of keys that one work-group sorts */
    uint32_t pair;       /* 1: 64-bit keys are processed as two 32-bit words */
    uint32_t max_groups; /* the target's greatest grid in one dimension, in work-groups */
    uint32_t kernel_count, step_count;
    const hs_kernel *kernels;
    const hs_step *steps;
    uint64_t max_n;
    const hs_scratch_rule *scratch; /* the scratch size is the maximum over these rules */
    uint32_t scratch_rule_count;
    hs_device_status_rule device_status;
    const char *const *opencl; /* the OpenCL C source, line by line; null if not generated */
    size_t opencl_lines;
    const hs_spirv *spirv;         /* for each kernel, with buffers by descriptor; null if not generated */
    const hs_spirv *spirv_address; /* for each kernel, with buffers by device address; null if not generated */
    uint32_t vulkan; /* the Vulkan version that its SPIR-V needs, of instance and device: 10 * major + minor */
    uint32_t report_words, report_words_per_key; /* a report has report_words + report_words_per_key * n 32-bit words */
    const uint32_t *opencl_starts; /* for each kernel, the first of its lines in the OpenCL C source; its lines end
                                      where those of the next kernel begin, and declarations precede all kernels;
                                      null if unknown */
    const struct hs_sort *first;   /* Vulkan: a sort of the same keys and values whose kernels compile faster; it serves
                                      calls until the kernels of this sort exist; null if there is none */
    hs_type type;       /* the type of keys that HS_AS_MATCHED means: the type of `key` in a typed sort, else
                           unsigned */
    hs_type value_type; /* the type of values that HS_AS_MATCHED means in reductions; HS_AS_MATCHED in other sorts */
} hs_sort;

/* The devices that a target is for.  An empty list permits any vendor, name or platform. */
enum { HS_CPU = 1, HS_GPU = 2, HS_OTHER = 4 };
typedef struct hs_match {
    uint32_t types; /* HS_CPU | HS_GPU | HS_OTHER, or 0 */
    uint32_t vendor_count, name_count, platform_count;
    const uint32_t *vendors;
    const char *const *names;     /* substrings of the device's name */
    const char *const *platforms; /* substrings of the platform's or driver's name */
    uint32_t compute_least, compute_most; /* CUDA compute capability as 10 * major + minor; 0 if not given */
    uint32_t rank;                /* greater for a target that is for fewer devices */
} hs_match;

typedef struct hs_target {
    const char *name;
    const hs_match *match; /* null: any device that its kernels run on */
    const hs_sort *const *sorts;
    size_t sort_count;
} hs_target;

/* The properties of a device that decide which targets suit it.  name and platform may be null; compute is 0 if it is
 * unknown. */
typedef struct hs_device {
    uint32_t type, vendor, compute;
    const char *name, *platform;
} hs_device;

/* How well a target suits a device; a greater number is better.  0 if the target is for other devices, 1 if it is for
 * any device. */
uint32_t hs_suits(const hs_target *target, const hs_device *device);

/* 1 if `sort` is a sort (HS_SORT) of these keys with these values, else 0.  `key` is a type ("u32", "bf16", "bool").
 * A sort that supports all types of its width has one hs_sort for each type ("u32", "i32", "f32"), all with the same
 * kernels.  `value` is the name in hs_sort, or null for "none".  Values of 4 bytes may also be named "4", "u32", "i32"
 * or "f32"; values of 8 bytes likewise; values of 16 bytes "16".  For reductions, the type of values matters, and "v4"
 * and "4" mean "u32". */
int hs_serves(const hs_sort *sort, const char *key, const char *value);

/* hs_serves for a sort of `kind` instead of HS_SORT. */
int hs_serves_kind(const hs_sort *sort, hs_kind kind, const char *key, const char *value);

/* The nth sort (HS_SORT) that serves `key` and `value`, counted from 0; null after the last sort.  Sorts of the target
 * that suits the device best come first, in their order, then the sorts of the second-best target, and so on; targets
 * that suit the device equally keep their order. */
const hs_sort *hs_candidate(const hs_target *const *targets, size_t count, const char *key, const char *value,
                            const hs_device *device, size_t nth);

/* hs_candidate for sorts of `kind` instead of HS_SORT. */
const hs_sort *hs_candidate_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                                 const char *value, const hs_device *device, size_t nth);

/* Explains why a target has no such sort for a device. Call this function after a match has returned no sort. Appends a
 * line to `text`, a string in a buffer of `room` bytes, such as "cpu: is for devices of another type". A line that does
 * not fit is cut off. Appends nothing if the target is for the device and has such a sort; the match then failed
 * because the sort's kernels need more than the device has. */
void hs_explain(const hs_target *target, hs_kind kind, const char *key, const char *value, const hs_device *device,
                char *text, size_t room);

/* The sort, of any kind, of a target with this algorithm ("bitonic"), key and value, as in hs_serves; null if there is
 * no such sort. */
const hs_sort *hs_find(const hs_target *target, const char *algorithm, const char *key, const char *value);

/* Facts about a sort: some members of hs_sort, and two more.  `subgroup` is the greatest number of lanes that exchange
 * values; 1 if none do.  `reports` is 1 if calls need a buffer for a report. */
typedef struct hs_info {
    const char *target, *algorithm, *key, *value;
    uint32_t key_bytes, value_bytes, first_bit, key_bits, key_transform, bit_range, device_count, index, block, subgroup;
    uint64_t max_n;
    hs_kind kind;
    uint32_t reports, report_words, report_words_per_key;
} hs_info;
hs_status hs_describe(const hs_sort *sort, hs_info *info);

/* The number of keys that the buffers of a sort of n keys must hold: always n.  Either pointer may be null. */
hs_status hs_pad(const hs_sort *sort, uint64_t n, uint64_t *source, uint64_t *destination);

/* The size in bytes of the scratch memory that a call for n keys needs; may be 0. */
hs_status hs_scratch(const hs_sort *sort, uint64_t n, uint64_t *bytes);

/* hs_scratch for a call with these options, which may be null; a call with discard_keys needs more scratch.  Returns
 * HS_ERROR_OPTION or HS_ERROR_RANGE if the sort does not take the options. */
hs_status hs_scratch_with(const hs_sort *sort, uint64_t n, const hs_options *options, uint64_t *bytes);

/* Why a call got HS_ERROR_OPTION: a short English phrase that names the option or buffer, and the option of `hsgen
 * generate` that adds support for it.  Null if the sort takes all options and buffers.  `options` may be null.  `roles`
 * has the bit 1 << hs_role for each buffer of the call.  A call in place has no bit for the destination. */
const char *hs_missing_option(const hs_sort *sort, const hs_options *options, uint32_t roles);

/* Where the status words of a sort of n keys are: `bytes` bytes from byte `offset` of scratch on, valid after the sort
 * has run. `bytes` is 0 if the sort reports no status. On a device without forward progress between work-groups, a pass
 * whose work-groups wait for each other may starve; later launches of the same sort then redo the pass without waits.
 * The result is correct with and without such a retry. */
hs_status hs_device_status_at(const hs_sort *sort, uint64_t n, uint64_t *offset, uint64_t *bytes);

/* Count the passes that were redone. `words` is a copy of the status words in host memory. Returns HS_ERROR_SEGMENTS,
 * and `redone` is not 0, if a segmented sort refused its offsets. */
hs_status hs_device_status(const hs_sort *sort, const void *words, uint64_t bytes, uint32_t *redone);

/* Compare the digests of an array before and after a sort; `faults` becomes a sum of HS_FAULT_...  With `stable`, also
 * checks stability; the values must have been ascending indices before the sort. */
enum { HS_FAULT_ORDER = 1,  /* keys are out of order */
       HS_FAULT_KEYS = 2,   /* the keys, or their number, changed */
       HS_FAULT_VALUES = 4, /* a value is not with its key */
       HS_FAULT_STABLE = 8, /* equal keys are not in their original order */
       HS_FAULT_BEYOND = 16 /* memory after the keys or values was written */ };
hs_status hs_digest_compare(const uint32_t before[8], const uint32_t after[8], int stable, uint32_t *faults);

#ifdef __cplusplus
}
#endif
#endif
