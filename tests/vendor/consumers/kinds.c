/* Segmented sorts, merges, digests and sorts with run boundaries, with synthetic kernels: the kernels' arguments, and
 * the status of every refused call.  Runs on the first OpenCL device. */
#include "any_opencl.h"
#include "hs/hs_plan.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 64, GAP = 256, MARK = 0x5a5a5a5a };

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

/* The buffers of a call are parts of one, so that each may overlap another. */
static cl_mem whole;
enum { SOURCE, OTHER, VALUES, OTHER_VALUES, DESTINATION, VALUES_OUT, REPORT, SCRATCH, PLACES };

static cl_mem part(size_t first, size_t words)
{
    const cl_buffer_region region = {first * sizeof(uint32_t), words * sizeof(uint32_t)};
    cl_int code;
    cl_mem made = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    must(code, "clCreateSubBuffer");
    return made;
}

/* Element i of all is MARK + i. */
static void fill(void)
{
    uint32_t words[PLACES * GAP], i;
    for (i = 0; i < PLACES * GAP; i++) words[i] = MARK + i;
    must(clEnqueueWriteBuffer(queue, whole, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

static uint32_t said[PLACES * GAP];
static void look(void)
{
    must(clEnqueueReadBuffer(queue, whole, CL_TRUE, 0, sizeof said, said, 0, NULL, NULL), "clEnqueueReadBuffer");
}
#define SAID(place, i) said[(place) * GAP + (i)]
#define FILLED(place, i) ((uint32_t)MARK + (uint32_t)(place) * GAP + (uint32_t)(i))

/* Whether nothing was written to these positions, given as bits. */
static int untouched(uint32_t places)
{
    uint32_t i;
    look();
    for (i = 0; i < PLACES * GAP; i++)
        if ((places >> i / GAP & 1) && said[i] != MARK + i) return 0;
    return 1;
}


/* Every entry point except that of the sort's own kind refuses it. */
static void only(hs_opencl *sorter, hs_kind kind, const any_args *args)
{
    int i;
    for (i = 0; i < (int)(sizeof any_entries / sizeof any_entries[0]); i++)
        if (i != (int)kind) STATUS(any_entries[i](sorter, queue, args, &error), HS_ERROR_KERNELS);
}

static hs_sort made_up(hs_kind kind, const hs_kernel *kernels, uint32_t kernel_count, const hs_step *steps,
                       uint32_t step_count, const char *const *text, size_t lines)
{
    static const hs_scratch_rule rule = {0, UINT64_MAX, 1024, 0, 1, 0, 0};
    hs_sort made = *hs_targets[0]->sorts[0];
    made.kind = kind;
    made.report_words = kind == HS_DIGEST ? 8 : 1; /* a sort reports run boundaries */
    made.report_words_per_key = kind == HS_SORT;
    made.kernels = kernels;
    made.kernel_count = kernel_count;
    made.steps = steps;
    made.step_count = step_count;
    made.max_n = 1000;
    made.scratch = &rule;
    made.scratch_rule_count = 1;
    made.opencl = text;
    made.opencl_lines = lines;
    return made;
}

/* `begin` stores the parts in scratch, where `record` finds them. */
#define BEGIN \
    "__kernel void begin(__global uint *words, int n, int argument) { words[0] = (uint)argument; words[1] = 0; }\n"
#define BEGINS {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_CALL_NUMBER, 0, 0, HS_DIRECT}, \
    {{HS_SCRATCH, 0, 0, 0}}}

static void segments(void)
{
    static char flag[40];
    static const char *const text[] = {BEGIN, flag,
        "__kernel void record(__global const uint *from, __global const uint *other, __global uint *words,\n"
        "                   __global uint *to, int n, int argument)\n"
        "{\n"
        "    to[get_group_id(0)] = from[get_group_id(0)];\n"
        "    if (get_group_id(0)) return;\n"
        "    to[n - 1] = (uint)argument;\n"
        "    to[n - 2] = words[0];\n"
        "    to[n - 3] = (uint)get_num_groups(0);\n"
        "    to[n - 4] = (argument & ROWS) != 0 ? 0 : other[words[0]];\n"
        "    if (words[0] == 5) words[1] = 1;\n"
        "}\n"};
    static const hs_kernel kernels[] = {{"begin", 1, 1, 0, 1, 0, 0, 0}, {"record", 1, 1, 0, 4, 0, 0, 0}};
    static const hs_step steps[] = {
        BEGINS,
        {1, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_NUMBER, 1, 2, 3, 40}, {HS_LITERAL, 3, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_OTHER_INPUT, 0, 0, 0}, {HS_SCRATCH, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}}}};
    const cl_mem from = part(0, GAP), to = part(DESTINATION * GAP, GAP), scratch = part(SCRATCH * GAP, GAP);
    const cl_mem other = part(OTHER * GAP, GAP), few = part(OTHER * GAP, 8), values = part(VALUES * GAP, GAP);
    hs_sort made = made_up(HS_SEGMENTED_SORT, kernels, 2, steps, 2, text, 3);
    hs_opencl *sorter = NULL;
    uint64_t at, bytes;
    uint32_t trial, redone = 0;
    sprintf(flag, "#define ROWS %d\n", HS_ROWS);
    made.device_status.words = 1;
    made.device_status.binding.role = HS_SCRATCH;
    made.device_status.binding.plus = 4; /* rounded up to the next part of scratch, so read by hand below */
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = KEYS;
        args.parts = 8;
        args.source = from;
        args.destination = to;
        args.scratch = scratch;
        args.other = other;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_SEGMENTED_SORT, &args); break;
        case 1: args.parts = 7; break; /* by the offsets */
        case 2: args.other = NULL; break;
        case 3: args.other = NULL; args.parts = KEYS; break;
        case 4: args.destination = NULL; break;
        case 5: args.parts = 0; break; /* the grid has no groups of it */
        case 6: args.n = 0; args.other = args.source = NULL; break;
        case 7: args.other = NULL; args.parts = 7; expected = HS_ERROR_PARTS; break;
        case 8: args.other = NULL; args.parts = 0; expected = HS_ERROR_PARTS; break;
        case 9: args.other = NULL; args.parts = KEYS + 1; expected = HS_ERROR_PARTS; break;
        case 10: args.parts = (uint64_t)1 << 31; expected = HS_ERROR_PARTS; break;
        case 11: args.other = few; expected = HS_ERROR_COUNT; break; /* one offset too few */
        case 12: args.other = to; expected = HS_ERROR_OVERLAP; break;
        case 13: args.other = from; break; /* both are only read */
        case 14: args.other = from; args.destination = NULL; expected = HS_ERROR_OVERLAP; break;
        case 15: args.source = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 16: args.scratch = NULL; expected = HS_ERROR_SCRATCH; break;
        case 17: args.values = values; expected = HS_ERROR_OPTION; break;
        case 18: args.n = 1001; expected = HS_ERROR_COUNT; break;
        case 19: args.count = values; expected = HS_ERROR_OPTION; break; /* of segments on the device */
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_segments(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "segments");
        look();
        if (expected || args.n == 0 || args.parts == 0) {
            EXPECT(untouched(~(uint32_t)(1 << SCRATCH)));
        } else {
            const int place = args.destination ? DESTINATION : SOURCE;
            const uint32_t parts = (uint32_t)args.parts, groups = (parts + 1) / 2 * 3;
            EXPECT(SAID(place, KEYS - 1) == (3u | (args.other ? 0u : (uint32_t)HS_ROWS)) && SAID(place, KEYS - 2) == parts);
            EXPECT(SAID(place, KEYS - 3) == (groups < 40 ? groups : 40) && SAID(place, 0) == FILLED(SOURCE, 0));
            EXPECT(SAID(place, KEYS - 4) == (args.other ? FILLED(args.other == from ? SOURCE : OTHER, parts) : 0));
        }
    }
    STATUS(hs_device_status_at(&made, KEYS, &at, &bytes), HS_OK);
    EXPECT(at == 1024 && bytes == sizeof(uint32_t));
    STATUS(hs_device_status(&made, &redone, sizeof redone, &redone), HS_OK);
    said[0] = 1;
    STATUS(hs_device_status(&made, said, sizeof said[0], &redone), HS_ERROR_SEGMENTS);
    EXPECT(redone == 1);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(scratch);
    clReleaseMemObject(other);
    clReleaseMemObject(few);
    clReleaseMemObject(values);
}

