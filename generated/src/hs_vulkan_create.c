/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Sorters for Vulkan: pipelines, their layouts, and the descriptor sets that a call needs. */
#include "hs_vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

#define HS_LOOK_UP(name) ((s->name = (PFN_vk##name)get_proc(s->device, "vk" #name)) != NULL) &&

void hs_vulkan_release(hs_vulkan *s)
{
    uint32_t form, i;
    if (!s) return;
    hs_vulkan_release(s->first);
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
    free(s->jobs);
    free(s);
}

/* Make the layouts that all kernels with this number of bindings share, unless they exist. */
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
        if (s->CmdPushDescriptorSet) set.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
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

/* The next number of a text, lowest digit first.  A character is a digit: '#' is 0, and the following characters,
 * without '?' and the backslash, are 1, 2 and so on.  After a digit of 72 or more, another digit follows, with 18 times
 * the weight. */
static uint32_t hs_vulkan_read(const char *const **text, const char **at)
{
    uint32_t value = 0, scale = 1, digit;
    do {
        char c;
        if (!**at) *at = *++*text;
        c = *(*at)++;
        digit = (uint32_t)(c - '#' - (c > '?') - (c > '\\'));
        value += digit * scale;
        scale *= 18;
    } while (digit >= 72);
    return value;
}

/* Decode the words of a module.  The kind of an instruction is its first word: its length and opcode.  The first 128
 * kinds are numbered as they occur.  An instruction starts with the number of its kind; after the number of a new kind,
 * its length and opcode follow.  Every other word is the difference from the same word of the previous instruction of
 * its kind, or from 0 if there is none; the lowest bit is the sign. */
static uint32_t *hs_vulkan_words(const hs_spirv *spirv)
{
    const size_t count = spirv->bytes / sizeof(uint32_t);
    uint32_t *words = (uint32_t *)malloc(spirv->bytes), kinds = 0, left = 5;
    const uint32_t *like = NULL;
    const char *const *text = spirv->text;
    const char *at = *text;
    size_t last[129], i;
    for (i = 0; words && i < count; i++, left--) {
        uint32_t number = hs_vulkan_read(&text, &at);
        if (left) {
            words[i] = (like ? *like++ : 0) + (number >> 1 ^ (0 - (number & 1)));
            continue;
        }
        like = number < kinds ? words + last[number] : NULL;
        last[number] = i;
        words[i] = like ? *like++ : hs_vulkan_read(&text, &at) << 16;
        if (!like) {
            words[i] |= hs_vulkan_read(&text, &at);
            kinds += kinds < 128;
        }
        left = words[i] >> 16;
    }
    return words;
}

/* Make a pipeline whose layout exists. */
static hs_status hs_vulkan_pipeline(hs_vulkan *s, const hs_vulkan_job *job, VkResult *result)
{
    const hs_kernel *kernel = &s->sort->kernels[job->kernel];
    const hs_spirv *spirv = &(job->form == HS_BY_ADDRESS ? s->sort->spirv_address : s->sort->spirv)[job->kernel];
    VkPipeline *made = &s->pipelines[job->form][job->kernel];
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT width;
    VkComputePipelineCreateInfo pipeline;
    VkShaderModuleCreateInfo module;
    uint32_t *words = spirv->words ? NULL : hs_vulkan_words(spirv);
    hs_status status;
    VkResult code;
    if (!spirv->words && !words) return HS_ERROR_HOST_MEMORY;
    memset(&module, 0, sizeof module);
    memset(&width, 0, sizeof width);
    memset(&pipeline, 0, sizeof pipeline);
    module.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module.codeSize = spirv->bytes;
    module.pCode = spirv->words ? spirv->words : words;
    pipeline.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    pipeline.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline.stage.pName = "main";
    pipeline.layout = s->layouts[job->form][kernel->bindings];
    if (job->require) {
        width.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT;
        width.requiredSubgroupSize = kernel->subgroup;
        pipeline.stage.pNext = &width;
        pipeline.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    }
    code = s->CreateShaderModule(s->device, &module, s->allocator, &pipeline.stage.module);
    free(words);
    if (!code) {
        code = s->CreateComputePipelines(s->device, s->cache, 1, &pipeline, s->allocator, made);
        if (code) *made = VK_NULL_HANDLE;
        s->DestroyShaderModule(s->device, pipeline.stage.module, s->allocator);
    }
    /* drivers report a shader that does not compile by various codes */
    status = hs_vulkan_status(code, result);
    return status == HS_ERROR_API ? HS_ERROR_BUILD : status;
}

