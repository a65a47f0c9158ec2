/* What hs_cuda.h takes from CUDA, for looking at the syntax of examples where CUDA is not installed. */
#ifndef STUB_CUDA_RUNTIME_API_H
#define STUB_CUDA_RUNTIME_API_H

typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;

#endif
