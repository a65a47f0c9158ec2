/* Calls for WebGPU: check a call, bind its buffers, and record its steps. */
#include "hs_webgpu_internal.h"

#include <string.h>

/* A checked call. */
typedef struct hs_webgpu_call {
    hs_call plan;
    hs_span spans[HS_ROLES];
    WGPUBuffer buffers[HS_ROLES]; /* as kernels have them; null: the role is not used */
    int in_place;
    uint64_t keys, values; /* bytes to copy from the source to scratch before a call in place */
    hs_webgpu_range copy_keys, copy_values;
} hs_webgpu_call;

static uint64_t hs_webgpu_words(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

/* Compute where the copies of keys and values of a call in place begin in scratch.  Returns the size of scratch;
 * `plain` is the size without these copies. */
static uint64_t hs_webgpu_copies(const hs_sort *sort, uint64_t n, uint64_t plain, uint64_t *keys, uint64_t *values)
{
    *keys = hs_discarded_at(plain);
    *values = hs_discarded_at(*keys + n * hs_item_bytes(sort));
    return hs_webgpu_words(sort->value_bytes && !sort->index ? *values + n * sort->value_bytes
                                                             : *keys + n * hs_item_bytes(sort));
}

hs_status hs_webgpu_scratch(const hs_sort *sort, uint64_t n, const hs_options *options, int in_place, uint64_t *bytes)
{
    uint64_t keys, values;
    hs_status status = hs_scratch_with(sort, n, options, bytes);
    if (status != HS_OK) return status;
    if (in_place && n && sort->kind <= HS_SEGMENTED_SORT && !(options && options->discard_keys))
        *bytes = hs_webgpu_copies(sort, n, *bytes, &keys, &values);
    *bytes = hs_webgpu_words(*bytes);
    return HS_OK;
}

static int hs_webgpu_same(const hs_webgpu_buffer *a, const hs_webgpu_buffer *b)
{
    return a->buffer == b->buffer && a->offset == b->offset;
}

/* Turn a call in place into one out of place: the sort reads copies of keys and values in scratch, and stores to the
 * original buffers. */
static hs_status hs_webgpu_apart(const hs_sort *sort, const hs_webgpu_record *record, hs_webgpu_call *call)
{
    const hs_span scratch = call->spans[HS_SCRATCH];
    hs_span *const spans = call->spans;
    uint64_t plain = 0, keys, values, need;
    hs_status status = hs_scratch(sort, record->n, &plain);
    if (status != HS_OK) return status;
    need = hs_webgpu_copies(sort, record->n, plain, &keys, &values);
    if (!scratch.where || scratch.room < need) return HS_ERROR_SCRATCH;
    spans[HS_DESTINATION] = spans[HS_SOURCE];
    call->buffers[HS_DESTINATION] = call->buffers[HS_SOURCE];
    spans[HS_SOURCE] = scratch;
    spans[HS_SOURCE].begin += keys;
    spans[HS_SOURCE].room = call->keys = hs_webgpu_words(record->n * hs_item_bytes(sort));
    call->buffers[HS_SOURCE] = call->buffers[HS_SCRATCH];
    call->copy_keys.buffer = call->buffers[HS_DESTINATION];
    call->copy_keys.offset = spans[HS_DESTINATION].begin;
    if (!spans[HS_VALUES].where) return HS_OK;
    spans[HS_VALUES_OUT] = spans[HS_VALUES];
    call->buffers[HS_VALUES_OUT] = call->buffers[HS_VALUES];
    spans[HS_VALUES] = scratch;
    spans[HS_VALUES].begin += values;
    spans[HS_VALUES].room = call->values = record->n * sort->value_bytes;
    call->buffers[HS_VALUES] = call->buffers[HS_SCRATCH];
    call->copy_values.buffer = call->buffers[HS_VALUES_OUT];
    call->copy_values.offset = spans[HS_VALUES_OUT].begin;
    return HS_OK;
}

/* Check WebGPU's requirements for the buffers of a surveyed call: each is aligned and has whole words. No part of a
 * buffer is bound twice, because kernels can write to all of their buffers. Columns of a pack are bound for reading,
 * and may be bound several times; no part of their buffers is bound for writing. */
static hs_status hs_webgpu_valid(const hs_sort *sort, const hs_webgpu_call *call, hs_webgpu_error *error)
{
    const int pack = sort->kind == HS_PACK;
    int i, k;
    for (i = 0; i < HS_ROLES; i++) {
        const hs_span *a = &call->spans[i];
        const uint64_t end = a->begin + hs_webgpu_words(a->bytes);
        if (!call->buffers[i] || !a->bytes) continue;
        if (a->begin % HS_WEBGPU_ALIGNMENT)
            return hs_webgpu_wrong(HS_ERROR_ALIGNMENT, error, "an offset of a buffer is not a multiple of 256");
        if (end > wgpuBufferGetSize(call->buffers[i]))
            return hs_webgpu_wrong(HS_ERROR_COUNT, error, "a buffer has no room for whole 32-bit words");
        for (k = 0; k < i; k++) {
            const hs_span *b = &call->spans[k];
            if (call->buffers[k] != call->buffers[i] || !b->bytes) continue;
            if (pack && (i == HS_DESTINATION || k == HS_DESTINATION))
                return hs_webgpu_wrong(HS_ERROR_OVERLAP, error, "columns and keys are in one WGPUBuffer");
            if (!pack && a->begin < b->begin + hs_webgpu_words(b->bytes) && b->begin < end)
                return hs_webgpu_wrong(HS_ERROR_OVERLAP, error, "WebGPU has no buffers that overlap, read or written");
        }
    }
    return HS_OK;
}

/* Check the buffers of a call. */
static hs_status hs_webgpu_roles(const hs_sort *sort, const hs_webgpu_record *record, hs_webgpu_call *call,
                                 hs_webgpu_error *error)
{
    const hs_webgpu_buffer *const given = record->given;
    hs_span *const spans = call->spans;
    hs_span first[HS_ROLES];
    hs_status status;
    int i;
    for (i = 0; i < HS_ROLES; i++) {
        const uint64_t size = given[i].buffer ? wgpuBufferGetSize(given[i].buffer) : 0;
        spans[i].where = (uint64_t)(uintptr_t)given[i].buffer;
        spans[i].begin = given[i].offset;
        spans[i].room = size > given[i].offset ? size - given[i].offset : 0;
        call->buffers[i] = given[i].buffer;
    }
    if (hs_webgpu_same(&given[HS_DESTINATION], &given[HS_SOURCE])) hs_share(&spans[HS_DESTINATION], &spans[HS_SOURCE]);
    if (hs_webgpu_same(&given[HS_VALUES_OUT], &given[HS_VALUES])) hs_share(&spans[HS_VALUES_OUT], &spans[HS_VALUES]);
    for (i = 0; i < HS_ROLES; i++)
        if (!spans[i].where) call->buffers[i] = NULL;
    memcpy(first, spans, sizeof first);
    status = hs_survey(sort, &call->plan, first);
    call->in_place = call->plan.in_place && record->n;
    if (status != HS_OK || hs_idle(sort, record->n)) return status;
    if (call->in_place) {
        status = hs_webgpu_apart(sort, record, call);
        if (status == HS_OK) status = hs_survey(sort, &call->plan, spans);
        if (status != HS_OK) return status;
    } else {
        memcpy(spans, first, sizeof first);
    }
    for (i = 0; i < HS_ROLES; i++) { /* for a role that the call does not use, steps bind the sorter's spare buffer */
        if (i == HS_DESTINATION && spans[i].from == HS_SCRATCH && record->options.discard_keys)
            call->buffers[i] = call->buffers[HS_SCRATCH];
        else if (i != HS_SCRATCH && (spans[i].from != (hs_role)i || !spans[i].bytes))
            call->buffers[i] = NULL;
    }
    return hs_webgpu_valid(sort, call, error);
}

/* hs_launch, which here also handles the step that computes grids from a device-side count. */
static int hs_webgpu_grid(const hs_webgpu_sorter *sorter, const hs_step *step, const hs_call *call, uint32_t grid[2],
                          int32_t *argument)
{
    const uint32_t limit = sorter->max_groups;
    uint64_t groups;
    if (step->argument.kind != HS_INDIRECT_GRIDS)
        return hs_launch(sorter->sort, step, call, limit, limit, grid, argument);
    *argument = (int32_t)limit;
    groups = call->device_count ? ((uint64_t)sorter->sort->step_count + 63) / 64 : 0; /* a lane for each step */
    if (!groups) return 0;
    return hs_grid(groups, limit, grid) ? 1 : -1;
}

/* The parts of buffers that a step binds; each part ends where the next part in the same buffer begins. */
static hs_status hs_webgpu_locate(const hs_webgpu_sorter *sorter, const hs_step *step, const hs_webgpu_call *call,
                                  hs_webgpu_range ranges[HS_BINDINGS], hs_webgpu_error *error)
{
    const uint32_t count = sorter->sort->kernels[step->kernel].bindings;
    uint32_t i, k;
    for (i = 0; i < count; i++) {
        const hs_role role = step->bindings[i].role;
        const hs_span *span = &call->spans[role];
        const uint64_t skip = hs_offset(&step->bindings[i], call->plan.n);
        ranges[i].buffer = call->buffers[role] ? call->buffers[role] : sorter->spare;
        ranges[i].offset = call->buffers[role] ? span->begin + skip : (uint64_t)HS_WEBGPU_ALIGNMENT * (uint32_t)role;
        ranges[i].size = call->buffers[role] ? hs_webgpu_words(span->bytes - skip) : (uint64_t)HS_WEBGPU_ALIGNMENT;
        if (call->buffers[role] && skip >= span->bytes) return HS_ERROR_KERNELS;
    }
    for (i = 0; i < count && sorter->sort->kind != HS_PACK; i++)
        for (k = 0; k < count; k++)
            if (ranges[k].buffer == ranges[i].buffer && ranges[k].offset > ranges[i].offset &&
                ranges[k].offset - ranges[i].offset < ranges[i].size)
                ranges[i].size = ranges[k].offset - ranges[i].offset;
    for (i = 0; i < count; i++)
        if (ranges[i].size > sorter->facts.limits.maxStorageBufferBindingSize)
            return hs_webgpu_wrong(HS_ERROR_DEVICE, error,
                                   "the device's maxStorageBufferBindingSize is %llu, the call needs %llu",
                                   (unsigned long long)sorter->facts.limits.maxStorageBufferBindingSize, (unsigned long long)ranges[i].size);
    return HS_OK;
}

/* Check the launches of a call, and compute their numbers.  After that, recording fails only if memory runs out. */
static hs_status hs_webgpu_survey(hs_webgpu_sorter *sorter, const hs_webgpu_call *call, hs_webgpu_error *error)
{
    const hs_sort *sort = sorter->sort;
    hs_webgpu_numbers *rows = hs_webgpu_rows(sorter, HS_WEBGPU_CALLS);
    hs_webgpu_range ranges[HS_BINDINGS];
    uint32_t i, grid[2] = {1, 1};
    memset(rows, 0, sort->step_count * sizeof *rows);
    for (i = 0; i < sort->step_count; i++) {
        const hs_step *step = &sort->steps[i];
        const int runs = hs_webgpu_grid(sorter, step, &call->plan, grid, &rows[i].argument);
        int32_t more[2];
        hs_status status;
        if (!runs) continue;
        if (runs < 0)
            return hs_webgpu_wrong(HS_ERROR_DEVICE, error, "the call needs more work-groups than "
                                   "maxComputeWorkgroupsPerDimension, %u, allows", (unsigned)sorter->max_groups);
        if (sort->kernels[step->kernel].index64) return HS_ERROR_COUNT; /* WGSL has no 64-bit numbers */
        if (!sorter->pipelines[step->kernel]) return HS_ERROR_SCOPE;
        status = hs_webgpu_locate(sorter, step, call, ranges, error);
        if (status != HS_OK) return status;
        hs_numbers(sort, step, &call->plan, more);
        rows[i].n = (int32_t)call->plan.n;
        rows[i].rows = more[0];
        rows[i].take = more[1];
    }
    return HS_OK;
}

/* Record one launch into a pass. */
static int hs_webgpu_dispatch(hs_webgpu_sorter *sorter, WGPUComputePassEncoder pass, uint32_t index,
                              const hs_webgpu_call *call, const uint32_t grid[2], WGPUBindGroup numbers)
{
    const hs_step *step = &sorter->sort->steps[index];
    const uint32_t row = (uint32_t)HS_WEBGPU_ALIGNMENT * index;
    hs_webgpu_range ranges[HS_BINDINGS];
    WGPUBindGroup group;
    (void)hs_webgpu_locate(sorter, step, call, ranges, NULL); /* hs_webgpu_survey checked the result */
    group = hs_webgpu_bound(sorter, ranges, sorter->sort->kernels[step->kernel].bindings);
    if (!group) return 0;
    wgpuComputePassEncoderSetPipeline(pass, sorter->pipelines[step->kernel]);
    wgpuComputePassEncoderSetBindGroup(pass, 0, group, 0, NULL);
    wgpuComputePassEncoderSetBindGroup(pass, 1, numbers, 1, &row);
    if (call->plan.device_count && step->argument.kind != HS_INDIRECT_GRIDS)
        wgpuComputePassEncoderDispatchWorkgroupsIndirect(pass, sorter->grids, index * 3 * sizeof(uint32_t));
    else
        wgpuComputePassEncoderDispatchWorkgroups(pass, grid[0], grid[1], 1);
    return 1;
}

static void hs_webgpu_end(WGPUComputePassEncoder pass)
{
    if (!pass) return;
    wgpuComputePassEncoderEnd(pass);
    wgpuComputePassEncoderRelease(pass);
}

/* Record the steps of a surveyed call.  The pass ends after the step that computes grids, and the grids are copied to
 * another buffer: WebGPU forbids to read grids from scratch in a pass that also writes scratch. */
static hs_status hs_webgpu_steps(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_call *call)
{
    const hs_sort *sort = sorter->sort;
    const hs_span *scratch = &call->spans[HS_SCRATCH];
    WGPUBindGroup numbers = hs_webgpu_numbered(sorter);
    WGPUComputePassEncoder pass = NULL;
    uint32_t i, grid[2] = {1, 1};
    int32_t argument;
    int done = numbers != NULL;
    for (i = 0; i < sort->step_count && done; i++) {
        if (!hs_webgpu_grid(sorter, &sort->steps[i], &call->plan, grid, &argument)) continue;
        if (!pass) pass = wgpuCommandEncoderBeginComputePass(encoder, NULL);
        done = pass && hs_webgpu_dispatch(sorter, pass, i, call, grid, numbers);
        if (sort->steps[i].argument.kind != HS_INDIRECT_GRIDS) continue;
        hs_webgpu_end(pass);
        pass = NULL;
        wgpuCommandEncoderCopyBufferToBuffer(encoder, call->buffers[HS_SCRATCH], scratch->begin, sorter->grids, 0,
                                             (uint64_t)sort->step_count * 3 * sizeof(uint32_t));
    }
    hs_webgpu_end(pass);
    return done ? HS_OK : HS_ERROR_DEVICE_MEMORY;
}

hs_status hs_webgpu_perform(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_record *record,
                            hs_webgpu_error *error)
{
    const hs_sort *sort = sorter->sort;
    hs_webgpu_call call;
    hs_status status;
    if (record->n > sort->max_n) return HS_ERROR_COUNT;
    memset(&call, 0, sizeof call);
    call.plan.n = record->n;
    call.plan.number = record->number;
    call.plan.take = record->take;
    call.plan.options = &record->options;
    status = hs_webgpu_roles(sort, record, &call, error);
    if (status != HS_OK) return status;
    call.plan.in_place = call.in_place; /* the scope is checked for the call as the caller made it */
    status = hs_scope_takes(sort, &sorter->scope, &call.plan);
    call.plan.in_place = 0;
    if (status != HS_OK || hs_idle(sort, record->n)) return status;
    if (hs_webgpu_missing(sorter)) return HS_ERROR_SCOPE;
    if (call.plan.device_count && (!sort->step_count || sort->steps[0].argument.kind != HS_INDIRECT_GRIDS))
        return HS_ERROR_KERNELS;
    status = hs_webgpu_survey(sorter, &call, error);
    if (status != HS_OK) return status;
    if (call.keys)
        wgpuCommandEncoderCopyBufferToBuffer(encoder, call.copy_keys.buffer, call.copy_keys.offset,
                                             call.buffers[HS_SOURCE], call.spans[HS_SOURCE].begin, call.keys);
    if (call.values)
        wgpuCommandEncoderCopyBufferToBuffer(encoder, call.copy_values.buffer, call.copy_values.offset,
                                             call.buffers[HS_VALUES], call.spans[HS_VALUES].begin, call.values);
    return hs_webgpu_steps(sorter, encoder, &call);
}
