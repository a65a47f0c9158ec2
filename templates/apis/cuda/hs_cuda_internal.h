/* Declarations that the files of the CUDA runtime share. */
#ifndef HS_CUDA_INTERNAL_H
#define HS_CUDA_INTERNAL_H

#include "hs/hs_cuda.h"
#include "hs_internal.h"

#include <cuda_runtime_api.h>

struct hs_cuda {
    const hs_cuda_kernels *kernels;
    hs_scope scope;
    int device;
    uint64_t columns; /* greatest grid in x, what the target allows included */
    uint32_t rows;    /* greatest grid in y */
    int early;        /* as hs_cuda_early says */
};

/* A buffer as a caller gives it; `bytes` 0: the size is not known. */
struct hs_cuda_buffer {
    const void *memory;
    size_t bytes;
};

/* A call of any operation: `number` is segment_count, first_count, capacity or shift. */
struct hs_cuda_record {
    hs_kind kind;
    uint64_t n, number, take;
    hs_options options;
    hs_cuda_buffer given[HS_ROLES];
};

#define HS_CUDA_NAME 512 /* characters of a device's name at most */

extern "C" {

/* The status of an error. */
HS_INTERNAL hs_status hs_cuda_status(cudaError_t code);

/* Whether an error of cudaFuncGetAttributes only means that the program has no code for the device. */
HS_INTERNAL int hs_cuda_absent(cudaError_t code);

/* Whether warps of a size hold subgroups of `lanes` lanes. */
HS_INTERNAL int hs_cuda_warp_holds(uint64_t warp, uint32_t lanes);

/* The current device as hs_suits takes it, and its number; `name` is the memory of its name. */
HS_INTERNAL cudaError_t hs_cuda_device(hs_device *device, char name[HS_CUDA_NAME], int *index);

/* Whether a kernel itself waits for the preceding kernels; if so, it may be launched before they have ended. */
HS_INTERNAL cudaError_t hs_cuda_early(const void *kernel, int *early);

/* Launch a kernel.  The launch of a cooperative kernel fails if its groups cannot all be resident at once. */
HS_INTERNAL cudaError_t hs_cuda_start(const hs_cuda *sorter, const void *kernel, const uint32_t grid[2],
                                      const hs_kernel *what, void **values, cudaStream_t stream);

/* The status of an error that is returned from here, which is also stored if `error` is not null. The CUDA runtime
 * keeps the last error for the next query. The function clears that error, unless `pending`, the last error before the
 * call, is an error of the caller. */
HS_INTERNAL hs_status hs_cuda_failed(cudaError_t code, cudaError_t pending, cudaError_t *error);

/* An attribute of a device; negative ones as 0. */
HS_INTERNAL cudaError_t hs_cuda_fact(cudaDeviceAttr attribute, int device, uint64_t *value);

/* Whether `device`, the current one, runs the kernels of a sort that calls of a completed scope launch; null: all
 * kernels.  With `prepare`, kernels are granted the shared memory that they need.  Cooperative kernels are always
 * granted theirs, because the number of resident groups depends on it.  `known`: 0 if a query failed, so that the
 * status says nothing about the sort; otherwise 1. */
HS_INTERNAL hs_status hs_cuda_runs(const hs_cuda_kernels *sort, const hs_scope *scope, int device, int prepare,
                                   cudaError_t *code, int *known);

/* Check a call and enqueue it; `record` is null if the caller passed null for the arguments of the call. */
HS_INTERNAL hs_status hs_cuda_run(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_record *record,
                                  cudaError_t *error);
}

#endif
