/* How long a device takes to make a sorter from source: CPU time and time, the least of some runs, and from a binary.
 *   hsgen generate -t cpu --api opencl --key u32 --value none -o sorts
 *   cc -O2 -I sorts/include tests/device/opencl_start.c $(sed "s|^|sorts/|" sorts/sources/opencl.txt) -lOpenCL
 *   ./a.out Intel u32 none 3 0 2^20
 * Arguments: part of the platform's name, key, value, runs, and the greatest counts to sort, 0 for any.  Drivers must
 * not keep what they compile between runs.  Exit code 0 if everything was created. */
#define CL_TARGET_OPENCL_VERSION 120
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRY(call) ((call) ? (fprintf(stderr, "line %d: %s\n", __LINE__, #call), exit(1)) : (void)0)

enum { MANY = 16 };

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static cl_device_id pick(const char *part)
{
    cl_platform_id platforms[MANY];
    cl_uint count = 0;
    TRY(clGetPlatformIDs(MANY, platforms, &count));
    for (cl_uint p = 0; p < count && p < MANY; p++) {
        char name[256] = "";
        cl_device_id device;
        if (clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL) || !strstr(name, part)) continue;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS) return device;
    }
    return NULL;
}

typedef struct times {
    double cpu, wall;
} times;

/* Make a sorter, from a binary if there is one; `kept`: return it. */
static times create(const hs_sort *sort, cl_context context, cl_device_id device, hs_opencl_create_options options,
                    hs_opencl **kept)
{
    hs_opencl *sorter;
    const times from = {now(CLOCK_PROCESS_CPUTIME_ID), now(CLOCK_MONOTONIC)};
    TRY(hs_opencl_create_with(sort, context, device, &options, &sorter, NULL));
    const times took = {now(CLOCK_PROCESS_CPUTIME_ID) - from.cpu, now(CLOCK_MONOTONIC) - from.wall};
    TRY(options.binary && !hs_opencl_from_binary(sorter));
    if (kept)
        *kept = sorter;
    else
        hs_opencl_release(sorter);
    return took;
}

static times least(times a, times b)
{
    const times both = {a.cpu < b.cpu ? a.cpu : b.cpu, a.wall < b.wall ? a.wall : b.wall};
    return both;
}

int main(int argc, char **argv)
{
    const hs_sort *sort;
    if (argc < 6) return fprintf(stderr, "usage: %s PLATFORM KEY VALUE RUNS MAX_N...\n", argv[0]), 2;
    const cl_device_id device = pick(argv[1]);
    if (!device) return fprintf(stderr, "no platform like %s\n", argv[1]), 1;
    TRY(hs_opencl_match(hs_targets, hs_targets_count, argv[2], strcmp(argv[3], "none") ? argv[3] : NULL, device, &sort));
    if (!sort) return fprintf(stderr, "no target of this bundle suits the device\n"), 1;
    const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    TRY(!context);
    for (int i = 5; i < argc; i++) {
        hs_opencl_create_options options = {0};
        hs_opencl *sorter;
        times source = {1e9, 1e9}, binary = {1e9, 1e9};
        size_t size = 0;
        const char *power = strchr(argv[i], '^');
        options.scope.max_n = power ? 1ull << atoi(power + 1) : strtoull(argv[i], NULL, 10);
        for (int run = 0; run < atoi(argv[4]); run++) source = least(source, create(sort, context, device, options, NULL));
        source = least(source, create(sort, context, device, options, &sorter));
        const uint32_t kernels = hs_opencl_kernel_count(sorter);
        TRY(hs_opencl_binary(sorter, NULL, 0, &size, NULL));
        void *data = malloc(size);
        TRY(!data || hs_opencl_binary(sorter, data, size, &size, NULL));
        hs_opencl_release(sorter);
        options.binary = data;
        options.binary_bytes = size;
        for (int run = 0; run <= atoi(argv[4]); run++) binary = least(binary, create(sort, context, device, options, NULL));
        free(data);
        printf("%s %s %s, up to %s keys: %u kernels, CPU time %.0f ms, time %.0f ms; from a binary %.0f ms\n", sort->target,
               argv[2], argv[3], argv[i], kernels, source.cpu, source.wall, binary.wall);
        fflush(stdout);
    }
    clReleaseContext(context);
    return 0;
}
