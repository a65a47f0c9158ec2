/* The launches of a call for hosts that run HLSL, and texts of kernels. */
#include "hs/hs_hlsl.h"
#include "hs_internal.h"

#include <string.h>

int hs_hlsl_step(const hs_sort *sort, uint32_t step, const hs_call *call, const hs_span spans[HS_ROLES],
                 hs_hlsl_launch *launch)
{
    const hs_step *row = &sort->steps[step];
    int32_t argument, numbers[2] = {0, 0};
    uint32_t k, at;
    const int runs = hs_launch(sort, row, call, HS_HLSL_GROUPS, HS_HLSL_GROUPS, launch->grid, &argument);
    if (runs <= 0) return runs;
    if (sort->kernels[row->kernel].index64) return -1;
    launch->kernel = row->kernel;
    launch->bindings = at = sort->kernels[row->kernel].bindings;
    for (k = 0; k < at; k++) {
        const hs_binding *binding = &row->bindings[k];
        const hs_span *span = &spans[binding->role];
        const uint64_t begin = span->begin + hs_offset(binding, call->n);
        if (begin > UINT32_MAX || span->begin + span->bytes > (uint64_t)UINT32_MAX + 1) return -1;
        launch->roles[k] = span->from;
        launch->constants[k] = (uint32_t)begin;
    }
    if (hs_has_numbers(sort)) hs_numbers(sort, row, call, numbers);
    launch->constants[at++] = (uint32_t)hs_bound(call->n);
    launch->constants[at++] = (uint32_t)argument;
    launch->constants[at++] = (uint32_t)numbers[0];
    launch->constants[at++] = (uint32_t)numbers[1];
    launch->constants[at++] = launch->grid[0];
    launch->constant_count = at;
    return 1;
}

int hs_hlsl_runs(const hs_sort *sort, uint32_t lanes)
{
    uint32_t i;
    for (i = 0; i < sort->kernel_count; i++)
        if (sort->kernels[i].subgroup > 1 && (!lanes || lanes % sort->kernels[i].subgroup)) return 0;
    return 1;
}

const hs_hlsl_kernels *hs_hlsl_match(const hs_hlsl_target *const *targets, size_t count, const char *key,
                                     const char *value, const hs_device *device, uint32_t lanes)
{
    const hs_hlsl_kernels *best = NULL;
    uint32_t suits = 0;
    size_t i, k;
    for (i = 0; i < count; i++) {
        const uint32_t own = hs_suits(targets[i]->target, device);
        for (k = 0; own > suits && k < targets[i]->target->sort_count; k++) {
            const hs_hlsl_kernels *one = targets[i]->sorts[k];
            if (!hs_serves(one->sort, key, value) || !hs_hlsl_runs(one->sort, lanes)) continue;
            best = one;
            suits = own;
        }
    }
    return best;
}

size_t hs_hlsl_text(const hs_hlsl_kernels *kernels, char *text)
{
    size_t i, bytes = 0;
    for (i = 0; i < kernels->line_count; i++) {
        const size_t length = strlen(kernels->lines[i]);
        if (text) memcpy(text + bytes, kernels->lines[i], length);
        bytes += length;
    }
    if (text) text[bytes] = 0;
    return bytes + 1;
}
