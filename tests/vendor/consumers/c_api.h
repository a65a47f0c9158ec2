/* The context of the blocks of docs/reference/c-api.md.  One of OPENCL, VULKAN, CUDA, METAL is defined. */
#include <stdio.h>
#include <stdlib.h>

#ifdef OPENCL
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

enum { n = 5000 };
static uint32_t host[n];
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_mem keys, result;
static cl_event written;

/* Buffers, and an event of a write to one of them. */
static int begin(void)
{
    cl_platform_id platform;
    unsigned i;
    for (i = 0; i < n; i++) host[i] = i * 2654435761u;
    if (clGetPlatformIDs(1, &platform, NULL)) return 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 0;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    keys = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL, NULL);
    result = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof host, NULL, NULL);
    return clEnqueueWriteBuffer(queue, keys, CL_FALSE, 0, sizeof host, host, 0, NULL, &written) == CL_SUCCESS;
}

static int end(const cl_event *sorted)
{
    unsigned i;
    if (clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof host, host, 1, sorted, NULL)) return 1;
    for (i = 1; i < n; i++)
        if (host[i - 1] > host[i]) return 1;
    clReleaseEvent(*sorted);
    clReleaseEvent(written);
    clReleaseMemObject(keys);
    clReleaseMemObject(result);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return puts("sorted") < 0;
}
#endif

#ifdef VULKAN
#include "hs/hs_targets.h"
#include "hs/hs_vulkan.h"

extern VkInstance instance;
extern VkPhysicalDevice physical;
extern VkDevice device;
extern VkBuffer buffer, scratch;
extern VkDescriptorPool pool;
extern VkCommandBuffer commands;
extern uint64_t n, scratch_bytes;
#endif

#ifdef CUDA
#include "hs/hs_targets_cuda.h"

extern const void *keys;
extern void *result, *scratch;
extern cudaStream_t stream;
extern uint64_t n;
extern size_t scratch_bytes;
#endif

#ifdef METAL
#include "hs/hs_targets_metal.h"

extern hs_metal_device device;
extern hs_metal_commands commands;
extern hs_metal_memory keys, result, scratch;
extern uint64_t n;
#endif
