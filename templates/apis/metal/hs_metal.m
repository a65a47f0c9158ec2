/* Sorting with Metal; see hs_metal.h.  Compiled with or without automatic reference counting. */
#include "hs/hs_metal.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdlib.h>
#include <string.h>

/* Objects that are owned by plain memory, which reference counting does not look into. */
#if __has_feature(objc_arc)
#define HS_OWNED(object) ((__bridge_retained void *)(object))
#define HS_DROP(pointer) ((void)(__bridge_transfer id)(pointer))
#define HS_OBJECT(type, pointer) ((__bridge type)(pointer))
#define HS_POINTER(object) ((__bridge void *)(object))
#else
#define HS_OWNED(object) ((void *)(object))
#define HS_DROP(pointer) [(id)(pointer) release]
#define HS_OBJECT(type, pointer) ((type)(pointer))
#define HS_POINTER(object) ((void *)(object))
#endif

struct hs_metal {
    const hs_sort *sort;
    uint32_t pipeline_count; /* pipelines that exist */
    void *pipelines[1];      /* as many as the sort has kernels; each an owned id<MTLComputePipelineState> */
};

/* What a kernel gets behind its buffers: hs_numbers in Metal's language. */
typedef struct hs_metal_numbers {
    int64_t n;
    int32_t argument, low, high;
} hs_metal_numbers;

static hs_status hs_metal_failed(NSError *problem, hs_metal_error *error)
{
    if (error && problem) {
        const char *log = [[problem localizedDescription] UTF8String];
        error->code = (long)[problem code];
        if (log) strncpy(error->log, log, sizeof error->log - 1);
    }
    return HS_ERROR_BUILD;
}

/* Whether the device's general limits allow the sort. */
static int hs_metal_runs(const hs_sort *sort, hs_metal_device device)
{
    const uint64_t local = [device maxThreadgroupMemoryLength], lanes = [device maxThreadsPerThreadgroup].width;
    uint32_t i;
    for (i = 0; i < sort->kernel_count; i++)
        if (sort->kernels[i].work_group > lanes || sort->kernels[i].local_bytes > local) return 0;
    return 1;
}

/* An owned NSString; null where memory is out. */
static void *hs_metal_string(const char *const *lines, size_t count)
{
    void *made = NULL;
    char *text;
    size_t i, size = 1, at = 0;
    for (i = 0; i < count; i++) size += strlen(lines[i]);
    text = (char *)calloc(size, 1);
    if (!text) return NULL;
    for (i = 0; i < count; i++) {
        const size_t length = strlen(lines[i]);
        memcpy(text + at, lines[i], length);
        at += length;
    }
    made = HS_OWNED([[NSString alloc] initWithUTF8String:text]);
    free(text);
    return made;
}

/* Compile the text of a sort; the library is owned. */
static hs_status hs_metal_library(const hs_metal_kernels *sort, hs_metal_device device, void **library,
                                  hs_metal_error *error)
{
    NSError *problem = nil;
    void *text = hs_metal_string(sort->lines, sort->line_count);
    if (!text) return HS_ERROR_HOST_MEMORY;
    *library = HS_OWNED([device newLibraryWithSource:HS_OBJECT(NSString *, text) options:nil error:&problem]);
    HS_DROP(text);
    return *library ? HS_OK : hs_metal_failed(problem, error);
}

/* A pipeline may run fewer lanes than the device in general, and has SIMD groups of a width of its own. */
static hs_status hs_metal_suits(const hs_kernel *kernel, id<MTLComputePipelineState> pipeline)
{
    if ([pipeline maxTotalThreadsPerThreadgroup] < kernel->work_group) return HS_ERROR_DEVICE;
    return kernel->subgroup == 1 || [pipeline threadExecutionWidth] == kernel->subgroup ? HS_OK : HS_ERROR_DEVICE;
}

