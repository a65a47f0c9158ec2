/* Metal's runtime on a Metal that runs nothing, from C.
 *
 * metal play: reads lines of target, algorithm, key, value, n, whether in place, device count, type, descending, begin, end,
 * discard; prints the encoded commands of each.
 * metal fail: lets every call that can fail do so, one after the other.
 * metal wrong: wrong calls, and their statuses. */
#include "fake_metal.h"
#include "any_metal.h"
#include "hs/hs_targets_metal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t ROOM = (uint64_t)1 << 50;

static const hs_metal_kernels *find(const char *target, const char *algorithm, const char *key, const char *value)
{
    size_t t, s;
    for (t = 0; t < hs_metal_targets_count; t++) {
        const hs_target *of = hs_metal_targets[t]->target;
        const hs_sort *found = strcmp(of->name, target) ? NULL : hs_find(of, algorithm, key, value);
        for (s = 0; found && s < of->sort_count; s++)
            if (of->sorts[s] == found) return hs_metal_targets[t]->sorts[s];
    }
    return NULL;
}

/* Buffers a to f by role, each with an offset. */
static void fill(const hs_sort *sort, any_args *args, int in_place)
{
    const int valued = sort->value_bytes && !sort->index;
    args->source.memory = fake_buffer('a', ROOM);
    args->source.offset = 3 * (uint64_t)sort->key_bytes;
    args->scratch.memory = fake_buffer('c', ROOM);
    args->scratch.offset = 512;
    if (!in_place && !args->options.discard_keys) {
        args->destination.memory = fake_buffer('b', ROOM);
        args->destination.offset = 5 * (uint64_t)sort->key_bytes;
    }
    if (valued) {
        args->values.memory = fake_buffer('d', ROOM);
        args->values.offset = 7 * (uint64_t)sort->value_bytes;
    }
    if (sort->index || (valued && !in_place)) {
        args->values_destination.memory = fake_buffer('e', ROOM);
        args->values_destination.offset = 9 * (uint64_t)sort->value_bytes;
    }
}

static int play(void)
{
    char target[64], algorithm[64], key[16], value[16];
    int in_place, device_count;
    unsigned type;
    any_args args;
    memset(&args, 0, sizeof args);
    fake.shows = 1;
    while (scanf("%63s %63s %15s %15s %" SCNu64 " %d %d %u %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32, target,
                 algorithm, key, value, &args.n, &in_place, &device_count, &type, &args.options.descending,
                 &args.options.begin_bit, &args.options.end_bit, &args.options.discard_keys) == 12) {
        const hs_metal_kernels *kernels = find(target, algorithm, key, value);
        const uint64_t n = args.n;
        const hs_options options = args.options;
        hs_metal *sorter = NULL;
        hs_status status;
        memset(&args, 0, sizeof args);
        args.n = n;
        args.options = options;
        args.options.type = (hs_type)type;
        if (!kernels) return 1;
        fill(kernels->sort, &args, in_place);
        if (device_count) {
            args.count.memory = fake_buffer('f', ROOM);
            args.count.offset = 44;
        }
        status = hs_metal_create(kernels, fake_device(), &sorter, NULL);
        if (status == HS_OK && hs_metal_sort_of(sorter) != kernels->sort) return 1;
        if (status == HS_OK) status = any_sort(sorter, fake_commands(), &args);
        printf("status %d\n", (int)status);
        hs_metal_release(sorter);
    }
    return fake.alive || fake.wrong || fake.encoders != fake.ended;
}

/* Match, create and sort; return the first status other than success. */
static hs_status once(hs_metal_error *error)
{
    const hs_metal_kernels *kernels = NULL;
    hs_metal *sorter = NULL;
    any_args args;
    hs_status status = hs_metal_match(hs_metal_targets, hs_metal_targets_count, "u32", NULL, fake_device(), &kernels);
    if (status == HS_OK && !kernels) return HS_ERROR_DEVICE;
    memset(&args, 0, sizeof args);
    args.n = 1000003;
    if (status == HS_OK) status = hs_metal_create(kernels, fake_device(), &sorter, error);
    if (status != HS_OK && sorter) fake.wrong++;
    if (status == HS_OK) fill(kernels->sort, &args, 1);
    if (status == HS_OK) status = any_sort(sorter, fake_commands(), &args);
    hs_metal_release(sorter);
    return status;
}

