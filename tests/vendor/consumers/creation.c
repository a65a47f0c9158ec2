/* Create OpenCL sorters for one scope: creation MIN_N MAX_N CALLS.  Prints the number of kernels, and whether a second
 * sorter came from the first one's binary; both sort MIN_N + 1 and MAX_N keys, and refuse others.  Runs on the first
 * OpenCL device. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static cl_context context;
static cl_command_queue queue;

/* Sort n descending keys in place. */
static hs_status sort_keys(hs_opencl *sorter, uint64_t n, int in_place)
{
    uint32_t *keys = (uint32_t *)malloc(4 * (size_t)n);
    hs_opencl_sort_args args;
    hs_status status;
    uint64_t bytes = 0, i;
    cl_int code;
    must(keys != NULL, "no memory");
    memset(&args, 0, sizeof args);
    for (i = 0; i < n; i++) keys[i] = (uint32_t)(n - i) * 2654435761u;
    args.n = n;
    args.source = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4 * (size_t)n, keys, &code);
    if (!in_place) args.destination = clCreateBuffer(context, CL_MEM_READ_WRITE, 4 * (size_t)n, NULL, &code);
    must(hs_scratch(hs_opencl_sort_of(sorter), n, &bytes) == HS_OK, "scratch");
    if (bytes) args.scratch = clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    status = hs_opencl_sort(sorter, queue, &args, NULL);
    code = clEnqueueReadBuffer(queue, in_place ? args.source : args.destination, CL_TRUE, 0, 4 * (size_t)n, keys, 0, NULL,
                               NULL);
    must(code == CL_SUCCESS, "clEnqueueReadBuffer");
    for (i = 1; i < n && !status; i++) must(keys[i - 1] <= keys[i], "wrong order");
    clReleaseMemObject(args.source);
    if (args.destination) clReleaseMemObject(args.destination);
    if (args.scratch) clReleaseMemObject(args.scratch);
    free(keys);
    return status;
}

static void sorts(hs_opencl *sorter, const hs_scope *scope)
{
    const int in_place = scope->calls != HS_CALLS_OUT_OF_PLACE;
    const uint64_t most = scope->max_n ? scope->max_n : scope->min_n + 100000;
    must(sort_keys(sorter, scope->min_n + 1, in_place) == HS_OK, "the least count");
    must(sort_keys(sorter, most, in_place) == HS_OK, "the greatest count");
    if (scope->min_n > 1) must(sort_keys(sorter, scope->min_n - 1, in_place) == HS_ERROR_SCOPE, "fewer");
    if (scope->max_n) must(sort_keys(sorter, scope->max_n + 1, in_place) == HS_ERROR_SCOPE, "more");
    if (scope->calls) must(sort_keys(sorter, most, !in_place) == HS_ERROR_SCOPE, "another place");
}

int main(int argc, char **argv)
{
    cl_platform_id platform;
    cl_device_id device;
    const hs_sort *sort = NULL;
    hs_opencl *sorter = NULL, *again = NULL;
    hs_opencl_create_options options;
    void *binary;
    size_t bytes = 0;
    cl_int code;
    must(argc == 4, "creation MIN_N MAX_N CALLS");
    must(!clGetPlatformIDs(1, &platform, NULL) && !clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    queue = clCreateCommandQueue(context, device, 0, &code);
    must(hs_opencl_match(hs_targets, hs_targets_count, "u32", NULL, device, &sort) == HS_OK && sort, "no target");
    memset(&options, 0, sizeof options);
    options.scope.min_n = strtoul(argv[1], NULL, 10);
    options.scope.max_n = strtoul(argv[2], NULL, 10);
    options.scope.calls = (uint32_t)strtoul(argv[3], NULL, 10);
    must(hs_opencl_create_with(sort, context, device, &options, &sorter, NULL) == HS_OK, "a sorter");
    sorts(sorter, &options.scope);
    must(hs_opencl_binary(sorter, NULL, 0, &bytes, NULL) == HS_OK && bytes, "the size of a binary");
    binary = malloc(bytes);
    must(binary && hs_opencl_binary(sorter, binary, bytes, &bytes, NULL) == HS_OK, "a binary");
    options.binary = binary;
    options.binary_bytes = bytes;
    must(hs_opencl_create_with(sort, context, device, &options, &again, NULL) == HS_OK, "a sorter of a binary");
    sorts(again, &options.scope);
    must(hs_opencl_kernel_count(again) == hs_opencl_kernel_count(sorter), "as many kernels");
    printf("%u kernels, from a binary: %d, then %d\n", (unsigned)hs_opencl_kernel_count(sorter),
           hs_opencl_from_binary(sorter), hs_opencl_from_binary(again));
    free(binary);
    hs_opencl_release(sorter);
    hs_opencl_release(again);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
