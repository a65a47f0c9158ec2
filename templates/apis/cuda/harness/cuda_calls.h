/* Calls of the current sorter.  Baselines do not include this file, only hn_cuda.h, because they are compiled without a
 * bundle's headers. */
#ifndef CUDA_CALLS_H
#define CUDA_CALLS_H

#include "hn_cuda.h"
#include "hn_options.h"
#include "hs/hs_cuda.h"

/* The current sorter, or null. */
extern hs_cuda *hn_made;

/* Enqueue a call of the operation, with `scratch` bytes of scratch. */
hs_status hn_run(const hn_call *call, size_t scratch, cudaError_t *code);

#endif
