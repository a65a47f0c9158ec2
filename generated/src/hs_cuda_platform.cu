/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* The functions of the runtime that differ between CUDA and HIP: error codes, warps, properties of a device,
 * launches. */
#include "hs_cuda_internal.h"

#include <string.h>

extern "C" hs_status hs_cuda_status(cudaError_t code)
{
    switch ((int)code) {
    case cudaSuccess: return HS_OK;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice: return HS_ERROR_DEVICE;
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorInvalidKernelImage: return HS_ERROR_BUILD;
    case cudaErrorMemoryAllocation: return HS_ERROR_DEVICE_MEMORY;
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure: return HS_ERROR_DEVICE_LOST;
    default: return HS_ERROR_API;
    }
}

extern "C" int hs_cuda_absent(cudaError_t code)
{
    return code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction ||
           hs_cuda_status(code) == HS_ERROR_BUILD;
}

extern "C" int hs_cuda_warp_holds(uint64_t warp, uint32_t lanes) { return warp == 32 && lanes <= 32; }

extern "C" cudaError_t hs_cuda_device(hs_device *device, char name[HS_CUDA_NAME], int *index)
{
    struct cudaDeviceProp properties;
    cudaError_t code = cudaGetDevice(index);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, *index);
    if (code != cudaSuccess) return code;
    memcpy(name, properties.name, sizeof properties.name);
    device->type = HS_GPU;
    device->vendor = 0x10de;
    device->compute = (uint32_t)(10 * properties.major + properties.minor);
    device->name = name;
    device->platform = "NVIDIA CUDA";
    return cudaSuccess;
}

/* Kernels compiled for compute capability 9.0 and later wait themselves.  Since CUDA 12.3, graphs take early
 * launches. */
extern "C" cudaError_t hs_cuda_early(const void *kernel, int *early)
{
    struct cudaFuncAttributes has;
    int driver = 0;
    cudaError_t code = cudaDriverGetVersion(&driver);
    if (code == cudaSuccess) code = cudaFuncGetAttributes(&has, kernel);
    *early = code == cudaSuccess && driver >= 12030 && has.ptxVersion >= 90;
    return code;
}

extern "C" cudaError_t hs_cuda_start(const hs_cuda *sorter, const void *kernel, const uint32_t grid[2],
                                     const hs_kernel *what, void **values, cudaStream_t stream)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    if (what->cooperative) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
    } else {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
    }
    config.gridDim = dim3(grid[0], grid[1]);
    config.blockDim = dim3(what->work_group);
    config.dynamicSmemBytes = what->local_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = what->cooperative || sorter->early;
    return cudaLaunchKernelExC(&config, kernel, values);
}
