/* WebGPU devices: which sorts run on them, and which of these suits a device best. */
#include "hs_webgpu_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The feature of wgpu-native for subgroups.  Its WGSL needs no "enable subgroups;". */
#define HS_WGPU_NATIVE_SUBGROUP ((WGPUFeatureName)0x00030021)

hs_status hs_webgpu_wrong(hs_status status, hs_webgpu_error *error, const char *format, ...)
{
    va_list arguments;
    if (!error) return status;
    va_start(arguments, format);
    vsnprintf(error->log, sizeof error->log, format, arguments);
    va_end(arguments);
    return status;
}

int hs_webgpu_exchanges(const hs_sort *sort)
{
    uint32_t i;
    for (i = 0; i < sort->kernel_count; i++)
        if (sort->kernels[i].subgroup > 1 || sort->kernels[i].ballot) return 1;
    return 0;
}

hs_status hs_webgpu_ask(const hs_webgpu_device *device, hs_webgpu_facts *facts, hs_webgpu_error *error)
{
    WGPUStatus status;
    int native;
    memset(facts, 0, sizeof *facts);
    if (device->device) {
        status = wgpuDeviceGetLimits(device->device, &facts->limits);
        native = wgpuDeviceHasFeature(device->device, HS_WGPU_NATIVE_SUBGROUP) != 0;
        facts->subgroups = native || wgpuDeviceHasFeature(device->device, WGPUFeatureName_Subgroups);
    } else {
        status = wgpuAdapterGetLimits(device->adapter, &facts->limits);
        native = wgpuAdapterHasFeature(device->adapter, HS_WGPU_NATIVE_SUBGROUP) != 0;
        facts->subgroups = native || wgpuAdapterHasFeature(device->adapter, WGPUFeatureName_Subgroups);
    }
    facts->enables = facts->subgroups && !native;
    facts->width = device->subgroup_min_size;
    if (facts->subgroups && !facts->width && device->adapter) {
        WGPUAdapterInfo info;
        memset(&info, 0, sizeof info);
        if (wgpuAdapterGetInfo(device->adapter, &info) == WGPUStatus_Success) facts->width = info.subgroupMinSize;
        wgpuAdapterInfoFreeMembers(info);
    }
    if (status == WGPUStatus_Success) return HS_OK;
    return hs_webgpu_wrong(HS_ERROR_API, error, "WebGPU reports no limits");
}

/* HS_ERROR_DEVICE, with a sentence about a limit that is too low. */
static hs_status hs_webgpu_lacks(const char *limit, uint64_t has, uint64_t needs, hs_webgpu_error *error)
{
    return hs_webgpu_wrong(HS_ERROR_DEVICE, error, "the device's %s is %llu, the sort needs %llu", limit,
                           (unsigned long long)has, (unsigned long long)needs);
}

/* Whether the device's subgroups are wide enough: kernels exchange values in parts of a subgroup. */
static hs_status hs_webgpu_lanes(const hs_sort *sort, const hs_webgpu_facts *facts, hs_webgpu_error *error)
{
    uint32_t i;
    if (!hs_webgpu_exchanges(sort)) return HS_OK;
    if (!facts->subgroups)
        return hs_webgpu_wrong(HS_ERROR_DEVICE, error,
                               "the device was created without the feature subgroups, which the sort needs");
    if (!facts->width)
        return hs_webgpu_wrong(HS_ERROR_DEVICE, error,
                               "the adapter does not report subgroupMinSize; give subgroup_min_size");
    for (i = 0; i < sort->kernel_count; i++)
        if (sort->kernels[i].subgroup > facts->width)
            return hs_webgpu_lacks("subgroupMinSize", facts->width, sort->kernels[i].subgroup, error);
    return HS_OK;
}

hs_status hs_webgpu_runs(const hs_sort *sort, const hs_webgpu_facts *facts, hs_webgpu_error *error)
{
    const WGPULimits *limits = &facts->limits;
    uint32_t i;
    for (i = 0; i < sort->kernel_count; i++) {
        const hs_kernel *kernel = &sort->kernels[i];
        if (kernel->work_group > limits->maxComputeInvocationsPerWorkgroup)
            return hs_webgpu_lacks("maxComputeInvocationsPerWorkgroup", limits->maxComputeInvocationsPerWorkgroup,
                                   kernel->work_group, error);
        if (kernel->work_group > limits->maxComputeWorkgroupSizeX)
            return hs_webgpu_lacks("maxComputeWorkgroupSizeX", limits->maxComputeWorkgroupSizeX, kernel->work_group,
                                   error);
        if (kernel->local_bytes > limits->maxComputeWorkgroupStorageSize)
            return hs_webgpu_lacks("maxComputeWorkgroupStorageSize", limits->maxComputeWorkgroupStorageSize,
                                   kernel->local_bytes, error);
        if (kernel->bindings > limits->maxStorageBuffersPerShaderStage)
            return hs_webgpu_lacks("maxStorageBuffersPerShaderStage", limits->maxStorageBuffersPerShaderStage,
                                   kernel->bindings, error);
    }
    if (limits->minStorageBufferOffsetAlignment > HS_WEBGPU_ALIGNMENT)
        return hs_webgpu_wrong(HS_ERROR_DEVICE, error, "the device's minStorageBufferOffsetAlignment is above %d",
                               (int)HS_WEBGPU_ALIGNMENT);
    return hs_webgpu_lanes(sort, facts, error);
}

