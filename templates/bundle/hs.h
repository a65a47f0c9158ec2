/* Sorts as data, and what all APIs share.  C99 that is also C++.
 *
 * A *sort* (hs_sort) is a constant that a target's C file defines: its kernels and its plan.  What does something else
 * with keys, such as a scan, the prefix sums of the columns of a table, is one too, of another kind (hs_kind).  A
 * *sorter* is a sort made ready for a device, by
 * hs_opencl_create, hs_vulkan_create or hs_cuda_create.  Nothing here allocates device memory,
 * keeps a global state or ends the program: every call that can fail returns a status. */
#ifndef HS_H
#define HS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HS_VERSION "HSGEN_VERSION"

typedef enum hs_status {
    HS_OK = 0,
    HS_ERROR_ARGUMENT,    /* a null pointer or a handle that may not be null */
    HS_ERROR_COUNT,       /* more keys than the plan sorts, or than the buffer holds */
    HS_ERROR_SCRATCH,     /* less scratch than hs_scratch_with says, or another part of it than hs_device_status_at says */
    HS_ERROR_ALIGNMENT,   /* an offset that is no multiple of the size of an element, or of what the device asks */
    HS_ERROR_OVERLAP,     /* a buffer that is written overlaps another without being the same */
    HS_ERROR_KERNELS,     /* the sort holds no kernels for this API, or is of another kind than the call */
    HS_ERROR_DEVICE,      /* the device, or what was enabled of it, lacks what the sort needs, a large enough grid too */
    HS_ERROR_BUILD,       /* the driver refused to build a kernel */
    HS_ERROR_HOST_MEMORY, /* out of host memory */
    HS_ERROR_DEVICE_MEMORY, /* out of device memory, or of descriptors */
    HS_ERROR_DEVICE_LOST, /* the device is lost */
    HS_ERROR_API,         /* any other error of the API */
    HS_ERROR_OPTION,      /* the sort was not generated with what the call asks for */
    HS_ERROR_RANGE,       /* a range of bits that is out of order or reaches beyond the key */
    HS_ERROR_PARTS,       /* parts that do not fit the count or the key, or given to a sort that takes none */
    HS_ERROR_SEGMENTS,    /* the device found an offset that decreases or runs past n, and wrote nothing */
    HS_ERROR_BUSY         /* another thread is in a call of the same sorter, which is for one at a time */
} hs_status;

/* What a status means, as one short English phrase; never null. */
const char *hs_status_text(hs_status status);

/* The version of hsgen that generated these files, HS_VERSION as it was when hs.c was compiled. */
const char *hs_version(void);

/* The type of keys, bytes << 4 | kind; HS_UNSIGNED is the unsigned one of the sort's own width.  Floats are in the
 * total order of their bits: -NaN, -infinity, .. -0, +0, .. +infinity, +NaN. */
typedef enum hs_type {
    HS_UNSIGNED = 0,
    HS_U8 = 0x10,
    HS_I8 = 0x11,
    HS_U16 = 0x20,
    HS_I16 = 0x21,
    HS_F16 = 0x22,
    HS_U32 = 0x40,
    HS_I32 = 0x41,
    HS_F32 = 0x42,
    HS_U64 = 0x80,
    HS_I64 = 0x81,
    HS_F64 = 0x82
} hs_type;

/* How one call sorts; all 0: unsigned keys, ascending, by all of their bits. */
typedef struct hs_options {
    hs_type type;                /* of another kind than unsigned: typed sorts only; packed sorts: of the upper half */
    uint32_t descending;         /* 1: the greatest first; typed sorts only */
    uint32_t begin_bit, end_bit; /* the bits to sort by, counted in the ordered key; end 0: up to the last; less than
                                    all: ranged sorts only */
    uint32_t discard_keys;       /* 1: the sorted keys are not wanted: no destination; sorts that make indices only */
} hs_options;

/* The buffers of a sort by their role.  Scratch is one buffer, of which every step may see another part. */
typedef enum hs_role {
    HS_SOURCE = 0,
    HS_DESTINATION = 1,
    HS_SCRATCH = 2,
    HS_VALUES = 3,     /* the value of each key */
    HS_VALUES_OUT = 4, /* the same sorted, or the places that the keys had */
    HS_COUNT = 5,      /* how many keys there are, one 32-bit number */
    HS_OTHER_INPUT = 6, /* the 32-bit offsets of segments, or the second of two arrays */
    HS_OTHER_VALUES = 7,
    HS_REPORT = 8      /* what is told besides, in 32-bit words */
} hs_role;
enum { HS_ROLES = 9, HS_BINDINGS = 10 };

