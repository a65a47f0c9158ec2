/* Checks of a call, common to all APIs; see hs_survey in hs_plan.h. */
#include "hs_internal.h"

#include <string.h>

uint32_t hs_uses(const hs_sort *sort)
{
    uint32_t i, k, found = 0;
    for (i = 0; i < sort->step_count; i++) {
        const hs_step *step = &sort->steps[i];
        if (step->grid.x == HS_BY_NUMBER || step->argument.kind == HS_CALL_NUMBER) found |= 1u << HS_ROLES;
        for (k = 0; k < sort->kernels[step->kernel].bindings; k++) found |= 1u << step->bindings[k].role;
    }
    return found;
}

/* 1 if the type of a call has another width than the keys of the sort. */
static int hs_other_width(const hs_sort *sort, hs_type type)
{
    return type != HS_AS_MATCHED && type != HS_UNSIGNED && 8 * ((uint32_t)type >> 4) != sort->key_bits;
}

/* Why a scan does not take the type or order of a call; null if it does.  Signed and unsigned sums have equal bits. */
static const char *hs_lacks_sums(const hs_sort *sort, const hs_options *options)
{
    const hs_type type = hs_key_type(sort, options);
    const uint32_t kind = (uint32_t)type & 15u;
    if (hs_other_width(sort, options->type)) return "type: elements of another width (--key)";
    if (type != HS_AS_MATCHED && (kind == 2) != (sort->key[0] == 'f')) return "type: sums of floats, or of integers (--key)";
    return options->descending ? "descending: sums have no order" : NULL;
}

/* The option of a call for which the sort was not generated; null if there is none. */
static const char *hs_lacks(const hs_sort *sort, const hs_options *options)
{
    const hs_type type = hs_key_type(sort, options);
    const uint32_t kind = (uint32_t)type & 15u, bytes = (uint32_t)type >> 4;
    const uint32_t end = options->end_bit ? options->end_bit : sort->key_bits;
    const char *text = sort->kind == HS_SCAN ? hs_lacks_sums(sort, options) : NULL;
    if (text) return text;
    if (hs_other_width(sort, options->type)) return "type: keys of another width (--key)";
    if (kind > 2 || (kind == 2 && bytes < 2)) return "type: no such type of key";
    if (kind && !sort->key_transform && sort->kind != HS_SCAN) return "type: signed and float keys (--key)";
    if (options->descending && !sort->key_transform) return "descending: descending order (--order both)";
    if (end - options->begin_bit != sort->key_bits && !sort->bit_range)
        return "begin_bit and end_bit: a part of the bits (--feature bit-range)";
    return options->discard_keys && !sort->index ? "discard_keys: indices without keys (--value index)" : NULL;
}

hs_status hs_takes(const hs_sort *sort, const hs_options *options)
{
    const uint32_t end = options->end_bit ? options->end_bit : sort->key_bits;
    if (options->begin_bit > end || end > sort->key_bits) return HS_ERROR_RANGE;
    return hs_lacks(sort, options) ? HS_ERROR_OPTION : HS_OK;
}

/* A phrase for values that the sort does not take or that the call lacks, else null; `roles`: a bit for each buffer. */
static const char *hs_lacks_values(const hs_sort *sort, uint32_t roles)
{
    const int merge = sort->kind == HS_MERGE;
    const int apart = merge || hs_takes_rows(sort) || hs_reduces(sort);
    const int valued = sort->value_bytes && !sort->index;
    const int made = sort->index && (sort->kind <= HS_SEGMENTED_SORT || sort->kind == HS_TOP_K);
    const uint32_t inputs = 1u << HS_VALUES | (merge ? 1u << HS_OTHER_VALUES : 0), out = 1u << HS_VALUES_OUT;
    if (sort->kind == HS_PACK) return NULL; /* all inputs are columns */
    if (!valued && (roles & inputs))
        return merge ? "first_values and second_values: the merge was generated without values (--value)"
                     : "values: the sort was generated without values (--value)";
    if (!valued && !made && (roles & out))
        return hs_reduces(sort) ? "group_values: the operation was generated without values (--value)"
                                : "values_destination: the sort was generated without values (--value)";
    if (valued && (roles & inputs) != inputs)
        return merge                     ? "first_values and second_values: the merge moves values, which are not given"
               : sort->kind == HS_GATHER ? "source: there is no buffer of items"
                                         : "values: the sort moves values, which are not given";
    if ((made || (apart && valued)) && !(roles & out))
        return hs_reduces(sort)          ? "group_values: there is no buffer for the result"
               : sort->kind == HS_GATHER ? "destination: there is no buffer for the result"
                                         : "values_destination: there is no buffer for the result";
    return NULL;
}

