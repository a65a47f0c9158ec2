/* Calls with zeroed options, of what was matched for each type of keys, in both orders: results are in the order of the
 * matched type.  Runs on the first OpenCL device. */
#include "any_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, ROWS = 4, LENGTH = N / ROWS, K = 16, WORDS = 2 * N + 64 };

static const struct {
    const char *key;
    hs_type type; /* as a call would name it */
    uint32_t bytes, kind;
} types[] = {{"u8", HS_U8, 1, 0},    {"bool", HS_BOOL, 1, 0}, {"i8", HS_I8, 1, 1},   {"u16", HS_U16, 2, 0},
             {"i16", HS_I16, 2, 1},  {"f16", HS_F16, 2, 2},   {"bf16", HS_BF16, 2, 2}, {"u32", HS_U32, 4, 0},
             {"i32", HS_I32, 4, 1},  {"f32", HS_F32, 4, 2},   {"u64", HS_U64, 8, 0}, {"i64", HS_I64, 8, 1},
             {"f64", HS_F64, 8, 2}};
enum { TYPES = sizeof types / sizeof types[0] };

static int wrong = 0, asked = 0;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

#ifdef UNOPTIMIZED /* the linker puts this in place of clBuildProgram, which spends most of the time on optimization */
cl_int __real_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *build_options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *build_options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *build_options,
                             void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    char text[512];
    snprintf(text, sizeof text, "%s -cl-opt-disable", build_options ? build_options : "");
    return __real_clBuildProgram(program, count, devices, text, notify, data);
}
#endif

static void must(int holds, const char *what, const char *key)
{
    if (holds) return;
    fprintf(stderr, "%s (%s)\n", what, key);
    exit(2);
}

static void expect(int holds, const char *what, const char *key, uint32_t descending)
{
    asked++;
    if (holds) return;
    wrong++;
    fprintf(stderr, "%s of %s, descending %u: wrong\n", what, key, (unsigned)descending);
}

static uint64_t at(const unsigned char *keys, uint32_t bytes, size_t i)
{
    uint64_t key = 0;
    memcpy(&key, keys + i * bytes, bytes); /* little-endian, as every device here */
    return key;
}

/* A key as an unsigned number that compares as its type does, in the order of the call. */
static uint64_t ordered(uint64_t key, uint32_t bytes, uint32_t kind, uint32_t descending)
{
    const uint64_t top = (uint64_t)1 << (8 * bytes - 1), all = top | (top - 1);
    if (kind == 2 && (key & top)) key = ~key & all;
    else if (kind) key ^= top;
    return descending ? ~key & all : key;
}

static uint32_t of_type;
static uint32_t of_order;
static int compare(const void *a, const void *b)
{
    const uint32_t bytes = types[of_type].bytes, kind = types[of_type].kind;
    const uint64_t x = ordered(at((const unsigned char *)a, bytes, 0), bytes, kind, of_order);
    const uint64_t y = ordered(at((const unsigned char *)b, bytes, 0), bytes, kind, of_order);
    return (x > y) - (x < y);
}

static cl_mem buffer(const void *from)
{
    cl_int code;
    cl_mem made = clCreateBuffer(context, from ? CL_MEM_COPY_HOST_PTR : 0, WORDS * sizeof(uint32_t), (void *)(size_t)from,
                                 &code);
    must(code == CL_SUCCESS, "no buffer", "");
    return made;
}

static unsigned char given[WORDS * sizeof(uint32_t)], got[WORDS * sizeof(uint32_t)], model[WORDS * sizeof(uint32_t)];
static unsigned char got_values[WORDS * sizeof(uint32_t)], got_report[WORDS * sizeof(uint32_t)];

/* The programs of sorts by their text, since those for types of one width have the same, as do calls in both orders. */
static struct {
    const char *const *text;
    void *data;
    size_t bytes;
} programs[64];

static hs_opencl *ready(const hs_sort *sort, const char *key)
{
    hs_opencl_create_options options;
    hs_opencl *sorter = NULL;
    hs_opencl_error error;
    size_t i;
    memset(&options, 0, sizeof options);
    options.scope.max_n = N;
    for (i = 0; programs[i].text && programs[i].text != sort->opencl;) i++;
    must(i < sizeof programs / sizeof programs[0] - 1, "too many programs", key);
    options.binary = programs[i].data;
    options.binary_bytes = programs[i].bytes;
    must(hs_opencl_create_with(sort, context, device, &options, &sorter, &error) == HS_OK, error.log, key);
    if (programs[i].text) return sorter;
    programs[i].text = sort->opencl;
    must(hs_opencl_binary(sorter, NULL, 0, &programs[i].bytes, NULL) == HS_OK, "no binary", key);
    programs[i].data = malloc(programs[i].bytes);
    must(programs[i].data != NULL, "no memory", key);
    must(hs_opencl_binary(sorter, programs[i].data, programs[i].bytes, &programs[i].bytes, NULL) == HS_OK, "no binary", key);
    return sorter;
}

