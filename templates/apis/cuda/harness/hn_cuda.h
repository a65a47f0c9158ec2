/* What the files of the CUDA harness share: the open device, and how they report. */
#ifndef HN_CUDA_H
#define HN_CUDA_H

#include "harness.h"

#include <cuda_runtime_api.h>

struct hn_cuda {
    bool open, graph, poison, unchecked; // unchecked: the guard was not checked since the last sort
    cudaStream_t stream;
    cudaEvent_t start, stop;
    unsigned char *buffers[HN_SLOTS], *scratch, *baseline; /* device memory; baseline: temporary memory of a baseline */
    uint64_t sizes[HN_SLOTS], scratch_size, baseline_size, sorted; /* scratch_size: including the guard; sorted: last n */
};

extern hn_cuda hn_state;

/* Return "what: why", or null if `code` is success. */
const char *hn_said(const char *what, cudaError_t code);

/* Return `what` as the text of an error. */
const char *hn_wrong(const char *what);

/* Make `memory` hold exactly `bytes` bytes. */
const char *hn_allocate(unsigned char **memory, uint64_t *size, uint64_t bytes);

/* Copy a graph to the device, so that its first launch takes no longer than later launches. */
cudaError_t hn_upload(cudaGraphExec_t graph);

/* Wait for the second event of the clock, and get the seconds between both. */
const char *hn_time(double *device_seconds);

#endif