/* 1 if calls of a segmented sort have an array of segment ends. */
static int hs_takes_ends(const hs_sort *sort)
{
    return sort->kind == HS_SEGMENTED_SORT && (hs_uses(sort) >> HS_OTHER_VALUES & 1);
}

/* 1 if calls may take a count from device memory: the number of keys, of segments, or of rows. */
static int hs_takes_count(const hs_sort *sort)
{
    const int parts = sort->kind == HS_SEGMENTED_SORT || sort->kind == HS_TOP_K;
    return parts ? (int)(hs_uses(sort) >> HS_COUNT & 1) : sort->device_count != 0;
}

/* 1 if a call has an array of segment ends that the segmented sort does not take, or lacks one that it needs. */
static int hs_ends_alone(const hs_sort *sort, uint32_t starts, uint32_t ends)
{
    return sort->kind == HS_SEGMENTED_SORT && ends != (hs_takes_ends(sort) ? starts : 0);
}

/* Buffers of lengths, starts, takes or counts: not 0 if a call has one that the selection does not take, or lacks one
 * that it needs; `roles` has a bit for each buffer of the call. */
static int hs_lacks_numbers(const hs_sort *sort, uint32_t roles)
{
    const uint32_t extents = 1u << HS_OTHER_INPUT | 1u << HS_OTHER_VALUES | 1u << HS_TAKES;
    const uint32_t numbers = extents | 1u << HS_VALUE_STARTS | 1u << HS_COUNT;
    return sort->kind == HS_TOP_K && ((roles ^ hs_uses(sort)) & numbers);
}

const char *hs_missing_option(const hs_sort *sort, const hs_options *options, uint32_t roles)
{
    const char *text = sort && options ? hs_lacks(sort, options) : NULL;
    uint32_t unused;
    if (!sort || text) return text;
    if (options && options->discard_keys && sort->kind > HS_SEGMENTED_SORT)
        return "discard_keys: only sorts discard keys";
    if ((roles >> HS_COUNT & 1) && !hs_takes_count(sort))
        return sort->kind == HS_SEGMENTED_SORT ? "count: a number of segments on the device (--feature segment-count)"
               : sort->kind == HS_TOP_K        ? "count: a number of rows on the device (--feature row-count)"
                                               : "count: a device-side count (--feature device-count)";
    text = hs_lacks_values(sort, roles);
    if (!text && hs_lacks_numbers(sort, roles))
        text = "lengths, starts, takes, value_starts, count: as the selection was generated (--feature)";
    if (!text && hs_ends_alone(sort, roles >> HS_OTHER_INPUT & 1, roles >> HS_OTHER_VALUES & 1))
        text = hs_takes_ends(sort) ? "offsets and ends: one of both is missing"
                                   : "ends: segments with ends (--feature segment-ends)";
    unused = text ? 0 : roles & ~hs_uses(sort);
    if (unused & (1u << HS_OTHER_INPUT | 1u << HS_OTHER_VALUES)) return "other: a sort of this kind takes one array";
    if (unused >> HS_REPORT & 1) return "report: nothing is reported (--feature run-boundaries or --epilogue)";
    return text;
}