/* The matched operation, called once with options that are zeroed except for the order. */
static void call(hs_kind kind, const char *value, uint32_t type, uint32_t descending, any_args *args)
{
    const char *const key = types[type].key;
    const hs_sort *sort = NULL;
    hs_opencl *sorter = NULL;
    hs_opencl_error error;
    uint64_t bytes = 0;
    cl_mem scratch = NULL;
    must(hs_opencl_match_kind(hs_targets, hs_targets_count, kind, key, value, device, &sort) == HS_OK, "no answer", key);
    must(sort != NULL, "nothing was matched", key);
    sorter = ready(sort, key);
    args->options.descending = descending;
    must(hs_scratch_with(sort, args->n, &args->options, &bytes) == HS_OK, "no size of scratch", key);
    if (bytes) scratch = clCreateBuffer(context, 0, (size_t)bytes, NULL, NULL);
    args->scratch = scratch;
    must(any_entries[kind](sorter, queue, args, &error) == HS_OK, "the call failed", key);
    clEnqueueReadBuffer(queue, args->destination ? args->destination : args->source, CL_TRUE, 0, sizeof got, got, 0, NULL,
                        NULL);
    if (args->values_destination)
        clEnqueueReadBuffer(queue, args->values_destination, CL_TRUE, 0, sizeof got, got_values, 0, NULL, NULL);
    if (args->report) clEnqueueReadBuffer(queue, args->report, CL_TRUE, 0, sizeof got, got_report, 0, NULL, NULL);
    if (scratch) clReleaseMemObject(scratch);
    hs_opencl_release(sorter);
}

static void arrange(uint32_t type, uint32_t descending, size_t first, size_t count)
{
    of_type = type;
    of_order = descending;
    qsort(model + first * types[type].bytes, count, types[type].bytes, compare);
}

static void whole(uint32_t type, uint32_t descending)
{
    const uint32_t bytes = types[type].bytes;
    any_args args;
    uint32_t after[8];
    memset(&args, 0, sizeof args);
    memcpy(model, given, sizeof given);
    arrange(type, descending, 0, N);
    args.n = N;
    args.source = buffer(given);
    call(HS_SORT, NULL, type, descending, &args);
    expect(memcmp(got, model, N * bytes) == 0, "sort", types[type].key, descending);
    args.report = buffer(NULL);
    call(HS_DIGEST, NULL, type, descending, &args);
    memcpy(after, got_report, sizeof after);
    expect(after[4] == 0, "digest", types[type].key, descending);
    clReleaseMemObject(args.source);
    clReleaseMemObject(args.report);
}

static void rows(uint32_t type, uint32_t descending)
{
    const uint32_t bytes = types[type].bytes;
    any_args args;
    size_t i;
    int same = 1;
    memset(&args, 0, sizeof args);
    memcpy(model, given, sizeof given);
    for (i = 0; i < ROWS; i++) arrange(type, descending, i * LENGTH, LENGTH);
    args.n = N;
    args.parts = ROWS;
    args.source = buffer(given);
    args.destination = buffer(NULL);
    call(HS_SEGMENTED_SORT, NULL, type, descending, &args);
    expect(memcmp(got, model, N * bytes) == 0, "segmented sort", types[type].key, descending);
    args.take = K;
    call(HS_TOP_K, NULL, type, descending, &args);
    for (i = 0; i < ROWS; i++) same &= memcmp(got + i * K * bytes, model + i * LENGTH * bytes, K * bytes) == 0;
    expect(same, "top-k", types[type].key, descending);
    clReleaseMemObject(args.source);
    clReleaseMemObject(args.destination);
}

static void merged(uint32_t type, uint32_t descending)
{
    const uint32_t bytes = types[type].bytes, first = N / 2;
    any_args args;
    memset(&args, 0, sizeof args);
    memcpy(model, given, sizeof given);
    arrange(type, descending, 0, first);
    arrange(type, descending, first, N - first);
    args.n = N;
    args.parts = first;
    args.source = buffer(model);
    args.other = buffer(model + first * bytes);
    args.destination = buffer(NULL);
    call(HS_MERGE, NULL, type, descending, &args);
    arrange(type, descending, 0, N);
    expect(memcmp(got, model, N * bytes) == 0, "merge", types[type].key, descending);
    clReleaseMemObject(args.source);
    clReleaseMemObject(args.other);
    clReleaseMemObject(args.destination);
}

