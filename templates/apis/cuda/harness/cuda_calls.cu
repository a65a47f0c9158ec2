/* The CUDA harness: the arguments of each operation, from the call that Python describes. */
#include "cuda_calls.h"

/* Where a role begins, and how many bytes are there from then on; null where the role is not played. */
static unsigned char *hn_part(const hn_call *call, int role, size_t *bytes)
{
    if (!hn_plays(call, role)) return NULL;
    *bytes = hn_state.sizes[call->slots[role]] - call->offsets[role];
    return hn_state.buffers[call->slots[role]] + call->offsets[role];
}

static hs_status hn_call_sort(const hn_call *call, size_t scratch, cudaError_t *code)
{
    hs_cuda_sort_args args = {};
    args.n = call->n;
    args.shift = call->shift;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE, &args.source_bytes);
    args.destination = hn_part(call, HS_DESTINATION, &args.destination_bytes);
    args.values = hn_part(call, HS_VALUES, &args.values_bytes);
    args.values_destination = hn_part(call, HS_VALUES_OUT, &args.values_destination_bytes);
    args.report = reinterpret_cast<uint32_t *>(hn_part(call, HS_REPORT, &args.report_bytes));
    size_t count_bytes = 0;
    args.count = reinterpret_cast<const uint32_t *>(hn_part(call, HS_COUNT, &count_bytes));
    args.scratch = scratch ? hn_state.scratch : NULL;
    args.scratch_bytes = scratch;
    return hs_cuda_sort(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_scan(const hn_call *call, size_t scratch, cudaError_t *code)
{
    hs_cuda_scan_args args = {};
    args.n = call->n;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE, &args.source_bytes);
    args.destination = hn_part(call, HS_DESTINATION, &args.destination_bytes);
    args.scratch = scratch ? hn_state.scratch : NULL;
    args.scratch_bytes = scratch;
    return hs_cuda_scan(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_segments(const hn_call *call, size_t scratch, cudaError_t *code)
{
    size_t count_bytes;
    hs_cuda_segmented_sort_args args = {};
    args.n = call->n;
    args.segment_count = call->segment_count;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE, &args.source_bytes);
    args.destination = hn_part(call, HS_DESTINATION, &args.destination_bytes);
    args.offsets = reinterpret_cast<const uint32_t *>(hn_part(call, HS_OTHER_INPUT, &args.offsets_bytes));
    args.ends = reinterpret_cast<const uint32_t *>(hn_part(call, HS_OTHER_VALUES, &args.ends_bytes));
    args.count = reinterpret_cast<const uint32_t *>(hn_part(call, HS_COUNT, &count_bytes));
    args.values = hn_part(call, HS_VALUES, &args.values_bytes);
    args.values_destination = hn_part(call, HS_VALUES_OUT, &args.values_destination_bytes);
    args.scratch = scratch ? hn_state.scratch : NULL;
    args.scratch_bytes = scratch;
    return hs_cuda_segmented_sort(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_merge(const hn_call *call, size_t scratch, cudaError_t *code)
{
    hs_cuda_merge_args args = {};
    args.n = call->n;
    args.first_count = call->first_count;
    args.options = hn_options_of(call);
    args.first = hn_part(call, HS_SOURCE, &args.first_bytes);
    args.second = hn_part(call, HS_OTHER_INPUT, &args.second_bytes);
    args.destination = hn_part(call, HS_DESTINATION, &args.destination_bytes);
    args.first_values = hn_part(call, HS_VALUES, &args.first_values_bytes);
    args.second_values = hn_part(call, HS_OTHER_VALUES, &args.second_values_bytes);
    args.values_destination = hn_part(call, HS_VALUES_OUT, &args.values_destination_bytes);
    args.scratch = scratch ? hn_state.scratch : NULL;
    args.scratch_bytes = scratch;
    return hs_cuda_merge(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_digest(const hn_call *call, size_t scratch, cudaError_t *code)
{
    hs_cuda_digest_args args = {};
    args.n = call->n;
    args.capacity = call->capacity;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE, &args.source_bytes);
    args.values = hn_part(call, HS_VALUES, &args.values_bytes);
    args.digest = reinterpret_cast<uint32_t *>(hn_part(call, HS_REPORT, &args.digest_bytes));
    (void)scratch; /* digests need none */
    return hs_cuda_digest(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_top_k(const hn_call *call, size_t scratch, cudaError_t *code)
{
    hs_cuda_top_k_args args = {};
    args.n = call->n;
    args.row_count = call->segment_count;
    args.k = call->take;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE, &args.source_bytes);
    args.destination = hn_part(call, HS_DESTINATION, &args.destination_bytes);
    args.values = hn_part(call, HS_VALUES, &args.values_bytes);
    args.values_destination = hn_part(call, HS_VALUES_OUT, &args.values_destination_bytes);
    args.scratch = scratch ? hn_state.scratch : NULL;
    args.scratch_bytes = scratch;
    return hs_cuda_top_k(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_reduce_by_key(const hn_call *call, size_t scratch, cudaError_t *code)
{
    size_t room; /* of a number */
    hs_cuda_reduce_by_key_args args = {};
    args.n = call->n;
    args.reduction = hn_reduction(call);
    args.value_type = hn_reduced(call);
    args.keys = hn_part(call, HS_SOURCE, &args.keys_bytes);
    args.values = hn_part(call, HS_VALUES, &args.values_bytes);
    args.count = reinterpret_cast<uint32_t *>(hn_part(call, HS_COUNT, &room));
    args.group_count = reinterpret_cast<uint32_t *>(hn_part(call, HS_REPORT, &room));
    args.group_keys = hn_part(call, HS_DESTINATION, &args.group_keys_bytes);
    args.group_values = hn_part(call, HS_VALUES_OUT, &args.group_values_bytes);
    args.counts = reinterpret_cast<uint32_t *>(hn_part(call, HS_OTHER_INPUT, &args.counts_bytes));
    args.first_indices = reinterpret_cast<uint32_t *>(hn_part(call, HS_OTHER_VALUES, &args.first_indices_bytes));
    args.scratch = scratch ? hn_state.scratch : NULL;
    args.scratch_bytes = scratch;
    return hs_cuda_reduce_by_key(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_group_by(const hn_call *call, size_t scratch, cudaError_t *code)
{
    size_t room; /* of a number */
    hs_cuda_group_by_args args = {};
    args.n = call->n;
    args.options = hn_options_of(call);
    args.reduction = hn_reduction(call);
    args.value_type = hn_reduced(call);
    args.keys = hn_part(call, HS_SOURCE, &args.keys_bytes);
    args.values = hn_part(call, HS_VALUES, &args.values_bytes);
    args.group_count = reinterpret_cast<uint32_t *>(hn_part(call, HS_REPORT, &room));
    args.group_keys = hn_part(call, HS_DESTINATION, &args.group_keys_bytes);
    args.group_values = hn_part(call, HS_VALUES_OUT, &args.group_values_bytes);
    args.counts = reinterpret_cast<uint32_t *>(hn_part(call, HS_OTHER_INPUT, &args.counts_bytes));
    args.first_indices = reinterpret_cast<uint32_t *>(hn_part(call, HS_OTHER_VALUES, &args.first_indices_bytes));
    args.scratch = scratch ? hn_state.scratch : NULL;
    args.scratch_bytes = scratch;
    return hs_cuda_group_by(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_gather(const hn_call *call, size_t scratch, cudaError_t *code)
{
    hs_cuda_gather_args args = {};
    args.n = call->n;
    args.source_count = call->segment_count;
    args.item_bytes = call->take * hs_cuda_sort_of(hn_made)->value_bytes;
    args.index = reinterpret_cast<uint32_t *>(hn_part(call, HS_SOURCE, &args.index_bytes));
    args.source = hn_part(call, HS_VALUES, &args.source_bytes);
    args.destination = hn_part(call, HS_VALUES_OUT, &args.destination_bytes);
    (void)scratch; /* gathers need none */
    return hs_cuda_gather(hn_made, hn_state.stream, &args, code);
}

static hs_status hn_call_pack(const hn_call *call, size_t scratch, cudaError_t *code)
{
    hs_cuda_pack_args args = {};
    uint32_t i;
    (void)scratch; /* packs need none */
    args.n = call->n;
    args.column_count = hn_columns(call, args.columns, args.fields);
    for (i = 0; i < args.column_count; i++) args.keys[i] = hn_part(call, hs_column_role(i), &args.keys_bytes[i]);
    args.begin_bit = (uint32_t)(call->columns >> 24) * 32;
    args.destination = hn_part(call, HS_DESTINATION, &args.destination_bytes);
    return hs_cuda_pack(hn_made, hn_state.stream, &args, code);
}

hs_status hn_run(const hn_call *call, size_t scratch, cudaError_t *code)
{
    static hs_status (*const by_kind[])(const hn_call *, size_t, cudaError_t *) = {
        hn_call_sort, hn_call_scan, hn_call_segments, hn_call_merge, hn_call_digest, hn_call_top_k,
        hn_call_reduce_by_key,
        hn_call_gather, hn_call_pack, hn_call_group_by};
    return by_kind[hs_cuda_sort_of(hn_made)->kind](call, scratch, code);
}
