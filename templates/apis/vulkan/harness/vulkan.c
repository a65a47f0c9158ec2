/* The harness of harness.h for Vulkan: sorts, their time, copies. */
#include "hn_vulkan.h"

#include "copy.h"
#include "hs/hs_targets.h"

#include <string.h>

static const char *hn_create(const hs_sort *sort, hs_vulkan_binding binding, hs_vulkan **sorter)
{
    hs_vulkan_create_options options;
    hs_vulkan_device device;
    const char *error;
    uint32_t left = 1;
    VkResult code = VK_SUCCESS;
    memset(&device, 0, sizeof device);
    device.instance = hn.instance;
    device.physical = hn.physical;
    device.device = hn.device;
    device.get_proc = vk.get;
    device.features = hn.features;
    device.binding_limit = hn.binding_limit;
    memset(&options, 0, sizeof options);
    options.binding = binding;
    options.first = hn.first != 0;
    error = hn_status("hs_vulkan_create_with", hs_vulkan_create_with(sort, &device, &options, sorter, &code), code);
    while (!error && hn.first == 2 && left)
        error = hn_status("hs_vulkan_create_next", hs_vulkan_create_next(*sorter, &left, &code), code);
    return error;
}

const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value)
{
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 0};
    VkDescriptorPoolCreateInfo pool;
    const hs_sort *sort = NULL;
    const char *error;
    size_t i;
    if (!hn.device) return "no device is open";
    hn.sorted = 0;
    for (i = 0; i < hs_targets_count && !sort; i++)
        if (strcmp(hs_targets[i]->name, target) == 0) sort = hs_find(hs_targets[i], algorithm, key, value);
    if (!sort) return hn_fail("the bundle has no sort %s/%s_%s of values %s", target, algorithm, key, value);
    hs_vulkan_release(hn.sorter);
    hn.sorter = NULL;
    vk.DestroyDescriptorPool(hn.device, hn.sets, NULL);
    hn.sets = VK_NULL_HANDLE;
    memset(&pool, 0, sizeof pool);
    error = hn_create(sort, hn.binding, &hn.sorter);
    if (error) return error;
    pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
    hs_vulkan_descriptors(hn.sorter, &pool.maxSets, &size.descriptorCount);
    if (!pool.maxSets) pool.maxSets = 1, size.descriptorCount = 2; /* for hn_copy */
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    return hn_code("vkCreateDescriptorPool", vk.CreateDescriptorPool(hn.device, &pool, NULL, &hn.sets));
}

static void hn_tick(uint32_t which)
{
    if (!hn.queries) return;
    if (which == 0) vk.CmdResetQueryPool(hn.commands, hn.queries, 0, 2);
    vk.CmdWriteTimestamp(hn.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, hn.queries, which);
}

static const char *hn_seconds(double *seconds)
{
    uint64_t ticks[2];
    VkResult code;
    *seconds = -1;
    if (!hn.queries) return NULL;
    code = vk.GetQueryPoolResults(hn.device, hn.queries, 0, 2, sizeof ticks, ticks, sizeof ticks[0],
                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (!code) *seconds = (double)((ticks[1] - ticks[0]) & hn.tick_mask) * hn.tick_seconds;
    return hn_code("vkGetQueryPoolResults", code);
}

const char *hn_check_guard(void)
{
    static unsigned char guard[HN_GUARD];
    const char *error;
    if (!hn.unchecked) return NULL;
    hn.unchecked = 0;
    error = hn_move(&hn.scratch, hn.scratch.bytes - HN_GUARD, NULL, guard, HN_GUARD);
    return error || hn_whole(guard) ? error : HN_OVERWRITTEN;
}

const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes)
{
    const char *error = hn_check_guard();
    if (error) return error;
    return hn_is_slot(slot) ? hn_move(&hn.buffers[slot], offset, NULL, data, bytes) : "there is no such buffer";
}

const char *hn_redone(uint32_t *redone)
{
    const hs_sort *sort = hs_vulkan_sort_of(hn.sorter);
    uint32_t words[256];
    uint64_t offset = 0, bytes = 0;
    hs_status status;
    const char *error = hn_check_guard();
    if (!error) error = hn_status("hs_device_status_at", hs_device_status_at(sort, hn.sorted, &offset, &bytes), VK_SUCCESS);
    if (!error && bytes > sizeof words) error = "more words of an outcome than there is room for";
    if (!error && bytes) error = hn_move(&hn.scratch, offset, NULL, words, bytes);
    if (error) return error;
    status = hs_device_status(sort, words, bytes, redone);
    return status == HS_ERROR_SEGMENTS ? NULL : hn_status("hs_device_status", status, VK_SUCCESS);
}

