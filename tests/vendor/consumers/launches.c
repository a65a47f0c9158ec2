/* Reads lines of: sort, n, limit of a grid, whether in place, whether counted, type, descending, begin, end, discard,
 * parts, whether segments are rows, k.
 * Prints for each the scratch of the sort and its launches as the runtimes would make them, or the reason for an error.
 * */
#include "hs/hs_plan.h"
#include "hs/hs_targets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print(const hs_sort *sort, const hs_call *call, uint64_t limit)
{
    const uint64_t n = call->n;
    uint64_t scratch, offset, bytes;
    uint32_t i, k, grid[2];
    int32_t argument = 0;
    const hs_status status = hs_scratch_with(sort, n, call->options, &scratch);
    if (status == HS_ERROR_RANGE || status == HS_ERROR_OPTION) {
        puts(status == HS_ERROR_RANGE ? "range" : "option");
        return;
    }
    if (status != HS_OK || hs_device_status_at(sort, n, &offset, &bytes) != HS_OK) {
        puts(hs_pad(sort, n, NULL, NULL) == HS_ERROR_COUNT ? "count" : "error");
        return;
    }
    printf("%" PRIu64 " %" PRIu64 "+%" PRIu64 "|", scratch, offset, bytes);
    for (i = 0; i < sort->step_count; i++) {
        const hs_step *step = &sort->steps[i];
        const uint64_t groups = hs_groups(step, call);
        if (groups == 0 || !hs_argument(sort, step, call, &argument)) continue;
        if (!hs_grid(groups, limit, grid)) {
            fputs("grid", stdout);
            break;
        }
        printf("%s %" PRId32 " %" PRIu64 " %" PRIu32 " %" PRIu32, sort->kernels[step->kernel].name, argument, groups,
               grid[0], grid[1]);
        for (k = 0; k < sort->kernels[step->kernel].bindings; k++)
            printf(" %d@%" PRIu64, (int)step->bindings[k].role, hs_offset(&step->bindings[k], n));
        fputs(";", stdout);
    }
    puts("");
}

/* Whether a constant for another type of keys is `base`, called with that type by default. */
static int typed(const hs_target *target, const hs_sort *base, const hs_sort *sort)
{
    static const struct {
        const char *key;
        hs_type type;
    } types[] = {{"u8", HS_U8},   {"i8", HS_I8},   {"u16", HS_U16}, {"i16", HS_I16}, {"f16", HS_F16}, {"u32", HS_U32},
                 {"i32", HS_I32}, {"f32", HS_F32}, {"u64", HS_U64}, {"i64", HS_I64}, {"f64", HS_F64}};
    hs_options zero, named;
    hs_call call;
    uint32_t i, type = 0;
    int32_t argument = 0, expected = 0;
    memset(&zero, 0, sizeof zero);
    memset(&call, 0, sizeof call);
    named = zero;
    while (type < sizeof types / sizeof types[0] && strcmp(types[type].key, sort->key) != 0) type++;
    if (type == sizeof types / sizeof types[0] || types[type].type != sort->type) return 0;
    if (!base->key_transform && sort->value_type == HS_AS_MATCHED) return 0;
    if (base->first && (!sort->first || sort->first->type != sort->type || sort->first->steps != base->first->steps)) return 0;
    named.type = sort->type;
    call.n = 1000;
    for (i = 0; i < sort->step_count; i++) {
        call.options = &named;
        if (!hs_argument(base, &base->steps[i], &call, &expected)) continue;
        call.options = &zero;
        if (!hs_argument(sort, &sort->steps[i], &call, &argument) || argument != expected) return 0;
    }
    return hs_find(target, base->algorithm, sort->key, sort->value_type == HS_F32   ? "f32"
                                                       : sort->value_type == HS_I32 ? "i32"
                                                                                    : sort->value) == sort;
}

int main(void)
{
    const hs_sort *sorts[1024];
    size_t i, j, count = 0, wanted;
    uint64_t limit;
    hs_options how;
    hs_call call;
    unsigned type;
    for (i = 0; i < hs_targets_count; i++)
        for (j = 0; j < hs_targets[i]->sort_count && count < 1024; j++) {
            const hs_sort *sort = sorts[count++] = hs_targets[i]->sorts[j];
            if (count > 1 && sorts[count - 2]->steps == sort->steps) {
                if (!typed(hs_targets[i], sorts[--count - 1], sort)) printf("%s %s: wrong\n", sort->key, sort->value);
                continue;
            }
            const int found = hs_find(hs_targets[i], sort->algorithm, sort->key, sort->value) == sort;
            printf("%s %s %s %s %s\n", hs_targets[i]->name, sort->algorithm, sort->key, sort->value,
                   found ? "found" : "lost");
        }
    puts("");
    call.options = &how;
    while (scanf("%zu %" SCNu64 " %" SCNu64 " %d %d %u %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %d %" SCNu64,
                 &wanted, &call.n, &limit, &call.in_place, &call.device_count, &type, &how.descending, &how.begin_bit,
                 &how.end_bit, &how.discard_keys, &call.number, &call.rows, &call.take) == 13) {
        how.type = (hs_type)type;
        if (wanted < count) print(sorts[wanted], &call, limit);
    }
    return 0;
}
