/* The functions of the runtime that differ between HIP and CUDA: error codes, wavefronts, properties of a device,
 * launches. */
#include "hs_hip_internal.h"

#include <stdio.h>
#include <string.h>

extern "C" hs_status hs_hip_status(hipError_t code)
{
    switch ((int)code) {
    case hipSuccess: return HS_OK;
    case hipErrorNoBinaryForGpu:
    case hipErrorInvalidDeviceFunction:
    case hipErrorLaunchOutOfResources:
    case hipErrorCooperativeLaunchTooLarge:
    case hipErrorInsufficientDriver:
    case hipErrorNoDevice:
    case hipErrorInvalidDevice: return HS_ERROR_DEVICE;
    case hipErrorInvalidImage:
    case hipErrorInvalidKernelFile:
    case hipErrorSharedObjectInitFailed: return HS_ERROR_BUILD;
    case hipErrorOutOfMemory: return HS_ERROR_DEVICE_MEMORY;
    case hipErrorIllegalAddress:
    case hipErrorAssert:
    case hipErrorECCNotCorrectable:
    case hipErrorLaunchTimeOut:
    case hipErrorLaunchFailure: return HS_ERROR_DEVICE_LOST;
    default: return HS_ERROR_API;
    }
}

extern "C" int hs_hip_absent(hipError_t code)
{
    return code == hipErrorNoBinaryForGpu || code == hipErrorInvalidDeviceFunction ||
           hs_hip_status(code) == HS_ERROR_BUILD;
}

/* Wavefronts have 32 lanes on RDNA, where HIP has no others, and 64 on GCN and CDNA. */
extern "C" int hs_hip_warp_holds(uint64_t warp, uint32_t lanes) { return (warp == 32 || warp == 64) && lanes <= warp; }

/* The name of a device has its product, which older drivers do not report, and its processor:
 * "... (gfx90a:sramecc+:xnack-)". */
extern "C" hipError_t hs_hip_device(hs_device *device, char name[HS_HIP_NAME], int *index)
{
    hipDeviceProp_t properties;
    hipError_t code = hipGetDevice(index);
    if (code == hipSuccess) code = hipGetDeviceProperties(&properties, *index);
    if (code != hipSuccess) return code;
    (void)snprintf(name, HS_HIP_NAME, "%.255s (%.239s)", properties.name, properties.gcnArchName);
    memset(device, 0, sizeof *device);
    device->type = HS_GPU;
#ifdef __HIP_PLATFORM_NVIDIA__
    device->vendor = 0x10de;
#else
    device->vendor = 0x1002;
#endif
    device->name = name;
    device->platform = "AMD HIP";
    return hipSuccess;
}

extern "C" hipError_t hs_hip_early(const void *kernel, int *early)
{
    (void)kernel;
    *early = 0;
    return hipSuccess;
}

extern "C" hipError_t hs_hip_start(const hs_hip *sorter, const void *kernel, const uint32_t grid[2],
                                   const hs_kernel *what, void **values, hipStream_t stream)
{
    const dim3 groups(grid[0], grid[1]), lanes(what->work_group);
    (void)sorter;
    if (what->cooperative) return hipLaunchCooperativeKernel(kernel, groups, lanes, values, what->local_bytes, stream);
    return hipLaunchKernel(kernel, groups, lanes, values, what->local_bytes, stream);
}
