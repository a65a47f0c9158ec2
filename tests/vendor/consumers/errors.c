/* Every detectable misuse of the C API returns its status, and the closest correct call works.  Runs on the first
 * OpenCL device with the first sort of its bundle. */
#include "any_opencl.h"
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

/* Write descending keys to all of a buffer of ROOM keys. */
static void fill(cl_mem memory)
{
    uint32_t keys[ROOM], i;
    for (i = 0; i < ROOM; i++) keys[i] = MARK - i;
    must(clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof keys, keys, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

static const hs_scratch_rule hundred[] = {{0, UINT64_MAX, 100, 0, 1, 0, 0}};

/* Whether `count` keys from `first` on are sorted, and all other keys are those of `fill`. */
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

static any_args arguments(uint64_t n, cl_mem source, cl_mem destination)
{
    any_args args;
    memset(&args, 0, sizeof args);
    args.n = n;
    args.source = source;
    args.destination = destination;
    return args;
}

static hs_status sort(hs_opencl *sorter, uint64_t n, cl_mem source, cl_mem destination)
{
    const any_args args = arguments(n, source, destination);
    return any_sort(sorter, queue, &args, &error);
}

/* The rules of scratch and of the status in it. */
static void rules(const hs_sort *plain)
{
    static const hs_scratch_rule rule = {100, UINT64_MAX, 4096, 4, 64, 1024, 3};
    static const hs_device_status_rule outcome = {{HS_SCRATCH, 1, 0, 0}, 4, 1000};
    const uint32_t words[] = {0, 1, 0, 0xffffffffu};
    hs_sort crafted = *plain;
    uint64_t at = 1, bytes = 1;
    uint32_t redone = 1;
    STATUS(hs_device_status_at(plain, plain->max_n, &at, &bytes), HS_OK);
    EXPECT(at == 0 && bytes == 0);
    STATUS(hs_device_status(plain, NULL, 0, &redone), HS_OK);
    EXPECT(redone == 0);
    crafted.scratch = &rule;
    crafted.scratch_rule_count = 1;
    crafted.device_status = outcome;
    STATUS(hs_scratch(&crafted, 100, &bytes), HS_OK);
    EXPECT(bytes == 0);
    STATUS(hs_scratch(&crafted, 101, &bytes), HS_OK);
    EXPECT(bytes == 4096 + 404 + 2048);
    STATUS(hs_scratch(&crafted, 128, &bytes), HS_OK);
    EXPECT(bytes == 4096 + 512 + 2048);
    STATUS(hs_scratch(&crafted, 1000000, &bytes), HS_OK);
    EXPECT(bytes == 4096 + 4000000 + 3072);
    STATUS(hs_device_status_at(NULL, 1, &at, &bytes), HS_ERROR_ARGUMENT);
    STATUS(hs_device_status_at(&crafted, 1, NULL, &bytes), HS_ERROR_ARGUMENT);
    STATUS(hs_device_status_at(&crafted, 1, &at, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_device_status_at(&crafted, plain->max_n + 1, &at, &bytes), HS_ERROR_COUNT);
    STATUS(hs_device_status_at(&crafted, 1000, &at, &bytes), HS_OK);
    EXPECT(at == 0 && bytes == 0);
    STATUS(hs_device_status_at(&crafted, 1001, &at, &bytes), HS_OK);
    EXPECT(at == 1024 && bytes == sizeof words);
    STATUS(hs_device_status(NULL, words, bytes, &redone), HS_ERROR_ARGUMENT);
    STATUS(hs_device_status(&crafted, NULL, bytes, &redone), HS_ERROR_ARGUMENT);
    STATUS(hs_device_status(&crafted, words, bytes, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_device_status(&crafted, words, bytes - 4, &redone), HS_ERROR_SCRATCH);
    STATUS(hs_device_status(&crafted, words, 0, &redone), HS_OK);
    EXPECT(redone == 0);
    STATUS(hs_device_status(&crafted, words, bytes, &redone), HS_OK);
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
    EXPECT(hs_find(&several, "scan", plain->key, NULL) == &scan);
    EXPECT(hs_find(&several, "other", plain->key, NULL) == &other);
    EXPECT(hs_find(&several, plain->algorithm, plain->key, NULL) == plain && !hs_find(&several, "other", "u7", NULL));
    EXPECT(!hs_find(&several, "none", plain->key, NULL) && !hs_find(NULL, "other", plain->key, NULL));
    EXPECT(!hs_find(&several, NULL, plain->key, NULL) && !hs_find(&several, "other", NULL, NULL));
    for (i = 0; i < 5; i++) {
        const hs_sort *const found = hs_candidate(two, 2, plain->key, NULL, &facts, i);
        EXPECT(found == (i == 0 || i == 2 ? plain : i == 1 ? &other : NULL));
    }
}

/* Types and values by name: a constant of a sort with key transform is for one type of its width. */
static void serving(const hs_sort *plain)
{
    hs_sort one = *plain;
    EXPECT(hs_serves(plain, "u32", NULL) && hs_serves(plain, "u32", "none") && !hs_serves(plain, "u32", "v4"));
    EXPECT(!hs_serves(plain, "i32", NULL) && !hs_serves(NULL, "u32", NULL) && !hs_serves(plain, NULL, NULL));
    one.key_transform = 1;
    one.value = "v4";
    EXPECT(!hs_serves(&one, "i32", "v4") && !hs_serves(&one, "f32", "v4") && hs_serves(&one, "u32", "v4"));
    EXPECT(hs_serves(&one, "u32", "4") && hs_serves(&one, "u32", "f32") && hs_serves(&one, "u32", "i32"));
    EXPECT(!hs_serves(&one, "u32", "8") && !hs_serves(&one, "u32", "u64") && !hs_serves(&one, "u32", "index"));
    one.key = "f32";
    EXPECT(!hs_serves(&one, "f32", NULL) && hs_serves(&one, "f32", "v4") && !hs_serves(&one, "u32", "v4"));
    EXPECT(!hs_serves(&one, "f64", "v4") && !hs_serves(&one, "x32", "v4") && !hs_serves(&one, "i32", "v4"));
    one.key = "f16";
    EXPECT(hs_serves(&one, "f16", "v4") && hs_serves(&one, "bf16", "v4") && !hs_serves(&one, "bf32", "v4"));
    EXPECT(!hs_serves(plain, "bf16", NULL) && HS_BF16 == HS_F16 && HS_AS_MATCHED == 0 && HS_UNSIGNED != 0);
    one.key = "u8";
    EXPECT(!hs_serves(&one, "i8", "v4") && !hs_serves(&one, "f8", "v4") && !hs_serves(&one, "", "v4"));
    EXPECT(hs_serves(&one, "bool", "v4") && !hs_serves(plain, "bool", NULL));
    one.kind = HS_GROUP_BY;
    one.value_type = HS_I32;
    EXPECT(hs_serves_kind(&one, HS_GROUP_BY, "u8", "i32") && !hs_serves_kind(&one, HS_GROUP_BY, "u8", "v4"));
    EXPECT(!hs_serves_kind(&one, HS_GROUP_BY, "u8", "f32") && !hs_serves_kind(&one, HS_GROUP_BY, "u8", "u32"));
    one.value_type = HS_U32;
    EXPECT(hs_serves_kind(&one, HS_GROUP_BY, "u8", "u32") && hs_serves_kind(&one, HS_GROUP_BY, "u8", "v4"));
    EXPECT(hs_serves_kind(&one, HS_GROUP_BY, "u8", "4") && !hs_serves_kind(&one, HS_GROUP_BY, "u8", "i32"));
    one.value_type = HS_AS_MATCHED;
    one.kind = HS_SCAN;
    EXPECT(!hs_serves(&one, "u8", "v4"));
    EXPECT(hs_serves_kind(&one, HS_SCAN, "i8", "v4") && !hs_serves_kind(&one, HS_SCAN, "f8", "v4"));
    one.key = "f32";
    EXPECT(hs_serves_kind(&one, HS_SCAN, "f32", "v4") && !hs_serves_kind(&one, HS_SCAN, "u32", "v4"));
}

/* The types of elements that scans sum up. */
static void summing(const hs_sort *plain)
{
    static const struct {
        const char *key;
        hs_options options;
        const char *missing;
    } rows[] = {
        {"u32", {HS_UNSIGNED, 0, 0, 0, 0}, NULL},
        {"u32", {HS_I32, 0, 0, 0, 0}, NULL},
        {"u32", {HS_F32, 0, 0, 0, 0}, "of floats, or of integers"},
        {"u32", {HS_U64, 0, 0, 0, 0}, "another width"},
        {"u32", {HS_UNSIGNED, 1, 0, 0, 0}, "no order"},
        {"u32", {HS_UNSIGNED, 0, 0, 8, 0}, "--feature bit-range"},
        {"u32", {HS_AS_MATCHED, 0, 0, 0, 0}, NULL},
        {"f32", {HS_AS_MATCHED, 0, 0, 0, 0}, NULL},
        {"f32", {HS_UNSIGNED, 0, 0, 0, 0}, "of floats, or of integers"},
        {"f32", {HS_F32, 0, 0, 0, 0}, NULL},
        {"f32", {HS_I32, 0, 0, 0, 0}, "of floats, or of integers"},
    };
    hs_sort crafted = *plain;
    size_t i;
    crafted.kind = HS_SCAN;
    crafted.key_bits = 32;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text;
        crafted.key = rows[i].key;
        text = hs_missing_option(&crafted, &rows[i].options, 0);
        EXPECT(rows[i].missing ? text && strstr(text, rows[i].missing) : !text);
    }
}

/* What hs_missing_option says holds a text, or is null. */
static void missing(const hs_sort *sort, const hs_options *options, uint32_t roles, const char *text, int line)
{
    const char *const found = hs_missing_option(sort, options, roles);
    asked++;
    if (text ? found && strstr(found, text) : !found) return;
    wrong++;
    fprintf(stderr, "line %d: %s is missing, not %s\n", line, found ? found : "nothing", text ? text : "nothing");
}

/* The options that a sort takes, by the scratch that it needs. */
static void options(const hs_sort *plain)
{
    static const struct {
        hs_options options;
        uint32_t bits, key_transform, bit_range, index;
        hs_status status;
        const char *missing; /* a part of what hs_missing_option says */
    } rows[] = {
        {{HS_UNSIGNED, 0, 0, 0, 0}, 32, 0, 0, 0, HS_OK, NULL},
        {{HS_U32, 0, 0, 32, 0}, 32, 0, 0, 0, HS_OK, NULL},
        {{HS_U64, 0, 0, 0, 0}, 32, 1, 1, 0, HS_ERROR_OPTION, "another width"}, /* of another width */
        {{HS_F16, 0, 0, 0, 0}, 32, 1, 1, 0, HS_ERROR_OPTION, "another width"},
        {{(hs_type)0x43, 0, 0, 0, 0}, 32, 1, 1, 0, HS_ERROR_OPTION, "no such type"}, /* no type */
        {{(hs_type)0x12, 0, 0, 0, 0}, 8, 1, 1, 0, HS_ERROR_OPTION, "no such type"},  /* no float of 8 bits */
        {{HS_I8, 1, 0, 0, 0}, 8, 1, 0, 0, HS_OK, NULL},
        {{HS_BOOL, 0, 0, 0, 0}, 8, 0, 0, 0, HS_OK, NULL},
        {{HS_I32, 0, 0, 0, 0}, 32, 0, 1, 1, HS_ERROR_OPTION, "--key"}, /* no key transform */
        {{HS_F32, 0, 0, 0, 0}, 32, 1, 0, 0, HS_OK, NULL},
        {{HS_UNSIGNED, 1, 0, 0, 0}, 32, 0, 1, 1, HS_ERROR_OPTION, "--order both"},
        {{HS_UNSIGNED, 1, 0, 0, 0}, 32, 1, 0, 0, HS_OK, NULL},
        {{HS_UNSIGNED, 0, 1, 0, 0}, 32, 1, 0, 1, HS_ERROR_OPTION, "--feature bit-range"}, /* no bit range */
        {{HS_UNSIGNED, 0, 0, 31, 0}, 32, 1, 0, 1, HS_ERROR_OPTION, "--feature bit-range"},
        {{HS_UNSIGNED, 0, 3, 3, 0}, 32, 0, 1, 0, HS_OK, NULL}, /* an empty range: nothing moves */
        {{HS_UNSIGNED, 0, 32, 0, 0}, 32, 0, 1, 0, HS_OK, NULL},
        {{HS_UNSIGNED, 0, 4, 3, 0}, 32, 0, 1, 0, HS_ERROR_RANGE, NULL},
        {{HS_UNSIGNED, 0, 33, 0, 0}, 32, 0, 1, 0, HS_ERROR_RANGE, NULL},
        {{HS_UNSIGNED, 0, 0, 33, 0}, 32, 0, 0, 0, HS_ERROR_RANGE, NULL},
        {{HS_UNSIGNED, 0, 0, 0, 1}, 32, 1, 1, 0, HS_ERROR_OPTION, "--value index"}, /* generates no indices */
        {{HS_UNSIGNED, 0, 0, 0, 1}, 32, 0, 0, 1, HS_OK, NULL},
    };
    hs_sort crafted = *plain;
    uint64_t bytes, more;
    size_t i;
    crafted.scratch = hundred;
    crafted.scratch_rule_count = 1;
    STATUS(hs_scratch_with(NULL, 1, NULL, &bytes), HS_ERROR_ARGUMENT);
    STATUS(hs_scratch_with(plain, 1, NULL, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_scratch_with(plain, plain->max_n + 1, NULL, &bytes), HS_ERROR_COUNT);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        crafted.key_bits = rows[i].bits;
        crafted.key_transform = rows[i].key_transform;
        crafted.bit_range = rows[i].bit_range;
        crafted.index = rows[i].index;
        STATUS(hs_scratch(&crafted, 1000, &bytes), HS_OK);
        is(hs_scratch_with(&crafted, 1000, &rows[i].options, &more), rows[i].status, __LINE__, "options");
        if (rows[i].status == HS_OK) EXPECT(more == (rows[i].options.discard_keys ? 1024 + 4000 : bytes));
        if (rows[i].status != HS_ERROR_RANGE)
            missing(&crafted, &rows[i].options, rows[i].index ? 1u << HS_VALUES_OUT : 0, rows[i].missing, __LINE__ + (int)i);
    }
    crafted.index = 0;
    missing(NULL, &rows[2].options, 0, NULL, __LINE__);
    missing(&crafted, NULL, 1u << HS_SOURCE | 1u << HS_DESTINATION | 1u << HS_SCRATCH, NULL, __LINE__);
    missing(&crafted, NULL, 1u << HS_COUNT, "--feature device-count", __LINE__);
    missing(&crafted, NULL, 1u << HS_VALUES, "values: the sort was generated without", __LINE__);
    missing(&crafted, NULL, 1u << HS_VALUES_OUT, "values_destination: the sort was generated without", __LINE__);
    missing(&crafted, NULL, 1u << HS_OTHER_INPUT, "one array", __LINE__);
    missing(&crafted, NULL, 1u << HS_REPORT, "--feature run-boundaries", __LINE__);
    crafted.index = 1;
    missing(&crafted, NULL, 0, "values_destination: there is no buffer", __LINE__);
    crafted.index = 0;
    crafted.value_bytes = crafted.device_count = 4;
    missing(&crafted, NULL, 1u << HS_COUNT, "not given", __LINE__);
    missing(&crafted, NULL, 1u << HS_COUNT | 1u << HS_VALUES, NULL, __LINE__);
    crafted.kind = HS_MERGE;
    missing(&crafted, NULL, 1u << HS_VALUES | 1u << HS_VALUES_OUT, "not given", __LINE__);
    missing(&crafted, NULL, 1u << HS_VALUES | 1u << HS_OTHER_VALUES, "no buffer for the result", __LINE__);
    crafted.index = 1;
    missing(&crafted, &rows[sizeof rows / sizeof rows[0] - 1].options, 0, "only sorts discard keys", __LINE__);
}

/* Functions that need no device. */
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
    EXPECT(strcmp(info.value, "none") == 0 && info.key_bits == 32 && info.first_bit == 0 && info.index == 0);
    EXPECT(!info.key_transform && !info.bit_range && !info.device_count && info.value_bytes == 0);
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
    STATUS(hs_scratch_with(plain, plain->max_n, NULL, &a), HS_OK);
    EXPECT(a == 0);
    rules(plain);
    finding(plain);
    serving(plain);
    summing(plain);
    options(plain);
    memset(&facts, 0, sizeof facts);
    EXPECT(hs_suits(NULL, &facts) == 0 && hs_suits(hs_targets[0], NULL) == 0 && hs_suits(hs_targets[0], &facts) == 1);
    EXPECT(hs_candidate(NULL, 1, "u32", NULL, &facts, 0) == NULL);
    EXPECT(hs_candidate(hs_targets, 1, NULL, NULL, &facts, 0) == NULL);
    EXPECT(hs_candidate(hs_targets, 1, "u32", NULL, NULL, 0) == NULL);
    EXPECT(hs_candidate(hs_targets, 1, "f16", NULL, &facts, 0) == NULL);
    EXPECT(hs_candidate(hs_targets, 1, "u32", NULL, &facts, 0) == plain);
    EXPECT(!hs_candidate(hs_targets, 1, "u32", NULL, &facts, 1));
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
    kernels[0].subgroup = 7; /* on no device */
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

    STATUS(hs_opencl_match(NULL, 1, "u32", NULL, device, &found), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_match(hs_targets, hs_targets_count, NULL, NULL, device, &found), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_match(hs_targets, hs_targets_count, "u32", NULL, NULL, &found), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_match(hs_targets, hs_targets_count, "u32", NULL, device, NULL), HS_ERROR_ARGUMENT);
    STATUS(hs_opencl_match(hs_targets, 0, "u32", NULL, device, &found), HS_OK);
    EXPECT(found == NULL);
    STATUS(hs_opencl_match(hs_targets, hs_targets_count, "u32", NULL, device, &found), HS_OK);
    EXPECT(found == plain);
}

static void sorting(const hs_sort *plain, hs_opencl *sorter)
{
    const uint32_t most = ROOM, odd = 4711;
    cl_mem from = buffer(ROOM), to = buffer(ROOM), small = buffer(1000);
    any_args args = arguments(odd, from, NULL);
    cl_event event = NULL, gate;
    cl_command_queue disordered, foreign_queue;
    cl_context foreign;
    cl_int code;

    EXPECT(hs_opencl_sort_of(sorter) == plain);
    fill(from);
    STATUS(any_sort(NULL, queue, &args, &error), HS_ERROR_ARGUMENT);
    STATUS(any_sort(sorter, NULL, &args, &error), HS_ERROR_ARGUMENT);
    STATUS(any_sort(sorter, queue, NULL, &error), HS_ERROR_ARGUMENT);
    STATUS(sort(sorter, odd, NULL, NULL), HS_ERROR_ARGUMENT);
    args.wait_count = 1;
    STATUS(any_sort(sorter, queue, &args, NULL), HS_ERROR_ARGUMENT);
    STATUS(sort(sorter, plain->max_n + 1, from, NULL), HS_ERROR_COUNT);
    STATUS(sort(sorter, UINT64_MAX, from, NULL), HS_ERROR_COUNT);
    STATUS(sort(sorter, ROOM + 1, from, NULL), HS_ERROR_COUNT);
    STATUS(sort(sorter, 1001, from, small), HS_ERROR_COUNT);
    STATUS(sort(sorter, 1001, small, from), HS_ERROR_COUNT);
    EXPECT(sorted(from, 0, 0)); /* nothing has been changed */

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

    /* n = 0 still returns an event, which waits for the given events */
    gate = clCreateUserEvent(context, &code);
    must(code, "clCreateUserEvent");
    args = arguments(0, from, NULL);
    args.wait_count = 1;
    args.wait = &gate;
    args.event = &event;
    STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
    EXPECT(event != NULL);
    must(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
    if (event) must(clWaitForEvents(1, &event), "clWaitForEvents");
    if (event) clReleaseEvent(event);
    clReleaseEvent(gate);

    /* an out-of-order queue, and a wait for keys that are still being written */
    disordered = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    must(code, "clCreateCommandQueue");
    fill(to);
    gate = NULL;
    code = clEnqueueCopyBuffer(disordered, to, from, 0, 0, ROOM * sizeof(uint32_t), 0, NULL, &gate);
    must(code, "clEnqueueCopyBuffer");
    args.n = odd;
    args.wait = &gate;
    STATUS(any_sort(sorter, disordered, &args, &error), HS_OK);
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
    STATUS(any_sort(sorter, foreign_queue, &args, &error), HS_ERROR_API);
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
    STATUS(sort(sorter, 1000, left, middle), HS_OK); /* this count does not overlap */
    STATUS(sort(sorter, 1000, middle, left), HS_OK);
    STATUS(sort(sorter, 2048, left, right), HS_OK);
    clReleaseMemObject(left);
    clReleaseMemObject(right);
    clReleaseMemObject(middle);
    clReleaseMemObject(same);
    clReleaseMemObject(whole);
}

/* A sort through scratch, which reverses: it sorts the keys of `fill`. */
static void scratch(const hs_sort *plain)
{
    static const char *const text[] = {
        "__kernel void there(__global const uint *from, __global uint *to, int n, int argument)\n",
        "{ int i = (int)get_global_id(0); if (i < n) to[i] = from[argument - i]; }\n",
        "__kernel void back(__global const uint *from, __global uint *to, int n, int argument)\n",
        "{ int i = (int)get_global_id(0); if (i < n) to[i] = from[i]; }\n"};
    static const hs_kernel kernels[] = {{"there", 64, 1, 0, 2, 0, 0, 0}, {"back", 64, 1, 0, 2, 0, 0, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 100}, {HS_LITERAL, 999, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_SCRATCH, 1024, 0, 0}}},
        {1, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 100}, {HS_LITERAL, 0, 0, 0},
         {{HS_SCRATCH, 1024, 0, 0}, {HS_DESTINATION, 0, 0, 0}}}};
    /* up to 500 keys 8 bytes a key; then less; the second rule gives 9 units at most */
    static const hs_scratch_rule rules[] = {
        {10, 500, 0, 8, 1, 0, 0}, {100, 500, 4000, 0, 10, 1, 9}, {500, UINT64_MAX, 1024, 4, 1, 0, 0}};
    hs_sort crafted = *plain;
    hs_opencl *sorter = NULL;
    cl_mem memory = buffer(ROOM), enough = buffer(256 + 1000), little = buffer(256 + 999);
    any_args args = arguments(1000, memory, NULL);
    uint64_t bytes = 0;
    crafted.kernel_count = 2;
    crafted.step_count = 2;
    crafted.kernels = kernels;
    crafted.steps = steps;
    crafted.max_n = 1000;
    crafted.scratch = rules;
    crafted.scratch_rule_count = 3;
    crafted.opencl = text;
    crafted.opencl_lines = 4;
    STATUS(hs_scratch(&crafted, 10, &bytes), HS_OK);
    EXPECT(bytes == 0);
    STATUS(hs_scratch(&crafted, 600, &bytes), HS_OK);
    EXPECT(bytes == 4000 + 9); /* not less than for 500, by an earlier rule */
    STATUS(hs_scratch(&crafted, 1000, &bytes), HS_OK);
    EXPECT(bytes == 1024 + 4000);
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    fill(memory);
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_SCRATCH);
    args.scratch = little;
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_SCRATCH);
    EXPECT(sorted(memory, 0, 0));
    args.scratch = enough;
    STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
    EXPECT(sorted(memory, 0, 1000));
    hs_opencl_release(sorter);

    /* a plan whose grid is larger than the target's limit */
    crafted.max_groups = 2;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    EXPECT(any_sort(sorter, queue, &args, &error) != HS_OK);
    hs_opencl_release(sorter);
    must(clFinish(queue), "clFinish");
    clReleaseMemObject(memory);
    clReleaseMemObject(enough);
    clReleaseMemObject(little);
}