/* 1 if a kernel is part of the sorter: calls in the sorter's scope can launch the kernel, and it has SPIR-V. */
static int hs_vulkan_needs(const hs_vulkan *s, uint32_t kernel)
{
    return !s->sort->kernels[kernel].index64 && hs_scope_has(s->sort, &s->scope, kernel, 1);
}

/* Number the distinct lists of bindings of the steps in scope. A call needs one descriptor set for each distinct
 * list. */
static void hs_vulkan_number(hs_vulkan *s)
{
    const hs_sort *sort = s->sort;
    uint32_t i, j, k;
    for (i = 0; i < sort->step_count; i++) {
        const hs_binding *mine = sort->steps[i].bindings;
        const uint32_t count = sort->kernels[sort->steps[i].kernel].bindings;
        s->set_of[i] = UINT32_MAX;
        if (!hs_vulkan_needs(s, sort->steps[i].kernel)) continue;
        for (j = 0; j < i; j++) {
            const hs_binding *other = sort->steps[j].bindings;
            if (sort->kernels[sort->steps[j].kernel].bindings != count) continue;
            if (s->set_of[j] == UINT32_MAX) continue; /* its kernel is not needed */
            for (k = 0; k < count && mine[k].role == other[k].role && mine[k].plus == other[k].plus &&
                        mine[k].per_n == other[k].per_n && mine[k].max_n == other[k].max_n;)
                k++;
            if (k == count) break;
        }
        if (j == i) s->storage_buffers += count;
        s->set_of[i] = j < i ? s->set_of[j] : s->set_count++;
    }
}

/* Look up the functions of the device.  The function for push descriptors has the extension's name or that of Vulkan
 * 1.4. */
static hs_status hs_vulkan_look_up(hs_vulkan *s, const hs_vulkan_device *device)
{
    const PFN_vkGetDeviceProcAddr get_proc =
        (PFN_vkGetDeviceProcAddr)device->get_proc(device->instance, "vkGetDeviceProcAddr");
    s->device = device->device;
    if (!get_proc || !(HS_CALLS(HS_LOOK_UP) 1)) return HS_ERROR_API;
    if (s->binding != HS_VULKAN_BY_PUSH) return HS_OK;
    s->CmdPushDescriptorSet = (PFN_vkCmdPushDescriptorSetKHR)get_proc(s->device, "vkCmdPushDescriptorSetKHR");
    if (!s->CmdPushDescriptorSet)
        s->CmdPushDescriptorSet = (PFN_vkCmdPushDescriptorSetKHR)get_proc(s->device, "vkCmdPushDescriptorSet");
    return s->CmdPushDescriptorSet ? HS_OK : HS_ERROR_DEVICE;
}

/* Initialize all members except layouts and pipelines. */
static hs_status hs_vulkan_prepare(hs_vulkan *s, const hs_vulkan_device *device, const VkPhysicalDeviceLimits *limits)
{
    const size_t kernels = s->sort->kernel_count + 1u;
    uint32_t form;
    const hs_status status = hs_vulkan_look_up(s, device);
    if (status) return status;
    s->cache = device->cache;
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
        s->pipelines[form] = (VkPipeline *)calloc(kernels, sizeof *s->pipelines[form]);
        if (!s->pipelines[form]) return HS_ERROR_HOST_MEMORY;
    }
    s->jobs = (hs_vulkan_job *)calloc(HS_FORMS * kernels, sizeof *s->jobs);
    if (!s->jobs) return HS_ERROR_HOST_MEMORY;
    hs_vulkan_number(s);
    if (s->set_count > HS_SETS) return HS_ERROR_KERNELS;
    if (s->binding != HS_VULKAN_BY_SET) s->set_count = s->storage_buffers = 0;
    return HS_OK;
}

