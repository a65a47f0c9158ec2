/* The WebGPU harness: adapters, and the device that is open. */
#include "hn_webgpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HN_DEVICES = 64 };

struct hn_state hn;

static WGPUAdapter hn_adapters[HN_DEVICES];
static unsigned hn_widths[HN_DEVICES]; /* lanes of a subgroup, once a kernel has stored them */
static int hn_adapter_count, hn_validated; /* hn_validated: the instance has validation layers */
static char hn_text[2048], hn_said[HN_MESSAGES], hn_copied[HN_MESSAGES];

const char *hn_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(hn_text, sizeof hn_text, format, arguments);
    va_end(arguments);
    return hn_text;
}

const char *hn_status(const char *call, hs_status status, const hs_webgpu_error *error)
{
    if (status == HS_OK) return hn_reported();
    return hn_fail("%s: %s%s%.1000s", call, hs_status_text(status), error->log[0] ? ": " : "", error->log);
}

/* Keep a message of WebGPU, in one line. */
static void hn_note(const char *kind, WGPUStringView message)
{
    const size_t length = !message.data                   ? 0
                          : message.length == WGPU_STRLEN ? strlen(message.data)
                                                          : message.length;
    size_t at = strlen(hn_said), i;
    at += (size_t)snprintf(hn_said + at, sizeof hn_said - at, "%s: ", kind);
    if (at >= sizeof hn_said - 2) return;
    for (i = 0; i < length && at < sizeof hn_said - 2; i++)
        hn_said[at++] = message.data[i] == '\n' ? ' ' : message.data[i];
    hn_said[at++] = '\n';
    hn_said[at] = 0;
}

const char *hn_reported(void) { return hn_said[0] ? hn_fail("WebGPU reports: %.1500s", hn_said) : NULL; }

const char *hn_messages(void)
{
    memcpy(hn_copied, hn_said, sizeof hn_said);
    return hn_copied;
}

static void hn_uncaptured(WGPUDevice const *device, WGPUErrorType type, WGPUStringView message, void *a, void *b)
{
    (void)device, (void)type, (void)a, (void)b;
    hn_note("error", message);
}

static void hn_lost(WGPUDevice const *device, WGPUDeviceLostReason reason, WGPUStringView message, void *a, void *b)
{
    (void)device, (void)a, (void)b;
    if (reason != WGPUDeviceLostReason_Destroyed) hn_note("the device is lost", message);
}

static void hn_logged(WGPULogLevel level, WGPUStringView message, void *unused)
{
    (void)unused;
    if (level == WGPULogLevel_Error || (hn_validated && level == WGPULogLevel_Warn)) hn_note("log", message);
}

/* Make an instance and list its adapters, unless this was done before. */
static const char *hn_instance(int validation)
{
    WGPUInstanceExtras extras;
    WGPUInstanceDescriptor instance;
    WGPUInstanceEnumerateAdapterOptions options;
    size_t count;
    if (hn.instance && validation == hn_validated) return NULL;
    while (hn_adapter_count) wgpuAdapterRelease(hn_adapters[--hn_adapter_count]);
    if (hn.instance) wgpuInstanceRelease(hn.instance);
    memset(&extras, 0, sizeof extras);
    extras.chain.sType = (WGPUSType)WGPUSType_InstanceExtras;
    extras.backends = WGPUInstanceBackend_Primary;
    extras.flags = WGPUInstanceFlag_Default | (validation ? WGPUInstanceFlag_Validation : 0);
    memset(&instance, 0, sizeof instance);
    instance.nextInChain = &extras.chain;
    wgpuSetLogCallback(hn_logged, NULL);
    wgpuSetLogLevel(validation ? WGPULogLevel_Warn : WGPULogLevel_Error);
    hn_validated = validation;
    hn.instance = wgpuCreateInstance(&instance);
    if (!hn.instance) return "unavailable: wgpu-native makes no instance";
    memset(&options, 0, sizeof options);
    options.backends = extras.backends;
    count = wgpuInstanceEnumerateAdapters(hn.instance, &options, NULL);
    if (count > HN_DEVICES) return "more adapters than there is room for";
    hn_adapter_count = (int)wgpuInstanceEnumerateAdapters(hn.instance, &options, hn_adapters);
    hn_said[0] = 0; /* discard messages of drivers that find no device */
    return NULL;
}

