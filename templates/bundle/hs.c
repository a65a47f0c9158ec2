/* What all APIs share; see hs.h. */
#include "hs/hs.h"

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
    case HS_ERROR_OPTION: return "the sort was not generated with what the call asks for";
    case HS_ERROR_RANGE: return "the range of bits is out of order or reaches beyond the key";
    case HS_ERROR_PARTS: return "the parts do not fit the count or the key, or the sort takes none";
    case HS_ERROR_SEGMENTS: return "an offset of a segment decreases or runs past n; nothing was written";
    case HS_ERROR_BUSY: return "another thread is in a call of the same sorter";
    }
    return "unknown status";
}

const char *hs_version(void) { return HS_VERSION; }

/* What the steps of a sort make use of: a bit for each role, and one more for the parts. */
static uint32_t hs_uses(const hs_sort *sort)
{
    uint32_t i, k, found = 0;
    for (i = 0; i < sort->step_count; i++) {
        const hs_step *step = &sort->steps[i];
        if (step->grid.x == HS_BY_NUMBER || step->argument.kind == HS_CALL_NUMBER) found |= 1u << HS_ROLES;
        for (k = 0; k < sort->kernels[step->kernel].bindings; k++) found |= 1u << step->bindings[k].role;
    }
    return found;
}

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
    if (n > sort->scratch.min_n) {
        const hs_scratch_rule *rule = &sort->scratch;
        const uint64_t whole = n / rule->unit + (n % rule->unit != 0);
        *bytes = rule->plus + rule->per_n * n + rule->per_unit * (whole < rule->units ? whole : rule->units);
    }
    return HS_OK;
}

/* Whether the sort was generated with what these options ask for. */
static hs_status hs_takes(const hs_sort *sort, const hs_options *options)
{
    const uint32_t kind = (uint32_t)options->type & 15u, bytes = (uint32_t)options->type >> 4;
    const uint32_t end = options->end_bit ? options->end_bit : sort->key_bits;
    if (options->begin_bit > end || end > sort->key_bits) return HS_ERROR_RANGE;
    if (options->type && 8 * bytes != sort->key_bits) return HS_ERROR_OPTION;
    if (kind > 2 || (kind == 2 && bytes < 2)) return HS_ERROR_OPTION;
    if ((kind || options->descending) && !sort->key_transform) return HS_ERROR_OPTION;
    if (end - options->begin_bit != sort->key_bits && !sort->bit_range) return HS_ERROR_OPTION;
    return options->discard_keys && !sort->index ? HS_ERROR_OPTION : HS_OK;
}

/* Where the room for keys that are discarded begins in scratch. */
static uint64_t hs_behind(uint64_t bytes) { return (bytes + 1023) / 1024 * 1024; }

hs_status hs_scratch_with(const hs_sort *sort, uint64_t n, const hs_options *options, uint64_t *bytes)
{
    hs_status status = hs_scratch(sort, n, bytes);
    if (status == HS_OK && options) status = hs_takes(sort, options);
    if (status == HS_OK && options && options->discard_keys && n) *bytes = hs_behind(*bytes) + n * hs_item_bytes(sort);
    return status;
}

/* Whether the number besides n fits; `parted`: whether the sort takes one. */
static hs_status hs_divided(const hs_sort *sort, hs_call *call, int parted)
{
    switch (sort->kind) {
    case HS_DIGEST:
        if (call->parts < call->n) call->parts = call->n;
        if (call->parts > sort->max_n) return HS_ERROR_COUNT;
        break;
    case HS_MERGE:
        if (call->parts > call->n) return HS_ERROR_PARTS;
        break;
    case HS_SEGMENTED_SORT:
        if (call->rows && call->n && (!call->parts || call->n % call->parts)) return HS_ERROR_PARTS;
        break;
    default:
        if (parted ? call->parts >= sort->key_bits : call->parts != 0) return HS_ERROR_PARTS;
    }
    return call->parts > INT32_MAX ? HS_ERROR_PARTS : HS_OK;
}