/* One buffer of a step: it begins hs_offset(binding, n) bytes into the buffer that plays the role. */
typedef struct hs_binding {
    hs_role role;
    uint64_t plus, per_n;
} hs_binding;

/* HSGEN_CONSTANTS */

/* When a step runs: only if min_n < n <= max_n, and the place and the range of bits fit. */
typedef struct hs_guard {
    uint64_t min_n, max_n;
    uint32_t place;   /* HS_ANYWHERE, HS_IN_PLACE or HS_OUT_OF_PLACE */
    uint32_t range;   /* HS_ANY_BITS, HS_ALL_BITS or HS_SOME_BITS */
    uint32_t at_zero; /* 1: it runs for n = 0, whatever min_n is */
} hs_guard;

/* Its work-groups: min((x + add) / div * mul, cap). */
typedef struct hs_grid_rule {
    uint32_t x; /* HS_BY_N or HS_BY_NUMBER */
    int64_t add;
    uint64_t div, mul, cap;
} hs_grid_rule;

/* What its kernel gets besides n, which hs_argument works out. */
typedef struct hs_argument_rule {
    uint32_t kind;  /* HS_LITERAL to HS_INDIRECT_GRIDS */
    int32_t value;  /* the literal, or the number of the pass */
    uint32_t bits;  /* of the digits of passes, at most */
    uint32_t flags; /* HS_REDO and HS_DIRECT */
} hs_argument_rule;

/* One guarded launch. */
typedef struct hs_step {
    uint32_t kernel; /* index into the sort's kernels */
    hs_guard guard;
    hs_grid_rule grid;
    hs_argument_rule argument;
    hs_binding bindings[HS_BINDINGS]; /* as many as the kernel has */
} hs_step;

typedef struct hs_kernel {
    const char *name;
    uint32_t work_group;  /* lanes */
    uint32_t subgroup;    /* lanes that exchange values; 1: none do */
    uint32_t local_bytes; /* shared memory of a work-group */
    uint32_t bindings;
    uint32_t ballot; /* 1: lanes of a subgroup vote */
    uint32_t index64;   /* 1: n is handed to it as a 64-bit number, else as an int */
    uint32_t cooperative; /* 1: its groups wait for each other, so all must be resident; in CUDA alone */
} hs_kernel;

/* A SPIR-V module with one entry point, main; null where a kernel is never used in this form. */
typedef struct hs_spirv {
    const uint32_t *words;
    size_t bytes;
} hs_spirv;

/* The bytes of scratch for n items: none up to min_n, else plus + per_n * n + per_unit * min(ceil(n / unit), units). */
typedef struct hs_scratch_rule {
    uint64_t min_n, plus, per_n, unit, per_unit, units;
} hs_scratch_rule;

/* Where a sort of more than min_n keys says what happened: 32-bit words in scratch, not 0 for a pass done again, or
 * where segments are refused. */
typedef struct hs_device_status_rule {
    hs_binding binding;
    uint32_t words; /* 0: there is nothing to tell */
    uint64_t min_n;
} hs_device_status_rule;

/* What is done with the n items of a call: they are sorted; summed up; sorted segment by segment; merged from two
 * arrays that are in order; looked at. */
typedef enum hs_kind { HS_SORT = 0, HS_SCAN = 1, HS_SEGMENTED_SORT = 2, HS_MERGE = 3, HS_DIGEST = 4 } hs_kind;

