/* Sorting with CUDA; see hs_cuda.h. */
#include "hs/hs_cuda.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

struct hs_cuda {
    const hs_cuda_kernels *kernels;
    int device;
    uint64_t columns; /* greatest grid in x, what the target allows included */
    uint32_t rows;    /* greatest grid in y */
};

static hs_status hs_cuda_status(cudaError_t code)
{
    switch (code) {
    case cudaSuccess: return HS_OK;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice: return HS_ERROR_DEVICE;
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorInvalidKernelImage: return HS_ERROR_BUILD;
    case cudaErrorMemoryAllocation: return HS_ERROR_DEVICE_MEMORY;
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure: return HS_ERROR_DEVICE_LOST;
    default: return HS_ERROR_API;
    }
}

/* The runtime keeps the last error for whoever asks next.  An error that is handed out here is taken back, unless
 * `pending` says that one was waiting already: that belongs to the caller, and stays. */
static hs_status hs_cuda_failed(cudaError_t code, cudaError_t pending, cudaError_t *error)
{
    if (code != cudaSuccess && pending == cudaSuccess) (void)cudaGetLastError();
    if (error) *error = code;
    return hs_cuda_status(code);
}

static cudaError_t hs_cuda_fact(cudaDeviceAttr attribute, int device, uint64_t *value)
{
    int number = 0;
    const cudaError_t code = cudaDeviceGetAttribute(&number, attribute, device);
    *value = number > 0 ? (uint64_t)number : 0;
    return code;
}

/* Whether `device`, the current one, holds the largest grid of a cooperative kernel at once: an error that is found here
 * is not one in the middle of a sort. */
static hs_status hs_cuda_holds(const hs_cuda_kernels *sort, uint32_t index, int device, cudaError_t *code)
{
    const hs_kernel *kernel = &sort->sort->kernels[index];
    uint64_t able, cores, groups = 0;
    uint32_t i;
    int each = 0;
    if ((*code = hs_cuda_fact(cudaDevAttrCooperativeLaunch, device, &able)) != cudaSuccess ||
        (*code = hs_cuda_fact(cudaDevAttrMultiProcessorCount, device, &cores)) != cudaSuccess ||
        (*code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, sort->kernels[index], (int)kernel->work_group,
                                                               kernel->local_bytes)) != cudaSuccess)
        return hs_cuda_status(*code);
    for (i = 0; i < sort->sort->step_count; i++)
        if (sort->sort->steps[i].kernel == index && sort->sort->steps[i].grid.cap > groups)
            groups = sort->sort->steps[i].grid.cap;
    return able && each > 0 && groups <= cores * (uint64_t)each ? HS_OK : HS_ERROR_DEVICE;
}

/* Whether an error of the first look at a kernel says that no code was made for the device: that is an answer. */
static int hs_cuda_absent(cudaError_t code)
{
    return code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction ||
           hs_cuda_status(code) == HS_ERROR_BUILD;
}

/* Whether `device`, the current one, runs the kernels of a sort; where it must be asked for, shared memory is if
 * `prepare` says so, or if how many groups are resident follows from it.  `known`: the status is an answer, not the
 * failure of a question. */