/* The bytes that a call touches of each buffer but scratch, were all of them there. */
static void hs_touched(const hs_sort *sort, const hs_call *call, uint64_t bytes[HS_ROLES])
{
    const uint64_t key = hs_item_bytes(sort), value = sort->value_bytes, n = call->n, parts = call->parts;
    const uint64_t first = sort->kind == HS_MERGE || sort->kind == HS_DIGEST ? parts : n;
    memset(bytes, 0, HS_ROLES * sizeof bytes[0]);
    bytes[HS_SOURCE] = key * first;
    bytes[HS_DESTINATION] = key * n;
    bytes[HS_VALUES] = value * first;
    bytes[HS_VALUES_OUT] = value * n;
    bytes[HS_COUNT] = sizeof(uint32_t);
    bytes[HS_OTHER_INPUT] = sort->kind == HS_MERGE ? key * (n - parts) : sizeof(uint32_t) * (parts + 1);
    bytes[HS_OTHER_VALUES] = value * (n - first);
    bytes[HS_REPORT] = sizeof(uint32_t) * (sort->report_words + sort->report_words_per_key * n);
}

/* What is sorted or summed up, and where to; of no keys nothing need be there. */
static hs_status hs_given(const hs_sort *sort, const hs_call *call, const hs_span spans[HS_ROLES])
{
    const int in_place = spans[HS_DESTINATION].where == 0, has_values = spans[HS_VALUES].where != 0;
    const int has_out = spans[HS_VALUES_OUT].where != 0, valued = sort->value_bytes && !sort->index;
    if (call->n == 0) return HS_OK;
    if (call->options->discard_keys && !in_place) return HS_ERROR_ARGUMENT; /* room for keys that nobody wants */
    if (has_values != valued) return HS_ERROR_OPTION;
    if (!valued) return has_out == (sort->index != 0) ? HS_OK : HS_ERROR_OPTION;
    return has_out == in_place ? HS_ERROR_ARGUMENT : HS_OK; /* both in place or neither */
}

/* What is merged or looked at, and where to: nothing is in place. */
static hs_status hs_given_apart(const hs_sort *sort, const hs_call *call, const uint64_t bytes[HS_ROLES],
                                const hs_span spans[HS_ROLES])
{
    const int merge = sort->kind == HS_MERGE, valued = sort->value_bytes && !sort->index;
    const int has_values = spans[HS_VALUES].where != 0, has_more = spans[HS_OTHER_VALUES].where != 0;
    if (call->options->discard_keys) return HS_ERROR_OPTION;
    if (!valued && (has_values || has_more)) return HS_ERROR_OPTION;
    if (valued && bytes[HS_VALUES] && !has_values) return HS_ERROR_OPTION;
    if (!merge) return spans[HS_DESTINATION].where || spans[HS_VALUES_OUT].where ? HS_ERROR_OPTION : HS_OK;
    if (bytes[HS_OTHER_VALUES] && !has_more) return HS_ERROR_OPTION;
    if (bytes[HS_OTHER_INPUT] && !spans[HS_OTHER_INPUT].where) return HS_ERROR_ARGUMENT;
    if (!spans[HS_DESTINATION].where) return HS_ERROR_ARGUMENT;
    return (spans[HS_VALUES_OUT].where != 0) == valued ? HS_OK : HS_ERROR_OPTION;
}

/* The buffers that are there must be those that the sort has.  Completes what is touched of them. */
static hs_status hs_played(const hs_sort *sort, const hs_call *call, uint32_t uses, hs_span spans[HS_ROLES])
{
    uint64_t bytes[HS_ROLES];
    uint32_t i;
    hs_touched(sort, call, bytes);
    for (i = 0; i < HS_ROLES; i++) {
        spans[i].from = (hs_role)i;
        spans[i].bytes = spans[i].where ? bytes[i] : 0;
    }
    if (bytes[HS_SOURCE] && !spans[HS_SOURCE].where) return HS_ERROR_ARGUMENT;
    for (i = HS_OTHER_INPUT; i <= HS_REPORT; i++)
        if (spans[i].where && !(uses >> i & 1)) return HS_ERROR_OPTION;
    if ((uses >> HS_REPORT & 1) && !spans[HS_REPORT].where) return HS_ERROR_ARGUMENT;
    if (sort->kind == HS_MERGE || sort->kind == HS_DIGEST) return hs_given_apart(sort, call, bytes, spans);
    return hs_given(sort, call, spans);
}

