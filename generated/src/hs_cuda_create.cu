/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 0.4.0; do not edit. */
/* Sorters for CUDA. */
#include "hs_cuda_internal.h"

#include <stdlib.h>

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
