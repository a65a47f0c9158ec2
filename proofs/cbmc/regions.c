/* Every part of scratch that a launch binds begins within the scratch that the call has checked.

   SORT is a sort of a bundle, and TABLES the file that defines it; the count, the number and the place of the call are
   any.  So are the counts on the device: a launch for the capacity is one for each lesser count. */
#include TABLES

#include "plans.h"

uint64_t nondet_u64(void);
int nondet_int(void);

void prove_regions(void)
{
    const hs_sort *const sort = &SORT;
    const uint64_t n = nondet_u64();
    uint64_t bytes = 0;
    hs_call call = {0};
    call.n = n;
    call.number = nondet_u64();
    call.in_place = nondet_int() & 1;
    call.device_count = sort->device_count ? nondet_int() & 1 : 0;
    __CPROVER_assume(n <= sort->max_n && call.number <= INT32_MAX);
    if (hs_scratch(sort, n, &bytes) != HS_OK) return;
    for (uint32_t i = 0; i < sort->step_count; i++) {
        const hs_step *const step = &sort->steps[i];
        if (!hs_groups(step, &call)) continue;
        for (uint32_t b = 0; b < sort->kernels[step->kernel].bindings; b++)
            __CPROVER_assert(step->bindings[b].role != HS_SCRATCH || hs_offset(&step->bindings[b], n) < bytes,
                             "a part of scratch begins within scratch");
    }
}
