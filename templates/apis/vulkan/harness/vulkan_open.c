/* The Vulkan harness: opening a device.  Options of hn_open:
 *   binding_limit=N  bindings of more than N bytes are passed by device address
 *   binding=1        push descriptors instead of sets; binding=2: device addresses alone
 *   first=1          the sort that is compiled first takes all calls; first=2: all other pipelines are made too
 *   size_control=0   do not enable subgroup size control
 *   validation=1     core and synchronization validation; validation=2: GPU-assisted as well
 *   poison=1         fill scratch before every sort */
#include "hn_vulkan.h"

#include <stdlib.h>
#include <string.h>

#define HN_GET_DEVICE(name) ((vk.name = (PFN_vk##name)vk.GetDeviceProcAddr(hn.device, "vk" #name)) != NULL) &&

static const char *hn_options(const char *options, int *validation, int *size_control)
{
    char words[256], *word;
    if (strlen(options) >= sizeof words) return "the options are too long";
    strcpy(words, options);
    for (word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '='), *end = NULL;
        const unsigned long long number = value ? strtoull(value + 1, &end, 10) : 0;
        if (!end || end == value + 1 || *end) return hn_fail("the option %s is not NAME=NUMBER", word);
        *value = 0;
        if (strcmp(word, "binding_limit") == 0) hn.binding_limit = number;
        else if (strcmp(word, "first") == 0 && number <= 2) hn.first = (uint32_t)number;
        else if (strcmp(word, "binding") == 0 && number <= HS_VULKAN_BY_ADDRESS) hn.binding = (hs_vulkan_binding)number;
        else if (strcmp(word, "validation") == 0 && number <= 2) *validation = (int)number;
        else if (strcmp(word, "size_control") == 0 && number <= 1) *size_control = (int)number;
        else if (strcmp(word, "poison") == 0 && number <= 1) hn.poison = (int)number;
        else return hn_fail("there is no option %s=%llu for Vulkan", word, number);
    }
    return NULL;
}