const char *hn_count(int *count)
{
    const char *error = hn_instance(hn_validated);
    *count = hn_adapter_count;
    return error;
}

/* A text as a JSON string. */
static void hn_string(WGPUStringView text, char *out, size_t size)
{
    const size_t length = !text.data ? 0 : text.length == WGPU_STRLEN ? strlen(text.data) : text.length;
    size_t i, o = 0;
    for (i = 0; i < length && o + 2 < size; i++)
        if (text.data[i] != '"' && text.data[i] != '\\' && (unsigned char)text.data[i] >= ' ') out[o++] = text.data[i];
    out[o] = 0;
}

static void hn_got(WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView message, void *a, void *b)
{
    (void)a, (void)b;
    hn.device = device;
    if (status != WGPURequestDeviceStatus_Success) hn_note("no device", message);
}

static int hn_has(WGPUAdapter adapter, unsigned feature)
{
    return wgpuAdapterHasFeature(adapter, (WGPUFeatureName)feature) != 0;
}

/* Open a device with all that its adapter offers, or, if `least` is 1, with the limits that every browser grants. */
static const char *hn_request(WGPUAdapter adapter, int least)
{
    static const unsigned wanted[] = {WGPUFeatureName_TimestampQuery, WGPUNativeFeature_TimestampQueryInsideEncoders,
                                      WGPUFeatureName_Subgroups, WGPUNativeFeature_Subgroup};
    WGPUFeatureName features[sizeof wanted / sizeof wanted[0]];
    WGPURequestDeviceCallbackInfo done;
    WGPUDeviceDescriptor device;
    WGPULimits limits;
    size_t i;
    memset(&device, 0, sizeof device);
    for (i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (hn_has(adapter, wanted[i])) features[device.requiredFeatureCount++] = (WGPUFeatureName)wanted[i];
    memset(&limits, 0, sizeof limits);
    (void)wgpuAdapterGetLimits(adapter, &limits);
    hn.largest = limits.maxBufferSize;
    if (!least) device.requiredLimits = &limits;
    device.requiredFeatures = features;
    device.uncapturedErrorCallbackInfo.callback = hn_uncaptured;
    device.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
    device.deviceLostCallbackInfo.callback = hn_lost;
    memset(&done, 0, sizeof done);
    done.mode = WGPUCallbackMode_AllowProcessEvents;
    done.callback = hn_got;
    (void)wgpuAdapterRequestDevice(adapter, &device, done);
    wgpuInstanceProcessEvents(hn.instance);
    if (hn.device) hn.queue = wgpuDeviceGetQueue(hn.device);
    return hn.device ? hn_reported() : hn_fail("wgpuAdapterRequestDevice: %.1500s", hn_said);
}

/* A kernel that stores the lanes of its subgroup. */
static const char hn_probe[] = "@group(0) @binding(0) var<storage, read_write> lanes: array<u32>;\n"
                               "@compute @workgroup_size(128) fn probe(@builtin(subgroup_size) size: u32) {\n"
                               "    lanes[0] = size;\n}\n";

/* Run the probe on the open device. */
static const char *hn_ask(unsigned *width)
{
    WGPUShaderSourceWGSL source;
    WGPUShaderModuleDescriptor module;
    WGPUComputePipelineDescriptor pipeline;
    WGPUBindGroupEntry entry;
    WGPUBindGroupDescriptor group;
    WGPUComputePassEncoder pass;
    uint32_t lanes = 0;
    const char *error = hn_buffer(0, sizeof lanes);
    memset(&source, 0, sizeof source);
    memset(&module, 0, sizeof module);
    memset(&pipeline, 0, sizeof pipeline);
    memset(&entry, 0, sizeof entry);
    memset(&group, 0, sizeof group);
    source.chain.sType = WGPUSType_ShaderSourceWGSL;
    source.code = hn_view(hn_probe);
    module.nextInChain = &source.chain;
    pipeline.compute.module = wgpuDeviceCreateShaderModule(hn.device, &module);
    pipeline.compute.entryPoint = hn_view("probe");
    if (!error) error = hn_reported();
    if (error) return error;
    WGPUComputePipeline made = wgpuDeviceCreateComputePipeline(hn.device, &pipeline);
    error = hn_reported();
    if (!error) error = hn_begin();
    if (error) return error;
    entry.buffer = hn.buffers[0].buffer;
    entry.size = sizeof lanes;
    group.layout = wgpuComputePipelineGetBindGroupLayout(made, 0);
    group.entryCount = 1;
    group.entries = &entry;
    WGPUBindGroup bound = wgpuDeviceCreateBindGroup(hn.device, &group);
    pass = wgpuCommandEncoderBeginComputePass(hn.encoder, NULL);
    wgpuComputePassEncoderSetPipeline(pass, made);
    wgpuComputePassEncoderSetBindGroup(pass, 0, bound, 0, NULL);
    wgpuComputePassEncoderDispatchWorkgroups(pass, 1, 1, 1);
    wgpuComputePassEncoderEnd(pass);
    wgpuComputePassEncoderRelease(pass);
    error = hn_finish();
    if (!error) error = hn_get(&hn.buffers[0], 0, &lanes, sizeof lanes);
    *width = (unsigned)lanes;
    hn_drop(&hn.buffers[0]);
    wgpuBindGroupRelease(bound);
    wgpuBindGroupLayoutRelease(group.layout);
    wgpuComputePipelineRelease(made);
    wgpuShaderModuleRelease(pipeline.compute.module);
    return error;
}

const char *hn_open(int index, const char *options)
{
    char words[256] = "", *word;
    int least = 0, poison = 0, trusted = 0, validation = 0;
    const char *error;
    strncpy(words, options, sizeof words - 1);
    for (word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "validation=1") == 0) validation = 1;
        else if (strcmp(word, "limits=1") == 0) least = 1;
        else if (strcmp(word, "poison=1") == 0) poison = 1;
        else if (strcmp(word, "trusted=1") == 0) trusted = 1;
        else return "unknown option; known are limits=1, poison=1, trusted=1 and validation=1";
    }
    hn_close();
    error = hn_instance(validation);
    if (error) return error;
    if (index < 0 || index >= hn_adapter_count) return "no such device";
    error = hn_request(hn_adapters[index], least);
    if (error) return error;
    hn.poison = poison;
    hn.trusted = trusted;
    hn.tick_seconds = 1e-9 * (double)wgpuQueueGetTimestampPeriod(hn.queue);
    if (hn_has(hn_adapters[index], WGPUNativeFeature_TimestampQueryInsideEncoders)) {
        WGPUQuerySetDescriptor queries;
        hn_memory ticks = {NULL, 0};
        memset(&queries, 0, sizeof queries);
        queries.type = WGPUQueryType_Timestamp;
        queries.count = 2;
        hn.queries = wgpuDeviceCreateQuerySet(hn.device, &queries);
        error = hn_make(&ticks, 2 * sizeof(uint64_t), WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc);
        hn.ticks = ticks.buffer;
        if (error) return error;
    }
    error = hn_make(&hn.staging, HN_STAGING, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
    if (!error && !hn_widths[index] && hn_has(hn_adapters[index], WGPUNativeFeature_Subgroup))
        error = hn_ask(&hn_widths[index]);
    hn.width = hn_widths[index];
    return error;
}

