/* Sorting with Vulkan; see hs_vulkan.h.  Names with EXT and KHR are used so that Vulkan 1.1 and old headers do. */
#include "hs/hs_vulkan.h"

#include <stdlib.h>
#include <string.h>

#define HS_CALLS(X)                                                                                                   \
    X(CreateShaderModule) X(DestroyShaderModule) X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout)           \
    X(CreatePipelineLayout) X(DestroyPipelineLayout) X(CreateComputePipelines) X(DestroyPipeline)                     \
    X(AllocateDescriptorSets) X(UpdateDescriptorSets) X(CmdBindPipeline) X(CmdBindDescriptorSets)                     \
    X(CmdPushConstants) X(CmdPipelineBarrier) X(CmdDispatch) X(CmdDispatchIndirect)
#define HS_MEMBER(name) PFN_vk##name name;
#define HS_LOOK_UP(name) ((s->name = (PFN_vk##name)get_proc(s->device, "vk" #name)) != NULL) &&

/* How a kernel gets its buffers. */
enum { HS_BY_DESCRIPTOR = 0, HS_BY_ADDRESS = 1, HS_FORMS = 2 };

struct hs_vulkan {
    const hs_sort *sort;
    VkDevice device;
    VkAllocationCallbacks callbacks;
    const VkAllocationCallbacks *allocator; /* null or the copy above */
    HS_CALLS(HS_MEMBER)
    uint64_t alignment, range_limit, binding_limit; /* what the device can bind, and what is to be bound */
    uint32_t max_groups;
    VkDescriptorSetLayout set_layouts[HS_BINDINGS + 1]; /* by the number of bindings */
    VkPipelineLayout layouts[HS_FORMS][HS_BINDINGS + 1];
    VkPipeline *pipelines[HS_FORMS]; /* for each kernel; null where there is no such form */
    uint32_t *set_of;                /* for each step: which of the distinct lists of bindings it takes */
    uint32_t set_count, storage_buffers;
};

/* One list of bindings, during one sort. */
typedef struct hs_vulkan_set {
    int used, addressed, bound;                /* addressed: it has addresses; bound: it takes a descriptor set */
    uint32_t count, place;                     /* which of the descriptor sets it takes */
    uint64_t largest;                          /* bytes of the largest range */
    uint64_t at[HS_FORMS][HS_BINDINGS];        /* index of the first element; address */
    VkDescriptorBufferInfo ranges[HS_BINDINGS];
} hs_vulkan_set;

/* What a physical device says of itself; `features` are those it offers, not those enabled. */
typedef struct hs_vulkan_facts {
    VkPhysicalDeviceProperties base;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceSubgroupSizeControlPropertiesEXT control;
    VkPhysicalDeviceDriverPropertiesKHR driver;
    uint32_t features;
} hs_vulkan_facts;

