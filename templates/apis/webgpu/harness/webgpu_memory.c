/* The WebGPU harness: buffers, submitting, waiting. */
#include "hn_webgpu.h"

#include <string.h>

void hn_drop(hn_memory *memory)
{
    if (memory->buffer) wgpuBufferRelease(memory->buffer);
    memset(memory, 0, sizeof *memory);
}

const char *hn_make(hn_memory *memory, uint64_t bytes, WGPUBufferUsage usage)
{
    WGPUBufferDescriptor buffer;
    hn_drop(memory);
    memset(&buffer, 0, sizeof buffer);
    buffer.size = (bytes + 3) / 4 * 4;
    buffer.usage = usage;
    memory->buffer = wgpuDeviceCreateBuffer(hn.device, &buffer);
    memory->bytes = bytes;
    if (!memory->buffer) return "wgpuDeviceCreateBuffer: no memory";
    return hn_reported();
}

const char *hn_begin(void)
{
    if (!hn.device) return "no device is open";
    if (hn.encoder) wgpuCommandEncoderRelease(hn.encoder);
    hn.encoder = wgpuDeviceCreateCommandEncoder(hn.device, NULL);
    return hn.encoder ? hn_reported() : "wgpuDeviceCreateCommandEncoder: failed";
}

const char *hn_finish(void)
{
    WGPUCommandBuffer commands = wgpuCommandEncoderFinish(hn.encoder, NULL);
    const char *error = hn_reported();
    wgpuCommandEncoderRelease(hn.encoder);
    hn.encoder = NULL;
    if (!error && commands) {
        wgpuQueueSubmit(hn.queue, 1, &commands);
        (void)wgpuDevicePoll(hn.device, 1, NULL);
        error = hn_reported();
    }
    if (commands) wgpuCommandBufferRelease(commands);
    return error;
}

static void hn_mapped(WGPUMapAsyncStatus status, WGPUStringView message, void *result, void *unused)
{
    (void)message, (void)unused;
    *(int *)result = status == WGPUMapAsyncStatus_Success ? 1 : -1;
}

/* Copy whole words of a buffer to staging, and map them; the caller unmaps. */
static const char *hn_map(const hn_memory *memory, uint64_t offset, uint64_t bytes, const unsigned char **data)
{
    WGPUBufferMapCallbackInfo done;
    int result = 0;
    const char *error = hn_begin();
    if (error) return error;
    wgpuCommandEncoderCopyBufferToBuffer(hn.encoder, memory->buffer, offset, hn.staging.buffer, 0, bytes);
    error = hn_finish();
    if (error) return error;
    memset(&done, 0, sizeof done);
    done.mode = WGPUCallbackMode_AllowProcessEvents;
    done.callback = hn_mapped;
    done.userdata1 = &result;
    (void)wgpuBufferMapAsync(hn.staging.buffer, WGPUMapMode_Read, 0, (size_t)bytes, done);
    while (!result) (void)wgpuDevicePoll(hn.device, 1, NULL);
    *data = result > 0 ? (const unsigned char *)wgpuBufferGetConstMappedRange(hn.staging.buffer, 0, (size_t)bytes)
                       : NULL;
    return *data ? NULL : "wgpuBufferMapAsync: failed";
}

const char *hn_get(const hn_memory *memory, uint64_t offset, void *data, uint64_t bytes)
{
    unsigned char *to = (unsigned char *)data;
    while (bytes) {
        const uint64_t before = offset % 4, most = HN_STAGING - before;
        const uint64_t part = bytes < most ? bytes : most;
        const unsigned char *from = NULL;
        const char *error = hn_map(memory, offset - before, (before + part + 3) / 4 * 4, &from);
        if (error) return error;
        memcpy(to, from + before, (size_t)part);
        wgpuBufferUnmap(hn.staging.buffer);
        to += part;
        offset += part;
        bytes -= part;
    }
    return NULL;
}
