/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Sort random numbers with OpenCL: a complete program, from the choice of a device to the sorted array. README.md has
 * the command that builds it. The program uses the first device for which the bundle has a target. With a first
 * argument, only devices whose name contains it count. The second argument names a file in which the compiled kernels
 * are kept for the next run. The exit code is 0 if the numbers came back sorted. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120 /* all that this program needs */
#endif
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 32 };

/* The sort of this bundle that the program runs: how many keys, their type, and the values that are sorted with
 * them. */
#define KEY "u32"
#define VALUE NULL
enum { COUNT = 100003, KEY_BYTES = 4, VALUE_BYTES = 0 };
enum { MAKES_INDICES = 0 }; /* 1: an argsort; no values are read, and the written values are the
                                                 indices of keys */

/* Key or value i of an array as a number; for wide values, their first 8 bytes.  The host is little-endian, like
 * devices. */
static uint64_t number_at(const void *array, size_t bytes, size_t i)
{
    uint64_t number = 0;
    memcpy(&number, (const char *)array + bytes * i, bytes < sizeof number ? bytes : sizeof number);
    return number;
}

/* Fill in random keys, the same in each run; and, if there are values, the index of each key. */
static void fill(void *keys, void *values)
{
    uint64_t x = 2463534242u, i;
    for (i = 0; i < COUNT; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy((char *)keys + KEY_BYTES * i, &x, KEY_BYTES);
        if (VALUE_BYTES > 0) memset((char *)values + VALUE_BYTES * i, 0, VALUE_BYTES);
        if (VALUE_BYTES > 0) memcpy((char *)values + VALUE_BYTES * i, &i, VALUE_BYTES < 8 ? 4 : 8);
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = number_at(a, KEY_BYTES, 0), y = number_at(b, KEY_BYTES, 0);
    return (x > y) - (x < y);
}

/* 1 if `keys` are the keys of `before` in order, and the value of each key is its index in `before`; sorts `before`. */
static int is_sorted(void *before, const void *keys, const void *values)
{
    size_t valued = VALUE_BYTES > 0 ? COUNT : 0;
    char *seen = (char *)calloc(COUNT, 1);
    size_t i;
    int right = seen != NULL;
    for (i = 0; right && i < valued; i++) {
        const uint64_t index = number_at(values, VALUE_BYTES, i);
        right = index < COUNT && !seen[index] &&
                number_at(before, KEY_BYTES, (size_t)index) == number_at(keys, KEY_BYTES, i);
        if (right) seen[index] = 1;
    }
    free(seen);
    qsort(before, COUNT, KEY_BYTES, compare);
    return right && memcmp(before, keys, (size_t)COUNT * KEY_BYTES) == 0;
}

/* The first device on which one of the bundle's targets sorts such keys, among the devices whose name contains `part`.
 * Prints why a device is not used. */
static cl_device_id pick(const char *part, const hs_sort **sort, char *name, size_t size)
{
    char reason[2048];
    cl_platform_id platforms[DEVICES];
    cl_device_id devices[DEVICES];
    cl_uint p, d, platform_count = 0, device_count;
    if (clGetPlatformIDs(DEVICES, platforms, &platform_count) != CL_SUCCESS) return NULL;
    for (p = 0; p < platform_count && p < DEVICES; p++) {
        device_count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES, devices, &device_count) != CL_SUCCESS) continue;
        for (d = 0; d < device_count && d < DEVICES; d++) {
            if (clGetDeviceInfo(devices[d], CL_DEVICE_NAME, size, name, NULL) != CL_SUCCESS) continue;
            if (!strstr(name, part)) continue;
            if (hs_opencl_match(hs_targets, hs_targets_count, KEY, VALUE, devices[d], sort) == HS_OK && *sort)
                return devices[d];
            if (hs_opencl_explain(hs_targets, hs_targets_count, HS_SORT, KEY, VALUE, devices[d], reason, sizeof reason) == HS_OK)
                fprintf(stderr, "%s\n%s", name, reason);
        }
    }
    return NULL;
}