/* Steps for in-place or out-of-place calls only, a kernel for 64-bit counts, and both kinds: a kernel that writes its
 * arguments. */
static void places(const hs_sort *plain)
{
    static const char *const text[] = {
        "__kernel void narrow(__global uint *to, int n, int argument) { to[n + argument] = 1; }\n",
        "__kernel void broad(__global uint *to, long n, int argument) { to[(int)(n >> 32) + argument] = (uint)n; }\n"};
    static const hs_kernel kernels[] = {{"narrow", 1, 1, 0, 1, 0, 0, 0}, {"broad", 1, 1, 0, 1, 0, 1, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000, HS_IN_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_LITERAL, 0, 0, 0},
         {{HS_DESTINATION, 0, 0, 0}}},
        {0, {0, 1000, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_LITERAL, 1, 0, 0},
         {{HS_DESTINATION, 0, 0, 0}}},
        {1, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_LITERAL, 2, 0, 0},
         {{HS_DESTINATION, 0, 0, 0}}}};
    uint32_t said[20], i;
    cl_mem from = buffer(ROOM), to = buffer(ROOM);
    hs_sort crafted = *plain;
    hs_opencl *sorter = NULL;
    any_args args = arguments(10, from, NULL);
    crafted.kernel_count = 2;
    crafted.step_count = 3;
    crafted.kernels = kernels;
    crafted.steps = steps;
    crafted.opencl = text;
    crafted.opencl_lines = 2;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    STATUS(any_scan(sorter, queue, &args, &error), HS_ERROR_KERNELS);
    for (i = 0; i < 3; i++) {
        fill(from);
        fill(to);
        if (i == 1) args.destination = from; /* twice by its name */
        if (i == 2) args.destination = to;
        STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
        must(clEnqueueReadBuffer(queue, i == 2 ? to : from, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "read");
        EXPECT(said[10] == (i == 2 ? MARK - 10u : 1) && said[11] == (i == 2 ? 1 : MARK - 11u) && said[2] == 10);
    }
    hs_opencl_release(sorter);

    crafted.kind = HS_SCAN;
    crafted.columns = 3;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_KERNELS);
    STATUS(any_scan(sorter, queue, &args, &error), HS_OK);
    args.n = 1000;
    args.source = part(from, 0, 2999);
    STATUS(any_scan(sorter, queue, &args, &error), HS_ERROR_COUNT);
    clReleaseMemObject(args.source);
    args.source = NULL;
    args.n = 0;
    STATUS(any_scan(sorter, queue, &args, &error), HS_OK);
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_KERNELS);
    must(clFinish(queue), "clFinish");
    hs_opencl_release(sorter);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
}