/* Groups are in the order of the type of keys; values have the type that was matched. */
static void grouped(hs_kind kind, uint32_t type, uint32_t descending)
{
    static const char *const names[] = {"u32", "i32", "f32", "v4", "4"};
    const uint32_t bytes = types[type].bytes;
    uint32_t values[N], least, groups = 0;
    any_args args;
    size_t v, i;
    memcpy(model, given, sizeof given);
    arrange(type, descending, 0, N);
    for (i = 0; i < N; i++) values[i] = i % 2 ? 0x3f800000u : 0xbf800000u; /* 1 and -1; as integers -1 is not least of all */
    values[5] = 0xc0000000u;                                               /* -2 */
    values[6] = 0x80000001u;                                               /* the least integer */
    for (v = 0; v < sizeof names / sizeof names[0]; v++) {
        memset(&args, 0, sizeof args);
        args.n = N;
        args.take = HS_MIN;
        args.source = buffer(kind == HS_GROUP_BY ? given : model);
        args.values = buffer(values);
        args.destination = buffer(NULL);
        args.values_destination = buffer(NULL);
        args.report = buffer(NULL);
        call(kind, names[v], type, descending, &args);
        memcpy(&groups, got_report, sizeof groups);
        must(groups && groups <= N, "no number of groups", types[type].key);
        for (i = 1; i < groups; i++)
            if (compare(got + (i - 1) * bytes, got + i * bytes) >= 0) break;
        expect(i == groups, "groups", types[type].key, descending);
        least = 0;
        for (i = 0; i < groups; i++) {
            const uint64_t one = ordered(at(got_values, 4, i), 4, v > 2 ? 0 : (uint32_t)v, 0);
            if (i == 0 || one < ordered(least, 4, v > 2 ? 0 : (uint32_t)v, 0)) least = (uint32_t)at(got_values, 4, i);
        }
        expect(least == (v == 1 ? 0x80000001u : v == 2 ? 0xc0000000u : 0x3f800000u), names[v], types[type].key, descending);
        clReleaseMemObject(args.source);
        clReleaseMemObject(args.values);
        clReleaseMemObject(args.destination);
        clReleaseMemObject(args.values_destination);
        clReleaseMemObject(args.report);
    }
}

/* A call may name another type, and the unsigned one by a constant of its own. */
static void overridden(void)
{
    const hs_type named[] = {HS_UNSIGNED, HS_U32, HS_I32, HS_F32, HS_AS_MATCHED};
    const uint32_t expected[] = {7, 7, 8, 9, 9};
    size_t i;
    for (i = 0; i < sizeof named / sizeof named[0]; i++) {
        any_args args;
        memset(&args, 0, sizeof args);
        memcpy(model, given, sizeof given);
        arrange(expected[i], 0, 0, N);
        args.n = N;
        args.source = buffer(given);
        args.options.type = named[i];
        call(HS_SORT, NULL, 9, 0, &args);
        expect(memcmp(got, model, N * sizeof(uint32_t)) == 0, "a named type", types[expected[i]].key, 0);
        clReleaseMemObject(args.source);
    }
}

/* All operations for types of `bytes` bytes, sorts and digests for others; without it, all for all. */
int main(int argc, char **argv)
{
    const uint32_t full = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    cl_platform_id platform;
    uint32_t type, descending, x = 2463534242u;
    size_t i;
    cl_int code;
    must(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "no platform", "");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "no device", "");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    queue = clCreateCommandQueue(context, device, 0, &code);
    for (i = 0; i < sizeof given; i++) {
        x = x * 1664525u + 1013904223u;
        given[i] = (unsigned char)(x >> 24);
    }
    for (type = 0; type < TYPES; type++)
        for (descending = 0; descending < 2; descending++) {
            whole(type, descending);
            if (full && types[type].bytes != full) continue;
            rows(type, descending);
            merged(type, descending);
            if (types[type].bytes != 4) continue;
            grouped(HS_GROUP_BY, type, descending);
            if (!descending) grouped(HS_REDUCE_BY_KEY, type, descending);
        }
    overridden();
    for (i = 0; programs[i].text; i++) free(programs[i].data);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    printf("%d results, %d wrong\n", asked, wrong);
    return wrong != 0;
}