typedef struct hs_sort {
    const char *target, *algorithm, *key; /* "intel-gen8", "merge", "u32" */
    const char *value; /* what is sorted along: "none", "v4", "v8", "v16", "index", "index64" or "packed" */
    hs_kind kind;
    uint32_t columns; /* elements of one of the n items: 1 for keys, those of a row for a scan */
    uint32_t key_bytes, value_bytes; /* bytes of an element, to which buffers are aligned; no values: 0 */
    uint32_t first_bit, key_bits; /* the bits of an element that are sorted by; packed: the upper half */
    uint32_t key_transform, bit_range, device_count; /* 1: takes types and orders; ranges of bits; a count on the device */
    uint32_t index;      /* 1: values are not read but made: the places that the keys had */
    uint32_t block;      /* keys that one work-group sorts */
    uint32_t pair;       /* 1: 64-bit keys are handled as two 32-bit words */
    uint32_t max_groups; /* the target's greatest grid in one dimension, in work-groups */
    uint32_t kernel_count, step_count;
    const hs_kernel *kernels;
    const hs_step *steps;
    uint64_t max_n;
    hs_scratch_rule scratch;
    hs_device_status_rule device_status;
    const char *const *opencl; /* the OpenCL C source, line by line; null if not generated */
    size_t opencl_lines;
    const hs_spirv *spirv;         /* for each kernel, taking descriptors; null if not generated */
    const hs_spirv *spirv_address; /* for each kernel, taking device addresses; null if not generated */
    uint32_t vulkan; /* the version of Vulkan that its SPIR-V needs, instance and device, as 10 * major + minor */
    uint32_t report_words, report_words_per_key; /* what a report has room for: so many 32-bit words, and so many a key */
} hs_sort;

/* How a device of a target is recognised; an empty list says nothing about that property. */
enum { HS_CPU = 1, HS_GPU = 2, HS_OTHER = 4 };
typedef struct hs_match {
    uint32_t types; /* HS_CPU | HS_GPU | HS_OTHER, or 0 */
    uint32_t vendor_count, name_count, platform_count;
    const uint32_t *vendors;
    const char *const *names;     /* a part of the device's name */
    const char *const *platforms; /* a part of the platform's or driver's name */
    uint32_t compute_least, compute_most; /* CUDA compute capability as 10 * major + minor; 0 if not given */
    uint32_t rank;                /* the greater, the more particular */
} hs_match;

typedef struct hs_target {
    const char *name;
    const hs_match *match; /* null: serves any device that its kernels run on */
    const hs_sort *const *sorts;
    size_t sort_count;
} hs_target;

/* What is known of a device when a target is looked for; name and platform may be null, compute 0: not known. */
typedef struct hs_device {
    uint32_t type, vendor, compute;
    const char *name, *platform;
} hs_device;

/* The greater the better the target suits the device; 0: not at all.  A target that serves any device gets 1. */
uint32_t hs_suits(const hs_target *target, const hs_device *device);

/* Whether it is a sort (HS_SORT) of such keys with such values: `key` is a type ("u32", "f16"), of which a typed sort
 * takes all of its width; `value` is null for "none". */
int hs_serves(const hs_sort *sort, const char *key, const char *value);

/* The same for any kind. */
int hs_serves_kind(const hs_sort *sort, hs_kind kind, const char *key, const char *value);

/* Of the sorts that serve `key` and `value` the first (nth 0), the second (1) and so on, null where there are no more:
 * those of the target that suits the device best, in their order, then those of the second best, targets that suit it
 * equally in their order.  Nothing but sorts (HS_SORT). */
const hs_sort *hs_candidate(const hs_target *const *targets, size_t count, const char *key, const char *value,
                            const hs_device *device, size_t nth);

/* The same for any kind. */
const hs_sort *hs_candidate_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                                 const char *value, const hs_device *device, size_t nth);

/* The sort, of whatever kind, of a target with this algorithm ("merge"), key and value, as in hs_serves; null if it has
 * none. */
const hs_sort *hs_find(const hs_target *target, const char *algorithm, const char *key, const char *value);

/* What users may want to know of a sort: members of hs_sort, `subgroup`, the lanes that exchange keys, and whether it
 * `reports` something, in so many words and so many a key. */
typedef struct hs_info {
    const char *target, *algorithm, *key, *value;
    uint32_t key_bytes, value_bytes, first_bit, key_bits, key_transform, bit_range, device_count, index, block, subgroup;
    uint64_t max_n;
    hs_kind kind;
    uint32_t reports, report_words, report_words_per_key;
} hs_info;
hs_status hs_describe(const hs_sort *sort, hs_info *info);

/* The keys that buffers must have room for to sort n: always n, nothing is written beyond.  Either pointer may be null. */
hs_status hs_pad(const hs_sort *sort, uint64_t n, uint64_t *source, uint64_t *destination);

/* The bytes of scratch that sorting n keys needs; 0: none. */
hs_status hs_scratch(const hs_sort *sort, uint64_t n, uint64_t *bytes);

/* The same for a call with these options, null for none: discard_keys needs more.  HS_ERROR_OPTION and HS_ERROR_RANGE
 * where the sort does not take them. */
hs_status hs_scratch_with(const hs_sort *sort, uint64_t n, const hs_options *options, uint64_t *bytes);

