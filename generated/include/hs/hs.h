/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 0.3.0; do not edit. */
/* Sorts as data, and what all APIs share.  C99 that is also C++.
 *
 * A *sort* (hs_sort) is a constant that a target's C file defines: its kernels and its plan.  A scan, the prefix sums
 * of the columns of a table, is one too, of another kind.  A *sorter* is a sort made ready for a device, by
 * hs_opencl_create, hs_vulkan_create or hs_cuda_create.  Nothing here allocates device memory,
 * keeps a global state or ends the program: every call that can fail returns a status. */
#ifndef HS_H
#define HS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HS_VERSION "0.3.0"

typedef enum hs_status {
    HS_OK = 0,
    HS_ERROR_ARGUMENT,    /* a null pointer or a handle that may not be null */
    HS_ERROR_COUNT,       /* more keys than the plan sorts, or than the buffer holds */
    HS_ERROR_SCRATCH,     /* less scratch than hs_scratch says, or another part of it than hs_outcome_at says */
    HS_ERROR_ALIGNMENT,   /* an offset that is no multiple of the size of a key, or of what the device asks */
    HS_ERROR_OVERLAP,     /* source and destination overlap without being the same */
    HS_ERROR_KERNELS,     /* the sort holds no kernels for this API, or is a scan where a sort is asked for */
    HS_ERROR_DEVICE,      /* the device, or what was enabled of it, lacks what the sort needs, a large enough grid too */
    HS_ERROR_BUILD,       /* the driver refused to build a kernel */
    HS_ERROR_HOST_MEMORY, /* out of host memory */
    HS_ERROR_DEVICE_MEMORY, /* out of device memory, or of descriptors */
    HS_ERROR_DEVICE_LOST, /* the device is lost */
    HS_ERROR_API          /* any other error of the API */
} hs_status;

/* What a status means, as one short English phrase; never null. */
const char *hs_status_text(hs_status status);

/* The version of hsgen that generated these files, HS_VERSION as it was when hs.c was compiled. */
const char *hs_version(void);

/* The buffers of a sort by their role.  Scratch is one buffer, of which every step may see another part. */
typedef enum hs_role { HS_SOURCE = 0, HS_DESTINATION = 1, HS_SCRATCH = 2 } hs_role;
enum { HS_ROLES = 3, HS_BINDINGS = 6 };

/* One buffer of a step: it begins hs_offset(binding, n) bytes into the buffer that plays the role. */
typedef struct hs_binding {
    hs_role role;
    uint64_t plus, per_n;
} hs_binding;

/* Whether a step is for sorting in place, from one buffer to another, or for both. */
enum { HS_ANYWHERE = 0, HS_IN_PLACE = 1, HS_OUT_OF_PLACE = 2 };

/* One guarded launch: only if min_n < n <= max_n and the place fits, with min((n + add) / div * mul, cap) groups. */
typedef struct hs_step {
    uint32_t kernel; /* index into the sort's kernels */
    int32_t argument;
    uint32_t place; /* HS_ANYWHERE, HS_IN_PLACE or HS_OUT_OF_PLACE */
    hs_binding bindings[HS_BINDINGS]; /* as many as the kernel has */
    uint64_t min_n, max_n;
    int64_t add;
    uint64_t div, mul, cap;
} hs_step;