const char *hn_room(uint64_t *total, uint64_t *largest)
{
    *total = 0; /* WebGPU does not report it */
    *largest = hn.largest;
    return hn.device ? NULL : "no device is open";
}

/* The number of lanes of a subgroup, which a kernel measures because not all adapters report it; 0 if there are no
 * subgroups. */
static unsigned hn_width(int index);

/* List the widths of subgroup parts that a kernel may use: all powers of two up to the subgroup's width. */
static void hn_list(unsigned width, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "1");
    unsigned one;
    for (one = 2; one <= width && used < size; one *= 2)
        used += (size_t)snprintf(text + used, size - used, ", %u", one);
}

const char *hn_describe(int index, char *text, size_t size)
{
    WGPUAdapterInfo info;
    WGPULimits limits;
    char name[256], platform[256], driver[256], widths[64] = "1";
    int has;
    unsigned width;
    const char *error = hn_instance(hn_validated);
    if (error) return error;
    if (index < 0 || index >= hn_adapter_count) return "no such device";
    memset(&info, 0, sizeof info);
    memset(&limits, 0, sizeof limits);
    (void)wgpuAdapterGetInfo(hn_adapters[index], &info);
    (void)wgpuAdapterGetLimits(hn_adapters[index], &limits);
    hn_string(info.device, name, sizeof name);
    hn_string(info.vendor, platform, sizeof platform);
    hn_string(info.description, driver, sizeof driver);
    has = hn_has(hn_adapters[index], WGPUNativeFeature_Subgroup);
    width = has ? hn_width(index) : 0;
    hn_list(width, widths, sizeof widths);
    snprintf(text, size,
             "{\"name\": \"%s\", \"platform\": \"%s\", \"driver\": \"%s\", \"type\": \"%s\", \"vendor\": %u, "
             "\"compute\": 0, \"work_group\": %u, \"local_bytes\": %u, \"subgroups\": [%s], \"shuffle\": %s, "
             "\"ballot\": %s, \"int64\": false, \"storage8\": false, \"storage16\": false, \"groups\": %u, "
             "\"binding_bytes\": %llu, \"local\": \"%s\"}",
             name, platform, driver,
             info.adapterType == WGPUAdapterType_CPU       ? "cpu"
             : info.adapterType == WGPUAdapterType_Unknown ? "other"
                                                           : "gpu",
             (unsigned)info.vendorID, (unsigned)limits.maxComputeInvocationsPerWorkgroup,
             (unsigned)limits.maxComputeWorkgroupStorageSize, widths, has ? "true" : "false", has ? "true" : "false",
             (unsigned)limits.maxComputeWorkgroupsPerDimension,
             (unsigned long long)limits.maxStorageBufferBindingSize,
             info.adapterType == WGPUAdapterType_CPU ? "memory" : "chip");
    wgpuAdapterInfoFreeMembers(info);
    return NULL;
}

static unsigned hn_width(int index)
{
    const unsigned width = hn_widths[index] || hn_open(index, "") == NULL ? hn_widths[index] : 0;
    hn_close();
    return width;
}

void hn_close(void)
{
    const WGPUInstance instance = hn.instance;
    int slot;
    hs_webgpu_release(hn.sorter);
    for (slot = 0; slot < HN_SLOTS; slot++) hn_drop(&hn.buffers[slot]);
    hn_drop(&hn.scratch);
    hn_drop(&hn.staging);
    if (hn.ticks) wgpuBufferRelease(hn.ticks);
    if (hn.queries) wgpuQuerySetRelease(hn.queries);
    if (hn.encoder) wgpuCommandEncoderRelease(hn.encoder);
    if (hn.queue) wgpuQueueRelease(hn.queue);
    if (hn.device) wgpuDeviceRelease(hn.device);
    memset(&hn, 0, sizeof hn);
    hn.instance = instance;
    hn_said[0] = 0;
}
