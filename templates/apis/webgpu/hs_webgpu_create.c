/* Sorters for WebGPU: a shader module compiled from text, layouts and pipelines. */
#include "hs_webgpu_internal.h"

#include <stdlib.h>
#include <string.h>

/* Errors are asynchronous in WebGPU.  An error scope catches the errors of the calls in it; this is its result. */
typedef struct hs_webgpu_caught {
    int done;
    long type; /* 0: no error */
    hs_webgpu_error *error;
} hs_webgpu_caught;

static void hs_webgpu_catch(WGPUPopErrorScopeStatus status, WGPUErrorType type, WGPUStringView message, void *caught,
                            void *unused)
{
    hs_webgpu_caught *to = (hs_webgpu_caught *)caught;
    (void)unused;
    to->done = 1;
    if (status == WGPUPopErrorScopeStatus_Success && type != WGPUErrorType_NoError) to->type = (long)type;
    if (!to->type || !to->error || to->error->code) return;
    to->error->code = to->type;
    if (message.data) {
        const size_t room = sizeof to->error->log - 1;
        const size_t length = message.length == WGPU_STRLEN ? strlen(message.data) : message.length;
        memset(to->error->log, 0, sizeof to->error->log);
        memcpy(to->error->log, message.data, length < room ? length : room);
    }
}

/* wgpu-native ends the program if it is given WGPUErrorFilter_Internal. */
static const WGPUErrorFilter hs_webgpu_filters[] = {WGPUErrorFilter_OutOfMemory, WGPUErrorFilter_Validation};
enum { HS_WEBGPU_FILTERS = 2 };

static void hs_webgpu_watch(const hs_webgpu_sorter *sorter)
{
    int i;
    for (i = 0; i < HS_WEBGPU_FILTERS; i++) wgpuDevicePushErrorScope(sorter->device, hs_webgpu_filters[i]);
}

/* The status of the WebGPU calls since hs_webgpu_watch. */
static hs_status hs_webgpu_result(const hs_webgpu_sorter *sorter, hs_webgpu_error *error)
{
    hs_status status = HS_OK;
    int i;
    for (i = HS_WEBGPU_FILTERS - 1; i >= 0; i--) {
        hs_webgpu_caught caught;
        WGPUPopErrorScopeCallbackInfo info;
        memset(&caught, 0, sizeof caught);
        caught.error = error;
        memset(&info, 0, sizeof info);
        info.mode = WGPUCallbackMode_AllowProcessEvents;
        info.callback = hs_webgpu_catch;
        info.userdata1 = &caught;
        (void)wgpuDevicePopErrorScope(sorter->device, info);
        while (!caught.done) wgpuInstanceProcessEvents(sorter->instance);
        if (!caught.type || status != HS_OK) continue;
        status = caught.type == (long)WGPUErrorType_OutOfMemory ? HS_ERROR_DEVICE_MEMORY : HS_ERROR_BUILD;
    }
    return status;
}

static WGPUStringView hs_webgpu_view(const char *text)
{
    WGPUStringView view;
    view.data = text;
    view.length = strlen(text);
    return view;
}

/* The text of a module as one string, which the caller frees; null if out of memory. */
static char *hs_webgpu_text(const hs_webgpu_kernels *kernels, int enables)
{
    const char *const head = hs_webgpu_exchanges(kernels->sort) && enables ? "enable subgroups;\n" : "";
    size_t i, at = strlen(head), size = at + 1;
    char *text;
    for (i = 0; i < kernels->line_count; i++) size += strlen(kernels->lines[i]);
    text = (char *)calloc(size, 1);
    if (!text) return NULL;
    memcpy(text, head, at);
    for (i = 0; i < kernels->line_count; i++) {
        const size_t length = strlen(kernels->lines[i]);
        memcpy(text + at, kernels->lines[i], length);
        at += length;
    }
    return text;
}

static hs_status hs_webgpu_compile(hs_webgpu_sorter *made, const hs_webgpu_kernels *kernels,
                                   const hs_webgpu_create_options *options, hs_webgpu_error *error)
{
    WGPUShaderSourceWGSL source;
    WGPUShaderModuleDescriptor module;
    char *text = hs_webgpu_text(kernels, made->facts.enables);
    hs_status status;
    if (!text) return HS_ERROR_HOST_MEMORY;
    memset(&source, 0, sizeof source);
    source.chain.sType = WGPUSType_ShaderSourceWGSL;
    source.code = hs_webgpu_view(text);
    memset(&module, 0, sizeof module);
    module.nextInChain = &source.chain;
    hs_webgpu_watch(made);
    made->module = options && options->shader_module ? options->shader_module(made->device, &module)
                                                     : wgpuDeviceCreateShaderModule(made->device, &module);
    status = hs_webgpu_result(made, error);
    free(text);
    return status == HS_OK && !made->module ? HS_ERROR_BUILD : status;
}

/* The layout of a bind group with `count` storage buffers, or of the bind group with the numbers of launches.  Kernels
 * only read the columns of a pack, which may be fields of the same records. */
