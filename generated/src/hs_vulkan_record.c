/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Calls for Vulkan: check a call, bind its buffers by descriptor sets or by addresses, and record its steps. */
#include "hs_vulkan_internal.h"

#include <string.h>

/* The buffers that a step binds. */
typedef struct hs_vulkan_set {
    int addressed;                             /* 1 if all buffers have addresses */
    uint32_t count;
    uint64_t largest;                          /* bytes of the largest range */
    uint64_t at[HS_FORMS][HS_BINDINGS];        /* by descriptor: index of the first element; by address: the address */
    VkDescriptorBufferInfo ranges[HS_BINDINGS];
} hs_vulkan_set;

/* The descriptor sets of a call. */
typedef struct hs_vulkan_sets {
    uint32_t count;
    uint32_t place[HS_SETS]; /* for each binding list: 1 + the index of its set; 0 if it needs none */
    int written[HS_SETS];    /* this member and the following are by the index of the set */
    VkDescriptorSetLayout layouts[HS_SETS];
    VkDescriptorSet handles[HS_SETS];
} hs_vulkan_sets;

/* A checked call. */
typedef struct hs_vulkan_call {
    hs_call plan;
    const hs_vulkan_record *record;
    hs_span spans[HS_ROLES];
} hs_vulkan_call;

static int hs_vulkan_same(const hs_vulkan_buffer *a, const hs_vulkan_buffer *b)
{
    return !a->buffer || (a->buffer == b->buffer && a->offset == b->offset);
}

/* Check the buffers of a call. */
static hs_status hs_vulkan_roles(const hs_sort *sort, const hs_vulkan_record *record, hs_vulkan_call *call)
{
    const hs_vulkan_buffer *const given = record->given;
    hs_span *const spans = call->spans;
    hs_status status;
    uint32_t i;
    for (i = 0; i < HS_ROLES; i++) {
        const hs_vulkan_buffer *one = &given[i];
        spans[i].where = (uint64_t)one->buffer;
        spans[i].begin = one->offset;
        spans[i].room = one->size == VK_WHOLE_SIZE || one->offset > UINT64_MAX - one->size ? 0 : one->size;
    }
    if (hs_vulkan_same(&given[HS_DESTINATION], &given[HS_SOURCE])) hs_share(&spans[HS_DESTINATION], &spans[HS_SOURCE]);
    if (hs_vulkan_same(&given[HS_VALUES_OUT], &given[HS_VALUES])) hs_share(&spans[HS_VALUES_OUT], &spans[HS_VALUES]);
    status = hs_survey(sort, &call->plan, spans);
    if (status || hs_idle(sort, record->n)) return status;
    if (record->accesses && !record->stages) return HS_ERROR_ARGUMENT;
    if (!hs_scratch_aligned(spans)) return HS_ERROR_ALIGNMENT;
    for (i = 0; i < HS_ROLES; i++)
        if (spans[i].bytes && spans[i].from == (hs_role)i &&
            given[i].address % hs_element(sort, (hs_role)i))
            return HS_ERROR_ALIGNMENT;
    if (!call->plan.device_count) return HS_OK;
    /* the grids of all steps are at the start of scratch */
    if (!sort->step_count || sort->steps[0].argument.kind != HS_INDIRECT_GRIDS) return HS_ERROR_KERNELS;
    return (uint64_t)sort->step_count * sizeof(VkDispatchIndirectCommand) > spans[HS_SCRATCH].bytes ? HS_ERROR_KERNELS
                                                                                                    : HS_OK;
}

