/* Sorters for Vulkan: pipelines, their layouts, and the descriptor sets that a call needs. */
#include "hs_vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

#define HS_LOOK_UP(name) ((s->name = (PFN_vk##name)get_proc(s->device, "vk" #name)) != NULL) &&

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

/* Make the layouts of kernels with this number of bindings, if they do not exist. */
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
    /* drivers report a shader that does not compile by various codes */
    status = hs_vulkan_status(code, result);
    return status == HS_ERROR_API ? HS_ERROR_BUILD : status;
}

/* Number the distinct lists of bindings of the plan: each needs one descriptor set. */
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
                        mine[k].per_n == other[k].per_n && mine[k].max_n == other[k].max_n;)
                k++;
            if (k == count) break;
        }
        if (j == i) s->storage_buffers += count;
        s->set_of[i] = j < i ? s->set_of[j] : s->set_count++;
    }
}

/* Initialize all members except the pipelines. */
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
