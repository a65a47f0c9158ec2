/* Reads lines of: sort, n, limit of a grid.  Prints for each the sort's launches as the runtimes would make them, or
 * why there are none. */
#include "hs/hs_targets.h"

#include <inttypes.h>
#include <stdio.h>

static void print(const hs_sort *sort, uint64_t n, uint64_t limit)
{
    uint32_t i, grid[2];
    if (hs_pad(sort, n, NULL, NULL) != HS_OK) {
        puts("count");
        return;
    }
    for (i = 0; i < sort->step_count; i++) {
        const hs_step *step = &sort->steps[i];
        const uint64_t groups = hs_groups(step, n);
        if (groups == 0) continue;
        if (!hs_grid(groups, limit, grid)) {
            fputs("grid", stdout);
            break;
        }
        printf("%s %" PRId32 " %" PRIu64 " %" PRIu32 " %" PRIu32 ";", sort->kernels[step->kernel].name, step->argument,
               groups, grid[0], grid[1]);
    }
    puts("");
}

int main(void)
{
    const hs_sort *sorts[64];
    size_t i, j, count = 0, wanted;
    uint64_t n, limit;
    for (i = 0; i < hs_targets_count; i++)
        for (j = 0; j < hs_targets[i]->sort_count && count < 64; j++) {
            sorts[count++] = hs_targets[i]->sorts[j];
            printf("%s %s\n", hs_targets[i]->name, sorts[count - 1]->key);
        }
    puts("");
    while (scanf("%zu %" SCNu64 " %" SCNu64, &wanted, &n, &limit) == 3)
        if (wanted < count) print(sorts[wanted], n, limit);
    return 0;
}