/* Rows of up to 8 keys run the first step, longer ones the second, a work-group for each row. */
static void selections(void)
{
    static const char *const text[] = {
        "__kernel void record(__global const uint *from, __global uint *to, int n, int argument, int rows, int take)\n"
        "{\n"
        "    if (get_group_id(0)) return;\n"
        "    to[0] = from[0]; to[1] = (uint)rows; to[2] = (uint)take; to[3] = (uint)(argument & 255); to[4] = (uint)get_num_groups(0);\n"
        "}\n"};
    static const hs_kernel kernels[] = {{"record", 1, 1, 0, 2, 0, 0, 0}};
    static const hs_step steps[] = {
        {0, {0, 8, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_LENGTH, HS_ANY_REDUCTION, 0, 0}, {HS_BY_NUMBER, 0, 1, 1, 100}, {HS_LITERAL, 1, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}}},
        {0, {8, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_LENGTH, HS_ANY_REDUCTION, 0, 0}, {HS_BY_NUMBER, 0, 1, 1, 100}, {HS_LITERAL, 2, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}}}};
    const cl_mem from = part(0, GAP), to = part(DESTINATION * GAP, GAP), few = part(DESTINATION * GAP, 15);
    const cl_mem scratch = part(SCRATCH * GAP, GAP), values = part(VALUES * GAP, GAP);
    hs_sort made = made_up(HS_TOP_K, kernels, 1, steps, 2, text, 1);
    hs_opencl *sorter = NULL;
    uint32_t trial;
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = KEYS;
        args.parts = 8;
        args.take = 2;
        args.source = from;
        args.destination = to;
        args.scratch = scratch;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_TOP_K, &args); break;
        case 1: args.take = 8; break;
        case 2: args.parts = 4; args.take = 16; break; /* longer rows */
        case 3: args.parts = 1; args.take = KEYS; break;
        case 4: args.parts = KEYS; args.take = 1; break;
        case 5: args.n = 0; args.source = args.destination = NULL; break;
        case 6: args.take = 0; expected = HS_ERROR_PARTS; break;
        case 7: args.take = 9; expected = HS_ERROR_PARTS; break;
        case 8: args.parts = 0; expected = HS_ERROR_PARTS; break;
        case 9: args.parts = 7; expected = HS_ERROR_PARTS; break;
        case 10: args.destination = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 11: args.source = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 12: args.destination = few; expected = HS_ERROR_COUNT; break; /* 15 of 16 keys */
        case 13: args.destination = from; expected = HS_ERROR_ARGUMENT; break; /* never in place */
        case 14: args.values = values; expected = HS_ERROR_OPTION; break;
        case 15: args.values_destination = values; expected = HS_ERROR_OPTION; break;
        case 16: args.options.discard_keys = 1; expected = HS_ERROR_OPTION; break;
        case 17: args.scratch = NULL; expected = HS_ERROR_SCRATCH; break;
        case 18: args.other = values; expected = HS_ERROR_OPTION; break; /* numbers of rows that no kernel reads */
        case 19: args.other_values = values; expected = HS_ERROR_OPTION; break;
        case 20: args.count = values; expected = HS_ERROR_OPTION; break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_top_k(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "selections");
        look();
        if (expected || args.n == 0) {
            EXPECT(untouched(~(uint32_t)(1 << SCRATCH)));
        } else {
            EXPECT(SAID(DESTINATION, 0) == FILLED(SOURCE, 0) && SAID(DESTINATION, 1) == (uint32_t)args.parts);
            EXPECT(SAID(DESTINATION, 2) == (uint32_t)args.take && SAID(DESTINATION, 4) == (uint32_t)args.parts);
            EXPECT(SAID(DESTINATION, 3) == (KEYS / args.parts > 8 ? 2u : 1u));
        }
    }
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(few);
    clReleaseMemObject(scratch);
    clReleaseMemObject(values);
}

