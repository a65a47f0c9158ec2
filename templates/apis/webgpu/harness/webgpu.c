/* The harness of harness.h for WebGPU: buffers, sorts, their time, copies. */
#include "hn_webgpu.h"

#include "hs/hs_targets_webgpu.h"

#include <string.h>

static hs_webgpu_device hn_device(void)
{
    hs_webgpu_device device;
    device.adapter = NULL;
    device.subgroup_min_size = hn.width;
    device.instance = hn.instance;
    device.device = hn.device;
    return device;
}

/* A module without the checks that wgpu-native adds to indices and loops. */
static WGPUShaderModule hn_trusted(WGPUDevice device, const WGPUShaderModuleDescriptor *module)
{
    return wgpuDeviceCreateShaderModuleTrusted(device, module, WGPUShaderRuntimeChecks_None);
}

const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value)
{
    const hs_webgpu_device device = hn_device();
    const hs_webgpu_kernels *kernels = NULL;
    hs_webgpu_create_options options;
    hs_webgpu_error error;
    size_t t, s;
    if (!hn.device) return "no device is open";
    hs_webgpu_release(hn.sorter);
    hn.sorter = NULL;
    hn.sorted = 0;
    for (t = 0; t < hs_webgpu_targets_count && !kernels; t++) {
        const hs_target *its = hs_webgpu_targets[t]->target;
        const hs_sort *sort = strcmp(its->name, target) == 0 ? hs_find(its, algorithm, key, value) : NULL;
        for (s = 0; sort && s < its->sort_count; s++)
            if (its->sorts[s] == sort) kernels = hs_webgpu_targets[t]->sorts[s];
    }
    if (!kernels) return hn_fail("the bundle has no sort %s/%s_%s of values %s", target, algorithm, key, value);
    memset(&options, 0, sizeof options);
    if (hn.trusted) options.shader_module = hn_trusted;
    return hn_status("hs_webgpu_create", hs_webgpu_create_with(kernels, &device, &options, &hn.sorter, &error), &error);
}

const char *hn_buffer(int slot, uint64_t bytes)
{
    if (slot < 0 || slot >= HN_SLOTS) return "there is no such buffer";
    return hn_make(&hn.buffers[slot], bytes,
                   WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst);
}

/* WebGPU writes whole words.  If `bytes` ends within a word, the rest of the word becomes 0; no element is there. */
const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes)
{
    const unsigned char *from = (const unsigned char *)data;
    const uint64_t whole = bytes / 4 * 4;
    uint64_t at;
    if (slot < 0 || slot >= HN_SLOTS || offset % 4) return "there is no such buffer, or no word at this offset";
    for (at = 0; at < whole; at += HN_STAGING) {
        const uint64_t part = whole - at < HN_STAGING ? whole - at : HN_STAGING;
        wgpuQueueWriteBuffer(hn.queue, hn.buffers[slot].buffer, offset + at, from + at, (size_t)part);
    }
    if (bytes > whole) {
        unsigned char last[4] = {0, 0, 0, 0};
        memcpy(last, from + whole, (size_t)(bytes - whole));
        wgpuQueueWriteBuffer(hn.queue, hn.buffers[slot].buffer, offset + whole, last, sizeof last);
    }
    return hn_reported();
}

static const char *hn_check_guard(void)
{
    static unsigned char guard[HN_GUARD];
    const char *error;
    if (!hn.unchecked) return NULL;
    hn.unchecked = 0;
    error = hn_get(&hn.scratch, hn.scratch.bytes - HN_GUARD, guard, HN_GUARD);
    return error || hn_whole(guard) ? error : HN_OVERWRITTEN;
}

const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes)
{
    const char *error = hn_check_guard();
    if (error) return error;
    return slot >= 0 && slot < HN_SLOTS ? hn_get(&hn.buffers[slot], offset, data, bytes) : "there is no such buffer";
}

const char *hn_redone(uint32_t *redone)
{
    const hs_sort *sort = hs_webgpu_sort_of(hn.sorter);
    uint32_t words[256];
    uint64_t offset = 0, bytes = 0;
    hs_status status;
    const char *error = hn_check_guard();
    if (error) return error;
    status = hs_device_status_at(sort, hn.sorted, &offset, &bytes);
    if (bytes > sizeof words) return "more words of an outcome than there is room for";
    if (bytes) error = hn_get(&hn.scratch, offset, words, bytes);
    if (error) return error;
    if (status == HS_OK) status = hs_device_status(sort, words, bytes, redone);
    return status == HS_OK || status == HS_ERROR_SEGMENTS ? NULL : hs_status_text(status);
}

