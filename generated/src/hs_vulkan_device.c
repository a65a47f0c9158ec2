/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Vulkan devices: their properties, which sorts run on them, and which of these suits a device best. */
#include "hs_vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

hs_status hs_vulkan_status(VkResult code, VkResult *result)
{
    if (result) *result = code;
    switch ((int)code) {
    case VK_SUCCESS: return HS_OK;
    case VK_ERROR_OUT_OF_HOST_MEMORY: return HS_ERROR_HOST_MEMORY;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL: return HS_ERROR_DEVICE_MEMORY;
    case VK_ERROR_DEVICE_LOST: return HS_ERROR_DEVICE_LOST;
    case VK_ERROR_INVALID_SHADER_NV: return HS_ERROR_BUILD;
    default: return HS_ERROR_API;
    }
}

static int hs_vulkan_lists(const VkExtensionProperties *extensions, uint32_t count, const char *name)
{
    uint32_t i;
    for (i = 0; i < count; i++)
        if (strcmp(extensions[i].extensionName, name) == 0) return 1;
    return 0;
}

/* The extensions of a device, which the caller frees; a list that grew after it was counted is queried again. */
static hs_status hs_vulkan_extensions(PFN_vkEnumerateDeviceExtensionProperties enumerate, VkPhysicalDevice physical,
                                      VkExtensionProperties **list, uint32_t *count, VkResult *result)
{
    VkResult code = VK_INCOMPLETE;
    int tries;
    for (tries = 0; code == VK_INCOMPLETE && tries < 8; tries++) {
        code = enumerate(physical, NULL, count, NULL);
        if (code) break;
        *list = (VkExtensionProperties *)calloc(*count + 1u, sizeof **list);
        if (!*list) return HS_ERROR_HOST_MEMORY;
        code = enumerate(physical, NULL, count, *list);
        if (code) free(*list);
    }
    return hs_vulkan_status(code, result);
}