/* Reductions by key: the number of a call, outputs that may be missing, and the report of n = 0. */
static void runs(void)
{
    static const char *const text[] = {
        "__kernel void record(__global const uint *from, __global const uint *values, __global uint *to, __global uint *out,\n"
        "                   __global uint *counts, __global uint *firsts, __global uint *report, int n, int argument)\n"
        "{\n"
        "    if (get_group_id(0)) return;\n"
        "    report[0] = (uint)argument;\n"
        "    if (n == 0) return;\n"
        "    to[0] = from[0]; out[0] = values[0];\n"
        "    if (argument & 16) counts[0] = 1;\n"
        "    if (argument & 32) firsts[0] = 2;\n"
        "}\n"};
    static const hs_kernel kernels[] = {{"record", 1, 1, 0, 7, 0, 0, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 1, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 1, 1, 1, 1}, {HS_CALL_NUMBER, 0, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_VALUES, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0},
          {HS_OTHER_INPUT, 0, 0, 0}, {HS_OTHER_VALUES, 0, 0, 0}, {HS_REPORT, 0, 0, 0}}}};
    const cl_mem few = part(DESTINATION * GAP, KEYS - 1), scratch = part(SCRATCH * GAP, GAP);
    cl_mem at[PLACES];
    hs_sort made = made_up(HS_REDUCE_BY_KEY, kernels, 1, steps, 1, text, 1);
    hs_opencl *sorter = NULL;
    uint32_t trial, i;
    for (i = 0; i < PLACES; i++) at[i] = part(i * GAP, KEYS);
    made.value = "v4";
    made.value_bytes = 4;
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = KEYS;
        args.source = at[SOURCE];
        args.values = at[VALUES];
        args.destination = at[DESTINATION];
        args.values_destination = at[VALUES_OUT];
        args.other = at[OTHER];
        args.other_values = at[OTHER_VALUES];
        args.report = at[REPORT];
        args.scratch = scratch;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_REDUCE_BY_KEY, &args); break;
        case 1: args.take = HS_MAX; args.options.type = HS_F32; break;
        case 2: args.other = NULL; args.options.type = HS_I32; break;
        case 3: args.other_values = NULL; args.take = HS_MIN; break;
        case 4: args.other = args.other_values = NULL; break;
        case 5: args.n = 0; break;
        case 6: args.take = 3; expected = HS_ERROR_OPTION; break;
        case 7: args.options.type = HS_U64; expected = HS_ERROR_OPTION; break;
        case 8: args.options.type = HS_F16; expected = HS_ERROR_OPTION; break;
        case 9: args.source = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 10: args.destination = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 11: args.report = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 12: args.values = NULL; expected = HS_ERROR_OPTION; break;
        case 13: args.values_destination = NULL; expected = HS_ERROR_OPTION; break;
        case 14: args.destination = few; expected = HS_ERROR_COUNT; break;
        case 15: args.other = few; expected = HS_ERROR_COUNT; break;
        case 16: args.other = args.source; expected = HS_ERROR_OVERLAP; break;
        case 17: args.other_values = args.destination; expected = HS_ERROR_OVERLAP; break;
        case 18: args.count = scratch; expected = HS_ERROR_OPTION; break;
        case 19: args.scratch = NULL; expected = HS_ERROR_SCRATCH; break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_runs(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "runs");
        look();
        if (expected) {
            EXPECT(untouched(~(uint32_t)(1 << SCRATCH)));
        } else {
            const uint32_t kind = (uint32_t)args.options.type & 15u, n = (uint32_t)args.n;
            EXPECT(SAID(REPORT, 0) == ((uint32_t)args.take | kind << 2 | (args.other ? 16u : 0) | (args.other_values ? 32u : 0)));
            EXPECT(SAID(DESTINATION, 0) == (n ? FILLED(SOURCE, 0) : FILLED(DESTINATION, 0)));
            EXPECT(SAID(OTHER, 0) == (n && args.other ? 1u : FILLED(OTHER, 0)));
            EXPECT(SAID(OTHER_VALUES, 0) == (n && args.other_values ? 2u : FILLED(OTHER_VALUES, 0)));
        }
    }
    for (i = 0; i < PLACES; i++) clReleaseMemObject(at[i]);
    clReleaseMemObject(few);
    clReleaseMemObject(scratch);
}

/* Groups: the number of a call and its options, outputs that may be missing, and the report of n = 0.  The first step gets the
 * flags of the options, the second the number. */
