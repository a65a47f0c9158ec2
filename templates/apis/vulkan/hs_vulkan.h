/* Sorting with Vulkan 1.1 and later.  Calls are recorded into the caller's command buffer. */
#ifndef HS_VULKAN_H
#define HS_VULKAN_H

#include "hs/hs.h"

#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The pipelines of a sort or another operation, for one device.
 *
 * THREADS: "any thread" means that concurrent calls are allowed, also with the same sorter. Recording only reads a
 * sorter, so threads may share it; command buffers, descriptor pools and ranges of a query pool are for one thread at a
 * time, as always in Vulkan. If several threads create or destroy sorters at once, the allocation callbacks and the
 * pipeline cache must permit it. */
typedef struct hs_vulkan hs_vulkan;

/* Features of a device that a sort may use, if the caller enabled them when the device was created. */
enum {
    HS_VULKAN_INT64 = 1,         /* VkPhysicalDeviceFeatures::shaderInt64 */
    HS_VULKAN_SUBGROUP_SIZE = 2, /* subgroupSizeControl and computeFullSubgroups (VK_EXT_subgroup_size_control) */
    HS_VULKAN_ADDRESS = 4,       /* bufferDeviceAddress (VK_KHR_buffer_device_address); shaderInt64 is not needed */
    HS_VULKAN_MAINTENANCE4 = 8,  /* maintenance4, which SPIR-V 1.6 requires: for sorts that need Vulkan 1.3 */
    HS_VULKAN_STORAGE8 = 16,     /* storageBuffer8BitAccess (VK_KHR_8bit_storage): for sorts of 8-bit keys */
    HS_VULKAN_STORAGE16 = 32     /* storageBuffer16BitAccess (Vulkan 1.1): for sorts of 16-bit keys */
};

/* No Vulkan function is linked: all are looked up through `get_proc`. */
typedef struct hs_vulkan_device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    PFN_vkGetInstanceProcAddr get_proc;     /* vkGetInstanceProcAddr, of the loader or of a table such as volk's */
    const VkAllocationCallbacks *allocator; /* may be null */
    VkPipelineCache cache;                  /* may be null; in use until the last pipeline is made */
    uint32_t features;                      /* the enabled features, a sum of HS_VULKAN_... */
    uint64_t binding_limit; /* the most bytes to bind by descriptor; 0: the device's maxStorageBufferRange.  Larger
                               buffers are passed by address, if the sort has kernels for addresses. */
} hs_vulkan_device;

/* The features that a sort needs (`needed`) and those that it can use (`useful`, which includes `needed`), as
 * HS_VULKAN_... bits.  Call this function before the device is created.  Only instance, physical and get_proc of
 * `device` are read.  HS_ERROR_DEVICE if the physical device cannot run the sort, regardless of features.  Any
 * thread. */
hs_status hs_vulkan_features(const hs_sort *sort, const hs_vulkan_device *device, uint32_t *needed, uint32_t *useful);

/* The way in which kernels get their buffers. */
typedef enum hs_vulkan_binding {
    HS_VULKAN_BY_SET = 0, /* by descriptor sets, which calls take from their pool */
    HS_VULKAN_BY_PUSH,    /* by push descriptors, which the device has enabled: VK_KHR_push_descriptor or, in Vulkan
                             1.4, pushDescriptor.  Calls need no pool. */
    HS_VULKAN_BY_ADDRESS  /* by device address alone, with HS_VULKAN_ADDRESS among the features.  Calls need no pool,
                             and all their buffers have an address.  HS_ERROR_KERNELS if the sort lacks such a
                             kernel. */
} hs_vulkan_binding;

/* Options for the creation of a sorter.  All members 0: the sorter gets the pipelines for all calls, and no first
 * sort. */
typedef struct hs_vulkan_create_options {
    hs_scope scope; /* the calls for which the sorter is created */
    hs_vulkan_binding binding;
    uint32_t deferred; /* 1: creation makes no pipelines; hs_vulkan_create_next or hs_vulkan_create_pipeline does */
    uint32_t first;    /* 1: start with the sort's `first` sort, if it has one, which compiles faster.  Creation makes
                          only its pipelines.  Calls use these until hs_vulkan_create_next has seen that all other
                          pipelines exist.  With `deferred`, creation makes none; the first sort's come first. */
} hs_vulkan_create_options;

/* Make a sorter for all calls of a sort, with descriptor sets.  If the sort has a `first` sort that takes every count,
 * only the pipelines of the first sort are made.  Calls are then possible at once, but slow for many keys until a
 * thread has made the other pipelines (hs_vulkan_create_pipeline, hs_vulkan_create_next).  If HS_VULKAN_ADDRESS is
 * among the features, pipelines that take device addresses are made too, for buffers beyond the binding limit.
 * `result`, if not null, gets Vulkan's result code.  Any thread. */
hs_status hs_vulkan_create(const hs_sort *sort, const hs_vulkan_device *device, hs_vulkan **sorter, VkResult *result);

/* hs_vulkan_create with options; null options have the same effect as hs_vulkan_create.  Pipelines for buffers beyond
 * the binding limit are made only if the scope has calls with such buffers.  Any thread. */