/* Whether a buffer holds what is touched of it; where its room is not told, up to the end of all addresses. */
static int hs_has_room(const hs_span *span)
{
    return span->bytes <= span->room && span->bytes <= UINT64_MAX - span->begin;
}

/* What a call touches of each buffer must be there, aligned, and apart from what it writes. */
static hs_status hs_fits(const hs_sort *sort, const hs_span spans[HS_ROLES], int in_place)
{
    const uint32_t also = in_place ? 1 : 0; /* what is read is written then */
    const uint32_t written[HS_ROLES] = {also, 1, 1, also, 1, 0, 0, 0, 1};
    uint32_t i, k;
    if (!hs_has_room(&spans[HS_SCRATCH])) return HS_ERROR_SCRATCH;
    for (i = 0; i < HS_ROLES; i++)
        if (!hs_has_room(&spans[i])) return HS_ERROR_COUNT;
    for (i = 0; i < HS_ROLES; i++)
        if (spans[i].bytes && spans[i].begin % hs_element(sort, (hs_role)i)) return HS_ERROR_ALIGNMENT;
    for (i = 0; i < HS_ROLES; i++)
        for (k = 0; k < i; k++) {
            const hs_span *a = &spans[i], *b = &spans[k];
            if (!a->bytes || !b->bytes || !(written[i] || written[k]) || a->where != b->where) continue;
            if (a->begin < b->begin + b->bytes && b->begin < a->begin + a->bytes) return HS_ERROR_OVERLAP;
        }
    return HS_OK;
}

/* Something must be bound for each role of a step, if only a buffer of another: nobody reads it. */
static void hs_lend(uint32_t uses, hs_span spans[HS_ROLES])
{
    uint32_t i, lender = 0;
    while (lender < HS_ROLES - 1 && !spans[lender].bytes) lender++;
    for (i = 0; i < HS_ROLES; i++)
        if ((uses >> i & 1) && !spans[i].bytes) spans[i] = spans[lender];
}