/* A text of the adapter as a string, which the caller frees; null if out of memory. */
static char *hs_webgpu_string(WGPUStringView text)
{
    const size_t length = !text.data ? 0 : text.length == WGPU_STRLEN ? strlen(text.data) : text.length;
    char *made = (char *)calloc(length + 1, 1);
    if (made && length) memcpy(made, text.data, length);
    return made;
}

/* The best of the sorts that the device allows. */
static const hs_webgpu_kernels *hs_webgpu_best(const hs_webgpu_target *const *targets, size_t count, hs_kind kind,
                                               const char *key, const char *value, const hs_device *device,
                                               const hs_webgpu_facts *facts)
{
    const hs_webgpu_kernels *found = NULL;
    uint32_t best = 0;
    size_t t, s;
    for (t = 0; t < count; t++) {
        const hs_target *target = targets[t]->target;
        const uint32_t suits = hs_suits(target, device);
        for (s = 0; suits > best && s < target->sort_count; s++) {
            if (!hs_serves_kind(target->sorts[s], kind, key, value) || !targets[t]->sorts[s]->lines) continue;
            if (hs_webgpu_runs(target->sorts[s], facts, NULL) != HS_OK) continue;
            best = suits;
            found = targets[t]->sorts[s];
        }
    }
    return found;
}

hs_status hs_webgpu_match(const hs_webgpu_target *const *targets, size_t count, const char *key, const char *value,
                          const hs_webgpu_device *device, const hs_webgpu_kernels **sort)
{
    return hs_webgpu_match_kind(targets, count, HS_SORT, key, value, device, sort);
}

/* An adapter as hs_suits takes it; the caller frees `texts`, its name and its platform's. */
static hs_status hs_webgpu_known(const hs_webgpu_device *device, hs_device *its, char *texts[2])
{
    WGPUAdapterInfo info;
    memset(&info, 0, sizeof info);
    if (wgpuAdapterGetInfo(device->adapter, &info) != WGPUStatus_Success) return HS_ERROR_API;
    memset(its, 0, sizeof *its);
    its->type = info.adapterType == WGPUAdapterType_CPU       ? HS_CPU
                : info.adapterType == WGPUAdapterType_Unknown ? HS_OTHER
                                                              : HS_GPU;
    its->vendor = info.vendorID;
    its->name = texts[0] = hs_webgpu_string(info.device);
    its->platform = texts[1] = hs_webgpu_string(info.vendor); /* on Vulkan the driver's name */
    wgpuAdapterInfoFreeMembers(info);
    return texts[0] && texts[1] ? HS_OK : HS_ERROR_HOST_MEMORY;
}

hs_status hs_webgpu_explain(const hs_webgpu_target *const *targets, size_t count, hs_kind kind, const char *key,
                            const char *value, const hs_webgpu_device *device, char *text, size_t room)
{
    hs_device its;
    char *texts[2] = {NULL, NULL};
    hs_status status;
    size_t t;
    if (!key || !device || !device->adapter || !text || !room || (count && !targets)) return HS_ERROR_ARGUMENT;
    text[0] = 0;
    status = hs_webgpu_known(device, &its, texts);
    for (t = 0; status == HS_OK && t < count; t++)
        hs_reason(targets[t]->target, kind, key, value, &its, text, room);
    free(texts[0]);
    free(texts[1]);
    return status;
}

hs_status hs_webgpu_match_kind(const hs_webgpu_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, const hs_webgpu_device *device, const hs_webgpu_kernels **sort)
{
    hs_webgpu_facts facts;
    hs_device its;
    char *texts[2] = {NULL, NULL};
    hs_status status;
    if (sort) *sort = NULL;
    if (!sort || !key || !device || !device->adapter || (count && !targets)) return HS_ERROR_ARGUMENT;
    status = hs_webgpu_ask(device, &facts, NULL);
    if (status == HS_OK) status = hs_webgpu_known(device, &its, texts);
    if (status == HS_OK) *sort = hs_webgpu_best(targets, count, kind, key, value, &its, &facts);
    free(texts[0]);
    free(texts[1]);
    return status;
}