/* A pass in which work-groups wait for each other may starve on a device that does not let all of them go on.  It is
 * then done again in a way that waits for nothing, by later launches of the same sort; the result is right either way.
 * Where in scratch a sort of n keys, once it has run, tells of that: `bytes` from `offset` on, 0 if that never is. */
hs_status hs_device_status_at(const hs_sort *sort, uint64_t n, uint64_t *offset, uint64_t *bytes);

/* How many passes were done again, by the bytes that lie there, copied to the host; 0 bytes: none.  Of segments:
 * HS_ERROR_SEGMENTS if they were refused, whose `redone` is then not 0. */
hs_status hs_device_status(const hs_sort *sort, const void *words, uint64_t bytes, uint32_t *redone);

/* What two reports of a check, of an array before it was sorted and after it, say of the sort: a sum of these.  The
 * values of stable sorts are looked at where they were ascending places before. */
enum { HS_FAULT_ORDER = 1,  /* keys are out of order */
       HS_FAULT_KEYS = 2,   /* they are not the keys that there were, or not as many */
       HS_FAULT_VALUES = 4, /* a value is not beside its key */
       HS_FAULT_STABLE = 8, /* equal keys are not in the order that they had */
       HS_FAULT_BEYOND = 16 /* something was written behind the keys, or the values */ };
hs_status hs_digest_compare(const uint32_t before[8], const uint32_t after[8], int stable, uint32_t *faults);

/* The bytes of one of the n items: a key, or a row of a scan's table. */
static inline uint64_t hs_item_bytes(const hs_sort *sort) { return (uint64_t)sort->columns * sort->key_bytes; }

/* The bytes of an element of the buffer that plays a role, to which it is aligned. */
static inline uint32_t hs_element(const hs_sort *sort, hs_role role)
{
    if (role == HS_SOURCE || role == HS_DESTINATION || (role == HS_OTHER_INPUT && sort->kind == HS_MERGE))
        return sort->key_bytes;
    return role == HS_VALUES || role == HS_VALUES_OUT || role == HS_OTHER_VALUES ? sort->value_bytes : 4;
}

/* What a buffer of a call is, to the runtimes: `room` bytes from `begin` on, of the memory that `where` tells from
 * others (0: none is given).  hs_survey fills in the rest. */
typedef struct hs_span {
    uint64_t where, begin, room;
    uint64_t bytes; /* that the sort touches; 0: the role is not played */
    hs_role from;   /* the role whose buffer it is: in place that of the source, of discarded keys that of scratch */
} hs_span;

/* A call as plans are played: n items (with a count on the device the most that there can be), and the number besides
 * n, of segments, of the keys of the first of two arrays, of the elements to look at, or the shift of keys. */
typedef struct hs_call {
    uint64_t n, parts;
    const hs_options *options; /* may be null, and must be such as the sort takes */
    int in_place, device_count;     /* whether it is sorted in place; whether a count lies on the device */
    int rows;                  /* whether segments are rows of equal length */
} hs_call;

/* Whether a call for n items launches nothing. */
static inline int hs_idle(const hs_sort *sort, uint64_t n)
{
    uint32_t i;
    for (i = 0; n == 0 && i < sort->step_count; i++)
        if (sort->steps[i].guard.at_zero) return 0;
    return n == 0;
}

/* For the runtimes: check all of a call that no API has a say in, and complete it and its buffers.  `call` has n, parts
 * and options, not null.  A destination of 0 is in place.  Where the call is idle, nothing but options and parts is
 * looked at. */
hs_status hs_survey(const hs_sort *sort, hs_call *call, hs_span spans[HS_ROLES]);

/* The interpreter of plans.  Work-groups that a step launches; 0 where its guard excludes the call.  Where it is
 * counted, a guard that excludes n may let a lesser count pass.  A step of HS_INDIRECT_GRIDS is for hosts that can launch
 * by a grid in device memory; they launch it by themselves. */
static inline uint64_t hs_groups(const hs_step *step, const hs_call *call)
{
    const hs_guard *guard = &step->guard;
    const hs_grid_rule *grid = &step->grid;
    const uint64_t n = call->n;
    int64_t whole;
    uint64_t groups;
    if (n <= guard->min_n && !(n == 0 && guard->at_zero)) return 0;
    if (step->argument.kind == HS_INDIRECT_GRIDS || (n > guard->max_n && !call->device_count)) return 0;
    if (guard->place == (uint32_t)(call->in_place ? HS_OUT_OF_PLACE : HS_IN_PLACE)) return 0;
    whole = (int64_t)(grid->x == HS_BY_NUMBER ? call->parts : n < guard->max_n ? n : guard->max_n) + grid->add;
    if (whole <= 0) return 0;
    groups = (uint64_t)whole / grid->div * grid->mul;
    return groups < grid->cap ? groups : grid->cap;
}