hs_status hs_survey(const hs_sort *sort, hs_call *call, hs_span spans[HS_ROLES])
{
    const uint32_t uses = hs_uses(sort);
    const hs_options *options = call->options;
    const uint64_t n = call->n;
    uint64_t plain = 0, scratch = 0;
    hs_status status = hs_takes(sort, options);
    call->device_count = spans[HS_COUNT].where != 0;
    call->rows = sort->kind == HS_SEGMENTED_SORT && !spans[HS_OTHER_INPUT].where;
    call->in_place = !spans[HS_DESTINATION].where && !options->discard_keys && sort->kind <= HS_SEGMENTED_SORT;
    if (status != HS_OK) return status;
    if (call->device_count && !sort->device_count) return HS_ERROR_OPTION;
    if (n > sort->max_n || (call->device_count && n >= 1u << 30)) return HS_ERROR_COUNT;
    if (sort->index && sort->value_bytes == 4 && n > (uint64_t)1 << 32) return HS_ERROR_COUNT;
    status = hs_divided(sort, call, (int)(uses >> HS_ROLES & 1));
    if (status != HS_OK || hs_idle(sort, n)) return status;
    status = hs_played(sort, call, uses, spans);
    if (status == HS_OK) status = hs_scratch(sort, n, &plain);
    if (status == HS_OK) status = hs_scratch_with(sort, n, options, &scratch);
    if (status != HS_OK) return status;
    spans[HS_SCRATCH].bytes = scratch;
    if (scratch && !spans[HS_SCRATCH].where) return HS_ERROR_SCRATCH;
    status = hs_fits(sort, spans, call->in_place);
    if (status != HS_OK) return status;
    if (call->in_place) {
        spans[HS_DESTINATION] = spans[HS_SOURCE];
        if (spans[HS_VALUES].bytes) spans[HS_VALUES_OUT] = spans[HS_VALUES];
    } else if (options->discard_keys && n) {
        spans[HS_DESTINATION] = spans[HS_SCRATCH];
        spans[HS_DESTINATION].begin += hs_behind(plain);
        spans[HS_DESTINATION].room = spans[HS_DESTINATION].bytes = n * hs_item_bytes(sort);
        spans[HS_SCRATCH].bytes = plain;
    }
    hs_lend(uses & ~(1u << HS_SCRATCH), spans);
    return HS_OK;
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

/* Whether it is for such keys with such values. */
static int hs_is(const hs_sort *sort, const char *key, const char *value)
{
    if (strcmp(sort->value, value ? value : "none") != 0) return 0;
    if (strcmp(sort->key, key) == 0) return 1;
    if (!sort->key_transform || sort->key[0] != 'u' || strcmp(key, "f8") == 0) return 0;
    return (key[0] == 'i' || key[0] == 'f') && strcmp(sort->key + 1, key + 1) == 0;
}

int hs_serves_kind(const hs_sort *sort, hs_kind kind, const char *key, const char *value)
{
    return sort && key && sort->kind == kind && hs_is(sort, key, value);
}

int hs_serves(const hs_sort *sort, const char *key, const char *value)
{
    return hs_serves_kind(sort, HS_SORT, key, value);
}

const hs_sort *hs_find(const hs_target *target, const char *algorithm, const char *key, const char *value)
{
    size_t i;
    if (!target || !algorithm || !key) return NULL;
    for (i = 0; i < target->sort_count; i++)
        if (strcmp(target->sorts[i]->algorithm, algorithm) == 0 && hs_is(target->sorts[i], key, value))
            return target->sorts[i];
    return NULL;
}

static int hs_holds(const char *const *parts, uint32_t count, const char *text)
{
    uint32_t i;
    if (count == 0) return 1;
    for (i = 0; text && i < count; i++)
        if (strstr(text, parts[i])) return 1;
    return 0;
}

uint32_t hs_suits(const hs_target *target, const hs_device *device)
{
    const hs_match *m;
    uint32_t i;
    if (!target || !device) return 0;
    m = target->match;
    if (!m) return 1;
    if (m->types && !(m->types & device->type)) return 0;
    for (i = 0; i < m->vendor_count && m->vendors[i] != device->vendor;) i++;
    if (m->vendor_count && i == m->vendor_count) return 0;
    if (m->compute_least && device->compute && (device->compute < m->compute_least || device->compute > m->compute_most))
        return 0;
    if (!hs_holds(m->names, m->name_count, device->name)) return 0;
    return hs_holds(m->platforms, m->platform_count, device->platform) ? m->rank + 2 : 0;
}

/* How many sorts of a kind, keys and values a target has; `found`, if not null, gets the one of number `nth`. */
static size_t hs_sorts_for(const hs_target *target, hs_kind kind, const char *key, const char *value, size_t nth,
                           const hs_sort **found)
{
    size_t i, count = 0;
    for (i = 0; i < target->sort_count; i++) {
        if (!hs_serves_kind(target->sorts[i], kind, key, value)) continue;
        if (found && count == nth) *found = target->sorts[i];
        count++;
    }
    return count;
}

const hs_sort *hs_candidate_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                                 const char *value, const hs_device *device, size_t nth)
{
    const hs_sort *found = NULL;
    size_t i, j, before;
    if (!targets || !key || !device) return NULL;
    for (i = 0; i < count && !found; i++) {
        const uint32_t score = hs_suits(targets[i], device);
        if (score == 0) continue;
        for (j = 0, before = 0; j < count; j++) {
            const uint32_t other = hs_suits(targets[j], device);
            if (other > score || (other == score && j < i))
                before += hs_sorts_for(targets[j], kind, key, value, 0, NULL);
        }
        if (nth >= before) (void)hs_sorts_for(targets[i], kind, key, value, nth - before, &found);
    }
    return found;
}

const hs_sort *hs_candidate(const hs_target *const *targets, size_t count, const char *key, const char *value,
                            const hs_device *device, size_t nth)
{
    return hs_candidate_kind(targets, count, HS_SORT, key, value, device, nth);
}
