/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* The operations of hs_cuda.h.  Each stores its arguments in a record, which it passes to hs_cuda_run. */
#include "hs_cuda_internal.h"

#include <string.h>

extern "C" hs_status hs_cuda_sort(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_sort_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SORT;
    if (args) {
        record.n = args->n;
        record.number = args->shift;
        record.options = args->options;
        record.given[HS_SOURCE] = {args->source, args->source_bytes};
        record.given[HS_DESTINATION] = {args->destination, args->destination_bytes};
        record.given[HS_SCRATCH] = {args->scratch, args->scratch_bytes};
        record.given[HS_VALUES] = {args->values, args->values_bytes};
        record.given[HS_VALUES_OUT] = {args->values_destination, args->values_destination_bytes};
        record.given[HS_COUNT] = {args->count, 0};
        record.given[HS_REPORT] = {args->report, args->report_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_scan(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_scan_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SCAN;
    if (args) {
        record.n = args->n;
        record.options = args->options;
        record.given[HS_SOURCE] = {args->source, args->source_bytes};
        record.given[HS_DESTINATION] = {args->destination, args->destination_bytes};
        record.given[HS_SCRATCH] = {args->scratch, args->scratch_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_segmented_sort(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_segmented_sort_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_SEGMENTED_SORT;
    if (args) {
        record.n = args->n;
        record.number = args->segment_count;
        record.options = args->options;
        record.given[HS_SOURCE] = {args->source, args->source_bytes};
        record.given[HS_DESTINATION] = {args->destination, args->destination_bytes};
        record.given[HS_SCRATCH] = {args->scratch, args->scratch_bytes};
        record.given[HS_OTHER_INPUT] = {args->offsets, args->offsets_bytes};
        record.given[HS_OTHER_VALUES] = {args->ends, args->ends_bytes};
        record.given[HS_COUNT] = {args->count, 0};
        record.given[HS_VALUES] = {args->values, args->values_bytes};
        record.given[HS_VALUES_OUT] = {args->values_destination, args->values_destination_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_merge(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_merge_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_MERGE;
    if (args) {
        record.n = args->n;
        record.number = args->first_count;
        record.options = args->options;
        record.given[HS_SOURCE] = {args->first, args->first_bytes};
        record.given[HS_OTHER_INPUT] = {args->second, args->second_bytes};
        record.given[HS_DESTINATION] = {args->destination, args->destination_bytes};
        record.given[HS_SCRATCH] = {args->scratch, args->scratch_bytes};
        record.given[HS_VALUES] = {args->first_values, args->first_values_bytes};
        record.given[HS_OTHER_VALUES] = {args->second_values, args->second_values_bytes};
        record.given[HS_VALUES_OUT] = {args->values_destination, args->values_destination_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_digest(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_digest_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_DIGEST;
    if (args) {
        record.n = args->n;
        record.number = args->capacity;
        record.options = args->options;
        record.given[HS_SOURCE] = {args->source, args->source_bytes};
        record.given[HS_VALUES] = {args->values, args->values_bytes};
        record.given[HS_REPORT] = {args->digest, args->digest_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_top_k(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_top_k_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_TOP_K;
    if (args) {
        record.n = args->n;
        record.number = args->row_count;
        record.take = args->k;
        record.options = args->options;
        record.given[HS_SOURCE] = {args->source, args->source_bytes};
        record.given[HS_DESTINATION] = {args->destination, args->destination_bytes};
        record.given[HS_SCRATCH] = {args->scratch, args->scratch_bytes};
        record.given[HS_OTHER_INPUT] = {args->lengths, args->lengths_bytes};
        record.given[HS_OTHER_VALUES] = {args->starts, args->starts_bytes};
        record.given[HS_TAKES] = {args->takes, args->takes_bytes};
        record.given[HS_COUNT] = {args->count, 0};
        record.given[HS_VALUE_STARTS] = {args->value_starts, args->value_starts_bytes};
        record.given[HS_VALUES] = {args->values, args->values_bytes};
        record.given[HS_VALUES_OUT] = {args->values_destination, args->values_destination_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_reduce_by_key(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_reduce_by_key_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_REDUCE_BY_KEY;
    if (args) {
        record.n = args->n;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_cuda_sort_of(sorter),
            args->value_type), args->counts != NULL, args->first_indices != NULL);
        record.given[HS_SOURCE] = {args->keys, args->keys_bytes};
        record.given[HS_VALUES] = {args->values, args->values_bytes};
        record.given[HS_COUNT] = {args->count, 0};
        record.given[HS_REPORT] = {args->group_count, 0};
        record.given[HS_DESTINATION] = {args->group_keys, args->group_keys_bytes};
        record.given[HS_VALUES_OUT] = {args->group_values, args->group_values_bytes};
        record.given[HS_OTHER_INPUT] = {args->counts, args->counts_bytes};
        record.given[HS_OTHER_VALUES] = {args->first_indices, args->first_indices_bytes};
        record.given[HS_SCRATCH] = {args->scratch, args->scratch_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_gather(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_gather_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_GATHER;
    if (args) {
        record.n = args->n;
        record.number = args->source_count;
        record.take = args->item_bytes;
        record.given[HS_SOURCE] = {args->index, args->index_bytes};
        record.given[HS_VALUES] = {args->source, args->source_bytes};
        record.given[HS_VALUES_OUT] = {args->destination, args->destination_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_pack(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_pack_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_PACK;
    if (args) {
        uint32_t i;
        record.n = args->n;
        record.number = hs_pack_number(args->columns, args->column_count, args->begin_bit);
        record.take = hs_pack_layouts(args->columns, args->fields, args->column_count);
        for (i = 0; i < HS_COLUMNS; i++) record.given[hs_column_role(i)] = {args->keys[i], args->keys_bytes[i]};
        record.given[HS_DESTINATION] = {args->destination, args->destination_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}

extern "C" hs_status hs_cuda_group_by(const hs_cuda *sorter, cudaStream_t stream,
    const hs_cuda_group_by_args *args, cudaError_t *error)
{
    hs_cuda_record record;
    memset(&record, 0, sizeof record);
    record.kind = HS_GROUP_BY;
    if (args) {
        record.n = args->n;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_cuda_sort_of(sorter),
            args->value_type), args->counts != NULL, args->first_indices != NULL);
        record.options = args->options;
        record.given[HS_SOURCE] = {args->keys, args->keys_bytes};
        record.given[HS_VALUES] = {args->values, args->values_bytes};
        record.given[HS_REPORT] = {args->group_count, 0};
        record.given[HS_DESTINATION] = {args->group_keys, args->group_keys_bytes};
        record.given[HS_VALUES_OUT] = {args->group_values, args->group_values_bytes};
        record.given[HS_OTHER_INPUT] = {args->counts, args->counts_bytes};
        record.given[HS_OTHER_VALUES] = {args->first_indices, args->first_indices_bytes};
        record.given[HS_SCRATCH] = {args->scratch, args->scratch_bytes};
    }
    return hs_cuda_run(sorter, stream, args ? &record : NULL, error);
}