/* Scratch of exactly `bytes` bytes, rounded up to 32-bit words, followed by a guard. */
static const char *hn_prepare(uint64_t bytes)
{
    const uint64_t whole = (bytes + 3) / 4 * 4;
    const int fresh = !hn.scratch.buffer || hn.scratch.bytes != whole + HN_GUARD;
    const char *error = fresh ? hn_check_guard() : NULL;
    if (!error && fresh) error = hn_make(&hn.scratch, whole + HN_GUARD, 0);
    if (!error && (fresh || hn.poison)) {
        error = hn_begin();
        if (error) return error;
        hn_barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
        vk.CmdFillBuffer(hn.commands, hn.scratch.buffer, 0, whole, HN_POISON_BYTE * 0x01010101u);
        if (fresh) vk.CmdFillBuffer(hn.commands, hn.scratch.buffer, whole, HN_GUARD, HN_GUARD_BYTE * 0x01010101u);
        error = hn_finish();
    }
    hn.unchecked = !error;
    return error;
}

const char *hn_sort(const hn_call *call, double *device_seconds)
{
    static const char *const names[] = HN_NAMES("vulkan", "");
    const hs_sort *sort = hs_vulkan_sort_of(hn.sorter);
    const hs_options options = hn_options_of(call);
    const char *error;
    uint64_t scratch = 0;
    VkResult code = VK_SUCCESS;
    hs_status status;
    if (!sort) return "no sort is ready";
    error = hn_status("hs_vulkan_scratch", hs_vulkan_scratch(hn.sorter, call->n, &options, &scratch), code);
    if (!error && scratch) error = hn_prepare(scratch);
    if (!error) error = hn_code("vkResetDescriptorPool", vk.ResetDescriptorPool(hn.device, hn.sets, 0));
    if (!error) error = hn_begin();
    if (error) return error;
    hn.sorted = call->n;
    hn_tick(0);
    status = hn_record(call, scratch, &code);
    error = hn_status(names[sort->kind], status, code);
    hn_tick(1);
    if (error) return error; /* the next hn_begin resets what was recorded */
    error = hn_finish();
    return error ? error : hn_seconds(device_seconds);
}

const char *hn_clock(int on)
{
    (void)on; /* timestamps are always written */
    return NULL;
}

/* A copy as a "sort" of 16-byte keys whose only kernel copies them. */
static const hs_kernel hn_copy_kernels[] = {{"copy", 256, 1, 0, 2, 0, 0, 0}};
static const hs_spirv hn_copy_spirv[] = {{hn_copy_words, sizeof hn_copy_words}};
static const hs_step hn_copy_steps[] = {
    {0, {0, 1u << 30, HS_ANYWHERE, HS_ANY_BITS, 0}, {HS_BY_N, 255, 256, 1, 1u << 30}, {HS_LITERAL, 0, 0, 0},
     {{HS_SOURCE, 0, 0, 0}, {HS_DESTINATION, 0, 0, 0}}}};
static const hs_sort hn_copy_sort = {
    "harness", "copy", "16 bytes", "none", HS_SORT, 1, 16, 0, 0, 128, 0, 0, 0, 0, 256, 0, 65535, 1, 1,
    hn_copy_kernels, hn_copy_steps, 1u << 30,
    NULL, 0, {{HS_SCRATCH, 0, 0, 0}, 0, 0}, NULL, 0, hn_copy_spirv, NULL, 11, 0, 0, NULL};

const char *hn_copy(uint64_t bytes, double *device_seconds)
{
    hs_vulkan_sort_args args;
    VkBufferCopy whole = {0, 0, 0};
    const char *error = NULL;
    VkResult code = VK_SUCCESS;
    hs_status status;
    if (bytes == 0 || bytes > hn.buffers[0].bytes || bytes > hn.buffers[1].bytes) return "the buffers are smaller";
    if (!hn.sorter) return "no sort is ready"; /* its descriptor pool is used */
    if (!hn.copier) error = hn_create(&hn_copy_sort, HS_VULKAN_BY_SET, &hn.copier);
    if (!error) error = hn_code("vkResetDescriptorPool", vk.ResetDescriptorPool(hn.device, hn.sets, 0));
    if (!error) error = hn_begin();
    if (error) return error;
    memset(&args, 0, sizeof args);
    args.n = bytes / 16;
    args.source.buffer = hn.buffers[0].buffer;
    args.destination.buffer = hn.buffers[1].buffer;
    args.source.size = args.destination.size = whole.size = bytes;
    args.pool = hn.sets;
    args.stages = HN_STAGES;
    args.accesses = HN_ACCESSES;
    hn_tick(0);
    status = hs_vulkan_sort(hn.copier, hn.commands, &args, &code);
    if (status == HS_ERROR_DEVICE) { /* larger than the limit of one binding */
        hn_barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        vk.CmdCopyBuffer(hn.commands, hn.buffers[0].buffer, hn.buffers[1].buffer, 1, &whole);
        status = HS_OK;
    }
    hn_tick(1);
    error = hn_status("hs_vulkan_sort", status, code);
    if (!error) error = hn_finish();
    return error ? error : hn_seconds(device_seconds);
}
