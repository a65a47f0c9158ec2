/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 0.4.0; do not edit. */
/* CUDA devices: what they report, which sorts run on them, which sort suits one best. */
#include "hs_cuda_internal.h"

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

extern "C" hs_status hs_cuda_failed(cudaError_t code, cudaError_t pending, cudaError_t *error)
{
    if (code != cudaSuccess && pending == cudaSuccess) (void)cudaGetLastError();
    if (error) *error = code;
    return hs_cuda_status(code);
}

extern "C" cudaError_t hs_cuda_fact(cudaDeviceAttr attribute, int device, uint64_t *value)
{
    int number = 0;
    const cudaError_t code = cudaDeviceGetAttribute(&number, attribute, device);
    *value = number > 0 ? (uint64_t)number : 0;
    return code;
}

/* Whether the largest grid of a cooperative kernel fits `device`, the current one, at once; else a launch would fail
 * in the middle of a sort. */
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

/* Whether an error of cudaFuncGetAttributes means that there is no code for the device, which is an answer. */
static int hs_cuda_absent(cudaError_t code)
{
    return code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction ||
           hs_cuda_status(code) == HS_ERROR_BUILD;
}

extern "C" hs_status hs_cuda_runs(const hs_cuda_kernels *sort, const hs_scope *scope, int device, int prepare,
                                  cudaError_t *code, int *known)
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
        if (scope && !hs_scope_has(sort->sort, scope, i, 0)) continue;
        if (warp != 32 || kernel->subgroup > 32 || kernel->work_group > threads) return HS_ERROR_DEVICE;
        /* fails if the kernel was not compiled for this device */
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

/* The current device as hs_suits takes it; `properties` holds its name. */
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
            status = hs_cuda_runs(targets[t]->sorts[s], NULL, index, 0, &code, &known);
            (void)hs_cuda_failed(code, pending, NULL);
            if (status == HS_OK) {
                best = suits;
                *sort = targets[t]->sorts[s];
            } else if (!known) {
                *sort = NULL;
                return status; /* a failed query, which says nothing about the sort */
            }
        }
    }
    return HS_OK;
}