/* Check `number` (if `numbered`: the plan reads it) and `take`, and convert them to the numbers that kernels read. */
static hs_status hs_divided(const hs_sort *sort, hs_call *call, int numbered)
{
    switch (sort->kind) {
    case HS_DIGEST:
        if (call->number < call->n) call->number = call->n;
        if (call->number > sort->max_n) return HS_ERROR_COUNT;
        break;
    case HS_MERGE:
        if (call->number > call->n) return HS_ERROR_PARTS;
        break;
    case HS_TOP_K:
        if (!call->n) break;
        if (!call->number || call->n % call->number) return HS_ERROR_PARTS;
        if (!call->take || call->take > call->n / call->number) return HS_ERROR_PARTS;
        break;
    case HS_REDUCE_BY_KEY:
    case HS_GROUP_BY:
        if (call->number == UINT64_MAX) return HS_ERROR_OPTION;
        if (!call->n) call->device_count = 0; /* such a call has no scratch, in which grids could be */
        if (call->device_count) call->number |= HS_DEVICE_COUNT;
        break;
    case HS_PACK: return hs_pack_fits(call->n, call->number, call->take);
    case HS_GATHER:
        if (!sort->value_bytes || call->take % sort->value_bytes) return HS_ERROR_PARTS;
        call->take /= sort->value_bytes; /* bytes of a gathered item: now its number of values */
        if (!call->n) break;
        if (!call->number || !call->take || call->number > INT32_MAX / call->take) return HS_ERROR_PARTS;
        if (call->n > INT32_MAX / call->take) return HS_ERROR_PARTS;
        break;
    case HS_SEGMENTED_SORT:
        if (call->rows && call->n && (!call->number || call->n % call->number)) return HS_ERROR_PARTS;
        break;
    case HS_SORT:
    case HS_SCAN:
    default:
        if (numbered ? call->number >= sort->key_bits : call->number != 0) return HS_ERROR_PARTS;
    }
    return call->number > INT32_MAX ? HS_ERROR_PARTS : HS_OK;
}

/* The number of elements that a call accesses in the buffer of a role; n for roles without a separate length. */
static uint64_t hs_length(const hs_sort *sort, const hs_call *call, hs_role role)
{
    const uint64_t n = call->n, number = call->number, take = call->take;
    switch (sort->kind) {
/* HSGEN_LENGTHS */
    }
}

/* The number of bytes that a call accesses in the buffer of each role except scratch, as if the call had all
 * buffers. */
static void hs_touched(const hs_sort *sort, const hs_call *call, uint64_t bytes[HS_ROLES])
{
    uint32_t i;
    for (i = 0; i < HS_ROLES; i++) bytes[i] = hs_element(sort, (hs_role)i) * hs_length(sort, call, (hs_role)i);
    bytes[HS_SOURCE] *= sort->columns;
    bytes[HS_DESTINATION] *= sort->columns;
    if (hs_takes_ends(sort)) bytes[HS_OTHER_INPUT] = sizeof(uint32_t) * call->number; /* a start for each segment */
    for (i = 0; sort->kind == HS_PACK && i < HS_COLUMNS; i++)
        bytes[hs_column_role(i)] = hs_column_bytes(call->n, call->number, call->take, i);
    bytes[HS_COUNT] = sizeof(uint32_t);
    bytes[HS_SCRATCH] = 0;
    bytes[HS_REPORT] = sizeof(uint32_t) * (sort->report_words + sort->report_words_per_key * call->n);
}

/* Check which buffers a call of a sort, scan or segmented sort has; if n is 0, buffers may be absent. */
static hs_status hs_given(const hs_sort *sort, const hs_call *call, const hs_span spans[HS_ROLES])
{
    const int in_place = spans[HS_DESTINATION].where == 0, has_values = spans[HS_VALUES].where != 0;
    const int has_out = spans[HS_VALUES_OUT].where != 0, valued = sort->value_bytes && !sort->index;
    if (hs_ends_alone(sort, spans[HS_OTHER_INPUT].where != 0, spans[HS_OTHER_VALUES].where != 0)) return HS_ERROR_OPTION;
    if (call->n == 0) return HS_OK;
    if (call->options->discard_keys && !in_place) return HS_ERROR_ARGUMENT; /* discarded keys have no destination */
    if (has_values != valued) return HS_ERROR_OPTION;
    if (!valued) return has_out == (sort->index != 0) ? HS_OK : HS_ERROR_OPTION;
    return has_out == in_place ? HS_ERROR_ARGUMENT : HS_OK; /* keys and values are both in place, or neither */
}