/* Make the device and all that it needs, except buffers. */
static const char *hn_device(const hn_facts *facts)
{
    const float priority = 1;
    VkPhysicalDeviceSubgroupSizeControlFeatures control = facts->control_feature;
    VkPhysicalDeviceBufferDeviceAddressFeatures address;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceMaintenance4Features maintenance;
    VkPhysicalDevice16BitStorageFeatures storage16;
    VkPhysicalDevice8BitStorageFeatures storage8;
    VkQueueFamilyProperties families[64];
    VkDeviceQueueCreateInfo queue;
    VkDeviceCreateInfo info;
    VkCommandPoolCreateInfo pool;
    VkCommandBufferAllocateInfo commands;
    VkFenceCreateInfo fence;
    VkQueryPoolCreateInfo queries;
    VkResult code;
    uint32_t count = 64, family;
    memset(&address, 0, sizeof address);
    memset(&maintenance, 0, sizeof maintenance);
    memset(&storage16, 0, sizeof storage16);
    memset(&storage8, 0, sizeof storage8);
    memset(&features, 0, sizeof features);
    memset(&queue, 0, sizeof queue);
    memset(&info, 0, sizeof info);
    memset(&pool, 0, sizeof pool);
    memset(&commands, 0, sizeof commands);
    memset(&fence, 0, sizeof fence);
    memset(&queries, 0, sizeof queries);
    vk.GetPhysicalDeviceQueueFamilyProperties(hn.physical, &count, families);
    for (family = 0; family < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT);) family++;
    if (family == count) return "the device has no compute queue";
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.features.shaderInt64 = facts->features.features.shaderInt64;
    if (features.features.shaderInt64) hn.features |= HS_VULKAN_INT64;
    if (hn_controls(facts)) {
        control.pNext = NULL;
        features.pNext = &control;
        hn.features |= HS_VULKAN_SUBGROUP_SIZE;
    }
    if (facts->address_feature.bufferDeviceAddress) {
        address.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
        address.bufferDeviceAddress = VK_TRUE;
        address.pNext = features.pNext;
        features.pNext = &address;
        hn.features |= HS_VULKAN_ADDRESS;
    }
    if (facts->storage16_feature.storageBuffer16BitAccess) {
        storage16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
        storage16.storageBuffer16BitAccess = VK_TRUE;
        storage16.pNext = features.pNext;
        features.pNext = &storage16;
        hn.features |= HS_VULKAN_STORAGE16;
    }
    if (facts->storage8_feature.storageBuffer8BitAccess) {
        storage8.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES;
        storage8.storageBuffer8BitAccess = VK_TRUE;
        storage8.pNext = features.pNext;
        features.pNext = &storage8;
        hn.features |= HS_VULKAN_STORAGE8;
    }
    if (facts->base.properties.apiVersion >= VK_API_VERSION_1_3) {
        maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES;
        maintenance.maintenance4 = VK_TRUE;
        maintenance.pNext = features.pNext;
        features.pNext = &maintenance;
        hn.features |= HS_VULKAN_MAINTENANCE4;
    }
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &features;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = facts->extension_count;
    info.ppEnabledExtensionNames = facts->extensions;
    code = vk.CreateDevice(hn.physical, &info, NULL, &hn.device);
    if (code) {
        hn.device = NULL;
        return hn_code("vkCreateDevice", code);
    }
    if (!(HN_DEVICE_CALLS(HN_GET_DEVICE) 1)) return "the device lacks functions";
    vk.get_address = (PFN_vkGetBufferDeviceAddress)vk.GetDeviceProcAddr(hn.device, "vkGetBufferDeviceAddress");
    if (!vk.get_address)
        vk.get_address = (PFN_vkGetBufferDeviceAddress)vk.GetDeviceProcAddr(hn.device, "vkGetBufferDeviceAddressKHR");
    if (!vk.get_address) hn.features &= ~(uint32_t)HS_VULKAN_ADDRESS;
    vk.GetDeviceQueue(hn.device, family, 0, &hn.queue);
    if (families[family].timestampValidBits) {
        hn.tick_mask = UINT64_MAX >> (64 - families[family].timestampValidBits);
        hn.tick_seconds = (double)facts->base.properties.limits.timestampPeriod * 1e-9;
    }
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = family;
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandBufferCount = 1;
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    queries.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = 2;
    code = vk.CreateCommandPool(hn.device, &pool, NULL, &hn.command_pool);
    commands.commandPool = hn.command_pool;
    if (!code) code = vk.AllocateCommandBuffers(hn.device, &commands, &hn.commands);
    if (!code) code = vk.CreateFence(hn.device, &fence, NULL, &hn.fence);
    if (!code && hn.tick_mask) code = vk.CreateQueryPool(hn.device, &queries, NULL, &hn.queries);
    return code ? hn_code("the device's objects", code) : hn_make(&hn.staging, HN_STAGING, 1);
}

const char *hn_open(int index, const char *options)
{
    int validation = 0, size_control = 1;
    const char *error;
    hn_facts facts;
    hn_close();
    hn_clear_messages();
    memset(&hn, 0, sizeof hn);
    error = hn_options(options, &validation, &size_control);
    if (!error) error = hn_instance(validation);
    if (!error) error = hn_ask(index, &facts);
    if (!error) {
        hn.physical = hn.devices[index];
        if (!size_control) facts.control_feature.subgroupSizeControl = VK_FALSE;
        if (hn.binding == HS_VULKAN_BY_PUSH && !facts.push) error = "the device has no push descriptors";
        else error = hn_device(&facts);
    }
    if (error) hn_close();
    return error;
}

void hn_close(void)
{
    int slot;
    if (hn.device) {
        vk.DeviceWaitIdle(hn.device);
        hs_vulkan_release(hn.sorter);
        hs_vulkan_release(hn.copier);
        for (slot = 0; slot < HN_SLOTS; slot++) hn_drop(&hn.buffers[slot]);
        hn_drop(&hn.staging);
        hn_drop(&hn.scratch);
        vk.DestroyDescriptorPool(hn.device, hn.sets, NULL);
        vk.DestroyQueryPool(hn.device, hn.queries, NULL);
        vk.DestroyFence(hn.device, hn.fence, NULL);
        vk.DestroyCommandPool(hn.device, hn.command_pool, NULL);
        vk.DestroyDevice(hn.device, NULL);
    }
    hn_close_instance();
}

const char *hn_room(uint64_t *total, uint64_t *largest)
{
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t i;
    *total = *largest = 0;
    if (!hn.device) return "no device is open";
    vk.GetPhysicalDeviceMemoryProperties(hn.physical, &memory);
    for (i = 0; i < memory.memoryHeapCount; i++)
        if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && memory.memoryHeaps[i].size > *total)
            *total = memory.memoryHeaps[i].size;
    return NULL;
}
