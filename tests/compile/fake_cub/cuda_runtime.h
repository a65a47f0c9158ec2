/* The part of CUDA's runtime that baselines of the CUDA harness use, on the host. */
#ifndef FAKE_CUDA_RUNTIME
#define FAKE_CUDA_RUNTIME
#define __host__
#define __device__

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef int cudaError_t;
typedef struct fake_queue *cudaStream_t;
typedef struct fake_graph *cudaGraphExec_t;
typedef int cudaEvent_t;
enum { cudaSuccess = 0 };
struct uint2 { uint32_t x, y; };
struct uint4 { uint32_t x, y, z, w; };
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
static const cudaStream_t fake_stream = reinterpret_cast<cudaStream_t>(uintptr_t{64});
#endif
