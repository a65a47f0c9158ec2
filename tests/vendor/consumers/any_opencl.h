/* Calls of OpenCL's runtime of every kind with one struct: members that a kind lacks are ignored. */
#ifndef ANY_OPENCL_H
#define ANY_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "hs/hs_opencl.h"

#include <string.h>

typedef struct any_args {
    uint64_t n, parts, take;
    hs_field field; /* of each column */
    hs_options options;
    cl_mem source, destination, scratch, values, values_destination, count, other, other_values, report;
    cl_uint wait_count;
    const cl_event *wait;
    cl_event *event;
} any_args;

#define ANY_SHARED(args, any) \
    (memset(&(args), 0, sizeof(args)), (args).n = (any)->n, (args).wait_count = (any)->wait_count, \
     (args).wait = (any)->wait, (args).event = (any)->event)

static hs_status any_sort(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_sort_args args;
    if (!any) return hs_opencl_sort(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.options = any->options;
    args.source = any->source;
    args.destination = any->destination;
    args.scratch = any->scratch;
    args.values = any->values;
    args.values_destination = any->values_destination;
    args.count = any->count;
    args.report = any->report;
    args.shift = any->parts;
    return hs_opencl_sort(sorter, queue, &args, error);
}

static hs_status any_scan(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_scan_args args;
    if (!any) return hs_opencl_scan(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.source = any->source;
    args.destination = any->destination;
    args.scratch = any->scratch;
    return hs_opencl_scan(sorter, queue, &args, error);
}

static hs_status any_segments(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_segmented_sort_args args;
    if (!any) return hs_opencl_segmented_sort(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.options = any->options;
    args.source = any->source;
    args.destination = any->destination;
    args.scratch = any->scratch;
    args.values = any->values;
    args.values_destination = any->values_destination;
    args.offsets = any->other;
    args.ends = any->other_values;
    args.count = any->count;
    args.segment_count = any->parts;
    return hs_opencl_segmented_sort(sorter, queue, &args, error);
}

static hs_status any_merge(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_merge_args args;
    if (!any) return hs_opencl_merge(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.options = any->options;
    args.first = any->source;
    args.second = any->other;
    args.destination = any->destination;
    args.scratch = any->scratch;
    args.first_values = any->values;
    args.second_values = any->other_values;
    args.values_destination = any->values_destination;
    args.first_count = any->parts;
    return hs_opencl_merge(sorter, queue, &args, error);
}

static hs_status any_check(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_digest_args args;
    if (!any) return hs_opencl_digest(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.options = any->options;
    args.source = any->source;
    args.values = any->values;
    args.digest = any->report;
    args.capacity = any->parts;
    return hs_opencl_digest(sorter, queue, &args, error);
}

static hs_status any_top_k(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_top_k_args args;
    if (!any) return hs_opencl_top_k(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.row_count = any->parts;
    args.k = any->take;
    args.count = any->count;
    args.lengths = any->other;
    args.starts = any->other_values;
    args.options = any->options;
    args.source = any->source;
    args.destination = any->destination;
    args.scratch = any->scratch;
    args.values = any->values;
    args.values_destination = any->values_destination;
    return hs_opencl_top_k(sorter, queue, &args, error);
}

static hs_status any_runs(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_reduce_by_key_args args;
    if (!any) return hs_opencl_reduce_by_key(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.reduction = (hs_reduction)any->take;
    args.value_type = any->options.type;
    args.keys = any->source;
    args.group_keys = any->destination;
    args.scratch = any->scratch;
    args.values = any->values;
    args.group_values = any->values_destination;
    args.count = any->count;
    args.counts = any->other;
    args.first_indices = any->other_values;
    args.group_count = any->report;
    return hs_opencl_reduce_by_key(sorter, queue, &args, error);
}

static hs_status any_gather(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_gather_args args;
    if (!any) return hs_opencl_gather(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.source_count = any->parts;
    args.item_bytes = any->take;
    args.index = any->source;
    args.source = any->values;
    args.destination = any->values_destination;
    return hs_opencl_gather(sorter, queue, &args, error);
}

/* `parts` columns, all of the type and order of the options. */
static hs_status any_pack(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_pack_args args;
    uint32_t i;
    if (!any) return hs_opencl_pack(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.column_count = any->parts;
    for (i = 0; i < HS_COLUMNS && i < any->parts; i++) {
        args.columns[i].type = any->options.type;
        args.columns[i].descending = any->options.descending;
        args.fields[i] = any->field;
    }
    args.begin_bit = any->options.begin_bit;
    args.keys[0] = any->source;
    args.keys[1] = any->other;
    args.keys[2] = any->other_values;
    args.keys[3] = any->values;
    args.destination = any->destination;
    return hs_opencl_pack(sorter, queue, &args, error);
}

/* `parts` is the type of values, and not a number of a call. */
static hs_status any_groups(hs_opencl *sorter, cl_command_queue queue, const any_args *any, hs_opencl_error *error)
{
    hs_opencl_group_by_args args;
    if (!any) return hs_opencl_group_by(sorter, queue, NULL, error);
    ANY_SHARED(args, any);
    args.options = any->options;
    args.reduction = (hs_reduction)any->take;
    args.value_type = (hs_type)any->parts;
    args.keys = any->source;
    args.group_keys = any->destination;
    args.scratch = any->scratch;
    args.values = any->values;
    args.group_values = any->values_destination;
    args.counts = any->other;
    args.first_indices = any->other_values;
    args.group_count = any->report;
    return hs_opencl_group_by(sorter, queue, &args, error);
}

typedef hs_status (*any_entry)(hs_opencl *, cl_command_queue, const any_args *, hs_opencl_error *);
static const any_entry any_entries[] = {any_sort, any_scan, any_segments, any_merge, any_check, any_top_k,
                                        any_runs, any_gather, any_pack, any_groups}; /* by hs_kind */

#endif