/* Check which buffers a selection, reduction by key, grouping or gather has; these are never in place. */
static hs_status hs_given_rows(const hs_sort *sort, const hs_call *call, const hs_span spans[HS_ROLES])
{
    const int valued = sort->value_bytes && !sort->index;
    uint32_t i, roles = 0;
    if (call->options->discard_keys) return HS_ERROR_OPTION;
    if (call->n == 0) return HS_OK;
    for (i = 0; i < HS_ROLES; i++) roles |= (uint32_t)(spans[i].where != 0) << i;
    if (hs_lacks_numbers(sort, roles)) return HS_ERROR_OPTION;
    if ((spans[HS_DESTINATION].where != 0) != (sort->kind != HS_GATHER)) return HS_ERROR_ARGUMENT;
    if ((spans[HS_VALUES].where != 0) != valued) return HS_ERROR_OPTION;
    return (spans[HS_VALUES_OUT].where != 0) == (sort->value_bytes != 0) ? HS_OK : HS_ERROR_OPTION;
}

/* Check which buffers a merge or digest has; these are never in place. */
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

/* Check which columns a pack has; it is never in place. */
static hs_status hs_given_columns(const uint64_t bytes[HS_ROLES], const hs_span spans[HS_ROLES])
{
    uint32_t i;
    for (i = 0; i < HS_COLUMNS; i++)
        if (!bytes[hs_column_role(i)] != !spans[hs_column_role(i)].where) return HS_ERROR_ARGUMENT;
    return spans[HS_DESTINATION].where ? HS_OK : HS_ERROR_ARGUMENT;
}

/* Check that the call has exactly the buffers that the sort uses; fill in the bytes that the call accesses in each. */
static hs_status hs_played(const hs_sort *sort, const hs_call *call, uint32_t uses, hs_span spans[HS_ROLES])
{
    uint64_t bytes[HS_ROLES];
    uint32_t i;
    hs_touched(sort, call, bytes);
    for (i = 0; i < HS_ROLES; i++) {
        spans[i].from = (hs_role)i;
        spans[i].bytes = spans[i].where ? bytes[i] : 0;
    }
    if (sort->kind == HS_TOP_K && bytes[HS_SOURCE]) hs_free_rows(sort, spans);
    if (bytes[HS_SOURCE] && !spans[HS_SOURCE].where) return HS_ERROR_ARGUMENT;
    for (i = HS_OTHER_INPUT; i < HS_ROLES; i++)
        if (spans[i].where && !(uses >> i & 1)) return HS_ERROR_OPTION;
    if ((uses >> HS_REPORT & 1) && !spans[HS_REPORT].where) return HS_ERROR_ARGUMENT;
    if (sort->kind == HS_PACK) return hs_given_columns(bytes, spans);
    if (hs_takes_rows(sort) || hs_reduces(sort)) return hs_given_rows(sort, call, spans);
    if (sort->kind == HS_MERGE || sort->kind == HS_DIGEST) return hs_given_apart(sort, call, bytes, spans);
    return hs_given(sort, call, spans);
}

/* 1 if a buffer has all bytes that a call accesses.  The bytes must also end within the address space, which bounds a
 * buffer of unknown size. */
static int hs_has_room(const hs_span *span)
{
    return span->bytes <= span->room && span->bytes <= UINT64_MAX - span->begin;
}

uint32_t hs_written(const hs_sort *sort, int in_place)
{
    uint32_t roles = 1u << HS_DESTINATION | 1u << HS_SCRATCH | 1u << HS_VALUES_OUT | 1u << HS_REPORT;
    if (in_place) roles |= 1u << HS_SOURCE | 1u << HS_VALUES;
    if (hs_reduces(sort)) roles |= 1u << HS_OTHER_INPUT | 1u << HS_OTHER_VALUES; /* counts and first indices */
    return roles;
}

