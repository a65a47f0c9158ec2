/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 0.3.0; do not edit. */
/* What all APIs share; see hs.h. */
#include "hs/hs.h"

#include <string.h>

const char *hs_status_text(hs_status status)
{
    switch (status) {
    case HS_OK: return "success";
    case HS_ERROR_ARGUMENT: return "an argument is null";
    case HS_ERROR_COUNT: return "more keys than the plan sorts or the buffer holds";
    case HS_ERROR_SCRATCH: return "less scratch memory than the sort needs";
    case HS_ERROR_ALIGNMENT: return "an offset is not aligned";
    case HS_ERROR_OVERLAP: return "source and destination overlap";
    case HS_ERROR_KERNELS: return "the sort holds no kernels for this call";
    case HS_ERROR_DEVICE: return "the device lacks what the sort needs";
    case HS_ERROR_BUILD: return "the driver cannot build a kernel";
    case HS_ERROR_HOST_MEMORY: return "out of host memory";
    case HS_ERROR_DEVICE_MEMORY: return "out of device memory";
    case HS_ERROR_DEVICE_LOST: return "the device is lost";
    case HS_ERROR_API: return "the API reported an error";
    }
    return "unknown status";
}

const char *hs_version(void) { return HS_VERSION; }

hs_status hs_describe(const hs_sort *sort, hs_info *info)
{
    uint32_t i;
    if (!sort || !info) return HS_ERROR_ARGUMENT;
    info->target = sort->target;
    info->algorithm = sort->algorithm;
    info->key = sort->key;
    info->key_bytes = sort->key_bytes;
    info->value_bytes = sort->value_bytes;
    info->block = sort->block;
    info->subgroup = 1;
    for (i = 0; i < sort->kernel_count; i++)
        if (sort->kernels[i].subgroup > info->subgroup) info->subgroup = sort->kernels[i].subgroup;
    info->max_n = sort->max_n;
    return HS_OK;
}

hs_status hs_pad(const hs_sort *sort, uint64_t n, uint64_t *source, uint64_t *destination)
{
    if (!sort) return HS_ERROR_ARGUMENT;
    if (n > sort->max_n) return HS_ERROR_COUNT;
    if (source) *source = n;
    if (destination) *destination = n;
    return HS_OK;
}

hs_status hs_scratch(const hs_sort *sort, uint64_t n, uint64_t *bytes)
{
    if (!sort || !bytes) return HS_ERROR_ARGUMENT;
    if (n > sort->max_n) return HS_ERROR_COUNT;
    *bytes = 0;
    if (n > sort->scratch.min_n) {
        const hs_scratch_rule *rule = &sort->scratch;
        const uint64_t whole = n / rule->unit + (n % rule->unit != 0);
        *bytes = rule->plus + rule->per_n * n + rule->per_unit * (whole < rule->units ? whole : rule->units);
    }
    return HS_OK;
}

hs_status hs_outcome_at(const hs_sort *sort, uint64_t n, uint64_t *offset, uint64_t *bytes)
{
    if (!sort || !offset || !bytes) return HS_ERROR_ARGUMENT;
    if (n > sort->max_n) return HS_ERROR_COUNT;
    *offset = *bytes = 0;
    if (n <= sort->outcome.min_n || sort->outcome.words == 0) return HS_OK;
    *offset = hs_offset(&sort->outcome.binding, n);
    *bytes = sizeof(uint32_t) * (uint64_t)sort->outcome.words;
    return HS_OK;
}

hs_status hs_outcome(const hs_sort *sort, const void *words, uint64_t bytes, uint32_t *redone)
{
    uint32_t i, word;
    if (!sort || !redone || (bytes && !words)) return HS_ERROR_ARGUMENT;
    *redone = 0;
    if (bytes == 0) return HS_OK;
    if (bytes != sizeof word * (uint64_t)sort->outcome.words) return HS_ERROR_SCRATCH;
    for (i = 0; i < sort->outcome.words; i++) {
        memcpy(&word, (const char *)words + sizeof word * i, sizeof word);
        *redone += word != 0;
    }
    return HS_OK;
}

const hs_sort *hs_find(const hs_target *target, const char *algorithm, const char *key)
{
    size_t i;
    if (!target || !algorithm || !key) return NULL;
    for (i = 0; i < target->sort_count; i++)
        if (strcmp(target->sorts[i]->algorithm, algorithm) == 0 && strcmp(target->sorts[i]->key, key) == 0)
            return target->sorts[i];
    return NULL;
}

static int hs_holds(const char *const *parts, uint32_t count, const char *text)
{
    uint32_t i;
    if (count == 0) return 1;
    for (i = 0; text && i < count; i++)
        if (strstr(text, parts[i])) return 1;
    return 0;
}

uint32_t hs_suits(const hs_target *target, const hs_device *device)
{
    const hs_match *m;
    uint32_t i;
    if (!target || !device) return 0;
    m = target->match;
    if (!m) return 1;
    if (m->types && !(m->types & device->type)) return 0;
    for (i = 0; i < m->vendor_count && m->vendors[i] != device->vendor;) i++;
    if (m->vendor_count && i == m->vendor_count) return 0;
    if (m->compute_least && device->compute && (device->compute < m->compute_least || device->compute > m->compute_most))
        return 0;
    if (!hs_holds(m->names, m->name_count, device->name)) return 0;
    return hs_holds(m->platforms, m->platform_count, device->platform) ? m->rank + 2 : 0;
}

/* How many sorts of `key` a target has; `found`, if not null, gets the one of number `nth`. */
static size_t hs_sorts_for(const hs_target *target, const char *key, size_t nth, const hs_sort **found)
{
    size_t i, count = 0;
    for (i = 0; i < target->sort_count; i++) {
        if (target->sorts[i]->kind != HS_SORT || strcmp(target->sorts[i]->key, key) != 0) continue;
        if (found && count == nth) *found = target->sorts[i];
        count++;
    }
    return count;
}

const hs_sort *hs_candidate(const hs_target *const *targets, size_t count, const char *key, const hs_device *device,
                            size_t nth)
{
    const hs_sort *found = NULL;
    size_t i, j, before;
    if (!targets || !key || !device) return NULL;
    for (i = 0; i < count && !found; i++) {
        const uint32_t score = hs_suits(targets[i], device);
        if (score == 0) continue;
        for (j = 0, before = 0; j < count; j++) {
            const uint32_t other = hs_suits(targets[j], device);
            if (other > score || (other == score && j < i)) before += hs_sorts_for(targets[j], key, 0, NULL);
        }
        if (nth >= before) (void)hs_sorts_for(targets[i], key, nth - before, &found);
    }
    return found;
}
