/* Which sorts serve a request, and how well a target suits a device; see hs.h. */
#include "hs/hs_plan.h"

#include <string.h>

/* Whether values of this name are those of a sort. */
static int hs_is_value(const hs_sort *sort, const char *value)
{
    static const struct {
        const char *name, *kind;
        hs_type type;
    } known[] = {{"4", "v4", HS_U32},   {"u32", "v4", HS_U32}, {"i32", "v4", HS_I32}, {"f32", "v4", HS_F32},
                 {"8", "v8", HS_U64},   {"u64", "v8", HS_U64}, {"i64", "v8", HS_I64}, {"f64", "v8", HS_F64},
                 {"16", "v16", HS_U32}, {"v4", "v4", HS_U32},  {"v8", "v8", HS_U64}};
    hs_type type = HS_AS_MATCHED;
    size_t i;
    for (i = 0; value && i < sizeof known / sizeof known[0] && type == HS_AS_MATCHED; i++) {
        if (strcmp(value, known[i].name) != 0) continue;
        value = known[i].kind;
        type = known[i].type;
    }
    if (strcmp(sort->value, value ? value : "none") != 0) return 0;
    return sort->value_type == HS_AS_MATCHED || sort->value_type == type;
}

/* Whether a sort is for these keys with these values. */
static int hs_is(const hs_sort *sort, const char *key, const char *value)
{
    if (!hs_is_value(sort, value)) return 0;
    if (strcmp(sort->key, strcmp(key, "bool") == 0 ? "u8" : key) == 0) return 1;
    if (strcmp(key, "bf16") == 0) key = sort->kind == HS_SCAN ? "" : "f16"; /* whose order it has */
    if (strcmp(sort->key, key) == 0) return 1;
    if (sort->key[0] != 'u' || (key[0] != 'i' && key[0] != 'f') || strcmp(sort->key + 1, key + 1) != 0) return 0;
    if (sort->kind == HS_SCAN) return key[0] == 'i'; /* the same sums */
    return sort->kind == HS_REDUCE_BY_KEY && strcmp(key, "f8") != 0; /* equal keys have equal bits */
}

int hs_serves_kind(const hs_sort *sort, hs_kind kind, const char *key, const char *value)
{
    return sort && key && sort->kind == kind && hs_is(sort, key, value);
}

int hs_serves(const hs_sort *sort, const char *key, const char *value)
{
    return hs_serves_kind(sort, HS_SORT, key, value);
}

const hs_sort *hs_find(const hs_target *target, const char *algorithm, const char *key, const char *value)
{
    size_t i;
    if (!target || !algorithm || !key) return NULL;
    for (i = 0; i < target->sort_count; i++)
        if (strcmp(target->sorts[i]->algorithm, algorithm) == 0 && hs_is(target->sorts[i], key, value))
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
    if (m->compute_least && device->compute &&
        (device->compute < m->compute_least || device->compute > m->compute_most))
        return 0;
    if (!hs_holds(m->names, m->name_count, device->name)) return 0;
    return hs_holds(m->platforms, m->platform_count, device->platform) ? m->rank + 2 : 0;
}

/* The number of sorts of a kind, keys and values that a target has; `found`, if not null, gets the nth. */
static size_t hs_sorts_for(const hs_target *target, hs_kind kind, const char *key, const char *value, size_t nth,
                           const hs_sort **found)
{
    size_t i, count = 0;
    for (i = 0; i < target->sort_count; i++) {
        if (!hs_serves_kind(target->sorts[i], kind, key, value)) continue;
        if (found && count == nth) *found = target->sorts[i];
        count++;
    }
    return count;
}

const hs_sort *hs_candidate_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                                 const char *value, const hs_device *device, size_t nth)
{
    const hs_sort *found = NULL;
    size_t i, j, before;
    if (!targets || !key || !device) return NULL;
    for (i = 0; i < count && !found; i++) {
        const uint32_t score = hs_suits(targets[i], device);
        if (score == 0) continue;
        for (j = 0, before = 0; j < count; j++) {
            const uint32_t other = hs_suits(targets[j], device);
            if (other > score || (other == score && j < i))
                before += hs_sorts_for(targets[j], kind, key, value, 0, NULL);
        }
        if (nth >= before) (void)hs_sorts_for(targets[i], kind, key, value, nth - before, &found);
    }
    return found;
}

const hs_sort *hs_candidate(const hs_target *const *targets, size_t count, const char *key, const char *value,
                            const hs_device *device, size_t nth)
{
    return hs_candidate_kind(targets, count, HS_SORT, key, value, device, nth);
}
