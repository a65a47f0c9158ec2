/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* The operations of hs_opencl.h. Each stores its arguments in a record, and enqueues the record. One thread at a time
 * may do so for a sorter. */
#include "hs_opencl_internal.h"

#include <string.h>

static hs_status hs_opencl_run(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_record *record,
                               hs_opencl_error *error)
{
    hs_status status;
    if (error) memset(error, 0, sizeof *error);
    if (!sorter || !queue || !record || (record->wait_count && !record->wait)) return HS_ERROR_ARGUMENT;
    if (record->event) *record->event = NULL;
    if (sorter->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (!HS_ENTER(&sorter->busy)) return HS_ERROR_BUSY;
    status = hs_opencl_perform(sorter, queue, record, error);
    HS_LEAVE(&sorter->busy);
    return status;
}

hs_status hs_opencl_sort(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_sort_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SORT;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
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
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_scan(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_scan_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SCAN;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_segmented_sort(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_segmented_sort_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SEGMENTED_SORT;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
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
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_merge(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_merge_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_MERGE;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
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
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_digest(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_digest_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_DIGEST;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
        record.number = args->capacity;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_VALUES] = args->values;
        record.given[HS_REPORT] = args->digest;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_top_k(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_top_k_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_TOP_K;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
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
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_reduce_by_key(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_reduce_by_key_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_REDUCE_BY_KEY;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_opencl_sort_of(sorter),
            args->value_type), args->counts != NULL, args->first_indices != NULL);
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
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_gather(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_gather_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_GATHER;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
        record.number = args->source_count;
        record.take = args->item_bytes;
        record.given[HS_SOURCE] = args->index;
        record.given[HS_VALUES] = args->source;
        record.given[HS_VALUES_OUT] = args->destination;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_pack(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_pack_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_PACK;
    if (args) {
        uint32_t i;
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
        record.number = hs_pack_number(args->columns, args->column_count, args->begin_bit);
        record.take = hs_pack_layouts(args->columns, args->fields, args->column_count);
        for (i = 0; i < HS_COLUMNS; i++) record.given[hs_column_role(i)] = args->keys[i];
        record.given[HS_DESTINATION] = args->destination;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_group_by(hs_opencl *sorter, cl_command_queue queue,
    const hs_opencl_group_by_args *args, hs_opencl_error *error)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_GROUP_BY;
    if (args) {
        record.n = args->n;
        record.wait_count = args->wait_count;
        record.wait = args->wait;
        record.event = args->event;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_opencl_sort_of(sorter),
            args->value_type), args->counts != NULL, args->first_indices != NULL);
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
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}
