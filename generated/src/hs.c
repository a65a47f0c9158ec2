/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Statuses, facts about a sort, scratch sizes, outcomes; see hs.h. */
#include "hs_internal.h"

#include <string.h>

const char *hs_status_text(hs_status status)
{
    switch (status) {
    case HS_OK: return "success";
    case HS_ERROR_ARGUMENT: return "an argument is null";
    case HS_ERROR_COUNT: return "more keys than the plan sorts or the buffer holds";
    case HS_ERROR_SCRATCH: return "less scratch memory than the sort needs";
    case HS_ERROR_ALIGNMENT: return "an offset is not aligned";
    case HS_ERROR_OVERLAP: return "buffers overlap";
    case HS_ERROR_KERNELS: return "the sort holds no kernels for this call";
    case HS_ERROR_DEVICE: return "the device lacks what the sort needs";
    case HS_ERROR_BUILD: return "the driver cannot build a kernel";
    case HS_ERROR_HOST_MEMORY: return "out of host memory";
    case HS_ERROR_DEVICE_MEMORY: return "out of device memory";
    case HS_ERROR_DEVICE_LOST: return "the device is lost";
    case HS_ERROR_API: return "the API reported an error";
    case HS_ERROR_OPTION: return "the sort was not generated for an option or buffer of the call";
    case HS_ERROR_RANGE: return "the bit range is out of order or reaches beyond the key";
    case HS_ERROR_PARTS: return "shift, segment_count, first_count, capacity, row_count, k, source_count, item_bytes or columns do not fit the call";
    case HS_ERROR_SEGMENTS: return "an offset of a segment decreases or exceeds n; nothing was written";
    case HS_ERROR_BUSY: return "another thread is in a call of the same sorter";
    case HS_ERROR_SCOPE: return "the sorter was not created for this call, or not completely";
    default: return "unknown status";
    }
}

const char *hs_version(void) { return HS_VERSION; }

hs_status hs_describe(const hs_sort *sort, hs_info *info)
{
    uint32_t i;
    if (!sort || !info) return HS_ERROR_ARGUMENT;
    info->target = sort->target;
    info->algorithm = sort->algorithm;
    info->key = sort->key;
    info->value = sort->value;
    info->key_bytes = sort->key_bytes;
    info->value_bytes = sort->value_bytes;
    info->first_bit = sort->first_bit;
    info->key_bits = sort->key_bits;
    info->key_transform = sort->key_transform;
    info->bit_range = sort->bit_range;
    info->device_count = sort->device_count;
    info->index = sort->index;
    info->block = sort->block;
    info->subgroup = 1;
    for (i = 0; i < sort->kernel_count; i++)
        if (sort->kernels[i].subgroup > info->subgroup) info->subgroup = sort->kernels[i].subgroup;
    info->max_n = sort->max_n;
    info->kind = sort->kind;
    info->reports = hs_uses(sort) >> HS_REPORT & 1;
    info->report_words = sort->report_words;
    info->report_words_per_key = sort->report_words_per_key;
    return HS_OK;
}

hs_status hs_pad(const hs_sort *sort, uint64_t n, uint64_t *source, uint64_t *destination)
{
    if (!sort) return HS_ERROR_ARGUMENT;
    if (n > sort->max_n) return HS_ERROR_COUNT;
    if (source) *source = n;
    if (destination) *destination = n;
    return HS_OK;
}

hs_status hs_scratch(const hs_sort *sort, uint64_t n, uint64_t *bytes)
{
    if (!sort || !bytes) return HS_ERROR_ARGUMENT;
    if (n > sort->max_n) return HS_ERROR_COUNT;
    *bytes = 0;
    for (uint32_t i = 0; i < sort->scratch_rule_count; i++) {
        const hs_scratch_rule *rule = &sort->scratch[i];
        const uint64_t m = n < rule->max_n ? n : rule->max_n;
        const uint64_t units = m / rule->unit + (m % rule->unit != 0);
        const uint64_t need = rule->plus + rule->per_n * m + rule->per_unit * (units < rule->units ? units : rule->units);
        if (n > rule->min_n && need > *bytes) *bytes = need;
    }
    return HS_OK;
}

hs_status hs_scratch_with(const hs_sort *sort, uint64_t n, const hs_options *options, uint64_t *bytes)
{
    hs_status status = hs_scratch(sort, n, bytes);
    if (status == HS_OK && options) status = hs_takes(sort, options);
    if (status == HS_OK && options && options->discard_keys && n)
        *bytes = hs_discarded_at(*bytes) + n * hs_item_bytes(sort);
    return status;
}

hs_status hs_device_status_at(const hs_sort *sort, uint64_t n, uint64_t *offset, uint64_t *bytes)
{
    if (!sort || !offset || !bytes) return HS_ERROR_ARGUMENT;
    if (n > sort->max_n) return HS_ERROR_COUNT;
    *offset = *bytes = 0;
    if (n <= sort->device_status.min_n || sort->device_status.words == 0) return HS_OK;
    *offset = hs_offset(&sort->device_status.binding, n);
    *bytes = sizeof(uint32_t) * (uint64_t)sort->device_status.words;
    return HS_OK;
}

hs_status hs_device_status(const hs_sort *sort, const void *words, uint64_t bytes, uint32_t *redone)
{
    uint32_t i, word;
    if (!sort || !redone || (bytes && !words)) return HS_ERROR_ARGUMENT;
    *redone = 0;
    if (bytes == 0) return HS_OK;
    if (bytes != sizeof word * (uint64_t)sort->device_status.words) return HS_ERROR_SCRATCH;
    for (i = 0; i < sort->device_status.words; i++) {
        memcpy(&word, (const char *)words + sizeof word * i, sizeof word);
        *redone += word != 0;
    }
    return sort->kind == HS_SEGMENTED_SORT && *redone ? HS_ERROR_SEGMENTS : HS_OK;
}

hs_status hs_digest_compare(const uint32_t before[8], const uint32_t after[8], int stable, uint32_t *faults)
{
    if (!before || !after || !faults) return HS_ERROR_ARGUMENT;
    *faults = after[4] ? HS_FAULT_ORDER : 0;
    if (before[0] != after[0] || before[1] != after[1] || before[7] != after[7]) *faults |= HS_FAULT_KEYS;
    if (before[2] != after[2] || before[3] != after[3]) *faults |= HS_FAULT_VALUES;
    if (stable && after[5]) *faults |= HS_FAULT_STABLE;
    if (before[6] != after[6]) *faults |= HS_FAULT_BEYOND;
    return HS_OK;
}