/* Compute where the buffers of a step begin. */
static hs_status hs_vulkan_locate(const hs_vulkan *s, const hs_step *step, const hs_vulkan_call *call,
                                  hs_vulkan_set *set)
{
    uint32_t i;
    set->addressed = 1;
    set->largest = 0;
    set->count = s->sort->kernels[step->kernel].bindings;
    for (i = 0; i < set->count; i++) {
        const hs_role role = step->bindings[i].role;
        const hs_span *span = &call->spans[role];
        const hs_vulkan_buffer *buffer = &call->record->given[span->from];
        const uint64_t skip = hs_offset(&step->bindings[i], call->plan.n), offset = span->begin + skip;
        const uint64_t remainder = offset % s->alignment;
        uint64_t range = span->bytes - skip + remainder;
        if (skip >= span->bytes) return HS_ERROR_KERNELS;
        set->at[HS_BY_DESCRIPTOR][i] = remainder / hs_element(s->sort, role);
        set->at[HS_BY_ADDRESS][i] = buffer->address + offset;
        if (!buffer->address) set->addressed = 0;
        set->ranges[i].buffer = buffer->buffer;
        set->ranges[i].offset = offset - remainder;
#if HS_HLSL
        range = (range + 3) / 4 * 4;
#endif
        /* rows may start anywhere in a buffer: bind as much as a descriptor allows */
        if (range > s->range_limit && hs_anywhere(s->sort, call->spans, role)) range = s->range_limit / 4 * 4;
        set->ranges[i].range = range;
        if (set->ranges[i].range > set->largest) set->largest = set->ranges[i].range;
    }
    return HS_OK;
}

/* Choose whether a kernel gets these buffers by descriptor or by address. A kernel that serves only small counts may
 * have no pipeline for addresses; it then gets them by descriptor. */
static int hs_vulkan_form(const hs_vulkan *s, const hs_vulkan_set *set, uint32_t kernel)
{
    const int form = set->largest > s->binding_limit ? HS_BY_ADDRESS : HS_BY_DESCRIPTOR;
    return s->pipelines[form][kernel] ? form : HS_FORMS - 1 - form;
}

/* Check that a call launches no kernel for 64-bit counts; Vulkan has no such kernels. */
static int hs_vulkan_counts(const hs_sort *sort, const hs_call *call)
{
    uint32_t i;
    for (i = 0; i < sort->step_count; i++)
        if (sort->kernels[sort->steps[i].kernel].index64 && hs_groups(&sort->steps[i], call)) return 0;
    return 1;
}

/* hs_launch, which here also handles the step that computes grids from a device-side count.  The grid returned for any
 * other step is that of the capacity. */
static int hs_vulkan_grid(const hs_vulkan *s, const hs_step *step, const hs_vulkan_call *call, uint32_t grid[2],
                          int32_t *argument)
{
    uint64_t groups;
    if (step->argument.kind != HS_INDIRECT_GRIDS)
        return hs_launch(s->sort, step, &call->plan, s->max_groups, s->max_groups, grid, argument);
    *argument = s->max_groups < 1u << 30 ? (int32_t)s->max_groups : 1 << 30; /* to which an int can be added */
    groups = call->plan.device_count ? ((uint64_t)s->sort->step_count + 63) / 64 : 0; /* a lane for each step */
    if (!groups) return 0;
    return hs_grid(groups, s->max_groups, grid) ? 1 : -1;
}

/* Check the launches of a call, so that recording them cannot fail, and list the descriptor sets to allocate. */
static hs_status hs_vulkan_survey(const hs_vulkan *s, const hs_vulkan_call *call, hs_vulkan_sets *sets)
{
    uint32_t i, grid[2] = {1, 1};
    int32_t argument;
    for (i = 0; i < s->sort->step_count; i++) {
        const hs_step *step = &s->sort->steps[i];
        const int runs = hs_vulkan_grid(s, step, call, grid, &argument);
        hs_vulkan_set set;
        hs_status status;
        int form;
        if (!runs) continue;
        if (runs < 0) return HS_ERROR_DEVICE;
        status = hs_vulkan_locate(s, step, call, &set);
        if (status) return status;
        form = hs_vulkan_form(s, &set, step->kernel);
        if (!s->pipelines[form][step->kernel]) return HS_ERROR_DEVICE;
        if (form == HS_BY_ADDRESS && !set.addressed)
            return s->binding == HS_VULKAN_BY_ADDRESS ? HS_ERROR_ARGUMENT : HS_ERROR_DEVICE;
        if (form == HS_BY_ADDRESS) continue;
        if (set.largest > s->range_limit) return HS_ERROR_DEVICE;
        if (s->binding == HS_VULKAN_BY_PUSH || sets->place[s->set_of[i]]) continue;
        sets->layouts[sets->count] = s->set_layouts[set.count];
        sets->place[s->set_of[i]] = ++sets->count;
    }
    return HS_OK;
}

