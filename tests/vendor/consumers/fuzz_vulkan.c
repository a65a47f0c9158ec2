/* Random calls of Vulkan's runtime, over functions that only record; see fuzz.h. */
#include "any_vulkan.h"

enum { FUZZ_SCRATCH = 256, FUZZ_SAME_HANDLE = 0, FUZZ_LEAST_ROOM = 1, FUZZ_WHOLE = 1, FUZZ_WIDE = 0, FUZZ_GRIDS = 1,
       FUZZ_LIMITED = 1 };
#include "fuzz.h"

enum { OBJECTS = 4096, HANDLE = 7000 };

/* Sets keep the written descriptors; pipelines the number of their kernel. */
static struct {
    uint32_t kernel, bindings;
    VkDescriptorBufferInfo ranges[HS_BINDINGS];
} objects[OBJECTS];
static uint32_t object_count, pipeline_kernel;
static long live;

static hs_vulkan *sorter;
static const hs_sort *sorted;
static const fuzz_case *now;
static VkPhysicalDeviceProperties properties;
static unsigned calls, fail_at;
static VkResult fail_code;
static uint32_t bound_pipeline, bound_set, push_bytes;
static unsigned char pushed[8 * HS_BINDINGS + 16];

static int fails(void)
{
    if (++calls != fail_at) return 0;
    fuzz_injected = 1;
    return 1;
}

/* The runtime's allocator. */
void *fake_calloc(size_t count, size_t size);
void *fake_calloc(size_t count, size_t size) { return fails() ? NULL : (calloc)(count, size); }

static uint32_t number(const void *handle) { return (uint32_t)(uintptr_t)handle; }
static void demand(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fake Vulkan: %s\n", what);
    abort();
}

#define CREATE(name, info_type, type)                                                                              \
    static VKAPI_ATTR VkResult VKAPI_CALL name(VkDevice device, const info_type *info,                             \
                                               const VkAllocationCallbacks *callbacks, type *made)                 \
    {                                                                                                              \
        (void)device, (void)callbacks, (void)info;                                                                 \
        if (fails()) return fail_code;                                                                             \
        live++;                                                                                                    \
        *made = (type)(uintptr_t)1;                                                                                \
        return VK_SUCCESS;                                                                                         \
    }
CREATE(create_module, VkShaderModuleCreateInfo, VkShaderModule)
CREATE(create_set_layout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)
CREATE(create_layout, VkPipelineLayoutCreateInfo, VkPipelineLayout)

#define DESTROY(name, type)                                                                                        \
    static VKAPI_ATTR void VKAPI_CALL name(VkDevice device, type handle, const VkAllocationCallbacks *callbacks)   \
    {                                                                                                              \
        (void)device, (void)callbacks;                                                                             \
        demand(handle != VK_NULL_HANDLE && live-- > 0, "nothing is destroyed");                                    \
    }
DESTROY(destroy_module, VkShaderModule)
DESTROY(destroy_set_layout, VkDescriptorSetLayout)
DESTROY(destroy_layout, VkPipelineLayout)
DESTROY(destroy_pipeline, VkPipeline)

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                       const VkComputePipelineCreateInfo *info,
                                                       const VkAllocationCallbacks *callbacks, VkPipeline *made)
{
    (void)device, (void)cache, (void)info, (void)callbacks;
    demand(count == 1, "one pipeline at a time");
    if (fails()) return fail_code;
    live++;
    while (pipeline_kernel < sorted->kernel_count && sorted->kernels[pipeline_kernel].index64) pipeline_kernel++;
    *made = (VkPipeline)(uintptr_t)(1 + pipeline_kernel++); /* one after the other, in the order of the kernels */
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
                                                    VkDescriptorSet *made)
{
    uint32_t i, sets, buffers;
    (void)device;
    if (fails()) return fail_code;
    hs_vulkan_descriptors(sorter, &sets, &buffers);
    demand(info->descriptorSetCount <= sets && fuzz_count == 0, "more sets than were announced, or too late");
    for (i = 0; i < info->descriptorSetCount; i++) made[i] = (VkDescriptorSet)(uintptr_t)(1 + object_count++);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice device, uint32_t count, const VkWriteDescriptorSet *writes,
                                              uint32_t copies, const VkCopyDescriptorSet *copy)
{
    uint32_t i;
    (void)device, (void)copies, (void)copy;
    for (i = 0; i < count; i++) {
        const uint32_t set = number(writes[i].dstSet);
        demand(set && set <= object_count && writes[i].dstBinding < HS_BINDINGS, "a set that is not there");
        objects[set].ranges[writes[i].dstBinding] = *writes[i].pBufferInfo;
    }
}

static VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline)
{
    (void)commands, (void)point;
    bound_pipeline = number(pipeline);
    demand(bound_pipeline != 0, "no pipeline");
}

static VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                            VkPipelineLayout layout, uint32_t first, uint32_t count,
                                            const VkDescriptorSet *sets, uint32_t dynamic, const uint32_t *offsets)
{
    (void)commands, (void)point, (void)layout, (void)first, (void)dynamic, (void)offsets;
    bound_set = number(sets[0]);
    demand(count == 1 && bound_set && bound_set <= object_count, "no set");
}

static VKAPI_ATTR void VKAPI_CALL push_constants(VkCommandBuffer commands, VkPipelineLayout layout,
                                                 VkShaderStageFlags stages, uint32_t offset, uint32_t size,
                                                 const void *values)
{
    (void)commands, (void)layout, (void)stages;
    demand(offset == 0 && size <= sizeof pushed, "push constants");
    memcpy(pushed, values, size);
    push_bytes = size;
}

static VKAPI_ATTR void VKAPI_CALL barriers(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
                                           VkDependencyFlags flags, uint32_t memory_count,
                                           const VkMemoryBarrier *memory, uint32_t buffer_count,
                                           const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                           const VkImageMemoryBarrier *images)
{
    (void)commands, (void)to, (void)flags, (void)memory, (void)buffers, (void)images;
    demand(from && memory_count == 1 && !buffer_count && !image_count, "a barrier");
}

static fuzz_launch *recorded(void)
{
    const VkPhysicalDeviceLimits *limits = &properties.limits;
    fuzz_launch *l = &fuzz_seen[fuzz_count < FUZZ_LAUNCHES ? fuzz_count++ : 0];
    uint32_t i, first[2];
    int32_t numbers[2];
    memset(l, 0, sizeof *l);
    l->kernel = bound_pipeline - 1;
    demand(l->kernel < sorted->kernel_count, "no such kernel");
    l->lanes = sorted->kernels[l->kernel].work_group;
    l->bindings = (push_bytes - 16) / 8;
    for (i = 0; i < l->bindings; i++) {
        const VkDescriptorBufferInfo *range = &objects[bound_set].ranges[i];
        uint32_t role;
        memcpy(first, pushed + 8 * i, 8);
        demand(range->offset % limits->minStorageBufferOffsetAlignment == 0 && range->range &&
                   range->range <= limits->maxStorageBufferRange,
               "a range that the device does not bind");
        l->bound[i].memory = number(range->buffer) - HANDLE;
        /* elements have the type of the kernel's role: the one for which the address is right, if any is */
        for (role = 1; role <= 16; role *= 2) {
            const uint64_t begin = range->offset + (uint64_t)first[0] * role;
            uint32_t k;
            l->bound[i].begin = begin;
            for (k = 0; k < sorted->step_count; k++) {
                const hs_role named = sorted->steps[k].bindings[i].role;
                if (sorted->steps[k].kernel == l->kernel && hs_element(sorted, named) == role) break;
            }
            if (k < sorted->step_count) break;
        }
        l->bound[i].end = range->offset + range->range;
    }
    memcpy(numbers, pushed + 8 * i, 8);
    l->n = (uint64_t)numbers[0];
    l->argument = numbers[1];
    return l;
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z)
{
    fuzz_launch *l = recorded();
    (void)commands;
    demand(z == 1 && x <= properties.limits.maxComputeWorkGroupCount[0], "a grid");
    l->grid[0] = x;
    l->grid[1] = y;
}

static VKAPI_ATTR void VKAPI_CALL dispatch_indirect(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset)
{
    const fuzz_part *scratch = &now->at[HS_SCRATCH];
    (void)commands;
    recorded()->indirect = 1;
    demand(number(buffer) - HANDLE == scratch->memory && offset >= scratch->offset && offset % 4 == 0 &&
               offset + 12 <= scratch->offset + scratch->room,
           "a grid beyond scratch");
}

static VKAPI_ATTR void VKAPI_CALL write_timestamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage,
                                                  VkQueryPool pool, uint32_t query)
{
    (void)commands, (void)stage, (void)pool, (void)query;
    demand(0, "a timestamp that no call asks for");
}