static void groups(void)
{
    static const char *const text[] = {
        "__kernel void flags(__global const uint *from, __global uint *words, int n, int argument)\n"
        "{\n"
        "    words[0] = (uint)argument; words[1] = from[0];\n"
        "}\n"
        "__kernel void record(__global const uint *words, __global const uint *values, __global uint *to, __global uint *out,\n"
        "                   __global uint *counts, __global uint *firsts, __global uint *report, int n, int argument)\n"
        "{\n"
        "    if (get_group_id(0)) return;\n"
        "    report[0] = (uint)argument;\n"
        "    if (n == 0) return;\n"
        "    to[0] = words[1]; to[1] = words[0]; out[0] = values[0];\n"
        "    if (argument & 16) counts[0] = 1;\n"
        "    if (argument & 32) firsts[0] = 2;\n"
        "}\n"};
    static const hs_kernel kernels[] = {{"flags", 1, 1, 0, 2, 0, 0, 0}, {"record", 1, 1, 0, 7, 0, 0, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_LITERAL, 0, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_SCRATCH, 0, 0, 0}}},
        {1, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 1, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 1, 1, 1, 1}, {HS_CALL_NUMBER, 0, 0, 0},
         {{HS_SCRATCH, 0, 0, 0}, {HS_VALUES, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0},
          {HS_OTHER_INPUT, 0, 0, 0}, {HS_OTHER_VALUES, 0, 0, 0}, {HS_REPORT, 0, 0, 0}}}};
    const cl_mem few = part(DESTINATION * GAP, KEYS - 1), scratch = part(SCRATCH * GAP, GAP);
    cl_mem at[PLACES];
    hs_sort made = made_up(HS_GROUP_BY, kernels, 2, steps, 2, text, 1), plain;
    hs_opencl *sorter = NULL;
    uint32_t trial, i;
    for (i = 0; i < PLACES; i++) at[i] = part(i * GAP, KEYS);
    made.value = "v4";
    made.value_bytes = 4;
    made.key_transform = 1;
    made.bit_range = 0;
    EXPECT(hs_serves_kind(&made, HS_GROUP_BY, "u32", "v4") && !hs_serves_kind(&made, HS_GROUP_BY, "u32", NULL));
    EXPECT(!hs_serves_kind(&made, HS_GROUP_BY, "f32", "v4") && !hs_serves_kind(&made, HS_REDUCE_BY_KEY, "u32", "v4"));
    EXPECT(!hs_serves(&made, "u32", "v4"));
    plain = made;
    plain.key = "f32";
    EXPECT(hs_serves_kind(&plain, HS_GROUP_BY, "f32", "v4") && !hs_serves_kind(&plain, HS_GROUP_BY, "u32", "v4"));
    plain = made;
    plain.key_transform = 0;
    EXPECT(hs_serves_kind(&plain, HS_GROUP_BY, "u32", "v4") && !hs_serves_kind(&plain, HS_GROUP_BY, "i32", "v4"));
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        uint32_t flags = 0;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = KEYS;
        args.source = at[SOURCE];
        args.values = at[VALUES];
        args.destination = at[DESTINATION];
        args.values_destination = at[VALUES_OUT];
        args.other = at[OTHER];
        args.other_values = at[OTHER_VALUES];
        args.report = at[REPORT];
        args.scratch = scratch;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_GROUP_BY, &args); break;
        case 1: args.take = HS_MAX; args.parts = HS_F32; break;
        case 2: args.other = NULL; args.parts = HS_I32; break;
        case 3: args.other_values = NULL; args.take = HS_MIN; args.parts = HS_U32; break;
        case 4: args.other = args.other_values = NULL; break;
        case 5: args.n = 0; break;
        case 6: args.n = 0; args.source = args.values = args.destination = args.values_destination = NULL; break;
        case 7: args.options.type = HS_I32; flags = HS_SIGNED; break;
        case 8: args.options.type = HS_F32; args.options.descending = 1; flags = HS_SIGNED | HS_FLOAT | HS_DESCENDING; break;
        case 9: args.options.end_bit = 32; break; /* all bits */
        case 10: args.values = args.source; break; /* both are only read */
        case 11: args.take = 3; expected = HS_ERROR_OPTION; break;
        case 12: args.parts = HS_U64; expected = HS_ERROR_OPTION; break;
        case 13: args.parts = HS_F16; expected = HS_ERROR_OPTION; break;
        case 14: args.options.type = HS_I64; expected = HS_ERROR_OPTION; break;
        case 15: args.options.begin_bit = 1; expected = HS_ERROR_OPTION; break;
        case 16: args.options.begin_bit = 33; expected = HS_ERROR_RANGE; break;
        case 17: args.options.discard_keys = 1; expected = HS_ERROR_OPTION; break;
        case 18: args.source = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 19: args.destination = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 20: args.report = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 21: args.n = 0; args.report = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 22: args.values = NULL; expected = HS_ERROR_OPTION; break;
        case 23: args.values_destination = NULL; expected = HS_ERROR_OPTION; break;
        case 24: args.destination = few; expected = HS_ERROR_COUNT; break;
        case 25: args.other = few; expected = HS_ERROR_COUNT; break;
        case 26: args.other_values = few; expected = HS_ERROR_COUNT; break;
        case 27: args.destination = args.source; expected = HS_ERROR_ARGUMENT; break; /* never in place */
        case 28: args.values_destination = args.values; expected = HS_ERROR_OPTION; break;
        case 29: args.values_destination = args.source; expected = HS_ERROR_OVERLAP; break;
        case 30: args.other = args.source; expected = HS_ERROR_OVERLAP; break;
        case 31: args.other_values = args.destination; expected = HS_ERROR_OVERLAP; break;
        case 32: args.report = args.values; expected = HS_ERROR_OVERLAP; break;
        case 33: args.scratch = NULL; expected = HS_ERROR_SCRATCH; break;
        case 34: args.n = 1001; expected = HS_ERROR_COUNT; break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_groups(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "groups");
        look();
        if (expected) {
            EXPECT(untouched(~(uint32_t)(1 << SCRATCH)));
        } else {
            const uint32_t kind = (uint32_t)args.parts & 15u, n = (uint32_t)args.n;
            EXPECT(SAID(REPORT, 0) == ((uint32_t)args.take | kind << 2 | (args.other ? 16u : 0) | (args.other_values ? 32u : 0)));
            EXPECT(SAID(DESTINATION, 0) == (n ? FILLED(SOURCE, 0) : FILLED(DESTINATION, 0)));
            EXPECT(SAID(DESTINATION, 1) == (n ? flags : FILLED(DESTINATION, 1)));
            EXPECT(SAID(VALUES_OUT, 0) == (n ? FILLED(args.values == args.source ? SOURCE : VALUES, 0) : FILLED(VALUES_OUT, 0)));
            EXPECT(SAID(OTHER, 0) == (n && args.other ? 1u : FILLED(OTHER, 0)));
            EXPECT(SAID(OTHER_VALUES, 0) == (n && args.other_values ? 2u : FILLED(OTHER_VALUES, 0)));
        }
    }
    STATUS(hs_opencl_create(&plain, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter && trial < 2; trial++) { /* unsigned and ascending keys only */
        any_args args;
        memset(&args, 0, sizeof args);
        args.options.type = trial ? HS_UNSIGNED : HS_F32;
        args.options.descending = trial;
        args.report = at[REPORT];
        STATUS(any_groups(sorter, queue, &args, &error), HS_ERROR_OPTION);
    }
    hs_opencl_release(sorter);
    for (i = 0; i < PLACES; i++) clReleaseMemObject(at[i]);
    clReleaseMemObject(few);
    clReleaseMemObject(scratch);
}

