/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Sort random numbers with Vulkan: a complete program, from the choice of a device to the sorted array. README.md has
 * the command that builds it. The program uses the first device for which the bundle has a target. With a first
 * argument, only devices whose name contains it count. The second argument names a file in which compiled pipelines are
 * kept for the next run. The exit code is 0 if the numbers came back sorted. */
#include "hs/hs_targets.h"
#include "hs/hs_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { DEVICES = 32, REPORT = 8 * sizeof(uint32_t) };

/* What this program can enable. */
enum {
    FEATURES = HS_VULKAN_SUBGROUP_SIZE | HS_VULKAN_INT64 | HS_VULKAN_MAINTENANCE4 | HS_VULKAN_STORAGE8 | HS_VULKAN_STORAGE16
};

/* The sort of this bundle that the program runs: how many keys, their type, and the values that are sorted with
 * them. */
#define KEY "u32"
#define VALUE NULL
enum { COUNT = 100003, KEY_BYTES = 4, VALUE_BYTES = 0 };
enum { MAKES_INDICES = 0 }; /* 1: an argsort; no values are read, and the written values are the
                                                 indices of keys */

/* Key or value i of an array as a number; for wide values, their first 8 bytes.  The host is little-endian, like
 * devices. */
static uint64_t number_at(const void *array, size_t bytes, size_t i)
{
    uint64_t number = 0;
    memcpy(&number, (const char *)array + bytes * i, bytes < sizeof number ? bytes : sizeof number);
    return number;
}

