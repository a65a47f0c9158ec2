/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* CUDA devices: which sorts run on them, and which sort suits one best. */
#include "hs_cuda_internal.h"

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

/* Check that all blocks of a cooperative kernel's largest grid can be resident on `device`, the current device.
 * Otherwise, a launch would fail in the middle of a sort. */
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
        if (!hs_cuda_warp_holds(warp, kernel->subgroup) || kernel->work_group > threads) return HS_ERROR_DEVICE;
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

extern "C" hs_status hs_cuda_explain(const hs_cuda_target *const *targets, size_t count, hs_kind kind, const char *key,
                                     const char *value, char *text, size_t room)
{
    const cudaError_t pending = cudaPeekAtLastError();
    char name[HS_CUDA_NAME];
    hs_device device;
    cudaError_t code;
    size_t t;
    int index = 0;
    if (!key || !text || !room || (count && !targets)) return HS_ERROR_ARGUMENT;
    text[0] = 0;
    code = hs_cuda_device(&device, name, &index);
    if (code != cudaSuccess) return hs_cuda_failed(code, pending, NULL);
    for (t = 0; t < count; t++) hs_reason(targets[t]->target, kind, key, value, &device, text, room);
    return HS_OK;
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
    char name[HS_CUDA_NAME];
    hs_device device;
    hs_status status;
    cudaError_t code;
    uint32_t best = 0;
    size_t t, s;
    int index = 0, known;
    if (sort) *sort = NULL;
    if (!sort || !key || (count && !targets)) return HS_ERROR_ARGUMENT;
    code = hs_cuda_device(&device, name, &index);
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
                return status; /* the query failed; the sort may still run on the device */
            }
        }
    }
    return HS_OK;
}
