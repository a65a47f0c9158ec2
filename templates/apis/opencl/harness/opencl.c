/* The harness of harness.h for OpenCL: buffers, sorts, their time, copies. */
#include "hn_opencl.h"

#include "hs/hs_targets.h"

#include <string.h>

const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value)
{
    hs_opencl_error error;
    const hs_sort *sort = NULL;
    size_t t;
    hs_opencl_release(hn.sorter);
    hn.sorter = NULL;
    hn.sorted = 0;
    for (t = 0; t < hs_targets_count && !sort; t++)
        if (strcmp(hs_targets[t]->name, target) == 0) sort = hs_find(hs_targets[t], algorithm, key, value);
    if (!sort) return "the bundle holds no such sort";
    return hn_status("hs_opencl_create", hs_opencl_create(sort, hn.context, hn.device, &hn.sorter, &error), &error);
}

static const char *hn_allocate(cl_mem *memory, uint64_t bytes)
{
    cl_int code = CL_SUCCESS;
    if (*memory) clReleaseMemObject(*memory);
    *memory = clCreateBuffer(hn.context, CL_MEM_READ_WRITE, bytes ? (size_t)bytes : 1, NULL, &code);
    return *memory ? NULL : hn_failed("clCreateBuffer", code);
}

const char *hn_buffer(int slot, uint64_t bytes)
{
    if (slot < 0 || slot >= HN_SLOTS) return "there is no such buffer";
    hn.bytes[slot] = bytes;
    return hn_allocate(&hn.buffers[slot], bytes);
}

const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes)
{
    if (!bytes) return NULL;
    return hn_failed("clEnqueueWriteBuffer", clEnqueueWriteBuffer(hn.queue, hn.buffers[slot], CL_TRUE, (size_t)offset,
                                                                  (size_t)bytes, data, 0, NULL, NULL));
}

/* Read a part of a buffer; do nothing if `bytes` is 0. */
static const char *hn_get(cl_mem memory, uint64_t offset, void *data, uint64_t bytes)
{
    if (!bytes) return NULL;
    return hn_failed("clEnqueueReadBuffer", clEnqueueReadBuffer(hn.queue, memory, CL_TRUE, (size_t)offset,
                                                                (size_t)bytes, data, 0, NULL, NULL));
}

static const char *hn_check_guard(void)
{
    static unsigned char guard[HN_GUARD];
    const char *problem;
    if (!hn.unchecked) return NULL;
    hn.unchecked = 0;
    problem = hn_get(hn.scratch, hn.scratch_bytes, guard, sizeof guard);
    return problem || hn_whole(guard) ? problem : HN_OVERWRITTEN;
}

const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes)
{
    const char *problem = hn_check_guard();
    return problem ? problem : hn_get(hn.buffers[slot], offset, data, bytes);
}

const char *hn_redone(uint32_t *redone)
{
    const hs_sort *sort = hs_opencl_sort_of(hn.sorter);
    uint32_t words[256];
    uint64_t offset = 0, bytes = 0;
    const char *problem = hn_check_guard();
    hs_status status = hs_device_status_at(sort, hn.sorted, &offset, &bytes);
    if (!problem && bytes > sizeof words) problem = "more words of an outcome than there is room for";
    if (!problem) problem = hn_get(hn.scratch, offset, words, bytes);
    if (problem) return problem;
    if (status == HS_OK) status = hs_device_status(sort, words, bytes, redone);
    return status == HS_OK || status == HS_ERROR_SEGMENTS ? NULL : hs_status_text(status);
}

/* Fill a part of scratch, and wait. */
static cl_int hn_fill(unsigned char byte, uint64_t offset, uint64_t bytes)
{
    const cl_int code = clEnqueueFillBuffer(hn.queue, hn.scratch, &byte, sizeof byte, (size_t)offset, (size_t)bytes, 0,
                                            NULL, NULL);
    return code == CL_SUCCESS ? clFinish(hn.queue) : code;
}

/* Scratch of exactly `bytes` bytes, followed by a guard; `part` gets the memory without the guard. */
static const char *hn_prepare(uint64_t bytes, cl_mem *part)
{
    const cl_buffer_region region = {0, (size_t)bytes};
    const int fresh = !hn.scratch || bytes != hn.scratch_bytes;
    const char *problem = fresh ? hn_check_guard() : NULL;
    cl_int code = CL_SUCCESS;
    if (!problem && fresh) problem = hn_allocate(&hn.scratch, bytes + HN_GUARD);
    if (problem) return problem;
    hn.scratch_bytes = bytes;
    if (fresh) code = hn_fill(HN_GUARD_BYTE, bytes, HN_GUARD);
    if (code == CL_SUCCESS && (fresh || hn.poison)) code = hn_fill(HN_POISON_BYTE, 0, bytes);
    if (code != CL_SUCCESS) return hn_failed("clEnqueueFillBuffer", code);
    hn.unchecked = 1;
    *part = clCreateSubBuffer(hn.scratch, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    return *part ? NULL : hn_failed("clCreateSubBuffer", code);
}

/* The buffer of a role, from the call's offset to its end; null if the call has no buffer in this role. */
static cl_mem hn_part(const hn_call *call, int role, cl_int *code)
{
    cl_buffer_region region;
    cl_mem whole;
    if (!hn_plays(call, role) || *code != CL_SUCCESS) return NULL;
    whole = hn.buffers[call->slots[role]];
    region.origin = (size_t)call->offsets[role];
    region.size = (size_t)(hn.bytes[call->slots[role]] - call->offsets[role]);
    if (region.origin == 0) {
        *code = clRetainMemObject(whole);
        return whole;
    }
    return clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, code);
}

