/* Lets every call that hs_opencl.c makes fail with every code: the status must say what happened, and nothing may leak.
 * Linked with fake_opencl.c instead of an OpenCL. */
#include "fake_opencl.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 64 };

static int wrong = 0;
#define EXPECT(holds)                                                                                                  \
    ((holds) ? (void)0                                                                                                 \
             : (void)(wrong++, fprintf(stderr, "line %d: %s (call %u, %s, code %d)\n", __LINE__, #holds, fake.fail_at, \
                                       fake.failed ? fake.failed : "-", (int)fake.code)))

static const struct {
    cl_int code;
    hs_status status;
} mapped[] = {{CL_OUT_OF_HOST_MEMORY, HS_ERROR_HOST_MEMORY},
              {CL_OUT_OF_RESOURCES, HS_ERROR_DEVICE_MEMORY},
              {CL_MEM_OBJECT_ALLOCATION_FAILURE, HS_ERROR_DEVICE_MEMORY},
              {CL_DEVICE_NOT_AVAILABLE, HS_ERROR_DEVICE_LOST},
              {CL_BUILD_PROGRAM_FAILURE, HS_ERROR_BUILD},
              {CL_INVALID_KERNEL_NAME, HS_ERROR_BUILD},
              {CL_COMPILER_NOT_AVAILABLE, HS_ERROR_BUILD},
              {CL_INVALID_VALUE, HS_ERROR_API},
              {-1001, HS_ERROR_API}};

/* Whether the failure of the first call is legitimate: functions that an older OpenCL lacks are not required. */
static int answers(void)
{
    if (strcmp(fake.failed, "clGetExtensionFunctionAddressForPlatform") == 0) return 1; /* no such function */
    if (fake.code != CL_INVALID_VALUE) return 0;
    return strcmp(fake.failed, "sub_group_info") == 0 ||
           (strcmp(fake.failed, "clGetDeviceInfo") == 0 && fake.asked == 0x1066); /* no list of versions */
}

/* The best target, which only that device suits, and one for all. */
static const hs_target *two_targets[2];

static unsigned matched; /* the calls of the search for a target */

/* Everything that a program does with a sorter; the first status other than success. */
static hs_status all(const hs_sort *sort, hs_opencl_error *error)
{
    static const uint64_t counts[] = {5000, 3, 0};
    hs_opencl *sorter = (hs_opencl *)&wrong;
    const hs_sort *found = sort;
    size_t i;
    hs_status status = hs_opencl_match(two_targets, 2, "u32", NULL, fake_device(), &found);
    EXPECT(found == (status == HS_OK ? two_targets[1]->sorts[0] : NULL));
    if (status == HS_OK) matched = fake.calls;
    if (status == HS_OK) status = hs_opencl_create(sort, fake_context(), fake_device(), &sorter, error);
    else return status;
    EXPECT((status == HS_OK) == (sorter != NULL));
    for (i = 0; i < sizeof counts / sizeof counts[0] && status == HS_OK; i++) {
        cl_event event = NULL;
        cl_mem source = fake_buffer(20000), destination = fake_buffer(20000), scratch = fake_buffer(100000);
        cl_mem values = fake_buffer(20000), values_destination = fake_buffer(20000), count = fake_buffer(4);
        hs_opencl_sort_args args;
        const unsigned enqueued = fake.enqueued, waited = fake.waited;
        memset(&args, 0, sizeof args);
        args.n = counts[i];
        args.source = source;
        args.destination = i == 1 ? NULL : destination;
        args.scratch = scratch;
        if (sort->value_bytes) args.values = values;
        if (sort->value_bytes && i != 1) args.values_destination = values_destination;
        if (sort->device_count && i == 0) args.count = count;
        args.event = i == 1 ? NULL : &event;
        status = hs_opencl_sort(sorter, fake_queue(), &args, error);
        EXPECT((event != NULL) == (status == HS_OK && i != 1));
        if (status == HS_OK && counts[i])
            EXPECT(fake.waited - waited == (fake.properties ? fake.enqueued - enqueued - 1 : 0));
        if (event) clReleaseEvent(event);
        clReleaseMemObject(source);
        clReleaseMemObject(destination);
        clReleaseMemObject(scratch);
        clReleaseMemObject(values);
        clReleaseMemObject(values_destination);
        clReleaseMemObject(count);
    }
    hs_opencl_release(sorter);
    return status;
}