/* Check that the accessed bytes of each buffer exist, are aligned, and do not overlap bytes that are written. */
static hs_status hs_fits(const hs_sort *sort, const hs_span spans[HS_ROLES], int in_place)
{
    const uint32_t written = hs_written(sort, in_place);
    uint32_t i, k;
    if (!hs_has_room(&spans[HS_SCRATCH])) return HS_ERROR_SCRATCH;
    for (i = 0; i < HS_ROLES; i++)
        if (!hs_has_room(&spans[i])) return HS_ERROR_COUNT;
    for (i = 0; i < HS_ROLES; i++)
        if (spans[i].bytes && spans[i].begin % hs_element(sort, (hs_role)i)) return HS_ERROR_ALIGNMENT;
    for (i = 0; i < HS_ROLES; i++)
        for (k = 0; k < i; k++) {
            const hs_span *a = &spans[i], *b = &spans[k];
            if (!a->bytes || !b->bytes || !((written >> i | written >> k) & 1) || a->where != b->where) continue;
            if (a->begin < b->begin + b->bytes && b->begin < a->begin + a->bytes) return HS_ERROR_OVERLAP;
        }
    return HS_OK;
}

/* Let steps bind the buffer of another role, which they do not access, where a call has no buffer for a role. */
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
    call->segments_counted = sort->kind == HS_SEGMENTED_SORT && spans[HS_COUNT].where != 0;
    call->device_count = spans[HS_COUNT].where != 0 && !call->segments_counted && sort->kind != HS_TOP_K;
    call->rows = sort->kind == HS_SEGMENTED_SORT && !spans[HS_OTHER_INPUT].where;
    call->in_place = !spans[HS_DESTINATION].where && !options->discard_keys && sort->kind <= HS_SEGMENTED_SORT;
    if (status != HS_OK) return status;
    if (spans[HS_COUNT].where && !hs_takes_count(sort)) return HS_ERROR_OPTION;
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
        spans[HS_DESTINATION].begin += hs_discarded_at(plain);
        spans[HS_DESTINATION].room = spans[HS_DESTINATION].bytes = n * hs_item_bytes(sort);
        spans[HS_SCRATCH].bytes = plain;
    }
#if HS_CHECK
    status = hs_parts_fit(sort, call, spans);
    if (status != HS_OK) return status;
#endif
    hs_lend(uses & ~(1u << HS_SCRATCH), spans);
    return HS_OK;
}

/* The kinds of calls that a sort takes. */
static uint32_t hs_kinds_of_calls(const hs_sort *sort)
{
    uint32_t calls = HS_CALLS_OUT_OF_PLACE | HS_CALLS_ALL_BITS | HS_CALLS_HOST_COUNT;
    if (sort->kind <= HS_SEGMENTED_SORT) calls |= HS_CALLS_IN_PLACE;
    if (sort->bit_range) calls |= HS_CALLS_SOME_BITS;
    if (sort->device_count) calls |= HS_CALLS_DEVICE_COUNT;
    return calls;
}

hs_status hs_scope_of(const hs_sort *sort, const hs_scope *given, hs_scope *scope)
{
    const uint32_t takes = hs_kinds_of_calls(sort);
    uint32_t pair;
    memset(scope, 0, sizeof *scope);
    if (given) *scope = *given;
    if (!scope->max_n) scope->max_n = sort->max_n;
    if (scope->calls & ~takes) return HS_ERROR_OPTION;
    for (pair = HS_CALLS_IN_PLACE | HS_CALLS_OUT_OF_PLACE; pair <= (HS_CALLS_HOST_COUNT | HS_CALLS_DEVICE_COUNT);
         pair <<= 2)
        if (!(scope->calls & pair)) scope->calls |= takes & pair;
    return scope->min_n > scope->max_n || scope->max_n > sort->max_n ? HS_ERROR_COUNT : HS_OK;
}