/* Fill in random keys, the same in each run; and, if there are values, the index of each key. */
static void fill(void *keys, void *values)
{
    uint64_t x = 2463534242u, i;
    for (i = 0; i < COUNT; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy((char *)keys + KEY_BYTES * i, &x, KEY_BYTES);
        if (VALUE_BYTES > 0) memset((char *)values + VALUE_BYTES * i, 0, VALUE_BYTES);
        if (VALUE_BYTES > 0) memcpy((char *)values + VALUE_BYTES * i, &i, VALUE_BYTES < 8 ? 4 : 8);
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = number_at(a, KEY_BYTES, 0), y = number_at(b, KEY_BYTES, 0);
    return (x > y) - (x < y);
}

/* 1 if `keys` are the keys of `before` in order, and the value of each key is its index in `before`; sorts `before`. */
static int is_sorted(void *before, const void *keys, const void *values)
{
    size_t valued = VALUE_BYTES > 0 ? COUNT : 0;
    char *seen = (char *)calloc(COUNT, 1);
    size_t i;
    int right = seen != NULL;
    for (i = 0; right && i < valued; i++) {
        const uint64_t index = number_at(values, VALUE_BYTES, i);
        right = index < COUNT && !seen[index] &&
                number_at(before, KEY_BYTES, (size_t)index) == number_at(keys, KEY_BYTES, i);
        if (right) seen[index] = 1;
    }
    free(seen);
    qsort(before, COUNT, KEY_BYTES, compare);
    return right && memcmp(before, keys, (size_t)COUNT * KEY_BYTES) == 0;
}

/* All objects of the program, so that one function can destroy them. */
typedef struct program {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkBuffer buffer, moved, scratch, output, reports;
    VkDeviceMemory memory, moved_memory, scratch_memory, output_memory, reports_memory;
    VkDescriptorPool sets;
    VkCommandPool pool;
    hs_vulkan *sorter, *checker;
    const hs_sort *sort, *check; /* null if the bundle has no check of such keys */
    const char *missing;         /* null, or the option or buffer that the sort does not support, with the option of
                                    hsgen that adds it */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
} program;

static VkResult make_instance(program *p)
{
    VkApplicationInfo application;
    VkInstanceCreateInfo info;
    memset(&application, 0, sizeof application);
    memset(&info, 0, sizeof info);
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_3; /* sorting needs 1.1 */
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    return vkCreateInstance(&info, NULL, &p->instance);
}

/* The first device on which one of the bundle's targets sorts such keys, among the devices whose name contains
 * `part`. */
static hs_status pick(program *p, const char *part, hs_vulkan_device *device)
{
    VkPhysicalDevice devices[DEVICES];
    uint32_t i, needed, more = 0, count = DEVICES;
    hs_status status;
    if (vkEnumeratePhysicalDevices(p->instance, &count, devices) < 0) return HS_ERROR_API;
    for (i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        device->physical = devices[i];
        device->features = FEATURES;
        if (!strstr(properties.deviceName, part) ||
            hs_vulkan_match(hs_targets, hs_targets_count, KEY, VALUE, device, &p->sort) != HS_OK || !p->sort)
            continue;
        p->physical = devices[i];
        strcpy(p->name, properties.deviceName);
        status = hs_vulkan_match_kind(hs_targets, hs_targets_count, HS_DIGEST, KEY, NULL, device, &p->check);
        if (p->check && p->check->key_bytes != KEY_BYTES) p->check = NULL;
        /* Enable the features that the sort and the check can use on this device. */
        if (status == HS_OK && p->check) status = hs_vulkan_features(p->check, device, &needed, &more);
        if (status == HS_OK) status = hs_vulkan_features(p->sort, device, &needed, &device->features);
        device->features |= more;
        return status;
    }
    return HS_ERROR_DEVICE;
}

/* A device with one queue, and with the features that hs_vulkan_features asked for. */
static VkResult make_device(program *p, uint32_t *features)
{
    const char *extensions[2]; /* for features that are not yet in the device's version of Vulkan */
    const float priority = 1;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceSubgroupSizeControlFeatures control;
    VkPhysicalDeviceMaintenance4Features maintenance;
    VkPhysicalDevice8BitStorageFeatures storage8;
    VkPhysicalDevice16BitStorageFeatures storage16;
    VkPhysicalDeviceFeatures enable;
    VkQueueFamilyProperties families[DEVICES];
    VkDeviceQueueCreateInfo queue;
    VkDeviceCreateInfo info;
    void *next = NULL; /* the chain of feature structures so far */
    uint32_t count = DEVICES;
    VkResult code;
    memset(&control, 0, sizeof control);
    memset(&maintenance, 0, sizeof maintenance);
    memset(&storage8, 0, sizeof storage8);
    memset(&storage16, 0, sizeof storage16);
    memset(&enable, 0, sizeof enable);
    memset(&queue, 0, sizeof queue);
    memset(&info, 0, sizeof info);
    vkGetPhysicalDeviceQueueFamilyProperties(p->physical, &count, families);
    while (p->family < count && !(families[p->family].queueFlags & VK_QUEUE_COMPUTE_BIT)) p->family++;
    if (p->family == count) return VK_ERROR_FEATURE_NOT_PRESENT;
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = p->family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    vkGetPhysicalDeviceProperties(p->physical, &properties);
    info.pEnabledFeatures = &enable;
    info.ppEnabledExtensionNames = extensions;
    *features &= FEATURES;
    enable.shaderInt64 = *features & HS_VULKAN_INT64 ? VK_TRUE : VK_FALSE;
    if (*features & HS_VULKAN_SUBGROUP_SIZE) {
        control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
        control.subgroupSizeControl = VK_TRUE;
        control.computeFullSubgroups = VK_TRUE;
        info.pNext = next = &control;
        if (properties.apiVersion < VK_API_VERSION_1_3)
            extensions[info.enabledExtensionCount++] = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME;
    }
    if (*features & HS_VULKAN_STORAGE8) {
        storage8.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES;
        storage8.storageBuffer8BitAccess = VK_TRUE;
        storage8.pNext = next;
        info.pNext = next = &storage8;
        if (properties.apiVersion < VK_API_VERSION_1_2)
            extensions[info.enabledExtensionCount++] = VK_KHR_8BIT_STORAGE_EXTENSION_NAME;
    }
    if (*features & HS_VULKAN_STORAGE16) {
        storage16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
        storage16.storageBuffer16BitAccess = VK_TRUE;
        storage16.pNext = next;
        info.pNext = next = &storage16;
    }
    if (*features & HS_VULKAN_MAINTENANCE4) { /* only sorts that need Vulkan 1.3 use this feature */
        maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES;
        maintenance.maintenance4 = VK_TRUE;
        maintenance.pNext = next;
        info.pNext = next = &maintenance;
    }
    code = vkCreateDevice(p->physical, &info, NULL, &p->device);
    if (!code) vkGetDeviceQueue(p->device, p->family, 0, &p->queue);
    return code;
}

/* A pipeline cache with the data of a file, if it exists; the driver ignores data of another device or version. */
static VkResult load_cache(const program *p, const char *name, VkPipelineCache *cache)
{
    VkPipelineCacheCreateInfo info;
    FILE *file = fopen(name, "rb");
    void *data = NULL;
    long size = 0;
    VkResult code;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size > 0) data = malloc((size_t)size);
    if (data && fseek(file, 0, SEEK_SET) == 0) info.initialDataSize = fread(data, 1, (size_t)size, file);
    info.pInitialData = data;
    if (file) fclose(file);
    code = vkCreatePipelineCache(p->device, &info, NULL, cache);
    free(data);
    return code;
}