hs_status hs_vulkan_create_with(const hs_sort *sort, const hs_vulkan_device *device,
                                const hs_vulkan_create_options *options, hs_vulkan **sorter, VkResult *result);

/* Make the next pipeline of a deferred sorter; `left`, if not null, gets the number of pipelines that are still
 * missing.  Until this number is 0, calls get HS_ERROR_SCOPE, or use the pipelines of the first sort.  A failed call
 * may be repeated.  One thread at a time for a sorter, while no thread records with it. */
hs_status hs_vulkan_create_next(hs_vulkan *sorter, uint32_t *left, VkResult *result);

/* Make pipeline `index`, from 0, of a deferred sorter, if it is missing.  Several threads may make pipelines of the
 * same sorter at the same time, each with different indices.  Meanwhile no thread may call hs_vulkan_create_next or
 * record with the sorter.  Once the pipelines of a first sort exist, other threads may record.  A later
 * hs_vulkan_create_next makes calls use the new pipelines. */
hs_status hs_vulkan_create_pipeline(hs_vulkan *sorter, uint32_t index, VkResult *result);

/* The number of pipelines that a sorter has when it is complete, those of its first sort among them.  Any thread. */
uint32_t hs_vulkan_pipeline_count(const hs_vulkan *sorter);

/* The number of pipelines of the first sort, which have the indices from 0 on; calls are possible once these pipelines
 * exist.  0 if the sorter was created without such a sort.  Any thread. */
uint32_t hs_vulkan_first_count(const hs_vulkan *sorter);

/* Destroy the pipelines; null does nothing.  No command buffer that uses the pipelines may still run, and no other
 * thread may use the sorter at the same time. */
void hs_vulkan_release(hs_vulkan *sorter);

/* The size in bytes of the scratch memory that a call for n items needs: that of hs_scratch_with or, if the sorter has
 * a first sort that needs more, the size for the first sort.  Any thread. */
hs_status hs_vulkan_scratch(const hs_vulkan *sorter, uint64_t n, const hs_options *options, uint64_t *bytes);

/* The sort for which a sorter was created, for hs_describe, hs_pad and hs_scratch.  Any thread. */
const hs_sort *hs_vulkan_sort_of(const hs_vulkan *sorter);

/* The greatest numbers of descriptor sets and of storage-buffer descriptors that one call takes from its pool.  Both
 * are 0 if calls use no descriptor sets.  Any thread. */
void hs_vulkan_descriptors(const hs_vulkan *sorter, uint32_t *sets, uint32_t *storage_buffers);

/* The greatest number of timestamps that a call for n items writes.  Any thread. */
hs_status hs_vulkan_queries(const hs_vulkan *sorter, uint64_t n, uint32_t *count);

/* A part of a buffer.  `offset` is a multiple of the element size; larger alignment is not required. */
typedef struct hs_vulkan_buffer {
    VkBuffer buffer;
    VkDeviceSize offset, size; /* bytes; not VK_WHOLE_SIZE, since the size of a buffer cannot be queried */
    VkDeviceAddress address;   /* the device address of the buffer's start; 0 if kernels may not use it */
} hs_vulkan_buffer;

/* Timestamps of a call: one before its first launch, and one after each. */
typedef struct hs_vulkan_timestamps {
    VkQueryPool pool;  /* of VK_QUERY_TYPE_TIMESTAMP; null: the call writes no timestamps */
    uint32_t first;    /* the index of the first query; the caller resets hs_vulkan_queries queries before the call */
    uint32_t *written; /* if not null: gets the number of timestamps that the call writes */
} hs_vulkan_timestamps;

/* Calls.  Set unused members to 0; a null buffer means that the call has no such buffer.  Buffers need
 * VK_BUFFER_USAGE_STORAGE_BUFFER_BIT.  With `count`, scratch also needs VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT. */

/* Calls are recorded.  The result is written by VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT with VK_ACCESS_SHADER_WRITE_BIT;
 * the caller's barrier makes it visible to later commands.  A call binds a compute pipeline, descriptor set 0 and push
 * constants.  Arguments are checked before anything is recorded, and no memory is allocated.  `result`, if not null,
 * gets Vulkan's result code.  HS_ERROR_COUNT if the count needs kernels for 64-bit counts, which do not exist for
 * Vulkan.  Any thread. */

/* HSGEN_CALLS */

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves.  Of the sorts of these targets that run on
 * the physical device, the result is the one that suits the device best; null if there is none.  A sort may use the
 * features in `device` that the physical device offers (UINT32_MAX: all features).  A query or an allocation that fails
 * is an error.  Of `device`, only instance, physical, get_proc and features are read.  Any thread. */
hs_status hs_vulkan_match(const hs_target *const *targets, size_t count, const char *key, const char *value,
                          const hs_vulkan_device *device, const hs_sort **sort);

/* hs_vulkan_match for sorts of `kind` instead of HS_SORT. */
hs_status hs_vulkan_match_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, const hs_vulkan_device *device, const hs_sort **sort);

/* Writes the reasons why a match of these arguments returned null to `text`, a buffer of `room` bytes: a line for each
 * target, as from hs_explain.  Any thread. */
hs_status hs_vulkan_explain(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                            const char *value, const hs_vulkan_device *device, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
