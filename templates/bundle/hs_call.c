/* Checks of a call and its launches, common to all APIs; see hs_plan.h. */
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

hs_type hs_key_type(const hs_sort *sort, const hs_options *options)
{
    const hs_type type = options ? options->type : HS_AS_MATCHED;
    if (type == HS_AS_MATCHED) return sort->type;
    return type == HS_UNSIGNED ? (hs_type)(sort->key_bits / 8 << 4) : type;
}

/* Whether a call names a type of another width than the keys of the sort. */
static int hs_other_width(const hs_sort *sort, hs_type type)
{
    return type != HS_AS_MATCHED && type != HS_UNSIGNED && 8 * ((uint32_t)type >> 4) != sort->key_bits;
}

/* The type that a scan does not sum; null: none.  Signed elements have the sums of unsigned ones. */
static const char *hs_lacks_sums(const hs_sort *sort, const hs_options *options)
{
    const hs_type type = hs_key_type(sort, options);
    const uint32_t kind = (uint32_t)type & 15u;
    if (hs_other_width(sort, options->type)) return "type: elements of another width (--key)";
    if (type != HS_AS_MATCHED && (kind == 2) != (sort->key[0] == 'f')) return "type: sums of floats, or of integers (--key)";
    return options->descending ? "descending: sums have no order" : NULL;
}

/* The option that the sort was not generated for; null: none. */
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

/* The values that the sort does not take, or moves without being given; `roles`: the buffers of the call. */
static const char *hs_lacks_values(const hs_sort *sort, uint32_t roles)
{
    const int merge = sort->kind == HS_MERGE;
    const int apart = merge || hs_takes_rows(sort) || hs_reduces(sort);
    const int valued = sort->value_bytes && !sort->index;
    const int made = sort->index && (sort->kind <= HS_SEGMENTED_SORT || sort->kind == HS_TOP_K);
    const uint32_t inputs = 1u << HS_VALUES | (merge ? 1u << HS_OTHER_VALUES : 0), out = 1u << HS_VALUES_OUT;
    if (sort->kind == HS_PACK) return NULL; /* all inputs are columns */
    if (!valued && (roles & inputs)) return "values: the sort was generated without values (--value)";
    if (!valued && !made && (roles & out)) return "values_destination: the sort was generated without values (--value)";
    if (valued && (roles & inputs) != inputs) return "values: the sort moves values, which are not given";
    if ((made || (apart && valued)) && !(roles & out)) return "values_destination: there is no buffer for the result";
    return NULL;
}

/* Whether segments have ends of their own. */
static int hs_takes_ends(const hs_sort *sort)
{
    return sort->kind == HS_SEGMENTED_SORT && (hs_uses(sort) >> HS_OTHER_VALUES & 1);
}

/* Whether calls may take a number from device memory: of keys, or of segments. */
static int hs_takes_count(const hs_sort *sort)
{
    return sort->kind == HS_SEGMENTED_SORT ? (int)(hs_uses(sort) >> HS_COUNT & 1) : sort->device_count != 0;
}

/* Whether a segmented sort gets starts or ends of segments that it does not take, or lacks those that it does. */
static int hs_ends_alone(const hs_sort *sort, uint32_t starts, uint32_t ends)
{
    return sort->kind == HS_SEGMENTED_SORT && ends != (hs_takes_ends(sort) ? starts : 0);
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
                                               : "count: a device-side count (--feature device-count)";
    text = hs_lacks_values(sort, roles);
    if (!text && hs_ends_alone(sort, roles >> HS_OTHER_INPUT & 1, roles >> HS_OTHER_VALUES & 1))
        text = hs_takes_ends(sort) ? "offsets and ends: one of both is missing"
                                   : "ends: segments with ends (--feature segment-ends)";
    unused = text ? 0 : roles & ~hs_uses(sort);
    if (unused & (1u << HS_OTHER_INPUT | 1u << HS_OTHER_VALUES)) return "other: a sort of this kind takes one array";
    if (unused >> HS_REPORT & 1) return "report: nothing is reported (--feature run-boundaries or --epilogue)";
    return text;
}

