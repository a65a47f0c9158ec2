/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Calls for OpenCL: check a call, cut its scratch into sub-buffers, and enqueue its steps. */
#include "hs_opencl_internal.h"

#include <string.h>

/* A buffer of a call.  If `memory` is a sub-buffer, `root` is the buffer that it was created from.  `offset` and `size`
 * are in bytes; `offset` counts from the start of `root`. */
typedef struct hs_part {
    cl_mem memory, root;
    size_t offset, size;
} hs_part;

/* Query the buffers of a call. */
static hs_status hs_parts(const hs_opencl_record *record, hs_part parts[HS_ROLES], hs_span spans[HS_ROLES],
                          hs_opencl_error *error)
{
    cl_int code = CL_SUCCESS;
    int i;
    for (i = 0; i < HS_ROLES && code == CL_SUCCESS; i++) {
        hs_part *part = &parts[i];
        const cl_mem given = record->given[i];
        if (!given) continue;
        /* a destination equal to its source means in place */
        if ((i == HS_DESTINATION || i == HS_VALUES_OUT) && given == record->given[i - 1]) continue;
        code = clGetMemObjectInfo(given, CL_MEM_SIZE, sizeof part->size, &part->size, NULL);
        if (code == CL_SUCCESS)
            code = clGetMemObjectInfo(given, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof part->root, &part->root, NULL);
        if (code == CL_SUCCESS)
            code = clGetMemObjectInfo(given, CL_MEM_OFFSET, sizeof part->offset, &part->offset, NULL);
        part->memory = given;
        if (!part->root) part->root = given;
        spans[i].where = (uint64_t)(uintptr_t)part->root;
        spans[i].begin = part->offset;
        spans[i].room = part->size;
    }
    return hs_opencl_status(code, error);
}

/* Set one buffer argument.  A part of scratch that does not begin at the start of scratch needs its own sub-buffer.
 * The caller releases the sub-buffer after enqueuing, because an enqueued kernel retains it, but a kernel argument does
 * not. */
static cl_int hs_set_buffer(cl_kernel kernel, cl_uint index, const hs_part *part, uint64_t begin, cl_mem *cut)
{
    cl_buffer_region region;
    cl_int code = CL_SUCCESS;
    *cut = NULL;
    if (begin != part->offset) {
        region.origin = (size_t)begin;
        region.size = part->offset + part->size - (size_t)begin;
        *cut = clCreateSubBuffer(part->root, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        if (!*cut) return code;
    }
    return clSetKernelArg(kernel, index, sizeof(cl_mem), *cut ? cut : &part->memory);
}

/* A checked call. */
typedef struct hs_opencl_call {
    hs_call plan;
    hs_part parts[HS_ROLES];
    hs_span spans[HS_ROLES];
} hs_opencl_call;

/* Set the arguments after the buffers: n, the argument, and for some sorts two more numbers. */
static cl_int hs_set_numbers(cl_kernel kernel, const hs_sort *sort, const hs_step *step, const hs_call *call,
                             cl_int argument)
{
    const hs_kernel *facts = &sort->kernels[step->kernel];
    const cl_long wide = (cl_long)call->n;
    const cl_int narrow = (cl_int)call->n;
    int32_t numbers[2];
    const cl_uint i = facts->bindings;
    cl_int code = facts->index64 ? clSetKernelArg(kernel, i, sizeof wide, &wide)
                              : clSetKernelArg(kernel, i, sizeof narrow, &narrow);
    if (code == CL_SUCCESS) code = clSetKernelArg(kernel, i + 1, sizeof argument, &argument);
    if (!hs_has_numbers(sort)) return code;
    hs_numbers(sort, step, call, numbers);
    if (code == CL_SUCCESS) code = clSetKernelArg(kernel, i + 2, sizeof numbers[0], &numbers[0]);
    return code == CL_SUCCESS ? clSetKernelArg(kernel, i + 3, sizeof numbers[1], &numbers[1]) : code;
}

/* Enqueue one step after `wait`. */
static cl_int hs_enqueue(hs_opencl *sorter, cl_command_queue queue, const hs_step *step, const uint32_t grid[2],
                         const hs_opencl_call *call, cl_int argument, cl_uint wait_count, const cl_event *wait,
                         cl_event *event)
{
    const hs_kernel *facts = &sorter->sort->kernels[step->kernel];
    cl_kernel kernel = sorter->kernels[step->kernel];
    cl_mem cut[HS_BINDINGS];
    size_t size[2], lanes[2];
    cl_uint bound;
    cl_int code = CL_SUCCESS;
    for (bound = 0; bound < facts->bindings && code == CL_SUCCESS; bound++) {
        const hs_span *span = &call->spans[step->bindings[bound].role];
        const uint64_t begin = span->begin + hs_offset(&step->bindings[bound], call->plan.n);
        code = hs_set_buffer(kernel, bound, &call->parts[span->from], begin, &cut[bound]);
    }
    if (code == CL_SUCCESS) code = hs_set_numbers(kernel, sorter->sort, step, &call->plan, argument);
    lanes[0] = facts->work_group;
    lanes[1] = 1;
    size[0] = (size_t)grid[0] * lanes[0];
    size[1] = grid[1];
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, size, lanes, wait_count, wait_count ? wait : NULL, event);
    while (bound-- > 0) /* in reverse order, because NVIDIA's driver crashes in any other order */
        if (cut[bound]) clReleaseMemObject(cut[bound]);
    return code;
}

