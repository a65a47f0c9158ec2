/* HIP for the host: one device whose memory is the host's, and whose launches run at once.
 *
 * Kernels of a translation unit are known by host::registered of hip_runtime.h.  HOST_WARP: the lanes of a wavefront. */
#ifndef HOST_HIP_RUNTIME_API_H
#define HOST_HIP_RUNTIME_API_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#ifndef HOST_WARP
#define HOST_WARP 64
#endif

enum hipError_t {
    hipSuccess, hipErrorInvalidValue, hipErrorOutOfMemory, hipErrorInvalidDevice = 101, hipErrorNoDevice = 100,
    hipErrorInvalidDeviceFunction = 98, hipErrorInsufficientDriver = 35, hipErrorInvalidImage = 200,
    hipErrorNoBinaryForGpu = 209, hipErrorECCNotCorrectable = 214, hipErrorInvalidKernelFile = 218,
    hipErrorSharedObjectInitFailed = 303, hipErrorIllegalAddress = 700, hipErrorLaunchOutOfResources,
    hipErrorLaunchTimeOut, hipErrorAssert = 710, hipErrorLaunchFailure = 719,
    hipErrorCooperativeLaunchTooLarge, hipErrorStreamCaptureUnsupported = 900
};
enum hipDeviceAttribute_t {
    hipDeviceAttributeWarpSize, hipDeviceAttributeMaxThreadsPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock,
    hipDeviceAttributeMaxGridDimX, hipDeviceAttributeMaxGridDimY, hipDeviceAttributeMultiprocessorCount,
    hipDeviceAttributeCooperativeLaunch
};
enum hipMemcpyKind { hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize };
enum hipStreamCaptureMode { hipStreamCaptureModeGlobal };
constexpr unsigned hipStreamNonBlocking = 1;

namespace host {
using Work = std::vector<std::function<hipError_t()>>;
struct Stream { Work *capture; };
/* A kernel: runs a grid; the error as a text, or null. */
using Kernel = std::function<const char *(unsigned x, unsigned y, unsigned lanes, size_t shared, void **values)>;
struct Function { Kernel kernel; int shared; };
inline std::map<const void *, Function> functions;
inline hipError_t last;
inline hipError_t failed(hipError_t code) { return code ? last = code : code; }
}

using hipStream_t = host::Stream *;
using hipGraph_t = host::Work *;
using hipGraphExec_t = host::Work *;
using hipEvent_t = int *;
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct hipDeviceProp_t {
    char name[256], gcnArchName[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int warpSize, maxThreadsPerBlock, maxGridSize[3], multiProcessorCount;
};
struct hipFuncAttributes { int maxThreadsPerBlock, maxDynamicSharedSizeBytes; size_t sharedSizeBytes; };

inline const char *hipGetErrorName(hipError_t code) { return code ? "hipError" : "hipSuccess"; }
inline const char *hipGetErrorString(hipError_t code) { return code ? "an error of HIP on the host" : "no error"; }
inline hipError_t hipPeekAtLastError() { return host::last; }
inline hipError_t hipGetLastError() { const hipError_t was = host::last; host::last = hipSuccess; return was; }

inline hipError_t hipGetDeviceCount(int *count) { *count = 1; return hipSuccess; }
inline hipError_t hipGetDevice(int *device) { *device = 0; return hipSuccess; }
inline hipError_t hipSetDevice(int device) { return host::failed(device ? hipErrorInvalidDevice : hipSuccess); }
inline hipError_t hipDriverGetVersion(int *version) { *version = 1; return hipSuccess; }
inline hipError_t hipRuntimeGetVersion(int *version) { *version = 1; return hipSuccess; }
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *p, int)
{
    memset(p, 0, sizeof *p);
    strcpy(p->name, "the host");
    strcpy(p->gcnArchName, HOST_WARP == 64 ? "gfx906:sramecc+:xnack-" : "gfx1030");
    p->totalGlobalMem = size_t{1} << 32;
    p->sharedMemPerBlock = 65536;
    p->warpSize = HOST_WARP;
    p->maxThreadsPerBlock = 1024;
    p->maxGridSize[0] = p->maxGridSize[1] = p->maxGridSize[2] = 2147483647;
    p->multiProcessorCount = 4;
    return hipSuccess;
}
inline hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int)
{
    const int values[] = {HOST_WARP, 1024, 65536, 2147483647, 65535, 4, 1};
    *value = values[attribute];
    return hipSuccess;
}