/* The passes over digits of at most `bits` bits that a range of `range` bits takes; an empty one takes one. */
static inline uint32_t hs_passes(uint32_t range, uint32_t bits) { return range > bits ? (range + bits - 1) / bits : 1; }

/* The flags that a call adds to the arguments of its kernels. */
static inline uint32_t hs_flags(const hs_call *call)
{
    const hs_options *options = call->options;
    const uint32_t kind = options ? (uint32_t)options->type & 15u : 0;
    uint32_t flags = 0;
    if (kind) flags |= HS_SIGNED;
    if (kind == 2) flags |= HS_FLOAT;
    if (options && options->descending) flags |= HS_DESCENDING;
    if (options && options->discard_keys) flags |= HS_DISCARD;
    if (call->device_count) flags |= HS_DEVICE_COUNT;
    if (call->rows) flags |= HS_ROWS;
    return flags;
}

/* Whether the range of bits lets a step run, and what its kernel then gets. */
static inline int hs_argument(const hs_sort *sort, const hs_step *step, const hs_call *call, int32_t *argument)
{
    const hs_options *options = call->options;
    const hs_argument_rule *rule = &step->argument;
    const uint32_t end = options && options->end_bit ? options->end_bit : sort->key_bits;
    const uint32_t begin = options ? options->begin_bit : 0, range = end - begin, first = sort->first_bit + begin;
    const uint32_t value = (uint32_t)rule->value;
    uint32_t flags = rule->flags | hs_flags(call), passes, least, more, low = 0;
    if (call->in_place) flags &= ~(uint32_t)HS_DIRECT;
    if (step->guard.range == (uint32_t)(range == sort->key_bits ? HS_SOME_BITS : HS_ALL_BITS)) return 0;
    switch (rule->kind) {
    case HS_LITERAL: low = value; break;
    case HS_PASS:
        /* as few digits as the range takes, as even as that leaves, the wide ones first */
        passes = hs_passes(range, rule->bits);
        least = range / passes;
        more = range % passes;
        if (value >= passes) return 0;
        low = value | (first + value * least + (value < more ? value : more)) << 8 | (least + (value < more)) << 16;
        /* were it the first to move keys, the last would end elsewhere */
        if ((passes - value) % 2 == 0) flags &= ~(uint32_t)HS_DIRECT;
        if (passes - value > 1) flags &= ~(uint32_t)HS_DISCARD;
        break;
    case HS_BIT_RANGE: low = (sort->first_bit + end) | first << 8; break;
    case HS_PASS_COUNT: low = hs_passes(range, rule->bits); break;
    case HS_CALL_NUMBER:
        low = (uint32_t)call->parts;
        flags = 0;
        break;
    default: return 0;
    }
    *argument = (int32_t)(low | flags);
    return 1;
}

/* A bound of a step as a kernel of a counted sort gets it. */
static inline int32_t hs_bound(uint64_t n) { return n < INT32_MAX ? (int32_t)n : INT32_MAX; }

/* The same groups as a grid of at most `limit` in each dimension; 0 if that cannot be.  It may hold more groups than
 * asked for: kernels ignore those beyond their work. */
static inline int hs_grid(uint64_t groups, uint64_t limit, uint32_t grid[2])
{
    const uint64_t rows = limit ? (groups + limit - 1) / limit : 0;
    if (rows == 0 || rows > limit) return 0;
    grid[0] = (uint32_t)((groups + rows - 1) / rows);
    grid[1] = (uint32_t)rows;
    return 1;
}

/* Where a binding begins in its buffer, in bytes; in scratch a multiple of 1024, which suits every device seen (NVIDIA's
 * OpenCL asks for 512).  A plan's scratch counts what is lost by it. */
static inline uint64_t hs_offset(const hs_binding *binding, uint64_t n)
{
    const uint64_t bytes = binding->plus + binding->per_n * n;
    return binding->role == HS_SCRATCH ? (bytes + 1023) / 1024 * 1024 : bytes;
}

#ifdef __cplusplus
}
#endif
#endif
