/* The CUDA declarations that hs_cuda.h needs, for syntax checks of examples without CUDA. */
#ifndef STUB_CUDA_RUNTIME_API_H
#define STUB_CUDA_RUNTIME_API_H

typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;

#endif
