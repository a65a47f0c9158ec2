/* The Vulkan harness: what a device reports. */
#include "hn_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the device knows the structures of a feature: its version of Vulkan includes them, or it has an extension. If
 * `enable` is set, the extension is added to those that are enabled later. */
static int hn_has(VkPhysicalDevice device, hn_facts *facts, uint32_t version, const char *name, int enable)
{
    uint32_t count = 0, i;
    VkExtensionProperties *list;
    int found = 0;
    if (facts->base.properties.apiVersion >= version) return 1;
    if (vk.EnumerateDeviceExtensionProperties(device, NULL, &count, NULL) < 0) return 0;
    list = (VkExtensionProperties *)calloc(count + 1, sizeof *list);
    if (!list || vk.EnumerateDeviceExtensionProperties(device, NULL, &count, list) < 0) count = 0;
    for (i = 0; i < count; i++) found |= strcmp(list[i].extensionName, name) == 0;
    free(list);
    if (found && enable) facts->extensions[facts->extension_count++] = name;
    return found;
}

/* Query facts about cores, by extensions of vendors that no version of Vulkan includes. */
static void hn_ask_cores(VkPhysicalDevice device, hn_facts *facts)
{
    VkPhysicalDeviceProperties2 base;
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV sm;
    VkPhysicalDeviceShaderCorePropertiesAMD cu;
    memset(&base, 0, sizeof base);
    memset(&sm, 0, sizeof sm);
    memset(&cu, 0, sizeof cu);
    base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    if (hn_has(device, facts, UINT32_MAX, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, 0)) {
        sm.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
        base.pNext = &sm;
        vk.GetPhysicalDeviceProperties2(device, &base);
        facts->cores = sm.shaderSMCount;
        facts->threads = sm.shaderWarpsPerSM;
    } else if (hn_has(device, facts, UINT32_MAX, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME, 0)) {
        cu.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
        base.pNext = &cu;
        vk.GetPhysicalDeviceProperties2(device, &base);
        facts->cores = cu.shaderEngineCount * cu.shaderArraysPerEngineCount * cu.computeUnitsPerShaderArray;
        facts->units = cu.simdPerComputeUnit;
        facts->threads = cu.simdPerComputeUnit * cu.wavefrontsPerSimd;
        facts->registers = cu.simdPerComputeUnit * cu.vgprsPerSimd * cu.wavefrontSize;
    }
#ifdef VK_ARM_shader_core_builtins
    else if (hn_has(device, facts, UINT32_MAX, VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME, 0)) {
        VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM core;
        memset(&core, 0, sizeof core);
        core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM;
        base.pNext = &core;
        vk.GetPhysicalDeviceProperties2(device, &base);
        facts->cores = core.shaderCoreCount;
        facts->threads = core.shaderWarpsPerCore;
    }
#endif
}

const char *hn_ask(int index, hn_facts *facts)
{
    VkPhysicalDevice device;
    memset(facts, 0, sizeof *facts);
    if (index < 0 || (uint32_t)index >= hn.device_count) return hn_fail("there is no Vulkan device %d", index);
    device = hn.devices[index];
    facts->base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    facts->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    vk.GetPhysicalDeviceProperties2(device, &facts->base);
    if (facts->base.properties.apiVersion < VK_API_VERSION_1_1) return hn_fail("device %d has Vulkan 1.0 only", index);
    facts->subgroup.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    facts->base.pNext = &facts->subgroup;
    if (hn_has(device, facts, VK_API_VERSION_1_2, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME, 0)) {
        facts->driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
        facts->driver.pNext = facts->base.pNext;
        facts->base.pNext = &facts->driver;
    }
    if (hn_has(device, facts, VK_API_VERSION_1_3, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, 1)) {
        facts->control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
        facts->control.pNext = facts->base.pNext;
        facts->base.pNext = &facts->control;
        facts->control_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
        facts->features.pNext = &facts->control_feature;
    }
    if (hn_has(device, facts, VK_API_VERSION_1_2, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, 1)) {
        facts->address_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
        facts->address_feature.pNext = facts->features.pNext;
        facts->features.pNext = &facts->address_feature;
    }
    facts->storage16_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
    facts->storage16_feature.pNext = facts->features.pNext;
    facts->features.pNext = &facts->storage16_feature;
    if (hn_has(device, facts, VK_API_VERSION_1_2, VK_KHR_8BIT_STORAGE_EXTENSION_NAME, 1)) {
        facts->storage8_feature.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES;
        facts->storage8_feature.pNext = facts->features.pNext;
        facts->features.pNext = &facts->storage8_feature;
    }
    facts->push = hn_has(device, facts, UINT32_MAX, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, 1);
    vk.GetPhysicalDeviceProperties2(device, &facts->base);
    vk.GetPhysicalDeviceFeatures2(device, &facts->features);
    hn_ask_cores(device, facts);
    return NULL;
}

