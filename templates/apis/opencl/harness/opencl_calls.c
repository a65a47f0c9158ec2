/* The OpenCL harness: the arguments of each operation, from the call that Python describes. */
#include "hn_opencl.h"

#include <string.h>

#define HN_FILL(args) (memset(&(args), 0, sizeof(args)), (args).n = record->call->n, (args).event = &record->event)

static hs_status hn_call_sort(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_sort_args args;
    HN_FILL(args);
    args.options = hn_options_of(record->call);
    args.source = record->at[HS_SOURCE];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    args.values = record->at[HS_VALUES];
    args.values_destination = record->at[HS_VALUES_OUT];
    args.count = record->at[HS_COUNT];
    args.report = record->at[HS_REPORT];
    args.shift = record->call->shift;
    return hs_opencl_sort(hn.sorter, queue, &args, error);
}

static hs_status hn_call_scan(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_scan_args args;
    HN_FILL(args);
    args.options = hn_options_of(record->call);
    args.source = record->at[HS_SOURCE];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    return hs_opencl_scan(hn.sorter, queue, &args, error);
}

static hs_status hn_call_segments(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_segmented_sort_args args;
    HN_FILL(args);
    args.segment_count = record->call->segment_count;
    args.options = hn_options_of(record->call);
    args.source = record->at[HS_SOURCE];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    args.offsets = record->at[HS_OTHER_INPUT];
    args.ends = record->at[HS_OTHER_VALUES];
    args.count = record->at[HS_COUNT];
    args.values = record->at[HS_VALUES];
    args.values_destination = record->at[HS_VALUES_OUT];
    return hs_opencl_segmented_sort(hn.sorter, queue, &args, error);
}

static hs_status hn_call_merge(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_merge_args args;
    HN_FILL(args);
    args.first_count = record->call->first_count;
    args.options = hn_options_of(record->call);
    args.first = record->at[HS_SOURCE];
    args.second = record->at[HS_OTHER_INPUT];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    args.first_values = record->at[HS_VALUES];
    args.second_values = record->at[HS_OTHER_VALUES];
    args.values_destination = record->at[HS_VALUES_OUT];
    return hs_opencl_merge(hn.sorter, queue, &args, error);
}

static hs_status hn_call_digest(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_digest_args args;
    HN_FILL(args);
    args.capacity = record->call->capacity;
    args.options = hn_options_of(record->call);
    args.source = record->at[HS_SOURCE];
    args.values = record->at[HS_VALUES];
    args.digest = record->at[HS_REPORT];
    return hs_opencl_digest(hn.sorter, queue, &args, error);
}

static hs_status hn_call_top_k(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_top_k_args args;
    HN_FILL(args);
    args.row_count = record->call->segment_count;
    args.k = record->call->take;
    args.options = hn_options_of(record->call);
    args.source = record->at[HS_SOURCE];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    args.values = record->at[HS_VALUES];
    args.values_destination = record->at[HS_VALUES_OUT];
    return hs_opencl_top_k(hn.sorter, queue, &args, error);
}

static hs_status hn_call_reduce_by_key(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_reduce_by_key_args args;
    HN_FILL(args);
    args.reduction = hn_reduction(record->call);
    args.value_type = hn_reduced(record->call);
    args.keys = record->at[HS_SOURCE];
    args.values = record->at[HS_VALUES];
    args.count = record->at[HS_COUNT];
    args.group_count = record->at[HS_REPORT];
    args.group_keys = record->at[HS_DESTINATION];
    args.group_values = record->at[HS_VALUES_OUT];
    args.counts = record->at[HS_OTHER_INPUT];
    args.first_indices = record->at[HS_OTHER_VALUES];
    args.scratch = record->at[HS_SCRATCH];
    return hs_opencl_reduce_by_key(hn.sorter, queue, &args, error);
}

static hs_status hn_call_group_by(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_group_by_args args;
    HN_FILL(args);
    args.options = hn_options_of(record->call);
    args.reduction = hn_reduction(record->call);
    args.value_type = hn_reduced(record->call);
    args.keys = record->at[HS_SOURCE];
    args.values = record->at[HS_VALUES];
    args.group_count = record->at[HS_REPORT];
    args.group_keys = record->at[HS_DESTINATION];
    args.group_values = record->at[HS_VALUES_OUT];
    args.counts = record->at[HS_OTHER_INPUT];
    args.first_indices = record->at[HS_OTHER_VALUES];
    args.scratch = record->at[HS_SCRATCH];
    return hs_opencl_group_by(hn.sorter, queue, &args, error);
}

static hs_status hn_call_gather(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_gather_args args;
    HN_FILL(args);
    args.source_count = record->call->segment_count;
    args.item_bytes = record->call->take * hs_opencl_sort_of(hn.sorter)->value_bytes;
    args.index = record->at[HS_SOURCE];
    args.source = record->at[HS_VALUES];
    args.destination = record->at[HS_VALUES_OUT];
    return hs_opencl_gather(hn.sorter, queue, &args, error);
}

static hs_status hn_call_pack(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_pack_args args;
    uint32_t i;
    HN_FILL(args);
    args.column_count = hn_columns(record->call, args.columns, args.fields);
    for (i = 0; i < args.column_count; i++) args.keys[i] = record->at[hs_column_role(i)];
    args.begin_bit = (uint32_t)(record->call->columns >> 24) * 32;
    args.destination = record->at[HS_DESTINATION];
    return hs_opencl_pack(hn.sorter, queue, &args, error);
}

hs_status hn_enqueue(cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    static hs_status (*const by_kind[])(cl_command_queue, hn_record *, hs_opencl_error *) = {
        hn_call_sort, hn_call_scan, hn_call_segments, hn_call_merge, hn_call_digest, hn_call_top_k,
        hn_call_reduce_by_key,
        hn_call_gather, hn_call_pack, hn_call_group_by};
    return by_kind[hs_opencl_sort_of(hn.sorter)->kind](queue, record, error);
}
