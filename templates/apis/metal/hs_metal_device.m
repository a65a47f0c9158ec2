/* Metal devices: which sorts run on them, and which of these suits a device best. */
#include "hs_metal_internal.h"

#include <string.h>

int hs_metal_runs(const hs_sort *sort, hs_metal_device device)
{
    const uint64_t local = [device maxThreadgroupMemoryLength], lanes = [device maxThreadsPerThreadgroup].width;
    uint32_t i;
    for (i = 0; i < sort->kernel_count; i++)
        if (sort->kernels[i].work_group > lanes || sort->kernels[i].local_bytes > local) return 0;
    return 1;
}

hs_status hs_metal_match(const hs_metal_target *const *targets, size_t count, const char *key, const char *value,
                         hs_metal_device device, const hs_metal_kernels **sort)
{
    return hs_metal_match_kind(targets, count, HS_SORT, key, value, device, sort);
}

/* The properties of a device for hs_suits; its name, which may be null, lives as long as the autorelease pool. */
static hs_device hs_metal_known(hs_metal_device device)
{
    hs_device facts;
    memset(&facts, 0, sizeof facts);
    facts.type = HS_GPU;
    facts.name = [[device name] UTF8String];
    facts.platform = "Metal";
    if (facts.name && strncmp(facts.name, "Apple", 5) == 0) facts.vendor = 0x106b; /* Metal has no vendor numbers */
    return facts;
}

hs_status hs_metal_explain(const hs_metal_target *const *targets, size_t count, hs_kind kind, const char *key,
                           const char *value, hs_metal_device device, char *text, size_t room)
{
    size_t t;
    if (!key || !device || !text || !room || (count && !targets)) return HS_ERROR_ARGUMENT;
    text[0] = 0;
    @autoreleasepool {
        const hs_device facts = hs_metal_known(device);
        if (!facts.name) return HS_ERROR_API;
        for (t = 0; t < count; t++) hs_reason(targets[t]->target, kind, key, value, &facts, text, room);
    }
    return HS_OK;
}

hs_status hs_metal_match_kind(const hs_metal_target *const *targets, size_t count, hs_kind kind, const char *key,
                              const char *value, hs_metal_device device, const hs_metal_kernels **sort)
{
    hs_device facts;
    uint32_t best = 0;
    size_t t, s;
    if (sort) *sort = NULL;
    if (!sort || !key || !device || (count && !targets)) return HS_ERROR_ARGUMENT;
    @autoreleasepool {
        facts = hs_metal_known(device);
        if (!facts.name) return HS_ERROR_API;
        for (t = 0; t < count; t++) {
            const hs_target *target = targets[t]->target;
            const uint32_t suits = hs_suits(target, &facts);
            for (s = 0; suits > best && s < target->sort_count; s++) {
                if (!hs_serves_kind(target->sorts[s], kind, key, value) || !targets[t]->sorts[s]->lines) continue;
                if (!hs_metal_runs(target->sorts[s], device)) continue;
                best = suits;
                *sort = targets[t]->sorts[s];
            }
        }
    }
    return HS_OK;
}