/* Fill a part of scratch with bytes of one value. */
static void hn_fill(unsigned char byte, uint64_t offset, uint64_t bytes)
{
    static unsigned char pattern[1 << 16];
    uint64_t at;
    memset(pattern, byte, sizeof pattern);
    for (at = 0; at < bytes; at += sizeof pattern) {
        const uint64_t part = bytes - at < sizeof pattern ? bytes - at : sizeof pattern;
        wgpuQueueWriteBuffer(hn.queue, hn.scratch.buffer, offset + at, pattern, (size_t)part);
    }
}

/* Scratch of exactly `bytes` bytes, whole words, followed by a guard. */
static const char *hn_prepare(uint64_t bytes)
{
    const int fresh = !hn.scratch.buffer || hn.scratch.bytes != bytes + HN_GUARD;
    const char *error = fresh ? hn_check_guard() : NULL;
    if (!error && fresh)
        error = hn_make(&hn.scratch, bytes + HN_GUARD,
                        WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst);
    if (error) return error;
    if (fresh || hn.poison) hn_fill(HN_POISON_BYTE, 0, bytes);
    if (fresh) hn_fill(HN_GUARD_BYTE, bytes, HN_GUARD);
    hn.unchecked = 1;
    return hn_reported();
}

static void hn_tick(uint32_t which)
{
    if (hn.queries) wgpuCommandEncoderWriteTimestamp(hn.encoder, hn.queries, which);
}

/* Submit the recorded commands, wait, and get the seconds between the two timestamps; -1 without a clock. */
static const char *hn_timed(double *seconds)
{
    uint64_t ticks[2] = {0, 0};
    const hn_memory memory = {hn.ticks, sizeof ticks};
    const char *error;
    *seconds = -1;
    hn_tick(1);
    if (hn.queries) wgpuCommandEncoderResolveQuerySet(hn.encoder, hn.queries, 0, 2, hn.ticks, 0);
    error = hn_finish();
    if (!error && hn.queries) error = hn_get(&memory, 0, ticks, sizeof ticks);
    if (!error && hn.queries) *seconds = (double)(ticks[1] - ticks[0]) * hn.tick_seconds;
    return error;
}

/* The bytes of scratch that a call needs. */
static hs_status hn_scratch(const hn_call *call, uint64_t *bytes)
{
    const hs_options options = hn_options_of(call);
    const int placed = call->slots[HS_DESTINATION] >= 0 && !hn_same(call, HS_DESTINATION, HS_SOURCE);
    return hs_webgpu_scratch(hs_webgpu_sort_of(hn.sorter), call->n, &options, !placed, bytes);
}

const char *hn_sort(const hn_call *call, double *device_seconds)
{
    static const char *const names[] = HN_NAMES("webgpu", "");
    const hs_sort *sort = hs_webgpu_sort_of(hn.sorter);
    hs_webgpu_error problem;
    const char *error;
    uint64_t scratch = 0;
    hs_status status;
    if (!sort) return "no sort is ready";
    memset(&problem, 0, sizeof problem);
    error = hn_status("hs_webgpu_scratch", hn_scratch(call, &scratch), &problem);
    if (!error && scratch) error = hn_prepare(scratch);
    if (!error) error = hn_begin();
    if (error) return error;
    hn.sorted = call->n;
    hn_tick(0);
    status = hn_record(call, scratch, &problem);
    if (status != HS_OK) return hn_status(names[sort->kind], status, &problem);
    return hn_timed(device_seconds);
}

const char *hn_clock(int on)
{
    (void)on; /* timestamps are always written */
    return NULL;
}

const char *hn_copy(uint64_t bytes, double *device_seconds)
{
    const char *error;
    if (bytes == 0 || bytes > hn.buffers[0].bytes || bytes > hn.buffers[1].bytes) return "the buffers are smaller";
    error = hn_begin();
    if (error) return error;
    hn_tick(0);
    wgpuCommandEncoderCopyBufferToBuffer(hn.encoder, hn.buffers[0].buffer, 0, hn.buffers[1].buffer, 0,
                                         (bytes + 3) / 4 * 4);
    return hn_timed(device_seconds);
}