static unsigned run(const hs_sort *sort, unsigned fail_at, unsigned last, cl_int code, hs_status expected)
{
    hs_opencl_error error;
    hs_status status;
    memset(&error, 0, sizeof error);
    fake.calls = 0;
    fake.fail_at = fail_at;
    fake.last = last;
    fake.code = code;
    fake.failed = NULL;
    status = all(sort, &error);
    EXPECT(fake.alive == 0);
    if (!fake.failed || (fail_at == last && answers()))
        EXPECT(status == HS_OK);
    else if (strcmp(fake.failed, "fake_calloc") == 0)
        EXPECT(status == HS_ERROR_HOST_MEMORY && error.code == 0);
    else
        EXPECT(status == expected && error.code == (fail_at > matched ? code : 0)); /* status only */
    return fake.calls;
}

/* Every call alone, and every call with all after it, as on a lost device. */
static unsigned each(const hs_sort *sort)
{
    const unsigned calls = run(sort, 0, 0, 0, HS_OK);
    unsigned fail_at, i;
    EXPECT(matched > 10 && calls > matched);
    for (i = 0; i < sizeof mapped / sizeof mapped[0]; i++)
        for (fail_at = 1; fail_at <= calls; fail_at++) {
            run(sort, fail_at, fail_at, mapped[i].code, mapped[i].status);
            run(sort, fail_at, (unsigned)-1, mapped[i].code, mapped[i].status);
        }
    return calls;
}

static void log_is_cut(const hs_sort *sort)
{
    hs_opencl_error error;
    hs_opencl *sorter;
    unsigned i;
    for (i = 1;; i++) {
        fake.calls = 0;
        fake.fail_at = fake.last = i;
        fake.code = CL_BUILD_PROGRAM_FAILURE;
        fake.failed = NULL;
        if (hs_opencl_create(sort, fake_context(), fake_device(), &sorter, &error) == HS_OK) hs_opencl_release(sorter);
        if (!fake.failed || strcmp(fake.failed, "clBuildProgram") == 0) break;
    }
    EXPECT(fake.failed != NULL);
    EXPECT(error.code == CL_BUILD_PROGRAM_FAILURE && strlen(error.log) == sizeof error.log - 1);
    fake.calls = 0;
    EXPECT(hs_opencl_create(sort, fake_context(), fake_device(), &sorter, NULL) == HS_ERROR_BUILD);
    EXPECT(fake.alive == 0 && sorter == NULL);
    fake.fail_at = 0;
}

/* A device that promises subgroup lanes and then runs fewer, or other subgroups than requested. */
static void kernels_do_not_fit(const hs_sort *plain, const hs_sort *lanes)
{
    hs_opencl *sorter;
    hs_opencl_error error;
    fake.lanes = 1;
    EXPECT(hs_opencl_create(plain, fake_context(), fake_device(), &sorter, &error) == HS_ERROR_DEVICE);
    fake.lanes = 1024;
    fake.width = 8;
    EXPECT(hs_opencl_create(lanes, fake_context(), fake_device(), &sorter, &error) == HS_ERROR_DEVICE);
    fake.width = 16;
    EXPECT(fake.alive == 0);
}

/* Ballots need an extension of their own. */
static void kernels_that_vote(const hs_sort *lanes)
{
    hs_kernel kernels[KERNELS];
    hs_sort votes = *lanes;
    hs_opencl *sorter;
    memcpy(kernels, lanes->kernels, lanes->kernel_count * sizeof kernels[0]);
    votes.kernels = kernels;
    kernels[lanes->kernel_count - 1].ballot = 1;
    EXPECT(hs_opencl_create(&votes, fake_context(), fake_device(), &sorter, NULL) == HS_ERROR_DEVICE);
    fake.ballot = 1;
    EXPECT(hs_opencl_create(&votes, fake_context(), fake_device(), &sorter, NULL) == HS_OK);
    hs_opencl_release(sorter);
    fake.ballot = 0;
    EXPECT(fake.alive == 0);
}

static void no_failures(void)
{
    fake.calls = fake.fail_at = fake.last = 0;
    fake.failed = NULL;
}

/* Create from a binary, and release; whether the binary was used. */
static int loads(const hs_sort *sort, const void *binary, size_t bytes, const hs_scope *scope)
{
    hs_opencl_create_options options;
    hs_opencl *sorter = NULL;
    int used;
    memset(&options, 0, sizeof options);
    if (scope) options.scope = *scope;
    options.binary = binary;
    options.binary_bytes = bytes;
    no_failures();
    EXPECT(hs_opencl_create_with(sort, fake_context(), fake_device(), &options, &sorter, NULL) == HS_OK);
    used = hs_opencl_from_binary(sorter);
    hs_opencl_release(sorter);
    EXPECT(fake.alive == 0);
    return used;
}

