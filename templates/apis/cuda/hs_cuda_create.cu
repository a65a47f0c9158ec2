/* Sorters for CUDA. */
#include "hs_cuda_internal.h"

#include <stdlib.h>

extern "C" hs_status hs_cuda_create(const hs_cuda_kernels *sort, hs_cuda **sorter, cudaError_t *error)
{
    return hs_cuda_create_with(sort, NULL, sorter, error);
}

extern "C" hs_status hs_cuda_create_with(const hs_cuda_kernels *sort, const hs_cuda_create_options *options,
                                         hs_cuda **sorter, cudaError_t *error)
{
    const cudaError_t pending = cudaPeekAtLastError();
    cudaError_t code = cudaSuccess;
    uint64_t columns = 0, rows = 0;
    int device = 0, early = 0, known;
    hs_scope scope;
    hs_status status;
    hs_cuda *made;
    if (error) *error = cudaSuccess;
    if (sorter) *sorter = NULL;
    if (!sort || !sort->sort || !sorter) return HS_ERROR_ARGUMENT;
    status = hs_scope_of(sort->sort, options ? &options->scope : NULL, &scope);
    if (status != HS_OK) return status;
    if ((code = cudaGetDevice(&device)) != cudaSuccess ||
        (code = hs_cuda_fact(cudaDevAttrMaxGridDimX, device, &columns)) != cudaSuccess ||
        (code = hs_cuda_fact(cudaDevAttrMaxGridDimY, device, &rows)) != cudaSuccess)
        return hs_cuda_failed(code, pending, error);
    status = hs_cuda_runs(sort, &scope, device, 1, &code, &known);
    if (status != HS_OK) {
        (void)hs_cuda_failed(code, pending, error);
        return status;
    }
    if ((code = hs_cuda_early(sort->kernels[0], &early)) != cudaSuccess) return hs_cuda_failed(code, pending, error);
    made = (hs_cuda *)malloc(sizeof *made);
    if (!made) return HS_ERROR_HOST_MEMORY;
    made->kernels = sort;
    made->scope = scope;
    made->device = device;
    made->columns = columns < sort->sort->max_groups ? columns : sort->sort->max_groups;
    made->rows = (uint32_t)rows;
    made->early = early;
    *sorter = made;
    return HS_OK;
}

extern "C" uint32_t hs_cuda_kernel_count(const hs_cuda *sorter)
{
    uint32_t count = 0;
    for (uint32_t i = 0; sorter && i < sorter->kernels->sort->kernel_count; i++)
        count += hs_scope_has(sorter->kernels->sort, &sorter->scope, i, 0) != 0;
    return count;
}

extern "C" void hs_cuda_release(hs_cuda *sorter) { free(sorter); }

extern "C" const hs_sort *hs_cuda_sort_of(const hs_cuda *sorter) { return sorter ? sorter->kernels->sort : NULL; }