/* The host passes the whole count to a kernel for 64-bit counts. */
static void wide(const hs_sort *plain)
{
    static const char *const text[] = {
        "__kernel void broad(__global uint *to, long n, int argument)\n",
        "{ to[0] = (uint)n; to[1] = (uint)(n >> 32); to[2] = (uint)argument; }\n"};
    static const hs_kernel kernels[] = {{"broad", 1, 1, 0, 1, 0, 1, 0}};
    static const hs_step steps[] = {
        {0, {0, UINT64_MAX, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_LITERAL, 5, 0, 0},
         {{HS_SCRATCH, 0, 0, 0}}}};
    const uint64_t n = ((uint64_t)3 << 32) + 7;
    uint32_t said[3] = {0, 0, 0};
    const hs_scratch_rule rule = {0, UINT64_MAX, sizeof said, 0, 1, 0, 0};
    cl_mem from = buffer(ROOM), scratch = buffer(ROOM);
    hs_sort crafted = *plain;
    hs_opencl *sorter = NULL;
    any_args args = arguments(n, from, NULL);
    crafted.kernel_count = crafted.step_count = 1;
    crafted.kernels = kernels;
    crafted.steps = steps;
    crafted.opencl = text;
    crafted.opencl_lines = 2;
    crafted.max_n = UINT64_MAX / 8;
    crafted.scratch = &rule;
    crafted.scratch_rule_count = 1;
    crafted.key_bytes = 0; /* so that such counts fit a buffer */
    args.scratch = scratch;
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
    must(clEnqueueReadBuffer(queue, scratch, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "clEnqueueReadBuffer");
    EXPECT(said[0] == 7 && said[1] == 3 && said[2] == 5);
    hs_opencl_release(sorter);
    clReleaseMemObject(from);
    clReleaseMemObject(scratch);
}

/* The arguments of a kernel of a sort with all options: in `to` and `out`. */
static char counted_flag[40];
static const char *const recording[] = {
    counted_flag,
    "__kernel void record(__global const uint *from, __global uint *to, __global const uint *with, __global uint *out,\n",
    "                   __global const uint *count, int n, int argument, int low, int high)\n",
    "{\n",
    "    to[0] = (uint)n; to[1] = (uint)argument; to[2] = (uint)low; to[3] = (uint)high;\n",
    "    to[4] = (argument & COUNTED) != 0 ? count[0] : 0; out[0] = with[1]; out[1] = from[5];\n",
    "}\n"};
static const hs_kernel recorder[] = {{"record", 1, 1, 0, 5, 0, 0, 0}};
static const hs_step recorded[] = {{0, {5, UINT64_MAX, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_PASS, 2, 8, HS_DIRECT},
                                {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}, {HS_VALUES, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0}, {HS_COUNT, 0, 0, 0}}}};

