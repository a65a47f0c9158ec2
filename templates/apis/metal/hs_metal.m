/* The operations of hs_metal.h: arguments by name become one record, which hs_metal_run takes. */
#include "hs_metal_internal.h"

#include <string.h>

static hs_metal_record hs_metal_empty(hs_kind kind)
{
    hs_metal_record record;
    memset(&record, 0, sizeof record);
    record.kind = kind;
    return record;
}

hs_status hs_metal_sort(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_sort_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_SORT);
    if (args) {
        record.n = args->n;
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
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_scan(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_scan_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_SCAN);
    if (args) {
        record.n = args->n;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_segmented_sort(const hs_metal *sorter, hs_metal_commands commands,
                            const hs_metal_segmented_sort_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_SEGMENTED_SORT);
    if (args) {
        record.n = args->n;
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
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_merge(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_merge_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_MERGE);
    if (args) {
        record.n = args->n;
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
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_digest(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_digest_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_DIGEST);
    if (args) {
        record.n = args->n;
        record.number = args->capacity;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_VALUES] = args->values;
        record.given[HS_REPORT] = args->digest;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_top_k(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_top_k_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_TOP_K);
    if (args) {
        record.n = args->n;
        record.number = args->row_count;
        record.take = args->k;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_VALUES] = args->values;
        record.given[HS_VALUES_OUT] = args->values_destination;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_reduce_by_key(const hs_metal *sorter, hs_metal_commands commands,
                                 const hs_metal_reduce_by_key_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_REDUCE_BY_KEY);
    if (args) {
        record.n = args->n;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_metal_sort_of(sorter), args->value_type),
                                            HS_POINTER(args->counts.memory) != NULL,
                                            HS_POINTER(args->first_indices.memory) != NULL);
        record.given[HS_SOURCE] = args->keys;
        record.given[HS_DESTINATION] = args->group_keys;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_VALUES] = args->values;
        record.given[HS_VALUES_OUT] = args->group_values;
        record.given[HS_COUNT] = args->count;
        record.given[HS_OTHER_INPUT] = args->counts;
        record.given[HS_OTHER_VALUES] = args->first_indices;
        record.given[HS_REPORT] = args->group_count;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_group_by(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_group_by_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_GROUP_BY);
    if (args) {
        record.n = args->n;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_metal_sort_of(sorter), args->value_type),
                                            HS_POINTER(args->counts.memory) != NULL,
                                            HS_POINTER(args->first_indices.memory) != NULL);
        record.options = args->options;
        record.given[HS_SOURCE] = args->keys;
        record.given[HS_DESTINATION] = args->group_keys;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_VALUES] = args->values;
        record.given[HS_VALUES_OUT] = args->group_values;
        record.given[HS_OTHER_INPUT] = args->counts;
        record.given[HS_OTHER_VALUES] = args->first_indices;
        record.given[HS_REPORT] = args->group_count;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_gather(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_gather_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_GATHER);
    if (args) {
        record.n = args->n;
        record.number = args->source_count;
        record.take = args->item_bytes;
        record.given[HS_SOURCE] = args->index;
        record.given[HS_VALUES] = args->source;
        record.given[HS_VALUES_OUT] = args->destination;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}

hs_status hs_metal_pack(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_pack_args *args)
{
    hs_metal_record record = hs_metal_empty(HS_PACK);
    uint32_t i;
    if (args) {
        record.n = args->n;
        record.number = hs_pack_number(args->columns, args->column_count, args->begin_bit);
        record.take = hs_pack_layouts(args->columns, args->fields, args->column_count);
        for (i = 0; i < HS_COLUMNS; i++) record.given[hs_column_role(i)] = args->keys[i];
        record.given[HS_DESTINATION] = args->destination;
    }
    return hs_metal_run(sorter, commands, args ? &record : NULL);
}