static hs_status hs_cuda_runs(const hs_cuda_kernels *sort, int device, int prepare, cudaError_t *code, int *known)
{
    uint64_t warp, threads, shared;
    uint32_t i;
    *known = 1;
    if (!sort->kernels) return HS_ERROR_KERNELS;
    *known = 0;
    if ((*code = hs_cuda_fact(cudaDevAttrWarpSize, device, &warp)) != cudaSuccess ||
        (*code = hs_cuda_fact(cudaDevAttrMaxThreadsPerBlock, device, &threads)) != cudaSuccess ||
        (*code = hs_cuda_fact(cudaDevAttrMaxSharedMemoryPerBlockOptin, device, &shared)) != cudaSuccess)
        return hs_cuda_status(*code);
    for (i = 0; i < sort->sort->kernel_count; i++) {
        const hs_kernel *kernel = &sort->sort->kernels[i];
        struct cudaFuncAttributes has;
        *known = 1;
        if (warp != 32 || kernel->subgroup > 32 || kernel->work_group > threads) return HS_ERROR_DEVICE;
        /* the first look at a kernel, which fails if it was not compiled for this device */
        *code = cudaFuncGetAttributes(&has, sort->kernels[i]);
        *known = *code == cudaSuccess || hs_cuda_absent(*code);
        if (*code != cudaSuccess) return hs_cuda_status(*code);
        if (has.maxThreadsPerBlock < (int)kernel->work_group) return HS_ERROR_DEVICE;
        if (has.sharedSizeBytes + kernel->local_bytes > shared) return HS_ERROR_DEVICE;
        if ((prepare || kernel->cooperative) && has.maxDynamicSharedSizeBytes < (int)kernel->local_bytes) {
            *code = cudaFuncSetAttribute(sort->kernels[i], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)kernel->local_bytes);
            *known = *code == cudaSuccess;
            if (*code != cudaSuccess) return hs_cuda_status(*code);
        }
        if (kernel->cooperative) {
            const hs_status status = hs_cuda_holds(sort, i, device, code);
            *known = *code == cudaSuccess;
            if (status != HS_OK) return status;
        }
    }
    return HS_OK;
}

extern "C" hs_status hs_cuda_create(const hs_cuda_kernels *sort, hs_cuda **sorter, cudaError_t *error)
{
    const cudaError_t pending = cudaPeekAtLastError();
    cudaError_t code = cudaSuccess;
    uint64_t columns = 0, rows = 0;
    int device = 0, known;
    hs_status status;
    hs_cuda *made;
    if (error) *error = cudaSuccess;
    if (sorter) *sorter = NULL;
    if (!sort || !sort->sort || !sorter) return HS_ERROR_ARGUMENT;
    if ((code = cudaGetDevice(&device)) != cudaSuccess ||
        (code = hs_cuda_fact(cudaDevAttrMaxGridDimX, device, &columns)) != cudaSuccess ||
        (code = hs_cuda_fact(cudaDevAttrMaxGridDimY, device, &rows)) != cudaSuccess)
        return hs_cuda_failed(code, pending, error);
    status = hs_cuda_runs(sort, device, 1, &code, &known);
    if (status != HS_OK) {
        (void)hs_cuda_failed(code, pending, error);
        return status;
    }
    made = (hs_cuda *)malloc(sizeof *made);
    if (!made) return HS_ERROR_HOST_MEMORY;
    made->kernels = sort;
    made->device = device;
    made->columns = columns < sort->sort->max_groups ? columns : sort->sort->max_groups;
    made->rows = (uint32_t)rows;
    *sorter = made;
    return HS_OK;
}

extern "C" void hs_cuda_release(hs_cuda *sorter) { free(sorter); }

extern "C" const hs_sort *hs_cuda_sort_of(const hs_cuda *sorter) { return sorter ? sorter->kernels->sort : NULL; }

/* A buffer as hs_survey wants it; of a size that is not known all is there. */
static hs_span hs_cuda_span(const void *begin, size_t bytes, int known)
{
    hs_span span;
    memset(&span, 0, sizeof span);
    span.where = begin ? 1 : 0; /* all pointers are into one address space */
    span.begin = (uint64_t)(uintptr_t)begin;
    span.room = known ? bytes : UINT64_MAX;
    return span;
}

/* A call of any kind, which the public functions fill in: `parts` is the number that it has besides n. */
typedef struct hs_cuda_record {
    hs_kind kind;
    uint64_t n;
    hs_options options;
    const void *source;
    void *destination;
    void *scratch;
    const void *values;
    void *values_destination;
    const uint32_t *count;
    size_t scratch_bytes;
    size_t source_bytes, destination_bytes;
    size_t values_bytes, values_destination_bytes;
    const void *other;
    const void *other_values;
    uint32_t *report;
    size_t other_bytes, other_values_bytes, report_bytes;
    uint64_t parts;
} hs_cuda_record;