/* Bind the buffers of a step: by the descriptor set `handle`, or, if it is null, by push descriptors. */
static void hs_vulkan_bind(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_set *set,
                           const VkDescriptorSet *handle, int write)
{
    const VkPipelineLayout layout = s->layouts[HS_BY_DESCRIPTOR][set->count];
    VkWriteDescriptorSet writes[HS_BINDINGS];
    uint32_t i;
    memset(writes, 0, sizeof writes);
    for (i = 0; i < set->count; i++) {
        writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        if (handle) writes[i].dstSet = *handle;
        writes[i].dstBinding = i;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        writes[i].pBufferInfo = &set->ranges[i];
    }
    if (!handle) {
        s->CmdPushDescriptorSet(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, set->count, writes);
        return;
    }
    if (write) s->UpdateDescriptorSets(s->device, set->count, writes, 0, NULL);
    s->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, handle, 0, NULL);
}

/* Write the next timestamp, when everything recorded so far is complete. */
static void hs_vulkan_stamp(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_timestamps *stamps,
                            uint32_t *count)
{
    if (!stamps->pool) return;
    s->CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps->pool, stamps->first + (*count)++);
}

/* A barrier before a compute shader.  `indirect`: 1 if the launch also reads its grid from memory. */
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
                           const hs_step *step, const hs_call *call, int32_t argument)
{
    int32_t numbers[4] = {(int32_t)call->n, argument, 0, 0};
    unsigned char push[8 * HS_BINDINGS + sizeof numbers];
    uint32_t k;
    hs_numbers(s->sort, step, call, &numbers[2]);
    for (k = 0; k < set->count; k++) {
        const uint64_t *at = &set->at[form][k];
        const uint32_t first[2] = {(uint32_t)*at, 0};
        memcpy(push + 8 * k, form == HS_BY_ADDRESS ? (const void *)at : (const void *)first, 8);
    }
    memcpy(push + 8 * k, numbers, sizeof numbers);
    s->CmdPushConstants(commands, s->layouts[form][set->count], VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        hs_vulkan_push_bytes(set->count), push);
}

/* Launch a step whose pipeline and buffers are bound. */
static void hs_vulkan_dispatch(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_call *call, uint32_t step,
                               const uint32_t grid[2])
{
    const hs_span *scratch = &call->spans[HS_SCRATCH];
    if (call->plan.device_count && s->sort->steps[step].argument.kind != HS_INDIRECT_GRIDS)
        s->CmdDispatchIndirect(commands, call->record->given[scratch->from].buffer,
                               scratch->begin + step * sizeof(VkDispatchIndirectCommand));
    else
        s->CmdDispatch(commands, grid[0], grid[1], 1);
}

