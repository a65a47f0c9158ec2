/* The operations of hs_webgpu.h: arguments by name become one record, which one thread at a time may record. */
#include "hs_webgpu_internal.h"

#include <string.h>

/* Two concurrent calls of one sorter would change the same cache of bind groups.  If the compiler has atomic exchanges,
 * they are detected, unless HS_CHECK_THREADS is defined as 0: the flag is 1 during a call. */
#if defined(HS_CHECK_THREADS) && !HS_CHECK_THREADS
#define HS_ENTER(flag) ((void)(flag), 1)
#define HS_LEAVE(flag) ((void)(flag))
#elif defined(__ATOMIC_ACQUIRE)
#define HS_ENTER(flag) (__atomic_exchange_n(flag, 1L, __ATOMIC_ACQUIRE) == 0)
#define HS_LEAVE(flag) __atomic_store_n(flag, 0L, __ATOMIC_RELEASE)
#elif defined(_MSC_VER)
#include <intrin.h>
#define HS_ENTER(flag) (_InterlockedExchange(flag, 1L) == 0)
#define HS_LEAVE(flag) ((void)_InterlockedExchange(flag, 0L))
#else
#define HS_ENTER(flag) ((void)(flag), 1)
#define HS_LEAVE(flag) ((void)(flag))
#endif

static hs_status hs_webgpu_run(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_record *record,
                               hs_webgpu_error *error)
{
    hs_status status;
    if (error) memset(error, 0, sizeof *error);
    if (!sorter || !encoder || !record) return HS_ERROR_ARGUMENT;
    if (sorter->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (!HS_ENTER(&sorter->busy)) return HS_ERROR_BUSY;
    status = hs_webgpu_perform(sorter, encoder, record, error);
    HS_LEAVE(&sorter->busy);
    return status;
}

static hs_webgpu_record hs_webgpu_empty(hs_kind kind)
{
    hs_webgpu_record record;
    memset(&record, 0, sizeof record);
    record.kind = kind;
    return record;
}

hs_status hs_webgpu_sort(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_sort_args *args,
                         hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_SORT);
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
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_scan(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_scan_args *args,
                         hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_SCAN);
    if (args) {
        record.n = args->n;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
    }
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_segmented_sort(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_segmented_sort_args *args,
                                   hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_SEGMENTED_SORT);
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
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_merge(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_merge_args *args,
                          hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_MERGE);
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
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_digest(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_digest_args *args,
                           hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_DIGEST);
    if (args) {
        record.n = args->n;
        record.number = args->capacity;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_VALUES] = args->values;
        record.given[HS_REPORT] = args->digest;
    }
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_top_k(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_top_k_args *args,
                          hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_TOP_K);
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
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_reduce_by_key(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_reduce_by_key_args *args,
                                  hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_REDUCE_BY_KEY);
    if (args) {
        record.n = args->n;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_webgpu_sort_of(sorter), args->value_type),
                                            args->counts.buffer != NULL,
                                            args->first_indices.buffer != NULL);
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
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_group_by(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_group_by_args *args,
                             hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_GROUP_BY);
    if (args) {
        record.n = args->n;
        record.number = hs_reduction_number(args->reduction, hs_value_type(hs_webgpu_sort_of(sorter), args->value_type),
                                            args->counts.buffer != NULL,
                                            args->first_indices.buffer != NULL);
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
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_gather(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_gather_args *args,
                           hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_GATHER);
    if (args) {
        record.n = args->n;
        record.number = args->source_count;
        record.take = args->item_bytes;
        record.given[HS_SOURCE] = args->index;
        record.given[HS_VALUES] = args->source;
        record.given[HS_VALUES_OUT] = args->destination;
    }
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}

hs_status hs_webgpu_pack(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_pack_args *args,
                         hs_webgpu_error *error)
{
    hs_webgpu_record record = hs_webgpu_empty(HS_PACK);
    uint32_t i;
    if (args) {
        record.n = args->n;
        record.number = hs_pack_number(args->columns, args->column_count, args->begin_bit);
        record.take = hs_pack_layouts(args->columns, args->fields, args->column_count);
        for (i = 0; i < HS_COLUMNS; i++) record.given[hs_column_role(i)] = args->keys[i];
        record.given[HS_DESTINATION] = args->destination;
    }
    return hs_webgpu_run(sorter, encoder, args ? &record : NULL, error);
}