/* 1 if calls of a completed scope can run a step. */
static int hs_scope_runs(const hs_sort *sort, const hs_scope *scope, const hs_step *step)
{
    const hs_guard *guard = &step->guard;
    const hs_argument_rule *rule = &step->argument;
    const uint64_t most = scope->max_n < guard->max_n ? scope->max_n : guard->max_n;
    const int counted = (scope->calls & HS_CALLS_DEVICE_COUNT) != 0;
    hs_call largest;
    if (rule->kind == HS_INDIRECT_GRIDS) return counted;
    if (guard->at_zero) return 1;
    if (guard->min_n >= scope->max_n) return 0;
    if (guard->max_n < scope->min_n && !counted && guard->x == HS_BY_N) return 0;
    if (guard->place == HS_IN_PLACE && !(scope->calls & HS_CALLS_IN_PLACE)) return 0;
    if (guard->place == HS_OUT_OF_PLACE && !(scope->calls & HS_CALLS_OUT_OF_PLACE)) return 0;
    if (guard->range == HS_ALL_BITS && !(scope->calls & HS_CALLS_ALL_BITS)) return 0;
    if (guard->range == HS_SOME_BITS && !(scope->calls & HS_CALLS_SOME_BITS)) return 0;
    if (rule->kind == HS_PASS && (uint32_t)rule->value >= hs_passes(sort->key_bits, rule->bits)) return 0;
    memset(&largest, 0, sizeof largest); /* the grid does not shrink with n */
    largest.n = most;
    largest.number = guard->x == HS_BY_LENGTH ? 1 : INT32_MAX;
    largest.take = guard->max_take;
    largest.in_place = guard->place == HS_IN_PLACE;
    return hs_groups(step, &largest) != 0;
}

int hs_scope_has(const hs_sort *sort, const hs_scope *scope, uint32_t kernel, int indirect)
{
    uint32_t i;
    for (i = 0; i < sort->step_count; i++)
        if (sort->steps[i].kernel == kernel && (indirect || sort->steps[i].argument.kind != HS_INDIRECT_GRIDS) &&
            hs_scope_runs(sort, scope, &sort->steps[i]))
            return 1;
    return 0;
}

uint32_t hs_scope_steps(const hs_sort *sort, const hs_scope *scope)
{
    uint32_t i, steps = 0;
    for (i = 0; i < sort->step_count; i++) steps += hs_scope_runs(sort, scope, &sort->steps[i]) != 0;
    return steps;
}

uint64_t hs_scope_bytes(const hs_sort *sort, const hs_scope *scope)
{
    const uint64_t n = scope->max_n, key = n * hs_item_bytes(sort);
    const uint64_t report = sizeof(uint32_t) * (sort->report_words + sort->report_words_per_key * n);
    uint64_t most = n * (sort->value_bytes > hs_item_bytes(sort) ? sort->value_bytes : hs_item_bytes(sort)), scratch = 0;
    if (sort->kind == HS_SEGMENTED_SORT || sort->kind == HS_DIGEST) return UINT64_MAX;
    if (sort->kind == HS_GATHER || sort->kind == HS_PACK) return UINT64_MAX;
    if (hs_scratch(sort, n, &scratch) != HS_OK) return UINT64_MAX;
    if (sort->index) scratch = hs_discarded_at(scratch) + key;
    if (most < scratch) most = scratch;
    if (hs_reduces(sort) && most < sizeof(uint32_t) * n) most = sizeof(uint32_t) * n; /* counts and indices */
    return most < report ? report : most;
}

hs_status hs_scope_takes(const hs_sort *sort, const hs_scope *scope, const hs_call *call)
{
    const hs_options *options = call->options;
    const uint32_t end = options->end_bit ? options->end_bit : sort->key_bits;
    const int all = end - options->begin_bit == sort->key_bits;
    uint32_t kinds = call->device_count ? HS_CALLS_DEVICE_COUNT : HS_CALLS_HOST_COUNT;
    if (call->n) {
        kinds |= call->in_place ? HS_CALLS_IN_PLACE : HS_CALLS_OUT_OF_PLACE;
        kinds |= all ? HS_CALLS_ALL_BITS : HS_CALLS_SOME_BITS;
        if (call->n < scope->min_n || call->n > scope->max_n) return HS_ERROR_SCOPE;
    }
    return kinds & ~scope->calls ? HS_ERROR_SCOPE : HS_OK;
}