inline hipError_t hipMalloc(void **memory, size_t bytes)
{
    *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *memory ? hipSuccess : host::failed(hipErrorOutOfMemory);
}
template <class T> inline hipError_t hipMalloc(T **memory, size_t bytes)
{
    return hipMalloc(reinterpret_cast<void **>(memory), bytes);
}
inline hipError_t hipFree(void *memory) { free(memory); return hipSuccess; }
inline hipError_t hipMemGetInfo(size_t *left, size_t *total) { *left = *total = size_t{1} << 32; return hipSuccess; }

/* Done now, or when the graph into which the stream is captured is launched. */
inline hipError_t enqueued(hipStream_t stream, std::function<hipError_t()> work)
{
    if (!stream || !stream->capture) return work();
    stream->capture->push_back(std::move(work));
    return hipSuccess;
}
inline hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind)
{
    memcpy(to, from, bytes);
    return hipSuccess;
}
inline hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream)
{
    return enqueued(stream, [=] { return hipMemcpy(to, from, bytes, kind); });
}
inline hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream)
{
    return enqueued(stream, [=] { memset(to, value, bytes); return hipSuccess; });
}

inline hipError_t hipStreamCreate(hipStream_t *stream) { *stream = new host::Stream(); return hipSuccess; }
inline hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned) { return hipStreamCreate(stream); }
inline hipError_t hipStreamDestroy(hipStream_t stream) { delete stream; return hipSuccess; }
inline hipError_t hipStreamSynchronize(hipStream_t stream)
{
    return host::failed(stream && stream->capture ? hipErrorStreamCaptureUnsupported : hipSuccess);
}
inline hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode)
{
    stream->capture = new host::Work();
    return hipSuccess;
}
inline hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
    *graph = stream->capture;
    stream->capture = nullptr;
    return hipSuccess;
}
inline hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *ready, hipGraph_t graph, unsigned)
{
    *ready = new host::Work(*graph);
    return hipSuccess;
}
inline hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t)
{
    for (const auto &work : *graph)
        if (const hipError_t code = work()) return code;
    return hipSuccess;
}
inline hipError_t hipGraphDestroy(hipGraph_t graph) { delete graph; return hipSuccess; }
inline hipError_t hipGraphExecDestroy(hipGraphExec_t graph) { delete graph; return hipSuccess; }
inline hipError_t hipEventCreate(hipEvent_t *event) { *event = new int(); return hipSuccess; }
inline hipError_t hipEventDestroy(hipEvent_t event) { delete event; return hipSuccess; }
inline hipError_t hipEventRecord(hipEvent_t, hipStream_t) { return hipSuccess; }
inline hipError_t hipEventElapsedTime(float *ms, hipEvent_t, hipEvent_t) { *ms = 1; return hipSuccess; }

inline hipError_t hipFuncGetAttributes(hipFuncAttributes *has, const void *function)
{
    const auto found = host::functions.find(function);
    if (found == host::functions.end()) return host::failed(hipErrorInvalidDeviceFunction);
    *has = {1024, found->second.shared, 0};
    return hipSuccess;
}
inline hipError_t hipFuncSetAttribute(const void *function, hipFuncAttribute, int value)
{
    host::functions.at(function).shared = value;
    return hipSuccess;
}
inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *each, const void *, int, size_t)
{
    *each = 1;
    return hipSuccess;
}
/* Arguments are copied as a launch does: the caller's are gone when a graph is launched. */
inline hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **values, size_t shared,
                                  hipStream_t stream)
{
    const auto found = host::functions.find(function);
    if (found == host::functions.end()) return host::failed(hipErrorInvalidDeviceFunction);
    if (static_cast<int>(shared) > found->second.shared) return host::failed(hipErrorInvalidValue);
    if (stream && stream->capture) return host::failed(hipErrorStreamCaptureUnsupported);
    const char *const wrong = found->second.kernel(grid.x, grid.y, block.x, shared, values);
    if (wrong) fprintf(stderr, "a launch: %s\n", wrong);
    return host::failed(wrong ? hipErrorLaunchFailure : hipSuccess);
}
inline hipError_t hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **values,
                                             unsigned shared, hipStream_t stream)
{
    return hipLaunchKernel(function, grid, block, values, shared, stream);
}

#endif
