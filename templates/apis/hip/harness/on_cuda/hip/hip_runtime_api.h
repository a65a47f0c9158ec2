/* HIP's functions defined by those of CUDA, so that `hsgen validate --api hip` can run HIP's kernels and runtime on an
 * NVIDIA GPU.  The file has only what hsgen uses, and is never part of a bundle. */
#ifndef HN_HIP_RUNTIME_API_H
#define HN_HIP_RUNTIME_API_H

#include <cuda_runtime_api.h>

#include <stdio.h>

#define hipDeviceAttribute_t cudaDeviceAttr
#define hipDeviceAttributeCooperativeLaunch cudaDevAttrCooperativeLaunch
#define hipDeviceAttributeMaxGridDimX cudaDevAttrMaxGridDimX
#define hipDeviceAttributeMaxGridDimY cudaDevAttrMaxGridDimY
#define hipDeviceAttributeMaxSharedMemoryPerBlock cudaDevAttrMaxSharedMemoryPerBlockOptin
#define hipDeviceAttributeMaxThreadsPerBlock cudaDevAttrMaxThreadsPerBlock
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeWarpSize cudaDevAttrWarpSize
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDriverGetVersion cudaDriverGetVersion
#define hipErrorAssert cudaErrorAssert
#define hipErrorCooperativeLaunchTooLarge cudaErrorCooperativeLaunchTooLarge
#define hipErrorECCNotCorrectable cudaErrorECCUncorrectable
#define hipErrorIllegalAddress cudaErrorIllegalAddress
#define hipErrorInsufficientDriver cudaErrorInsufficientDriver
#define hipErrorInvalidDevice cudaErrorInvalidDevice
#define hipErrorInvalidDeviceFunction cudaErrorInvalidDeviceFunction
#define hipErrorInvalidImage cudaErrorInvalidKernelImage
#define hipErrorInvalidKernelFile cudaErrorInvalidPtx
#define hipErrorLaunchFailure cudaErrorLaunchFailure
#define hipErrorLaunchOutOfResources cudaErrorLaunchOutOfResources
#define hipErrorLaunchTimeOut cudaErrorLaunchTimeout
#define hipErrorNoBinaryForGpu cudaErrorNoKernelImageForDevice
#define hipErrorNoDevice cudaErrorNoDevice
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorSharedObjectInitFailed cudaErrorSharedObjectInitFailed
#define hipError_t cudaError_t
#define hipEventCreate cudaEventCreate
#define hipEventDestroy cudaEventDestroy
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventRecord cudaEventRecord
#define hipEvent_t cudaEvent_t
#define hipFree cudaFree
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncAttributes cudaFuncAttributes
#define hipFuncGetAttributes cudaFuncGetAttributes
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipGetDevice cudaGetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipGraphDestroy cudaGraphDestroy
#define hipGraphExecDestroy cudaGraphExecDestroy
#define hipGraphExec_t cudaGraphExec_t
#define hipGraphInstantiateWithFlags cudaGraphInstantiateWithFlags
#define hipGraphLaunch cudaGraphLaunch
#define hipGraph_t cudaGraph_t
#define hipLaunchCooperativeKernel cudaLaunchCooperativeKernel
#define hipLaunchKernel cudaLaunchKernel
#define hipMalloc cudaMalloc
#define hipMemGetInfo cudaMemGetInfo
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemsetAsync cudaMemsetAsync
#define hipOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define hipPeekAtLastError cudaPeekAtLastError
#define hipRuntimeGetVersion cudaRuntimeGetVersion
#define hipSetDevice cudaSetDevice
#define hipStreamBeginCapture cudaStreamBeginCapture
#define hipStreamCaptureModeGlobal cudaStreamCaptureModeGlobal
#define hipStreamCreate cudaStreamCreate
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamEndCapture cudaStreamEndCapture
#define hipStreamNonBlocking cudaStreamNonBlocking
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess

struct hipDeviceProp_t : cudaDeviceProp {
    char gcnArchName[256];
};

static inline cudaError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device)
{
    const cudaError_t code = cudaGetDeviceProperties(properties, device);
    snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "sm_%d%d", properties->major, properties->minor);
    properties->sharedMemPerBlock = properties->sharedMemPerBlockOptin; /* AMD devices need no opt-in */
    return code;
}

#endif