int hn_controls(const hn_facts *facts)
{
    return facts->control_feature.subgroupSizeControl && facts->control_feature.computeFullSubgroups &&
           (facts->control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
}

/* Write `text` as the content of a JSON string, without its quotes. */
static const char *hn_quote(const char *text, char *out, size_t size)
{
    size_t i = 0;
    for (; *text && i + 2 < size; text++) {
        if ((unsigned char)*text < ' ') continue;
        if (*text == '"' || *text == '\\') out[i++] = '\\';
        out[i++] = *text;
    }
    out[i] = 0;
    return out;
}

const char *hn_describe(int index, char *text, size_t size)
{
    const VkSubgroupFeatureFlags operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    char name[520], platform[520], driver[520], widths[256] = "1";
    const char *error = hn_instance(0), *type = "gpu";
    const VkPhysicalDeviceProperties *p;
    uint32_t width, least, most;
    hn_facts facts;
    if (!error) error = hn_ask(index, &facts);
    if (error) return error;
    p = &facts.base.properties;
    if (p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) type = "cpu";
    if (p->deviceType == VK_PHYSICAL_DEVICE_TYPE_OTHER) type = "other";
    least = most = facts.subgroup.subgroupSize;
    if (hn_controls(&facts)) {
        least = facts.control.minSubgroupSize;
        most = facts.control.maxSubgroupSize;
    }
    for (width = 2; width <= most; width *= 2)
        if (HS_HLSL ? least > 0 : width >= least) sprintf(widths + strlen(widths), ", %u", (unsigned)width);
    sprintf(driver, "%u.%u.%u", (unsigned)VK_API_VERSION_MAJOR(p->driverVersion),
            (unsigned)VK_API_VERSION_MINOR(p->driverVersion), (unsigned)VK_API_VERSION_PATCH(p->driverVersion));
    snprintf(text, size,
             "{\"name\": \"%s\", \"platform\": \"%s\", \"driver\": \"%s\", \"type\": \"%s\", \"vendor\": %u, "
             "\"compute\": 0, \"work_group\": %u, \"local_bytes\": %u, \"subgroups\": [%s], \"shuffle\": %s, "
             "\"ballot\": %s, \"int64\": %s, \"storage8\": %s, \"storage16\": %s, \"groups\": %u, "
             "\"group_subgroups\": %u, \"binding_bytes\": %u, \"vulkan\": \"%u.%u\", \"cores\": %u, \"units\": %u, "
             "\"threads\": %u, \"registers\": %u}",
             hn_quote(p->deviceName, name, sizeof name), hn_quote(facts.driver.driverName, platform, sizeof platform),
             facts.driver.driverInfo[0] ? hn_quote(facts.driver.driverInfo, driver, sizeof driver) : driver, type,
             (unsigned)p->vendorID, (unsigned)p->limits.maxComputeWorkGroupInvocations,
             (unsigned)p->limits.maxComputeSharedMemorySize, widths,
             (facts.subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                     (facts.subgroup.supportedOperations & operations) == operations
                 ? "true"
                 : "false",
             facts.subgroup.supportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT ? "true" : "false",
             facts.features.features.shaderInt64 ? "true" : "false",
             facts.storage8_feature.storageBuffer8BitAccess ? "true" : "false",
             facts.storage16_feature.storageBuffer16BitAccess ? "true" : "false",
             (unsigned)p->limits.maxComputeWorkGroupCount[0],
             hn_controls(&facts) ? (unsigned)facts.control.maxComputeWorkgroupSubgroups : 0u,
             (unsigned)p->limits.maxStorageBufferRange, (unsigned)VK_API_VERSION_MAJOR(p->apiVersion),
             (unsigned)VK_API_VERSION_MINOR(p->apiVersion), (unsigned)facts.cores, (unsigned)facts.units,
             (unsigned)facts.threads, (unsigned)facts.registers);
    return NULL;
}