static WGPUBindGroupLayout hs_webgpu_layout(const hs_webgpu_sorter *made, uint32_t count, int numbers)
{
    WGPUBindGroupLayoutEntry entries[HS_BINDINGS];
    WGPUBindGroupLayoutDescriptor layout;
    uint32_t i;
    memset(entries, 0, sizeof entries);
    for (i = 0; i < count; i++) {
        entries[i].binding = i;
        entries[i].visibility = WGPUShaderStage_Compute;
        entries[i].buffer.type = numbers ? WGPUBufferBindingType_Uniform : WGPUBufferBindingType_Storage;
        if (!numbers && made->sort->kind == HS_PACK && i < HS_COLUMNS)
            entries[i].buffer.type = WGPUBufferBindingType_ReadOnlyStorage;
        entries[i].buffer.hasDynamicOffset = (WGPUBool)numbers;
        entries[i].buffer.minBindingSize = numbers ? sizeof(hs_webgpu_numbers) : 0;
    }
    memset(&layout, 0, sizeof layout);
    layout.entryCount = count;
    layout.entries = entries;
    return wgpuDeviceCreateBindGroupLayout(made->device, &layout);
}

/* A buffer of the sorter's own; null if there is no memory. */
static WGPUBuffer hs_webgpu_own(const hs_webgpu_sorter *made, uint64_t size, WGPUBufferUsage usage)
{
    WGPUBufferDescriptor buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.usage = usage;
    buffer.size = size;
    return wgpuDeviceCreateBuffer(made->device, &buffer);
}

/* Make what all pipelines share, and the sorter's own buffers. */
static hs_status hs_webgpu_prepare(hs_webgpu_sorter *made, hs_webgpu_error *error)
{
    const hs_sort *sort = made->sort;
    WGPUPipelineLayoutDescriptor layout;
    WGPUBindGroupLayout sets[2];
    hs_status status;
    uint32_t i;
    hs_webgpu_watch(made);
    made->numbers_layout = hs_webgpu_layout(made, 1, 1);
    for (i = 0; i < sort->kernel_count; i++) {
        const uint32_t count = sort->kernels[i].bindings;
        if (made->layouts[count]) continue;
        sets[0] = made->set_layouts[count] = hs_webgpu_layout(made, count, 0);
        sets[1] = made->numbers_layout;
        memset(&layout, 0, sizeof layout);
        layout.bindGroupLayoutCount = 2;
        layout.bindGroupLayouts = sets;
        made->layouts[count] = wgpuDeviceCreatePipelineLayout(made->device, &layout);
    }
    made->spare = hs_webgpu_own(made, (uint64_t)HS_ROLES * HS_WEBGPU_ALIGNMENT, WGPUBufferUsage_Storage);
    if (sort->device_count)
        made->grids = hs_webgpu_own(made, (uint64_t)sort->step_count * 3 * sizeof(uint32_t),
                                    WGPUBufferUsage_Indirect | WGPUBufferUsage_CopyDst);
    status = hs_webgpu_result(made, error);
    if (status != HS_OK) return status;
    return made->spare && (made->grids || !sort->device_count) ? HS_OK : HS_ERROR_DEVICE_MEMORY;
}

/* 1 if calls of the scope can launch a kernel.  A call in place runs the steps of a call out of place. */
static int hs_webgpu_has(const hs_webgpu_sorter *sorter, uint32_t kernel)
{
    hs_scope scope = sorter->scope;
    scope.calls = (scope.calls & ~(uint32_t)HS_CALLS_IN_PLACE) | HS_CALLS_OUT_OF_PLACE;
    return hs_scope_has(sorter->sort, &scope, kernel, (scope.calls & HS_CALLS_DEVICE_COUNT) != 0);
}

uint32_t hs_webgpu_pipeline_count(const hs_webgpu_sorter *sorter)
{
    uint32_t i, count = 0;
    for (i = 0; sorter && i < sorter->sort->kernel_count; i++) count += hs_webgpu_has(sorter, i) != 0;
    return count;
}

uint32_t hs_webgpu_missing(const hs_webgpu_sorter *sorter)
{
    uint32_t i, count = 0;
    for (i = 0; i < sorter->sort->kernel_count; i++) count += !sorter->pipelines[i] && hs_webgpu_has(sorter, i);
    return count;
}

static hs_status hs_webgpu_pipeline(hs_webgpu_sorter *made, uint32_t index, hs_webgpu_error *error)
{
    const hs_kernel *kernel = &made->sort->kernels[index];
    WGPUComputePipelineDescriptor pipeline;
    WGPUComputePipeline result;
    hs_status status;
    memset(&pipeline, 0, sizeof pipeline);
    pipeline.layout = made->layouts[kernel->bindings];
    pipeline.compute.module = made->module;
    pipeline.compute.entryPoint = hs_webgpu_view(kernel->name);
    hs_webgpu_watch(made);
    result = wgpuDeviceCreateComputePipeline(made->device, &pipeline);
    status = hs_webgpu_result(made, error);
    if (status == HS_OK && !result) status = HS_ERROR_BUILD;
    if (status == HS_OK)
        made->pipelines[index] = result;
    else if (result)
        wgpuComputePipelineRelease(result);
    return status;
}