/* Record the steps of a surveyed call. */
static void hs_vulkan_steps(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_call *call,
                            hs_vulkan_sets *sets)
{
    const hs_vulkan_record *record = call->record;
    VkPipelineStageFlags stages = record->stages;
    VkAccessFlags accesses = record->accesses;
    VkPipeline bound_pipeline = VK_NULL_HANDLE;
    hs_vulkan_set set;
    uint32_t i, bound = HS_SETS, stamps = 0, grid[2] = {1, 1};
    int32_t argument = 0;
    int grids = 0; /* whether the previous step wrote grids */
    for (i = 0; i < s->sort->step_count; i++) {
        const hs_step *step = &s->sort->steps[i];
        const uint32_t list = s->set_of[i];
        VkPipeline pipeline;
        int form;
        if (!hs_vulkan_grid(s, step, call, grid, &argument)) continue;
        (void)hs_vulkan_locate(s, step, call, &set); /* hs_vulkan_survey checked the result */
        form = hs_vulkan_form(s, &set, step->kernel);
        pipeline = s->pipelines[form][step->kernel];
        /* every step reads what the previous one wrote */
        if (stages) hs_vulkan_barrier(s, commands, stages, accesses, grids);
        stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
        accesses = VK_ACCESS_SHADER_WRITE_BIT;
        if (pipeline != bound_pipeline) s->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        bound_pipeline = pipeline;
        if (list != bound && form == HS_BY_DESCRIPTOR) {
            const uint32_t place = sets->place[list];
            hs_vulkan_bind(s, commands, &set, place ? &sets->handles[place - 1] : NULL,
                           place && !sets->written[place - 1]);
            if (place) sets->written[place - 1] = 1;
            bound = list;
        }
        hs_vulkan_push(s, commands, &set, form, step, &call->plan, argument);
        grids = step->argument.kind == HS_INDIRECT_GRIDS;
        if (!stamps) hs_vulkan_stamp(s, commands, &record->timestamps, &stamps);
        hs_vulkan_dispatch(s, commands, call, i, grid);
        hs_vulkan_stamp(s, commands, &record->timestamps, &stamps);
    }
    if (record->timestamps.written) *record->timestamps.written = stamps;
}

/* Allocate the descriptor sets of a checked call, and record the call.  Nothing here allocates host memory, since sorts
 * may be recorded for every frame. */
static hs_status hs_vulkan_take(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_call *call,
                                VkResult *result)
{
    hs_vulkan_sets sets;
    hs_status status;
    memset(&sets, 0, sizeof sets);
    status = hs_vulkan_survey(s, call, &sets);
    if (!status && sets.count) {
        VkDescriptorSetAllocateInfo allocate;
        memset(&allocate, 0, sizeof allocate);
        allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
        allocate.descriptorPool = call->record->pool;
        allocate.descriptorSetCount = sets.count;
        allocate.pSetLayouts = sets.layouts;
        if (!allocate.descriptorPool) return HS_ERROR_ARGUMENT;
        status = hs_vulkan_status(s->AllocateDescriptorSets(s->device, &allocate, sets.handles), result);
    }
    if (!status) hs_vulkan_steps(s, commands, call, &sets);
    return status;
}

hs_status hs_vulkan_run(const hs_vulkan *s, VkCommandBuffer commands, const hs_vulkan_record *record,
                        VkResult *result)
{
    const hs_vulkan_buffer *given;
    hs_vulkan_call call;
    hs_status status;
    if (result) *result = VK_SUCCESS;
    if (!s || !commands || !record) return HS_ERROR_ARGUMENT;
    if (s->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (record->n > s->sort->max_n) return HS_ERROR_COUNT;
    given = record->given;
    memset(&call, 0, sizeof call);
    call.record = record;
    call.plan.n = record->n;
    call.plan.number = record->number;
    call.plan.take = record->take;
    call.plan.options = &record->options;
    call.plan.device_count = s->sort->device_count && given[HS_COUNT].buffer != VK_NULL_HANDLE;
    call.plan.in_place =
        hs_vulkan_same(&given[HS_DESTINATION], &given[HS_SOURCE]) && !record->options.discard_keys;
    if (record->timestamps.written) *record->timestamps.written = 0;
    if (!hs_vulkan_counts(s->sort, &call.plan)) return HS_ERROR_COUNT;
    if (s->first && !s->use && record->n <= s->first->scope.max_n) return hs_vulkan_run(s->first, commands, record, result);
    status = hs_vulkan_roles(s->sort, record, &call);
    if (!status) status = hs_scope_takes(s->sort, &s->scope, &call.plan);
    if (status || hs_idle(s->sort, record->n)) return status;
    if (s->first ? !s->use : hs_vulkan_missing(s) != 0) return HS_ERROR_SCOPE;
    return hs_vulkan_take(s, commands, &call, result);
}
