/* SPDX-License-Identifier: MIT-0
 * Prints the sorts of each target of the bundle. */
#include "hs/hs_targets.h"

#include <stdio.h>

int main(void)
{
    size_t t, sorts = 0;
    for (t = 0; t < hs_targets_count; t++) {
        printf("%s: %u sorts\n", hs_targets[t]->name, (unsigned)hs_targets[t]->sort_count);
        sorts += hs_targets[t]->sort_count;
    }
    return sorts == 0;
}
