/* Sorts as data, and what all APIs share.  C99 that is also C++.
 *
 * A *sort* (hs_sort) is a constant that a target's C file defines: its kernels and its plan.  A *sorter* is a sort made
 * ready for a device, by hs_opencl_create, hs_vulkan_create or hs_cuda_create.  Nothing here allocates device memory,
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
    HS_ERROR_SCRATCH,     /* less scratch than hs_scratch says */
    HS_ERROR_ALIGNMENT,   /* an offset that is no multiple of the size of a key, or of what the device asks */
    HS_ERROR_OVERLAP,     /* source and destination overlap without being the same */
    HS_ERROR_KERNELS,     /* the sort holds no kernels for this API */
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
enum { HS_ROLES = 3, HS_BINDINGS = 4 };

/* One buffer of a step: it begins hs_offset(binding, n) bytes into the buffer that plays the role. */
typedef struct hs_binding {
    hs_role role;
    uint64_t plus, per_n;
} hs_binding;

/* One guarded launch: only if min_n < n <= max_n, with min((n + add) / div * mul, cap) work-groups. */
typedef struct hs_step {
    uint32_t kernel; /* index into the sort's kernels */
    int32_t argument;
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
} hs_kernel;

/* A SPIR-V module with one entry point, main; null where a kernel is never used in this form. */
typedef struct hs_spirv {
    const uint32_t *words;
    size_t bytes;
} hs_spirv;

typedef struct hs_sort {
    const char *target, *algorithm, *key; /* "intel-gen8", "merge", "u32" */
    uint32_t key_bytes, value_bytes;
    uint32_t block;      /* keys that one work-group sorts */
    uint32_t pair;       /* 1: 64-bit keys are handled as two 32-bit words */
    uint32_t max_groups; /* the target's greatest grid in one dimension, in work-groups */
    uint32_t kernel_count, step_count;
    const hs_kernel *kernels;
    const hs_step *steps;
    uint64_t max_n;
    uint64_t scratch_plus, scratch_per_n; /* bytes */
    const char *const *opencl;            /* the OpenCL C source, line by line; null if not generated */
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

/* The sort of `key` ("u32") of the target that suits the device best (nth 0), second best (1) and so on, targets that
 * suit it equally in their order; null where there are no more. */
const hs_sort *hs_candidate(const hs_target *const *targets, size_t count, const char *key, const hs_device *device,
                            size_t nth);

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

/* The interpreter of plans.  Work-groups that a step launches for n keys; 0 where its guard excludes n. */
static inline uint64_t hs_groups(const hs_step *step, uint64_t n)
{
    int64_t whole;
    uint64_t groups;
    if (n <= step->min_n || n > step->max_n) return 0;
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
