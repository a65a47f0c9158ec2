/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* The operations of hs_vulkan.h.  Each stores its arguments in a record, which it passes to hs_vulkan_run.  The runtime
 * uses names with EXT and KHR, so that Vulkan 1.1 and old headers suffice. */
#include "hs_vulkan_internal.h"

#include <string.h>

hs_status hs_vulkan_sort(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_sort_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SORT;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = args->shift;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_VALUES] = args->values;
        record.given[HS_VALUES_OUT] = args->values_destination;
        record.given[HS_COUNT] = args->count;
        record.given[HS_REPORT] = args->report;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_scan(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_scan_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SCAN;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_segmented_sort(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_segmented_sort_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SEGMENTED_SORT;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = args->segment_count;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_OTHER_INPUT] = args->offsets;
        record.given[HS_OTHER_VALUES] = args->ends;
        record.given[HS_COUNT] = args->count;
        record.given[HS_VALUES] = args->values;
        record.given[HS_VALUES_OUT] = args->values_destination;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_merge(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_merge_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_MERGE;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = args->first_count;
        record.options = args->options;
        record.given[HS_SOURCE] = args->first;
        record.given[HS_OTHER_INPUT] = args->second;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_VALUES] = args->first_values;
        record.given[HS_OTHER_VALUES] = args->second_values;
        record.given[HS_VALUES_OUT] = args->values_destination;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_digest(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_digest_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_DIGEST;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = args->capacity;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_VALUES] = args->values;
        record.given[HS_REPORT] = args->digest;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_top_k(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_top_k_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_TOP_K;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = args->row_count;
        record.take = args->k;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_OTHER_INPUT] = args->lengths;
        record.given[HS_OTHER_VALUES] = args->starts;
        record.given[HS_TAKES] = args->takes;
        record.given[HS_COUNT] = args->count;
        record.given[HS_VALUE_STARTS] = args->value_starts;
        record.given[HS_VALUES] = args->values;
        record.given[HS_VALUES_OUT] = args->values_destination;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_reduce_by_key(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_reduce_by_key_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_REDUCE_BY_KEY;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_vulkan_sort_of(sorter),
            args->value_type), args->counts.buffer != VK_NULL_HANDLE, args->first_indices.buffer !=
            VK_NULL_HANDLE);
        record.given[HS_SOURCE] = args->keys;
        record.given[HS_VALUES] = args->values;
        record.given[HS_COUNT] = args->count;
        record.given[HS_REPORT] = args->group_count;
        record.given[HS_DESTINATION] = args->group_keys;
        record.given[HS_VALUES_OUT] = args->group_values;
        record.given[HS_OTHER_INPUT] = args->counts;
        record.given[HS_OTHER_VALUES] = args->first_indices;
        record.given[HS_SCRATCH] = args->scratch;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_gather(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_gather_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_GATHER;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = args->source_count;
        record.take = args->item_bytes;
        record.given[HS_SOURCE] = args->index;
        record.given[HS_VALUES] = args->source;
        record.given[HS_VALUES_OUT] = args->destination;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_pack(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_pack_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_PACK;
    if (args) {
        uint32_t i;
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = hs_pack_number(args->columns, args->column_count, args->begin_bit);
        record.take = hs_pack_layouts(args->columns, args->fields, args->column_count);
        for (i = 0; i < HS_COLUMNS; i++) record.given[hs_column_role(i)] = args->keys[i];
        record.given[HS_DESTINATION] = args->destination;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

hs_status hs_vulkan_group_by(const hs_vulkan *sorter, VkCommandBuffer commands,
    const hs_vulkan_group_by_args *args, VkResult *result)
{
    hs_vulkan_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_GROUP_BY;
    if (args) {
        record.n = args->n;
        record.pool = args->pool;
        record.stages = args->stages;
        record.accesses = args->accesses;
        record.timestamps = args->timestamps;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_vulkan_sort_of(sorter),
            args->value_type), args->counts.buffer != VK_NULL_HANDLE, args->first_indices.buffer !=
            VK_NULL_HANDLE);
        record.options = args->options;
        record.given[HS_SOURCE] = args->keys;
        record.given[HS_VALUES] = args->values;
        record.given[HS_REPORT] = args->group_count;
        record.given[HS_DESTINATION] = args->group_keys;
        record.given[HS_VALUES_OUT] = args->group_values;
        record.given[HS_OTHER_INPUT] = args->counts;
        record.given[HS_OTHER_VALUES] = args->first_indices;
        record.given[HS_SCRATCH] = args->scratch;
    }
    return hs_vulkan_run(sorter, commands, args ? &record : NULL, result);
}

const hs_sort *hs_vulkan_sort_of(const hs_vulkan *s) { return s ? s->sort : NULL; }

void hs_vulkan_descriptors(const hs_vulkan *s, uint32_t *sets, uint32_t *storage_buffers)
{
    uint32_t first[2] = {0, 0};
    if (s && s->first) hs_vulkan_descriptors(s->first, &first[0], &first[1]);
    if (sets) *sets = !s ? 0 : s->set_count > first[0] ? s->set_count : first[0];
    if (storage_buffers) *storage_buffers = !s ? 0 : s->storage_buffers > first[1] ? s->storage_buffers : first[1];
}

hs_status hs_vulkan_scratch(const hs_vulkan *s, uint64_t n, const hs_options *options, uint64_t *bytes)
{
    uint64_t first = 0;
    hs_status status;
    if (!s || !bytes) return HS_ERROR_ARGUMENT;
    status = hs_scratch_with(s->sort, n, options, bytes);
    if (!status && s->first && n <= s->first->scope.max_n) status = hs_scratch_with(s->first->sort, n, options, &first);
    if (first > *bytes) *bytes = first;
    return status;
}

hs_status hs_vulkan_queries(const hs_vulkan *s, uint64_t n, uint32_t *count)
{
    hs_scope scope;
    uint32_t first;
    if (!s || !count) return HS_ERROR_ARGUMENT;
    *count = 0;
    scope = s->scope;
    if (n && (n < scope.min_n || n > scope.max_n)) return HS_ERROR_SCOPE;
    scope.min_n = scope.max_n = n;
    *count = hs_scope_steps(s->sort, &scope) + 1;
    if (s->first && n <= s->first->scope.max_n && hs_vulkan_queries(s->first, n, &first) == HS_OK && first > *count)
        *count = first;
    return HS_OK;
}
