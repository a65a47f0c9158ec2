/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 0.3.0; do not edit. */
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

/* Whether `device`, the current one, runs the kernels of a sort; where it must be asked for, shared memory is if
 * `prepare` says so. */
static hs_status hs_cuda_runs(const hs_cuda_kernels *sort, int device, int prepare, cudaError_t *code)
{
    uint64_t warp, threads, shared;
    uint32_t i;
    if (!sort->kernels) return HS_ERROR_KERNELS;
    if ((*code = hs_cuda_fact(cudaDevAttrWarpSize, device, &warp)) != cudaSuccess ||
        (*code = hs_cuda_fact(cudaDevAttrMaxThreadsPerBlock, device, &threads)) != cudaSuccess ||
        (*code = hs_cuda_fact(cudaDevAttrMaxSharedMemoryPerBlockOptin, device, &shared)) != cudaSuccess)
        return hs_cuda_status(*code);
    for (i = 0; i < sort->sort->kernel_count; i++) {
        const hs_kernel *kernel = &sort->sort->kernels[i];
        struct cudaFuncAttributes has;
        if (warp != 32 || kernel->subgroup > 32 || kernel->work_group > threads) return HS_ERROR_DEVICE;
        /* the first look at a kernel, which fails if it was not compiled for this device */
        *code = cudaFuncGetAttributes(&has, sort->kernels[i]);
        if (*code != cudaSuccess) return hs_cuda_status(*code);
        if (has.maxThreadsPerBlock < (int)kernel->work_group) return HS_ERROR_DEVICE;
        if (has.sharedSizeBytes + kernel->local_bytes > shared) return HS_ERROR_DEVICE;
        if (prepare && has.maxDynamicSharedSizeBytes < (int)kernel->local_bytes) {
            *code = cudaFuncSetAttribute(sort->kernels[i], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)kernel->local_bytes);
            if (*code != cudaSuccess) return hs_cuda_status(*code);
        }
    }
    return HS_OK;
}

extern "C" hs_status hs_cuda_create(const hs_cuda_kernels *sort, hs_cuda **sorter, cudaError_t *error)
{
    const cudaError_t pending = cudaPeekAtLastError();
    cudaError_t code = cudaSuccess;
    uint64_t columns = 0, rows = 0;
    int device = 0;
    hs_status status;
    hs_cuda *made;
    if (error) *error = cudaSuccess;
    if (sorter) *sorter = NULL;
    if (!sort || !sort->sort || !sorter) return HS_ERROR_ARGUMENT;
    if ((code = cudaGetDevice(&device)) != cudaSuccess ||
        (code = hs_cuda_fact(cudaDevAttrMaxGridDimX, device, &columns)) != cudaSuccess ||
        (code = hs_cuda_fact(cudaDevAttrMaxGridDimY, device, &rows)) != cudaSuccess)
        return hs_cuda_failed(code, pending, error);
    status = hs_cuda_runs(sort, device, 1, &code);
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

static int hs_cuda_overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes)
{
    const uintptr_t from_a = (uintptr_t)a, from_b = (uintptr_t)b;
    return from_a <= from_b ? from_b - from_a < a_bytes : from_a - from_b < b_bytes;
}

/* All that can be wrong with a call; `bases` gets where the buffers begin, by role. */
static hs_status hs_cuda_check(const hs_sort *sort, const hs_cuda_args *args, unsigned char *bases[HS_ROLES])
{
    uint64_t source, destination, scratch = 0;
    const uint64_t item = hs_item_bytes(sort), bytes = args->n * item;
    /* in place, the source is written; else kernels only read through its pointer */
    void *const from = const_cast<void *>(args->source), *const to = args->destination ? args->destination : from;
    hs_status status;
    if (!from) return HS_ERROR_ARGUMENT;
    status = hs_pad(sort, args->n, &source, &destination);
    if (status == HS_OK) status = hs_scratch(sort, args->n, &scratch);
    if (status != HS_OK) return status;
    if (args->source_bytes && args->source_bytes / item < source) return HS_ERROR_COUNT;
    if (args->destination && args->destination_bytes && args->destination_bytes / item < destination)
        return HS_ERROR_COUNT;
    if (args->scratch_bytes < scratch) return HS_ERROR_SCRATCH;
    if (scratch && !args->scratch) return HS_ERROR_ARGUMENT;
    if ((uintptr_t)from % sort->key_bytes || (uintptr_t)to % sort->key_bytes) return HS_ERROR_ALIGNMENT;
    if (scratch && (uintptr_t)args->scratch % 256) return HS_ERROR_ALIGNMENT;
    if (from != to && hs_cuda_overlap(from, bytes, to, bytes)) return HS_ERROR_OVERLAP;
    if (scratch && (hs_cuda_overlap(args->scratch, scratch, from, bytes) ||
                    hs_cuda_overlap(args->scratch, scratch, to, bytes)))
        return HS_ERROR_OVERLAP;
    bases[HS_SOURCE] = (unsigned char *)from;
    bases[HS_DESTINATION] = (unsigned char *)to;
    bases[HS_SCRATCH] = (unsigned char *)args->scratch;
    return HS_OK;
}