static VKAPI_ATTR void VKAPI_CALL get_base(VkPhysicalDevice device, VkPhysicalDeviceProperties *result)
{
    (void)device;
    *result = properties;
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *result)
{
    VkBaseOutStructure *link = (VkBaseOutStructure *)result->pNext;
    (void)device;
    result->properties = properties;
    for (; link; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
            VkPhysicalDeviceSubgroupProperties *p = (VkPhysicalDeviceSubgroupProperties *)link;
            p->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
            p->supportedOperations = 0xff;
            p->subgroupSize = 32;
        }
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES) {
            VkPhysicalDeviceSubgroupSizeControlProperties *p = (VkPhysicalDeviceSubgroupSizeControlProperties *)link;
            p->minSubgroupSize = 1;
            p->maxSubgroupSize = 128;
            p->maxComputeWorkgroupSubgroups = 1024;
            p->requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *result)
{
    VkBaseOutStructure *link = (VkBaseOutStructure *)result->pNext;
    (void)device;
    result->features.shaderInt64 = VK_TRUE;
    for (; link; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES) {
            ((VkPhysicalDeviceSubgroupSizeControlFeatures *)link)->subgroupSizeControl = VK_TRUE;
            ((VkPhysicalDeviceSubgroupSizeControlFeatures *)link)->computeFullSubgroups = VK_TRUE;
        }
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES)
            ((VkPhysicalDevice8BitStorageFeatures *)link)->storageBuffer8BitAccess = VK_TRUE;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                                VkExtensionProperties *list)
{
    (void)device, (void)layer, (void)list;
    if (fails()) return fail_code;
    *count = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);
static PFN_vkVoidFunction find(const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } all[] = {{"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)get_base},
               {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)get_properties},
               {"vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction)get_features},
               {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)enumerate},
               {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc},
               {"vkCreateShaderModule", (PFN_vkVoidFunction)create_module},
               {"vkDestroyShaderModule", (PFN_vkVoidFunction)destroy_module},
               {"vkCreateDescriptorSetLayout", (PFN_vkVoidFunction)create_set_layout},
               {"vkDestroyDescriptorSetLayout", (PFN_vkVoidFunction)destroy_set_layout},
               {"vkCreatePipelineLayout", (PFN_vkVoidFunction)create_layout},
               {"vkDestroyPipelineLayout", (PFN_vkVoidFunction)destroy_layout},
               {"vkCreateComputePipelines", (PFN_vkVoidFunction)create_pipelines},
               {"vkDestroyPipeline", (PFN_vkVoidFunction)destroy_pipeline},
               {"vkAllocateDescriptorSets", (PFN_vkVoidFunction)allocate_sets},
               {"vkUpdateDescriptorSets", (PFN_vkVoidFunction)update_sets},
               {"vkCmdBindPipeline", (PFN_vkVoidFunction)bind_pipeline},
               {"vkCmdBindDescriptorSets", (PFN_vkVoidFunction)bind_sets},
               {"vkCmdPushConstants", (PFN_vkVoidFunction)push_constants},
               {"vkCmdPipelineBarrier", (PFN_vkVoidFunction)barriers},
               {"vkCmdDispatch", (PFN_vkVoidFunction)dispatch},
               {"vkCmdDispatchIndirect", (PFN_vkVoidFunction)dispatch_indirect},
               {"vkCmdWriteTimestamp", (PFN_vkVoidFunction)write_timestamp}};
    size_t i;
    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].name, name) == 0) return all[i].function;
    return NULL;
}
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name)
{
    (void)device;
    return find(name);
}
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_proc(VkInstance instance, const char *name)
{
    (void)instance;
    return find(name);
}

static hs_vulkan_device device(void)
{
    hs_vulkan_device made;
    memset(&made, 0, sizeof made);
    memset(&properties, 0, sizeof properties);
    properties.apiVersion = VK_API_VERSION_1_3;
    properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    strcpy(properties.deviceName, "fake");
    properties.limits.maxComputeWorkGroupInvocations = properties.limits.maxComputeWorkGroupSize[0] = 1024;
    properties.limits.maxComputeWorkGroupCount[0] = properties.limits.maxComputeWorkGroupCount[1] = 65535;
    properties.limits.maxComputeSharedMemorySize = 65536;
    properties.limits.maxPerStageDescriptorStorageBuffers = HS_BINDINGS;
    properties.limits.maxPushConstantsSize = 128;
    properties.limits.maxStorageBufferRange = UINT32_MAX;
    properties.limits.minStorageBufferOffsetAlignment = 64;
    made.instance = (VkInstance)(uintptr_t)1;
    made.physical = (VkPhysicalDevice)(uintptr_t)2;
    made.device = (VkDevice)(uintptr_t)3;
    made.get_proc = get_proc;
    made.features = UINT32_MAX & ~(uint32_t)HS_VULKAN_ADDRESS;
    return made;
}

