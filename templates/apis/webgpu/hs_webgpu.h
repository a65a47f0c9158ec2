/* Sorting with WebGPU.  Calls are recorded into the caller's command encoder.  The runtime needs the webgpu.h that
 * wgpu-native and Dawn share, in a version with WGPUStringView.  Nothing that only one of the two has is needed. */
#ifndef HS_WEBGPU_H
#define HS_WEBGPU_H

#include "hs/hs.h"

#ifndef WEBGPU_H_ /* the program may have included the header by another path */
#include <webgpu/webgpu.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its WGSL text, line by line; a target's C file defines it. */
typedef struct hs_webgpu_kernels {
    const hs_sort *sort;
    const char *const *lines;
    size_t line_count;
} hs_webgpu_kernels;

typedef struct hs_webgpu_target {
    const hs_target *target;
    const hs_webgpu_kernels *const *sorts; /* in the order of the sorts in hs_target */
} hs_webgpu_target;

/* A sort or another operation, built for one device, with its bind groups.
 *
 * THREADS: "any thread" means that concurrent calls are allowed for different sorters. Recording changes a sorter, so
 * only one thread at a time may use it. A program may use several threads only if its implementation of WebGPU permits
 * it. */
typedef struct hs_webgpu_sorter hs_webgpu_sorter;

/* Details of an error. `code` is the WGPUErrorType, or 0. `log` is a sentence: the implementation's message, or one
 * that names a missing limit or feature. Functions accept null in place of an hs_webgpu_error. */
typedef struct hs_webgpu_error {
    long code;
    char log[1024];
} hs_webgpu_error;

/* The device of a sorter, its adapter and its instance.  hs_webgpu_match and sorts with subgroups need the adapter.
 * While a sorter is created, events of the instance are processed until the errors of shader modules and pipelines are
 * known. */
typedef struct hs_webgpu_device {
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice device;
    uint32_t subgroup_min_size; /* the fewest lanes of a subgroup; 0: as the adapter reports it */
} hs_webgpu_device;

/* Options for the creation of a sorter.  All members 0 have the same effect as hs_webgpu_create. */
typedef struct hs_webgpu_create_options {
    hs_scope scope;    /* the calls for which the sorter is created */
    uint32_t deferred; /* 1: no pipelines are made; hs_webgpu_create_next makes them */
    /* Creates the shader module, such as one without run-time checks; null: wgpuDeviceCreateShaderModule. */
    WGPUShaderModule (*shader_module)(WGPUDevice device, const WGPUShaderModuleDescriptor *descriptor);
} hs_webgpu_create_options;

/* How many objects a sorter keeps, and the alignment of buffers. */
enum {
    HS_WEBGPU_CALLS = 8,      /* the number of different calls whose arguments a sorter keeps */
    HS_WEBGPU_GROUPS = 64,    /* the number of bind groups of the caller's buffers that a sorter keeps */
    HS_WEBGPU_ALIGNMENT = 256 /* in bytes; the offset of a buffer is a multiple of this number */
};

/* Compile all kernels that any call of a sort may need, and make their pipelines.  HS_ERROR_DEVICE if a limit of the
 * device is too low or a feature is missing; `error`, which may be null, then names it.  Any thread. */
hs_status hs_webgpu_create(const hs_webgpu_kernels *sort, const hs_webgpu_device *device, hs_webgpu_sorter **sorter,
                           hs_webgpu_error *error);

/* hs_webgpu_create with options, which may be null.  Only the pipelines of the scope are made.  Any thread. */
hs_status hs_webgpu_create_with(const hs_webgpu_kernels *sort, const hs_webgpu_device *device,
                                const hs_webgpu_create_options *options, hs_webgpu_sorter **sorter, hs_webgpu_error *error);

/* Make the next pipeline of a deferred sorter; `left`, if not null, gets the number of pipelines that are still
 * missing.  Calls get HS_ERROR_SCOPE until this number is 0.  One thread at a time for a sorter. */
hs_status hs_webgpu_create_next(hs_webgpu_sorter *sorter, uint32_t *left, hs_webgpu_error *error);

/* The number of pipelines that a sorter has when it is complete.  Any thread. */
uint32_t hs_webgpu_pipeline_count(const hs_webgpu_sorter *sorter);

/* Release the bind groups of a sorter, and with them the callers' buffers that they keep alive. One thread at a
 * time. */
void hs_webgpu_forget(hs_webgpu_sorter *sorter);

/* Release a sorter; null does nothing.  Command buffers keep the objects that they use.  No other thread may use the
 * sorter at the same time. */
void hs_webgpu_release(hs_webgpu_sorter *sorter);

/* The sort for which a sorter was created, for hs_describe and hs_pad.  Any thread. */
const hs_sort *hs_webgpu_sort_of(const hs_webgpu_sorter *sorter);

/* The bytes of scratch that a call for n keys with these options needs; `options` may be null.  `in_place` is 1 for a
 * call without a destination. The result is then more than that of hs_scratch_with: WebGPU forbids to bind a buffer
 * twice to a kernel, so the call first copies keys and values to scratch. Any thread. */
hs_status hs_webgpu_scratch(const hs_sort *sort, uint64_t n, const hs_options *options, int in_place, uint64_t *bytes);

/* A buffer from byte `offset` on, a multiple of HS_WEBGPU_ALIGNMENT.  `buffer` is null if the call has no such buffer.
 * The buffer must hold whole 32-bit words: up to 3 more bytes after keys and values of 1 or 2 bytes, which no call
 * changes. */
typedef struct hs_webgpu_buffer {
    WGPUBuffer buffer;
    uint64_t offset;
} hs_webgpu_buffer;

/* Calls.  Set unused members to 0.  The caller keeps the buffers.  Every buffer has WGPUBufferUsage_Storage.  With
 * `count`, scratch also has CopySrc.  In place, keys and values also have CopySrc, and scratch has CopyDst. */

/* A call records compute passes into a command encoder that has no open pass.  A call in place, or with a device-side
 * count, also records copies. Passes and copies run after all commands that were recorded earlier, and before all that
 * are recorded later. Arguments are checked before anything is recorded. Nothing waits for the device. A call allocates
 * nothing if its numbers and buffers are those of one of the last HS_WEBGPU_CALLS calls; otherwise it makes small
 * objects. `error` may be null. One thread at a time for a sorter; others get HS_ERROR_BUSY. */

/* HSGEN_CALLS */

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves.  Of the sorts of these targets that the
 * device's limits and features allow, the result is the one that suits the device best; null if there is none.  Only
 * adapter and device of `device` are read; without a device, the limits and features of the adapter apply.  Any
 * thread. */
hs_status hs_webgpu_match(const hs_webgpu_target *const *targets, size_t count, const char *key, const char *value,
                          const hs_webgpu_device *device, const hs_webgpu_kernels **sort);

/* hs_webgpu_match for sorts of `kind` instead of HS_SORT. */
hs_status hs_webgpu_match_kind(const hs_webgpu_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, const hs_webgpu_device *device,
                               const hs_webgpu_kernels **sort);

/* Writes the reasons why a match of these arguments returned null to `text`, a buffer of `room` bytes: a line for each
 * target, as from hs_explain.  Any thread. */
hs_status hs_webgpu_explain(const hs_webgpu_target *const *targets, size_t count, hs_kind kind, const char *key,
                            const char *value, const hs_webgpu_device *device, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
