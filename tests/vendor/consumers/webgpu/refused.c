/* Calls of the WebGPU runtime that are refused, each with its status; and a deferred sorter. */
#include "hs/hs_targets_webgpu.h"
#include "hs/hs_webgpu.h"

#include <stdio.h>
#include <string.h>

static WGPUAdapter adapter;
static WGPUDevice device;
static int errors, failures;

#define EXPECT(condition) ((condition) ? (void)0 : (void)(failures++, printf("line %d: %s\n", __LINE__, #condition)))

static void got_adapter(WGPURequestAdapterStatus status, WGPUAdapter found, WGPUStringView text, void *p, void *q)
{
    (void)status, (void)text, (void)p, (void)q;
    adapter = found;
}

static void got_device(WGPURequestDeviceStatus status, WGPUDevice found, WGPUStringView text, void *p, void *q)
{
    (void)status, (void)text, (void)p, (void)q;
    device = found;
}

static void got_error(WGPUDevice const *of, WGPUErrorType type, WGPUStringView text, void *p, void *q)
{
    (void)of, (void)type, (void)p, (void)q;
    errors++;
    printf("%.*s\n", (int)text.length, text.data);
}

static WGPUBuffer make(uint64_t size, WGPUBufferUsage more)
{
    WGPUBufferDescriptor buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.size = size;
    buffer.usage = WGPUBufferUsage_Storage | more;
    return wgpuDeviceCreateBuffer(device, &buffer);
}

static WGPUInstance begin(void)
{
    const WGPUInstance instance = wgpuCreateInstance(NULL);
    WGPURequestAdapterCallbackInfo first;
    WGPURequestDeviceCallbackInfo second;
    WGPUDeviceDescriptor its;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    memset(&its, 0, sizeof its);
    first.mode = second.mode = WGPUCallbackMode_AllowProcessEvents;
    first.callback = got_adapter;
    second.callback = got_device;
    its.uncapturedErrorCallbackInfo.callback = got_error;
    (void)wgpuInstanceRequestAdapter(instance, NULL, first);
    wgpuInstanceProcessEvents(instance);
    if (adapter) (void)wgpuAdapterRequestDevice(adapter, &its, second);
    wgpuInstanceProcessEvents(instance);
    return instance;
}

/* A sort that needs more of a device than any has. */
static void too_much(const hs_webgpu_kernels *kernels, const hs_webgpu_device *where)
{
    hs_sort sort = *kernels->sort;
    hs_kernel kernel = sort.kernels[0];
    hs_webgpu_kernels wanted = {&sort, kernels->lines, kernels->line_count};
    hs_webgpu_sorter *sorter;
    hs_webgpu_error error;
    sort.kernels = &kernel;
    sort.kernel_count = 1;
    kernel.local_bytes = 1u << 30;
    EXPECT(hs_webgpu_create(&wanted, where, &sorter, &error) == HS_ERROR_DEVICE && !sorter);
    EXPECT(strstr(error.log, "maxComputeWorkgroupStorageSize is ") && strstr(error.log, "needs 1073741824"));
    kernel.local_bytes = 0;
    kernel.subgroup = 8;
    EXPECT(hs_webgpu_create(&wanted, where, &sorter, &error) == HS_ERROR_DEVICE);
    EXPECT(strstr(error.log, "without the feature subgroups"));
    wanted.lines = NULL;
    EXPECT(hs_webgpu_create(&wanted, where, &sorter, &error) == HS_ERROR_KERNELS);
    EXPECT(hs_webgpu_create(NULL, where, &sorter, NULL) == HS_ERROR_ARGUMENT);
}

int main(void)
{
    enum { N = 1000 };
    hs_webgpu_device where;
    hs_webgpu_create_options options;
    const hs_webgpu_kernels *sort = NULL;
    hs_webgpu_sorter *sorter = NULL;
    hs_webgpu_sort_args args;
    hs_webgpu_error error;
    WGPUCommandEncoder encoder;
    WGPUCommandBuffer commands;
    uint64_t bytes = 0, more = 0;
    uint32_t left = 1, made = 0;
    memset(&where, 0, sizeof where);
    where.instance = begin();
    where.adapter = adapter;
    if (!device) return printf("no device\n"), 1;
    EXPECT(hs_webgpu_match(hs_webgpu_targets, hs_webgpu_targets_count, "u32", NULL, &where, &sort) == HS_OK && sort);
    where.device = device;
    EXPECT(hs_webgpu_match(hs_webgpu_targets, hs_webgpu_targets_count, "u32", NULL, &where, &sort) == HS_OK && sort);
    if (!sort) return 1;
    too_much(sort, &where);

    memset(&options, 0, sizeof options);
    options.deferred = 1;
    options.scope.max_n = 1 << 20;
    EXPECT(hs_webgpu_create_with(sort, &where, &options, &sorter, &error) == HS_OK);
    if (!sorter) return printf("%s\n", error.log), 1;
    memset(&args, 0, sizeof args);
    args.n = N;
    args.source.buffer = make(4 * N + 512, WGPUBufferUsage_CopySrc);
    EXPECT(hs_webgpu_scratch(sort->sort, N, NULL, 0, &bytes) == HS_OK);
    EXPECT(hs_webgpu_scratch(sort->sort, N, NULL, 1, &more) == HS_OK && more >= bytes + 4 * N);
    args.scratch.buffer = make(more, WGPUBufferUsage_CopyDst);
    encoder = wgpuDeviceCreateCommandEncoder(device, NULL);
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) == HS_ERROR_SCOPE);
    for (made = 0; left; made++) EXPECT(hs_webgpu_create_next(sorter, &left, &error) == HS_OK);
    EXPECT(made == hs_webgpu_pipeline_count(sorter));

    EXPECT(hs_webgpu_sort(NULL, encoder, &args, &error) == HS_ERROR_ARGUMENT);
    EXPECT(hs_webgpu_sort(sorter, NULL, &args, &error) == HS_ERROR_ARGUMENT);
    EXPECT(hs_webgpu_sort(sorter, encoder, NULL, NULL) == HS_ERROR_ARGUMENT);
    args.n = (1 << 20) + 1;
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) != HS_OK);
    args.n = N;
    args.source.offset = 4;
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) == HS_ERROR_ALIGNMENT);
    EXPECT(strstr(error.log, "256") != NULL);
    args.source.offset = 512 + 256;
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) == HS_ERROR_COUNT);
    args.source.offset = 0;
    args.destination.buffer = args.source.buffer;
    args.destination.offset = 256;
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) == HS_ERROR_OVERLAP);
    args.destination.buffer = NULL;
    args.scratch.offset = 256;
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) == HS_ERROR_SCRATCH);
    args.scratch.offset = 0;
    args.options.descending = 1;
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) == HS_ERROR_OPTION);
    args.options.descending = 0;
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) == HS_OK);
    hs_webgpu_forget(sorter); /* what is recorded stays valid */
    EXPECT(hs_webgpu_sort(sorter, encoder, &args, &error) == HS_OK);
    commands = wgpuCommandEncoderFinish(encoder, NULL);
    wgpuQueueSubmit(wgpuDeviceGetQueue(device), 1, &commands);
    wgpuInstanceProcessEvents(where.instance);
    hs_webgpu_release(sorter);
    EXPECT(errors == 0);
    if (!failures) printf("all refused\n");
    return failures != 0;
}