/* A binary is used if it is whole and fits; any failure on the way falls back to the source. */
static void binaries(const hs_sort *sort, const hs_sort *other)
{
    static unsigned char binary[1000];
    hs_opencl_create_options options;
    hs_opencl *sorter = NULL;
    hs_opencl_error error;
    hs_scope few;
    size_t bytes = 99, k;
    unsigned i, total;
    memset(&few, 0, sizeof few);
    memset(&options, 0, sizeof options);
    few.max_n = 100;
    no_failures();
    EXPECT(hs_opencl_binary(NULL, NULL, 0, &bytes, NULL) == HS_ERROR_ARGUMENT && bytes == 0);
    EXPECT(hs_opencl_create(sort, fake_context(), fake_device(), &sorter, NULL) == HS_OK);
    EXPECT(!hs_opencl_from_binary(sorter) && hs_opencl_kernel_count(sorter) == sort->kernel_count);
    EXPECT(hs_opencl_binary(sorter, NULL, 0, NULL, NULL) == HS_ERROR_ARGUMENT);
    EXPECT(hs_opencl_binary(sorter, NULL, 0, &bytes, &error) == HS_OK && bytes > 32 && bytes < sizeof binary);
    EXPECT(hs_opencl_binary(sorter, binary, bytes - 1, &bytes, &error) == HS_ERROR_COUNT);
    for (i = 1;; i++) { /* every failure of a query */
        hs_status status;
        size_t got = 0;
        no_failures();
        fake.fail_at = fake.last = i;
        fake.code = CL_OUT_OF_RESOURCES;
        status = hs_opencl_binary(sorter, binary, sizeof binary, &got, &error);
        if (!fake.failed) {
            EXPECT(status == HS_OK && got == bytes);
            break;
        }
        EXPECT(status == (strcmp(fake.failed, "fake_calloc") ? HS_ERROR_DEVICE_MEMORY : HS_ERROR_HOST_MEMORY));
    }
    EXPECT(i > 6);
    hs_opencl_release(sorter);
    EXPECT(loads(sort, binary, bytes, NULL));
    EXPECT(!loads(sort, NULL, bytes, NULL) && !loads(sort, binary, 0, NULL));
    EXPECT(!loads(sort, binary, bytes, &few) && !loads(other, binary, bytes, NULL));
    fake.newer = 1;
    EXPECT(!loads(sort, binary, bytes, NULL));
    fake.newer = 0;
    for (k = 0; k < bytes; k++) {
        EXPECT(!loads(sort, binary, k, NULL));
        binary[k] ^= 1;
        EXPECT(!loads(sort, binary, bytes, NULL));
        binary[k] ^= 1;
    }
    options.binary = binary;
    options.binary_bytes = bytes;
    for (i = 1, total = 0;; i++) {
        hs_status status;
        no_failures();
        fake.fail_at = fake.last = i;
        fake.code = CL_INVALID_VALUE;
        status = hs_opencl_create_with(sort, fake_context(), fake_device(), &options, &sorter, &error);
        EXPECT((status == HS_OK) == (sorter != NULL));
        total += status == HS_OK && !hs_opencl_from_binary(sorter);
        hs_opencl_release(sorter);
        EXPECT(fake.alive == 0);
        if (!fake.failed) break;
    }
    EXPECT(total > 3 + sort->kernel_count); /* the binary was given up, and the source compiled */
    no_failures();
}

/* Only the kernels of a scope are compiled, and other calls are refused. */
static void scopes(const hs_sort *sort)
{
    hs_opencl_create_options options;
    hs_opencl_sort_args args;
    hs_opencl *sorter = NULL;
    cl_mem source = fake_buffer(20000), scratch = fake_buffer(100000);
    unsigned lines;
    memset(&options, 0, sizeof options);
    memset(&args, 0, sizeof args);
    args.source = source;
    args.scratch = scratch;
    no_failures();
    options.scope.min_n = sort->max_n + 1;
    EXPECT(hs_opencl_create_with(sort, fake_context(), fake_device(), &options, &sorter, NULL) == HS_ERROR_COUNT);
    options.scope.min_n = 0;
    options.scope.calls = HS_CALLS_SOME_BITS;
    EXPECT(hs_opencl_create_with(sort, fake_context(), fake_device(), &options, &sorter, NULL) == HS_ERROR_OPTION);
    EXPECT(!sorter && hs_opencl_kernel_count(NULL) == 0 && !hs_opencl_from_binary(NULL));
    EXPECT(hs_opencl_create_with(sort, fake_context(), fake_device(), NULL, &sorter, NULL) == HS_OK);
    lines = fake.lines;
    EXPECT(lines == sort->opencl_lines);
    hs_opencl_release(sorter);
    options.scope.max_n = 100;
    options.scope.calls = HS_CALLS_IN_PLACE;
    EXPECT(hs_opencl_create_with(sort, fake_context(), fake_device(), &options, &sorter, NULL) == HS_OK);
    EXPECT(fake.lines < lines && fake.lines > sort->opencl_starts[0]);
    EXPECT(hs_opencl_kernel_count(sorter) > 0 && hs_opencl_kernel_count(sorter) < sort->kernel_count);
    for (args.n = 0; args.n < 200; args.n += 20)
        EXPECT(hs_opencl_sort(sorter, fake_queue(), &args, NULL) == (args.n > 100 ? HS_ERROR_SCOPE : HS_OK));
    args.n = 100;
    args.destination = fake_buffer(20000);
    EXPECT(hs_opencl_sort(sorter, fake_queue(), &args, NULL) == HS_ERROR_SCOPE);
    hs_opencl_release(sorter);
    clReleaseMemObject(args.destination);
    clReleaseMemObject(source);
    clReleaseMemObject(scratch);
    EXPECT(fake.alive == 0);
}