static hs_status hs_metal_pipeline(hs_metal *made, uint32_t index, hs_metal_device device, void *library,
                                   hs_metal_error *error)
{
    const hs_kernel *kernel = &made->sort->kernels[index];
    NSError *problem = nil;
    void *function, *pipeline, *name = hs_metal_string(&kernel->name, 1);
    if (!name) return HS_ERROR_HOST_MEMORY;
    function = HS_OWNED([HS_OBJECT(id<MTLLibrary>, library) newFunctionWithName:HS_OBJECT(NSString *, name)]);
    HS_DROP(name);
    if (!function) return HS_ERROR_BUILD;
    pipeline = HS_OWNED([device newComputePipelineStateWithFunction:HS_OBJECT(id<MTLFunction>, function)
                                                              error:&problem]);
    HS_DROP(function);
    if (!pipeline) return hs_metal_failed(problem, error);
    made->pipelines[index] = pipeline;
    made->pipeline_count = index + 1;
    return hs_metal_suits(kernel, HS_OBJECT(id<MTLComputePipelineState>, pipeline));
}

hs_status hs_metal_create(const hs_metal_kernels *sort, hs_metal_device device, hs_metal **sorter,
                          hs_metal_error *error)
{
    hs_metal *made;
    hs_status status;
    void *library = NULL;
    uint32_t i;
    if (error) memset(error, 0, sizeof *error);
    if (sorter) *sorter = NULL;
    if (!sort || !sort->sort || !device || !sorter) return HS_ERROR_ARGUMENT;
    if (!sort->lines) return HS_ERROR_KERNELS;
    @autoreleasepool {
        if (!hs_metal_runs(sort->sort, device)) return HS_ERROR_DEVICE;
        made = (hs_metal *)calloc(1, sizeof *made + sort->sort->kernel_count * sizeof made->pipelines[0]);
        if (!made) return HS_ERROR_HOST_MEMORY;
        made->sort = sort->sort;
        status = hs_metal_library(sort, device, &library, error);
        for (i = 0; i < made->sort->kernel_count && status == HS_OK; i++)
            status = hs_metal_pipeline(made, i, device, library, error);
        if (library) HS_DROP(library);
        if (status != HS_OK)
            hs_metal_release(made);
        else
            *sorter = made;
    }
    return status;
}

void hs_metal_release(hs_metal *sorter)
{
    uint32_t i;
    if (!sorter) return;
    for (i = 0; i < sorter->pipeline_count; i++) HS_DROP(sorter->pipelines[i]);
    free(sorter);
}

const hs_sort *hs_metal_sort_of(const hs_metal *sorter) { return sorter ? sorter->sort : NULL; }

/* A call that has been checked. */
typedef struct hs_metal_call {
    hs_call plan;
    hs_metal_buffer given[HS_ROLES];
    hs_span spans[HS_ROLES];
} hs_metal_call;

static int hs_metal_same(const hs_metal_buffer *a, const hs_metal_buffer *b)
{
    return a->memory == b->memory && a->offset == b->offset;
}

/* A call of any kind, which the public functions fill in: `parts` is the number that it has besides n. */
typedef struct hs_metal_record {
    hs_kind kind;
    uint64_t n;
    hs_options options;
    hs_metal_buffer source;
    hs_metal_buffer destination;
    hs_metal_buffer scratch;
    hs_metal_buffer values;
    hs_metal_buffer values_destination;
    hs_metal_buffer count;
    hs_metal_buffer other;
    hs_metal_buffer other_values;
    hs_metal_buffer report;
    uint64_t parts;
} hs_metal_record;

