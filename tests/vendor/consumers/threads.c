/* Two threads sort with one OpenCL sorter at once, which docs/reference/c-api.md forbids: each call must sort
 * correctly, or return HS_ERROR_BUSY and write nothing.  Runs on the first OpenCL device.
 *
 * hs_opencl.c is compiled with clSetKernelArg replaced by slow_set_kernel_arg, which yields to the other thread. */
#define _POSIX_C_SOURCE 200809L
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEYS = 3000, ROUNDS = 60, THREADS = 2 };

static cl_context context;
static cl_device_id device;
static hs_opencl *sorter;

typedef struct worker {
    pthread_t thread;
    uint32_t number, right, busy, wrong;
} worker;

cl_int CL_API_CALL slow_set_kernel_arg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value);
cl_int CL_API_CALL slow_set_kernel_arg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    const cl_int code = clSetKernelArg(kernel, index, bytes, value);
    const struct timespec moment = {0, 20000};
    nanosleep(&moment, NULL);
    return code;
}

static void must(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(2);
}

static void *sorts(void *given)
{
    worker *self = (worker *)given;
    cl_int code;
    const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    const cl_mem keys = clCreateBuffer(context, CL_MEM_READ_WRITE, KEYS * sizeof(uint32_t), NULL, &code);
    uint32_t round, i, host[KEYS];
    must(queue && keys, "no queue or no buffer");
    for (round = 0; round < ROUNDS; round++) {
        hs_opencl_sort_args args;
        hs_status status;
        uint32_t good = 0, kept = 0;
        for (i = 0; i < KEYS; i++) host[i] = 2 * (KEYS - i) + self->number; /* odd or even */
        code = clEnqueueWriteBuffer(queue, keys, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL);
        must(code == CL_SUCCESS, "clEnqueueWriteBuffer");
        memset(&args, 0, sizeof args);
        args.n = KEYS;
        args.source = keys;
        status = hs_opencl_sort(sorter, queue, &args, NULL);
        must(status == HS_OK || status == HS_ERROR_BUSY, hs_status_text(status));
        code = clEnqueueReadBuffer(queue, keys, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL);
        must(code == CL_SUCCESS, "clEnqueueReadBuffer");
        for (i = 0; i < KEYS; i++) good += host[i] == 2 * (i + 1) + self->number;
        for (i = 0; i < KEYS; i++) kept += host[i] == 2 * (KEYS - i) + self->number;
        self->right += status == HS_OK && good == KEYS;
        self->busy += status == HS_ERROR_BUSY && kept == KEYS;
        self->wrong += (status == HS_OK ? good : kept) != KEYS;
    }
    clReleaseMemObject(keys);
    clReleaseCommandQueue(queue);
    return NULL;
}

int main(void)
{
    worker workers[THREADS + 1];
    cl_platform_id platform;
    cl_int code;
    uint32_t i, right = 0, busy = 0, wrong = 0;
    must(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "no platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "no device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(context != NULL, "no context");
    must(hs_opencl_create(hs_targets[0]->sorts[0], context, device, &sorter, NULL) == HS_OK, "no sorter");
    memset(workers, 0, sizeof workers);
    for (i = 0; i < THREADS; i++) {
        workers[i].number = i;
        must(pthread_create(&workers[i].thread, NULL, sorts, &workers[i]) == 0, "no thread");
    }
    for (i = 0; i < THREADS; i++) {
        must(pthread_join(workers[i].thread, NULL) == 0, "no thread");
        right += workers[i].right;
        busy += workers[i].busy;
        wrong += workers[i].wrong;
    }
    sorts(&workers[THREADS]); /* one thread alone is never refused */
    printf("%u right, %u busy, %u wrong, then %u right of %u\n", (unsigned)right, (unsigned)busy, (unsigned)wrong,
           (unsigned)workers[THREADS].right, (unsigned)ROUNDS);
    hs_opencl_release(sorter);
    clReleaseContext(context);
    return wrong != 0;
}
