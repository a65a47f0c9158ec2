/* The Vulkan harness: the arguments of each operation, from the call that Python describes. */
#include "hn_vulkan.h"

#include <string.h>

/* The part of a buffer from the place of a role to its end; nothing where the role is not played. */
static hs_vulkan_buffer hn_part(const hn_call *call, int role)
{
    hs_vulkan_buffer part;
    const hn_memory *memory;
    memset(&part, 0, sizeof part);
    if (!hn_plays(call, role)) return part;
    memory = &hn.buffers[call->slots[role]];
    part.offset = call->offsets[role];
    part.buffer = memory->buffer;
    part.size = memory->bytes > part.offset ? memory->bytes - part.offset : 0;
    part.address = memory->address;
    return part;
}

/* Scratch of this size. */
static hs_vulkan_buffer hn_scratch_part(uint64_t bytes)
{
    hs_vulkan_buffer part;
    memset(&part, 0, sizeof part);
    part.buffer = hn.scratch.buffer;
    part.size = bytes;
    part.address = hn.scratch.address;
    return part;
}

/* Clear arguments, and fill in the members that all operations have. */
#define HN_FILL(args)                   \
    do {                                \
        memset(&args, 0, sizeof args);  \
        args.n = call->n;               \
        args.pool = hn.sets;            \
        args.stages = HN_STAGES;        \
        args.accesses = HN_ACCESSES;    \
    } while (0)

static hs_status hn_call_sort(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_sort_args args;
    HN_FILL(args);
    args.shift = call->shift;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE);
    args.destination = hn_part(call, HS_DESTINATION);
    args.scratch = hn_scratch_part(scratch);
    args.values = hn_part(call, HS_VALUES);
    args.values_destination = hn_part(call, HS_VALUES_OUT);
    args.count = hn_part(call, HS_COUNT);
    args.report = hn_part(call, HS_REPORT);
    return hs_vulkan_sort(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_scan(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_scan_args args;
    HN_FILL(args);
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE);
    args.destination = hn_part(call, HS_DESTINATION);
    args.scratch = hn_scratch_part(scratch);
    return hs_vulkan_scan(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_segments(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_segmented_sort_args args;
    HN_FILL(args);
    args.segment_count = call->segment_count;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE);
    args.destination = hn_part(call, HS_DESTINATION);
    args.scratch = hn_scratch_part(scratch);
    args.offsets = hn_part(call, HS_OTHER_INPUT);
    args.ends = hn_part(call, HS_OTHER_VALUES);
    args.count = hn_part(call, HS_COUNT);
    args.values = hn_part(call, HS_VALUES);
    args.values_destination = hn_part(call, HS_VALUES_OUT);
    return hs_vulkan_segmented_sort(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_merge(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_merge_args args;
    HN_FILL(args);
    args.first_count = call->first_count;
    args.options = hn_options_of(call);
    args.first = hn_part(call, HS_SOURCE);
    args.second = hn_part(call, HS_OTHER_INPUT);
    args.destination = hn_part(call, HS_DESTINATION);
    args.scratch = hn_scratch_part(scratch);
    args.first_values = hn_part(call, HS_VALUES);
    args.second_values = hn_part(call, HS_OTHER_VALUES);
    args.values_destination = hn_part(call, HS_VALUES_OUT);
    return hs_vulkan_merge(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_digest(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_digest_args args;
    (void)scratch; /* digests need none */
    HN_FILL(args);
    args.capacity = call->capacity;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE);
    args.values = hn_part(call, HS_VALUES);
    args.digest = hn_part(call, HS_REPORT);
    return hs_vulkan_digest(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_top_k(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_top_k_args args;
    HN_FILL(args);
    args.row_count = call->segment_count;
    args.k = call->take;
    args.options = hn_options_of(call);
    args.source = hn_part(call, HS_SOURCE);
    args.destination = hn_part(call, HS_DESTINATION);
    args.scratch = hn_scratch_part(scratch);
    args.values = hn_part(call, HS_VALUES);
    args.values_destination = hn_part(call, HS_VALUES_OUT);
    return hs_vulkan_top_k(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_reduce_by_key(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_reduce_by_key_args args;
    HN_FILL(args);
    args.reduction = hn_reduction(call);
    args.value_type = hn_reduced(call);
    args.keys = hn_part(call, HS_SOURCE);
    args.values = hn_part(call, HS_VALUES);
    args.count = hn_part(call, HS_COUNT);
    args.group_count = hn_part(call, HS_REPORT);
    args.group_keys = hn_part(call, HS_DESTINATION);
    args.group_values = hn_part(call, HS_VALUES_OUT);
    args.counts = hn_part(call, HS_OTHER_INPUT);
    args.first_indices = hn_part(call, HS_OTHER_VALUES);
    args.scratch = hn_scratch_part(scratch);
    return hs_vulkan_reduce_by_key(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_group_by(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_group_by_args args;
    HN_FILL(args);
    args.options = hn_options_of(call);
    args.reduction = hn_reduction(call);
    args.value_type = hn_reduced(call);
    args.keys = hn_part(call, HS_SOURCE);
    args.values = hn_part(call, HS_VALUES);
    args.group_count = hn_part(call, HS_REPORT);
    args.group_keys = hn_part(call, HS_DESTINATION);
    args.group_values = hn_part(call, HS_VALUES_OUT);
    args.counts = hn_part(call, HS_OTHER_INPUT);
    args.first_indices = hn_part(call, HS_OTHER_VALUES);
    args.scratch = hn_scratch_part(scratch);
    return hs_vulkan_group_by(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_gather(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_gather_args args;
    (void)scratch; /* gathers need none */
    HN_FILL(args);
    args.source_count = call->segment_count;
    args.item_bytes = call->take * hs_vulkan_sort_of(hn.sorter)->value_bytes;
    args.index = hn_part(call, HS_SOURCE);
    args.source = hn_part(call, HS_VALUES);
    args.destination = hn_part(call, HS_VALUES_OUT);
    return hs_vulkan_gather(hn.sorter, hn.commands, &args, code);
}

static hs_status hn_call_pack(const hn_call *call, uint64_t scratch, VkResult *code)
{
    hs_vulkan_pack_args args;
    uint32_t i;
    (void)scratch; /* packs need none */
    HN_FILL(args);
    args.column_count = hn_columns(call, args.columns, args.fields);
    for (i = 0; i < args.column_count; i++) args.keys[i] = hn_part(call, hs_column_role(i));
    args.begin_bit = (uint32_t)(call->columns >> 24) * 32;
    args.destination = hn_part(call, HS_DESTINATION);
    return hs_vulkan_pack(hn.sorter, hn.commands, &args, code);
}

hs_status hn_record(const hn_call *call, uint64_t scratch, VkResult *code)
{
    static hs_status (*const by_kind[])(const hn_call *, uint64_t, VkResult *) = {
        hn_call_sort, hn_call_scan, hn_call_segments, hn_call_merge, hn_call_digest, hn_call_top_k,
        hn_call_reduce_by_key,
        hn_call_gather, hn_call_pack, hn_call_group_by};
    return by_kind[hs_vulkan_sort_of(hn.sorter)->kind](call, scratch, code);
}
