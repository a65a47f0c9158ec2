/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Which sorts serve given keys and values, and how well a target suits a device; see hs.h. */
#include "hs_internal.h"

#include <string.h>

/* 1 if `value` is one of the names of the sort's values. */
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

/* 1 if a sort is for these keys with these values. */
static int hs_is(const hs_sort *sort, const char *key, const char *value)
{
    if (!hs_is_value(sort, value)) return 0;
    if (strcmp(sort->key, strcmp(key, "bool") == 0 ? "u8" : key) == 0) return 1;
    if (strcmp(key, "bf16") == 0) key = sort->kind == HS_SCAN ? "" : "f16"; /* bf16 has the order of f16 */
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

/* A phrase that names the property by which a target is not for a device; null if the target is for the device. */
static const char *hs_unlike(const hs_match *m, const hs_device *device)
{
    uint32_t i;
    if (m->types && !(m->types & device->type)) return "of another type";
    for (i = 0; i < m->vendor_count && m->vendors[i] != device->vendor;) i++;
    if (m->vendor_count && i == m->vendor_count) return "of other vendors";
    if (m->compute_least && device->compute &&
        (device->compute < m->compute_least || device->compute > m->compute_most))
        return "of another compute capability";
    if (!hs_holds(m->names, m->name_count, device->name)) return "of other names";
    return hs_holds(m->platforms, m->platform_count, device->platform) ? NULL : "of other platforms or drivers";
}

uint32_t hs_suits(const hs_target *target, const hs_device *device)
{
    if (!target || !device) return 0;
    if (!target->match) return 1;
    return hs_unlike(target->match, device) ? 0 : target->match->rank + 2;
}

/* Append `more` to a string in a buffer of `room` bytes, as much as fits. */
static void hs_add(char *text, size_t room, const char *more)
{
    const size_t at = strlen(text), length = strlen(more), left = room - at - 1;
    memcpy(text + at, more, length < left ? length : left);
    text[at + (length < left ? length : left)] = 0;
}

/* Append a list of names in quotes. */
static void hs_add_names(char *text, size_t room, const char *const *names, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++) {
        hs_add(text, room, i ? ", \"" : ": \"");
        hs_add(text, room, names[i]);
        hs_add(text, room, "\"");
    }
}

void hs_explain(const hs_target *target, hs_kind kind, const char *key, const char *value, const hs_device *device,
                char *text, size_t room)
{
    const char *unlike;
    size_t i;
    if (!target || !key || !device || !text || !room) return;
    for (i = 0; i < target->sort_count && !hs_serves_kind(target->sorts[i], kind, key, value);) i++;
    unlike = target->match ? hs_unlike(target->match, device) : NULL;
    if (i < target->sort_count && !unlike) return;
    hs_add(text, room, target->name);
    if (i == target->sort_count) {
        hs_add(text, room, ": has no such operation on ");
        hs_add(text, room, key);
        hs_add(text, room, " keys");
        if (value && strcmp(value, "none") != 0) {
            hs_add(text, room, " with ");
            hs_add(text, room, value);
        }
        hs_add(text, room, " (hsgen generate --key, --value, --algorithm)");
    } else {
        hs_add(text, room, ": is for devices ");
        hs_add(text, room, unlike);
        if (strcmp(unlike, "of other names") == 0)
            hs_add_names(text, room, target->match->names, target->match->name_count);
        if (strcmp(unlike, "of other platforms or drivers") == 0)
            hs_add_names(text, room, target->match->platforms, target->match->platform_count);
    }
    hs_add(text, room, "\n");
}

void hs_reason(const hs_target *target, hs_kind kind, const char *key, const char *value, const hs_device *device,
               char *text, size_t room)
{
    const size_t before = strlen(text);
    hs_explain(target, kind, key, value, device, text, room);
    if (text[before] != 0) return;
    hs_add(text, room, target->name);
    hs_add(text, room, ": its kernels need more than the device has, or are not for this API\n");
}

/* The number of a target's sorts that serve this kind, key and value.  `found`, if not null, gets the sort with number
 * `nth` among these. */
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