/* Whether the number of a call fits; `numbered`: whether the plan depends on it. */
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
        if (!call->n) call->device_count = 0; /* no scratch for indirect grids, and no keys in any case */
        if (call->device_count) call->number |= HS_DEVICE_COUNT;
        break;
    case HS_PACK: return hs_pack_fits(call->n, call->number, call->take);
    case HS_GATHER:
        if (!sort->value_bytes || call->take % sort->value_bytes) return HS_ERROR_PARTS;
        call->take /= sort->value_bytes; /* values of an item */
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

/* The bytes that a call accesses in the buffer of each role, except scratch, as if all were given. */
static void hs_touched(const hs_sort *sort, const hs_call *call, uint64_t bytes[HS_ROLES])
{
    const uint64_t key = hs_item_bytes(sort), value = sort->value_bytes, n = call->n, number = call->number;
    const uint64_t first = sort->kind == HS_MERGE || sort->kind == HS_DIGEST ? number : n;
    const int gather = sort->kind == HS_GATHER;
    const uint64_t after = sort->kind == HS_TOP_K ? number * call->take : gather ? n * call->take : n;
    uint32_t i;
    memset(bytes, 0, HS_ROLES * sizeof bytes[0]);
    bytes[HS_SOURCE] = key * first;
    bytes[HS_DESTINATION] = gather ? 0 : key * after;
    bytes[HS_VALUES] = value * (gather ? number * call->take : first);
    bytes[HS_VALUES_OUT] = value * after;
    bytes[HS_COUNT] = sizeof(uint32_t);
    bytes[HS_OTHER_INPUT] = sort->kind == HS_MERGE ? key * (n - number) : sizeof(uint32_t) * (number + 1);
    bytes[HS_OTHER_VALUES] = value * (n - first);
    if (hs_takes_ends(sort)) bytes[HS_OTHER_INPUT] = bytes[HS_OTHER_VALUES] = sizeof(uint32_t) * number;
    if (hs_reduces(sort)) bytes[HS_OTHER_INPUT] = bytes[HS_OTHER_VALUES] = sizeof(uint32_t) * n;
    for (i = 0; sort->kind == HS_PACK && i < HS_COLUMNS; i++)
        bytes[hs_column_role(i)] = hs_column_bytes(n, number, call->take, i);
    bytes[HS_REPORT] = sizeof(uint32_t) * (sort->report_words + sort->report_words_per_key * n);
}

/* The buffers of sorts, scans and segmented sorts; for n = 0 they may be absent. */
static hs_status hs_given(const hs_sort *sort, const hs_call *call, const hs_span spans[HS_ROLES])
{
    const int in_place = spans[HS_DESTINATION].where == 0, has_values = spans[HS_VALUES].where != 0;
    const int has_out = spans[HS_VALUES_OUT].where != 0, valued = sort->value_bytes && !sort->index;
    if (hs_ends_alone(sort, spans[HS_OTHER_INPUT].where != 0, spans[HS_OTHER_VALUES].where != 0)) return HS_ERROR_OPTION;
    if (call->n == 0) return HS_OK;
    if (call->options->discard_keys && !in_place) return HS_ERROR_ARGUMENT; /* a destination for discarded keys */
    if (has_values != valued) return HS_ERROR_OPTION;
    if (!valued) return has_out == (sort->index != 0) ? HS_OK : HS_ERROR_OPTION;
    return has_out == in_place ? HS_ERROR_ARGUMENT : HS_OK; /* both in place or neither */
}

/* The buffers of selections, reductions by key, groups and gathers, which are never in place. */
static hs_status hs_given_rows(const hs_sort *sort, const hs_call *call, const hs_span spans[HS_ROLES])
{
    const int valued = sort->value_bytes && !sort->index;
    if (call->options->discard_keys) return HS_ERROR_OPTION;
    if (call->n == 0) return HS_OK;
    if ((spans[HS_DESTINATION].where != 0) != (sort->kind != HS_GATHER)) return HS_ERROR_ARGUMENT;
    if ((spans[HS_VALUES].where != 0) != valued) return HS_ERROR_OPTION;
    return (spans[HS_VALUES_OUT].where != 0) == (sort->value_bytes != 0) ? HS_OK : HS_ERROR_OPTION;
}