/* The seconds from the start or end of `first`, as `from` says (CL_PROFILING_COMMAND_START or _END), to the end of
 * `last`. */
static const char *hn_span(cl_event first, cl_profiling_info from, cl_event last, double *seconds)
{
    cl_ulong begin = 0, end = 0;
    cl_int code = clGetEventProfilingInfo(first, from, sizeof begin, &begin, NULL);
    if (code == CL_SUCCESS) code = clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (code == CL_SUCCESS) *seconds = (double)(end - begin) * 1e-9;
    return hn_failed("clGetEventProfilingInfo", code);
}

/* With the clock on, the first command is a barrier that waits for an event, the gate.  The host opens the gate after
 * it has enqueued everything, so the device never waits for the host.  The time runs from the end of the barrier. */
static const char *hn_run(const hs_sort *sort, hn_record *record, double *seconds)
{
    static const char *const names[] = HN_NAMES("opencl", "");
    hs_opencl_error error;
    cl_event gate = NULL, begun = NULL;
    cl_command_queue queue = hn.clocked ? hn.clocked : hn.queue;
    cl_int code = CL_SUCCESS;
    const char *problem;
    memset(&error, 0, sizeof error);
    record->event = NULL;
    if (hn.clocked) gate = clCreateUserEvent(hn.context, &code);
    if (gate) code = clEnqueueBarrierWithWaitList(queue, 1, &gate, &begun);
    problem = hn_failed("clEnqueueBarrierWithWaitList", code);
    if (!problem)
        problem = hn_status(names[sort->kind], hn_enqueue(queue, record, &error), &error);
    if (gate) clSetUserEventStatus(gate, CL_COMPLETE);
    if (!problem) problem = hn_failed("clWaitForEvents", clWaitForEvents(1, &record->event));
    if (!problem && begun) problem = hn_span(begun, CL_PROFILING_COMMAND_END, record->event, seconds);
    if (record->event) clReleaseEvent(record->event);
    if (begun) clReleaseEvent(begun);
    if (gate) clReleaseEvent(gate);
    return problem;
}

const char *hn_sort(const hn_call *call, double *device_seconds)
{
    hn_record record;
    cl_int code = CL_SUCCESS;
    const char *problem = NULL;
    const hs_sort *sort = hs_opencl_sort_of(hn.sorter);
    const hs_options options = hn_options_of(call);
    uint64_t scratch = 0;
    int role;
    hs_status status;
    *device_seconds = -1;
    memset(&record, 0, sizeof record);
    record.call = call;
    status = hs_scratch_with(sort, call->n, &options, &scratch);
    if (status != HS_OK) return hs_status_text(status);
    if (scratch && (problem = hn_prepare(scratch, &record.at[HS_SCRATCH])) != NULL) return problem;
    hn.sorted = call->n;
    for (role = 0; role < HN_ROLES; role++)
        if (role != HS_SCRATCH) record.at[role] = hn_part(call, role, &code);
    problem = code == CL_SUCCESS ? hn_run(sort, &record, device_seconds) : hn_failed("clCreateSubBuffer", code);
    for (role = HN_ROLES - 1; role >= 0; role--) /* in reverse order, as NVIDIA's driver wants it */
        if (role != HS_SCRATCH && record.at[role]) clReleaseMemObject(record.at[role]);
    if (record.at[HS_SCRATCH]) clReleaseMemObject(record.at[HS_SCRATCH]);
    return problem;
}

const char *hn_copy(uint64_t bytes, double *device_seconds)
{
    cl_event event = NULL;
    cl_int code = clEnqueueCopyBuffer(hn.clocked ? hn.clocked : hn.queue, hn.buffers[0], hn.buffers[1], 0, 0,
                                      (size_t)bytes, 0, NULL, &event);
    const char *problem;
    *device_seconds = -1;
    if (code == CL_SUCCESS) code = clWaitForEvents(1, &event);
    problem = hn_failed("clEnqueueCopyBuffer", code);
    if (!problem && hn.clocked) problem = hn_span(event, CL_PROFILING_COMMAND_START, event, device_seconds);
    if (event) clReleaseEvent(event);
    return problem;
}