/* 1 if a kernel may get buffers beyond the binding limit, at the counts that the guards of its steps and the scope
 * permit. A guard on the length of rows does not bound their number, so it permits every count. With a device-side
 * count, buffers have the size of the capacity, which may be greater than these counts. A capacity beyond the limit
 * needs HS_VULKAN_BY_ADDRESS. */
static int hs_vulkan_beyond(const hs_vulkan *s, uint32_t kernel)
{
    hs_scope scope = s->scope;
    uint64_t bytes, most = 0;
    uint32_t i;
    for (i = 0; i < s->sort->step_count; i++) {
        const hs_guard *guard = &s->sort->steps[i].guard;
        const uint64_t greatest = guard->x == HS_BY_LENGTH ? scope.max_n : guard->max_n;
        if (s->sort->steps[i].kernel == kernel && greatest > most) most = greatest;
    }
    if (scope.max_n > most) scope.max_n = most;
    bytes = hs_scope_bytes(s->sort, &scope);
    return bytes > s->binding_limit || s->binding_limit - bytes < s->alignment;
}

/* List the pipelines, and make their layouts. */
static hs_status hs_vulkan_plan(hs_vulkan *s, const hs_vulkan_facts *facts, uint32_t features, VkResult *result)
{
    const hs_sort *sort = s->sort;
    const int alone = s->binding == HS_VULKAN_BY_ADDRESS, able = (features & HS_VULKAN_ADDRESS) != 0;
    hs_status status = HS_OK;
    uint32_t form, i;
    if (alone && !able) return HS_ERROR_DEVICE;
    if (alone && !sort->spirv_address) return HS_ERROR_KERNELS;
    for (form = alone ? HS_BY_ADDRESS : HS_BY_DESCRIPTOR; form < HS_FORMS; form++) {
        const hs_spirv *spirv = form == HS_BY_DESCRIPTOR ? sort->spirv : sort->spirv_address;
        if (!spirv || (form == HS_BY_ADDRESS && !able)) continue;
        for (i = 0; !status && i < sort->kernel_count; i++) {
            hs_vulkan_job *job = &s->jobs[s->job_count];
            if (!hs_vulkan_needs(s, i)) continue;
            if (alone && !spirv[i].bytes) return HS_ERROR_KERNELS;
            if (!spirv[i].bytes) continue;
            if (form == HS_BY_ADDRESS && !alone && sort->spirv[i].bytes && !hs_vulkan_beyond(s, i)) continue;
            job->form = form;
            job->kernel = i;
            job->require = hs_vulkan_can_require(&sort->kernels[i], facts, features);
            status = hs_vulkan_layout(s, form, sort->kernels[i].bindings, result);
            s->job_count++;
        }
    }
    return status;
}

hs_status hs_vulkan_create(const hs_sort *sort, const hs_vulkan_device *device, hs_vulkan **sorter, VkResult *result)
{
    return hs_vulkan_create_with(sort, device, NULL, sorter, result);
}

/* 1 if a sorter starts with the pipelines of the first sort.  Without options, it does only if the first sort takes all
 * counts. */
static int hs_vulkan_begins(const hs_sort *sort, const hs_vulkan_create_options *options)
{
    return sort->first && (options ? options->first != 0 : sort->first->max_n >= sort->max_n);
}

/* Make the sorter of the first sort, which takes the calls of `s` until the pipelines of `s` exist.  The calls must
 * have counts that the first sort supports. */
static hs_status hs_vulkan_begin(hs_vulkan *s, const hs_vulkan_device *device, uint32_t deferred, VkResult *result)
{
    const hs_sort *sort = s->sort->first;
    hs_vulkan_create_options options;
    memset(&options, 0, sizeof options);
    options.scope = s->scope;
    options.binding = s->binding;
    options.deferred = deferred;
    if (options.scope.max_n > sort->max_n) options.scope.max_n = sort->max_n;
    if (options.scope.min_n > sort->max_n) return HS_OK;
    return hs_vulkan_create_with(sort, device, &options, &s->first, result);
}