/* Write the cache to the file.  A program that may be interrupted writes another file and renames it. */
static VkResult store_cache(const program *p, const char *name, VkPipelineCache cache)
{
    size_t size = 0;
    VkResult code = vkGetPipelineCacheData(p->device, cache, &size, NULL);
    void *data = code ? NULL : malloc(size);
    FILE *file = data ? fopen(name, "wb") : NULL;
    if (!code && !file) code = VK_ERROR_UNKNOWN;
    if (!code) code = vkGetPipelineCacheData(p->device, cache, &size, data);
    if (!code && fwrite(data, 1, size, file) != size) code = VK_ERROR_UNKNOWN;
    if (file && fclose(file) && !code) code = VK_ERROR_UNKNOWN;
    free(data);
    return code;
}

/* The pipelines of this program's calls: sorts in place of COUNT keys by all bits, and checks. */
static hs_status make_sorters(program *p, hs_vulkan_device *device, const char *file, VkResult *code)
{
    hs_vulkan_create_options options;
    hs_status status;
    memset(&options, 0, sizeof options);
    options.scope.max_n = COUNT;
    *code = file ? load_cache(p, file, &device->cache) : VK_SUCCESS;
    if (*code) return HS_ERROR_API;
    status = p->check ? hs_vulkan_create_with(p->check, device, &options, &p->checker, code) : HS_OK;
    options.scope.calls = HS_CALLS_IN_PLACE | HS_CALLS_ALL_BITS;
    if (status == HS_OK) status = hs_vulkan_create_with(p->sort, device, &options, &p->sorter, code);
    if (status == HS_OK && file) *code = store_cache(p, file, device->cache);
    vkDestroyPipelineCache(p->device, device->cache, NULL);
    return *code && status == HS_OK ? HS_ERROR_API : status;
}

