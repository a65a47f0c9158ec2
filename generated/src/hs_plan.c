/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* The interpreter of plans, common to all APIs; see hs_plan.h. */
#include "hs_internal.h"

uint32_t hs_element(const hs_sort *sort, hs_role role)
{
    if (sort->kind == HS_PACK) return role == HS_DESTINATION ? sort->key_bytes : 4; /* columns are read as words */
    if (role == HS_SOURCE || role == HS_DESTINATION || (role == HS_OTHER_INPUT && sort->kind == HS_MERGE))
        return sort->key_bytes;
    if (role == HS_OTHER_VALUES && (hs_reduces(sort) || sort->kind == HS_SEGMENTED_SORT || sort->kind == HS_TOP_K))
        return 4;
    return role == HS_VALUES || role == HS_VALUES_OUT || role == HS_OTHER_VALUES ? sort->value_bytes : 4;
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
    if (guard->max_take && (call->take <= guard->min_take || call->take > guard->max_take)) return 0;
    whole = (int64_t)(grid->x == HS_BY_ROWS ? bounded : grid->x == HS_BY_NUMBER ? call->number : by_length || n < guard->max_n ? n : guard->max_n) + grid->add;
    if (whole <= 0) return 0;
    groups = (uint64_t)whole / grid->div * grid->mul * (grid->x == HS_BY_ROWS ? call->number : 1);
    return groups < grid->cap ? groups : grid->cap;
}

hs_type hs_key_type(const hs_sort *sort, const hs_options *options)
{
    const hs_type type = options ? options->type : HS_AS_MATCHED;
    if (type == HS_AS_MATCHED) return sort->type;
    return type == HS_UNSIGNED ? (hs_type)(sort->key_bits / 8 << 4) : type;
}

hs_type hs_value_type(const hs_sort *sort, hs_type type)
{
    if (type == HS_AS_MATCHED && sort) type = sort->value_type;
    return type == HS_AS_MATCHED || type == HS_UNSIGNED ? HS_U32 : type;
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
        /* HS_DIRECT lets the first pass that moves keys write to the destination; with an even number of passes left,
         * the keys would then end in scratch */
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

uint64_t hs_reduction_number(hs_reduction reduction, hs_type type, int counts, int firsts)
{
    const hs_type of = hs_value_type(NULL, type);
    const uint32_t how = (uint32_t)reduction, kind = (uint32_t)of & 15u;
    if (how > (uint32_t)HS_MAX || (uint32_t)of >> 4 != 4 || kind > 2) return UINT64_MAX;
    return how | kind << 2 | (counts ? 16u : 0u) | (firsts ? 32u : 0u);
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
    for (i = 0; i < HS_COLUMNS; i++) {
        const uint64_t stride = layouts >> 15 * i & 127;
        if (stride && n > INT32_MAX / stride) return HS_ERROR_COUNT;
    }
    return HS_OK;
}

uint64_t hs_column_bytes(uint64_t n, uint64_t number, uint64_t layouts, uint32_t i)
{
    const uint64_t column = number >> 6 * i, item = (uint64_t)1 << (column & 3);
    const uint64_t stride = (layouts >> 15 * i & 127) * 4, offset = layouts >> (15 * i + 7) & 255;
    if (!(column & 32) || !n) return 0;
    return (stride ? (n - 1) * stride + offset + item + 3 : n * item + 3) / 4 * 4;
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

#if HS_CHECK
hs_status hs_parts_fit(const hs_sort *sort, const hs_call *call, const hs_span spans[HS_ROLES])
{
    uint32_t i, k;
    int32_t argument;
    for (i = 0; i < sort->step_count; i++) {
        const hs_step *step = &sort->steps[i];
        if (!hs_groups(step, call) || !hs_argument(sort, step, call, &argument)) continue;
        for (k = 0; k < sort->kernels[step->kernel].bindings; k++) {
            const hs_role role = step->bindings[k].role;
            const uint64_t begin = hs_offset(&step->bindings[k], call->n);
            if (!spans[role].bytes) continue; /* not used by this call */
            if (begin > spans[role].bytes) return role == HS_SCRATCH ? HS_ERROR_SCRATCH : HS_ERROR_COUNT;
            if (begin % hs_element(sort, role)) return HS_ERROR_ALIGNMENT;
        }
    }
    return HS_OK;
}
#endif