/* Enqueue the steps of a checked call. */
static cl_int hs_steps(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_record *record,
                       const hs_opencl_call *call)
{
    const hs_sort *sort = sorter->sort;
    const uint64_t limit = sort->max_groups;
    cl_command_queue_properties properties = 0;
    cl_event last = NULL, next = NULL;
    const cl_event *wait = record->wait;
    cl_uint wait_count = record->wait_count;
    uint32_t i, grid[2] = {1, 1}, launched = 0;
    int32_t argument = 0;
    cl_int code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    for (i = 0; i < sort->step_count && code == CL_SUCCESS; i++) {
        if (hs_launch(sort, &sort->steps[i], &call->plan, limit, limit, grid, &argument) == 0) continue;
        /* a step reads what the previous step wrote; on an out-of-order queue, it waits for that step's event */
        code = hs_enqueue(sorter, queue, &sort->steps[i], grid, call, argument, wait_count, wait, &next);
        if (last) clReleaseEvent(last);
        last = next;
        next = NULL;
        launched++;
        wait_count = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) ? 1 : 0;
        wait = &last;
    }
    if (code == CL_SUCCESS && launched == 0 && record->event)
        code = clEnqueueMarkerWithWaitList(queue, wait_count, wait_count ? wait : NULL, &last);
    if (code == CL_SUCCESS && record->event)
        *record->event = last;
    else if (last)
        clReleaseEvent(last);
    return code;
}

#if HS_CHECK
/* Check properties of buffers that only the driver knows: kernels may write the written buffers and read all others,
 * and the host memory of a written buffer does not overlap that of another. */
static hs_status hs_known(const hs_opencl *sorter, const hs_opencl_call *call, hs_opencl_error *error)
{
    const uint32_t written = hs_written(sorter->sort, call->plan.in_place);
    uint64_t host[HS_ROLES] = {0};
    uint32_t i, k;
    for (i = 0; i < HS_ROLES; i++) {
        const uint32_t own = written >> i & 1;
        const cl_mem memory = call->parts[i].memory;
        cl_mem_flags flags = 0;
        void *at = NULL;
        cl_int code;
        if (!memory || call->spans[i].from != (hs_role)i || !call->spans[i].bytes) continue;
        code = clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
        if (code == CL_SUCCESS && (flags & CL_MEM_USE_HOST_PTR))
            code = clGetMemObjectInfo(memory, CL_MEM_HOST_PTR, sizeof at, &at, NULL);
        if (code != CL_SUCCESS) return hs_opencl_status(code, error);
        if (flags & (own ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY)) return HS_ERROR_ARGUMENT;
        if (i == HS_SCRATCH && (flags & CL_MEM_WRITE_ONLY)) return HS_ERROR_ARGUMENT;
        host[i] = (uint64_t)(uintptr_t)at;
        for (k = 0; at && k < i; k++)
            if (host[k] && (own || (written >> k & 1)) && host[i] < host[k] + call->spans[k].bytes &&
                host[k] < host[i] + call->spans[i].bytes)
                return HS_ERROR_OVERLAP;
    }
    return HS_OK;
}
#endif

hs_status hs_opencl_perform(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_record *record,
                            hs_opencl_error *error)
{
    const hs_sort *sort = sorter->sort;
    hs_opencl_call call;
    hs_status status = HS_OK;
    if (record->n > sort->max_n) return HS_ERROR_COUNT;
    memset(&call, 0, sizeof call);
    call.plan.n = record->n;
    call.plan.number = record->number;
    call.plan.take = record->take;
    call.plan.options = &record->options;
    call.spans[HS_COUNT].where = record->given[HS_COUNT] != NULL; /* in an idle call, no other buffer is checked */
    if (!hs_idle(sort, record->n)) status = hs_parts(record, call.parts, call.spans, error);
    if (status == HS_OK) status = hs_survey(sort, &call.plan, call.spans);
    if (status == HS_OK) status = hs_scope_takes(sort, &sorter->scope, &call.plan);
    if (status != HS_OK) return status;
#if HS_CHECK
    status = hs_known(sorter, &call, error);
    if (status != HS_OK) return status;
#endif
    if (!hs_launches_fit(sort, &call.plan, sort->max_groups, sort->max_groups)) return HS_ERROR_DEVICE;
    return hs_opencl_status(hs_steps(sorter, queue, record, &call), error);
}
