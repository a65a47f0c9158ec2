/* SPDX-License-Identifier: MIT-0
 * A Vulkan device with a sorter of u32 keys, and buffers that the host sees: what src/lib.rs calls. */
#include "hs/hs_targets.h"
#include "hs/hs_vulkan.h"

#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { DEVICES = 32 };

typedef struct memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize bytes;
    void *mapped;
} memory;

typedef struct hsr {
    VkInstance instance;
    VkDevice device;
    VkQueue queue;
    VkDescriptorPool sets;
    VkCommandPool pool;
    VkCommandBuffer commands;
    hs_vulkan_device where;
    hs_vulkan *sorter;
    const hs_sort *sort;
    memory keys, values, scratch;
    uint64_t most;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    char target[64];
} hsr;

static VkResult make_instance(hsr *p)
{
    VkApplicationInfo application;
    VkInstanceCreateInfo info;
    memset(&application, 0, sizeof application);
    memset(&info, 0, sizeof info);
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_3;
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    return vkCreateInstance(&info, NULL, &p->instance);
}

/* The first device that a target of the bundle sorts on, with the features that the sort can use. */
static hs_status pick(hsr *p, const char *value)
{
    VkPhysicalDevice devices[DEVICES];
    uint32_t i, needed, count = DEVICES;
    if (vkEnumeratePhysicalDevices(p->instance, &count, devices) < 0) return HS_ERROR_API;
    p->where.instance = p->instance;
    p->where.get_proc = vkGetInstanceProcAddr;
    for (i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        p->where.physical = devices[i];
        p->where.features = HS_VULKAN_INT64;
        if (properties.apiVersion >= VK_API_VERSION_1_3)
            p->where.features |= HS_VULKAN_SUBGROUP_SIZE | HS_VULKAN_MAINTENANCE4;
        if (hs_vulkan_match(hs_targets, hs_targets_count, "u32", value, &p->where, &p->sort) == HS_OK && p->sort) {
            uint32_t useful, enabled = p->where.features;
            hs_status status = hs_vulkan_features(p->sort, &p->where, &needed, &useful);
            p->where.features = useful & enabled;
            strcpy(p->name, properties.deviceName);
            return status;
        }
    }
    return HS_ERROR_DEVICE;
}

static VkResult make_device(hsr *p)
{
    const float priority = 1;
    VkPhysicalDeviceSubgroupSizeControlFeatures control;
    VkPhysicalDeviceMaintenance4Features maintenance;
    VkPhysicalDeviceFeatures enable;
    VkQueueFamilyProperties families[DEVICES];
    VkDeviceQueueCreateInfo queue;
    VkDeviceCreateInfo info;
    VkCommandPoolCreateInfo pool;
    uint32_t count = DEVICES, family = 0;
    VkResult code;
    memset(&control, 0, sizeof control);
    memset(&maintenance, 0, sizeof maintenance);
    memset(&enable, 0, sizeof enable);
    memset(&queue, 0, sizeof queue);
    memset(&info, 0, sizeof info);
    memset(&pool, 0, sizeof pool);
    vkGetPhysicalDeviceQueueFamilyProperties(p->where.physical, &count, families);
    while (family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) family++;
    if (family == count) return VK_ERROR_FEATURE_NOT_PRESENT;
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.pEnabledFeatures = &enable;
    enable.shaderInt64 = p->where.features & HS_VULKAN_INT64 ? VK_TRUE : VK_FALSE;
    if (p->where.features & HS_VULKAN_SUBGROUP_SIZE) {
        control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
        control.subgroupSizeControl = control.computeFullSubgroups = VK_TRUE;
        info.pNext = &control;
    }
    if (p->where.features & HS_VULKAN_MAINTENANCE4) {
        maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES;
        maintenance.maintenance4 = VK_TRUE;
        maintenance.pNext = (void *)info.pNext;
        info.pNext = &maintenance;
    }
    code = vkCreateDevice(p->where.physical, &info, NULL, &p->device);
    if (code) return code;
    p->where.device = p->device;
    vkGetDeviceQueue(p->device, family, 0, &p->queue);
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = family;
    return vkCreateCommandPool(p->device, &pool, NULL, &p->pool);
}

