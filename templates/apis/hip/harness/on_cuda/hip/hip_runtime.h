/* The parts of HIP that kernels use, defined by CUDA.  A warp stands for a wavefront of 32 lanes, all of which take
 * part in each exchange. */
#ifndef HN_HIP_RUNTIME_H
#define HN_HIP_RUNTIME_H

#include "hip_runtime_api.h"

#include <cuda_runtime.h>

#define __HIP_MEMORY_SCOPE_AGENT 0
#define __hip_atomic_load(p, order, scope) (*(volatile unsigned *)(p))
#define __hip_atomic_store(p, x, order, scope) (*(volatile unsigned *)(p) = (x))
#define __builtin_amdgcn_fence(order, scope) ((void)0) /* a barrier of a warp orders its accesses */
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __shfl_xor(a, mask) __shfl_xor_sync(0xffffffffu, a, mask)
#define __shfl(a, lane, lanes) __shfl_sync(0xffffffffu, a, lane, lanes)
#define __ballot(vote) ((unsigned long long)__ballot_sync(0xffffffffu, vote))

#endif
