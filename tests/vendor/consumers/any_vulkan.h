/* Calls of any kind with one struct for all: what a kind lacks is left out. */
#ifndef ANY_VULKAN_H
#define ANY_VULKAN_H

#include "hs/hs_vulkan.h"

#include <string.h>

typedef struct any_args {
    uint64_t n;
    hs_options options;
    hs_vulkan_buffer source;
    hs_vulkan_buffer destination;
    hs_vulkan_buffer scratch;
    hs_vulkan_buffer values;
    hs_vulkan_buffer values_destination;
    hs_vulkan_buffer count;
    VkDescriptorPool pool;
    VkPipelineStageFlags stages;
    VkAccessFlags accesses;
    hs_vulkan_timestamps timestamps;
    hs_vulkan_buffer other;
    hs_vulkan_buffer other_values;
    hs_vulkan_buffer report;
    uint64_t parts;
} any_args;

static inline hs_status any_sort(const hs_vulkan *s, VkCommandBuffer commands, const any_args *any, VkResult *result)
{
    hs_vulkan_sort_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.shift = any->parts;
        args.options = any->options;
        args.source = any->source;
        args.destination = any->destination;
        args.scratch = any->scratch;
        args.values = any->values;
        args.values_destination = any->values_destination;
        args.count = any->count;
        args.report = any->report;
        args.pool = any->pool;
        args.stages = any->stages;
        args.accesses = any->accesses;
        args.timestamps = any->timestamps;
    }
    return hs_vulkan_sort(s, commands, any ? &args : NULL, result);
}

static inline hs_status any_scan(const hs_vulkan *s, VkCommandBuffer commands, const any_args *any, VkResult *result)
{
    hs_vulkan_scan_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.source = any->source;
        args.destination = any->destination;
        args.scratch = any->scratch;
        args.pool = any->pool;
        args.stages = any->stages;
        args.accesses = any->accesses;
        args.timestamps = any->timestamps;
    }
    return hs_vulkan_scan(s, commands, any ? &args : NULL, result);
}

static inline hs_status any_segments(const hs_vulkan *s, VkCommandBuffer commands, const any_args *any, VkResult *result)
{
    hs_vulkan_segmented_sort_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.segment_count = any->parts;
        args.options = any->options;
        args.source = any->source;
        args.destination = any->destination;
        args.scratch = any->scratch;
        args.offsets = any->other;
        args.ends = any->other_values;
        args.count = any->count;
        args.values = any->values;
        args.values_destination = any->values_destination;
        args.pool = any->pool;
        args.stages = any->stages;
        args.accesses = any->accesses;
        args.timestamps = any->timestamps;
    }
    return hs_vulkan_segmented_sort(s, commands, any ? &args : NULL, result);
}

static inline hs_status any_merge(const hs_vulkan *s, VkCommandBuffer commands, const any_args *any, VkResult *result)
{
    hs_vulkan_merge_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.first_count = any->parts;
        args.options = any->options;
        args.first = any->source;
        args.second = any->other;
        args.destination = any->destination;
        args.scratch = any->scratch;
        args.first_values = any->values;
        args.second_values = any->other_values;
        args.values_destination = any->values_destination;
        args.pool = any->pool;
        args.stages = any->stages;
        args.accesses = any->accesses;
        args.timestamps = any->timestamps;
    }
    return hs_vulkan_merge(s, commands, any ? &args : NULL, result);
}

static inline hs_status any_check(const hs_vulkan *s, VkCommandBuffer commands, const any_args *any, VkResult *result)
{
    hs_vulkan_digest_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.capacity = any->parts;
        args.options = any->options;
        args.source = any->source;
        args.values = any->values;
        args.digest = any->report;
        args.pool = any->pool;
        args.stages = any->stages;
        args.accesses = any->accesses;
        args.timestamps = any->timestamps;
    }
    return hs_vulkan_digest(s, commands, any ? &args : NULL, result);
}

typedef hs_status (*any_entry)(const hs_vulkan *, VkCommandBuffer , const any_args *, VkResult *);
static const any_entry any_entries[] = {any_sort, any_scan, any_segments, any_merge, any_check}; /* by hs_kind */

#endif
