/* Sort random numbers with WebGPU: all that a program does, from the adapter to the sorted array.
 *
 * README.md has the line that builds it.  The exit code is 0 if the numbers came back sorted. */
#include "hs/hs_webgpu.h"
#include "hs/hs_targets_webgpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* HSGEN_EXAMPLE */

/* Keys and values in the buffer that the host reads, each part a multiple of 4 bytes. */
enum { KEYS = (COUNT * KEY_BYTES + 3) / 4 * 4, VALUES = (COUNT * VALUE_BYTES + 3) / 4 * 4 };

/* The objects of the program; all null at first. */
typedef struct program {
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice device;
    WGPUQueue queue;
    WGPUBuffer keys, values, scratch, output, staging;
    WGPUCommandEncoder encoder;
    WGPUCommandBuffer commands;
    hs_webgpu_sorter *sorter;
    int mapped, errors;
} program;

static void got_adapter(WGPURequestAdapterStatus status, WGPUAdapter adapter, WGPUStringView message, void *p, void *q)
{
    (void)status, (void)message, (void)q;
    ((program *)p)->adapter = adapter;
}

static void got_device(WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView message, void *p, void *q)
{
    (void)status, (void)message, (void)q;
    ((program *)p)->device = device;
}

static void got_error(WGPUDevice const *device, WGPUErrorType type, WGPUStringView message, void *p, void *q)
{
    (void)device, (void)type, (void)q;
    ((program *)p)->errors++;
    fprintf(stderr, "%.*s\n", (int)message.length, message.data);
}

static void got_map(WGPUMapAsyncStatus status, WGPUStringView message, void *p, void *q)
{
    (void)message, (void)q;
    ((program *)p)->mapped = status == WGPUMapAsyncStatus_Success ? 1 : -1;
}

/* An adapter with a device that has all that the adapter offers; 0 if there is no adapter. */
static int open_device(program *p)
{
    WGPURequestAdapterCallbackInfo adapter;
    WGPURequestDeviceCallbackInfo done;
    WGPUDeviceDescriptor device;
    WGPUFeatureName feature = WGPUFeatureName_Subgroups;
    WGPULimits limits;
    p->instance = wgpuCreateInstance(NULL);
    if (!p->instance) return 0;
    memset(&adapter, 0, sizeof adapter);
    adapter.mode = WGPUCallbackMode_AllowProcessEvents;
    adapter.callback = got_adapter;
    adapter.userdata1 = p;
    (void)wgpuInstanceRequestAdapter(p->instance, NULL, adapter);
    wgpuInstanceProcessEvents(p->instance);
    if (!p->adapter) return 0;
    memset(&limits, 0, sizeof limits);
    (void)wgpuAdapterGetLimits(p->adapter, &limits);
    memset(&device, 0, sizeof device);
    device.requiredLimits = &limits;
    if (wgpuAdapterHasFeature(p->adapter, feature)) device.requiredFeatureCount = 1, device.requiredFeatures = &feature;
    device.uncapturedErrorCallbackInfo.callback = got_error;
    device.uncapturedErrorCallbackInfo.userdata1 = p;
    memset(&done, 0, sizeof done);
    done.mode = WGPUCallbackMode_AllowProcessEvents;
    done.callback = got_device;
    done.userdata1 = p;
    (void)wgpuAdapterRequestDevice(p->adapter, &device, done);
    wgpuInstanceProcessEvents(p->instance);
    p->queue = p->device ? wgpuDeviceGetQueue(p->device) : NULL;
    return p->queue != NULL;
}

static WGPUBuffer make_buffer(const program *p, uint64_t size, WGPUBufferUsage usage)
{
    WGPUBufferDescriptor buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.size = size;
    buffer.usage = usage;
    return wgpuDeviceCreateBuffer(p->device, &buffer);
}

/* The keys, and then the values, when all that was submitted has run; null if they cannot be read. */
static const char *read_back(program *p)
{
    WGPUBufferMapCallbackInfo done;
    memset(&done, 0, sizeof done);
    done.mode = WGPUCallbackMode_AllowProcessEvents;
    done.callback = got_map;
    done.userdata1 = p;
    (void)wgpuBufferMapAsync(p->staging, WGPUMapMode_Read, 0, KEYS + VALUES, done);
    while (!p->mapped) wgpuInstanceProcessEvents(p->instance);
    if (p->mapped < 0) return NULL;
    return (const char *)wgpuBufferGetConstMappedRange(p->staging, 0, KEYS + VALUES);
}