/* Packs of 2 columns of 31 elements of 2 bytes, unless a trial has others. */
static void packs(void)
{
    static const char *const text[] = {
        "__kernel void record(__global const uint *a, __global const uint *b, __global const uint *c, __global const uint *d, __global uint *to, int n, int argument, int low, int high)\n"
        "{\n"
        "    if (get_group_id(0)) return;\n"
        "    to[0] = a[0]; to[1] = b[0]; to[2] = c[0]; to[3] = d[0]; to[4] = (uint)argument; to[5] = (uint)n;\n"
        "    to[6] = (uint)low; to[7] = (uint)high;\n"
        "}\n"};
    static const hs_kernel kernels[] = {{"record", 1, 1, 0, 5, 0, 0, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 100}, {HS_CALL_NUMBER, 0, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_OTHER_INPUT, 0, 0, 0}, {HS_OTHER_VALUES, 0, 0, 0}, {HS_VALUES, 0, 0, 0},
          {HS_DESTINATION, 0, 0, 0}}}};
    static const hs_scratch_rule none = {0, UINT64_MAX, 0, 0, 1, 0, 0};
    const cl_mem a = part(0, GAP), b = part(OTHER * GAP, GAP), c = part(OTHER_VALUES * GAP, GAP);
    const cl_mem d = part(VALUES * GAP, GAP), to = part(DESTINATION * GAP, GAP);
    const cl_mem half = part(OTHER * GAP, 15), few = part(DESTINATION * GAP, 30);
    hs_sort made = made_up(HS_PACK, kernels, 1, steps, 1, text, 1);
    hs_opencl *sorter = NULL;
    uint32_t trial;
    made.scratch = &none;
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        uint32_t number = 0x29u | 0x29u << 6; /* 2 columns of f16 */
        uint32_t low = 0, high = 0;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = 31;
        args.parts = 2;
        args.options.type = HS_F16;
        args.source = a;
        args.other = b;
        args.destination = to;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_PACK, &args); break;
        case 1: args.options.descending = 7; number = 0x39u | 0x39u << 6; break;
        case 2: args.parts = 1; args.other = NULL; number = 0x29u; break;
        case 3:
            args.parts = 4;
            args.other_values = c;
            args.values = d;
            args.options.type = HS_I32;
            args.options.begin_bit = 96;
            number = 0x26u | 0x26u << 6 | 0x26u << 12 | 0x26u << 18 | 3u << 24;
            break;
        case 4: args.n = 0; args.source = args.other = args.destination = NULL; break;
        case 5: args.other = half; args.n = 30; break; /* 15 words */
        case 6: args.other = half; expected = HS_ERROR_COUNT; break; /* 31 elements: 16 words */
        case 7: args.destination = few; expected = HS_ERROR_COUNT; break;
        case 8: args.parts = 0; expected = HS_ERROR_PARTS; break;
        case 9: args.parts = 5; expected = HS_ERROR_PARTS; break;
        case 10: args.parts = ((uint64_t)1 << 32) + 2; expected = HS_ERROR_PARTS; break;
        case 11: args.options.type = HS_UNSIGNED; expected = HS_ERROR_PARTS; break;
        case 12: args.options.type = (hs_type)0x12; expected = HS_ERROR_PARTS; break; /* f8 */
        case 13: args.options.type = (hs_type)0x30; expected = HS_ERROR_PARTS; break; /* 3 bytes */
        case 14: args.options.type = (hs_type)0x43; expected = HS_ERROR_PARTS; break;
        case 15: args.options.begin_bit = 8; expected = HS_ERROR_PARTS; break;
        case 16: args.options.begin_bit = 32; expected = HS_ERROR_PARTS; break; /* no bits are left */
        case 17: args.parts = 3; args.other_values = c; args.options.type = HS_U64; expected = HS_ERROR_PARTS; break;
        case 18: args.source = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 19: args.other = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 20: args.values = d; expected = HS_ERROR_ARGUMENT; break;
        case 21: args.destination = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 22: args.destination = b; expected = HS_ERROR_OVERLAP; break;
        case 23: args.n = 1001; expected = HS_ERROR_COUNT; break;
        case 24: args.other = a; break; /* both are only read */
        case 25: args.field.stride = 4; low = 1u | 1u << 15; args.n = 15; args.other = half; break;
        case 26: args.field.stride = 4; args.field.offset = 2; low = 0x101u | 0x101u << 15; args.n = 15; args.other = half; break;
        case 27: args.field.stride = 4; args.n = 16; args.other = half; expected = HS_ERROR_COUNT; break;
        case 28: args.field.stride = 8; args.n = 8; args.other = half; low = 2u | 2u << 15; break; /* 15 words: 7 records and a field */
        case 29: args.field.stride = 8; args.field.offset = 4; args.n = 8; args.other = half; expected = HS_ERROR_COUNT; break;
        case 30:
            args.parts = 4;
            args.other_values = c;
            args.values = d;
            args.field.stride = 256;
            args.field.offset = 254;
            args.n = 1;
            number |= number << 12;
            low = high = 0x7f40u | 0x7f40u << 15;
            break;
        case 31: args.field.stride = 260; expected = HS_ERROR_PARTS; break;
        case 32: args.field.stride = 4; args.field.offset = 3; expected = HS_ERROR_PARTS; break; /* beyond the record */
        case 33: args.field.stride = 4; args.field.offset = UINT32_MAX; expected = HS_ERROR_PARTS; break;
        case 34: args.field.offset = 2; expected = HS_ERROR_PARTS; break; /* of an array */
        case 35: args.field.stride = 4; args.options.type = HS_U64; expected = HS_ERROR_PARTS; break;
        case 36: args.field.stride = 6; expected = HS_ERROR_ALIGNMENT; break;
        case 37: args.field.stride = 8; args.field.offset = 1; expected = HS_ERROR_ALIGNMENT; break;
        case 38: args.field.stride = 8; args.field.offset = 2; args.options.type = HS_I32; expected = HS_ERROR_ALIGNMENT; break;
        case 39: args.n = 0; args.field.stride = 6; expected = HS_ERROR_ALIGNMENT; break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_pack(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "packs");
        look();
        if (expected || args.n == 0) {
            EXPECT(untouched(~0u));
        } else {
            EXPECT(SAID(DESTINATION, 0) == FILLED(SOURCE, 0) && SAID(DESTINATION, 4) == number);
            EXPECT(SAID(DESTINATION, 1) == (args.other == a || !args.other ? FILLED(SOURCE, 0) : FILLED(OTHER, 0)));
            EXPECT(SAID(DESTINATION, 2) == (args.other_values ? FILLED(OTHER_VALUES, 0) : FILLED(SOURCE, 0)));
            EXPECT(SAID(DESTINATION, 3) == (args.values ? FILLED(VALUES, 0) : FILLED(SOURCE, 0)));
            EXPECT(SAID(DESTINATION, 5) == (uint32_t)args.n);
            EXPECT(SAID(DESTINATION, 6) == low && SAID(DESTINATION, 7) == high);
        }
    }
    EXPECT(hs_pack_fits((1u << 25) - 1, 0x26, 64) == HS_OK); /* records of 256 bytes: up to 2^31 - 1 words */
    EXPECT(hs_pack_fits(1u << 25, 0x26, 64) == HS_ERROR_COUNT);
    EXPECT(hs_pack_fits(1u << 25, 0x26, (uint64_t)64 << 45) == HS_ERROR_COUNT);
    EXPECT(hs_pack_fits(1u << 30, 0x26, 0) == HS_OK);
    clReleaseMemObject(few);
    clReleaseMemObject(half);
    clReleaseMemObject(to);
    clReleaseMemObject(d);
    clReleaseMemObject(c);
    clReleaseMemObject(b);
    clReleaseMemObject(a);
}

