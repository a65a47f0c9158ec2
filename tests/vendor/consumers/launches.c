/* Reads lines of: sort, n, limit of a grid, whether in place.  Prints for each what the sort asks of scratch and its
 * launches as the runtimes would make them, or why there are none. */
#include "hs/hs_targets.h"

#include <inttypes.h>
#include <stdio.h>

static void print(const hs_sort *sort, uint64_t n, uint64_t limit, int in_place)
{
    uint64_t scratch, offset, bytes;
    uint32_t i, k, grid[2];
    if (hs_scratch(sort, n, &scratch) != HS_OK || hs_outcome_at(sort, n, &offset, &bytes) != HS_OK) {
        puts(hs_pad(sort, n, NULL, NULL) == HS_ERROR_COUNT ? "count" : "error");
        return;
    }
    printf("%" PRIu64 " %" PRIu64 "+%" PRIu64 "|", scratch, offset, bytes);
    for (i = 0; i < sort->step_count; i++) {
        const hs_step *step = &sort->steps[i];
        const uint64_t groups = hs_groups(step, n, in_place);
        if (groups == 0) continue;
        if (!hs_grid(groups, limit, grid)) {
            fputs("grid", stdout);
            break;
        }
        printf("%s %" PRId32 " %" PRIu64 " %" PRIu32 " %" PRIu32, sort->kernels[step->kernel].name, step->argument,
               groups, grid[0], grid[1]);
        for (k = 0; k < sort->kernels[step->kernel].bindings; k++)
            printf(" %d@%" PRIu64, (int)step->bindings[k].role, hs_offset(&step->bindings[k], n));
        fputs(";", stdout);
    }
    puts("");
}

int main(void)
{
    const hs_sort *sorts[256];
    size_t i, j, count = 0, wanted;
    uint64_t n, limit;
    int in_place;
    for (i = 0; i < hs_targets_count; i++)
        for (j = 0; j < hs_targets[i]->sort_count && count < 256; j++) {
            const hs_sort *sort = sorts[count++] = hs_targets[i]->sorts[j];
            const int found = hs_find(hs_targets[i], sort->algorithm, sort->key) == sort;
            printf("%s %s %s %s\n", hs_targets[i]->name, sort->algorithm, sort->key, found ? "found" : "lost");
        }
    puts("");
    while (scanf("%zu %" SCNu64 " %" SCNu64 " %d", &wanted, &n, &limit, &in_place) == 4)
        if (wanted < count) print(sorts[wanted], n, limit, in_place);
    return 0;
}