/* Sort the numbers on the device; null, or what failed. */
static const char *sort_numbers(program *p, const void *numbers, const void *values, const char **sorted,
                                hs_webgpu_error *error)
{
    const WGPUBufferUsage moves = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
    const hs_webgpu_kernels *sort = NULL;
    hs_webgpu_device device;
    hs_webgpu_sort_args args;
    uint64_t scratch = 0;
    hs_info info;
    hs_status status;
    if (!open_device(p)) return "no device of WebGPU";
    device.instance = p->instance;
    device.adapter = p->adapter;
    device.device = p->device;

    /* Build the kernels once, then sort as often as you like. */
    status = hs_webgpu_match(hs_webgpu_targets, hs_webgpu_targets_count, KEY, VALUE, &device, &sort);
    if (status != HS_OK) return hs_status_text(status);
    if (!sort) return "none of the targets sorts " KEY " keys on this device";
    status = hs_webgpu_create(sort, &device, &p->sorter, error);
    if (status != HS_OK) return hs_status_text(status);

    /* The program allocates all memory: the keys, and as much scratch as the sort asks for in place. */
    status = hs_webgpu_scratch(sort->sort, COUNT, NULL, 1, &scratch);
    if (status != HS_OK) return hs_status_text(status);
    status = hs_describe(sort->sort, &info);
    if (status != HS_OK) return hs_status_text(status);
    p->keys = make_buffer(p, KEYS, moves);
    if (VALUES > 0) p->values = make_buffer(p, VALUES, moves);
    if (info.reports) /* for a report, such as the positions of runs */
        p->output = make_buffer(p, 4 * (info.report_words + (uint64_t)COUNT * info.report_words_per_key), moves);
    p->scratch = make_buffer(p, scratch, WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst);
    p->staging = make_buffer(p, KEYS + VALUES, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
    p->encoder = wgpuDeviceCreateCommandEncoder(p->device, NULL);
    if (!p->keys || !p->scratch || !p->staging || !p->encoder) return "out of memory";
    if ((VALUES > 0 && !p->values) || (info.reports && !p->output)) return "out of memory";
    wgpuQueueWriteBuffer(p->queue, p->keys, 0, numbers, KEYS);
    if (VALUES > 0) wgpuQueueWriteBuffer(p->queue, p->values, 0, values, VALUES);

    /* In place.  Sorting into another buffer, args.destination, needs less scratch. */
    memset(&args, 0, sizeof args);
    args.n = COUNT;
    args.source.buffer = p->keys;
    args.scratch.buffer = p->scratch;
    args.report.buffer = p->output;
    if (MAKES_INDICES == 1)
        args.values_destination.buffer = p->values;
    else
        args.values.buffer = p->values;
    status = hs_webgpu_sort(p->sorter, p->encoder, &args, error);
    if (status != HS_OK) return hs_status_text(status);
    wgpuCommandEncoderCopyBufferToBuffer(p->encoder, p->keys, 0, p->staging, 0, KEYS);
    if (VALUES > 0) wgpuCommandEncoderCopyBufferToBuffer(p->encoder, p->values, 0, p->staging, KEYS, VALUES);
    p->commands = wgpuCommandEncoderFinish(p->encoder, NULL);
    wgpuQueueSubmit(p->queue, 1, &p->commands);
    *sorted = read_back(p);
    return *sorted ? NULL : "the sorted keys cannot be read";
}

int main(void)
{
    program p;
    hs_webgpu_error error;
    const char *sorted = NULL;
    const char *problem = "out of memory";
    void *before = calloc(KEYS, 1), *values = calloc(VALUES + 1, 1);
    int right = 0;
    memset(&p, 0, sizeof p);
    memset(&error, 0, sizeof error);
    if (before && values) {
        fill(before, values);
        problem = sort_numbers(&p, before, values, &sorted, &error);
    }
    if (!problem) right = !p.errors && is_sorted(before, sorted, sorted + KEYS);
    if (right)
        printf("sorted %d keys with target %s\n", (int)COUNT, hs_webgpu_sort_of(p.sorter)->target);
    else
        fprintf(stderr, "not sorted: %s\n%s\n", problem ? problem : "wrong order", error.log);
    hs_webgpu_release(p.sorter);
    if (p.commands) wgpuCommandBufferRelease(p.commands);
    if (p.encoder) wgpuCommandEncoderRelease(p.encoder);
    if (p.staging) wgpuBufferRelease(p.staging);
    if (p.scratch) wgpuBufferRelease(p.scratch);
    if (p.output) wgpuBufferRelease(p.output);
    if (p.values) wgpuBufferRelease(p.values);
    if (p.keys) wgpuBufferRelease(p.keys);
    if (p.queue) wgpuQueueRelease(p.queue);
    if (p.device) wgpuDeviceRelease(p.device);
    if (p.adapter) wgpuAdapterRelease(p.adapter);
    if (p.instance) wgpuInstanceRelease(p.instance);
    free(before);
    free(values);
    return right ? 0 : 1;
}
