/* Calls of the sort that is ready; apart from hn_cuda.h, which baselines include without a bundle's headers. */
#ifndef CUDA_CALLS_H
#define CUDA_CALLS_H

#include "hn_cuda.h"
#include "hn_options.h"
#include "hs/hs_cuda.h"

/* The sort that is ready, or null. */
extern hs_cuda *hn_made;

/* Enqueue a call of the operation, with `scratch` bytes of scratch. */
hs_status hn_run(const hn_call *call, size_t scratch, cudaError_t *code);

#endif