/* All that can be wrong with a call. */
static hs_status hs_cuda_survey(const hs_sort *sort, const hs_cuda_record *record, hs_call *call, hs_span spans[HS_ROLES])
{
    const int same = record->destination == record->source, along = record->values_destination == record->values;
    hs_status status;
    spans[HS_SOURCE] = hs_cuda_span(record->source, record->source_bytes, record->source_bytes != 0);
    spans[HS_DESTINATION] = hs_cuda_span(record->destination, record->destination_bytes, record->destination_bytes != 0);
    spans[HS_SCRATCH] = hs_cuda_span(record->scratch, record->scratch_bytes, 1);
    spans[HS_VALUES] = hs_cuda_span(record->values, record->values_bytes, record->values_bytes != 0);
    spans[HS_VALUES_OUT] =
        hs_cuda_span(record->values_destination, record->values_destination_bytes, record->values_destination_bytes != 0);
    spans[HS_COUNT] = hs_cuda_span(record->count, 0, 0);
    spans[HS_OTHER_INPUT] = hs_cuda_span(record->other, record->other_bytes, record->other_bytes != 0);
    spans[HS_OTHER_VALUES] = hs_cuda_span(record->other_values, record->other_values_bytes, record->other_values_bytes != 0);
    spans[HS_REPORT] = hs_cuda_span(record->report, record->report_bytes, record->report_bytes != 0);
    if (same) {
        if (spans[HS_DESTINATION].room < spans[HS_SOURCE].room) spans[HS_SOURCE].room = spans[HS_DESTINATION].room;
        spans[HS_DESTINATION].where = 0;
    }
    if (along) {
        if (spans[HS_VALUES_OUT].room < spans[HS_VALUES].room) spans[HS_VALUES].room = spans[HS_VALUES_OUT].room;
        spans[HS_VALUES_OUT].where = 0;
    }
    status = hs_survey(sort, call, spans);
    if (status != HS_OK || hs_idle(sort, record->n)) return status;
    if ((spans[HS_SCRATCH].bytes || spans[HS_DESTINATION].from == HS_SCRATCH) && spans[HS_SCRATCH].begin % 256)
        return HS_ERROR_ALIGNMENT;
    return HS_OK;
}

/* A call that has been checked. */
struct hs_cuda_call {
    hs_call plan;
    hs_span spans[HS_ROLES];
};

/* Launch a kernel whose groups wait for each other: all at once, or not at all. */
static cudaError_t hs_cuda_together(const void *kernel, const uint32_t grid[2], const hs_kernel *what, void **values,
                                    cudaStream_t stream)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.gridDim = dim3(grid[0], grid[1]);
    config.blockDim = dim3(what->work_group);
    config.dynamicSmemBytes = what->local_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, kernel, values);
}

static cudaError_t hs_cuda_launch(const hs_cuda *sorter, const hs_step *step, const uint32_t grid[2],
                                  const hs_cuda_call *call, int argument, cudaStream_t stream)
{
    const hs_kernel *kernel = &sorter->kernels->sort->kernels[step->kernel];
    void *pointers[HS_BINDINGS], *values[HS_BINDINGS + 4];
    int64_t wide = (int64_t)call->plan.n;
    int narrow = (int)call->plan.n, low = hs_bound(step->guard.min_n), high = hs_bound(step->guard.max_n);
    uint32_t i;
    for (i = 0; i < kernel->bindings; i++) {
        const uint64_t begin = call->spans[step->bindings[i].role].begin;
        pointers[i] = (void *)(uintptr_t)(begin + hs_offset(&step->bindings[i], call->plan.n));
        values[i] = &pointers[i];
    }
    values[i++] = kernel->index64 ? (void *)&wide : (void *)&narrow;
    values[i++] = &argument;
    values[i++] = &low; /* kernels of sorts that take no count on the device have no such parameters: */
    values[i] = &high;  /* these are not read then */
    if (kernel->cooperative)
        return hs_cuda_together(sorter->kernels->kernels[step->kernel], grid, kernel, values, stream);
    return cudaLaunchKernel(sorter->kernels->kernels[step->kernel], dim3(grid[0], grid[1]), dim3(kernel->work_group),
                            values, kernel->local_bytes, stream);
}