int main(void)
{
    static const hs_kernel two[] = {{"there", 64, 1, 0, 2, 0, 0, 0}, {"wide", 64, 1, 0, 2, 0, 1, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1000}, {HS_LITERAL, 0, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_SCRATCH, 256, 4, 0}}},
        {0, {0, 1000000, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1000}, {HS_LITERAL, 0, 0, 0},
         {{HS_SCRATCH, 256, 4, 0}, {HS_SCRATCH, 512, 8, 0}}},
        {0, {0, 1000000, HS_IN_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1000}, {HS_LITERAL, 0, 0, 0},
         {{HS_SCRATCH, 256, 4, 0}, {HS_SCRATCH, 512, 0, 0}}},
        {1, {0, 1000000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1000}, {HS_LITERAL, 0, 0, 0},
         {{HS_SCRATCH, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}}},
    };
    static const char *const text[] = {"nothing\n"};
    static const hs_kernel full[] = {{"full", 64, 1, 0, 6, 0, 0, 0}, {"grids", 64, 1, 0, 2, 0, 0, 0}};
    static const hs_step full_steps[] = {
        {1, {0, 1000000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1}, {HS_INDIRECT_GRIDS, 0, 0, 0},
         {{HS_COUNT, 0, 0, 0}, {HS_SCRATCH, 0, 0, 0}}},
        {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1000}, {HS_PASS, 0, 8, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}, {HS_SCRATCH, 256, 4, 0}, {HS_VALUES, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0}, {HS_COUNT, 0, 0, 0}}}};
    static const uint32_t vendors[] = {0x8086};
    static const char *const names[] = {"Fake dev"}, *const platforms[] = {"Fake plat"};
    static const hs_scratch_rule rules[] = {{0, UINT64_MAX, 1024, 12, 1, 0, 0}};
    static const hs_match match = {HS_GPU, 1, 1, 1, vendors, names, platforms, 0, 0, 5};
    hs_sort lanes = *hs_targets[0]->sorts[0], scratch = lanes, counted;
    const hs_sort *const best[] = {&lanes};
    const hs_target particular = {"particular", &match, best, 1};
    const hs_sort *plain = hs_targets[0]->sorts[0];
    hs_kernel kernels[KERNELS];
    unsigned calls, i;

    if (plain->kernel_count > KERNELS) return 1;
    memcpy(kernels, plain->kernels, plain->kernel_count * sizeof kernels[0]);
    for (i = 0; i < plain->kernel_count; i++) kernels[i].subgroup = 16;
    lanes.kernels = kernels;
    two_targets[0] = hs_targets[0];
    two_targets[1] = &particular;
    scratch.kernels = two;
    scratch.kernel_count = 2;
    scratch.steps = steps;
    scratch.step_count = 4;
    scratch.opencl = text;
    scratch.opencl_lines = 1;
    scratch.scratch = rules;
    scratch.scratch_rule_count = 1;
    counted = scratch;
    counted.kernels = full;
    counted.steps = full_steps;
    counted.step_count = 2;
    counted.value = "v4";
    counted.value_bytes = 4;
    counted.device_count = 1;

    fake.lanes = 1024;
    fake.width = 16;
    calls = each(plain) + each(&lanes) + each(&scratch) + each(&counted);
    fake.properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    calls += each(plain) + each(&lanes) + each(&scratch) + each(&counted);
    log_is_cut(plain);
    kernels_do_not_fit(plain, &lanes);
    kernels_that_vote(&lanes);
    binaries(plain, &scratch);
    scopes(plain);
    printf("%u calls failed in every way, %d wrong\n", calls, wrong);
    return wrong ? 1 : 0;
}