static void fuzz_reshape(fuzz_case *c)
{
    uint32_t i;
    for (i = 0; i < HS_ROLES; i++)
        if (!c->at[i].memory) memset(&c->at[i], 0, sizeof c->at[i]);
    fuzz_members(c);
    if (c->columns != 65535) c->columns = 65535; /* the device's own */
    c->rows = 65535;
}

static int fuzz_create(const hs_sort *sort)
{
    hs_vulkan_device where = device();
    VkResult result;
    unsigned k;
    sorted = sort;
    fail_code = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    k = 1 + (unsigned)fuzz_below(60); /* a first one fails somewhere, and leaks nothing */
    calls = 0, fail_at = k, fuzz_injected = 0, pipeline_kernel = 0;
    if (hs_vulkan_create(sort, &where, &sorter, &result) == HS_OK) {
        fuzz_expect(!fuzz_injected, NULL, "a driver's failure is not reported");
        hs_vulkan_release(sorter);
    }
    fuzz_expect(live == 0, NULL, "something is left over");
    fail_at = 0, pipeline_kernel = 0;
    return hs_vulkan_create(sort, &where, &sorter, &result) == HS_OK;
}

static void fuzz_release(void)
{
    hs_vulkan_release(sorter);
    fuzz_expect(live == 0, NULL, "something is left over");
}

static hs_vulkan_buffer buffer(const fuzz_part *part)
{
    hs_vulkan_buffer made;
    memset(&made, 0, sizeof made);
    if (!part->memory) return made;
    made.buffer = (VkBuffer)(uintptr_t)(HANDLE + part->memory);
    made.offset = part->offset;
    made.size = part->room;
    return made;
}


/* A right call with an error specific to Vulkan: no pool, accesses without stages, a misaligned address. */
static void spoil(const fuzz_case *c, any_args args)
{
    hs_vulkan_buffer *const buffers[] = {&args.source, &args.destination, &args.scratch,      &args.values, /* by role */
                                         &args.values_destination, &args.count, &args.other, &args.other_values,
                                         &args.report};
    const hs_role role = (hs_role)fuzz_below(HS_ROLES);
    hs_status status, expected = HS_ERROR_ARGUMENT;
    fuzz_play play;
    if (!fuzz_legal(c, &play) || hs_idle(sorted, c->n)) return;
    switch (fuzz_below(3)) {
    case 0: args.pool = VK_NULL_HANDLE; break;
    case 1:
        args.stages = 0;
        args.accesses = VK_ACCESS_SHADER_WRITE_BIT;
        break;
    default:
        if (!play.given[role] || !(role == HS_SCRATCH ? play.plain : play.bytes[role]) || hs_element(sorted, role) < 2)
            return;
        buffers[role]->address = 2 * fuzz_random() + 1;
        expected = HS_ERROR_ALIGNMENT;
    }
    status = any_entries[c->entry](sorter, (VkCommandBuffer)(uintptr_t)1, &args, NULL);
    fuzz_status = hs_status_text(status);
    fuzz_expect(status == expected || status == HS_ERROR_DEVICE || (!args.pool && !fuzz_count && status == HS_OK), c,
                "what only Vulkan has is not looked at");
    fuzz_expect(fuzz_count == 0, c, "a call that is refused records something");
    fuzz_count = 0;
}

