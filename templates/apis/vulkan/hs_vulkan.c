/* The operations of hs_vulkan.h.  Each stores its arguments in a record, which it passes to hs_vulkan_run.  The runtime
 * uses names with EXT and KHR, so that Vulkan 1.1 and old headers suffice. */
#include "hs_vulkan_internal.h"

#include <string.h>

/* HSGEN_CALLS */

const hs_sort *hs_vulkan_sort_of(const hs_vulkan *s) { return s ? s->sort : NULL; }

void hs_vulkan_descriptors(const hs_vulkan *s, uint32_t *sets, uint32_t *storage_buffers)
{
    uint32_t first[2] = {0, 0};
    if (s && s->first) hs_vulkan_descriptors(s->first, &first[0], &first[1]);
    if (sets) *sets = !s ? 0 : s->set_count > first[0] ? s->set_count : first[0];
    if (storage_buffers) *storage_buffers = !s ? 0 : s->storage_buffers > first[1] ? s->storage_buffers : first[1];
}

hs_status hs_vulkan_scratch(const hs_vulkan *s, uint64_t n, const hs_options *options, uint64_t *bytes)
{
    uint64_t first = 0;
    hs_status status;
    if (!s || !bytes) return HS_ERROR_ARGUMENT;
    status = hs_scratch_with(s->sort, n, options, bytes);
    if (!status && s->first && n <= s->first->scope.max_n) status = hs_scratch_with(s->first->sort, n, options, &first);
    if (first > *bytes) *bytes = first;
    return status;
}

hs_status hs_vulkan_queries(const hs_vulkan *s, uint64_t n, uint32_t *count)
{
    hs_scope scope;
    uint32_t first;
    if (!s || !count) return HS_ERROR_ARGUMENT;
    *count = 0;
    scope = s->scope;
    if (n && (n < scope.min_n || n > scope.max_n)) return HS_ERROR_SCOPE;
    scope.min_n = scope.max_n = n;
    *count = hs_scope_steps(s->sort, &scope) + 1;
    if (s->first && n <= s->first->scope.max_n && hs_vulkan_queries(s->first, n, &first) == HS_OK && first > *count)
        *count = first;
    return HS_OK;
}
