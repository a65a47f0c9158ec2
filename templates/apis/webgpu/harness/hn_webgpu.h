/* What the files of the WebGPU harness share: the open device, and how they report. */
#ifndef HN_WEBGPU_H
#define HN_WEBGPU_H

#include "hn_options.h"
#include "hs/hs_webgpu.h"

#include <wgpu.h>

typedef struct hn_memory {
    WGPUBuffer buffer;
    uint64_t bytes; /* the size that the caller asked for; the buffer has whole words */
} hn_memory;

extern struct hn_state {
    WGPUInstance instance;
    WGPUDevice device;
    WGPUQueue queue;
    WGPUCommandEncoder encoder;
    WGPUQuerySet queries; /* null: the device has no clock */
    WGPUBuffer ticks;     /* gets the results of the queries, which the host reads through staging */
    double tick_seconds;
    uint64_t total, largest; /* bytes of memory, 0 if unknown; bytes of the largest buffer */
    hs_webgpu_sorter *sorter;
    hn_memory buffers[HN_SLOTS], staging, scratch; /* scratch: including the guard */
    uint64_t sorted;       /* the last n */
    uint32_t width;        /* lanes of a subgroup; 0: not known, or there are no subgroups */
    int trusted;           /* modules are created without the checks of wgpu-native */
    int poison, unchecked; /* unchecked: 1 if the guard was not checked since the last sort */
} hn;

enum { HN_STAGING = 1 << 24, HN_MESSAGES = 1 << 14 }; /* bytes */

static inline WGPUStringView hn_view(const char *text)
{
    WGPUStringView view = {text, WGPU_STRLEN};
    return view;
}

/* Format an error as printf does, and return the text. */
const char *hn_fail(const char *format, ...);

/* The text for a status of the runtime; null means success. */
const char *hn_status(const char *call, hs_status status, const hs_webgpu_error *error);

/* The errors that WebGPU reported since hn_open, as a text; null if there are none. */
const char *hn_reported(void);

/* hn_drop releases a buffer; hn_make makes one of `bytes` bytes. */
void hn_drop(hn_memory *memory);
const char *hn_make(hn_memory *memory, uint64_t bytes, WGPUBufferUsage usage);

/* hn_begin begins an encoder; hn_finish finishes it, submits it and waits. */
const char *hn_begin(void);
const char *hn_finish(void);

/* Read a part of a buffer, after all submitted commands have run. */
const char *hn_get(const hn_memory *memory, uint64_t offset, void *data, uint64_t bytes);

/* Record a call for the sorter, with `scratch` bytes of scratch. */
hs_status hn_record(const hn_call *call, uint64_t scratch, hs_webgpu_error *error);

#endif