hs_status hs_vulkan_create_with(const hs_sort *sort, const hs_vulkan_device *device,
                                const hs_vulkan_create_options *options, hs_vulkan **sorter, VkResult *result)
{
    hs_vulkan_facts facts;
    hs_scope scope;
    hs_vulkan *s;
    hs_status status;
    uint32_t features, i;
    if (result) *result = VK_SUCCESS;
    if (sorter) *sorter = NULL;
    if (!sort || !device || !sorter || !device->device) return HS_ERROR_ARGUMENT;
    status = hs_scope_of(sort, options ? &options->scope : NULL, &scope);
    if (!status) status = hs_vulkan_ask(device, &facts, result);
    if (status) return status;
    features = facts.features & device->features;
    status = hs_vulkan_able(sort, &facts, features);
    if (status) return status;
    s = (hs_vulkan *)calloc(1, sizeof *s);
    if (!s) return HS_ERROR_HOST_MEMORY;
    s->sort = sort;
    s->scope = scope;
    s->binding = options ? options->binding : HS_VULKAN_BY_SET;
    status = hs_vulkan_prepare(s, device, &facts.base.limits);
    if (!status) status = hs_vulkan_plan(s, &facts, features, result);
    if (!status && hs_vulkan_begins(sort, options)) {
        status = hs_vulkan_begin(s, device, options ? options->deferred : 0, result);
        if (!options && status == HS_ERROR_DEVICE) status = HS_OK; /* the device runs only the sort itself */
    }
    for (i = 0; !status && i < s->job_count && !s->first && !(options && options->deferred); i++)
        status = hs_vulkan_pipeline(s, &s->jobs[i], result);
    if (status) hs_vulkan_release(s);
    else *sorter = s;
    return status;
}

static int hs_vulkan_made(const hs_vulkan *s, uint32_t index)
{
    return s->pipelines[s->jobs[index].form][s->jobs[index].kernel] != VK_NULL_HANDLE;
}

uint32_t hs_vulkan_missing(const hs_vulkan *s)
{
    uint32_t i, missing = 0;
    for (i = 0; i < s->job_count; i++) missing += !hs_vulkan_made(s, i);
    return missing;
}

hs_status hs_vulkan_create_pipeline(hs_vulkan *s, uint32_t index, VkResult *result)
{
    if (result) *result = VK_SUCCESS;
    if (!s) return HS_ERROR_ARGUMENT;
    if (index < hs_vulkan_first_count(s)) return hs_vulkan_create_pipeline(s->first, index, result);
    index -= hs_vulkan_first_count(s);
    if (index >= s->job_count) return HS_ERROR_ARGUMENT;
    return hs_vulkan_made(s, index) ? HS_OK : hs_vulkan_pipeline(s, &s->jobs[index], result);
}

hs_status hs_vulkan_create_next(hs_vulkan *s, uint32_t *left, VkResult *result)
{
    hs_status status = HS_OK;
    uint32_t i = 0, missing, first = 0;
    if (result) *result = VK_SUCCESS;
    if (left) *left = 0;
    if (!s) return HS_ERROR_ARGUMENT;
    missing = hs_vulkan_missing(s);
    if (s->first && missing && hs_vulkan_missing(s->first)) {
        status = hs_vulkan_create_next(s->first, &first, result);
    } else {
        while (i < s->job_count && hs_vulkan_made(s, i)) i++;
        if (i < s->job_count) status = hs_vulkan_pipeline(s, &s->jobs[i], result);
        missing = hs_vulkan_missing(s);
    }
    s->use = !missing;
    if (left) *left = missing + first;
    return status;
}

uint32_t hs_vulkan_pipeline_count(const hs_vulkan *s) { return s ? hs_vulkan_first_count(s) + s->job_count : 0; }

uint32_t hs_vulkan_first_count(const hs_vulkan *s) { return s && s->first ? s->first->job_count : 0; }
