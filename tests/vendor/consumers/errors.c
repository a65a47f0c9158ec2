/* Every way of calling the C API wrongly that can be told gets its status, and what is right next to it works.
 * Runs on the first OpenCL device with the first sort of its bundle. */
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 6000, MARK = 0x5a5a5a5a };

static int wrong = 0, asked = 0;
#define EXPECT(holds) \
    ((void)asked++, (holds) ? (void)0 : (void)(wrong++, fprintf(stderr, "line %d: %s\n", __LINE__, #holds)))
#define STATUS(call, expected) is((call), (expected), __LINE__, #call)

static void is(hs_status status, hs_status expected, int line, const char *call)
{
    asked++;
    if (status == expected) return;
    wrong++;
    fprintf(stderr, "line %d: %s: %s, not %s\n", line, call, hs_status_text(status), hs_status_text(expected));
}

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static hs_opencl_error error;

static void must(cl_int code, const char *what)
{
    if (code == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL code %d\n", what, (int)code);
    exit(2);
}

static cl_mem buffer(size_t keys)
{
    cl_int code;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, keys * sizeof(uint32_t), NULL, &code);
    must(code, "clCreateBuffer");
    return made;
}

static cl_mem part(cl_mem whole, size_t first, size_t keys)
{
    const cl_buffer_region region = {first * sizeof(uint32_t), keys * sizeof(uint32_t)};
    cl_int code;
    cl_mem made = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    must(code, "clCreateSubBuffer");
    return made;
}

/* Write keys that descend, in all of a buffer of ROOM keys. */
static void fill(cl_mem memory)
{
    uint32_t keys[ROOM], i;
    for (i = 0; i < ROOM; i++) keys[i] = MARK - i;
    must(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof keys, keys, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

/* Whether `count` keys from `first` on are sorted, and all other keys as `fill` wrote them. */
static int sorted(cl_mem memory, uint32_t first, uint32_t count)
{
    uint32_t keys[ROOM], i;
    must(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof keys, keys, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (i = 0; i < ROOM; i++) {
        const uint32_t from = i >= first && i < first + count ? first + count - 1 - (i - first) : i;
        if (keys[i] != MARK - from) return 0;
    }
    return 1;
}

static hs_opencl_args arguments(uint64_t n, cl_mem source, cl_mem destination)
{
    hs_opencl_args args;
    memset(&args, 0, sizeof args);
    args.n = n;
    args.source = source;
    args.destination = destination;
    return args;
}

static hs_status sort(hs_opencl *sorter, uint64_t n, cl_mem source, cl_mem destination)
{
    const hs_opencl_args args = arguments(n, source, destination);
    return hs_opencl_sort(sorter, queue, &args, &error);
}

/* The rules of scratch and of what it tells afterwards. */
static void rules(const hs_sort *plain)
{
    static const hs_scratch_rule rule = {100, 4096, 4, 64, 1024, 3};
    static const hs_outcome_rule outcome = {{HS_SCRATCH, 1, 0}, 4, 1000};
    const uint32_t words[] = {0, 1, 0, 0xffffffffu};
    hs_sort crafted = *plain;
    uint64_t at = 1, bytes = 1;
    uint32_t redone = 1;
    STATUS(hs_outcome_at(plain, plain->max_n, &at, &bytes), HS_OK);
    EXPECT(at == 0 && bytes == 0);
    STATUS(hs_outcome(plain, NULL, 0, &redone), HS_OK);
    EXPECT(redone == 0);
    crafted.scratch = rule;
    crafted.outcome = outcome;
    STATUS(hs_scratch(&crafted, 100, &bytes), HS_OK);
    EXPECT(bytes == 0);
    STATUS(hs_scratch(&crafted, 101, &bytes), HS_OK);
    EXPECT(bytes == 4096 + 404 + 2048);
    STATUS(hs_scratch(&crafted, 128, &bytes), HS_OK);
    EXPECT(bytes == 4096 + 512 + 2048);
    STATUS(hs_scratch(&crafted, 1000000, &bytes), HS_OK);
    EXPECT(bytes == 4096 + 4000000 + 3072);
    STATUS(hs_outcome_at(NULL, 1, &at, &bytes), HS_ERROR_ARGUMENT);
    STATUS(hs_outcome_at(&crafted, 1, NULL, &bytes), HS_ERROR_ARGUMENT);
    STATUS(hs_outcome_at(&crafted, 1, &at, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_outcome_at(&crafted, plain->max_n + 1, &at, &bytes), HS_ERROR_COUNT);
    STATUS(hs_outcome_at(&crafted, 1000, &at, &bytes), HS_OK);
    EXPECT(at == 0 && bytes == 0);
    STATUS(hs_outcome_at(&crafted, 1001, &at, &bytes), HS_OK);
    EXPECT(at == 1024 && bytes == sizeof words);
    STATUS(hs_outcome(NULL, words, bytes, &redone), HS_ERROR_ARGUMENT);
    STATUS(hs_outcome(&crafted, NULL, bytes, &redone), HS_ERROR_ARGUMENT);
    STATUS(hs_outcome(&crafted, words, bytes, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_outcome(&crafted, words, bytes - 4, &redone), HS_ERROR_SCRATCH);
    STATUS(hs_outcome(&crafted, words, 0, &redone), HS_OK);
    EXPECT(redone == 0);
    STATUS(hs_outcome(&crafted, words, bytes, &redone), HS_OK);
    EXPECT(redone == 2);
}

/* Sorts by name, and those of a target that has several, a scan among them. */
static void finding(const hs_sort *plain)
{
    hs_sort scan = *plain, other = *plain;
    const hs_sort *const sorts[] = {&scan, plain, &other};
    const hs_target several = {"several", NULL, sorts, 3}, *const two[] = {&several, hs_targets[0]};
    hs_device facts;
    size_t i;
    memset(&facts, 0, sizeof facts);
    scan.kind = HS_SCAN;
    scan.algorithm = "scan";
    other.algorithm = "other";
    EXPECT(hs_find(&several, "scan", plain->key) == &scan && hs_find(&several, "other", plain->key) == &other);
    EXPECT(hs_find(&several, plain->algorithm, plain->key) == plain && !hs_find(&several, "other", "u7"));
    EXPECT(!hs_find(&several, "none", plain->key) && !hs_find(NULL, "other", plain->key));
    EXPECT(!hs_find(&several, NULL, plain->key) && !hs_find(&several, "other", NULL));
    for (i = 0; i < 5; i++) {
        const hs_sort *const found = hs_candidate(two, 2, plain->key, &facts, i);
        EXPECT(found == (i == 0 || i == 2 ? plain : i == 1 ? &other : NULL));
    }
}

/* What needs no device. */
static void without_a_device(const hs_sort *plain)
{
    hs_info info;
    hs_device facts;
    uint64_t a = 1, b = 1;
    int i;
    for (i = -1; i < 20; i++) EXPECT(hs_status_text((hs_status)i) && hs_status_text((hs_status)i)[0]);
    EXPECT(strcmp(hs_version(), HS_VERSION) == 0);
    STATUS(hs_describe(NULL, &info), HS_ERROR_ARGUMENT);
    STATUS(hs_describe(plain, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_describe(plain, &info), HS_OK);
    EXPECT(strcmp(info.key, "u32") == 0 && info.key_bytes == 4 && info.max_n == plain->max_n && info.subgroup >= 1);
    STATUS(hs_pad(NULL, 1, &a, &b), HS_ERROR_ARGUMENT);
    STATUS(hs_pad(plain, plain->max_n + 1, &a, &b), HS_ERROR_COUNT);
    STATUS(hs_pad(plain, 7, NULL, NULL), HS_OK);
    STATUS(hs_pad(plain, 7, &a, &b), HS_OK);
    EXPECT(a == 7 && b == 7);
    STATUS(hs_scratch(NULL, 1, &a), HS_ERROR_ARGUMENT);
    STATUS(hs_scratch(plain, 1, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_scratch(plain, UINT64_MAX, &a), HS_ERROR_COUNT);
    STATUS(hs_scratch(plain, plain->max_n, &a), HS_OK);
    EXPECT(a == 0);
    rules(plain);
    finding(plain);
    memset(&facts, 0, sizeof facts);
    EXPECT(hs_suits(NULL, &facts) == 0 && hs_suits(hs_targets[0], NULL) == 0 && hs_suits(hs_targets[0], &facts) == 1);
    EXPECT(hs_candidate(NULL, 1, "u32", &facts, 0) == NULL && hs_candidate(hs_targets, 1, NULL, &facts, 0) == NULL);
    EXPECT(hs_candidate(hs_targets, 1, "u32", NULL, 0) == NULL);
    EXPECT(hs_candidate(hs_targets, 1, "f16", &facts, 0) == NULL);
    EXPECT(hs_candidate(hs_targets, 1, "u32", &facts, 0) == plain && !hs_candidate(hs_targets, 1, "u32", &facts, 1));
}

static void creating(const hs_sort *plain)
{
    static const char *const broken[] = {"__kernel void broken(__global uint *x) {\n", "    x[0] = no_such_name;\n",
                                         "}\n"};
    static const char *const other[] = {"__kernel void other(__global uint *x) { x[0] = 1; }\n"};
    enum { KERNELS = 32 };
    hs_kernel kernels[KERNELS];
    hs_sort crafted = *plain;
    hs_opencl *sorter = (hs_opencl *)&error;
    const hs_sort *found = NULL;

    STATUS(hs_opencl_create(NULL, context, device, &sorter, &error), HS_ERROR_ARGUMENT);
    EXPECT(sorter == NULL);
    STATUS(hs_opencl_create(plain, NULL, device, &sorter, &error), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_create(plain, context, NULL, &sorter, &error), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_create(plain, context, device, NULL, &error), HS_ERROR_ARGUMENT);
    hs_opencl_release(NULL);
    EXPECT(hs_opencl_sort_of(NULL) == NULL);

    crafted.opencl = NULL;
    crafted.opencl_lines = 0;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_ERROR_KERNELS);

    if (plain->kernel_count > KERNELS) exit(2);
    memcpy(kernels, plain->kernels, plain->kernel_count * sizeof kernels[0]);
    crafted = *plain;
    crafted.kernels = kernels;
    kernels[0].subgroup = 7; /* no device has those */
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_ERROR_DEVICE);
    kernels[0] = plain->kernels[0];
    kernels[0].work_group = 1u << 30;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, NULL), HS_ERROR_DEVICE);
    kernels[0] = plain->kernels[0];
    kernels[0].local_bytes = 1u << 30;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_ERROR_DEVICE);
    EXPECT(sorter == NULL);

    crafted = *plain;
    crafted.opencl = broken;
    crafted.opencl_lines = 3;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_ERROR_BUILD);
    EXPECT(error.code == CL_BUILD_PROGRAM_FAILURE && strstr(error.log, "no_such_name"));
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, NULL), HS_ERROR_BUILD);
    crafted.opencl = other;
    crafted.opencl_lines = 1;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_ERROR_BUILD);
    EXPECT(error.code == CL_INVALID_KERNEL_NAME && sorter == NULL);

    STATUS(hs_opencl_match(NULL, 1, "u32", device, &found), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_match(hs_targets, hs_targets_count, NULL, device, &found), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_match(hs_targets, hs_targets_count, "u32", NULL, &found), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_match(hs_targets, hs_targets_count, "u32", device, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_match(hs_targets, 0, "u32", device, &found), HS_OK);
    EXPECT(found == NULL);
    STATUS(hs_opencl_match(hs_targets, hs_targets_count, "u32", device, &found), HS_OK);
    EXPECT(found == plain);
}

static void sorting(const hs_sort *plain, hs_opencl *sorter)
{
    const uint32_t most = ROOM, odd = 4711;
    cl_mem from = buffer(ROOM), to = buffer(ROOM), small = buffer(1000);
    hs_opencl_args args = arguments(odd, from, NULL);
    cl_event event = NULL, gate;
    cl_command_queue disordered, foreign_queue;
    cl_context foreign;
    cl_int code;

    EXPECT(hs_opencl_sort_of(sorter) == plain);
    fill(from);
    STATUS(hs_opencl_sort(NULL, queue, &args, &error), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_sort(sorter, NULL, &args, &error), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_sort(sorter, queue, NULL, &error), HS_ERROR_ARGUMENT);
    STATUS(sort(sorter, odd, NULL, NULL), HS_ERROR_ARGUMENT);
    args.wait_count = 1;
    STATUS(hs_opencl_sort(sorter, queue, &args, NULL), HS_ERROR_ARGUMENT);
    STATUS(sort(sorter, plain->max_n + 1, from, NULL), HS_ERROR_COUNT);
    STATUS(sort(sorter, UINT64_MAX, from, NULL), HS_ERROR_COUNT);
    STATUS(sort(sorter, ROOM + 1, from, NULL), HS_ERROR_COUNT);
    STATUS(sort(sorter, 1001, from, small), HS_ERROR_COUNT);
    STATUS(sort(sorter, 1001, small, from), HS_ERROR_COUNT);
    EXPECT(sorted(from, 0, 0)); /* nothing has been touched */

    STATUS(sort(sorter, 0, from, NULL), HS_OK);
    STATUS(sort(sorter, 1, from, NULL), HS_OK);
    EXPECT(sorted(from, 0, 1));
    STATUS(sort(sorter, odd, from, NULL), HS_OK);
    EXPECT(sorted(from, 0, odd));
    fill(from);
    STATUS(sort(sorter, odd, from, from), HS_OK);
    EXPECT(sorted(from, 0, odd));
    fill(from);
    fill(to);
    STATUS(sort(sorter, most, from, to), HS_OK);
    EXPECT(sorted(to, 0, most) && sorted(from, 0, 0));

    /* n = 0 still ends in an event that waits for what it was told to wait for */
    gate = clCreateUserEvent(context, &code);
    must(code, "clCreateUserEvent");
    args = arguments(0, from, NULL);
    args.wait_count = 1;
    args.wait = &gate;
    args.event = &event;
    STATUS(hs_opencl_sort(sorter, queue, &args, &error), HS_OK);
    EXPECT(event != NULL);
    must(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
    if (event) must(clWaitForEvents(1, &event), "clWaitForEvents");
    if (event) clReleaseEvent(event);
    clReleaseEvent(gate);

    /* a queue out of order, and waiting for keys that are still being written */
    disordered = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    must(code, "clCreateCommandQueue");
    fill(to);
    gate = NULL;
    code = clEnqueueCopyBuffer(disordered, to, from, 0, 0, ROOM * sizeof(uint32_t), 0, NULL, &gate);
    must(code, "clEnqueueCopyBuffer");
    args.n = odd;
    args.wait = &gate;
    STATUS(hs_opencl_sort(sorter, disordered, &args, &error), HS_OK);
    must(clWaitForEvents(1, &event), "clWaitForEvents");
    EXPECT(sorted(from, 0, odd));
    clReleaseEvent(event);
    clReleaseEvent(gate);
    clReleaseCommandQueue(disordered);

    /* a queue of another context */
    foreign = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(code, "clCreateContext");
    foreign_queue = clCreateCommandQueue(foreign, device, 0, &code);
    must(code, "clCreateCommandQueue");
    args = arguments(odd, from, NULL);
    args.event = &event;
    STATUS(hs_opencl_sort(sorter, foreign_queue, &args, &error), HS_ERROR_API);
    EXPECT(error.code == CL_INVALID_CONTEXT && event == NULL);
    clReleaseCommandQueue(foreign_queue);
    clReleaseContext(foreign);

    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(small);
}

static void sub_buffers(hs_opencl *sorter)
{
    cl_mem whole = buffer(ROOM);
    cl_mem left = part(whole, 0, 2048), right = part(whole, 2048, 2048), middle = part(whole, 1024, 2048);
    cl_mem same = part(whole, 0, 2048);
    fill(whole);
    STATUS(sort(sorter, 2048, left, middle), HS_ERROR_OVERLAP);
    STATUS(sort(sorter, 2048, middle, left), HS_ERROR_OVERLAP);
    STATUS(sort(sorter, 2048, left, same), HS_ERROR_OVERLAP);
    STATUS(sort(sorter, 2048, whole, middle), HS_ERROR_OVERLAP);
    STATUS(sort(sorter, 2049, left, NULL), HS_ERROR_COUNT);
    EXPECT(sorted(whole, 0, 0));
    STATUS(sort(sorter, 2048, right, NULL), HS_OK);
    EXPECT(sorted(whole, 2048, 2048));
    fill(whole);
    STATUS(sort(sorter, 1000, left, middle), HS_OK); /* so many keys do not overlap */
    STATUS(sort(sorter, 1000, middle, left), HS_OK);
    STATUS(sort(sorter, 2048, left, right), HS_OK);
    clReleaseMemObject(left);
    clReleaseMemObject(right);
    clReleaseMemObject(middle);
    clReleaseMemObject(same);
    clReleaseMemObject(whole);
}

/* A sort by way of scratch, which reverses: it sorts what `fill` writes. */
static void scratch(const hs_sort *plain)
{
    static const char *const text[] = {
        "__kernel void there(__global const uint *from, __global uint *to, int n, int argument)\n",
        "{ int i = (int)get_global_id(0); if (i < n) to[i] = from[argument - i]; }\n",
        "__kernel void back(__global const uint *from, __global uint *to, int n, int argument)\n",
        "{ int i = (int)get_global_id(0); if (i < n) to[i] = from[i]; }\n"};
    static const hs_kernel kernels[] = {{"there", 64, 1, 0, 2, 0, 0}, {"back", 64, 1, 0, 2, 0, 0}};
    static const hs_step steps[] = {
        {0, 999, HS_ANYWHERE, {{HS_SOURCE, 0, 0}, {HS_SCRATCH, 1024, 0}}, 0, 1000, 63, 64, 1, 100},
        {1, 0, HS_ANYWHERE, {{HS_SCRATCH, 1024, 0}, {HS_DESTINATION, 0, 0}}, 0, 1000, 63, 64, 1, 100}};
    hs_sort crafted = *plain;
    hs_opencl *sorter = NULL;
    cl_mem memory = buffer(ROOM), enough = buffer(256 + 1000), little = buffer(256 + 999);
    hs_opencl_args args = arguments(1000, memory, NULL);
    uint64_t bytes = 0;
    crafted.kernel_count = 2;
    crafted.step_count = 2;
    crafted.kernels = kernels;
    crafted.steps = steps;
    crafted.max_n = 1000;
    crafted.scratch.plus = 1024;
    crafted.scratch.per_n = 4;
    crafted.opencl = text;
    crafted.opencl_lines = 4;
    STATUS(hs_scratch(&crafted, 1000, &bytes), HS_OK);
    EXPECT(bytes == 1024 + 4000);
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    fill(memory);
    STATUS(hs_opencl_sort(sorter, queue, &args, &error), HS_ERROR_SCRATCH);
    args.scratch = little;
    STATUS(hs_opencl_sort(sorter, queue, &args, &error), HS_ERROR_SCRATCH);
    EXPECT(sorted(memory, 0, 0));
    args.scratch = enough;
    STATUS(hs_opencl_sort(sorter, queue, &args, &error), HS_OK);
    EXPECT(sorted(memory, 0, 1000));
    hs_opencl_release(sorter);

    /* a plan whose grid is larger than the target's limit */
    crafted.max_groups = 2;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    EXPECT(hs_opencl_sort(sorter, queue, &args, &error) != HS_OK);
    hs_opencl_release(sorter);
    must(clFinish(queue), "clFinish");
    clReleaseMemObject(memory);
    clReleaseMemObject(enough);
    clReleaseMemObject(little);
}

/* Steps for one place only, a kernel for 64-bit counts, and the two kinds: a kernel that writes what it was told. */
static void places(const hs_sort *plain)
{
    static const char *const text[] = {
        "__kernel void narrow(__global uint *to, int n, int argument) { to[n + argument] = 1; }\n",
        "__kernel void broad(__global uint *to, long n, int argument) { to[(int)(n >> 32) + argument] = (uint)n; }\n"};
    static const hs_kernel kernels[] = {{"narrow", 1, 1, 0, 1, 0, 0}, {"broad", 1, 1, 0, 1, 0, 1}};
    static const hs_step steps[] = {
        {0, 0, HS_IN_PLACE, {{HS_DESTINATION, 0, 0}}, 0, 1000, 0, 1, 1, 1},
        {0, 1, HS_OUT_OF_PLACE, {{HS_DESTINATION, 0, 0}}, 0, 1000, 0, 1, 1, 1},
        {1, 2, HS_ANYWHERE, {{HS_DESTINATION, 0, 0}}, 0, 1000, 0, 1, 1, 1}};
    uint32_t said[20], i;
    cl_mem from = buffer(ROOM), to = buffer(ROOM);
    hs_sort crafted = *plain;
    hs_opencl *sorter = NULL;
    hs_opencl_args args = arguments(10, from, NULL);
    crafted.kernel_count = 2;
    crafted.step_count = 3;
    crafted.kernels = kernels;
    crafted.steps = steps;
    crafted.opencl = text;
    crafted.opencl_lines = 2;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    STATUS(hs_opencl_scan(sorter, queue, &args, &error), HS_ERROR_KERNELS);
    for (i = 0; i < 3; i++) {
        fill(from);
        fill(to);
        if (i == 1) args.destination = from; /* by its name twice */
        if (i == 2) args.destination = to;
        STATUS(hs_opencl_sort(sorter, queue, &args, &error), HS_OK);
        must(clEnqueueReadBuffer(queue, i == 2 ? to : from, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "read");
        EXPECT(said[10] == (i == 2 ? MARK - 10u : 1) && said[11] == (i == 2 ? 1 : MARK - 11u) && said[2] == 10);
    }
    hs_opencl_release(sorter);

    crafted.kind = HS_SCAN;
    crafted.columns = 3;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    STATUS(hs_opencl_sort(sorter, queue, &args, &error), HS_ERROR_KERNELS);
    STATUS(hs_opencl_scan(sorter, queue, &args, &error), HS_OK);
    args.n = 1000;
    args.source = part(from, 0, 2999);
    STATUS(hs_opencl_scan(sorter, queue, &args, &error), HS_ERROR_COUNT);
    clReleaseMemObject(args.source);
    args.source = NULL;
    args.n = 0;
    STATUS(hs_opencl_scan(sorter, queue, &args, &error), HS_OK);
    STATUS(hs_opencl_sort(sorter, queue, &args, &error), HS_ERROR_KERNELS);
    must(clFinish(queue), "clFinish");
    hs_opencl_release(sorter);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
}

/* The host hands a kernel for 64-bit counts the whole count. */
static void wide(const hs_sort *plain)
{
    static const char *const text[] = {
        "__kernel void broad(__global uint *to, long n, int argument)\n",
        "{ to[0] = (uint)n; to[1] = (uint)(n >> 32); to[2] = (uint)argument; }\n"};
    static const hs_kernel kernels[] = {{"broad", 1, 1, 0, 1, 0, 1}};
    static const hs_step steps[] = {{0, -5, HS_ANYWHERE, {{HS_SCRATCH, 0, 0}}, 0, UINT64_MAX, 0, 1, 1, 1}};
    const uint64_t n = ((uint64_t)3 << 32) + 7;
    uint32_t said[3] = {0, 0, 0};
    cl_mem from = buffer(ROOM), scratch = buffer(ROOM);
    hs_sort crafted = *plain;
    hs_opencl *sorter = NULL;
    hs_opencl_args args = arguments(n, from, NULL);
    crafted.kernel_count = crafted.step_count = 1;
    crafted.kernels = kernels;
    crafted.steps = steps;
    crafted.opencl = text;
    crafted.opencl_lines = 2;
    crafted.max_n = UINT64_MAX / 8;
    crafted.scratch.plus = sizeof said;
    crafted.key_bytes = 0; /* so that such counts fit a buffer */
    args.scratch = scratch;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    STATUS(hs_opencl_sort(sorter, queue, &args, &error), HS_OK);
    must(clEnqueueReadBuffer(queue, scratch, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "clEnqueueReadBuffer");
    EXPECT(said[0] == 7 && said[1] == 3 && said[2] == (uint32_t)-5);
    hs_opencl_release(sorter);
    clReleaseMemObject(from);
    clReleaseMemObject(scratch);
}

int main(void)
{
    const hs_sort *plain = hs_targets[0]->sorts[0];
    hs_opencl *sorter = NULL;
    cl_platform_id platform;
    cl_int code;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(code, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &code);
    must(code, "clCreateCommandQueue");

    without_a_device(plain);
    creating(plain);
    STATUS(hs_opencl_create(plain, context, device, &sorter, &error), HS_OK);
    sorting(plain, sorter);
    sub_buffers(sorter);
    scratch(plain);
    places(plain);
    wide(plain);
    must(clFinish(queue), "clFinish");
    hs_opencl_release(sorter);

    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("%d statuses and results asked for, %d wrong\n", asked, wrong);
    return wrong ? 1 : 0;
}