/* The grid of a step and what its kernel gets; 0: it does not run, -1: it does not fit the device. */
static int hs_cuda_grid(const hs_cuda *sorter, const hs_step *step, const hs_cuda_call *call, uint32_t grid[2],
                        int32_t *argument)
{
    const hs_sort *sort = sorter->kernels->sort;
    const uint64_t groups = hs_groups(step, &call->plan);
    if (!groups || !hs_argument(sort, step, &call->plan, argument)) return 0;
    return hs_grid(groups, sorter->columns, grid) && grid[1] <= sorter->rows ? 1 : -1;
}

static hs_status hs_cuda_run(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_record *record,
                             cudaError_t *error)
{
    const cudaError_t pending = cudaPeekAtLastError();
    hs_cuda_call call;
    const hs_sort *sort;
    cudaError_t code;
    hs_status status;
    uint32_t i, grid[2] = {1, 1};
    int32_t argument = 0;
    int device = 0;
    if (error) *error = cudaSuccess;
    if (!sorter || !record) return HS_ERROR_ARGUMENT;
    sort = sorter->kernels->sort;
    if (sort->kind != record->kind) return HS_ERROR_KERNELS;
    memset(&call, 0, sizeof call);
    call.plan.n = record->n;
    call.plan.parts = record->parts;
    call.plan.options = &record->options;
    status = hs_cuda_survey(sort, record, &call.plan, call.spans);
    if (status != HS_OK || hs_idle(sort, record->n)) return status; /* of no keys nothing is there to point to */
    code = cudaGetDevice(&device);
    if (code != cudaSuccess) return hs_cuda_failed(code, pending, error);
    if (device != sorter->device) return HS_ERROR_DEVICE;
    /* a plan's grids are all known before its first launch: a sort is enqueued whole or not at all */
    for (i = 0; i < sort->step_count; i++)
        if (hs_cuda_grid(sorter, &sort->steps[i], &call, grid, &argument) < 0) return HS_ERROR_DEVICE;
    for (i = 0; i < sort->step_count; i++) {
        if (hs_cuda_grid(sorter, &sort->steps[i], &call, grid, &argument) == 0) continue;
        code = hs_cuda_launch(sorter, &sort->steps[i], grid, &call, argument, stream);
        if (code != cudaSuccess) return hs_cuda_failed(code, pending, error);
    }
    return HS_OK;
}

static hs_cuda_record hs_cuda_empty(hs_kind kind)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = kind;
    return record;
}