/* The content of a file, which the caller frees; null if there is no such file. */
static void *load(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    void *data = NULL;
    long end = 0;
    *size = 0;
    if (file && fseek(file, 0, SEEK_END) == 0) end = ftell(file);
    if (end > 0) data = malloc((size_t)end);
    if (data && fseek(file, 0, SEEK_SET) == 0) *size = fread(data, 1, (size_t)end, file);
    if (file) fclose(file);
    return data;
}

/* Write the kernels as the driver compiled them to a file.  A program that may be interrupted writes another file and
 * renames it. */
static void store(const hs_opencl *sorter, const char *name)
{
    size_t size = 0;
    const hs_status status = hs_opencl_binary(sorter, NULL, 0, &size, NULL);
    void *data = status == HS_OK ? malloc(size) : NULL;
    FILE *file = data && hs_opencl_binary(sorter, data, size, &size, NULL) == HS_OK ? fopen(name, "wb") : NULL;
    if (file) {
        fwrite(data, 1, size, file); /* hs_opencl_create_with ignores an incomplete file */
        fclose(file);
    }
    free(data);
}

/* Make the kernels for the calls of this program, which sort COUNT keys in place; load the kernels from a file if the
 * file has them. */
static hs_status make_sorter(const hs_sort *sort, cl_context context, cl_device_id device, const char *file,
                             hs_opencl **sorter, hs_opencl_error *error)
{
    hs_opencl_create_options options;
    hs_status status;
    void *binary = NULL;
    memset(&options, 0, sizeof options);
    options.scope.max_n = COUNT;
    options.scope.calls = HS_CALLS_IN_PLACE | HS_CALLS_ALL_BITS;
    if (file) binary = load(file, &options.binary_bytes);
    options.binary = binary;
    status = hs_opencl_create_with(sort, context, device, &options, sorter, error);
    free(binary);
    if (status == HS_OK && file && !hs_opencl_from_binary(*sorter)) store(*sorter, file);
    return status;
}

/* Compute sums over the keys on the device; if the bundle has no check of such keys, the words are unchanged. */
static hs_status look(hs_opencl *checker, cl_command_queue queue, cl_mem keys, cl_mem report, uint32_t words[8],
                      hs_opencl_error *error)
{
    hs_opencl_digest_args args;
    hs_status status;
    if (!checker) return HS_OK;
    memset(&args, 0, sizeof args);
    args.n = COUNT;
    args.source = keys;
    args.digest = report;
    status = hs_opencl_digest(checker, queue, &args, error);
    if (status == HS_OK)
        error->code = clEnqueueReadBuffer(queue, report, CL_TRUE, 0, 8 * sizeof *words, words, 0, NULL, NULL);
    return status == HS_OK && error->code != CL_SUCCESS ? HS_ERROR_API : status;
}

