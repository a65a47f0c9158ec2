/* Reads lines of: sort, n, limit of a grid, whether in place, whether counted, type, descending, begin, end, discard,
 * parts, whether segments are rows.
 * Prints for each the scratch of the sort and its launches as the runtimes would make them, or the reason for an error.
 * */
#include "hs/hs_plan.h"
#include "hs/hs_targets.h"

#include <inttypes.h>
#include <stdio.h>

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
            const int found = hs_find(hs_targets[i], sort->algorithm, sort->key, sort->value) == sort;
            printf("%s %s %s %s %s\n", hs_targets[i]->name, sort->algorithm, sort->key, sort->value,
                   found ? "found" : "lost");
        }
    puts("");
    call.options = &how;
    while (scanf("%zu %" SCNu64 " %" SCNu64 " %d %d %u %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 " %d",
                 &wanted, &call.n, &limit, &call.in_place, &call.device_count, &type, &how.descending, &how.begin_bit,
                 &how.end_bit, &how.discard_keys, &call.number, &call.rows) == 12) {
        how.type = (hs_type)type;
        if (wanted < count) print(sorts[wanted], &call, limit);
    }
    return 0;
}