/* All that can be wrong with the buffers of a call. */
static hs_status hs_metal_survey(const hs_sort *sort, const hs_metal_record *record, hs_metal_call *call)
{
    hs_span *const spans = call->spans;
    hs_status status;
    int i;
    call->given[HS_SOURCE] = record->source;
    call->given[HS_DESTINATION] = record->destination;
    call->given[HS_SCRATCH] = record->scratch;
    call->given[HS_VALUES] = record->values;
    call->given[HS_VALUES_OUT] = record->values_destination;
    call->given[HS_COUNT] = record->count;
    call->given[HS_OTHER_INPUT] = record->other;
    call->given[HS_OTHER_VALUES] = record->other_values;
    call->given[HS_REPORT] = record->report;
    for (i = 0; i < HS_ROLES; i++) {
        const hs_metal_buffer *one = &call->given[i];
        const uint64_t length = one->memory ? [one->memory length] : 0;
        spans[i].where = (uint64_t)(uintptr_t)HS_POINTER(one->memory);
        spans[i].begin = one->offset;
        spans[i].room = length > one->offset ? length - one->offset : 0;
    }
    if (hs_metal_same(&record->destination, &record->source)) spans[HS_DESTINATION].where = 0;
    if (hs_metal_same(&record->values_destination, &record->values)) spans[HS_VALUES_OUT].where = 0;
    status = hs_survey(sort, &call->plan, spans);
    if (status != HS_OK || hs_idle(sort, record->n)) return status;
    if ((spans[HS_SCRATCH].bytes || spans[HS_DESTINATION].from == HS_SCRATCH) && spans[HS_SCRATCH].begin % 256)
        return HS_ERROR_ALIGNMENT;
    return HS_OK;
}

/* The grid of a step and what its kernel gets; 0: it does not run, -1: it does not fit the device. */
static int hs_metal_grid(const hs_sort *sort, const hs_step *step, const hs_metal_call *call, uint32_t grid[2],
                         int32_t *argument)
{
    const uint64_t groups = hs_groups(step, &call->plan);
    if (!groups || !hs_argument(sort, step, &call->plan, argument)) return 0;
    return hs_grid(groups, sort->max_groups, grid) ? 1 : -1;
}

static void hs_metal_dispatch(const hs_metal *sorter, id<MTLComputeCommandEncoder> encoder, const hs_step *step,
                              const hs_metal_call *call, const uint32_t grid[2], int32_t argument)
{
    const hs_kernel *kernel = &sorter->sort->kernels[step->kernel];
    hs_metal_numbers numbers;
    uint32_t i;
    memset(&numbers, 0, sizeof numbers);
    numbers.n = (int64_t)call->plan.n;
    numbers.argument = argument;
    numbers.low = hs_bound(step->guard.min_n);
    numbers.high = hs_bound(step->guard.max_n);
    [encoder setComputePipelineState:HS_OBJECT(id<MTLComputePipelineState>, sorter->pipelines[step->kernel])];
    for (i = 0; i < kernel->bindings; i++) {
        const hs_span *span = &call->spans[step->bindings[i].role];
        [encoder setBuffer:call->given[span->from].memory
                    offset:(NSUInteger)(span->begin + hs_offset(&step->bindings[i], call->plan.n))
                   atIndex:i];
    }
    [encoder setBytes:&numbers length:sizeof numbers atIndex:i];
    [encoder dispatchThreadgroups:MTLSizeMake(grid[0], grid[1], 1)
            threadsPerThreadgroup:MTLSizeMake(kernel->work_group, 1, 1)];
}