/* The buffers of merges and digests, which are never in place. */
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

/* The columns of a pack, which is never in place. */
static hs_status hs_given_columns(const uint64_t bytes[HS_ROLES], const hs_span spans[HS_ROLES])
{
    uint32_t i;
    for (i = 0; i < HS_COLUMNS; i++)
        if (!bytes[hs_column_role(i)] != !spans[hs_column_role(i)].where) return HS_ERROR_ARGUMENT;
    return spans[HS_DESTINATION].where ? HS_OK : HS_ERROR_ARGUMENT;
}

/* Whether exactly the buffers that the sort uses are given; fills in the bytes accessed in each. */
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
    if (sort->kind == HS_PACK) return hs_given_columns(bytes, spans);
    if (hs_takes_rows(sort) || hs_reduces(sort)) return hs_given_rows(sort, call, spans);
    if (sort->kind == HS_MERGE || sort->kind == HS_DIGEST) return hs_given_apart(sort, call, bytes, spans);
    return hs_given(sort, call, spans);
}

/* Whether a buffer holds the bytes accessed; of unknown room it reaches to the end of the address space. */
static int hs_has_room(const hs_span *span)
{
    return span->bytes <= span->room && span->bytes <= UINT64_MAX - span->begin;
}

/* Whether the bytes accessed in each buffer exist, are aligned, and do not overlap bytes that are written. */
static hs_status hs_fits(const hs_sort *sort, const hs_span spans[HS_ROLES], int in_place)
{
    const uint32_t also = in_place ? 1 : 0; /* inputs are written, too */
    const uint32_t more = hs_reduces(sort) ? 1 : 0; /* counts and indices */
    const uint32_t written[HS_ROLES] = {also, 1, 1, also, 1, 0, more, more, 1};
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

/* Bind the buffer of another role where a step has a role that the call does not use: it is never read. */
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
    call->device_count = spans[HS_COUNT].where != 0 && !call->segments_counted;
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
    hs_lend(uses & ~(1u << HS_SCRATCH), spans);
    return HS_OK;
}

uint32_t hs_flags(const hs_sort *sort, const hs_call *call)
{
    const hs_options *options = call->options;
    const hs_type type = hs_key_type(sort, options);
    const uint32_t kind = (uint32_t)type & 15u;
    uint32_t flags = 0;
    if (kind) flags |= HS_SIGNED;
    if (kind == 2) flags |= HS_FLOAT;
    if (options && options->descending) flags |= HS_DESCENDING;
    if (options && options->discard_keys) flags |= HS_DISCARD;
    if (call->device_count) flags |= HS_DEVICE_COUNT;
    if (call->rows) flags |= HS_ROWS;
    return flags;
}

int hs_argument(const hs_sort *sort, const hs_step *step, const hs_call *call, int32_t *argument)
{
    const hs_options *options = call->options;
    const hs_argument_rule *rule = &step->argument;
    const uint32_t end = options && options->end_bit ? options->end_bit : sort->key_bits;
    const uint32_t begin = options ? options->begin_bit : 0, range = end - begin, first = sort->first_bit + begin;
    const uint32_t value = (uint32_t)rule->value;
    const int rounded = ((uint32_t)call->number & HS_REDUCTION_MASK) == HS_FLOAT_SUM;
    uint32_t flags = rule->flags | hs_flags(sort, call), passes, least, more, low = 0;
    if (call->in_place) flags &= ~(uint32_t)HS_DIRECT;
    if (step->guard.range == (uint32_t)(range == sort->key_bits ? HS_SOME_BITS : HS_ALL_BITS)) return 0;
    if (step->guard.reduction == (uint32_t)(rounded ? HS_EXACT_REDUCTION : HS_ROUNDED_REDUCTION)) return 0;
    switch (rule->kind) {
    case HS_LITERAL: low = value; break;
    case HS_PASS:
        /* as few digits as possible, their widths as equal as possible, the wider ones first */
        passes = hs_passes(range, rule->bits);
        least = range / passes;
        more = range % passes;
        if (value >= passes) return 0;
        low = value | (first + value * least + (value < more ? value : more)) << 8 | (least + (value < more)) << 16;
        /* if this pass were the first to move keys, the last one would end in the wrong buffer */
        if ((passes - value) % 2 == 0) flags &= ~(uint32_t)HS_DIRECT;
        if (passes - value > 1) flags &= ~(uint32_t)HS_DISCARD;
        break;
    case HS_BIT_RANGE: low = (sort->first_bit + end) | first << 8; break;
    case HS_PASS_COUNT: low = hs_passes(range, rule->bits); break;
    case HS_CALL_NUMBER:
        low = (uint32_t)call->number | (call->segments_counted ? 1u << 31 : 0);
        flags = 0;
        break;
    default: return 0;
    }
    *argument = (int32_t)(low | flags);
    return 1;
}