extern "C" hs_status hs_cuda_sort(const hs_cuda *sorter, cudaStream_t stream,
                                  const hs_cuda_sort_args *args, cudaError_t *error)
{
    hs_cuda_record record = hs_cuda_empty(HS_SORT);
    if (args) {
        record.n = args->n;
        record.parts = args->shift;
        record.options = args->options;
        record.source = args->source;
        record.source_bytes = args->source_bytes;
        record.destination = args->destination;
        record.destination_bytes = args->destination_bytes;
        record.scratch = args->scratch;
        record.scratch_bytes = args->scratch_bytes;
        record.values = args->values;
        record.values_bytes = args->values_bytes;
        record.values_destination = args->values_destination;
        record.values_destination_bytes = args->values_destination_bytes;
        record.count = args->count;
        record.report = args->report;
        record.report_bytes = args->report_bytes;
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_scan(const hs_cuda *sorter, cudaStream_t stream,
                                  const hs_cuda_scan_args *args, cudaError_t *error)
{
    hs_cuda_record record = hs_cuda_empty(HS_SCAN);
    if (args) {
        record.n = args->n;
        record.source = args->source;
        record.source_bytes = args->source_bytes;
        record.destination = args->destination;
        record.destination_bytes = args->destination_bytes;
        record.scratch = args->scratch;
        record.scratch_bytes = args->scratch_bytes;
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_segmented_sort(const hs_cuda *sorter, cudaStream_t stream,
                                      const hs_cuda_segmented_sort_args *args, cudaError_t *error)
{
    hs_cuda_record record = hs_cuda_empty(HS_SEGMENTED_SORT);
    if (args) {
        record.n = args->n;
        record.parts = args->segment_count;
        record.options = args->options;
        record.source = args->source;
        record.source_bytes = args->source_bytes;
        record.destination = args->destination;
        record.destination_bytes = args->destination_bytes;
        record.scratch = args->scratch;
        record.scratch_bytes = args->scratch_bytes;
        record.other = args->offsets;
        record.other_bytes = args->offsets_bytes;
        record.values = args->values;
        record.values_bytes = args->values_bytes;
        record.values_destination = args->values_destination;
        record.values_destination_bytes = args->values_destination_bytes;
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_merge(const hs_cuda *sorter, cudaStream_t stream,
                                   const hs_cuda_merge_args *args, cudaError_t *error)
{
    hs_cuda_record record = hs_cuda_empty(HS_MERGE);
    if (args) {
        record.n = args->n;
        record.parts = args->first_count;
        record.options = args->options;
        record.source = args->first;
        record.source_bytes = args->first_bytes;
        record.other = args->second;
        record.other_bytes = args->second_bytes;
        record.destination = args->destination;
        record.destination_bytes = args->destination_bytes;
        record.scratch = args->scratch;
        record.scratch_bytes = args->scratch_bytes;
        record.values = args->first_values;
        record.values_bytes = args->first_values_bytes;
        record.other_values = args->second_values;
        record.other_values_bytes = args->second_values_bytes;
        record.values_destination = args->values_destination;
        record.values_destination_bytes = args->values_destination_bytes;
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_digest(const hs_cuda *sorter, cudaStream_t stream,
                                   const hs_cuda_digest_args *args, cudaError_t *error)
{
    hs_cuda_record record = hs_cuda_empty(HS_DIGEST);
    if (args) {
        record.n = args->n;
        record.parts = args->capacity;
        record.options = args->options;
        record.source = args->source;
        record.source_bytes = args->source_bytes;
        record.values = args->values;
        record.values_bytes = args->values_bytes;
        record.report = args->digest;
        record.report_bytes = args->digest_bytes;
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

/* What hs_suits asks of the current device; `properties` keeps the name. */
static cudaError_t hs_cuda_device(hs_device *device, struct cudaDeviceProp *properties, int *index)
{
    cudaError_t code = cudaGetDevice(index);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(properties, *index);
    if (code != cudaSuccess) return code;
    device->type = HS_GPU;
    device->vendor = 0x10de;
    device->compute = (uint32_t)(10 * properties->major + properties->minor);
    device->name = properties->name;
    device->platform = "NVIDIA CUDA";
    return cudaSuccess;
}

extern "C" hs_status hs_cuda_match(const hs_cuda_target *const *targets, size_t count, const char *key,
                                   const char *value, const hs_cuda_kernels **sort)
{
    return hs_cuda_match_kind(targets, count, HS_SORT, key, value, sort);
}

extern "C" hs_status hs_cuda_match_kind(const hs_cuda_target *const *targets, size_t count, hs_kind kind,
                                        const char *key, const char *value, const hs_cuda_kernels **sort)
{
    const cudaError_t pending = cudaPeekAtLastError();
    struct cudaDeviceProp properties;
    hs_device device;
    hs_status status;
    cudaError_t code;
    uint32_t best = 0;
    size_t t, s;
    int index = 0, known;
    if (sort) *sort = NULL;
    if (!sort || !key || (count && !targets)) return HS_ERROR_ARGUMENT;
    code = hs_cuda_device(&device, &properties, &index);
    if (code != cudaSuccess) return hs_cuda_failed(code, pending, NULL);
    for (t = 0; t < count; t++) {
        const hs_target *target = targets[t]->target;
        const uint32_t suits = hs_suits(target, &device);
        for (s = 0; suits > best && s < target->sort_count; s++) {
            if (!hs_serves_kind(target->sorts[s], kind, key, value)) continue;
            code = cudaSuccess;
            status = hs_cuda_runs(targets[t]->sorts[s], index, 0, &code, &known);
            (void)hs_cuda_failed(code, pending, NULL);
            if (status == HS_OK) {
                best = suits;
                *sort = targets[t]->sorts[s];
            } else if (!known) {
                *sort = NULL;
                return status; /* this says nothing about the sort */
            }
        }
    }
    return HS_OK;
}