static hs_sort valued(const hs_sort *plain)
{
    hs_sort crafted = *plain;
    sprintf(counted_flag, "#define COUNTED %d\n", HS_DEVICE_COUNT);
    crafted.value = "v4";
    crafted.value_bytes = 4;
    crafted.key_transform = crafted.bit_range = crafted.device_count = 1;
    crafted.kernel_count = crafted.step_count = 1;
    crafted.kernels = recorder;
    crafted.steps = recorded;
    crafted.opencl = recording;
    crafted.opencl_lines = sizeof recording / sizeof recording[0];
    return crafted;
}

/* Keys with values, key transform, bit range and count: the kernel's arguments, and every refused call. */
static void everything(const hs_sort *plain)
{
    const hs_sort crafted = valued(plain);
    cl_mem whole = buffer(ROOM), from = part(whole, 0, 1024), to = part(whole, 1024, 1024);
    cl_mem with = part(whole, 2048, 1024), out = part(whole, 3072, 1024), count = part(whole, 4096, 256);
    cl_mem short_one = part(whole, 5120, 100);
    hs_opencl *sorter = NULL;
    uint32_t trial, said[ROOM];
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        any_args args = arguments(1000, from, to);
        hs_status expected = HS_ERROR_OPTION;
        args.values = with;
        args.values_destination = out;
        args.options.type = HS_F32;
        args.options.descending = 1;
        args.options.begin_bit = 3;
        args.options.end_bit = 28;
        fill(whole);
        switch (trial) {
        case 0: /* 25 bits are digits of 7, 6, 6 and 6; of an even number of passes the third is not DIRECT */
        case 1:
            args.count = trial ? count : NULL;
            STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
            must(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "read");
            EXPECT(said[1024] == 1000 && said[1026] == 5 && said[1027] == 0x7fffffff);
            EXPECT(said[1025] == (2u | 16u << 8 | 6u << 16 | HS_SIGNED | HS_FLOAT | HS_DESCENDING |
                                  (trial ? (uint32_t)HS_DEVICE_COUNT : 0u)));
            EXPECT(said[1028] == (trial ? MARK - 4096u : 0) && said[3072] == MARK - 2049u && said[3073] == MARK - 5u);
            continue;
        case 2: /* in place; 24 bits take three passes, of which this is the last */
            args.destination = args.values_destination = NULL;
            args.options.end_bit = 27;
            STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
            must(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "read");
            EXPECT(said[1] == (2u | 19u << 8 | 8u << 16 | HS_SIGNED | HS_FLOAT | HS_DESCENDING));
            continue;
        case 3: /* the same, from one buffer to another: DIRECT to the destination */
            args.options.end_bit = 27;
            STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
            must(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "read");
            EXPECT(said[1025] == (2u | 19u << 8 | 8u << 16 | HS_DIRECT | HS_SIGNED | HS_FLOAT | HS_DESCENDING));
            continue;
        case 4: args.values = NULL; break;
        case 5: args.options.type = HS_F64; break;
        case 6: args.options.discard_keys = 1; break;
        case 7: args.n = 0; args.options.type = HS_F64; break; /* options are checked for every n */
        case 8: args.options.begin_bit = 29; expected = HS_ERROR_RANGE; break;
        case 9: args.destination = NULL; expected = HS_ERROR_ARGUMENT; break; /* keys in place, values out of place */
        case 10: args.values_destination = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 11: args.values = short_one; expected = HS_ERROR_COUNT; break;
        case 12: args.values_destination = short_one; expected = HS_ERROR_COUNT; break;
        case 13: args.count = count; args.n = 1 << 30; expected = HS_ERROR_COUNT; break;
        case 14: args.values_destination = from; expected = HS_ERROR_OVERLAP; break;
        case 15: args.values_destination = to; expected = HS_ERROR_OVERLAP; break;
        case 16: args.values_destination = whole; expected = HS_ERROR_OVERLAP; break;
        case 17: args.values = to; expected = HS_ERROR_OVERLAP; break;
        case 18: args.count = out; expected = HS_ERROR_OVERLAP; break;
        case 19: args.values = from; expected = HS_OK; break; /* read-only buffers may be the same */
        case 20: args.count = from; expected = HS_OK; break;
        case 21: /* but in place it is written */
            args.destination = args.values_destination = NULL;
            args.values = from;
            expected = HS_ERROR_OVERLAP;
            break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_sort(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "a call with everything");
        EXPECT(expected == HS_OK || sorted(whole, 0, 0));
    }
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(with);
    clReleaseMemObject(out);
    clReleaseMemObject(count);
    clReleaseMemObject(short_one);
    clReleaseMemObject(whole);
}

