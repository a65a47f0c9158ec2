/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
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
    uint64_t columns; /* greatest grid in x: the lesser of what the device and the target allow */
    uint32_t rows;    /* greatest grid in y */
    int early;        /* the result of hs_cuda_early */
};

/* A buffer of a call; `bytes` is 0 if the size is unknown. */
struct hs_cuda_buffer {
    const void *memory;
    size_t bytes;
};

/* A call of any operation.  `number` and `take` are those of hs_call: for example segment_count, capacity or shift. */
struct hs_cuda_record {
    hs_kind kind;
    uint64_t n, number, take;
    hs_options options;
    hs_cuda_buffer given[HS_ROLES];
};

#define HS_CUDA_NAME 512 /* characters of a device's name at most */

extern "C" {

/* The status for an error code. */
HS_INTERNAL hs_status hs_cuda_status(cudaError_t code);

/* 1 if an error of cudaFuncGetAttributes only means that the program has no code for the device. */
HS_INTERNAL int hs_cuda_absent(cudaError_t code);

/* 1 if a warp of `warp` lanes can be divided into subgroups of `lanes` lanes. */
HS_INTERNAL int hs_cuda_warp_holds(uint64_t warp, uint32_t lanes);

/* The properties of the current device for hs_suits, and its number; its name is stored in `name`. */
HS_INTERNAL cudaError_t hs_cuda_device(hs_device *device, char name[HS_CUDA_NAME], int *index);

/* 1 if a kernel waits by itself until all preceding kernels have ended, so that it may be launched earlier. */
HS_INTERNAL cudaError_t hs_cuda_early(const void *kernel, int *early);

/* Launch a kernel.  The launch of a cooperative kernel fails if its groups cannot all be resident at once. */
HS_INTERNAL cudaError_t hs_cuda_start(const hs_cuda *sorter, const void *kernel, const uint32_t grid[2],
                                      const hs_kernel *what, void **values, cudaStream_t stream);

/* The status for an error code that a function of this runtime returns; stores the code in `error`, unless that is
 * null.  The CUDA runtime keeps the last error for the next query.  The function clears it, unless `pending`, the last
 * error before the call, is an error of the caller. */
HS_INTERNAL hs_status hs_cuda_failed(cudaError_t code, cudaError_t pending, cudaError_t *error);

/* An attribute of a device; negative attributes become 0. */
HS_INTERNAL cudaError_t hs_cuda_fact(cudaDeviceAttr attribute, int device, uint64_t *value);

/* Whether `device`, the current device, runs the kernels that calls of a completed scope launch; if `scope` is null,
 * all kernels of the sort.  With `prepare`, kernels are granted the shared memory that they need.  Cooperative kernels
 * are always granted theirs, because the number of resident groups depends on it.  `known` becomes 0 if a query failed:
 * the status is then no statement about the sort.  Otherwise it becomes 1. */
HS_INTERNAL hs_status hs_cuda_runs(const hs_cuda_kernels *sort, const hs_scope *scope, int device, int prepare,
                                   cudaError_t *code, int *known);

/* Check a call and enqueue it; `record` is null if the caller passed null for the arguments of the call. */
HS_INTERNAL hs_status hs_cuda_run(const hs_cuda *sorter, cudaStream_t stream, const hs_cuda_record *record,
                                  cudaError_t *error);
}

#endif