static cudaError_t hs_cuda_launch(const hs_cuda *sorter, const hs_step *step, const uint32_t grid[2], uint64_t count,
                                  unsigned char *const bases[HS_ROLES], cudaStream_t stream)
{
    const hs_kernel *kernel = &sorter->kernels->sort->kernels[step->kernel];
    void *pointers[HS_BINDINGS], *values[HS_BINDINGS + 2];
    int64_t wide = (int64_t)count;
    int narrow = (int)count, argument = step->argument;
    uint32_t i;
    for (i = 0; i < kernel->bindings; i++) {
        pointers[i] = bases[step->bindings[i].role] + hs_offset(&step->bindings[i], count);
        values[i] = &pointers[i];
    }
    values[i++] = kernel->wide ? (void *)&wide : (void *)&narrow;
    values[i] = &argument;
    return cudaLaunchKernel(sorter->kernels->kernels[step->kernel], dim3(grid[0], grid[1]), dim3(kernel->work_group),
                            values, kernel->local_bytes, stream);
}

static hs_status hs_cuda_run(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_args *args, hs_kind kind,
                             cudaError_t *error)
{
    const cudaError_t pending = cudaPeekAtLastError();
    unsigned char *bases[HS_ROLES];
    const hs_sort *sort;
    cudaError_t code;
    hs_status status;
    uint32_t i, grid[2] = {1, 1};
    int device = 0, in_place;
    if (error) *error = cudaSuccess;
    if (!sorter || !args) return HS_ERROR_ARGUMENT;
    sort = sorter->kernels->sort;
    if (sort->kind != kind) return HS_ERROR_KERNELS;
    if (args->n == 0) return HS_OK; /* nothing is there to point to */
    status = hs_cuda_check(sort, args, bases);
    if (status != HS_OK) return status;
    in_place = bases[HS_SOURCE] == bases[HS_DESTINATION];
    code = cudaGetDevice(&device);
    if (code != cudaSuccess) return hs_cuda_failed(code, pending, error);
    if (device != sorter->device) return HS_ERROR_DEVICE;
    /* a plan's grids are all known before its first launch: a sort is enqueued whole or not at all */
    for (i = 0; i < sort->step_count; i++) {
        const uint64_t groups = hs_groups(&sort->steps[i], args->n, in_place);
        if (groups && (!hs_grid(groups, sorter->columns, grid) || grid[1] > sorter->rows)) return HS_ERROR_DEVICE;
    }
    for (i = 0; i < sort->step_count; i++) {
        const uint64_t groups = hs_groups(&sort->steps[i], args->n, in_place);
        if (groups == 0) continue;
        (void)hs_grid(groups, sorter->columns, grid);
        code = hs_cuda_launch(sorter, &sort->steps[i], grid, args->n, bases, stream);
        if (code != cudaSuccess) return hs_cuda_failed(code, pending, error);
    }
    return HS_OK;
}

extern "C" hs_status hs_cuda_sort(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_args *args,
                                  cudaError_t *error)
{
    return hs_cuda_run(sorter, stream, args, HS_SORT, error);
}

extern "C" hs_status hs_cuda_scan(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_args *args,
                                  cudaError_t *error)
{
    return hs_cuda_run(sorter, stream, args, HS_SCAN, error);
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
                                   const hs_cuda_kernels **sort)
{
    const cudaError_t pending = cudaPeekAtLastError();
    struct cudaDeviceProp properties;
    hs_device device;
    hs_status status;
    cudaError_t code;
    uint32_t best = 0;
    size_t t, s;
    int index = 0;
    if (sort) *sort = NULL;
    if (!sort || !key || (count && !targets)) return HS_ERROR_ARGUMENT;
    code = hs_cuda_device(&device, &properties, &index);
    if (code != cudaSuccess) return hs_cuda_failed(code, pending, NULL);
    for (t = 0; t < count; t++) {
        const hs_target *target = targets[t]->target;
        const uint32_t suits = hs_suits(target, &device);
        for (s = 0; suits > best && s < target->sort_count; s++) {
            if (target->sorts[s]->kind != HS_SORT || strcmp(target->sorts[s]->key, key) != 0) continue;
            code = cudaSuccess;
            status = hs_cuda_runs(targets[t]->sorts[s], index, 0, &code);
            (void)hs_cuda_failed(code, pending, NULL);
            if (status == HS_OK) {
                best = suits;
                *sort = targets[t]->sorts[s];
            } else if (status != HS_ERROR_DEVICE && status != HS_ERROR_BUILD && status != HS_ERROR_KERNELS) {
                *sort = NULL;
                return status; /* this says nothing about the sort */
            }
        }
    }
    return HS_OK;
}
