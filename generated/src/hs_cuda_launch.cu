/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Calls for CUDA: check a call, and enqueue its steps on a stream. */
#include "hs_cuda_internal.h"

#include <string.h>

/* A buffer as hs_survey takes it; a buffer of unknown size counts as large enough. */
static hs_span hs_cuda_span(const void *begin, size_t bytes, int known)
{
    hs_span span;
    memset(&span, 0, sizeof span);
    span.where = begin ? 1 : 0; /* all pointers are into one address space */
    span.begin = (uint64_t)(uintptr_t)begin;
    span.room = known ? bytes : UINT64_MAX;
    return span;
}

/* Check a call. */
static hs_status hs_cuda_survey(const hs_sort *sort, const hs_cuda_record *record, hs_call *call,
                                hs_span spans[HS_ROLES])
{
    const hs_cuda_buffer *const given = record->given;
    hs_status status;
    for (int i = 0; i < HS_ROLES; i++) /* the size of scratch is always known */
        spans[i] = hs_cuda_span(given[i].memory, given[i].bytes, given[i].bytes != 0 || i == HS_SCRATCH);
    if (given[HS_DESTINATION].memory == given[HS_SOURCE].memory) hs_share(&spans[HS_DESTINATION], &spans[HS_SOURCE]);
    if (given[HS_VALUES_OUT].memory == given[HS_VALUES].memory) hs_share(&spans[HS_VALUES_OUT], &spans[HS_VALUES]);
    status = hs_survey(sort, call, spans);
    if (status != HS_OK || hs_idle(sort, record->n)) return status;
    return hs_scratch_aligned(spans) ? HS_OK : HS_ERROR_ALIGNMENT;
}

/* A checked call. */
struct hs_cuda_call {
    hs_call plan;
    hs_span spans[HS_ROLES];
};

static cudaError_t hs_cuda_launch(const hs_cuda *sorter, const hs_step *step, const uint32_t grid[2],
                                  const hs_cuda_call *call, int argument, cudaStream_t stream)
{
    const hs_kernel *kernel = &sorter->kernels->sort->kernels[step->kernel];
    void *pointers[HS_BINDINGS], *values[HS_BINDINGS + 4];
    int64_t wide = (int64_t)call->plan.n;
    int narrow = (int)call->plan.n;
    int32_t numbers[2];
    uint32_t i;
    hs_numbers(sorter->kernels->sort, step, &call->plan, numbers);
    for (i = 0; i < kernel->bindings; i++) {
        const uint64_t begin = call->spans[step->bindings[i].role].begin;
        pointers[i] = (void *)(uintptr_t)(begin + hs_offset(&step->bindings[i], call->plan.n));
        values[i] = &pointers[i];
    }
    values[i++] = kernel->index64 ? (void *)&wide : (void *)&narrow;
    values[i++] = &argument;
    values[i++] = &numbers[0]; /* only kernels of sorts with hs_has_numbers have this parameter and the next */
    values[i] = &numbers[1];
    return hs_cuda_start(sorter, sorter->kernels->kernels[step->kernel], grid, kernel, values, stream);
}

extern "C" hs_status hs_cuda_run(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_record *record,
                                 cudaError_t *error)
{
    const cudaError_t pending = cudaPeekAtLastError();
    hs_cuda_call call;
    const hs_sort *sort;
    cudaError_t code;
    hs_status status;
    uint32_t i, grid[2] = {1, 1};
    int32_t argument = 0;
    int device = 0;
    if (error) *error = cudaSuccess;
    if (!sorter || !record) return HS_ERROR_ARGUMENT;
    sort = sorter->kernels->sort;
    if (sort->kind != record->kind) return HS_ERROR_KERNELS;
    memset(&call, 0, sizeof call);
    call.plan.n = record->n;
    call.plan.number = record->number;
    call.plan.take = record->take;
    call.plan.options = &record->options;
    status = hs_cuda_survey(sort, record, &call.plan, call.spans);
    if (status == HS_OK) status = hs_scope_takes(sort, &sorter->scope, &call.plan);
    if (status != HS_OK || hs_idle(sort, record->n)) return status;
    code = cudaGetDevice(&device);
    if (code != cudaSuccess) return hs_cuda_failed(code, pending, error);
    if (device != sorter->device) return HS_ERROR_DEVICE;
    /* all grids are checked before the first launch: a call is enqueued whole or not at all */
    if (!hs_launches_fit(sort, &call.plan, sorter->columns, sorter->rows)) return HS_ERROR_DEVICE;
    for (i = 0; i < sort->step_count; i++) {
        if (!hs_launch(sort, &sort->steps[i], &call.plan, sorter->columns, sorter->rows, grid, &argument)) continue;
        code = hs_cuda_launch(sorter, &sort->steps[i], grid, &call, argument, stream);
        if (code != cudaSuccess) return hs_cuda_failed(code, pending, error);
    }
    return HS_OK;
}