/* Encode the steps of a call that has been checked. */
static hs_status hs_metal_encode(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_call *call)
{
    const hs_sort *sort = sorter->sort;
    id<MTLComputeCommandEncoder> encoder = nil;
    uint32_t i, grid[2];
    int32_t argument = 0;
    for (i = 0; i < sort->step_count; i++) {
        if (hs_metal_grid(sort, &sort->steps[i], call, grid, &argument) == 0) continue;
        if (!encoder) {
            encoder = [commands computeCommandEncoder];
            if (!encoder) return HS_ERROR_API;
        } else {
            /* every step reads what the one before wrote, whether or not Metal tracks the buffers */
            [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
        }
        hs_metal_dispatch(sorter, encoder, &sort->steps[i], call, grid, argument);
    }
    [encoder endEncoding];
    return HS_OK;
}

static hs_status hs_metal_run(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_record *record)
{
    hs_metal_call call;
    hs_status status;
    uint32_t i, grid[2];
    int32_t argument;
    if (!sorter || !commands || !record) return HS_ERROR_ARGUMENT;
    if (sorter->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (record->n > sorter->sort->max_n) return HS_ERROR_COUNT;
    memset(&call, 0, sizeof call);
    call.plan.n = record->n;
    call.plan.parts = record->parts;
    call.plan.options = &record->options;
    status = hs_metal_survey(sorter->sort, record, &call);
    if (status != HS_OK || hs_idle(sorter->sort, record->n)) return status;
    for (i = 0; i < sorter->sort->step_count; i++)
        if (hs_metal_grid(sorter->sort, &sorter->sort->steps[i], &call, grid, &argument) < 0) return HS_ERROR_DEVICE;
    @autoreleasepool {
        status = hs_metal_encode(sorter, commands, &call);
    }
    return status;
}

static hs_metal_record hs_metal_empty(hs_kind kind)
{
    hs_metal_record record;
    memset(&record, 0, sizeof record);
    record.kind = kind;
    return record;
}

hs_status hs_metal_sort(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_sort_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_SORT);
    if (args) {
        record.n = args->n;
        record.parts = args->shift;
        record.options = args->options;
        record.source = args->source;
        record.destination = args->destination;
        record.scratch = args->scratch;
        record.values = args->values;
        record.values_destination = args->values_destination;
        record.count = args->count;
        record.report = args->report;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_scan(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_scan_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_SCAN);
    if (args) {
        record.n = args->n;
        record.source = args->source;
        record.destination = args->destination;
        record.scratch = args->scratch;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_segmented_sort(const hs_metal *sorter, hs_metal_commands commands,
                            const hs_metal_segmented_sort_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_SEGMENTED_SORT);
    if (args) {
        record.n = args->n;
        record.parts = args->segment_count;
        record.options = args->options;
        record.source = args->source;
        record.destination = args->destination;
        record.scratch = args->scratch;
        record.other = args->offsets;
        record.values = args->values;
        record.values_destination = args->values_destination;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_merge(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_merge_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_MERGE);
    if (args) {
        record.n = args->n;
        record.parts = args->first_count;
        record.options = args->options;
        record.source = args->first;
        record.other = args->second;
        record.destination = args->destination;
        record.scratch = args->scratch;
        record.values = args->first_values;
        record.other_values = args->second_values;
        record.values_destination = args->values_destination;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_digest(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_digest_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_DIGEST);
    if (args) {
        record.n = args->n;
        record.parts = args->capacity;
        record.options = args->options;
        record.source = args->source;
        record.values = args->values;
        record.report = args->digest;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_match(const hs_metal_target *const *targets, size_t count, const char *key, const char *value,
                         hs_metal_device device, const hs_metal_kernels **sort)
{
    return hs_metal_match_kind(targets, count, HS_SORT, key, value, device, sort);
}

hs_status hs_metal_match_kind(const hs_metal_target *const *targets, size_t count, hs_kind kind, const char *key,
                              const char *value, hs_metal_device device, const hs_metal_kernels **sort)
{
    hs_device facts;
    uint32_t best = 0;
    size_t t, s;
    if (sort) *sort = NULL;
    if (!sort || !key || !device || (count && !targets)) return HS_ERROR_ARGUMENT;
    memset(&facts, 0, sizeof facts);
    @autoreleasepool {
        facts.type = HS_GPU;
        facts.name = [[device name] UTF8String];
        if (!facts.name) return HS_ERROR_API;
        facts.platform = "Metal";
        if (strncmp(facts.name, "Apple", 5) == 0) facts.vendor = 0x106b; /* Metal tells no numbers */
        for (t = 0; t < count; t++) {
            const hs_target *target = targets[t]->target;
            const uint32_t suits = hs_suits(target, &facts);
            for (s = 0; suits > best && s < target->sort_count; s++) {
                if (!hs_serves_kind(target->sorts[s], kind, key, value) || !targets[t]->sorts[s]->lines) continue;
                if (!hs_metal_runs(target->sorts[s], device)) continue;
                best = suits;
                *sort = targets[t]->sorts[s];
            }
        }
    }
    return HS_OK;
}
