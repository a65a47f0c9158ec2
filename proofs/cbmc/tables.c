/* Checks every sort of generated/: its tables are within the bounds of plans.h. */
#include "plans.h"

#include <stdio.h>

#include "hs/hs_targets.h"

static int bad;

static void check(const hs_sort *s, int holds, const char *what, uint32_t i)
{
    if (holds) return;
    printf("%s %s %s %s: %s %u is beyond proofs/cbmc/plans.h\n", s->target, s->algorithm, s->key, s->value, what, i);
    bad = 1;
}

int main(void)
{
    uint32_t sorts = 0, steps = 0;
    for (size_t t = 0; t < hs_targets_count; t++)
        for (size_t k = 0; k < hs_targets[t]->sort_count; k++) {
            const hs_sort *s = hs_targets[t]->sorts[k];
            check(s, sort_within(s), "sort", 0);
            for (uint32_t i = 0; i < s->scratch_rule_count; i++) check(s, rule_within(&s->scratch[i]), "rule", i);
            for (uint32_t i = 0; i < s->step_count; i++) {
                const hs_step *step = &s->steps[i];
                check(s, guard_within(&step->guard), "guard of step", i);
                check(s, grid_within(&step->grid), "grid of step", i);
                check(s, argument_within(&step->argument), "argument of step", i);
                check(s, step->kernel < s->kernel_count && s->kernels[step->kernel].bindings <= HS_BINDINGS, "kernel of step", i);
                for (uint32_t b = 0; b < HS_BINDINGS; b++) check(s, binding_within(&step->bindings[b]), "binding of step", i);
            }
            sorts++;
            steps += s->step_count;
        }
    printf("%u sorts, %u steps\n", sorts, steps);
    return bad;
}