/* Structures of extensions are only passed to devices that have them. */
hs_status hs_vulkan_ask(const hs_vulkan_device *device, hs_vulkan_facts *facts, VkResult *result)
{
    const VkInstance instance = device->instance;
    VkPhysicalDeviceSubgroupSizeControlFeaturesEXT control;
    VkPhysicalDeviceBufferDeviceAddressFeaturesKHR address;
    VkPhysicalDevice8BitStorageFeaturesKHR storage8;
    VkPhysicalDevice16BitStorageFeatures storage16;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceProperties2 properties;
    VkExtensionProperties *extensions = NULL;
    PFN_vkGetPhysicalDeviceProperties get_base;
    PFN_vkGetPhysicalDeviceProperties2 get_properties;
    PFN_vkGetPhysicalDeviceFeatures2 get_features;
    PFN_vkEnumerateDeviceExtensionProperties enumerate;
    uint32_t count = 0, api;
    int has_control, has_address, has_driver, has_storage8;
    hs_status status;

    memset(facts, 0, sizeof *facts);
    if (!instance || !device->physical || !device->get_proc) return HS_ERROR_ARGUMENT;
    get_base = (PFN_vkGetPhysicalDeviceProperties)device->get_proc(instance, "vkGetPhysicalDeviceProperties");
    get_properties = (PFN_vkGetPhysicalDeviceProperties2)device->get_proc(instance, "vkGetPhysicalDeviceProperties2");
    get_features = (PFN_vkGetPhysicalDeviceFeatures2)device->get_proc(instance, "vkGetPhysicalDeviceFeatures2");
    enumerate = (PFN_vkEnumerateDeviceExtensionProperties)device->get_proc(instance,
                                                                           "vkEnumerateDeviceExtensionProperties");
    if (!get_base || !get_properties || !get_features || !enumerate) return HS_ERROR_API;
    get_base(device->physical, &facts->base);
    api = facts->base.apiVersion;
    if (api < VK_API_VERSION_1_1) return HS_ERROR_DEVICE;

    status = hs_vulkan_extensions(enumerate, device->physical, &extensions, &count, result);
    if (status) return status;
    has_control = api >= VK_MAKE_VERSION(1, 3, 0) ||
                  hs_vulkan_lists(extensions, count, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    has_address = api >= VK_MAKE_VERSION(1, 2, 0) ||
                  hs_vulkan_lists(extensions, count, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME);
    has_driver = api >= VK_MAKE_VERSION(1, 2, 0) ||
                 hs_vulkan_lists(extensions, count, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
    has_storage8 = api >= VK_MAKE_VERSION(1, 2, 0) ||
                   hs_vulkan_lists(extensions, count, VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
    free(extensions);

    memset(&features, 0, sizeof features);
    memset(&properties, 0, sizeof properties);
    memset(&control, 0, sizeof control);
    memset(&address, 0, sizeof address);
    memset(&storage8, 0, sizeof storage8);
    memset(&storage16, 0, sizeof storage16);
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    facts->subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    properties.pNext = &facts->subgroup;
    if (has_driver) {
        facts->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES_KHR;
        facts->driver.pNext = properties.pNext;
        properties.pNext = &facts->driver;
    }
    if (has_control) {
        facts->control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT;
        facts->control.pNext = properties.pNext;
        properties.pNext = &facts->control;
        control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT;
        features.pNext = &control;
    }
    if (has_address) {
        address.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES_KHR;
        address.pNext = features.pNext;
        features.pNext = &address;
    }
    storage16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
    storage16.pNext = features.pNext;
    features.pNext = &storage16;
    if (has_storage8) {
        storage8.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES_KHR;
        storage8.pNext = features.pNext;
        features.pNext = &storage8;
    }
    get_properties(device->physical, &properties);
    get_features(device->physical, &features);
    if (features.features.shaderInt64) facts->features |= HS_VULKAN_INT64;
    if (control.subgroupSizeControl && control.computeFullSubgroups) facts->features |= HS_VULKAN_SUBGROUP_SIZE;
    if (address.bufferDeviceAddress) facts->features |= HS_VULKAN_ADDRESS;
    if (storage8.storageBuffer8BitAccess) facts->features |= HS_VULKAN_STORAGE8;
    if (storage16.storageBuffer16BitAccess) facts->features |= HS_VULKAN_STORAGE16;
    if (api >= VK_MAKE_VERSION(1, 3, 0)) facts->features |= HS_VULKAN_MAINTENANCE4; /* every device of this version
                                                                                       has the feature */
    return HS_OK;
}

int hs_vulkan_can_require(const hs_kernel *kernel, const hs_vulkan_facts *facts, uint32_t features)
{
    const VkPhysicalDeviceSubgroupSizeControlPropertiesEXT *control = &facts->control;
    return (features & HS_VULKAN_SUBGROUP_SIZE) && kernel->subgroup > 1 &&
           (control->requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
           control->minSubgroupSize <= kernel->subgroup && kernel->subgroup <= control->maxSubgroupSize &&
           kernel->work_group <= (uint64_t)kernel->subgroup * control->maxComputeWorkgroupSubgroups;
}

/* 1 if a kernel for subgroups of `width` lanes can run with the subgroup size that the device chooses by default. */
static int hs_vulkan_has_width(const hs_vulkan_facts *facts, uint32_t width)
{
    const uint32_t usual = facts->subgroup.subgroupSize;
    return HS_HLSL ? usual % width == 0 : usual == width;
}

hs_status hs_vulkan_able(const hs_sort *sort, const hs_vulkan_facts *facts, uint32_t features)
{
    const VkPhysicalDeviceLimits *limits = &facts->base.limits;
    uint32_t i;
    if (!sort->spirv) return HS_ERROR_KERNELS;
    if (sort->vulkan >= 13 && !(features & HS_VULKAN_MAINTENANCE4)) return HS_ERROR_DEVICE;
    if (sort->key_bytes == 1 && !(features & HS_VULKAN_STORAGE8)) return HS_ERROR_DEVICE;
    if (sort->key_bytes == 2 && !(features & HS_VULKAN_STORAGE16)) return HS_ERROR_DEVICE;
    if (facts->base.apiVersion < VK_MAKE_VERSION(sort->vulkan / 10, sort->vulkan % 10, 0)) return HS_ERROR_DEVICE;
    for (i = 0; i < sort->step_count; i++) {
        const uint32_t k = sort->steps[i].kernel;
        if (k >= sort->kernel_count) return HS_ERROR_KERNELS;
        if (sort->kernels[k].index64) continue; /* a call whose count needs a missing kernel is refused */
        if (!sort->spirv[k].bytes && !(sort->spirv_address && sort->spirv_address[k].bytes)) return HS_ERROR_KERNELS;
    }
    for (i = 0; i < sort->kernel_count; i++) {
        const hs_kernel *kernel = &sort->kernels[i];
        VkSubgroupFeatureFlags operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
        if (kernel->ballot) operations |= VK_SUBGROUP_FEATURE_BALLOT_BIT;
        if (kernel->bindings > HS_BINDINGS) return HS_ERROR_KERNELS;
        if (kernel->index64) continue;
        if (kernel->work_group > limits->maxComputeWorkGroupInvocations ||
            kernel->work_group > limits->maxComputeWorkGroupSize[0] ||
            kernel->local_bytes > limits->maxComputeSharedMemorySize ||
            kernel->bindings > limits->maxPerStageDescriptorStorageBuffers ||
            limits->minStorageBufferOffsetAlignment > 256 || /* which no device has; scratch is aligned to 256 */
            hs_vulkan_push_bytes(kernel->bindings) > limits->maxPushConstantsSize)
            return HS_ERROR_DEVICE;
        if (kernel->subgroup <= 1) continue;
        if (!(facts->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) ||
            (facts->subgroup.supportedOperations & operations) != operations)
            return HS_ERROR_DEVICE;
        /* a kernel that cannot require its size needs a device with only this size; a SPIR-V 1.6 module that does not
         * require a size allows any */
        if (!hs_vulkan_can_require(kernel, facts, features) &&
            (!hs_vulkan_has_width(facts, kernel->subgroup) || sort->vulkan >= 13 ||
             facts->control.minSubgroupSize != facts->control.maxSubgroupSize))
            return HS_ERROR_DEVICE;
    }
    return sort->key_bytes == 8 && !sort->pair && !(features & HS_VULKAN_INT64) ? HS_ERROR_DEVICE : HS_OK;
}

hs_status hs_vulkan_features(const hs_sort *sort, const hs_vulkan_device *device, uint32_t *needed, uint32_t *useful)
{
    hs_vulkan_facts facts;
    hs_status status;
    uint32_t bit, need = 0, use = 0, i;
    if (!sort || !device || !needed || !useful) return HS_ERROR_ARGUMENT;
    *needed = *useful = 0;
    status = hs_vulkan_ask(device, &facts, NULL);
    if (!status) status = hs_vulkan_able(sort, &facts, facts.features);
    if (status) return status;
    /* a feature is needed if the sort does not run without it */
    for (bit = 1; bit <= HS_VULKAN_STORAGE16; bit *= 2)
        if (hs_vulkan_able(sort, &facts, facts.features & ~bit)) need |= bit;
    for (i = 0; i < sort->kernel_count; i++)
        if (hs_vulkan_can_require(&sort->kernels[i], &facts, facts.features)) use |= HS_VULKAN_SUBGROUP_SIZE;
    if (sort->spirv_address) use |= facts.features & HS_VULKAN_ADDRESS;
    *needed = need;
    *useful = need | use;
    return HS_OK;
}

hs_status hs_vulkan_match(const hs_target *const *targets, size_t count, const char *key, const char *value,
                          const hs_vulkan_device *device, const hs_sort **sort)
{
    return hs_vulkan_match_kind(targets, count, HS_SORT, key, value, device, sort);
}

/* A device as hs_suits takes it; its names are those in `facts`. */
static hs_device hs_vulkan_known(const hs_vulkan_facts *facts)
{
    hs_device known;
    memset(&known, 0, sizeof known);
    known.type = HS_GPU;
    if (facts->base.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) known.type = HS_CPU;
    if (facts->base.deviceType == VK_PHYSICAL_DEVICE_TYPE_OTHER) known.type = HS_OTHER;
    known.vendor = facts->base.vendorID;
    known.name = facts->base.deviceName;
    known.platform = facts->driver.sType ? facts->driver.driverName : NULL;
    return known;
}

hs_status hs_vulkan_explain(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                            const char *value, const hs_vulkan_device *device, char *text, size_t room)
{
    hs_vulkan_facts facts;
    hs_device known;
    hs_status status;
    size_t i;
    if (!targets || !key || !device || !text || !room) return HS_ERROR_ARGUMENT;
    text[0] = 0;
    status = hs_vulkan_ask(device, &facts, NULL);
    if (status) return status;
    known = hs_vulkan_known(&facts);
    for (i = 0; i < count; i++) hs_reason(targets[i], kind, key, value, &known, text, room);
    return HS_OK;
}

hs_status hs_vulkan_match_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, const hs_vulkan_device *device, const hs_sort **sort)
{
    hs_vulkan_facts facts;
    hs_device known;
    hs_status status;
    uint32_t best = 0;
    size_t i, j;
    if (!targets || !key || !device || !sort) return HS_ERROR_ARGUMENT;
    *sort = NULL;
    status = hs_vulkan_ask(device, &facts, NULL);
    if (status) return status;
    known = hs_vulkan_known(&facts);
    for (i = 0; i < count; i++) {
        const uint32_t suits = hs_suits(targets[i], &known);
        for (j = 0; suits > best && j < targets[i]->sort_count; j++) {
            const hs_sort *one = targets[i]->sorts[j];
            if (!hs_serves_kind(one, kind, key, value)) continue;
            if (hs_vulkan_able(one, &facts, facts.features & device->features)) continue;
            best = suits;
            *sort = one;
        }
    }
    return HS_OK;
}
