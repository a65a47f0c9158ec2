/* Calls for Metal: check a call, and encode its steps into a command buffer. */
#include "hs_metal_internal.h"

#include <string.h>

/* The numbers of a launch, which are bound after the buffers.  Kernels call them hs_numbers. */
typedef struct hs_metal_numbers {
    int64_t n;
    int32_t argument, low, high;
} hs_metal_numbers;

/* A checked call. */
typedef struct hs_metal_call {
    hs_call plan;
    const hs_metal_record *record;
    hs_span spans[HS_ROLES];
} hs_metal_call;

static int hs_metal_same(const hs_metal_buffer *a, const hs_metal_buffer *b)
{
    return a->memory == b->memory && a->offset == b->offset;
}

/* Check the buffers of a call. */
static hs_status hs_metal_survey(const hs_sort *sort, const hs_metal_record *record, hs_metal_call *call)
{
    const hs_metal_buffer *const given = record->given;
    hs_span *const spans = call->spans;
    hs_status status;
    int i;
    for (i = 0; i < HS_ROLES; i++) {
        const hs_metal_buffer *one = &given[i];
        const uint64_t length = one->memory ? [one->memory length] : 0;
        spans[i].where = (uint64_t)(uintptr_t)HS_POINTER(one->memory);
        spans[i].begin = one->offset;
        spans[i].room = length > one->offset ? length - one->offset : 0;
    }
    if (hs_metal_same(&given[HS_DESTINATION], &given[HS_SOURCE])) hs_share(&spans[HS_DESTINATION], &spans[HS_SOURCE]);
    if (hs_metal_same(&given[HS_VALUES_OUT], &given[HS_VALUES])) hs_share(&spans[HS_VALUES_OUT], &spans[HS_VALUES]);
    status = hs_survey(sort, &call->plan, spans);
    if (status != HS_OK || hs_idle(sort, record->n)) return status;
    return hs_scratch_aligned(spans) ? HS_OK : HS_ERROR_ALIGNMENT;
}

static void hs_metal_dispatch(const hs_metal *sorter, id<MTLComputeCommandEncoder> encoder, const hs_step *step,
                              const hs_metal_call *call, const uint32_t grid[2], int32_t argument)
{
    const hs_kernel *kernel = &sorter->sort->kernels[step->kernel];
    hs_metal_numbers numbers;
    int32_t more[2];
    uint32_t i;
    memset(&numbers, 0, sizeof numbers);
    numbers.n = (int64_t)call->plan.n;
    numbers.argument = argument;
    hs_numbers(sorter->sort, step, &call->plan, more);
    numbers.low = more[0];
    numbers.high = more[1];
    [encoder setComputePipelineState:HS_OBJECT(id<MTLComputePipelineState>, sorter->pipelines[step->kernel])];
    for (i = 0; i < kernel->bindings; i++) {
        const hs_span *span = &call->spans[step->bindings[i].role];
        [encoder setBuffer:call->record->given[span->from].memory
                    offset:(NSUInteger)(span->begin + hs_offset(&step->bindings[i], call->plan.n))
                   atIndex:i];
    }
    [encoder setBytes:&numbers length:sizeof numbers atIndex:i];
    [encoder dispatchThreadgroups:MTLSizeMake(grid[0], grid[1], 1)
            threadsPerThreadgroup:MTLSizeMake(kernel->work_group, 1, 1)];
}

/* Encode the steps of a checked call. */
static hs_status hs_metal_encode(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_call *call)
{
    const hs_sort *sort = sorter->sort;
    const uint64_t limit = sort->max_groups;
    id<MTLComputeCommandEncoder> encoder = nil;
    uint32_t i, grid[2] = {1, 1};
    int32_t argument = 0;
    for (i = 0; i < sort->step_count; i++) {
        if (!hs_launch(sort, &sort->steps[i], &call->plan, limit, limit, grid, &argument)) continue;
        if (!encoder) {
            encoder = [commands computeCommandEncoder];
            if (!encoder) return HS_ERROR_API;
        } else {
            /* a step reads what the previous step wrote, and Metal may not track the buffers */
            [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
        }
        hs_metal_dispatch(sorter, encoder, &sort->steps[i], call, grid, argument);
    }
    [encoder endEncoding];
    return HS_OK;
}

hs_status hs_metal_run(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_record *record)
{
    hs_metal_call call;
    hs_status status;
    if (!sorter || !commands || !record) return HS_ERROR_ARGUMENT;
    if (sorter->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (record->n > sorter->sort->max_n) return HS_ERROR_COUNT;
    memset(&call, 0, sizeof call);
    call.record = record;
    call.plan.n = record->n;
    call.plan.number = record->number;
    call.plan.take = record->take;
    call.plan.options = &record->options;
    status = hs_metal_survey(sorter->sort, record, &call);
    if (status == HS_OK) status = hs_scope_takes(sorter->sort, &sorter->scope, &call.plan);
    if (status != HS_OK || hs_idle(sorter->sort, record->n)) return status;
    if (!hs_launches_fit(sorter->sort, &call.plan, sorter->sort->max_groups, sorter->sort->max_groups))
        return HS_ERROR_DEVICE;
    @autoreleasepool {
        status = hs_metal_encode(sorter, commands, &call);
    }
    return status;
}