static int fail(void)
{
    unsigned long call, calls, seen[HS_ERROR_RANGE + 1] = {0};
    int wrong = 0;
    hs_metal_error error;
    memset(&error, 0, sizeof error);
    if (once(&error) != HS_OK) return 1;
    calls = fake.calls;
    for (call = 1; call <= calls + 1; call++) {
        hs_status status;
        fake.calls = 0;
        fake.fail = call;
        status = once(&error);
        seen[status]++;
        wrong += (status == HS_OK) != (call > calls) || fake.alive || fake.wrong || fake.encoders != fake.ended;
        wrong += error.code != 0 && (error.code != 17 || strcmp(error.log, "refused, as asked for") != 0);
        wrong += error.code != 0 && status != HS_ERROR_BUILD;
    }
    printf("%lu calls failed: %lu builds, %lu times no memory, %lu names or encoders, %d wrong\n", calls, seen[HS_ERROR_BUILD],
           seen[HS_ERROR_HOST_MEMORY], seen[HS_ERROR_API], wrong);
    return wrong != 0;
}

static int asked, failed;
static void expect(const char *what, hs_status found, hs_status wanted)
{
    asked++;
    if (found == wanted) return;
    failed++;
    printf("%s: %s, should be %s\n", what, hs_status_text(found), hs_status_text(wanted));
}

/* One call after another with one error; none of them may be encoded. */
static void wrong_sorts(const hs_metal_kernels *kernels, const hs_metal *sorter)
{
    void *const commands = fake_commands();
    const unsigned long before = fake.encoders;
    any_args args, good;
    memset(&good, 0, sizeof good);
    good.n = 1000003;
    fill(kernels->sort, &good, 0);
    expect("no sorter", any_sort(NULL, commands, &good), HS_ERROR_ARGUMENT);
    expect("no commands", any_sort(sorter, NULL, &good), HS_ERROR_ARGUMENT);
    expect("no arguments", any_sort(sorter, commands, NULL), HS_ERROR_ARGUMENT);
    expect("a scan", any_scan(sorter, commands, &good), HS_ERROR_KERNELS);
    args = good, args.source.memory = NULL;
    expect("no source", any_sort(sorter, commands, &args), HS_ERROR_ARGUMENT);
    args = good, args.n = kernels->sort->max_n + 1;
    expect("too many", any_sort(sorter, commands, &args), HS_ERROR_COUNT);
    args = good, args.source.offset += 1;
    expect("an odd offset", any_sort(sorter, commands, &args), HS_ERROR_ALIGNMENT);
    args = good, args.scratch.offset += 16;
    expect("an odd scratch", any_sort(sorter, commands, &args), HS_ERROR_ALIGNMENT);
    args = good, args.scratch.memory = NULL;
    expect("no scratch", any_sort(sorter, commands, &args), HS_ERROR_SCRATCH);
    args = good, args.scratch.offset = ROOM - 256;
    expect("little scratch", any_sort(sorter, commands, &args), HS_ERROR_SCRATCH);
    args = good, args.destination.offset = ROOM - 4000;
    expect("a short destination", any_sort(sorter, commands, &args), HS_ERROR_COUNT);
    args = good, args.destination.offset = ROOM + 4000;
    expect("an offset beyond", any_sort(sorter, commands, &args), HS_ERROR_COUNT);
    args = good, args.destination.memory = good.source.memory;
    expect("an overlap", any_sort(sorter, commands, &args), HS_ERROR_OVERLAP);
    args = good, args.values.memory = fake_buffer('d', ROOM);
    expect("values", any_sort(sorter, commands, &args), HS_ERROR_OPTION);
    args = good, args.count.memory = fake_buffer('f', ROOM);
    expect("a count", any_sort(sorter, commands, &args), HS_ERROR_OPTION);
    args = good, args.parts = 1;
    expect("parts", any_sort(sorter, commands, &args), HS_ERROR_PARTS);
    args = good, args.report.memory = fake_buffer('g', ROOM);
    expect("a report", any_sort(sorter, commands, &args), HS_ERROR_OPTION);
    args = good, args.options.descending = 1;
    expect("an order", any_sort(sorter, commands, &args), HS_ERROR_OPTION);
    args = good, args.n = 0;
    expect("no keys", any_sort(sorter, commands, &args), HS_OK);
    asked++, failed += fake.encoders != before;
    args = good, args.destination = args.source;
    expect("in place by name", any_sort(sorter, commands, &args), HS_OK);
    asked++, failed += fake.encoders != before + 1;
}