uint64_t hs_groups(const hs_step *step, const hs_call *call)
{
    const hs_guard *guard = &step->guard;
    const hs_grid_rule *grid = &step->grid;
    const int by_length = guard->x == HS_BY_LENGTH;
    const uint64_t n = call->n, bounded = by_length && call->number ? n / call->number : n;
    int64_t whole;
    uint64_t groups;
    if (bounded <= guard->min_n && !(n == 0 && guard->at_zero)) return 0;
    if (step->argument.kind == HS_INDIRECT_GRIDS || (bounded > guard->max_n && !call->device_count)) return 0;
    if (guard->place == (uint32_t)(call->in_place ? HS_OUT_OF_PLACE : HS_IN_PLACE)) return 0;
    whole = (int64_t)(grid->x == HS_BY_NUMBER ? call->number : by_length || n < guard->max_n ? n : guard->max_n) + grid->add;
    if (whole <= 0) return 0;
    groups = (uint64_t)whole / grid->div * grid->mul;
    return groups < grid->cap ? groups : grid->cap;
}

uint64_t hs_reduction_number(hs_reduction reduction, hs_type type, int counts, int firsts)
{
    const hs_type of = hs_value_type(NULL, type);
    const uint32_t how = (uint32_t)reduction, kind = (uint32_t)of & 15u;
    if (how > (uint32_t)HS_MAX || (uint32_t)of >> 4 != 4 || kind > 2) return UINT64_MAX;
    return how | kind << 2 | (counts ? 16u : 0u) | (firsts ? 32u : 0u);
}

hs_type hs_value_type(const hs_sort *sort, hs_type type)
{
    if (type == HS_AS_MATCHED && sort) type = sort->value_type;
    return type == HS_AS_MATCHED || type == HS_UNSIGNED ? HS_U32 : type;
}

uint64_t hs_pack_number(const hs_column columns[HS_COLUMNS], uint64_t count, uint32_t begin_bit)
{
    uint64_t number = (uint64_t)(begin_bit / 32) << 24;
    uint32_t i, bits = 0;
    if (!count || count > HS_COLUMNS || begin_bit % 32) return UINT64_MAX;
    for (i = 0; i < count; i++) {
        const uint32_t kind = (uint32_t)columns[i].type & 15u, bytes = (uint32_t)columns[i].type >> 4;
        const uint32_t size = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes - 1;
        if (size > 3 || 1u << size != bytes || kind > (bytes > 1 ? 2u : 1u)) return UINT64_MAX;
        number |= (uint64_t)(size | kind << 2 | (columns[i].descending ? 16u : 0u) | 32u) << 6 * i;
        bits += 8 * bytes;
    }
    return bits <= 128 && begin_bit < bits ? number : UINT64_MAX;
}