/* Gathers of values of 4 bytes: a work-group for each of at most 100 indices. */
static void gathers(void)
{
    static const char *const text[] = {
        "__kernel void record(__global const uint *from, __global const uint *table, __global uint *to, int n, int argument, int rows, int take)\n"
        "{\n"
        "    if (get_group_id(0)) return;\n"
        "    to[0] = from[0]; to[1] = table[0]; to[2] = (uint)rows; to[3] = (uint)take; to[4] = (uint)get_num_groups(0);\n"
        "}\n"};
    static const hs_kernel kernels[] = {{"record", 1, 1, 0, 3, 0, 0, 0}};
    static const hs_step steps[] = {
        {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 100}, {HS_LITERAL, 1, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_VALUES, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0}}}};
    static const hs_scratch_rule none = {0, UINT64_MAX, 0, 0, 1, 0, 0};
    const cl_mem from = part(0, GAP), table = part(VALUES * GAP, GAP), to = part(VALUES_OUT * GAP, GAP);
    const cl_mem few = part(VALUES_OUT * GAP, 127), small = part(VALUES * GAP, 63);
    hs_sort made = made_up(HS_GATHER, kernels, 1, steps, 1, text, 1);
    hs_opencl *sorter = NULL;
    uint32_t trial;
    made.scratch = &none;
    made.value = "v4";
    made.value_bytes = 4;
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = KEYS;
        args.parts = 32;
        args.take = 8; /* bytes: two values */
        args.source = from;
        args.values = table;
        args.values_destination = to;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_GATHER, &args); break;
        case 1: args.parts = 128; break;
        case 2: args.take = 4; args.parts = 1; break;
        case 3: args.n = 0; args.source = args.values = args.values_destination = NULL; break;
        case 4: args.take = 6; expected = HS_ERROR_PARTS; break;
        case 5: args.take = 0; expected = HS_ERROR_PARTS; break;
        case 6: args.parts = 0; expected = HS_ERROR_PARTS; break;
        case 7: args.parts = (uint64_t)1 << 30; expected = HS_ERROR_PARTS; break; /* 2^31 values */
        case 8: args.take = (uint64_t)1 << 62; expected = HS_ERROR_PARTS; break;
        case 9: args.parts = ~(uint64_t)0; expected = HS_ERROR_PARTS; break;
        case 10: args.source = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 11: args.values = NULL; expected = HS_ERROR_OPTION; break;
        case 12: args.values_destination = NULL; expected = HS_ERROR_OPTION; break;
        case 13: args.values_destination = few; expected = HS_ERROR_COUNT; break; /* 127 of 128 values */
        case 14: args.values = small; expected = HS_ERROR_COUNT; break;          /* 63 of 64 */
        case 15: args.values_destination = table; expected = HS_ERROR_OPTION; break; /* never in place */
        case 16: args.values_destination = from; expected = HS_ERROR_OVERLAP; break;
        case 17: args.values_destination = small; expected = HS_ERROR_OVERLAP; args.n = 1; break;
        case 18: args.n = 1001; expected = HS_ERROR_COUNT; break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_gather(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "gathers");
        look();
        if (expected || args.n == 0) {
            EXPECT(untouched(~0u));
        } else {
            EXPECT(SAID(VALUES_OUT, 0) == FILLED(SOURCE, 0) && SAID(VALUES_OUT, 1) == FILLED(VALUES, 0));
            EXPECT(SAID(VALUES_OUT, 2) == (uint32_t)args.parts && SAID(VALUES_OUT, 3) == (uint32_t)(args.take / 4));
            EXPECT(SAID(VALUES_OUT, 4) == KEYS);
        }
    }
    clReleaseMemObject(small);
    clReleaseMemObject(few);
    clReleaseMemObject(to);
    clReleaseMemObject(table);
    clReleaseMemObject(from);
}