/* A sort of another kind, which reports for n = 0 too: its own entry point takes it, and no other. */
static void other_kinds(const hs_metal_kernels *kernels)
{
    void *const commands = fake_commands();
    hs_sort made = *kernels->sort;
    hs_step step = made.steps[0];
    const hs_metal_kernels crafted = {&made, kernels->lines, kernels->line_count}, *found = NULL;
    const unsigned long before = fake.dispatches;
    hs_metal *sorter = NULL;
    any_args args;
    uint32_t k;
    memset(&step.guard, 0, sizeof step.guard);
    step.guard.max_n = 1000;
    step.guard.at_zero = 1;
    step.grid.x = HS_BY_N;
    step.grid.add = 1;
    step.grid.div = step.grid.mul = step.grid.cap = 1;
    step.argument.kind = HS_CALL_NUMBER;
    memset(step.bindings, 0, sizeof step.bindings);
    for (k = 0; k < HS_BINDINGS; k++) step.bindings[k].role = k ? HS_REPORT : HS_SOURCE;
    made.kind = HS_DIGEST;
    made.report_words = 8;
    made.steps = &step;
    made.step_count = 1;
    made.max_n = 1000;
    made.scratch_rule_count = 0;
    expect("a checker", hs_metal_create(&crafted, fake_device(), &sorter, NULL), HS_OK);
    if (!sorter) return;
    memset(&args, 0, sizeof args);
    expect("no report", any_check(sorter, commands, &args), HS_ERROR_ARGUMENT);
    args.report.memory = fake_buffer('g', ROOM);
    args.report.offset = 4;
    expect("a sort", any_sort(sorter, commands, &args), HS_ERROR_KERNELS);
    expect("segments", any_segments(sorter, commands, &args), HS_ERROR_KERNELS);
    expect("a merge", any_merge(sorter, commands, &args), HS_ERROR_KERNELS);
    asked++, failed += fake.dispatches != before;
    expect("a check", any_check(sorter, commands, &args), HS_OK);
    asked++, failed += fake.dispatches != before + 1;
    args.report.offset = ROOM - 28;
    expect("a short report", any_check(sorter, commands, &args), HS_ERROR_COUNT);
    asked++, failed += fake.dispatches != before + 1;
    hs_metal_release(sorter);
    expect("a kind", hs_metal_match_kind(hs_metal_targets, hs_metal_targets_count, HS_SORT, "u32", NULL, fake_device(),
                                         &found), HS_OK);
    asked++, failed += found != kernels;
    expect("no kind", hs_metal_match_kind(hs_metal_targets, hs_metal_targets_count, HS_MERGE, "u32", NULL,
                                          fake_device(), &found), HS_OK);
    asked++, failed += found != NULL;
}

/* SIMD groups of another width are refused by sorts whose lanes exchange values, and by no others. */
static void other_widths(const hs_metal_kernels *alone)
{
    const hs_metal_kernels *kernels = find("simd32", "auto", "u32", "none");
    hs_metal *sorter = NULL;
    expect("its width", kernels ? hs_metal_create(kernels, fake_device(), &sorter, NULL) : HS_ERROR_KERNELS, HS_OK);
    hs_metal_release(sorter);
    fake.pipeline_width = 16;
    expect("another width", kernels ? hs_metal_create(kernels, fake_device(), &sorter, NULL) : HS_OK, HS_ERROR_DEVICE);
    expect("any width", hs_metal_create(alone, fake_device(), &sorter, NULL), HS_OK);
    hs_metal_release(sorter);
    fake.pipeline_width = 32;
}