int main(int argc, char **argv)
{
    char name[256] = "";
    const hs_sort *sort = NULL, *check = NULL;
    cl_device_id device = pick(argc > 1 ? argv[1] : "", &sort, name, sizeof name);
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_mem buffer = NULL, moved = NULL, scratch = NULL, report = NULL, output = NULL;
    hs_info info;
    uint64_t scratch_bytes = 0;
    uint32_t before[8] = {0}, after[8] = {0}, faults = 0;
    hs_opencl *sorter = NULL, *checker = NULL;
    hs_opencl_error error;
    hs_opencl_sort_args args;
    const char *missing = NULL;
    hs_status status = HS_ERROR_HOST_MEMORY;
    const size_t key_bytes = (size_t)COUNT * KEY_BYTES, value_bytes = (size_t)COUNT * VALUE_BYTES;
    void *before_keys = malloc(key_bytes), *keys = malloc(key_bytes), *values = malloc(value_bytes + 1);
    cl_int code = CL_SUCCESS;
    int right = 0;

    memset(&error, 0, sizeof error);
    memset(&args, 0, sizeof args);
    if (!before_keys || !keys || !values) goto end;
    status = HS_ERROR_DEVICE;
    if (!device) goto end; /* no target of this bundle suits a device */
    status = HS_ERROR_API;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (!context) goto end;
    queue = clCreateCommandQueue(context, device, 0, &code);
    if (!queue) goto end;

    /* Build the kernels once, then sort as often as you like. */
    status = make_sorter(sort, context, device, argc > 2 ? argv[2] : NULL, &sorter, &error);
    if (status != HS_OK) goto end;
    if (hs_opencl_match_kind(hs_targets, hs_targets_count, HS_DIGEST, KEY, NULL, device, &check) == HS_OK && check &&
        check->key_bytes == KEY_BYTES)
        status = hs_opencl_create(check, context, device, &checker, &error);
    if (status != HS_OK) goto end;

    fill(before_keys, values);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, key_bytes, before_keys, &code);
    if (buffer && value_bytes > 0)
        moved = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, value_bytes, values, &code);
    if (!buffer || (value_bytes > 0 && !moved)) goto end;

    /* The program allocates all memory: the keys, and as much scratch as the sort asks for, which may be none. */
    status = hs_scratch(sort, COUNT, &scratch_bytes);
    if (status == HS_OK) status = hs_describe(sort, &info);
    if (status != HS_OK) goto end;
    status = HS_ERROR_DEVICE_MEMORY;
    if (scratch_bytes) scratch = clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t)scratch_bytes, NULL, &code);
    if (scratch_bytes && !scratch) goto end;
    if (info.reports) /* for a report, such as the positions of runs */
        output = clCreateBuffer(context, CL_MEM_READ_WRITE,
                                4 * ((size_t)info.report_words + (size_t)COUNT * info.report_words_per_key), NULL, &code);
    if (info.reports && !output) goto end;

    /* Sums over the keys, which are compared after the sort to verify the result on the device. */
    report = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof before, NULL, &code);
    if (!report) goto end;
    status = look(checker, queue, buffer, report, before, &error);
    if (status != HS_OK) goto end;

    /* In place; set args.destination to sort into another buffer. */
    args.n = COUNT;
    args.source = buffer;
    args.scratch = scratch;
    args.report = output;
    if (MAKES_INDICES == 1)
        args.values_destination = moved;
    else
        args.values = moved;
    status = hs_opencl_sort(sorter, queue, &args, &error);
    if (status == HS_ERROR_OPTION) /* `missing` names the option or buffer that the sort does not support */
        missing = hs_missing_option(sort, &args.options, 1u << HS_SOURCE | (moved ? 1u << HS_VALUES : 0));
    if (status != HS_OK) goto end;

    status = look(checker, queue, buffer, report, after, &error);
    if (status == HS_OK) status = hs_digest_compare(before, after, 0, &faults);
    if (status != HS_OK) goto end;

    /* Verify the result on the host, too, which takes much longer. */
    code = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, key_bytes, keys, 0, NULL, NULL);
    if (code == CL_SUCCESS && value_bytes > 0)
        code = clEnqueueReadBuffer(queue, moved, CL_TRUE, 0, value_bytes, values, 0, NULL, NULL);
    right = code == CL_SUCCESS && faults == 0 && is_sorted(before_keys, keys, values);

end:
    if (right)
        printf("sorted %d keys on %s with target %s\n", (int)COUNT, name, sort->target);
    else
        fprintf(stderr, "not sorted: %s (OpenCL code %d)\n%s%s\n", status ? hs_status_text(status) : "wrong order",
                (int)(code != CL_SUCCESS ? code : error.code), missing ? missing : "", error.log);
    if (buffer) clReleaseMemObject(buffer);
    if (moved) clReleaseMemObject(moved);
    if (scratch) clReleaseMemObject(scratch);
    if (output) clReleaseMemObject(output);
    if (report) clReleaseMemObject(report);
    hs_opencl_release(sorter);
    hs_opencl_release(checker);
    if (queue) clReleaseCommandQueue(queue);
    if (context) clReleaseContext(context);
    free(before_keys);
    free(keys);
    free(values);
    return right ? 0 : 1;
}