typedef struct hs_kernel {
    const char *name;
    uint32_t work_group;  /* lanes */
    uint32_t subgroup;    /* lanes that exchange values; 1: none do */
    uint32_t local_bytes; /* shared memory of a work-group */
    uint32_t bindings;
    uint32_t ballot; /* 1: lanes of a subgroup vote */
    uint32_t wide;   /* 1: n is handed to it as a 64-bit number, else as an int */
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

/* Where a sort of more than min_n keys says what happened: 32-bit words in scratch, not 0 for a pass done again. */
typedef struct hs_outcome_rule {
    hs_binding binding;
    uint32_t words; /* 0: there is nothing to tell */
    uint64_t min_n;
} hs_outcome_rule;

typedef enum hs_kind { HS_SORT = 0, HS_SCAN = 1 } hs_kind;

typedef struct hs_sort {
    const char *target, *algorithm, *key; /* "intel-gen8", "merge", "u32" */
    hs_kind kind;
    uint32_t columns; /* elements of one of the n items: 1 for keys, those of a row for a scan */
    uint32_t key_bytes, value_bytes; /* bytes of an element, to which buffers are aligned */
    uint32_t block;      /* keys that one work-group sorts */
    uint32_t pair;       /* 1: 64-bit keys are handled as two 32-bit words */
    uint32_t max_groups; /* the target's greatest grid in one dimension, in work-groups */
    uint32_t kernel_count, step_count;
    const hs_kernel *kernels;
    const hs_step *steps;
    uint64_t max_n;
    hs_scratch_rule scratch;
    hs_outcome_rule outcome;
    const char *const *opencl; /* the OpenCL C source, line by line; null if not generated */
    size_t opencl_lines;
    const hs_spirv *spirv;         /* for each kernel, taking descriptors; null if not generated */
    const hs_spirv *spirv_address; /* for each kernel, taking device addresses; null if not generated */
    uint32_t vulkan; /* the version of Vulkan that its SPIR-V needs, instance and device, as 10 * major + minor */
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

/* Of the sorts of `key` ("u32") the first (nth 0), the second (1) and so on, null where there are no more: those of the
 * target that suits the device best, in their order, then those of the second best, targets that suit it equally in
 * their order.  No scans. */
const hs_sort *hs_candidate(const hs_target *const *targets, size_t count, const char *key, const hs_device *device,
                            size_t nth);

/* The sort or scan of a target with this algorithm ("merge") and key ("u32"); null if it has none. */
const hs_sort *hs_find(const hs_target *target, const char *algorithm, const char *key);

/* What users may want to know of a sort. */
typedef struct hs_info {
    const char *target, *algorithm, *key;
    uint32_t key_bytes, value_bytes, block, subgroup;
    uint64_t max_n;
} hs_info;
hs_status hs_describe(const hs_sort *sort, hs_info *info);

/* The keys that buffers must have room for to sort n: always n, nothing is written beyond.  Either pointer may be null. */
hs_status hs_pad(const hs_sort *sort, uint64_t n, uint64_t *source, uint64_t *destination);

/* The bytes of scratch that sorting n keys needs; 0: none. */
hs_status hs_scratch(const hs_sort *sort, uint64_t n, uint64_t *bytes);

/* A pass in which work-groups wait for each other may starve on a device that does not let all of them go on.  It is
 * then done again in a way that waits for nothing, by later launches of the same sort; the result is right either way.
 * Where in scratch a sort of n keys, once it has run, tells of that: `bytes` from `offset` on, 0 if that never is. */
hs_status hs_outcome_at(const hs_sort *sort, uint64_t n, uint64_t *offset, uint64_t *bytes);

/* How many passes were done again, by the bytes that lie there, copied to the host; 0 bytes: none. */
hs_status hs_outcome(const hs_sort *sort, const void *words, uint64_t bytes, uint32_t *redone);

/* The bytes of one of the n items: a key, or a row of a scan's table. */
static inline uint64_t hs_item_bytes(const hs_sort *sort) { return (uint64_t)sort->columns * sort->key_bytes; }

/* The interpreter of plans.  Work-groups that a step launches for n keys, sorted in place or not; 0 where its guard
 * excludes that. */
static inline uint64_t hs_groups(const hs_step *step, uint64_t n, int in_place)
{
    int64_t whole;
    uint64_t groups;
    if (n <= step->min_n || n > step->max_n) return 0;
    if (step->place == (in_place ? HS_OUT_OF_PLACE : HS_IN_PLACE)) return 0;
    whole = (int64_t)n + step->add;
    if (whole <= 0) return 0;
    groups = (uint64_t)whole / step->div * step->mul;
    return groups < step->cap ? groups : step->cap;
}

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