hs_status hs_webgpu_create_next(hs_webgpu_sorter *sorter, uint32_t *left, hs_webgpu_error *error)
{
    hs_status status = HS_OK;
    uint32_t i = 0;
    if (error) memset(error, 0, sizeof *error);
    if (!sorter) return HS_ERROR_ARGUMENT;
    while (i < sorter->sort->kernel_count && (sorter->pipelines[i] || !hs_webgpu_has(sorter, i))) i++;
    if (i < sorter->sort->kernel_count) status = hs_webgpu_pipeline(sorter, i, error);
    if (left) *left = hs_webgpu_missing(sorter);
    return status;
}

/* An empty sorter; null if out of memory. */
static hs_webgpu_sorter *hs_webgpu_new(const hs_sort *sort, const hs_webgpu_device *device, const hs_scope *scope,
                                       const hs_webgpu_facts *facts)
{
    hs_webgpu_sorter *made = (hs_webgpu_sorter *)calloc(1, sizeof *made);
    if (!made) return NULL;
    made->sort = sort;
    made->scope = *scope;
    made->numbers =
        (hs_webgpu_numbers *)calloc((size_t)(HS_WEBGPU_CALLS + 1) * sort->step_count + 1, sizeof *made->numbers);
    made->pipelines = (WGPUComputePipeline *)calloc(sort->kernel_count + 1u, sizeof made->pipelines[0]);
    if (!made->numbers || !made->pipelines) {
        free(made->numbers);
        free(made->pipelines);
        free(made);
        return NULL;
    }
    made->facts = *facts;
    made->max_groups = facts->limits.maxComputeWorkgroupsPerDimension;
    if (made->max_groups > sort->max_groups) made->max_groups = sort->max_groups;
    made->instance = device->instance;
    made->device = device->device;
    wgpuInstanceAddRef(made->instance);
    wgpuDeviceAddRef(made->device);
    return made;
}

hs_status hs_webgpu_create(const hs_webgpu_kernels *sort, const hs_webgpu_device *device, hs_webgpu_sorter **sorter,
                           hs_webgpu_error *error)
{
    return hs_webgpu_create_with(sort, device, NULL, sorter, error);
}

hs_status hs_webgpu_create_with(const hs_webgpu_kernels *sort, const hs_webgpu_device *device,
                                const hs_webgpu_create_options *options, hs_webgpu_sorter **sorter, hs_webgpu_error *error)
{
    hs_webgpu_sorter *made;
    hs_webgpu_facts facts;
    hs_scope scope;
    hs_status status;
    uint32_t left;
    if (error) memset(error, 0, sizeof *error);
    if (sorter) *sorter = NULL;
    if (!sort || !sort->sort || !device || !device->instance || !device->device || !sorter) return HS_ERROR_ARGUMENT;
    if (!sort->lines) return HS_ERROR_KERNELS;
    status = hs_scope_of(sort->sort, options ? &options->scope : NULL, &scope);
    if (status == HS_OK) status = hs_webgpu_ask(device, &facts, error);
    if (status == HS_OK) status = hs_webgpu_runs(sort->sort, &facts, error);
    if (status != HS_OK) return status;
    made = hs_webgpu_new(sort->sort, device, &scope, &facts);
    if (!made) return HS_ERROR_HOST_MEMORY;
    status = hs_webgpu_prepare(made, error);
    if (status == HS_OK) status = hs_webgpu_compile(made, sort, options, error);
    left = options && options->deferred ? 0 : hs_webgpu_missing(made);
    while (left && status == HS_OK) status = hs_webgpu_create_next(made, &left, error);
    if (status != HS_OK)
        hs_webgpu_release(made);
    else
        *sorter = made;
    return status;
}

void hs_webgpu_release(hs_webgpu_sorter *sorter)
{
    uint32_t i;
    if (!sorter) return;
    hs_webgpu_forget(sorter);
    for (i = 0; i < sorter->sort->kernel_count; i++)
        if (sorter->pipelines[i]) wgpuComputePipelineRelease(sorter->pipelines[i]);
    for (i = 0; i <= HS_BINDINGS; i++) {
        if (sorter->layouts[i]) wgpuPipelineLayoutRelease(sorter->layouts[i]);
        if (sorter->set_layouts[i]) wgpuBindGroupLayoutRelease(sorter->set_layouts[i]);
    }
    if (sorter->numbers_layout) wgpuBindGroupLayoutRelease(sorter->numbers_layout);
    if (sorter->module) wgpuShaderModuleRelease(sorter->module);
    if (sorter->spare) wgpuBufferRelease(sorter->spare);
    if (sorter->grids) wgpuBufferRelease(sorter->grids);
    wgpuDeviceRelease(sorter->device);
    wgpuInstanceRelease(sorter->instance);
    free(sorter->numbers);
    free(sorter->pipelines);
    free(sorter);
}

const hs_sort *hs_webgpu_sort_of(const hs_webgpu_sorter *sorter) { return sorter ? sorter->sort : NULL; }