/* Indices: no values are read, and keys may be discarded: then scratch has room for them. */
static void indices(const hs_sort *plain)
{
    static const char *const text[] = {
        "__kernel void record(__global const uint *from, __global uint *to, __global uint *out, int n, int argument)\n",
        "{ to[0] = (uint)n; to[n - 1] = (uint)argument; out[0] = from[5]; }\n"};
    static const hs_kernel kernels[] = {{"record", 1, 1, 0, 3, 0, 0, 0}};
    static const hs_step steps[] = {{0, {0, 4000, HS_OUT_OF_PLACE, HS_ALL_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_LITERAL, 5, 0, 0},
                                     {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0}}}};
    cl_mem from = buffer(ROOM), out = buffer(ROOM), scratch = buffer(256 + 1000), little = buffer(256 + 999);
    hs_sort crafted = *plain;
    hs_opencl *sorter = NULL;
    any_args args = arguments(1000, from, NULL);
    uint32_t said[256 + 1000];
    uint64_t bytes = 0;
    crafted.value = "index";
    crafted.value_bytes = 4;
    crafted.index = 1;
    crafted.kernel_count = crafted.step_count = 1;
    crafted.kernels = kernels;
    crafted.steps = steps;
    crafted.opencl = text;
    crafted.opencl_lines = 2;
    crafted.scratch = hundred; /* which ends at 1024 bytes */
    crafted.scratch_rule_count = 1;
    args.options.discard_keys = 1;
    STATUS(hs_scratch_with(&crafted, 1000, &args.options, &bytes), HS_OK);
    EXPECT(bytes == 1024 + 4000);
    STATUS(hs_opencl_create(&crafted, context, device, &sorter, &error), HS_OK);
    fill(from);
    args.values_destination = out;
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_SCRATCH);
    args.scratch = little;
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_SCRATCH);
    args.scratch = scratch;
    STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
    must(clEnqueueReadBuffer(queue, scratch, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "read");
    EXPECT(said[256] == 1000 && said[256 + 999] == (5u | HS_DISCARD));
    must(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(uint32_t), said, 0, NULL, NULL), "read");
    EXPECT(said[0] == MARK - 5u && sorted(from, 0, 0)); /* the source is only read */
    args.destination = little;
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_ARGUMENT);
    args.destination = NULL;
    args.values = from;
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_OPTION);
    args.values = args.values_destination = NULL;
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_OPTION);
    args.values_destination = from;
    STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_OVERLAP); /* read-only */
    hs_opencl_release(sorter);
    clReleaseMemObject(from);
    clReleaseMemObject(out);
    clReleaseMemObject(scratch);
    clReleaseMemObject(little);
}