static hs_status hs_vulkan_status(VkResult code, VkResult *result)
{
    if (result) *result = code;
    switch (code) {
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

/* The extensions of a device, which the caller frees; a list that grew since it was counted is asked for again. */
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

/* Structures of extensions are only handed to devices that know them. */
static hs_status hs_vulkan_ask(const hs_vulkan_device *device, hs_vulkan_facts *facts, VkResult *result)
{
    const VkInstance instance = device->instance;
    VkPhysicalDeviceSubgroupSizeControlFeaturesEXT control;
    VkPhysicalDeviceBufferDeviceAddressFeaturesKHR address;
    VkPhysicalDevice8BitStorageFeaturesKHR storage8;
    VkPhysicalDevice16BitStorageFeatures storage16;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceProperties2 properties;
    VkExtensionProperties *extensions;
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
    if (api >= VK_MAKE_VERSION(1, 3, 0)) facts->features |= HS_VULKAN_MAINTENANCE4; /* every such device has it */
    return HS_OK;
}

/* Whether a pipeline can ask for the kernel's subgroup width.  Some drivers ignore a width beyond their range. */
static int hs_vulkan_can_require(const hs_kernel *kernel, const hs_vulkan_facts *facts, uint32_t features)
{
    const VkPhysicalDeviceSubgroupSizeControlPropertiesEXT *control = &facts->control;
    return (features & HS_VULKAN_SUBGROUP_SIZE) && kernel->subgroup > 1 &&
           (control->requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
           control->minSubgroupSize <= kernel->subgroup && kernel->subgroup <= control->maxSubgroupSize &&
           kernel->work_group <= (uint64_t)kernel->subgroup * control->maxComputeWorkgroupSubgroups;
}

static uint32_t hs_vulkan_push_bytes(uint32_t bindings) { return 8 * bindings + 8; }

/* Whether a sort runs on a physical device of which these features are enabled. */
static hs_status hs_vulkan_able(const hs_sort *sort, const hs_vulkan_facts *facts, uint32_t features)
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
        if (sort->kernels[k].index64) continue; /* counts that take one are refused when they are asked for */
        if (!sort->spirv[k].words && !(sort->spirv_address && sort->spirv_address[k].words)) return HS_ERROR_KERNELS;
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
            limits->minStorageBufferOffsetAlignment > 256 || /* no device's is: parts of scratch are aligned so */
            hs_vulkan_push_bytes(kernel->bindings) > limits->maxPushConstantsSize)
            return HS_ERROR_DEVICE;
        if (kernel->subgroup <= 1) continue;
        if (!(facts->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) ||
            (facts->subgroup.supportedOperations & operations) != operations)
            return HS_ERROR_DEVICE;
        /* without a required size, that of the device, if it has one only; modules of SPIR-V 1.6 leave it open then */
        if (!hs_vulkan_can_require(kernel, facts, features) &&
            (facts->subgroup.subgroupSize != kernel->subgroup || sort->vulkan >= 13 ||
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
    /* needed is what the sort does not run without */
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
    memset(&known, 0, sizeof known);
    known.type = HS_GPU;
    if (facts.base.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) known.type = HS_CPU;
    if (facts.base.deviceType == VK_PHYSICAL_DEVICE_TYPE_OTHER) known.type = HS_OTHER;
    known.vendor = facts.base.vendorID;
    known.name = facts.base.deviceName;
    known.platform = facts.driver.sType ? facts.driver.driverName : NULL;
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

void hs_vulkan_release(hs_vulkan *s)
{
    uint32_t form, i;
    if (!s) return;
    for (form = 0; form < HS_FORMS; form++) {
        for (i = 0; s->pipelines[form] && i < s->sort->kernel_count; i++)
            if (s->pipelines[form][i]) s->DestroyPipeline(s->device, s->pipelines[form][i], s->allocator);
        for (i = 0; i <= HS_BINDINGS; i++)
            if (s->layouts[form][i]) s->DestroyPipelineLayout(s->device, s->layouts[form][i], s->allocator);
        free(s->pipelines[form]);
    }
    for (i = 0; i <= HS_BINDINGS; i++)
        if (s->set_layouts[i]) s->DestroyDescriptorSetLayout(s->device, s->set_layouts[i], s->allocator);
    free(s->set_of);
    free(s);
}

/* The layouts of kernels with that many bindings, if they are not there yet. */
static hs_status hs_vulkan_layout(hs_vulkan *s, uint32_t form, uint32_t bindings, VkResult *result)
{
    VkDescriptorSetLayoutBinding binding[HS_BINDINGS];
    VkDescriptorSetLayoutCreateInfo set;
    VkPipelineLayoutCreateInfo layout;
    VkPushConstantRange push;
    VkResult code;
    uint32_t i;
    if (form == HS_BY_DESCRIPTOR && !s->set_layouts[bindings]) {
        memset(binding, 0, sizeof binding);
        for (i = 0; i < bindings; i++) {
            binding[i].binding = i;
            binding[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            binding[i].descriptorCount = 1;
            binding[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
        }
        memset(&set, 0, sizeof set);
        set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
        set.bindingCount = bindings;
        set.pBindings = binding;
        code = s->CreateDescriptorSetLayout(s->device, &set, s->allocator, &s->set_layouts[bindings]);
        if (code) {
            s->set_layouts[bindings] = VK_NULL_HANDLE;
            return hs_vulkan_status(code, result);
        }
    }
    if (s->layouts[form][bindings]) return HS_OK;
    push.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    push.offset = 0;
    push.size = hs_vulkan_push_bytes(bindings);
    memset(&layout, 0, sizeof layout);
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.setLayoutCount = form == HS_BY_DESCRIPTOR ? 1 : 0;
    layout.pSetLayouts = &s->set_layouts[bindings];
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &push;
    code = s->CreatePipelineLayout(s->device, &layout, s->allocator, &s->layouts[form][bindings]);
    if (code) s->layouts[form][bindings] = VK_NULL_HANDLE;
    return hs_vulkan_status(code, result);
}

static hs_status hs_vulkan_pipeline(hs_vulkan *s, uint32_t form, uint32_t index, const hs_spirv *spirv, int require,
                                    VkPipelineCache cache, VkResult *result)
{
    const hs_kernel *kernel = &s->sort->kernels[index];
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT width;
    VkComputePipelineCreateInfo pipeline;
    VkShaderModuleCreateInfo module;
    hs_status status = hs_vulkan_layout(s, form, kernel->bindings, result);
    VkResult code;
    if (status) return status;
    memset(&module, 0, sizeof module);
    memset(&width, 0, sizeof width);
    memset(&pipeline, 0, sizeof pipeline);
    module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module.codeSize = spirv->bytes;
    module.pCode = spirv->words;
    pipeline.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    pipeline.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline.stage.pName = "main";
    pipeline.layout = s->layouts[form][kernel->bindings];
    if (require) {
        width.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT;
        width.requiredSubgroupSize = kernel->subgroup;
        pipeline.stage.pNext = &width;
        pipeline.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    }
    code = s->CreateShaderModule(s->device, &module, s->allocator, &pipeline.stage.module);
    if (!code) {
        code = s->CreateComputePipelines(s->device, cache, 1, &pipeline, s->allocator, &s->pipelines[form][index]);
        if (code) s->pipelines[form][index] = VK_NULL_HANDLE;
        s->DestroyShaderModule(s->device, pipeline.stage.module, s->allocator);
    }
    /* drivers report a shader that they cannot compile by various codes */
    status = hs_vulkan_status(code, result);
    return status == HS_ERROR_API ? HS_ERROR_BUILD : status;
}

/* Number the distinct lists of bindings in the plan: each needs one descriptor set. */
static void hs_vulkan_number(hs_vulkan *s)
{
    const hs_sort *sort = s->sort;
    uint32_t i, j, k;
    for (i = 0; i < sort->step_count; i++) {
        const hs_binding *mine = sort->steps[i].bindings;
        const uint32_t count = sort->kernels[sort->steps[i].kernel].bindings;
        for (j = 0; j < i; j++) {
            const hs_binding *other = sort->steps[j].bindings;
            if (sort->kernels[sort->steps[j].kernel].bindings != count) continue;
            for (k = 0; k < count && mine[k].role == other[k].role && mine[k].plus == other[k].plus &&
                        mine[k].per_n == other[k].per_n;)
                k++;
            if (k == count) break;
        }
        if (j == i) s->storage_buffers += count;
        s->set_of[i] = j < i ? s->set_of[j] : s->set_count++;
    }
}

/* All but the pipelines. */
static hs_status hs_vulkan_prepare(hs_vulkan *s, const hs_vulkan_device *device, const VkPhysicalDeviceLimits *limits)
{
    PFN_vkGetDeviceProcAddr get_proc;
    uint32_t form;
    get_proc = (PFN_vkGetDeviceProcAddr)device->get_proc(device->instance, "vkGetDeviceProcAddr");
    s->device = device->device;
    if (!get_proc || !(HS_CALLS(HS_LOOK_UP) 1)) return HS_ERROR_API;
    if (device->allocator) {
        s->callbacks = *device->allocator;
        s->allocator = &s->callbacks;
    }
    s->alignment = limits->minStorageBufferOffsetAlignment ? limits->minStorageBufferOffsetAlignment : 1;
    s->binding_limit = s->range_limit = limits->maxStorageBufferRange;
    if (device->binding_limit && device->binding_limit < s->binding_limit) s->binding_limit = device->binding_limit;
    s->max_groups = s->sort->max_groups;
    if (s->max_groups > limits->maxComputeWorkGroupCount[0]) s->max_groups = limits->maxComputeWorkGroupCount[0];
    if (s->max_groups > limits->maxComputeWorkGroupCount[1]) s->max_groups = limits->maxComputeWorkGroupCount[1];
    s->set_of = (uint32_t *)calloc(s->sort->step_count + 1u, sizeof *s->set_of);
    if (!s->set_of) return HS_ERROR_HOST_MEMORY;
    for (form = 0; form < HS_FORMS; form++) {
        s->pipelines[form] = (VkPipeline *)calloc(s->sort->kernel_count + 1u, sizeof *s->pipelines[form]);
        if (!s->pipelines[form]) return HS_ERROR_HOST_MEMORY;
    }
    hs_vulkan_number(s);
    return HS_OK;
}

hs_status hs_vulkan_create(const hs_sort *sort, const hs_vulkan_device *device, hs_vulkan **sorter, VkResult *result)
{
    hs_vulkan_facts facts;
    hs_vulkan *s;
    hs_status status;
    uint32_t features, form, i;
    if (result) *result = VK_SUCCESS;
    if (sorter) *sorter = NULL;
    if (!sort || !device || !sorter || !device->device) return HS_ERROR_ARGUMENT;
    status = hs_vulkan_ask(device, &facts, result);
    features = facts.features & device->features;
    if (!status) status = hs_vulkan_able(sort, &facts, features);
    if (status) return status;
    s = (hs_vulkan *)calloc(1, sizeof *s);
    if (!s) return HS_ERROR_HOST_MEMORY;
    s->sort = sort;
    status = hs_vulkan_prepare(s, device, &facts.base.limits);
    for (form = 0; form < HS_FORMS; form++) {
        const hs_spirv *spirv = form == HS_BY_DESCRIPTOR ? sort->spirv : sort->spirv_address;
        if (!spirv || (form == HS_BY_ADDRESS && !(features & HS_VULKAN_ADDRESS))) continue;
        for (i = 0; !status && i < sort->kernel_count; i++)
            if (spirv[i].words && !sort->kernels[i].index64)
                status = hs_vulkan_pipeline(s, form, i, &spirv[i],
                                            hs_vulkan_can_require(&sort->kernels[i], &facts, features), device->cache,
                                            result);
    }
    if (status) hs_vulkan_release(s);
    else *sorter = s;
    return status;
}

const hs_sort *hs_vulkan_sort_of(const hs_vulkan *s) { return s ? s->sort : NULL; }

void hs_vulkan_descriptors(const hs_vulkan *s, uint32_t *sets, uint32_t *storage_buffers)
{
    if (sets) *sets = s ? s->set_count : 0;
    if (storage_buffers) *storage_buffers = s ? s->storage_buffers : 0;
}

/* A call that has been checked. */
typedef struct hs_vulkan_call {
    hs_call plan;
    hs_vulkan_buffer given[HS_ROLES];
    hs_span spans[HS_ROLES];
} hs_vulkan_call;

static int hs_vulkan_same(const hs_vulkan_buffer *a, const hs_vulkan_buffer *b)
{
    return !a->buffer || (a->buffer == b->buffer && a->offset == b->offset);
}

/* A role that is played in place of another: of what both name, the lesser is there. */
static void hs_vulkan_alike(hs_span *also, hs_span *of)
{
    if (also->where && also->room < of->room) of->room = also->room;
    also->where = 0;
}

/* A call of any kind, which the public functions fill in: `parts` is the number that it has besides n. */
typedef struct hs_vulkan_record {
    hs_kind kind;
    uint64_t n;
    hs_options options;
    hs_vulkan_buffer source;
    hs_vulkan_buffer destination;
    hs_vulkan_buffer scratch;
    hs_vulkan_buffer values;
    hs_vulkan_buffer values_destination;
    hs_vulkan_buffer count;
    VkDescriptorPool pool;
    VkPipelineStageFlags stages;
    VkAccessFlags accesses;
    hs_vulkan_buffer other;
    hs_vulkan_buffer other_values;
    hs_vulkan_buffer report;
    uint64_t parts;
} hs_vulkan_record;

/* All that can be wrong with the buffers of a call. */
static hs_status hs_vulkan_roles(const hs_sort *sort, const hs_vulkan_record *record, hs_vulkan_call *call)
{
    hs_span *const spans = call->spans;
    hs_status status;
    uint32_t i;
    for (i = 0; i < HS_ROLES; i++) {
        const hs_vulkan_buffer *one = &call->given[i];
        spans[i].where = (uint64_t)one->buffer;
        spans[i].begin = one->offset;
        spans[i].room = one->size == VK_WHOLE_SIZE || one->offset > UINT64_MAX - one->size ? 0 : one->size;
    }
    if (hs_vulkan_same(&record->destination, &record->source))
        hs_vulkan_alike(&spans[HS_DESTINATION], &spans[HS_SOURCE]);
    if (hs_vulkan_same(&record->values_destination, &record->values))
        hs_vulkan_alike(&spans[HS_VALUES_OUT], &spans[HS_VALUES]);
    status = hs_survey(sort, &call->plan, spans);
    if (status || hs_idle(sort, record->n)) return status;
    if (record->accesses && !record->stages) return HS_ERROR_ARGUMENT;
    if ((spans[HS_SCRATCH].bytes || spans[HS_DESTINATION].from == HS_SCRATCH) && spans[HS_SCRATCH].begin % 256)
        return HS_ERROR_ALIGNMENT;
    for (i = 0; i < HS_ROLES; i++)
        if (spans[i].bytes && spans[i].from == (hs_role)i &&
            call->given[i].address % hs_element(sort, (hs_role)i))
            return HS_ERROR_ALIGNMENT;
    if (!call->plan.device_count) return HS_OK;
    /* the grids of all steps lie where scratch begins */
    if (!sort->step_count || sort->steps[0].argument.kind != HS_INDIRECT_GRIDS) return HS_ERROR_KERNELS;
    return (uint64_t)sort->step_count * sizeof(VkDispatchIndirectCommand) > spans[HS_SCRATCH].bytes ? HS_ERROR_KERNELS
                                                                                                    : HS_OK;
}

/* Where the buffers of a step begin. */
static hs_status hs_vulkan_locate(const hs_vulkan *s, const hs_step *step, const hs_vulkan_call *call,
                                  hs_vulkan_set *set)
{
    uint32_t i;
    set->used = set->addressed = 1;
    set->count = s->sort->kernels[step->kernel].bindings;
    for (i = 0; i < set->count; i++) {
        const hs_role role = step->bindings[i].role;
        const hs_span *span = &call->spans[role];
        const hs_vulkan_buffer *buffer = &call->given[span->from];
        const uint64_t skip = hs_offset(&step->bindings[i], call->plan.n), offset = span->begin + skip;
        const uint64_t remainder = offset % s->alignment;
        if (skip >= span->bytes) return HS_ERROR_KERNELS;
        set->at[HS_BY_DESCRIPTOR][i] = remainder / hs_element(s->sort, role);
        set->at[HS_BY_ADDRESS][i] = buffer->address + offset;
        if (!buffer->address) set->addressed = 0;
        set->ranges[i].buffer = buffer->buffer;
        set->ranges[i].offset = offset - remainder;
        set->ranges[i].range = span->bytes - skip + remainder;
        if (set->ranges[i].range > set->largest) set->largest = set->ranges[i].range;
    }
    return HS_OK;
}

/* How a kernel gets these buffers.  Kernels for small counts alone may have no form that takes addresses. */
static int hs_vulkan_form(const hs_vulkan *s, const hs_vulkan_set *set, uint32_t kernel)
{
    const int form = set->largest > s->binding_limit ? HS_BY_ADDRESS : HS_BY_DESCRIPTOR;
    return s->pipelines[form][kernel] ? form : HS_FORMS - 1 - form;
}

/* Whether all kernels that a sort of n keys launches exist: those for counts of 64 bits do not. */
static int hs_vulkan_counts(const hs_sort *sort, const hs_call *call)
{
    uint32_t i;
    for (i = 0; i < sort->step_count; i++)
        if (sort->kernels[sort->steps[i].kernel].index64 && hs_groups(&sort->steps[i], call)) return 0;
    return 1;
}

/* The grid of a step and what its kernel gets; 0: it does not run, -1: it does not fit the device.  With a count on the
 * device the grid is that of the greatest count. */
static int hs_vulkan_grid(const hs_vulkan *s, const hs_step *step, const hs_vulkan_call *call, uint32_t grid[2],
                          int32_t *argument)
{
    uint64_t groups;
    if (step->argument.kind == HS_INDIRECT_GRIDS) {
        *argument = s->max_groups < 1u << 30 ? (int32_t)s->max_groups : 1 << 30; /* to which an int can be added */
        groups = call->plan.device_count ? ((uint64_t)s->sort->step_count + 63) / 64 : 0; /* a lane for each step */
    } else {
        groups = hs_groups(step, &call->plan);
        if (!hs_argument(s->sort, step, &call->plan, argument)) return 0;
    }
    if (!groups) return 0;
    return hs_grid(groups, s->max_groups, grid) ? 1 : -1;
}

/* Look through the launches of a sort, so that recording them cannot fail.  `layouts` get those of the sets to take. */
static hs_status hs_vulkan_survey(const hs_vulkan *s, const hs_vulkan_call *call, hs_vulkan_set *sets,
                                  VkDescriptorSetLayout *layouts, uint32_t *taken)
{
    uint32_t i, grid[2];
    int32_t argument;
    for (i = 0; i < s->sort->step_count; i++) {
        const hs_step *step = &s->sort->steps[i];
        hs_vulkan_set *set = &sets[s->set_of[i]];
        const int runs = hs_vulkan_grid(s, step, call, grid, &argument);
        hs_status status = HS_OK;
        int form;
        if (!runs) continue;
        if (runs < 0) return HS_ERROR_DEVICE;
        if (!set->used) status = hs_vulkan_locate(s, step, call, set);
        if (status) return status;
        form = hs_vulkan_form(s, set, step->kernel);
        if (!s->pipelines[form][step->kernel]) return HS_ERROR_DEVICE;
        if (form == HS_BY_ADDRESS ? !set->addressed : set->largest > s->range_limit) return HS_ERROR_DEVICE;
        if (form == HS_BY_ADDRESS || set->bound) continue;
        layouts[*taken] = s->set_layouts[set->count];
        set->place = (*taken)++;
        set->bound = 1;
    }
    return HS_OK;
}

static void hs_vulkan_write_set(const hs_vulkan *s, const hs_vulkan_set *set, VkDescriptorSet handle)
{
    VkWriteDescriptorSet writes[HS_BINDINGS];
    uint32_t i;
    memset(writes, 0, sizeof writes);
    for (i = 0; i < set->count; i++) {
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        writes[i].dstSet = handle;
        writes[i].dstBinding = i;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[i].pBufferInfo = &set->ranges[i];
    }
    s->UpdateDescriptorSets(s->device, set->count, writes, 0, NULL);
}

/* `indirect`: grids that were written are read, too. */
static void hs_vulkan_barrier(const hs_vulkan *s, VkCommandBuffer commands, VkPipelineStageFlags stages,
                              VkAccessFlags accesses, int indirect)
{
    VkPipelineStageFlags next = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    VkMemoryBarrier barrier;
    memset(&barrier, 0, sizeof barrier);
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = accesses;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    if (indirect) {
        next |= VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
        barrier.dstAccessMask |= VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
    }
    s->CmdPipelineBarrier(commands, stages, next, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static void hs_vulkan_push(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_set *set, int form,
                           uint64_t n, int32_t argument)
{
    const int32_t numbers[2] = {(int32_t)n, argument};
    unsigned char push[8 * HS_BINDINGS + 8];
    uint32_t k;
    for (k = 0; k < set->count; k++) {
        const uint64_t *at = &set->at[form][k];
        const uint32_t first[2] = {(uint32_t)*at, 0};
        memcpy(push + 8 * k, form == HS_BY_ADDRESS ? (const void *)at : (const void *)first, 8);
    }
    memcpy(push + 8 * k, numbers, 8);
    s->CmdPushConstants(commands, s->layouts[form][set->count], VK_SHADER_STAGE_COMPUTE_BIT, 0, 8 * k + 8, push);
}

static void hs_vulkan_steps(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_record *record,
                             const hs_vulkan_call *call, const hs_vulkan_set *sets, const VkDescriptorSet *handles)
{
    const hs_span *scratch = &call->spans[HS_SCRATCH];
    VkPipelineStageFlags stages = record->stages;
    VkAccessFlags accesses = record->accesses;
    VkPipeline bound_pipeline = VK_NULL_HANDLE;
    const hs_vulkan_set *bound = NULL;
    uint32_t i, grid[2];
    int32_t argument = 0;
    int grids = 0; /* whether they have just been written */
    for (i = 0; i < s->sort->step_count; i++) {
        const hs_step *step = &s->sort->steps[i];
        const hs_vulkan_set *set = &sets[s->set_of[i]];
        const int form = hs_vulkan_form(s, set, step->kernel);
        const VkPipeline pipeline = s->pipelines[form][step->kernel];
        if (!hs_vulkan_grid(s, step, call, grid, &argument)) continue;
        /* every step of a sort reads what the one before wrote */
        if (stages) hs_vulkan_barrier(s, commands, stages, accesses, grids);
        stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
        accesses = VK_ACCESS_SHADER_WRITE_BIT;
        if (pipeline != bound_pipeline) s->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        bound_pipeline = pipeline;
        if (set != bound && form == HS_BY_DESCRIPTOR) {
            s->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->layouts[form][set->count], 0, 1,
                                     &handles[set->place], 0, NULL);
            bound = set;
        }
        hs_vulkan_push(s, commands, set, form, call->plan.n, argument);
        grids = step->argument.kind == HS_INDIRECT_GRIDS;
        if (call->plan.device_count && !grids)
            s->CmdDispatchIndirect(commands, call->given[scratch->from].buffer,
                                   scratch->begin + i * sizeof(VkDispatchIndirectCommand));
        else
            s->CmdDispatch(commands, grid[0], grid[1], 1);
    }
}

/* Take the descriptor sets of a call that has been checked, and record it. */
static hs_status hs_vulkan_take(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_record *record,
                                const hs_vulkan_call *call, VkResult *result)
{
    hs_vulkan_set *sets;
    VkDescriptorSet *handles;
    VkDescriptorSetLayout *layouts;
    hs_status status;
    uint32_t i, taken = 0;
    sets = (hs_vulkan_set *)calloc(s->set_count + 1u, sizeof *sets + sizeof *handles + sizeof *layouts);
    if (!sets) return HS_ERROR_HOST_MEMORY;
    handles = (VkDescriptorSet *)(void *)(sets + s->set_count);
    layouts = (VkDescriptorSetLayout *)(void *)(handles + s->set_count);
    status = hs_vulkan_survey(s, call, sets, layouts, &taken);
    if (!status && taken) {
        VkDescriptorSetAllocateInfo allocate;
        memset(&allocate, 0, sizeof allocate);
        allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
        allocate.descriptorPool = record->pool;
        allocate.descriptorSetCount = taken;
        allocate.pSetLayouts = layouts;
        status = record->pool ? hs_vulkan_status(s->AllocateDescriptorSets(s->device, &allocate, handles), result)
                            : HS_ERROR_ARGUMENT;
    }
    for (i = 0; !status && i < s->set_count; i++)
        if (sets[i].bound) hs_vulkan_write_set(s, &sets[i], handles[sets[i].place]);
    if (!status) hs_vulkan_steps(s, commands, record, call, sets, handles);
    free(sets);
    return status;
}

static hs_status hs_vulkan_run(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_record *record,
                               VkResult *result)
{
    hs_vulkan_call call;
    hs_status status;
    if (result) *result = VK_SUCCESS;
    if (!s || !commands || !record) return HS_ERROR_ARGUMENT;
    if (s->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (record->n > s->sort->max_n) return HS_ERROR_COUNT;
    memset(&call, 0, sizeof call);
    call.plan.n = record->n;
    call.plan.parts = record->parts;
    call.plan.options = &record->options;
    call.plan.device_count = record->count.buffer != VK_NULL_HANDLE;
    call.plan.in_place = hs_vulkan_same(&record->destination, &record->source) && !record->options.discard_keys;
    call.given[HS_SOURCE] = record->source;
    call.given[HS_DESTINATION] = record->destination;
    call.given[HS_SCRATCH] = record->scratch;
    call.given[HS_VALUES] = record->values;
    call.given[HS_VALUES_OUT] = record->values_destination;
    call.given[HS_COUNT] = record->count;
    call.given[HS_OTHER_INPUT] = record->other;
    call.given[HS_OTHER_VALUES] = record->other_values;
    call.given[HS_REPORT] = record->report;
    if (!hs_vulkan_counts(s->sort, &call.plan)) return HS_ERROR_COUNT;
    status = hs_vulkan_roles(s->sort, record, &call);
    return status || hs_idle(s->sort, record->n) ? status : hs_vulkan_take(s, commands, record, &call, result);
}

static hs_vulkan_record hs_vulkan_empty(hs_kind kind)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = kind;
    return record;
}

hs_status hs_vulkan_sort(const hs_vulkan *s, VkCommandBuffer commands,
                         const hs_vulkan_sort_args *args, VkResult *result)
{
    hs_vulkan_record record = hs_vulkan_empty(HS_SORT);
    if (args) {
        record.n = args->n;
        record.parts = args->shift;
        record.options = args->options;
        record.source = args->source;
        record.destination = args->destination;
        record.scratch = args->scratch;
        record.values = args->values;
        record.values_destination = args->values_destination;
        record.count = args->count;
        record.report = args->report;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
    }
    return hs_vulkan_run(s, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_scan(const hs_vulkan *s, VkCommandBuffer commands,
                         const hs_vulkan_scan_args *args, VkResult *result)
{
    hs_vulkan_record record = hs_vulkan_empty(HS_SCAN);
    if (args) {
        record.n = args->n;
        record.source = args->source;
        record.destination = args->destination;
        record.scratch = args->scratch;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
    }
    return hs_vulkan_run(s, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_segmented_sort(const hs_vulkan *s, VkCommandBuffer commands,
                             const hs_vulkan_segmented_sort_args *args, VkResult *result)
{
    hs_vulkan_record record = hs_vulkan_empty(HS_SEGMENTED_SORT);
    if (args) {
        record.n = args->n;
        record.parts = args->segment_count;
        record.options = args->options;
        record.source = args->source;
        record.destination = args->destination;
        record.scratch = args->scratch;
        record.other = args->offsets;
        record.values = args->values;
        record.values_destination = args->values_destination;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
    }
    return hs_vulkan_run(s, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_merge(const hs_vulkan *s, VkCommandBuffer commands,
                          const hs_vulkan_merge_args *args, VkResult *result)
{
    hs_vulkan_record record = hs_vulkan_empty(HS_MERGE);
    if (args) {
        record.n = args->n;
        record.parts = args->first_count;
        record.options = args->options;
        record.source = args->first;
        record.other = args->second;
        record.destination = args->destination;
        record.scratch = args->scratch;
        record.values = args->first_values;
        record.other_values = args->second_values;
        record.values_destination = args->values_destination;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
    }
    return hs_vulkan_run(s, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_digest(const hs_vulkan *s, VkCommandBuffer commands,
                          const hs_vulkan_digest_args *args, VkResult *result)
{
    hs_vulkan_record record = hs_vulkan_empty(HS_DIGEST);
    if (args) {
        record.n = args->n;
        record.parts = args->capacity;
        record.options = args->options;
        record.source = args->source;
        record.values = args->values;
        record.report = args->digest;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
    }
    return hs_vulkan_run(s, commands, args ? &record : NULL, result);
}