static void merges(void)
{
    static const char *const text[] = {BEGIN,
        "__kernel void record(__global const uint *a, __global const uint *b, __global const uint *av,\n"
        "                   __global const uint *bv, __global uint *words, __global uint *to, __global uint *tov,\n"
        "                   int n, int argument)\n"
        "{\n"
        "    int i = (int)get_global_id(0), parts = (int)words[0];\n"
        "    if (i < n) to[i] = i < parts ? a[i] : b[i - parts];\n"
        "    if (argument) return; // no flags\n"
        "    if (i < n) tov[i] = i < parts ? av[i] : bv[i - parts];\n"
        "}\n"};
    static const hs_kernel kernels[] = {{"begin", 1, 1, 0, 1, 0, 0, 0}, {"record", 1, 1, 0, 7, 0, 0, 0}};
    static const hs_step steps[] = {
        BEGINS,
        {1, {0, 1000, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1000}, {HS_LITERAL, 0, 0, 0},
         {{HS_SOURCE, 0, 0, 0}, {HS_OTHER_INPUT, 0, 0, 0}, {HS_VALUES, 0, 0, 0}, {HS_OTHER_VALUES, 0, 0, 0}, {HS_SCRATCH, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}, {HS_VALUES_OUT, 0, 0, 0}}}};
    const cl_mem scratch = part(SCRATCH * GAP, GAP), few = part(OTHER * GAP, 20), large = part(0, 2 * GAP);
    cl_mem at[PLACES];
    hs_sort made = made_up(HS_MERGE, kernels, 2, steps, 2, text, 2);
    hs_opencl *sorter = NULL;
    uint32_t trial, i;
    for (i = 0; i < PLACES; i++) at[i] = part(i * GAP, KEYS);
    made.value = "v4";
    made.value_bytes = 4;
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = 50;
        args.parts = 20;
        args.source = at[SOURCE];
        args.other = at[OTHER];
        args.values = at[VALUES];
        args.other_values = at[OTHER_VALUES];
        args.destination = at[DESTINATION];
        args.values_destination = at[VALUES_OUT];
        args.scratch = scratch;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_MERGE, &args); break;
        case 1: args.parts = 0; break;
        case 2: args.parts = 0; args.source = args.values = NULL; break;
        case 3: args.parts = 50; break;
        case 4: args.parts = 50; args.other = args.other_values = NULL; break;
        case 5: args.n = args.parts = 0; break;
        case 6: args.n = args.parts = 0; memset(&args, 0, sizeof args); break;
        case 7: args.parts = 30; args.other = few; args.other_values = few; break; /* 20 suffice */
        case 8: args.other = args.source; break; /* both are only read */
        case 9: args.parts = 51; expected = HS_ERROR_PARTS; break;
        case 10: args.n = 0; expected = HS_ERROR_PARTS; break;
        case 11: args.source = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 12: args.other = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 13: args.destination = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 14: args.destination = args.source; expected = HS_ERROR_ARGUMENT; break; /* in place */
        case 15: args.destination = args.other; expected = HS_ERROR_OVERLAP; break;
        case 16: args.destination = large; expected = HS_ERROR_OVERLAP; break;
        case 17: args.values_destination = args.other_values; expected = HS_ERROR_OVERLAP; break;
        case 18: args.values = NULL; expected = HS_ERROR_OPTION; break;
        case 19: args.other_values = NULL; expected = HS_ERROR_OPTION; break;
        case 20: args.values_destination = NULL; expected = HS_ERROR_OPTION; break;
        case 21: args.other = few; expected = HS_ERROR_COUNT; break;
        case 22: args.other_values = few; expected = HS_ERROR_COUNT; break;
        case 23: args.n = 100; expected = HS_ERROR_COUNT; break;
        case 24: args.options.discard_keys = 1; expected = HS_ERROR_OPTION; break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_merge(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "merge");
        look();
        if (expected || args.n == 0) EXPECT(untouched(~(uint32_t)0));
        for (i = 0; i < args.n && !expected; i++) {
            const uint32_t parts = (uint32_t)args.parts, k = i < parts ? i : i - parts;
            const int more = args.other == args.source ? SOURCE : OTHER;
            const int values = args.other == few ? OTHER : OTHER_VALUES;
            EXPECT(SAID(DESTINATION, i) == FILLED(i < parts ? SOURCE : more, k));
            EXPECT(SAID(VALUES_OUT, i) == FILLED(i < parts ? VALUES : values, k));
        }
    }
    made.value = "none";
    made.value_bytes = 0;
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter && trial < 3; trial++) { /* no values */
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = 50;
        args.source = args.other = at[SOURCE];
        args.destination = at[DESTINATION];
        args.scratch = scratch;
        if (trial == 0) args.values = at[VALUES];
        if (trial == 1) args.other_values = at[VALUES];
        if (trial == 2) args.values_destination = at[VALUES];
        STATUS(any_merge(sorter, queue, &args, &error), HS_ERROR_OPTION);
    }
    hs_opencl_release(sorter);
    for (i = 0; i < PLACES; i++) clReleaseMemObject(at[i]);
    clReleaseMemObject(scratch);
    clReleaseMemObject(few);
    clReleaseMemObject(large);
}

/* A digest, and a sort with run boundaries: for n = 0 they report as well. */
static const char *const reporting[] = {
    "__kernel void parts(__global uint *report, int n, int argument) { report[0] = (uint)argument; }\n",
    "__kernel void record(__global const uint *from, __global uint *report, int n, int argument)\n"
    "{\n"
    "    report[1 + get_group_id(0) % 2] = (uint)get_num_groups(0);\n"
    "    report[3] = n ? from[n - 1] : 1;\n"
    "    report[4] = (uint)n;\n"
    "}\n"};
static const hs_kernel reporters[] = {{"parts", 1, 1, 0, 1, 0, 0, 0}, {"record", 1, 1, 0, 2, 0, 0, 0}};
static const hs_step reports[] = {
    {0, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 1, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 1, 1, 1, 1}, {HS_CALL_NUMBER, 0, 0, 0},
     {{HS_REPORT, 0, 0, 0}}},
    {1, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 1, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_NUMBER, 2, 1, 1, 1000}, {HS_LITERAL, 0, 0, 0},
     {{HS_SOURCE, 0, 0, 0}, {HS_REPORT, 0, 0, 0}}}};

static void checks(void)
{
    const cl_mem from = part(0, KEYS), to = part(DESTINATION * GAP, KEYS), report = part(REPORT * GAP, 8);
    const cl_mem less = part(REPORT * GAP, 7), values = part(VALUES * GAP, KEYS);
    hs_sort made = made_up(HS_DIGEST, reporters, 2, reports, 2, reporting, 2);
    hs_opencl *sorter = NULL;
    uint32_t trial;
    made.scratch_rule_count = 0;
    made.max_n = 60;
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        cl_event event = NULL;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = 50;
        args.source = from;
        args.report = report;
        args.event = &event;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_DIGEST, &args); break;
        case 1: args.parts = 49; break; /* equal to n */
        case 2: args.parts = 60; break;
        case 3: args.n = 0; break;
        case 4: args.n = 0; args.source = NULL; break;
        case 5: args.n = 0; args.parts = 60; break;
        case 6: args.n = 61; expected = HS_ERROR_COUNT; break;
        case 7: args.source = less; args.report = values; expected = HS_ERROR_COUNT; break;
        case 8: args.parts = 61; expected = HS_ERROR_COUNT; break; /* within the buffer */
        case 9: args.source = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 10: args.n = 0; args.source = NULL; args.parts = 1; expected = HS_ERROR_ARGUMENT; break;
        case 11: args.report = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 12: args.n = 0; args.report = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 13: args.report = less; expected = HS_ERROR_COUNT; break;
        case 14: args.report = from; expected = HS_ERROR_OVERLAP; break;
        case 15: args.values = values; expected = HS_ERROR_OPTION; break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_check(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "check");
        EXPECT((event != NULL) == (expected == HS_OK));
        if (event) clReleaseEvent(event);
        EXPECT(untouched(~(uint32_t)(expected ? 0 : 1 << REPORT)));
        if (!expected) {
            const uint32_t n = (uint32_t)args.n, parts = args.parts > n ? (uint32_t)args.parts : n;
            EXPECT(SAID(REPORT, 0) == parts && SAID(REPORT, 1) == parts + 2 && SAID(REPORT, 2) == parts + 2);
            EXPECT(SAID(REPORT, 3) == (n ? FILLED(SOURCE, n - 1) : 1) && SAID(REPORT, 4) == n);
        }
    }
    for (trial = 0; trial < 7; trial++) { /* an index is the position of a key, and not a value */
        static const hs_status expected[] = {HS_ERROR_OPTION, HS_OK,           HS_OK, HS_ERROR_OVERLAP,
                                             HS_ERROR_OPTION, HS_ERROR_OPTION, HS_OK};
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = trial == 3 ? 1 : 50;
        args.parts = trial == 3 ? 8 : 0;
        args.source = from;
        args.report = report;
        if (trial == 1 || trial == 4) args.values = values;
        if (trial == 2) args.values = from; /* both are only read */
        if (trial == 3) args.values = report;
        args.options.discard_keys = trial == 5;
        made.value = trial < 4 ? "v4" : "index";
        made.value_bytes = 4;
        made.index = trial >= 4;
        STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
        STATUS(any_check(sorter, queue, &args, &error), expected[trial]);
        hs_opencl_release(sorter);
    }
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(report);
    clReleaseMemObject(less);
    clReleaseMemObject(values);
}