static hs_status fuzz_perform(const fuzz_case *c, unsigned fail)
{
    static const VkResult codes[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_POOL_MEMORY, VK_ERROR_DEVICE_LOST,
                                     VK_ERROR_UNKNOWN};
    any_args args;
    hs_status status;
    VkResult result = VK_ERROR_UNKNOWN;
    memset(&args, 0, sizeof args);
    args.n = c->n;
    args.parts = c->parts;
    args.options = c->options;
    args.source = buffer(&c->at[HS_SOURCE]);
    args.destination = buffer(&c->at[HS_DESTINATION]);
    args.scratch = buffer(&c->at[HS_SCRATCH]);
    args.values = buffer(&c->at[HS_VALUES]);
    args.values_destination = buffer(&c->at[HS_VALUES_OUT]);
    args.count = buffer(&c->at[HS_COUNT]);
    args.other = buffer(&c->at[HS_OTHER_INPUT]);
    args.other_values = buffer(&c->at[HS_OTHER_VALUES]);
    args.report = buffer(&c->at[HS_REPORT]);
    args.pool = (VkDescriptorPool)(uintptr_t)1;
    if (c->n % 2) args.stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
    now = c;
    object_count = 0;
    fail_at = 0;
    if (fuzz_one_in(5)) spoil(c, args);
    object_count = 0;
    calls = 0;
    fail_at = fail ? 1 : 0; /* a call allocates sets once, and no memory */
    fail_code = codes[fail % 4];
    fuzz_injected = 0;
    status = any_entries[c->entry](c->nulls & FUZZ_NO_SORTER ? NULL : sorter,
                               c->nulls & FUZZ_NO_QUEUE ? NULL : (VkCommandBuffer)(uintptr_t)1,
                               c->nulls & FUZZ_NO_ARGS ? NULL : &args, c->nulls & FUZZ_NO_ERROR ? NULL : &result);
    if (!(c->nulls & FUZZ_NO_ERROR))
        fuzz_expect(result == (fuzz_injected ? fail_code : VK_SUCCESS), c, "another code than the driver's");
    fail_at = 0;
    return status;
}

static void fuzz_nulls(void)
{
    hs_vulkan_device where = device();
    const hs_sort *sort = &fuzz_sorts[0], *found = sort;
    hs_vulkan *made = NULL;
    uint32_t i, needed, useful;
    sorted = sort;
    for (i = 0; i < 16; i++) {
        hs_vulkan_device part = where;
        hs_status status;
        if (i & 4) part.device = VK_NULL_HANDLE;
        pipeline_kernel = 0;
        status = hs_vulkan_create(i & 1 ? NULL : sort, i & 2 ? NULL : &part, i & 8 ? NULL : &made, NULL);
        fuzz_expect(status == (i ? HS_ERROR_ARGUMENT : HS_OK), NULL, "hs_vulkan_create");
        if (!(i & 8)) hs_vulkan_release(made);
    }
    for (i = 0; i < 128; i++) {
        hs_vulkan_device part = where;
        hs_status status;
        if (i & 16) part.instance = VK_NULL_HANDLE;
        if (i & 32) part.physical = VK_NULL_HANDLE;
        if (i & 64) part.get_proc = NULL;
        status = hs_vulkan_features(i & 1 ? NULL : sort, i & 2 ? NULL : &part, i & 4 ? NULL : &needed, i & 8 ? NULL : &useful);
        fuzz_expect(status == (i ? HS_ERROR_ARGUMENT : HS_OK), NULL, "hs_vulkan_features");
        status = hs_vulkan_match_kind(i & 1 ? NULL : hs_targets, hs_targets_count, (hs_kind)fuzz_below(7),
                                      i & 2 ? NULL : "u32", i % 3 ? NULL : "v4", i & 4 ? NULL : &part, i & 8 ? NULL : &found);
        fuzz_expect((status == HS_OK) == (i == 0), NULL, "hs_vulkan_match_kind");
    }
    hs_vulkan_descriptors(NULL, &needed, &useful);
    hs_vulkan_descriptors(NULL, NULL, NULL);
    fuzz_expect(needed == 0 && useful == 0 && hs_vulkan_sort_of(NULL) == NULL && live == 0, NULL, "of no sorter");
    hs_vulkan_release(NULL);
}

int main(int argc, char **argv)
{
    static const uint32_t words[6] = {0x07230203};
    static hs_spirv modules[64];
    const size_t count = fuzz_collect();
    size_t i;
    for (i = 0; i < 64; i++) {
        modules[i].words = words;
        modules[i].bytes = sizeof words;
    }
    for (i = 0; i < count; i++) {
        fuzz_sorts[i].spirv = modules;
        fuzz_sorts[i].spirv_address = NULL;
        if (fuzz_sorts[i].kernel_count > 64) return 2;
    }
    return fuzz_main(argc, argv, count);
}