uint64_t hs_pack_layouts(const hs_column columns[HS_COLUMNS], const hs_field fields[HS_COLUMNS],
                                       uint64_t count)
{
    uint64_t layouts = 0;
    uint32_t i, wrong = 0;
    for (i = 0; i < count && i < HS_COLUMNS; i++) {
        const uint32_t bytes = (uint32_t)columns[i].type >> 4, stride = fields[i].stride, offset = fields[i].offset;
        if (!stride && !offset) continue;
        if (stride > HS_STRIDE || bytes > stride || offset > stride - bytes) return UINT64_MAX;
        wrong |= stride % 4 | (offset & ((bytes < 4 ? bytes : 4) - 1));
        layouts |= (uint64_t)(stride / 4 | offset << 7) << 15 * i;
    }
    return wrong ? UINT64_MAX - 1 : layouts;
}

hs_status hs_pack_fits(uint64_t n, uint64_t number, uint64_t layouts)
{
    uint32_t i;
    if (number > INT32_MAX || layouts == UINT64_MAX) return HS_ERROR_PARTS;
    if (layouts == UINT64_MAX - 1) return HS_ERROR_ALIGNMENT;
    for (i = 0; i < HS_COLUMNS; i++)
        if (n * (layouts >> 15 * i & 127) > INT32_MAX) return HS_ERROR_COUNT;
    return HS_OK;
}

uint64_t hs_column_bytes(uint64_t n, uint64_t number, uint64_t layouts, uint32_t i)
{
    const uint64_t column = number >> 6 * i, item = (uint64_t)1 << (column & 3);
    const uint64_t stride = (layouts >> 15 * i & 127) * 4, offset = layouts >> (15 * i + 7) & 255;
    if (!(column & 32) || !n) return 0;
    return (stride ? (n - 1) * stride + offset + item + 3 : n * item + 3) / 4 * 4;
}

void hs_numbers(const hs_sort *sort, const hs_step *step, const hs_call *call, int32_t numbers[2])
{
    const int rows = hs_takes_rows(sort);
    numbers[0] = hs_bound(rows ? call->number : step->guard.min_n);
    numbers[1] = hs_bound(rows ? call->take : step->guard.max_n);
    if (sort->kind == HS_PACK) {
        numbers[0] = (int32_t)(call->take & ((1u << 30) - 1));
        numbers[1] = (int32_t)(call->take >> 30);
    }
}

int hs_grid(uint64_t groups, uint64_t limit, uint32_t grid[2])
{
    const uint64_t rows = limit ? (groups + limit - 1) / limit : 0;
    if (rows == 0 || rows > limit) return 0;
    grid[0] = (uint32_t)((groups + rows - 1) / rows);
    grid[1] = (uint32_t)rows;
    return 1;
}

int hs_launch(const hs_sort *sort, const hs_step *step, const hs_call *call, uint64_t columns,
                            uint64_t rows, uint32_t grid[2], int32_t *argument)
{
    const uint64_t groups = hs_groups(step, call);
    if (!groups || !hs_argument(sort, step, call, argument)) return 0;
    return hs_grid(groups, columns, grid) && grid[1] <= rows ? 1 : -1;
}

int hs_launches_fit(const hs_sort *sort, const hs_call *call, uint64_t columns, uint64_t rows)
{
    uint32_t i, grid[2] = {1, 1};
    int32_t argument;
    for (i = 0; i < sort->step_count; i++)
        if (hs_launch(sort, &sort->steps[i], call, columns, rows, grid, &argument) < 0) return 0;
    return 1;
}

uint32_t hs_element(const hs_sort *sort, hs_role role)
{
    if (sort->kind == HS_PACK) return role == HS_DESTINATION ? sort->key_bytes : 4; /* columns are read as words */
    if (role == HS_SOURCE || role == HS_DESTINATION || (role == HS_OTHER_INPUT && sort->kind == HS_MERGE))
        return sort->key_bytes;
    if (role == HS_OTHER_VALUES && (hs_reduces(sort) || sort->kind == HS_SEGMENTED_SORT)) return 4;
    return role == HS_VALUES || role == HS_VALUES_OUT || role == HS_OTHER_VALUES ? sort->value_bytes : 4;
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

/* Whether calls of a completed scope can run a step. */
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