/* A buffer and its memory, of a type that has the properties `wanted`. */
static VkResult make_buffer(program *p, VkDeviceSize bytes, VkMemoryPropertyFlags wanted, VkBuffer *buffer,
                            VkDeviceMemory *memory)
{
    VkBufferCreateInfo info;
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties types;
    VkMemoryAllocateInfo allocate;
    VkResult code;
    memset(&info, 0, sizeof info);
    memset(&allocate, 0, sizeof allocate);
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    code = vkCreateBuffer(p->device, &info, NULL, buffer);
    if (code) return code;
    vkGetBufferMemoryRequirements(p->device, *buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(p->physical, &types);
    while (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
           (types.memoryTypes[allocate.memoryTypeIndex].propertyFlags & wanted) != wanted)
        allocate.memoryTypeIndex++; /* Vulkan promises that there is one */
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocate.allocationSize = needs.size;
    code = vkAllocateMemory(p->device, &allocate, NULL, memory);
    return code ? code : vkBindBufferMemory(p->device, *buffer, *memory, 0);
}

/* The bytes of the report that every call of the sort writes, such as the positions of runs; may be 0. */
static VkDeviceSize output_bytes(const hs_sort *sort)
{
    hs_info info;
    if (hs_describe(sort, &info) != HS_OK || !info.reports) return 0;
    return sizeof(uint32_t) * (info.report_words + (VkDeviceSize)COUNT * info.report_words_per_key);
}

/* Make the buffers: keys, values and two reports, which host and device see; and scratch, of the size that the sort
 * requires.  `keys`, `values` and `words` become the addresses of the mapped memory. */
static VkResult make_buffers(program *p, void **keys, void **values, uint32_t **words)
{
    const VkMemoryPropertyFlags seen = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint64_t scratch = 0, output = output_bytes(p->sort);
    void *mapped = NULL;
    VkResult code = make_buffer(p, (VkDeviceSize)COUNT * KEY_BYTES, seen, &p->buffer, &p->memory);
    if (!code) code = vkMapMemory(p->device, p->memory, 0, VK_WHOLE_SIZE, 0, keys);
    if (!code && VALUE_BYTES > 0) code = make_buffer(p, (VkDeviceSize)COUNT * VALUE_BYTES, seen, &p->moved, &p->moved_memory);
    if (!code && VALUE_BYTES > 0) code = vkMapMemory(p->device, p->moved_memory, 0, VK_WHOLE_SIZE, 0, values);
    if (!code && output) code = make_buffer(p, output, seen, &p->output, &p->output_memory);
    if (!code) code = make_buffer(p, 2 * REPORT, seen, &p->reports, &p->reports_memory);
    if (!code) code = vkMapMemory(p->device, p->reports_memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    *words = (uint32_t *)mapped;
    if (!code) memset(mapped, 0, 2 * REPORT);
    if (hs_scratch(p->sort, COUNT, &scratch) == HS_OK && scratch && !code)
        code = make_buffer(p, scratch, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &p->scratch, &p->scratch_memory);
    return code;
}

/* Make a command buffer, and a pool with the descriptors that a sort and two checks take. */
static VkResult make_pools(program *p, VkCommandBuffer *commands)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0};
    VkDescriptorPoolCreateInfo sets;
    VkCommandPoolCreateInfo pool;
    VkCommandBufferAllocateInfo allocate;
    VkResult code;
    uint32_t more_sets = 0, more = 0;
    memset(&sets, 0, sizeof sets);
    memset(&pool, 0, sizeof pool);
    memset(&allocate, 0, sizeof allocate);
    sets.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    hs_vulkan_descriptors(p->sorter, &sets.maxSets, &size.descriptorCount);
    if (p->checker) hs_vulkan_descriptors(p->checker, &more_sets, &more);
    sets.maxSets += 2 * more_sets;
    size.descriptorCount += 2 * more;
    sets.poolSizeCount = 1;
    sets.pPoolSizes = &size;
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = p->family;
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandBufferCount = 1;
    code = vkCreateDescriptorPool(p->device, &sets, NULL, &p->sets);
    if (!code) code = vkCreateCommandPool(p->device, &pool, NULL, &p->pool);
    allocate.commandPool = p->pool;
    return code ? code : vkAllocateCommandBuffers(p->device, &allocate, commands);
}

/* Record a check of the keys on the device, before the sort (0) or after it (1).  The check stores sums over the keys,
 * which the program compares. */
static hs_status look(const program *p, VkCommandBuffer commands, int after, VkResult *code)
{
    hs_vulkan_digest_args args;
    if (!p->checker) return HS_OK;
    memset(&args, 0, sizeof args);
    args.n = COUNT;
    args.source.buffer = p->buffer;
    args.source.size = (VkDeviceSize)COUNT * KEY_BYTES;
    args.digest.buffer = p->reports;
    args.digest.offset = after ? REPORT : 0;
    args.digest.size = REPORT;
    args.pool = p->sets;
    args.stages = after ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT : 0; /* wait for the sort, which wrote the keys */
    args.accesses = after ? VK_ACCESS_SHADER_WRITE_BIT : 0;
    return hs_vulkan_digest(p->checker, commands, &args, code);
}

/* Record a check of the keys, a sort in place, and another check; then run all. Set args.destination to sort into
 * another buffer. */
