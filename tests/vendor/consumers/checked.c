/* What HS_CHECK adds: host memory of two buffers that overlaps, a buffer that a kernel may not write, and a plan whose
 * part of scratch begins beyond scratch.  Without HS_CHECK, the first and the last are not noticed. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "hs/hs_opencl.h"
#include "hs/hs_plan.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 3000 };
static uint32_t host[2 * KEYS + 1024];
static cl_context context;
static cl_command_queue queue;
static hs_opencl *sorter;

static void must(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(2);
}

static cl_mem buffer(cl_mem_flags flags, uint32_t *memory)
{
    cl_int code;
    const cl_mem made = clCreateBuffer(context, flags, KEYS * sizeof(uint32_t), memory, &code);
    must(code == CL_SUCCESS, "clCreateBuffer");
    return made;
}

/* The status of a sort from one buffer to another, which are then released. */
static hs_status sorted(cl_mem source, cl_mem destination)
{
    hs_opencl_sort_args args;
    hs_status status;
    memset(&args, 0, sizeof args);
    args.n = KEYS;
    args.source = source;
    args.destination = destination;
    status = hs_opencl_sort(sorter, queue, &args, NULL);
    must(clFinish(queue) == CL_SUCCESS, "clFinish");
    clReleaseMemObject(source);
    clReleaseMemObject(destination);
    return status;
}

/* The status of a survey of a sort whose steps also bind scratch, from byte `begin` on. */
static hs_status surveyed(uint64_t begin)
{
    static const hs_options options;
    static hs_step steps[512];
    const hs_scratch_rule rule = {0, KEYS, 4096, 0, 1, 0, 0};
    hs_sort sort = *hs_targets[0]->sorts[0];
    hs_span spans[HS_ROLES];
    hs_call call;
    uint32_t i, k;
    must(sort.step_count <= 512, "more steps");
    for (i = 0; i < sort.step_count; i++) {
        steps[i] = sort.steps[i];
        for (k = 0; k < HS_BINDINGS; k++)
            if (steps[i].bindings[k].role == HS_DESTINATION) {
                steps[i].bindings[k].role = HS_SCRATCH;
                steps[i].bindings[k].plus = begin;
            }
    }
    sort.steps = steps;
    sort.scratch = &rule;
    sort.scratch_rule_count = 1;
    memset(spans, 0, sizeof spans);
    memset(&call, 0, sizeof call);
    call.n = KEYS;
    call.options = &options;
    spans[HS_SOURCE].where = 1;
    spans[HS_DESTINATION].where = 2;
    spans[HS_SCRATCH].where = 3;
    spans[HS_SOURCE].room = spans[HS_DESTINATION].room = spans[HS_SCRATCH].room = KEYS * sizeof(uint32_t);
    return hs_survey(&sort, &call, spans);
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    must(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "no platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "no device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(context != NULL, "no context");
    queue = clCreateCommandQueue(context, device, 0, &code);
    must(queue != NULL, "no queue");
    must(hs_opencl_create(hs_targets[0]->sorts[0], context, device, &sorter, NULL) == HS_OK, "no sorter");
    printf("apart: %s\n", hs_status_text(sorted(buffer(CL_MEM_USE_HOST_PTR, host), buffer(CL_MEM_USE_HOST_PTR, host + KEYS))));
    printf("host memory: %s\n",
           hs_status_text(sorted(buffer(CL_MEM_USE_HOST_PTR, host), buffer(CL_MEM_USE_HOST_PTR, host + KEYS - 8))));
#ifdef HS_CHECK
    printf("read only: %s\n", hs_status_text(sorted(buffer(CL_MEM_READ_WRITE, NULL), buffer(CL_MEM_READ_ONLY, NULL))));
    printf("write only: %s\n", hs_status_text(sorted(buffer(CL_MEM_WRITE_ONLY, NULL), buffer(CL_MEM_READ_WRITE, NULL))));
#endif
    printf("plan: %s\n", hs_status_text(surveyed(0)));
    printf("faulty plan: %s\n", hs_status_text(surveyed(8192)));
    hs_opencl_release(sorter);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
