/* Calls of every kind with one struct: members that a kind lacks are ignored. */
#ifndef ANY_METAL_H
#define ANY_METAL_H

#include "hs/hs_metal.h"

#include <string.h>

typedef struct any_args {
    uint64_t n;
    hs_options options;
    hs_metal_buffer source;
    hs_metal_buffer destination;
    hs_metal_buffer scratch;
    hs_metal_buffer values;
    hs_metal_buffer values_destination;
    hs_metal_buffer count;
    hs_metal_buffer other;
    hs_metal_buffer other_values;
    hs_metal_buffer report;
    uint64_t parts;
} any_args;

static inline hs_status any_sort(const hs_metal *sorter, hs_metal_commands commands, const any_args *any)
{
    hs_metal_sort_args args;
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
    }
    return hs_metal_sort(sorter, commands, any ? &args : NULL);
}

static inline hs_status any_scan(const hs_metal *sorter, hs_metal_commands commands, const any_args *any)
{
    hs_metal_scan_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.source = any->source;
        args.destination = any->destination;
        args.scratch = any->scratch;
    }
    return hs_metal_scan(sorter, commands, any ? &args : NULL);
}

static inline hs_status any_segments(const hs_metal *sorter, hs_metal_commands commands, const any_args *any)
{
    hs_metal_segmented_sort_args args;
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
    }
    return hs_metal_segmented_sort(sorter, commands, any ? &args : NULL);
}

static inline hs_status any_merge(const hs_metal *sorter, hs_metal_commands commands, const any_args *any)
{
    hs_metal_merge_args args;
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
    }
    return hs_metal_merge(sorter, commands, any ? &args : NULL);
}

static inline hs_status any_check(const hs_metal *sorter, hs_metal_commands commands, const any_args *any)
{
    hs_metal_digest_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.capacity = any->parts;
        args.options = any->options;
        args.source = any->source;
        args.values = any->values;
        args.digest = any->report;
    }
    return hs_metal_digest(sorter, commands, any ? &args : NULL);
}

typedef hs_status (*any_entry)(const hs_metal *, hs_metal_commands , const any_args *);
static const any_entry any_entries[] = {any_sort, any_scan, any_segments, any_merge, any_check}; /* by hs_kind */

#endif
