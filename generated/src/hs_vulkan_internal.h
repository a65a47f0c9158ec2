/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Declarations that the files of the Vulkan runtime share. */
#ifndef HS_VULKAN_INTERNAL_H
#define HS_VULKAN_INTERNAL_H

#include "hs/hs_vulkan.h"
#include "hs_internal.h"

/* HS_HLSL is 1 if the kernels were compiled from HLSL.  Bindings then end with a whole 32-bit word, and a kernel's
 * subgroup may be a part of the device's subgroup. */
#ifndef HS_HLSL
#define HS_HLSL 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The device-level Vulkan functions that the runtime calls. */
#define HS_CALLS(X)                                                                                                   \
    X(CreateShaderModule) X(DestroyShaderModule) X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout)           \
    X(CreatePipelineLayout) X(DestroyPipelineLayout) X(CreateComputePipelines) X(DestroyPipeline)                     \
    X(AllocateDescriptorSets) X(UpdateDescriptorSets) X(CmdBindPipeline) X(CmdBindDescriptorSets)                     \
    X(CmdPushConstants) X(CmdPipelineBarrier) X(CmdDispatch) X(CmdDispatchIndirect) X(CmdWriteTimestamp)
#define HS_MEMBER(name) PFN_vk##name name;

/* The forms of kernels: how a kernel gets its buffers. */
enum { HS_BY_DESCRIPTOR = 0, HS_BY_ADDRESS = 1, HS_FORMS = 2 };

/* The most distinct binding lists of a plan.  With this bound, recording allocates no host memory for their sets. */
enum { HS_SETS = 64 };

/* A pipeline of a sorter; `require` is 1 if it asks for the kernel's subgroup width. */
typedef struct hs_vulkan_job {
    uint32_t form, kernel;
    int require;
} hs_vulkan_job;

struct hs_vulkan {
    const hs_sort *sort;
    VkDevice device;
    VkAllocationCallbacks callbacks;
    const VkAllocationCallbacks *allocator; /* null or the copy above */
    HS_CALLS(HS_MEMBER)
    PFN_vkCmdPushDescriptorSetKHR CmdPushDescriptorSet; /* null unless `binding` is HS_VULKAN_BY_PUSH */
    VkPipelineCache cache;
    hs_scope scope;
    hs_vulkan_binding binding;
    uint64_t alignment, range_limit, binding_limit; /* two limits of the device; the largest bound range */
    uint32_t max_groups;
    VkDescriptorSetLayout set_layouts[HS_BINDINGS + 1]; /* by the number of bindings */
    VkPipelineLayout layouts[HS_FORMS][HS_BINDINGS + 1];
    VkPipeline *pipelines[HS_FORMS]; /* for each kernel; null if the kernel has no pipeline of this kind */
    hs_vulkan_job *jobs;             /* the pipelines of a complete sorter */
    uint32_t job_count;
    hs_vulkan *first;                /* the sorter of the first sort, which takes calls until `use`; null if none */
    int use;                         /* if there is `first`: 1 once calls use the pipelines of this sorter instead */
    uint32_t *set_of;                /* for each step: the index of its binding list among the distinct lists */
    uint32_t set_count, storage_buffers;
};

/* The properties of a physical device. `features` are those that the device offers, enabled or not. */
typedef struct hs_vulkan_facts {
    VkPhysicalDeviceProperties base;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceSubgroupSizeControlPropertiesEXT control;
    VkPhysicalDeviceDriverPropertiesKHR driver;
    uint32_t features;
} hs_vulkan_facts;

/* A call of any operation.  `number` and `take` are those of hs_call: for example segment_count, capacity or shift. */
typedef struct hs_vulkan_record {
    hs_kind kind;
    uint64_t n, number, take;
    hs_options options;
    hs_vulkan_buffer given[HS_ROLES];
    VkDescriptorPool pool;
    VkPipelineStageFlags stages;
    VkAccessFlags accesses;
    hs_vulkan_timestamps timestamps;
} hs_vulkan_record;

/* The status for a result code of Vulkan; stores the code in `result`, unless `result` is null. */
HS_INTERNAL hs_status hs_vulkan_status(VkResult code, VkResult *result);

/* Query a physical device. */
HS_INTERNAL hs_status hs_vulkan_ask(const hs_vulkan_device *device, hs_vulkan_facts *facts, VkResult *result);

/* 1 if a pipeline can require the kernel's subgroup width.  Some drivers ignore a width beyond their range. */
HS_INTERNAL int hs_vulkan_can_require(const hs_kernel *kernel, const hs_vulkan_facts *facts, uint32_t features);

/* Check that a sort runs on a physical device of which these features are enabled. */
HS_INTERNAL hs_status hs_vulkan_able(const hs_sort *sort, const hs_vulkan_facts *facts, uint32_t features);

/* The push constants of a kernel: an index or address for each binding, n, the argument, and two
 * numbers that few kernels read. */
static inline uint32_t hs_vulkan_push_bytes(uint32_t bindings) { return 8 * bindings + 16; }

/* The number of pipelines that are missing. */
HS_INTERNAL uint32_t hs_vulkan_missing(const hs_vulkan *s);

/* Check a call and record it; `record` is null if the caller passed null for the arguments of the call. */
HS_INTERNAL hs_status hs_vulkan_run(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_record *record,
                                    VkResult *result);

#ifdef __cplusplus
}
#endif
#endif