static void changes(void)
{
    const cl_mem from = part(0, KEYS), to = part(DESTINATION * GAP, KEYS), report = part(REPORT * GAP, 51);
    const cl_mem less = part(REPORT * GAP, 50);
    hs_sort made = made_up(HS_SORT, reporters, 2, reports, 2, reporting, 2), valued;
    hs_opencl *sorter = NULL;
    uint32_t trial;
    made.scratch_rule_count = 0;
    STATUS(hs_opencl_create(&made, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter; trial++) {
        hs_status expected = HS_OK;
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = 50;
        args.source = from;
        args.destination = to;
        args.report = report;
        fill();
        switch (trial) {
        case 0: only(sorter, HS_SORT, &args); break;
        case 1: args.parts = 31; break;
        case 2: args.destination = NULL; break;
        case 3: args.n = 0; args.source = args.destination = NULL; break;
        case 4: args.parts = 32; expected = HS_ERROR_PARTS; break;
        case 5: args.n = 0; args.parts = 32; expected = HS_ERROR_PARTS; break;
        case 6: args.report = NULL; expected = HS_ERROR_ARGUMENT; break;
        case 7: args.report = less; expected = HS_ERROR_COUNT; break;
        case 8: args.report = from; expected = HS_ERROR_OVERLAP; break;
        case 9: args.report = to; expected = HS_ERROR_OVERLAP; break;
        default: hs_opencl_release(sorter); sorter = NULL; continue;
        }
        is(any_sort(sorter, queue, &args, &error), expected, __LINE__ + (int)trial, "a sort that reports");
        EXPECT(untouched(~(uint32_t)(expected ? 0 : 1 << REPORT)));
        if (!expected) EXPECT(SAID(REPORT, 0) == args.parts && SAID(REPORT, 4) == args.n);
    }
    valued = made;
    valued.value = "v4";
    valued.value_bytes = 4;
    STATUS(hs_opencl_create(&valued, context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter && trial < 2; trial++) { /* only n > 0 needs values */
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = trial ? 50 : 0;
        args.source = from;
        args.report = report;
        STATUS(any_sort(sorter, queue, &args, &error), trial ? HS_ERROR_OPTION : HS_OK);
    }
    hs_opencl_release(sorter);
    STATUS(hs_opencl_create(hs_targets[0]->sorts[0], context, device, &sorter, &error), HS_OK);
    for (trial = 0; sorter && trial < 3; trial++) { /* a plain sort takes none of these options */
        any_args args;
        memset(&args, 0, sizeof args);
        args.n = trial == 2 ? 0 : 50;
        args.source = from;
        if (trial == 0) args.report = report;
        if (trial > 0) args.parts = 1;
        STATUS(any_sort(sorter, queue, &args, &error), trial < 1 ? HS_ERROR_OPTION : HS_ERROR_PARTS);
    }
    hs_opencl_release(sorter);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(report);
    clReleaseMemObject(less);
}

/* Among the sorts of a target for the same keys, the one of the kind is found. */
static void finding(void)
{
    hs_info info;
    const hs_sort *plain = hs_targets[0]->sorts[0], *found = NULL;
    hs_sort sorts[5];
    const hs_sort *all[5];
    const hs_target target = {"several", NULL, all, 5}, *const targets[] = {&target};
    hs_device facts;
    int i;
    memset(&facts, 0, sizeof facts);
    STATUS(hs_describe(plain, &info), HS_OK);
    EXPECT(info.kind == HS_SORT && info.reports == 0);
    sorts[0] = made_up(HS_DIGEST, reporters, 2, reports, 2, reporting, 2);
    STATUS(hs_describe(&sorts[0], &info), HS_OK);
    EXPECT(info.kind == HS_DIGEST && info.reports == 1);
    for (i = 0; i < 5; i++) {
        sorts[i] = *plain;
        sorts[i].kind = (hs_kind)(4 - i);
        all[i] = &sorts[i];
    }
    for (i = 0; i < 5; i++) {
        const hs_kind kind = (hs_kind)i;
        EXPECT(hs_serves_kind(all[4 - i], kind, plain->key, NULL) && !hs_serves_kind(all[i], kind, "u7", NULL));
        EXPECT(hs_serves(all[4 - i], plain->key, NULL) == (kind == HS_SORT));
        EXPECT(!hs_serves_kind(NULL, kind, "u32", NULL) && !hs_serves_kind(all[4 - i], kind, NULL, NULL));
        EXPECT(hs_candidate_kind(targets, 1, kind, plain->key, NULL, &facts, 0) == all[4 - i]);
        EXPECT(!hs_candidate_kind(targets, 1, kind, plain->key, NULL, &facts, 1));
        STATUS(hs_opencl_match_kind(targets, 1, kind, plain->key, NULL, device, &found), HS_OK);
        EXPECT(found == all[4 - i]);
        STATUS(hs_opencl_match_kind(targets, 1, kind, "u7", NULL, device, &found), HS_OK);
        EXPECT(!found);
    }
    STATUS(hs_opencl_match_kind(NULL, 1, HS_DIGEST, "u32", NULL, device, &found), HS_ERROR_ARGUMENT);
}

int main(void)
{
    cl_platform_id platform;
    cl_int code;
    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(code, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &code);
    must(code, "clCreateCommandQueue");
    whole = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof said, NULL, &code);
    must(code, "clCreateBuffer");
    segments();
    selections();
    runs();
    groups();
    gathers();
    packs();
    merges();
    checks();
    changes();
    finding();
    must(clFinish(queue), "clFinish");
    clReleaseMemObject(whole);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("%d statuses and results asked for, %d wrong\n", asked, wrong);
    return wrong ? 1 : 0;
}