/* A plain sort takes none of these options. */
static void nothing_more(const hs_sort *sort, hs_opencl *sorter)
{
    static const char *const names[] = {"values:", "values_destination:", "count:", "type:", "descending:", "end_bit", "discard_keys:"};
    cl_mem from = buffer(ROOM), other = buffer(ROOM);
    any_args args = arguments(1000, from, NULL);
    int i;
    fill(from);
    for (i = 0; i < 7; i++) {
        args = arguments(1000, from, NULL);
        if (i == 0) args.values = other;
        if (i == 1) args.values_destination = other;
        if (i == 2) args.count = other;
        if (i == 3) args.options.type = HS_I32;
        if (i == 4) args.options.descending = 1;
        if (i == 5) args.options.end_bit = 16;
        if (i == 6) args.options.discard_keys = 1;
        STATUS(any_sort(sorter, queue, &args, &error), HS_ERROR_OPTION);
        missing(sort, &args.options, (args.values ? 1u << HS_VALUES : 0) | (args.count ? 1u << HS_COUNT : 0) |
                (args.values_destination ? 1u << HS_VALUES_OUT : 0), names[i], __LINE__ + i);
    }
    EXPECT(sorted(from, 0, 0));
    args = arguments(1000, from, NULL);
    args.options.type = HS_U32;
    args.options.end_bit = 32;
    STATUS(any_sort(sorter, queue, &args, &error), HS_OK);
    EXPECT(sorted(from, 0, 1000));
    clReleaseMemObject(from);
    clReleaseMemObject(other);
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
    everything(plain);
    indices(plain);
    nothing_more(plain, sorter);
    must(clFinish(queue), "clFinish");
    hs_opencl_release(sorter);

    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("%d statuses and results asked for, %d wrong\n", asked, wrong);
    return wrong ? 1 : 0;
}