static hs_status sort_keys(program *p, VkCommandBuffer commands, VkResult *code)
{
    VkCommandBufferBeginInfo begin;
    VkMemoryBarrier barrier;
    VkSubmitInfo submit;
    hs_vulkan_sort_args args;
    hs_vulkan_buffer moved = {VK_NULL_HANDLE, 0, 0, 0};
    hs_status status;
    memset(&begin, 0, sizeof begin);
    memset(&barrier, 0, sizeof barrier);
    memset(&submit, 0, sizeof submit);
    memset(&args, 0, sizeof args);
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    *code = vkBeginCommandBuffer(commands, &begin);
    if (*code) return HS_ERROR_API;
    args.n = COUNT;
    args.source.buffer = p->buffer;
    args.source.size = (VkDeviceSize)COUNT * KEY_BYTES;
    moved.buffer = p->moved;
    moved.size = (VkDeviceSize)COUNT * VALUE_BYTES;
    if (MAKES_INDICES == 1)
        args.values_destination = moved;
    else
        args.values = moved;
    args.report.buffer = p->output;
    args.report.size = output_bytes(p->sort);
    args.scratch.buffer = p->scratch;
    (void)hs_scratch(p->sort, COUNT, &args.scratch.size);
    args.pool = p->sets;
    args.stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT; /* wait for the first check, which read the keys */
    args.accesses = VK_ACCESS_SHADER_READ_BIT;
    status = look(p, commands, 0, code);
    if (status == HS_OK) status = hs_vulkan_sort(p->sorter, commands, &args, code);
    if (status == HS_ERROR_OPTION) /* `missing` names the option or buffer that the sort does not support */
        p->missing = hs_missing_option(p->sort, &args.options, 1u << HS_SOURCE | (p->moved ? 1u << HS_VALUES : 0));
    if (status == HS_OK) status = look(p, commands, 1, code);
    if (status != HS_OK) return status;
    /* Make the written data visible to the host. */
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                         NULL, 0, NULL);
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    *code = vkEndCommandBuffer(commands);
    if (!*code) *code = vkQueueSubmit(p->queue, 1, &submit, VK_NULL_HANDLE);
    if (!*code) *code = vkQueueWaitIdle(p->queue);
    return *code ? HS_ERROR_API : HS_OK;
}

static void take_down(program *p)
{
    if (p->device) {
        hs_vulkan_release(p->sorter);
        hs_vulkan_release(p->checker);
        vkDestroyCommandPool(p->device, p->pool, NULL);
        vkDestroyDescriptorPool(p->device, p->sets, NULL);
        vkDestroyBuffer(p->device, p->buffer, NULL);
        vkFreeMemory(p->device, p->memory, NULL);
        vkDestroyBuffer(p->device, p->moved, NULL);
        vkFreeMemory(p->device, p->moved_memory, NULL);
        vkDestroyBuffer(p->device, p->output, NULL);
        vkFreeMemory(p->device, p->output_memory, NULL);
        vkDestroyBuffer(p->device, p->scratch, NULL);
        vkFreeMemory(p->device, p->scratch_memory, NULL);
        vkDestroyBuffer(p->device, p->reports, NULL);
        vkFreeMemory(p->device, p->reports_memory, NULL);
        vkDestroyDevice(p->device, NULL);
    }
    if (p->instance) vkDestroyInstance(p->instance, NULL);
}

int main(int argc, char **argv)
{
    const size_t bytes = (size_t)COUNT * KEY_BYTES;
    void *before = malloc(bytes), *keys = NULL, *values = NULL;
    uint32_t *words = NULL, faults = 0;
    VkCommandBuffer commands = NULL;
    hs_status status = HS_ERROR_API;
    VkResult code;
    program p;
    hs_vulkan_device device;
    int right = 0;
    memset(&p, 0, sizeof p);
    memset(&device, 0, sizeof device);

    code = before ? make_instance(&p) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (code) goto end;
    device.instance = p.instance;
    device.get_proc = vkGetInstanceProcAddr;
    status = pick(&p, argc > 1 ? argv[1] : "", &device);
    if (status != HS_OK) goto end;
    status = HS_ERROR_API;
    code = make_device(&p, &device.features);
    if (code) goto end;

    /* Make the pipelines once, then sort as often as you like. */
    device.device = p.device;
    status = make_sorters(&p, &device, argc > 2 ? argv[2] : NULL, &code);
    if (status != HS_OK) goto end;

    status = HS_ERROR_API;
    code = make_buffers(&p, &keys, &values, &words);
    if (!code) code = make_pools(&p, &commands);
    if (code) goto end;
    fill(keys, values);
    memcpy(before, keys, bytes);
    status = sort_keys(&p, commands, &code);
    /* The sums over the keys before and after the sort verify the result on the device. */
    if (status == HS_OK) status = hs_digest_compare(words, words + REPORT / sizeof *words, 0, &faults);
    if (status != HS_OK) goto end;
    /* Verify the result on the host, too, which takes much longer. */
    right = faults == 0 && is_sorted(before, keys, values);

end:
    if (right)
        printf("sorted %d keys on %s with target %s\n", (int)COUNT, p.name, p.sort->target);
    else
        fprintf(stderr, "not sorted: %s (VkResult %d)\n", status ? hs_status_text(status) : "wrong order", (int)code);
    if (p.missing) fprintf(stderr, "%s\n", p.missing);
    take_down(&p);
    free(before);
    return right ? 0 : 1;
}