static VkResult make_memory(hsr *p, VkDeviceSize bytes, VkMemoryPropertyFlags flags, memory *to)
{
    VkBufferCreateInfo info;
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties types;
    VkMemoryAllocateInfo allocate;
    VkResult code;
    memset(&info, 0, sizeof info);
    memset(&allocate, 0, sizeof allocate);
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = to->bytes = bytes ? bytes : 4;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    code = vkCreateBuffer(p->device, &info, NULL, &to->buffer);
    if (code) return code;
    vkGetBufferMemoryRequirements(p->device, to->buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(p->where.physical, &types);
    while (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
           (types.memoryTypes[allocate.memoryTypeIndex].propertyFlags & flags) != flags)
        allocate.memoryTypeIndex++; /* Vulkan promises that there is one */
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.allocationSize = needs.size;
    code = vkAllocateMemory(p->device, &allocate, NULL, &to->memory);
    if (!code) code = vkBindBufferMemory(p->device, to->buffer, to->memory, 0);
    if (!code && (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
        code = vkMapMemory(p->device, to->memory, 0, VK_WHOLE_SIZE, 0, &to->mapped);
    return code;
}

static VkResult make_buffers(hsr *p, int valued)
{
    const VkMemoryPropertyFlags seen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0};
    VkDescriptorPoolCreateInfo sets;
    VkCommandBufferAllocateInfo allocate;
    uint64_t scratch = 0;
    VkResult code = make_memory(p, 4 * p->most, seen, &p->keys);
    memset(&sets, 0, sizeof sets);
    memset(&allocate, 0, sizeof allocate);
    if (!code && valued) code = make_memory(p, 4 * p->most, seen, &p->values);
    if (!code && hs_scratch(p->sort, p->most, &scratch) != HS_OK) code = VK_ERROR_UNKNOWN;
    if (!code) code = make_memory(p, scratch, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &p->scratch);
    sets.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    hs_vulkan_descriptors(p->sorter, &sets.maxSets, &size.descriptorCount);
    sets.poolSizeCount = 1;
    sets.pPoolSizes = &size;
    if (!code) code = vkCreateDescriptorPool(p->device, &sets, NULL, &p->sets);
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandBufferCount = 1;
    allocate.commandPool = p->pool;
    return code ? code : vkAllocateCommandBuffers(p->device, &allocate, &p->commands);
}

static void drop(hsr *p, memory *m)
{
    vkDestroyBuffer(p->device, m->buffer, NULL);
    vkFreeMemory(p->device, m->memory, NULL);
}

void hsr_close(hsr *p)
{
    if (!p) return;
    if (p->device) {
        hs_vulkan_release(p->sorter);
        vkDestroyCommandPool(p->device, p->pool, NULL);
        vkDestroyDescriptorPool(p->device, p->sets, NULL);
        drop(p, &p->keys);
        drop(p, &p->values);
        drop(p, &p->scratch);
        vkDestroyDevice(p->device, NULL);
    }
    if (p->instance) vkDestroyInstance(p->instance, NULL);
    free(p);
}

/* A sorter of up to `most` keys, with u32 values if `valued`; hsr_close releases it. */
int32_t hsr_open(uint64_t most, int32_t valued, hsr **to)
{
    hsr *p = (hsr *)calloc(1, sizeof *p);
    hs_vulkan_create_options options;
    hs_status status = p ? HS_OK : HS_ERROR_HOST_MEMORY;
    hs_info info;
    VkResult code = VK_SUCCESS;
    *to = NULL;
    memset(&options, 0, sizeof options);
    options.scope.max_n = most;
    if (status == HS_OK && make_instance(p)) status = HS_ERROR_API;
    if (status == HS_OK) status = pick(p, valued ? "v4" : NULL);
    if (status == HS_OK && make_device(p)) status = HS_ERROR_API;
    if (status == HS_OK) status = hs_vulkan_create_with(p->sort, &p->where, &options, &p->sorter, &code);
    if (status == HS_OK) status = hs_describe(p->sort, &info);
    if (status == HS_OK) strncpy(p->target, info.target, sizeof p->target - 1);
    if (status == HS_OK) p->most = most;
    if (status == HS_OK && make_buffers(p, valued)) status = HS_ERROR_API;
    if (status != HS_OK) hsr_close(p);
    if (status == HS_OK) *to = p;
    return (int32_t)status;
}

/* Sort n keys in place, and values with them unless null. */
int32_t hsr_sort(hsr *p, uint32_t *keys, uint32_t *values, uint64_t n)
{
    VkCommandBufferBeginInfo begin;
    VkMemoryBarrier barrier;
    VkSubmitInfo submit;
    hs_vulkan_sort_args args;
    hs_status status;
    VkResult code;
    if (n > p->most || !values != !p->values.buffer) return HS_ERROR_ARGUMENT;
    if (n < 2) return HS_OK;
    memset(&begin, 0, sizeof begin);
    memset(&barrier, 0, sizeof barrier);
    memset(&submit, 0, sizeof submit);
    memset(&args, 0, sizeof args);
    memcpy(p->keys.mapped, keys, 4 * (size_t)n);
    if (values) memcpy(p->values.mapped, values, 4 * (size_t)n);
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    code = vkResetDescriptorPool(p->device, p->sets, 0);
    if (!code) code = vkBeginCommandBuffer(p->commands, &begin);
    if (code) return HS_ERROR_API;
    args.n = n;
    args.source.buffer = p->keys.buffer;
    args.source.size = p->keys.bytes;
    args.values.buffer = p->values.buffer;
    args.values.size = p->values.bytes;
    args.scratch.buffer = p->scratch.buffer;
    args.scratch.size = p->scratch.bytes;
    args.pool = p->sets;
    status = hs_vulkan_sort(p->sorter, p->commands, &args, &code);
    if (status != HS_OK) return (int32_t)status;
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(p->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                         NULL, 0, NULL);
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &p->commands;
    code = vkEndCommandBuffer(p->commands);
    if (!code) code = vkQueueSubmit(p->queue, 1, &submit, VK_NULL_HANDLE);
    if (!code) code = vkQueueWaitIdle(p->queue);
    if (code) return HS_ERROR_API;
    memcpy(keys, p->keys.mapped, 4 * (size_t)n);
    if (values) memcpy(values, p->values.mapped, 4 * (size_t)n);
    return HS_OK;
}

const char *hsr_device(const hsr *p) { return p->name; }
const char *hsr_target(const hsr *p) { return p->target; }
const char *hsr_text(int32_t status) { return hs_status_text((hs_status)status); }
