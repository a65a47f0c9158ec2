/* The HIP harness: what a device reports, and functions that CUDA's harness uses but HIP lacks. */
#include "hn_cuda.h"

#include <stdio.h>

/* Does nothing: before ROCm 5.3, no function copies a graph to the device ahead of its first launch. */
hipError_t hn_upload(hipGraphExec_t) { return hipSuccess; }

extern "C" const char *hn_describe(int index, char *text, size_t size)
{
    hipDeviceProp_t p;
    int can = 0, made = 0;
    hipError_t code = hipGetDeviceProperties(&p, index);
    if (code == hipSuccess) code = hipDriverGetVersion(&can);
    if (code == hipSuccess) code = hipRuntimeGetVersion(&made);
    if (code != hipSuccess) return hn_said("describing a device", code);
#ifdef __HIP_PLATFORM_NVIDIA__
    const int vendor = 0x10de;
    const char *const platform = "NVIDIA CUDA, as HIP";
#else
    const int vendor = 0x1002;
    const char *const platform = "AMD HIP";
#endif
    const int length = snprintf(
        text, size,
        "{\"name\": \"%s (%s)\", \"platform\": \"%s\", \"driver\": \"HIP %d, runtime %d\", "
        "\"type\": \"gpu\", \"vendor\": %d, \"work_group\": %d, \"local_bytes\": %zu, "
        "\"subgroups\": [1, 2, 4, 8, 16, %s], \"shuffle\": true, \"ballot\": true, \"int64\": true, \"groups\": %d, "
        "\"cores\": %d, \"memory_bytes\": %zu}",
        p.name, p.gcnArchName, platform, can, made, vendor, p.maxThreadsPerBlock, p.sharedMemPerBlock,
        p.warpSize == 64 ? "32, 64" : "32", p.maxGridSize[0], p.multiProcessorCount, p.totalGlobalMem);
    return length < 0 || static_cast<size_t>(length) >= size ? hn_wrong("the description does not fit") : NULL;
}
