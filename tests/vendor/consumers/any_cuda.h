/* Calls of any kind with one struct for all: what a kind lacks is left out. */
#ifndef ANY_CUDA_H
#define ANY_CUDA_H

#include "hs/hs_cuda.h"

#include <string.h>

typedef struct any_args {
    uint64_t n;
    hs_options options;
    const void *source;
    void *destination;
    void *scratch;
    const void *values;
    void *values_destination;
    const uint32_t *count;
    size_t scratch_bytes;
    size_t source_bytes, destination_bytes;
    size_t values_bytes, values_destination_bytes;
    const void *other;
    const void *other_values;
    uint32_t *report;
    size_t other_bytes, other_values_bytes, report_bytes;
    uint64_t parts;
} any_args;

static inline hs_status any_sort(const hs_cuda *sorter, cudaStream_t stream, const any_args *any, cudaError_t *error)
{
    hs_cuda_sort_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.shift = any->parts;
        args.options = any->options;
        args.source = any->source;
        args.source_bytes = any->source_bytes;
        args.destination = any->destination;
        args.destination_bytes = any->destination_bytes;
        args.scratch = any->scratch;
        args.scratch_bytes = any->scratch_bytes;
        args.values = any->values;
        args.values_bytes = any->values_bytes;
        args.values_destination = any->values_destination;
        args.values_destination_bytes = any->values_destination_bytes;
        args.count = any->count;
        args.report = any->report;
        args.report_bytes = any->report_bytes;
    }
    return hs_cuda_sort(sorter, stream, any ? &args : NULL, error);
}

static inline hs_status any_scan(const hs_cuda *sorter, cudaStream_t stream, const any_args *any, cudaError_t *error)
{
    hs_cuda_scan_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.source = any->source;
        args.source_bytes = any->source_bytes;
        args.destination = any->destination;
        args.destination_bytes = any->destination_bytes;
        args.scratch = any->scratch;
        args.scratch_bytes = any->scratch_bytes;
    }
    return hs_cuda_scan(sorter, stream, any ? &args : NULL, error);
}

static inline hs_status any_segments(const hs_cuda *sorter, cudaStream_t stream, const any_args *any, cudaError_t *error)
{
    hs_cuda_segmented_sort_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.segment_count = any->parts;
        args.options = any->options;
        args.source = any->source;
        args.source_bytes = any->source_bytes;
        args.destination = any->destination;
        args.destination_bytes = any->destination_bytes;
        args.scratch = any->scratch;
        args.scratch_bytes = any->scratch_bytes;
        args.offsets = (const uint32_t *)any->other;
        args.offsets_bytes = any->other_bytes;
        args.ends = (const uint32_t *)any->other_values;
        args.count = any->count;
        args.ends_bytes = any->other_values_bytes;
        args.values = any->values;
        args.values_bytes = any->values_bytes;
        args.values_destination = any->values_destination;
        args.values_destination_bytes = any->values_destination_bytes;
    }
    return hs_cuda_segmented_sort(sorter, stream, any ? &args : NULL, error);
}

static inline hs_status any_merge(const hs_cuda *sorter, cudaStream_t stream, const any_args *any, cudaError_t *error)
{
    hs_cuda_merge_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.first_count = any->parts;
        args.options = any->options;
        args.first = any->source;
        args.first_bytes = any->source_bytes;
        args.second = any->other;
        args.second_bytes = any->other_bytes;
        args.destination = any->destination;
        args.destination_bytes = any->destination_bytes;
        args.scratch = any->scratch;
        args.scratch_bytes = any->scratch_bytes;
        args.first_values = any->values;
        args.first_values_bytes = any->values_bytes;
        args.second_values = any->other_values;
        args.second_values_bytes = any->other_values_bytes;
        args.values_destination = any->values_destination;
        args.values_destination_bytes = any->values_destination_bytes;
    }
    return hs_cuda_merge(sorter, stream, any ? &args : NULL, error);
}

static inline hs_status any_check(const hs_cuda *sorter, cudaStream_t stream, const any_args *any, cudaError_t *error)
{
    hs_cuda_digest_args args;
    memset(&args, 0, sizeof args);
    if (any) {
        args.n = any->n;
        args.capacity = any->parts;
        args.options = any->options;
        args.source = any->source;
        args.source_bytes = any->source_bytes;
        args.values = any->values;
        args.values_bytes = any->values_bytes;
        args.digest = any->report;
        args.digest_bytes = any->report_bytes;
    }
    return hs_cuda_digest(sorter, stream, any ? &args : NULL, error);
}

typedef hs_status (*any_entry)(const hs_cuda *, cudaStream_t , const any_args *, cudaError_t *);
static const any_entry any_entries[] = {any_sort, any_scan, any_segments, any_merge, any_check}; /* by hs_kind */

#endif
