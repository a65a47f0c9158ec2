/* Sorting with Metal.  Calls are encoded into the caller's command buffer.  The header is for Objective-C, C and C++.
 * In C and C++, Metal's objects are pointers: the result of [object retain], or an object of metal-cpp. */
#ifndef HS_METAL_H
#define HS_METAL_H

#include "hs/hs.h"

#ifdef __OBJC__
#import <Metal/Metal.h>
typedef __unsafe_unretained id<MTLDevice> hs_metal_device;
typedef __unsafe_unretained id<MTLCommandBuffer> hs_metal_commands;
typedef __unsafe_unretained id<MTLBuffer> hs_metal_memory;
#else
typedef void *hs_metal_device;   /* an id<MTLDevice> */
typedef void *hs_metal_commands; /* an id<MTLCommandBuffer> */
typedef void *hs_metal_memory;   /* an id<MTLBuffer> */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its text in the Metal Shading Language, line by line; a target's C file defines it. */
typedef struct hs_metal_kernels {
    const hs_sort *sort;
    const char *const *lines;
    size_t line_count;
} hs_metal_kernels;

typedef struct hs_metal_target {
    const hs_target *target;
    const hs_metal_kernels *const *sorts; /* in the order of the sorts in hs_target */
} hs_metal_target;

/* A sort or another operation, built for one device.
 *
 * THREADS: "any thread" means that concurrent calls are allowed, also with the same sorter. Encoding only reads a
 * sorter, so threads may share it; a command buffer is for one thread at a time. */
typedef struct hs_metal hs_metal;

/* Details of an error: the code of Metal's NSError, and the first lines of its description.  Optional. */
typedef struct hs_metal_error {
    long code;
    char log[1024];
} hs_metal_error;

/* Options for the creation of a sorter.  All members 0 have the same effect as hs_metal_create. */
typedef struct hs_metal_create_options {
    hs_scope scope; /* the calls for which the sorter is created */
} hs_metal_create_options;

/* Compile all kernels that any call of a sort may need, and make their pipelines.  `error` may be null.  Any thread. */
hs_status hs_metal_create(const hs_metal_kernels *sort, hs_metal_device device, hs_metal **sorter,
                          hs_metal_error *error);

/* hs_metal_create with options, which may be null.  Only the pipelines of the scope are made.  Any thread. */
hs_status hs_metal_create_with(const hs_metal_kernels *sort, hs_metal_device device,
                               const hs_metal_create_options *options, hs_metal **sorter, hs_metal_error *error);

/* The number of pipelines that a sorter has.  Any thread. */
uint32_t hs_metal_pipeline_count(const hs_metal *sorter);

/* Release a sorter; null does nothing.  Command buffers keep the pipelines that they use.  No other thread may use the
 * sorter at the same time. */
void hs_metal_release(hs_metal *sorter);

/* The sort for which a sorter was created, for hs_describe, hs_pad and hs_scratch.  Any thread. */
const hs_sort *hs_metal_sort_of(const hs_metal *sorter);

/* A buffer from byte `offset` on, a multiple of the size of an element.  `memory` is null if there is no such
 * buffer. */
typedef struct hs_metal_buffer {
    hs_metal_memory memory;
    uint64_t offset;
} hs_metal_buffer;

/* Calls.  Set unused members to 0.  The caller keeps the buffers. */

/* A call is encoded into a command buffer that has no open encoder, by one compute encoder, which has ended on return.
 * Arguments are checked before anything is encoded.  Metal runs a call after earlier commands on the same buffers.  For
 * buffers of a heap or without hazard tracking, the caller must order the commands, with fences or events.  Any
 * thread. */

/* HSGEN_CALLS */

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves.  Of the sorts of these targets that the
 * device's general limits allow, the result is the one that suits the device best; null if there is none.  The width of
 * SIMD groups is not checked here, but by hs_metal_create.  Any thread. */
hs_status hs_metal_match(const hs_metal_target *const *targets, size_t count, const char *key, const char *value,
                         hs_metal_device device, const hs_metal_kernels **sort);

/* hs_metal_match for sorts of `kind` instead of HS_SORT. */
hs_status hs_metal_match_kind(const hs_metal_target *const *targets, size_t count, hs_kind kind, const char *key,
                              const char *value, hs_metal_device device, const hs_metal_kernels **sort);

/* Writes the reasons why a match of these arguments returned null to `text`, a buffer of `room` bytes: a line for each
 * target, as from hs_explain.  Any thread. */
hs_status hs_metal_explain(const hs_metal_target *const *targets, size_t count, hs_kind kind, const char *key,
                           const char *value, hs_metal_device device, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