static void wrong_devices(const hs_metal_kernels *kernels)
{
    const fake_metal good = fake;
    const hs_metal_kernels bare = {kernels->sort, NULL, 0}, *found;
    hs_metal *sorter = NULL;
    void *const device = fake_device();
    expect("no kernels", hs_metal_create(&bare, device, &sorter, NULL), HS_ERROR_KERNELS);
    expect("no sort", hs_metal_create(NULL, device, &sorter, NULL), HS_ERROR_ARGUMENT);
    expect("no device", hs_metal_create(kernels, NULL, &sorter, NULL), HS_ERROR_ARGUMENT);
    expect("nowhere", hs_metal_create(kernels, device, NULL, NULL), HS_ERROR_ARGUMENT);
    fake.lanes = 32;
    expect("few lanes", hs_metal_create(kernels, device, &sorter, NULL), HS_ERROR_DEVICE);
    expect("a match", hs_metal_match(hs_metal_targets, hs_metal_targets_count, "u32", NULL, device, &found), HS_OK);
    asked++, failed += found != NULL;
    fake.lanes = good.lanes, fake.local_bytes = 100;
    expect("little memory", hs_metal_create(kernels, device, &sorter, NULL), HS_ERROR_DEVICE);
    fake.local_bytes = good.local_bytes, fake.pipeline_lanes = 32;
    expect("slim pipelines", hs_metal_create(kernels, device, &sorter, NULL), HS_ERROR_DEVICE);
    fake.pipeline_lanes = good.pipeline_lanes, fake.name = "Another GPU";
    expect("another", hs_metal_match(hs_metal_targets, hs_metal_targets_count, "u32", NULL, device, &found), HS_OK);
    asked++, failed += !found || strcmp(found->sort->target, "simd32") != 0; /* names no devices */
    fake.name = NULL;
    expect("no name", hs_metal_match(hs_metal_targets, hs_metal_targets_count, "u32", NULL, device, &found),
           HS_ERROR_API);
    asked++, failed += found != NULL; /* no target for all devices */
    fake.name = good.name;
    expect("a key", hs_metal_match(hs_metal_targets, hs_metal_targets_count, NULL, NULL, device, &found),
           HS_ERROR_ARGUMENT);
    asked++, failed += sorter != NULL;
    hs_metal_release(NULL);
    asked++, failed += hs_metal_sort_of(NULL) != NULL;
}

/* Only the pipelines of a scope are made, and other calls are refused. */
static void scopes(const hs_metal_kernels *kernels)
{
    hs_metal_create_options options;
    hs_metal *sorter = NULL;
    any_args args;
    uint32_t all = 0, some;
    memset(&options, 0, sizeof options);
    memset(&args, 0, sizeof args);
    options.scope.min_n = 101;
    options.scope.max_n = 100;
    expect("an empty range", hs_metal_create_with(kernels, fake_device(), &options, &sorter, NULL), HS_ERROR_COUNT);
    asked++, failed += sorter != NULL || hs_metal_pipeline_count(NULL) != 0;
    expect("no options", hs_metal_create_with(kernels, fake_device(), NULL, &sorter, NULL), HS_OK);
    all = hs_metal_pipeline_count(sorter);
    hs_metal_release(sorter);
    options.scope.min_n = 0;
    expect("a scope", hs_metal_create_with(kernels, fake_device(), &options, &sorter, NULL), HS_OK);
    some = hs_metal_pipeline_count(sorter);
    asked++, failed += some == 0 || some >= all;
    fill(kernels->sort, &args, 1);
    args.n = 100;
    expect("within", any_sort(sorter, fake_commands(), &args), HS_OK);
    args.n = 101;
    expect("beyond", any_sort(sorter, fake_commands(), &args), HS_ERROR_SCOPE);
    hs_metal_release(sorter);
}

static int wrong(void)
{
    const hs_metal_kernels *kernels = NULL;
    hs_metal *sorter = NULL;
    expect("a match", hs_metal_match(hs_metal_targets, hs_metal_targets_count, "u32", NULL, fake_device(), &kernels),
           HS_OK);
    if (!kernels || strcmp(kernels->sort->target, "apple-m1") != 0) return 1;
    expect("a sorter", hs_metal_create(kernels, fake_device(), &sorter, NULL), HS_OK);
    if (sorter) wrong_sorts(kernels, sorter);
    hs_metal_release(sorter);
    wrong_devices(kernels);
    other_kinds(kernels);
    other_widths(kernels);
    scopes(kernels);
    asked++, failed += fake.alive != 0 || fake.wrong != 0 || fake.encoders != fake.ended;
    printf("%d statuses and results asked for, %d wrong\n", asked, failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    fake.name = "Apple M2 Max";
    fake.lanes = fake.pipeline_lanes = 1024;
    fake.local_bytes = 32768;
    fake.pipeline_width = 32;
    if (argc == 2 && strcmp(argv[1], "play") == 0) return play();
    if (argc == 2 && strcmp(argv[1], "fail") == 0) return fail();
    if (argc == 2 && strcmp(argv[1], "wrong") == 0) return wrong();
    return 2;
}
