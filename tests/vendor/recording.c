/* The commands that any_sort records, checked without a Vulkan driver, on a table of fake functions.
 *
 *     cc -std=c99 -Iinclude [-Dcalloc=fake_calloc] recording.c src/hs.c src/hs_vulkan.c <the bundle's targets>
 *
 * The sorts are those of the first target with SPIR-V, and synthetic ones.  With calloc replaced, the runtime's own
 * allocations fail in turn as well.  Exit code 0: success; 1: an error; 2: wrong usage.  `drop K` forgets barrier K of
 * each sort: then 1 says that every sort with at least that number of barriers was found wrong, and 0 that one was not.
 * */
#include "hs/hs_plan.h"
#include "hs/hs_targets.h"
#include "consumers/any_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 4096, EVENTS = 4096, SOURCE_BUFFER = 7001, OTHER_BUFFER = 7002, SCRATCH_BUFFER = 7003,
       VALUES_BUFFER = 7004, VALUES_OUT_BUFFER = 7005, COUNT_BUFFER = 7006, INPUT_BUFFER = 7007,
       INPUT_VALUES_BUFFER = 7008, REPORT_BUFFER = 7009, POOL = 7100, QUERIES = 7200 };
enum kind { NOTHING, MODULE, SET_LAYOUT, LAYOUT, PIPELINE, SET };
enum event_kind { BARRIER, BIND_PIPELINE, BIND_SET, PUSH, STAMP, DISPATCH, INDIRECT };

typedef struct object {
    enum kind kind;
    uint64_t words;                             /* a hash of those of a module, or of a pipeline's */
    uint32_t bindings, push, sets, layout, width; /* layout: an object's number; width: the required one, or 0 */
    int pushed;                                 /* a layout of push descriptors */
    VkDescriptorBufferInfo ranges[HS_BINDINGS]; /* of a set */
} object;

typedef struct event {
    enum event_kind kind;
    uint32_t object, layout, size, grid[3];
    VkPipelineStageFlags from, to;
    VkAccessFlags wrote, next;
    uint64_t offset; /* of the grid in the buffer `object`, if it is indirect */
    unsigned char push[8 * HS_BINDINGS + 16];
} event;

static object objects[OBJECTS];
static event events[EVENTS];
static uint32_t object_count, live, event_count, barrier_count, drop;
static uint32_t calls, fail_call; /* calls that can fail, and the first that does */
static int fail_on;               /* whether all later ones fail */
static VkResult fail_code;
static const char *missing;
static int errors, checks;
static const char *context = "";
static uint64_t context_n;

/* The fake device. */
static VkPhysicalDeviceProperties properties;
static VkPhysicalDeviceSubgroupProperties subgroup;
static VkPhysicalDeviceSubgroupSizeControlProperties control;
static VkBool32 has_int64, has_control, has_address, has_storage8, has_storage16;
static int has_push; /* push descriptors: 1 by the extension's name, 2 by that of Vulkan 1.4 */
static uint32_t allocations;

static int check(int good, const char *what)
{
    checks++;
    if (good) return 1;
    if (errors++ < 10 && !drop) fprintf(stderr, "%s, n = %llu: %s\n", context, (unsigned long long)context_n, what);
    return 0;
}

static int fails(void) { return ++calls == fail_call || (fail_on && fail_call && calls > fail_call); }

#ifdef calloc
void *calloc(size_t count, size_t size)
{
    allocations++;
    void *memory = fails() && fail_code == VK_ERROR_OUT_OF_HOST_MEMORY ? NULL : malloc(count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}
#endif

static uint32_t number(const void *handle) { return (uint32_t)(uintptr_t)handle; }

static object *known(uint32_t handle, enum kind kind)
{
    check(handle > 0 && handle <= object_count && objects[handle].kind == kind, "a handle that is not alive");
    return &objects[handle <= object_count ? handle : 0];
}

static object *make(enum kind kind)
{
    object *made = &objects[++object_count];
    memset(made, 0, sizeof *made);
    made->kind = kind;
    if (kind != SET) live++;
    return made;
}

static void destroy(uint32_t handle, enum kind kind)
{
    known(handle, kind)->kind = NOTHING;
    live--;
}

/* FNV-1a */
static uint64_t hash_of(const uint32_t *words, size_t bytes)
{
    uint64_t hash = 14695981039346656037u;
    size_t i;
    for (i = 0; i < bytes / 4; i++) hash = (hash ^ words[i]) * 1099511628211u;
    return hash;
}

/* The difference, modulo 2^32, that a number stands for: 0, -1, 1, -2, ... */
static uint32_t signed_of(uint32_t number) { return number % 2 ? ~(number / 2) : number / 2; }

/* The hash of a module of a table, whose text is read here once more: all characters of its strings in a row. */
static uint64_t module_hash(const hs_spirv *module)
{
    static uint32_t numbers[1 << 18], words[1 << 18];
    static struct { const char *const *text; uint64_t hash; } known_hashes[1024];
    const size_t slot = (uintptr_t)module->text / sizeof *module->text % 1024;
    static uint32_t latest[1024]; /* where the last instruction of each kind is */
    uint32_t count = 0, made = 0, kinds = 0, scale = 1, k, i;
    const char *const *text;
    const char *c;
    if (module->words) return hash_of(module->words, module->bytes);
    if (known_hashes[slot].text == module->text) return known_hashes[slot].hash;
    numbers[0] = 0;
    for (text = module->text; *text; text++)
        for (c = *text; *c; c++) {
            const uint32_t digit = (uint32_t)(*c - 35) - (*c > 63) - (*c > 92); /* no '?', no backslash */
            numbers[count] += digit * scale;
            scale *= 18;
            if (digit >= 72) continue;
            scale = 1;
            if (!check(++count < 1 << 18, "a module is too large for this test")) return 0;
            numbers[count] = 0;
        }
    for (i = 0; i < 5; i++) words[made++] = signed_of(numbers[i]);
    while (i < count) {
        const uint32_t kind = numbers[i++], start = made, known = kind < kinds, last = known ? latest[kind] : 0;
        if (!known) {
            if (!check(kind == kinds++ && kinds < 128, "kinds are numbered in order")) return 0;
            words[made++] = numbers[i] << 16 | numbers[i + 1];
            i += 2;
        } else
            words[made++] = words[last];
        for (k = 1; k < words[start] >> 16; k++) words[made++] = (known ? words[last + k] : 0) + signed_of(numbers[i++]);
        latest[kind] = start;
    }
    check(made * 4 == module->bytes, "the size of a module");
    known_hashes[slot].text = module->text;
    known_hashes[slot].hash = hash_of(words, module->bytes);
    return known_hashes[slot].hash;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkShaderModule *result)
{
    (void)device, (void)allocator;
    if (fails()) return fail_code;
    make(MODULE)->words = hash_of(info->pCode, info->codeSize);
    check(info->codeSize > 20 && info->codeSize % 4 == 0 && info->pCode[0] == 0x07230203, "no SPIR-V");
    *result = (VkShaderModule)(uintptr_t)object_count;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_set_layout(VkDevice device, const VkDescriptorSetLayoutCreateInfo *info,
                                                        const VkAllocationCallbacks *allocator,
                                                        VkDescriptorSetLayout *result)
{
    (void)device, (void)allocator;
    if (fails()) return fail_code;
    make(SET_LAYOUT)->bindings = info->bindingCount;
    objects[object_count].pushed = info->flags == VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
    check(info->flags == 0 || objects[object_count].pushed, "flags of a set layout");
    *result = (VkDescriptorSetLayout)(uintptr_t)object_count;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_layout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkPipelineLayout *result)
{
    uint32_t bindings = 0;
    int pushed = 0;
    object *made;
    (void)device, (void)allocator;
    if (fails()) return fail_code;
    if (info->setLayoutCount) bindings = known(number(info->pSetLayouts[0]), SET_LAYOUT)->bindings;
    if (info->setLayoutCount) pushed = known(number(info->pSetLayouts[0]), SET_LAYOUT)->pushed;
    made = make(LAYOUT);
    made->bindings = bindings;
    made->pushed = pushed;
    made->sets = info->setLayoutCount;
    check(info->pushConstantRangeCount == 1 && info->pPushConstantRanges[0].offset == 0, "push constants");
    made->push = info->pPushConstantRanges[0].size;
    *result = (VkPipelineLayout)(uintptr_t)object_count;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                       const VkComputePipelineCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator, VkPipeline *result)
{
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *width;
    uint64_t words;
    object *made;
    (void)device, (void)cache, (void)allocator;
    check(count == 1 && strcmp(info->stage.pName, "main") == 0, "one pipeline of main at a time");
    words = known(number(info->stage.module), MODULE)->words;
    known(number(info->layout), LAYOUT);
    if (fails()) return fail_code;
    width = (const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *)info->stage.pNext;
    made = make(PIPELINE);
    made->words = words;
    made->layout = number(info->layout);
    made->width = width ? width->requiredSubgroupSize : 0;
    check((width != NULL) == (info->stage.flags == VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT),
          "a required width goes with full subgroups");
    *result = (VkPipeline)(uintptr_t)object_count;
    return VK_SUCCESS;
}

#define DESTROY(name, type, kind)                                                                                     \
    static VKAPI_ATTR void VKAPI_CALL name(VkDevice device, type handle, const VkAllocationCallbacks *allocator)      \
    {                                                                                                                 \
        (void)device, (void)allocator;                                                                                \
        destroy(number(handle), kind);                                                                                \
    }
DESTROY(destroy_module, VkShaderModule, MODULE)
DESTROY(destroy_set_layout, VkDescriptorSetLayout, SET_LAYOUT)
DESTROY(destroy_layout, VkPipelineLayout, LAYOUT)
DESTROY(destroy_pipeline, VkPipeline, PIPELINE)

static VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
                                                    VkDescriptorSet *result)
{
    uint32_t i;
    (void)device;
    check(number(info->descriptorPool) == POOL && event_count == 0, "sets are allocated before anything is recorded");
    if (fails()) return fail_code;
    for (i = 0; i < info->descriptorSetCount; i++) {
        const uint32_t bindings = known(number(info->pSetLayouts[i]), SET_LAYOUT)->bindings;
        check(!known(number(info->pSetLayouts[i]), SET_LAYOUT)->pushed, "a set of push descriptors");
        make(SET)->bindings = bindings;
        result[i] = (VkDescriptorSet)(uintptr_t)object_count;
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice device, uint32_t count, const VkWriteDescriptorSet *writes,
                                              uint32_t copies, const VkCopyDescriptorSet *copy)
{
    uint32_t i;
    (void)device, (void)copies, (void)copy;
    for (i = 0; i < count; i++) {
        object *set = known(number(writes[i].dstSet), SET);
        check(writes[i].descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER && writes[i].descriptorCount == 1 &&
                  writes[i].dstBinding < set->bindings,
              "a descriptor");
        set->ranges[writes[i].dstBinding % HS_BINDINGS] = *writes[i].pBufferInfo;
    }
}

static event *record(enum event_kind kind)
{
    static event beyond;
    event *one = event_count < EVENTS ? &events[event_count++] : &beyond;
    memset(one, 0, sizeof *one);
    one->kind = kind;
    return one;
}

static VKAPI_ATTR void VKAPI_CALL bind_pipeline(VkCommandBuffer commands, VkPipelineBindPoint point,
                                                VkPipeline pipeline)
{
    (void)commands;
    check(point == VK_PIPELINE_BIND_POINT_COMPUTE, "the bind point");
    record(BIND_PIPELINE)->object = number(pipeline);
}

static VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                            VkPipelineLayout layout, uint32_t first, uint32_t count,
                                            const VkDescriptorSet *sets, uint32_t dynamic, const uint32_t *offsets)
{
    event *one = record(BIND_SET);
    (void)commands, (void)offsets;
    check(point == VK_PIPELINE_BIND_POINT_COMPUTE && first == 0 && count == 1 && dynamic == 0, "set 0 is bound");
    one->object = number(sets[0]);
    one->layout = number(layout);
}

static VKAPI_ATTR void VKAPI_CALL push_set(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,
                                           uint32_t first, uint32_t count, const VkWriteDescriptorSet *writes)
{
    object *set = make(SET);
    const uint32_t handle = object_count;
    event *one = record(BIND_SET);
    uint32_t i;
    (void)commands;
    check(point == VK_PIPELINE_BIND_POINT_COMPUTE && first == 0, "set 0 is pushed");
    check(known(number(layout), LAYOUT)->pushed && known(number(layout), LAYOUT)->bindings == count, "all are pushed");
    for (i = 0; i < count; i++) {
        check(writes[i].descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER && writes[i].descriptorCount == 1 &&
                  writes[i].dstBinding == i,
              "a descriptor");
        set->ranges[i] = *writes[i].pBufferInfo;
    }
    one->object = handle;
    one->layout = number(layout);
}

static VKAPI_ATTR void VKAPI_CALL write_timestamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage,
                                                  VkQueryPool pool, uint32_t query)
{
    event *one = record(STAMP);
    (void)commands;
    check(stage == VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT && number(pool) == QUERIES, "a timestamp");
    one->object = query;
}

static VKAPI_ATTR void VKAPI_CALL push_constants(VkCommandBuffer commands, VkPipelineLayout layout,
                                                 VkShaderStageFlags stages, uint32_t offset, uint32_t size,
                                                 const void *values)
{
    event *one = record(PUSH);
    (void)commands;
    check(stages == VK_SHADER_STAGE_COMPUTE_BIT && offset == 0 && size <= sizeof one->push, "push constants");
    one->layout = number(layout);
    one->size = size;
    memcpy(one->push, values, size <= sizeof one->push ? size : 0);
}

static VKAPI_ATTR void VKAPI_CALL barriers(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
                                           VkDependencyFlags flags, uint32_t memory_count,
                                           const VkMemoryBarrier *memory, uint32_t buffer_count,
                                           const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                           const VkImageMemoryBarrier *images)
{
    event *one;
    (void)commands, (void)flags, (void)buffers, (void)images;
    if (++barrier_count == drop) return;
    check(from != 0 && memory_count == 1 && buffer_count == 0 && image_count == 0, "one memory barrier");
    one = record(BARRIER);
    one->from = from;
    one->to = to;
    one->wrote = memory->srcAccessMask;
    one->next = memory->dstAccessMask;
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z)
{
    event *one = record(DISPATCH);
    (void)commands;
    one->grid[0] = x;
    one->grid[1] = y;
    one->grid[2] = z;
}

static VKAPI_ATTR void VKAPI_CALL dispatch_indirect(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset)
{
    event *one = record(INDIRECT);
    (void)commands;
    one->object = number(buffer);
    one->offset = offset;
}

static VKAPI_ATTR void VKAPI_CALL get_base(VkPhysicalDevice device, VkPhysicalDeviceProperties *result)
{
    (void)device;
    *result = properties;
}

/* Copy a structure of the device over one of a chain, except its head. */
#define FILL(type, from)                                                                                              \
    {                                                                                                                 \
        type *to = (type *)link;                                                                                      \
        void *next = to->pNext;                                                                                       \
        const VkStructureType s = to->sType;                                                                          \
        *to = from;                                                                                                   \
        to->sType = s;                                                                                                \
        to->pNext = next;                                                                                             \
    }

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *result)
{
    VkBaseOutStructure *link = (VkBaseOutStructure *)result->pNext;
    (void)device;
    result->properties = properties;
    for (; link; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
            FILL(VkPhysicalDeviceSubgroupProperties, subgroup)
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES)
            FILL(VkPhysicalDeviceSubgroupSizeControlProperties, control)
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *result)
{
    VkBaseOutStructure *link = (VkBaseOutStructure *)result->pNext;
    (void)device;
    result->features.shaderInt64 = has_int64;
    for (; link; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES) {
            ((VkPhysicalDeviceSubgroupSizeControlFeatures *)link)->subgroupSizeControl = has_control;
            ((VkPhysicalDeviceSubgroupSizeControlFeatures *)link)->computeFullSubgroups = has_control;
        }
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
            ((VkPhysicalDeviceBufferDeviceAddressFeatures *)link)->bufferDeviceAddress = has_address;
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES)
            ((VkPhysicalDevice8BitStorageFeatures *)link)->storageBuffer8BitAccess = has_storage8;
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES)
            ((VkPhysicalDevice16BitStorageFeatures *)link)->storageBuffer16BitAccess = has_storage16;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                                VkExtensionProperties *list)
{
    (void)device, (void)layer;
    if (fails()) return fail_code;
    if (list) strcpy(list[0].extensionName, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    *count = 1;
    return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice device, const char *name);

static PFN_vkVoidFunction find(const char *name)
{
#define IS(text, function) \
    if (strcmp(name, text) == 0) return (PFN_vkVoidFunction)function;
    if (missing && strcmp(name, missing) == 0) return NULL;
    IS("vkGetPhysicalDeviceProperties", get_base)
    IS("vkGetPhysicalDeviceProperties2", get_properties)
    IS("vkGetPhysicalDeviceFeatures2", get_features)
    IS("vkEnumerateDeviceExtensionProperties", enumerate)
    IS("vkGetDeviceProcAddr", get_device_proc)
    IS("vkCreateShaderModule", create_module)
    IS("vkDestroyShaderModule", destroy_module)
    IS("vkCreateDescriptorSetLayout", create_set_layout)
    IS("vkDestroyDescriptorSetLayout", destroy_set_layout)
    IS("vkCreatePipelineLayout", create_layout)
    IS("vkDestroyPipelineLayout", destroy_layout)
    IS("vkCreateComputePipelines", create_pipelines)
    IS("vkDestroyPipeline", destroy_pipeline)
    IS("vkAllocateDescriptorSets", allocate_sets)
    IS("vkUpdateDescriptorSets", update_sets)
    IS("vkCmdBindPipeline", bind_pipeline)
    IS("vkCmdBindDescriptorSets", bind_sets)
    IS("vkCmdPushConstants", push_constants)
    IS("vkCmdPipelineBarrier", barriers)
    IS("vkCmdDispatch", dispatch)
    IS("vkCmdDispatchIndirect", dispatch_indirect)
    IS("vkCmdWriteTimestamp", write_timestamp)
    if (has_push == 1) IS("vkCmdPushDescriptorSetKHR", push_set)
    if (has_push == 2) IS("vkCmdPushDescriptorSet", push_set)
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

enum { BASIC_OPERATIONS = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT };

/* A device on which everything runs. */
static hs_vulkan_device fresh(uint32_t width)
{
    hs_vulkan_device device;
    memset(&device, 0, sizeof device);
    memset(&properties, 0, sizeof properties);
    memset(&subgroup, 0, sizeof subgroup);
    memset(&control, 0, sizeof control);
    memset(objects, 0, sizeof objects);
    has_push = 0;
    object_count = live = event_count = barrier_count = calls = fail_call = 0;
    fail_on = 0;
    missing = NULL;
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
    subgroup.supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
    subgroup.supportedOperations = BASIC_OPERATIONS | VK_SUBGROUP_FEATURE_BALLOT_BIT;
    subgroup.subgroupSize = 2 * width;
    control.minSubgroupSize = 1;
    control.maxSubgroupSize = 128;
    control.maxComputeWorkgroupSubgroups = 1024;
    control.requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
    has_int64 = has_control = has_address = has_storage8 = has_storage16 = VK_TRUE;
    device.instance = (VkInstance)(uintptr_t)1;
    device.physical = (VkPhysicalDevice)(uintptr_t)2;
    device.device = (VkDevice)(uintptr_t)3;
    device.get_proc = get_proc;
    device.features = HS_VULKAN_INT64 | HS_VULKAN_SUBGROUP_SIZE | HS_VULKAN_ADDRESS | HS_VULKAN_STORAGE8 |
                      HS_VULKAN_STORAGE16;
    return device;
}

static VkCommandBuffer commands(void) { return (VkCommandBuffer)(uintptr_t)4; }


/* Call a sort by the entry point of its kind. */
static hs_status perform(const hs_sort *sort, const hs_vulkan *sorter, const any_args *args, VkResult *result)
{
    return any_entries[sort->kind](sorter, commands(), args, result);
}

/* How the sorters of the sweeps are created, and whether their calls write timestamps. */
static hs_vulkan_create_options how;
static int stamps;

/* A complete sorter; pipelines of a deferred one are made in turn, or from the last to the first. */
static hs_status complete(const hs_sort *sort, const hs_vulkan_device *device, hs_vulkan **sorter, VkResult *result)
{
    hs_status status = hs_vulkan_create_with(sort, device, &how, sorter, result);
    uint32_t left = 1, i = hs_vulkan_pipeline_count(*sorter);
    while (how.deferred == 1 && !status && i && left) {
        status = hs_vulkan_create_next(*sorter, &left, result);
        check(status || left == --i, "the number of missing pipelines");
    }
    while (how.deferred == 2 && !status && i) status = hs_vulkan_create_pipeline(*sorter, --i, result);
    if (status) {
        hs_vulkan_release(*sorter);
        *sorter = NULL;
    }
    return status;
}

static uint64_t scratch_of(const hs_sort *sort, uint64_t n)
{
    uint64_t bytes = 0;
    check(hs_scratch(sort, n, &bytes) == HS_OK, "scratch");
    return bytes;
}

/* A buffer of a number of elements; null if the number is 0. */
static hs_vulkan_buffer of_elements(uint32_t which, uint64_t count, uint64_t bytes, uint64_t first)
{
    hs_vulkan_buffer made;
    memset(&made, 0, sizeof made);
    if (count == 0) return made;
    made.buffer = (VkBuffer)(uintptr_t)which;
    made.offset = bytes * first;
    made.size = bytes * count;
    made.address = (uint64_t)(2 * (which - SOURCE_BUFFER) + 1) << 40;
    return made;
}

/* Whether a sort writes a report. */
static int reports(const hs_sort *sort) { return sort->steps[0].bindings[0].role == HS_REPORT; }

/* The buffers of other kinds; either array of a merge may be empty, segments may lack offsets. */
static void more_arguments(const hs_sort *sort, any_args *args)
{
    const uint64_t n = args->n, value = sort->value_bytes;
    if (sort->kind == HS_MERGE) {
        args->parts = n % 4 < 2 ? n * (n % 4) : n / 3;
        args->source = of_elements(SOURCE_BUFFER, args->parts, sort->key_bytes, n % 67);
        args->other = of_elements(INPUT_BUFFER, n - args->parts, sort->key_bytes, n % 11);
        args->destination = of_elements(OTHER_BUFFER, n, sort->key_bytes, n % 13);
        args->values = of_elements(VALUES_BUFFER, value ? args->parts : 0, value, n % 5);
        args->other_values = of_elements(INPUT_VALUES_BUFFER, value ? n - args->parts : 0, value, n % 3);
        args->values_destination = of_elements(VALUES_OUT_BUFFER, value ? n : 0, value, n % 7);
    } else if (sort->kind == HS_SEGMENTED_SORT) {
        args->parts = n % 3 ? n % 50 : n % 2 ? n / 3 : 1;
        args->other = of_elements(INPUT_BUFFER, n % 3 ? args->parts + 1 : 0, 4, n % 11);
    } else if (sort->kind == HS_DIGEST) {
        args->parts = n % 3 ? 0 : n + 20;
        args->source = of_elements(SOURCE_BUFFER, n % 3 ? n : n + 20, sort->key_bytes, n % 67);
        memset(&args->destination, 0, sizeof args->destination);
        args->report = of_elements(REPORT_BUFFER, 8, 4, n % 3);
    } else if (reports(sort)) {
        args->parts = n % sort->key_bits;
        args->report = of_elements(REPORT_BUFFER, n + 1, 4, n % 3);
    }
}

static any_args arguments(const hs_sort *sort, uint64_t n, int in_place)
{
    any_args args;
    memset(&args, 0, sizeof args);
    args.n = n;
    args.source.buffer = (VkBuffer)(uintptr_t)SOURCE_BUFFER;
    args.source.offset = sort->key_bytes * (n % 67);
    args.source.size = n * hs_item_bytes(sort);
    args.source.address = (uint64_t)1 << 40;
    if (!in_place) {
        args.destination = args.source;
        args.destination.buffer = (VkBuffer)(uintptr_t)OTHER_BUFFER;
        args.destination.offset = sort->key_bytes * (n % 13);
        args.destination.address = (uint64_t)3 << 40;
    }
    args.scratch.buffer = (VkBuffer)(uintptr_t)SCRATCH_BUFFER;
    args.scratch.size = scratch_of(sort, n);
    args.scratch.offset = 512;
    args.scratch.address = (uint64_t)5 << 40;
    if (sort->value_bytes) { /* values, or the output of indices */
        args.values = args.source;
        args.values.buffer = (VkBuffer)(uintptr_t)VALUES_BUFFER;
        args.values.offset = sort->value_bytes * (n % 5);
        args.values.size = n * sort->value_bytes;
        args.values.address = (uint64_t)7 << 40;
        args.values_destination = args.values;
        args.values_destination.buffer = (VkBuffer)(uintptr_t)VALUES_OUT_BUFFER;
        args.values_destination.offset = sort->value_bytes * (n % 7);
        args.values_destination.address = (uint64_t)9 << 40;
        memset(sort->index ? &args.values : &args.values_destination, 0,
               sort->index || in_place ? sizeof args.values : 0);
    }
    if (how.binding == HS_VULKAN_BY_SET) args.pool = (VkDescriptorPool)(uintptr_t)POOL;
    more_arguments(sort, &args);
    return args;
}

static void count_on_device(any_args *args)
{
    args->count.buffer = (VkBuffer)(uintptr_t)COUNT_BUFFER;
    args->count.offset = 4 * (args->n % 9);
    args->count.size = 4;
    args->count.address = (uint64_t)11 << 40;
}

/* The roles that another buffer fills, which nothing reads there. */
static uint32_t lent;

/* The buffers of a call by the plan's roles, and the bytes of each; returns whether it is in place. */
static int resolve(const hs_sort *sort, const any_args *args, hs_vulkan_buffer roles[HS_ROLES],
                   uint64_t bytes[HS_ROLES])
{
    const uint64_t scratch = scratch_of(sort, args->n);
    const int discards = args->options.discard_keys != 0;
    const int in_place = !discards && sort->kind <= HS_SEGMENTED_SORT &&
                         (!args->destination.buffer || (args->destination.buffer == args->source.buffer));
    uint32_t i, lender = 0;
    roles[HS_SOURCE] = args->source;
    roles[HS_DESTINATION] = in_place ? args->source : args->destination;
    roles[HS_SCRATCH] = args->scratch;
    roles[HS_VALUES] = args->values;
    roles[HS_VALUES_OUT] = in_place && !sort->index ? args->values : args->values_destination;
    roles[HS_COUNT] = args->count.buffer ? args->count : args->source;
    bytes[HS_SOURCE] = bytes[HS_DESTINATION] = args->n * hs_item_bytes(sort);
    bytes[HS_SCRATCH] = scratch;
    bytes[HS_VALUES] = bytes[HS_VALUES_OUT] = args->n * sort->value_bytes;
    bytes[HS_COUNT] = args->count.buffer ? 4 : bytes[HS_SOURCE];
    if (discards) {
        roles[HS_DESTINATION] = args->scratch;
        roles[HS_DESTINATION].offset += (scratch + 1023) / 1024 * 1024;
    }
    roles[HS_OTHER_INPUT] = args->other;
    roles[HS_OTHER_VALUES] = args->other_values;
    roles[HS_REPORT] = args->report;
    for (i = HS_OTHER_INPUT; i < HS_ROLES; i++) bytes[i] = roles[i].size;
    if (sort->kind == HS_MERGE || sort->kind == HS_DIGEST) {
        bytes[HS_SOURCE] = args->source.size;
        bytes[HS_VALUES] = args->values.size;
        if (sort->kind == HS_DIGEST) bytes[HS_DESTINATION] = 0;
    }
    /* replaces absent buffers */
    while (lender < HS_REPORT && !bytes[lender]) lender++;
    for (i = 0, lent = 0; i < HS_ROLES; i++)
        if (!bytes[i] && i != HS_SCRATCH) {
            lent |= 1u << i;
            roles[i] = roles[lender];
            bytes[i] = bytes[lender];
        }
    if (!args->count.buffer) lent |= 1u << HS_COUNT;
    return in_place;
}

static uint32_t element_of(const hs_sort *sort, hs_role role)
{
    switch (role) {
    case HS_SCRATCH:
    case HS_REPORT:
    case HS_COUNT: return 4;
    case HS_VALUES:
    case HS_OTHER_VALUES:
    case HS_VALUES_OUT: return sort->value_bytes;
    case HS_OTHER_INPUT: return sort->kind == HS_MERGE ? sort->key_bytes : 4;
    default: return sort->key_bytes;
    }
}

/* The memory that one dispatch touches: bytes from begin to end of a buffer, by its number. */
typedef struct touch {
    uint32_t buffer;
    int writes;
    uint64_t begin, end;
} touch;

static int conflict(const touch *a, const touch *b, uint32_t a_count, uint32_t b_count)
{
    uint32_t i, j;
    for (i = 0; i < a_count; i++)
        for (j = 0; j < b_count; j++)
            if (a[i].buffer == b[j].buffer && a[i].begin < b[j].end && b[j].begin < a[i].end &&
                (a[i].writes || b[j].writes))
                return 1;
    return 0;
}

/* Compare the recorded commands with the plan, dispatch by dispatch. */
enum { MOST = 256, FIRST_QUERY = 3, SHADER = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT };
static touch touches[MOST][HS_BINDINGS + 1];
static uint32_t touch_count[MOST], fences[MOST]; /* full barriers before a dispatch */

/* The bindings at a point of the recording. */
typedef struct state {
    uint32_t e, fence, pipeline, set, set_layout, stamps;
    int grids_written, grids_visible;
    const event *push;
} state;

/* Advance to the next dispatch. */
static void advance(state *at)
{
    for (; at->e < event_count && events[at->e].kind != DISPATCH && events[at->e].kind != INDIRECT; at->e++) {
        const event *one = &events[at->e];
        if (one->kind == STAMP) check(one->object == FIRST_QUERY + at->stamps++, "timestamps in order");
        if (one->kind == BIND_PIPELINE) at->pipeline = one->object;
        if (one->kind == BIND_SET) at->set = one->object;
        if (one->kind == BIND_SET) at->set_layout = one->layout;
        if (one->kind == PUSH) at->push = one;
        if (one->kind != BARRIER || !(one->from & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) ||
            !(one->wrote & VK_ACCESS_SHADER_WRITE_BIT))
            continue;
        if ((one->to & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) && (one->next & SHADER) == SHADER) at->fence++;
        if ((one->to & VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT) && (one->next & VK_ACCESS_INDIRECT_COMMAND_READ_BIT))
            at->grids_visible = at->grids_written;
    }
}

/* One binding: the descriptor's or the address's memory, and the memory that the step may touch. */
static void compare_binding(const hs_sort *sort, const hs_step *step, uint32_t k, uint64_t n, const state *at,
                            int by_address, const hs_vulkan_buffer *buffer, uint64_t bytes, touch *t)
{
    const uint64_t alignment = properties.limits.minStorageBufferOffsetAlignment;
    const hs_role role = step->bindings[k].role;
    const uint64_t place = buffer->offset + hs_offset(&step->bindings[k], n);
    t->buffer = number(buffer->buffer);
    t->begin = place;
    t->end = buffer->offset + bytes;
    if (by_address) {
        uint64_t address;
        memcpy(&address, at->push->push + 8 * k, 8);
        check(address == buffer->address + place, "an address");
    } else {
        const VkDescriptorBufferInfo *range = &known(at->set, SET)->ranges[k];
        uint32_t first[2];
        memcpy(first, at->push->push + 8 * k, 8);
        check(at->set_layout == known(at->pipeline, PIPELINE)->layout, "the set is bound with the pipeline's layout");
        check(number(range->buffer) == t->buffer && first[1] == 0 && range->offset + range->range == t->end,
              "a binding is what the step touches");
        if (!(lent >> role & 1))
            check(range->offset + (uint64_t)first[0] * element_of(sort, role) == place, "the first element");
        check(range->offset % alignment == 0 && range->range <= properties.limits.maxStorageBufferRange,
              "a binding suits the device");
    }
}

/* Whether a step runs, its grid, and its kernel's argument, by the interpreter. */
static int planned(const hs_sort *sort, const hs_step *step, const any_args *args, int in_place,
                   uint32_t max_groups, uint32_t grid[2], int32_t *argument)
{
    const int counted = args->count.buffer != VK_NULL_HANDLE;
    const uint64_t parts = sort->kind == HS_DIGEST && args->parts < args->n ? args->n : args->parts;
    const int rows = sort->kind == HS_SEGMENTED_SORT && !args->other.buffer;
    const hs_call call = {args->n, parts, &args->options, in_place, counted, rows, 0, 0};
    uint64_t groups = hs_groups(step, &call);
    if (step->argument.kind == HS_INDIRECT_GRIDS) {
        *argument = max_groups < 1u << 30 ? (int32_t)max_groups : 1 << 30;
        groups = counted && args->n ? 1 : 0; /* of 64 lanes, one for each step */
    } else if (!hs_argument(sort, step, &call, argument)) {
        return 0;
    }
    if (groups) check(hs_grid(groups, max_groups, grid), "a grid");
    return groups != 0;
}

static void compare_dispatch(const event *one, const hs_step *step, const any_args *args, const state *at,
                             uint64_t i, const uint32_t grid[2], uint32_t max_groups)
{
    if (args->count.buffer && step->argument.kind != HS_INDIRECT_GRIDS) {
        check(one->kind == INDIRECT && one->object == SCRATCH_BUFFER && one->offset == args->scratch.offset + 12 * i,
              "a grid from scratch");
        check(at->grids_visible, "no barrier between the grids and what is launched by them");
    } else {
        check(one->kind == DISPATCH && one->grid[0] == grid[0] && one->grid[1] == grid[1] && one->grid[2] == 1 &&
                  grid[0] <= max_groups,
              "the grid");
    }
}

static void compare(const hs_sort *sort, const any_args *args, uint64_t binding_limit, uint32_t max_groups)
{
    const uint64_t alignment = properties.limits.minStorageBufferOffsetAlignment;
    hs_vulkan_buffer roles[HS_ROLES];
    uint64_t bytes[HS_ROLES];
    const int in_place = resolve(sort, args, roles, bytes);
    uint32_t i, k, done = 0, grid[2] = {0, 0};
    int32_t numbers[2], argument = 0;
    state at;
    memset(&at, 0, sizeof at);
    if (args->stages && event_count)
        check(events[0].kind == BARRIER && events[0].from == args->stages && events[0].wrote == args->accesses &&
                  events[0].to == VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT && events[0].next == SHADER,
              "the caller's barrier comes first");
    for (i = 0; i < sort->step_count; i++) {
        const hs_step *step = &sort->steps[i];
        const hs_kernel *kernel = &sort->kernels[step->kernel];
        const object *what, *layout;
        int by_address = 0;
        if (!planned(sort, step, args, in_place, max_groups, grid, &argument)) continue;
        advance(&at);
        if (!check(at.e < event_count && done < MOST && at.push, "a dispatch is missing")) return;
        compare_dispatch(&events[at.e], step, args, &at, i, grid, max_groups);
        what = known(at.pipeline, PIPELINE);
        for (k = 0; k < kernel->bindings; k++) {
            const hs_binding *binding = &step->bindings[k];
            const uint64_t begin = roles[binding->role].offset + hs_offset(binding, args->n);
            by_address |= bytes[binding->role] - hs_offset(binding, args->n) + begin % alignment > binding_limit;
        }
        if (!sort->spirv_address || !sort->spirv_address[step->kernel].bytes) by_address = 0;
        if (how.binding == HS_VULKAN_BY_ADDRESS) by_address = 1;
        check(what->words == module_hash(&(by_address ? sort->spirv_address : sort->spirv)[step->kernel]), "the kernel");
        layout = known(what->layout, LAYOUT);
        check(at.push->layout == what->layout && at.push->size == layout->push &&
                  at.push->size == 8 * kernel->bindings + 16 && layout->sets == (by_address ? 0u : 1u) &&
                  (by_address || layout->bindings == kernel->bindings),
              "layouts fit");
        memcpy(numbers, at.push->push + 8 * kernel->bindings, 8);
        check((uint64_t)numbers[0] == args->n && numbers[1] == argument, "n and the argument");
        for (k = 0; k < kernel->bindings; k++) {
            const hs_role role = step->bindings[k].role;
            compare_binding(sort, step, k, args->n, &at, by_address, &roles[role], bytes[role], &touches[done][k]);
            touches[done][k].writes = role == HS_DESTINATION || role == HS_SCRATCH || role == HS_VALUES_OUT ||
                                      role == HS_REPORT || (in_place && role != HS_COUNT && role != HS_OTHER_INPUT);
        }
        touch_count[done] = kernel->bindings;
        fences[done++] = at.fence;
        if (stamps) check(at.stamps == done, "a timestamp before the first launch and after each");
        at.grids_written |= step->argument.kind == HS_INDIRECT_GRIDS;
        at.e++;
    }
    if (stamps && done) advance(&at); /* one after the last */
    check(at.e == event_count && at.stamps == (stamps && done ? done + 1 : 0), "nothing else comes after the last");
    for (i = 0; i < done; i++)
        for (k = i + 1; k < done; k++)
            check(fences[i] < fences[k] || !conflict(touches[i], touches[k], touch_count[i], touch_count[k]),
                  "no barrier between dispatches of which one writes what the other touches");
}

/* Sort many counts on the current device. */
static uint32_t found_dropped, had_dropped, most_barriers;
static unsigned sorts_done;

static uint32_t stamped(void)
{
    uint32_t i, found = 0;
    for (i = 0; i < event_count; i++) found += events[i].kind == STAMP;
    return found;
}

static void one_sort(const hs_sort *sort, const hs_vulkan *sorter, const hs_vulkan_device *device, uint64_t n,
                     int variant)
{
    any_args args = arguments(sort, n, variant & 1);
    uint64_t scratch = 0;
    const VkPhysicalDeviceLimits *limits = &properties.limits;
    uint64_t binding_limit = limits->maxStorageBufferRange;
    uint32_t max_groups = sort->max_groups;
    const uint32_t objects_before = object_count, allocations_before = allocations;
    const int errors_before = errors;
    uint32_t most = 0, written = 99;
    context_n = n;
    event_count = barrier_count = 0;
    if (variant & 2) {
        args.stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
        args.accesses = VK_ACCESS_TRANSFER_WRITE_BIT;
    }
    if (variant & 4 && sort->device_count) count_on_device(&args);
    if (variant & 8) {
        args.options.type = HS_F32;
        args.options.descending = (uint32_t)n & 1;
        args.options.begin_bit = n & 2 ? (uint32_t)n % 7 : 0;
        args.options.end_bit = n & 2 ? 7 + (uint32_t)n % 26 : 0;
        args.options.discard_keys = sort->index && !(variant & 1);
    }
    if (args.options.discard_keys) {
        memset(&args.destination, 0, sizeof args.destination);
        check(hs_scratch_with(sort, n, &args.options, &scratch) == HS_OK, "scratch");
        args.scratch.size = scratch;
    }
    if (device->binding_limit && device->binding_limit < binding_limit) binding_limit = device->binding_limit;
    if (limits->maxComputeWorkGroupCount[0] < max_groups) max_groups = limits->maxComputeWorkGroupCount[0];
    if (limits->maxComputeWorkGroupCount[1] < max_groups) max_groups = limits->maxComputeWorkGroupCount[1];
    if (stamps) {
        args.timestamps.pool = (VkQueryPool)(uintptr_t)QUERIES;
        args.timestamps.first = FIRST_QUERY;
        args.timestamps.written = &written;
    }
    check(perform(sort, sorter, &args, NULL) == HS_OK, "a sort succeeds");
    check(allocations == allocations_before, "no memory is allocated");
    check(!stamps || (hs_vulkan_queries(sorter, n, &most) == HS_OK && written <= most), "the number of timestamps");
    check(!stamps || written == stamped(), "the timestamps that are reported");
    compare(sort, &args, binding_limit, max_groups);
    object_count = objects_before; /* the pool is reset */
    sorts_done++;
    if (barrier_count > most_barriers) most_barriers = barrier_count;
    if (drop && barrier_count >= drop) {
        had_dropped++;
        found_dropped += errors > errors_before;
    }
}

static void many_sorts(const hs_sort *sort, const hs_vulkan_device *device, const char *name)
{
    hs_vulkan *sorter = NULL;
    uint32_t i, sets, storage_buffers;
    uint64_t n;
    int variant, d;
    context = name;
    context_n = 0;
    if (!check(complete(sort, device, &sorter, NULL) == HS_OK, "a sorter is made")) return;
    check(hs_vulkan_sort_of(sorter) == sort, "the sort of a sorter");
    hs_vulkan_descriptors(sorter, &sets, &storage_buffers);
    check(how.binding ? sets == 0 && storage_buffers == 0 : sets > 0 && storage_buffers >= sets, "descriptors");
    for (i = 1; i <= object_count; i++) check(objects[i].kind != MODULE, "no module is kept");
    for (variant = 0; variant < (sort->key_transform && sort->device_count ? 16 : 4); variant++) {
        for (n = 0; n < 150; n++) one_sort(sort, sorter, device, n, variant);
        for (i = 0; i < sort->step_count; i++)
            for (d = -1; d <= 1; d++) {
                n = sort->steps[i].guard.min_n + (uint64_t)(int64_t)d;
                if (n <= sort->max_n) one_sort(sort, sorter, device, n, variant);
                n = sort->steps[i].guard.min_n * 3 / 2 + 7 + i;
                if (n <= sort->max_n) one_sort(sort, sorter, device, n, variant);
            }
        one_sort(sort, sorter, device, sort->max_n, variant);
    }
    context_n = 0;
    hs_vulkan_release(sorter);
    check(live == 0, "all is destroyed");
}

static hs_status status_of(VkResult code, int pipeline)
{
    switch ((int)code) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return HS_ERROR_HOST_MEMORY;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL: return HS_ERROR_DEVICE_MEMORY;
    case VK_ERROR_DEVICE_LOST: return HS_ERROR_DEVICE_LOST;
    case VK_ERROR_INVALID_SHADER_NV: return HS_ERROR_BUILD;
    default: return pipeline ? HS_ERROR_BUILD : HS_ERROR_API;
    }
}

/* Let every call that can fail do so in turn, with every code. */
static void failures(const hs_sort *sort, uint32_t width)
{
    static const VkResult codes[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST,
                                     VK_ERROR_OUT_OF_POOL_MEMORY, VK_ERROR_FRAGMENTED_POOL, VK_ERROR_INVALID_SHADER_NV,
                                     VK_ERROR_UNKNOWN};
    any_args args = arguments(sort, 1000, 0);
    hs_vulkan *sorter;
    VkResult result;
    hs_status status;
    size_t c;
    uint32_t k, total;
    context = "failing calls";
    context_n = args.n;
    for (c = 0; c < sizeof codes / sizeof codes[0]; c++) {
        fail_code = codes[c];
        for (k = 1;; k++) {
            hs_vulkan_device device = fresh(width);
            int by_calloc;
            fail_call = k;
            result = VK_SUCCESS;
            has_push = 1;
            status = complete(sort, &device, &sorter, &result);
            if (calls < k) break; /* no failing call is left */
            by_calloc = result == VK_SUCCESS;
            if (by_calloc && status == HS_OK) { /* a calloc that only fails with VK_ERROR_OUT_OF_HOST_MEMORY */
                hs_vulkan_release(sorter);
                continue;
            }
            check(by_calloc ? status == HS_ERROR_HOST_MEMORY
                            : result == fail_code &&
                                  (status == status_of(fail_code, 0) || status == status_of(fail_code, 1)),
                  "create gives the status of what failed");
            check(sorter == NULL && live == 0, "a failed create leaves nothing");
        }
        check(status == HS_OK && sorter, "create without a failure");
        total = calls;
        for (k = 1;; k++) {
            fail_call = total + k;
            calls = total;
            event_count = 0;
            result = VK_SUCCESS;
            status = perform(sort, sorter, &args, &result);
            if (calls < fail_call) break;
            if (result == VK_SUCCESS && status == HS_OK) continue;
            check(result == VK_SUCCESS ? status == HS_ERROR_HOST_MEMORY
                                       : result == fail_code && status == status_of(fail_code, 0),
                  "sort gives the status of what failed");
            check(event_count == 0, "a failed sort records nothing");
        }
        hs_vulkan_release(sorter);
        check(live == 0, "all is destroyed");
    }
}

static void absent_functions(const hs_sort *sort, uint32_t width)
{
    static const char *const names[] = {
        "vkGetPhysicalDeviceProperties", "vkGetPhysicalDeviceProperties2", "vkGetPhysicalDeviceFeatures2",
        "vkEnumerateDeviceExtensionProperties", "vkGetDeviceProcAddr", "vkCreateShaderModule", "vkDestroyShaderModule",
        "vkCreateDescriptorSetLayout", "vkDestroyDescriptorSetLayout", "vkCreatePipelineLayout",
        "vkDestroyPipelineLayout", "vkCreateComputePipelines", "vkDestroyPipeline", "vkAllocateDescriptorSets",
        "vkUpdateDescriptorSets", "vkCmdBindPipeline", "vkCmdBindDescriptorSets", "vkCmdPushConstants",
        "vkCmdPipelineBarrier", "vkCmdDispatch", "vkCmdDispatchIndirect",
        "vkCmdWriteTimestamp"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        hs_vulkan_device device = fresh(width);
        hs_vulkan *sorter = NULL;
        context = names[i];
        missing = names[i];
        check(hs_vulkan_create(sort, &device, &sorter, NULL) == HS_ERROR_API && !sorter && live == 0, "is missed");
    }
}

/* Devices that each lack one feature. */
static void poor_devices(const hs_sort *original, uint32_t width)
{
    hs_kernel kernels[64];
    hs_sort sort = *original;
    uint32_t i, trial, needed, useful, votes = 0;
    if (!check(sort.kernel_count <= 64, "at most 64 kernels")) return;
    for (i = 0; i < sort.kernel_count; i++) { /* as if subgroups were used, even if they are not */
        kernels[i] = sort.kernels[i];
        kernels[i].subgroup = width;
        votes |= kernels[i].ballot;
    }
    sort.kernels = kernels;
    context = "a device that lacks something";
    for (trial = 0;; trial++) {
        hs_vulkan_device device = fresh(width);
        hs_vulkan *sorter = NULL;
        hs_status expected = HS_ERROR_DEVICE;
        const int wide = sort.key_bytes == 8 && !sort.pair;
        uint32_t required = width;
        context_n = trial;
        switch (trial) {
        case 0: properties.apiVersion = VK_API_VERSION_1_0; break;
        case 1: properties.limits.maxComputeWorkGroupInvocations = 2; break;
        case 2: properties.limits.maxComputeWorkGroupSize[0] = 2; break;
        case 3: properties.limits.maxComputeSharedMemorySize = 16; break;
        case 4: properties.limits.maxPerStageDescriptorStorageBuffers = 1; break;
        case 5: properties.limits.maxPushConstantsSize = 16; break;
        case 6: subgroup.supportedStages = VK_SHADER_STAGE_FRAGMENT_BIT; break;
        case 7: subgroup.supportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT; break;
        case 8: has_control = VK_FALSE; break;
        case 9: device.features &= ~(uint32_t)HS_VULKAN_SUBGROUP_SIZE; break;
        case 10: control.minSubgroupSize = width * 2; break;
        case 11: control.maxSubgroupSize = width / 2; break;
        case 12: control.requiredSubgroupSizeStages = VK_SHADER_STAGE_FRAGMENT_BIT; break;
        case 13: control.maxComputeWorkgroupSubgroups = 0; break;
        case 14:
            device.features &= ~(uint32_t)HS_VULKAN_INT64;
            expected = wide ? HS_ERROR_DEVICE : HS_OK;
            break;
        case 15:
            has_int64 = VK_FALSE;
            expected = wide ? HS_ERROR_DEVICE : HS_OK;
            break;
        case 16: /* no control, but the only width suits */
            has_control = VK_FALSE;
            subgroup.subgroupSize = control.minSubgroupSize = control.maxSubgroupSize = width;
            expected = HS_OK;
            required = 0;
            break;
        case 17: /* a range next to the driver's default width */
            control.minSubgroupSize = control.maxSubgroupSize = 2 * width;
            subgroup.subgroupSize = width;
            expected = HS_OK;
            required = 0;
            break;
        case 18: /* Vulkan 1.1 with the extension */
            properties.apiVersion = VK_API_VERSION_1_1;
            expected = HS_OK;
            break;
        case 19: expected = HS_OK; break;
        case 20: /* no control, and kernels may get other widths than the default */
            has_control = VK_FALSE;
            subgroup.subgroupSize = width;
            break;
        case 21: /* no ballots, and no kernel that uses them */
            subgroup.supportedOperations = BASIC_OPERATIONS;
            expected = votes ? HS_ERROR_DEVICE : HS_OK;
            break;
        case 22: kernels[0].ballot = 1; subgroup.supportedOperations = BASIC_OPERATIONS; break;
        case 23: expected = HS_OK; break;
        case 24: /* beyond Vulkan's limit: parts of scratch could not be bound */
            properties.limits.minStorageBufferOffsetAlignment = 512;
            break;
        default: return;
        }
        check(hs_vulkan_create(&sort, &device, &sorter, NULL) == expected && !sorter == (expected != HS_OK),
              "create knows what the device can do");
        for (i = 1; i <= object_count; i++)
            check(objects[i].kind != PIPELINE || objects[i].width == required, "the width that is required");
        hs_vulkan_release(sorter);
        check(live == 0, "all is destroyed");
        /* for a query beforehand, only limits of the physical device count */
        if (trial == 9 || trial == 14) continue;
        device.device = NULL;
        check(hs_vulkan_features(&sort, &device, &needed, &useful) == expected, "features agrees with create");
        if (expected) continue;
        check(!(needed & HS_VULKAN_INT64) == !wide, "64-bit integers are needed for such keys");
        check(!(needed & HS_VULKAN_SUBGROUP_SIZE) == !required, "a width that is not the usual one is needed");
        check(!(needed & HS_VULKAN_ADDRESS) && (needed & ~useful) == 0, "what is needed is useful");
        check(!(useful & HS_VULKAN_ADDRESS) == (!sort.spirv_address || trial == 18), "addresses are useful");
    }
}

static void wrong_arguments(const hs_sort *sort, uint32_t width)
{
    const uint64_t n = 1000, keys = n * sort->key_bytes;
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    uint32_t trial;
    context = "wrong arguments";
    device.binding_limit = 1 << 20;
    if (!check(hs_vulkan_create(sort, &device, &sorter, NULL) == HS_OK, "a sorter is made")) return;
    for (trial = 0;; trial++) {
        any_args args = arguments(sort, n, 0);
        const hs_vulkan *s = sorter;
        const any_args *a = &args;
        VkCommandBuffer c = commands();
        hs_status expected = HS_ERROR_ARGUMENT, status;
        int scan = 0;
        context_n = trial;
        event_count = 0;
        switch (trial) {
        case 0: s = NULL; break;
        case 1: c = NULL; break;
        case 2: a = NULL; break;
        case 3: args.source.buffer = VK_NULL_HANDLE; break;
        case 4: args.pool = VK_NULL_HANDLE; break;
        case 5: args.accesses = VK_ACCESS_SHADER_WRITE_BIT; break;
        case 6: args.n = sort->max_n + 1; expected = HS_ERROR_COUNT; break;
        case 7: args.n = UINT64_MAX; expected = HS_ERROR_COUNT; break;
        case 8: args.source.size = keys - 1; expected = HS_ERROR_COUNT; break;
        case 9: args.destination.size = keys - 1; expected = HS_ERROR_COUNT; break;
        case 10: args.source.size = VK_WHOLE_SIZE; expected = HS_ERROR_COUNT; break;
        case 11: args.source.offset = UINT64_MAX - sort->key_bytes + 1; expected = HS_ERROR_COUNT; break;
        case 12: args.destination.offset = UINT64_MAX - keys / 2 / 8 * 8 + 1; expected = HS_ERROR_COUNT; break;
        case 13: args.source.offset = 1; expected = HS_ERROR_ALIGNMENT; break;
        case 14: args.destination.offset = sort->key_bytes + 2; expected = HS_ERROR_ALIGNMENT; break;
        case 15: args.destination.address += 2; expected = HS_ERROR_ALIGNMENT; break;
        case 16: /* the destination starts within the source */
            args.destination.buffer = args.source.buffer;
            args.destination.offset = args.source.offset + keys - sort->key_bytes;
            expected = HS_ERROR_OVERLAP;
            break;
        case 17: /* the source starts within the destination */
            args.destination.buffer = args.source.buffer;
            args.source.offset = args.destination.offset + sort->key_bytes;
            expected = HS_ERROR_OVERLAP;
            break;
        case 18: /* next to each other in one buffer */
            args.destination.buffer = args.source.buffer;
            args.destination.offset = args.source.offset + keys;
            expected = HS_OK;
            break;
        case 19: /* the same part: in place */
            args.destination = args.source;
            expected = HS_OK;
            break;
        case 20: /* beyond the binding limit, without addresses */
            args.n = args.source.size = args.destination.size = 1 << 21;
            args.source.size = args.destination.size *= sort->key_bytes;
            args.scratch.size = scratch_of(sort, args.n);
            args.destination.address = 0;
            expected = HS_ERROR_DEVICE;
            break;
        case 21: args.n = 0; args.source.buffer = VK_NULL_HANDLE; expected = HS_OK; break;
        case 22: scan = 1; expected = HS_ERROR_KERNELS; break; /* a sort does not scan */
        case 23: args.n = 0; scan = 1; expected = HS_ERROR_KERNELS; break;
        default: hs_vulkan_release(sorter); return;
        }
        status = (scan ? any_scan : any_sort)(s, c, a, NULL);
        check(status == expected, "the status of wrong arguments");
        check((event_count == 0) == (expected != HS_OK || args.n == 0), "only a good sort is recorded");
    }
}

/* Sorts too large for the device. */
static void too_large(const hs_sort *sort, uint32_t width)
{
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    any_args args = arguments(sort, sort->max_n, 1);
    context = "a grid beyond the device";
    context_n = args.n;
    properties.limits.maxComputeWorkGroupCount[1] = 3;
    check(hs_vulkan_create(sort, &device, &sorter, NULL) == HS_OK, "a sorter is made");
    check(any_sort(sorter, commands(), &args, NULL) == HS_ERROR_DEVICE && event_count == 0, "is refused");
    hs_vulkan_release(sorter);
    context = "a buffer beyond the binding limit, without addresses";
    device = fresh(width);
    device.features &= ~(uint32_t)HS_VULKAN_ADDRESS;
    properties.limits.maxStorageBufferRange = 1 << 27;
    check(hs_vulkan_create(sort, &device, &sorter, NULL) == HS_OK, "a sorter is made");
    check(any_sort(sorter, commands(), &args, NULL) == HS_ERROR_DEVICE && event_count == 0, "is refused");
    hs_vulkan_release(sorter);
    check(live == 0, "all is destroyed");
}

static void matching(const hs_target *first, uint32_t width)
{
    static const char *const name[] = {"fake"}, *const other[] = {"real"};
    hs_match yes, no;
    hs_target ours, theirs, any;
    const hs_target *targets[4];
    const hs_sort *sort = NULL;
    hs_sort bare;
    const hs_sort *bare_sorts[2];
    hs_sort scan;
    hs_vulkan_device device = fresh(width);
    context = "matching";
    memset(&yes, 0, sizeof yes);
    memset(&no, 0, sizeof no);
    yes.types = HS_GPU;
    yes.name_count = no.name_count = 1;
    yes.names = name;
    no.names = other;
    bare = *first->sorts[0];
    bare.spirv = NULL;
    bare_sorts[0] = &bare;
    any = ours = theirs = *first;
    any.match = NULL;
    ours.match = &yes;
    ours.sorts = bare_sorts; /* the best match, but without kernels for Vulkan */
    ours.sort_count = 1;
    theirs.match = &no;
    targets[0] = &theirs;
    targets[1] = &any;
    targets[2] = &ours;
    device.features = UINT32_MAX;
    check(hs_vulkan_match(targets, 3, bare.key, NULL, &device, &sort) == HS_OK && sort == first->sorts[0],
          "one that runs");
    check(hs_vulkan_match(targets, 1, bare.key, NULL, &device, &sort) == HS_OK && !sort, "none suits");
    check(hs_vulkan_match(targets, 3, "u7", NULL, &device, &sort) == HS_OK && !sort, "none has such keys");
    ours.sorts = first->sorts;
    check(hs_vulkan_match(targets, 3, bare.key, NULL, &device, &sort) == HS_OK && sort == first->sorts[0],
          "the best");
    scan = *first->sorts[0];
    scan.kind = HS_SCAN;
    bare_sorts[0] = &scan;
    bare_sorts[1] = first->sorts[0];
    ours.sorts = bare_sorts;
    check(hs_vulkan_match(targets, 3, bare.key, NULL, &device, &sort) == HS_OK && sort == first->sorts[0],
          "a scan does not match");
    ours.sort_count = 2;
    check(hs_vulkan_match(targets, 3, bare.key, NULL, &device, &sort) == HS_OK && sort == first->sorts[0],
          "behind a scan");
    properties.limits.maxComputeSharedMemorySize = 1;
    check(hs_vulkan_match(targets, 3, bare.key, NULL, &device, &sort) == HS_OK && !sort, "none runs");
}

/* Let every call of a search fail in turn, alone and with all later ones: the best target, or an error, and never
 * another target.  The device is one whose extensions describe it. */
static void failing_matches(const hs_target *first, uint32_t width)
{
    static const VkResult codes[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST,
                                     VK_ERROR_LAYER_NOT_PRESENT, VK_ERROR_UNKNOWN, VK_INCOMPLETE};
    static const char *const name[] = {"fake"};
    hs_match match;
    hs_kernel kernels[64];
    hs_sort wide = *first->sorts[0], alone = wide;
    const hs_sort *const both[] = {&wide, &alone};
    const hs_target best = {"best", &match, both, 1}, any = {"any", NULL, both + 1, 1}, *const targets[] = {&any, &best};
    const hs_sort *sort = NULL;
    uint32_t c, k, trial, needed, useful;
    context = "failing matches";
    memset(&match, 0, sizeof match);
    match.name_count = 1;
    match.names = name;
    if (!check(wide.kernel_count <= 64, "room for kernels")) return;
    memcpy(kernels, wide.kernels, wide.kernel_count * sizeof kernels[0]);
    for (k = 0; k < wide.kernel_count; k++) kernels[k].subgroup = k ? 1 : width;
    wide.kernels = kernels;
    for (trial = 0; trial < 2; trial++)
        for (c = 0; c < sizeof codes / sizeof codes[0]; c++)
            for (k = 1;; k++) {
                hs_vulkan_device device = fresh(width);
                hs_status status, expected = status_of(codes[c], 0);
                const int memory = codes[c] == VK_ERROR_OUT_OF_HOST_MEMORY, again = codes[c] == VK_INCOMPLETE && !trial;
                uint32_t made;
                properties.apiVersion = VK_API_VERSION_1_1;
                device.features = UINT32_MAX;
                context_n = 100 * c + k;
                fail_code = codes[c];
                fail_call = k;
                fail_on = (int)trial;
                status = hs_vulkan_match(targets, 2, wide.key, NULL, &device, &sort);
                made = calls;
                if (status == HS_OK) check(sort == &wide, "no other target");
                else check(sort == NULL && status == expected, "the status of what failed");
                if (made < k) break;
                check(status != HS_OK || again || !memory, "what failed is not passed over");
                calls = 0;
                check(hs_vulkan_features(&wide, &device, &needed, &useful) == status, "features agrees with match");
            }
    context_n = 0;
}

static void sweeps(const hs_sort *sort, uint32_t width)
{
    hs_vulkan_device device = fresh(width);
    many_sorts(sort, &device, "sorts");
    device = fresh(width);
    device.features &= ~(uint32_t)HS_VULKAN_ADDRESS;
    properties.limits.minStorageBufferOffsetAlignment = 4;
    properties.limits.maxStorageBufferRange = UINT32_MAX;
    properties.limits.maxComputeWorkGroupCount[0] = 1u << 31;
    properties.limits.maxComputeWorkGroupCount[1] = 1u << 31;
    if (sort->max_n * hs_item_bytes(sort) <= UINT32_MAX && scratch_of(sort, sort->max_n) <= UINT32_MAX)
        many_sorts(sort, &device, "sorts with descriptors alone");
    if (!sort->spirv_address) return;
    device = fresh(width);
    device.binding_limit = 1;
    many_sorts(sort, &device, "sorts with addresses alone");
    device = fresh(width);
    properties.limits.minStorageBufferOffsetAlignment = 256;
    properties.limits.maxStorageBufferRange = 1 << 27; /* the least possible */
    many_sorts(sort, &device, "sorts with either");
    device.binding_limit = 4096;
    many_sorts(sort, &device, "sorts with addresses from 4096 bytes");
}

/* Whether every kernel has a module with device addresses. */
static int addressed(const hs_sort *sort)
{
    uint32_t i;
    for (i = 0; sort->spirv_address && i < sort->kernel_count; i++)
        if (!sort->kernels[i].index64 && !sort->spirv_address[i].bytes) return 0;
    return sort->spirv_address != NULL;
}

/* Other ways to bind buffers and to create sorters; timestamps. */
static void other_ways(const hs_sort *sort, uint32_t width)
{
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    memset(&how, 0, sizeof how);
    stamps = 1;
    how.deferred = 1;
    many_sorts(sort, &device, "sorts of a sorter that was completed in turn");
    stamps = 0;
    how.binding = HS_VULKAN_BY_PUSH;
    context = "push descriptors";
    device = fresh(width);
    check(hs_vulkan_create_with(sort, &device, &how, &sorter, NULL) == HS_ERROR_DEVICE && !sorter && !live, "are missed");
    has_push = 1;
    many_sorts(sort, &device, "sorts with push descriptors of the extension");
    device = fresh(width);
    has_push = 2;
    how.deferred = 2;
    device.binding_limit = 4096;
    many_sorts(sort, &device, "sorts with push descriptors of Vulkan 1.4");
    how.binding = HS_VULKAN_BY_ADDRESS;
    context = "addresses alone";
    device = fresh(width);
    device.features &= ~(uint32_t)HS_VULKAN_ADDRESS;
    check(hs_vulkan_create_with(sort, &device, &how, &sorter, NULL) == HS_ERROR_DEVICE && !sorter && !live, "are missed");
    device = fresh(width);
    if (addressed(sort))
        many_sorts(sort, &device, "sorts with addresses alone");
    else
        check(hs_vulkan_create_with(sort, &device, &how, &sorter, NULL) == HS_ERROR_KERNELS && !sorter && !live,
              "a kernel without addresses");
    memset(&how, 0, sizeof how);
}

/* Mark the kernels that calls for n items can launch, by the interpreter: of every kind in `calls`. */
static void launched(const hs_sort *sort, uint64_t n, uint32_t calls, int used[64])
{
    hs_options options[3];
    uint32_t i, k, place, count;
    int32_t argument;
    memset(options, 0, sizeof options);
    options[1].begin_bit = 1;
    options[2].end_bit = 1;
    for (k = 0; k < 3; k++)
        for (place = HS_CALLS_IN_PLACE; place <= HS_CALLS_OUT_OF_PLACE; place *= 2)
            for (count = HS_CALLS_HOST_COUNT; count <= HS_CALLS_DEVICE_COUNT; count *= 2)
                for (i = 0; i < sort->step_count; i++) {
                    const hs_step *step = &sort->steps[i];
                    const hs_call call = {n, 1 << 20, &options[k], place == HS_CALLS_IN_PLACE,
                                          count == HS_CALLS_DEVICE_COUNT, 0, 0, 0};
                    const int grids = step->argument.kind == HS_INDIRECT_GRIDS;
                    if (!(calls & place) || !(calls & count)) continue;
                    if (!(calls & (k ? HS_CALLS_SOME_BITS : HS_CALLS_ALL_BITS))) continue;
                    if (sort->kernels[step->kernel].index64) continue;
                    if (grids ? call.device_count : hs_groups(step, &call) && hs_argument(sort, step, &call, &argument))
                        used[step->kernel] = 1;
                }
}

/* The pipelines of a sorter for a scope: one for each kernel that its calls launch, at some count next to a bound. */
static void scope_pipelines(const hs_sort *sort, const hs_vulkan *sorter, const hs_scope *scope, uint32_t calls)
{
    int used[64] = {0};
    uint32_t i, wanted = 0;
    int d;
    for (i = 0; i < sort->step_count; i++)
        for (d = 0; d < 4; d++) {
            const hs_guard *guard = &sort->steps[i].guard;
            const uint64_t n = d == 0 ? guard->min_n + 1 : d == 1 ? guard->max_n : d == 2 ? scope->min_n : scope->max_n;
            if (n >= scope->min_n && n <= scope->max_n) launched(sort, n, calls, used);
        }
    if (!hs_idle(sort, 0)) launched(sort, 0, calls, used);
    for (i = 0; i < 64; i++) wanted += used[i] != 0;
    check(hs_vulkan_pipeline_count(sorter) == wanted, "a pipeline for each kernel that calls in scope launch");
    for (i = 1, wanted = 0; i <= object_count; i++) wanted += objects[i].kind == PIPELINE;
    check(hs_vulkan_pipeline_count(sorter) == wanted, "the number of pipelines");
}

/* Calls within and beyond a scope. */
static void scope_calls(const hs_sort *sort, const hs_vulkan *sorter, const hs_scope *scope, uint32_t calls)
{
    const uint64_t counts[] = {0, 1, scope->min_n - 1, scope->min_n, scope->max_n, scope->max_n + 1, sort->max_n};
    uint32_t i, k;
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (k = 0; k < 8; k++) {
            const uint64_t n = counts[i];
            const int place = (k & 1) != 0, some = (k & 2) != 0, counted = (k & 4) != 0;
            uint32_t kinds = counted ? HS_CALLS_DEVICE_COUNT : HS_CALLS_HOST_COUNT;
            const uint32_t objects_before = object_count;
            hs_status expected;
            any_args args;
            if (n > 1 << 28 || n + 20 > sort->max_n) continue; /* needs addresses, or a digest exceeds max_n */
            if (n > sort->max_n || (some && !sort->bit_range) || (counted && !sort->device_count)) continue;
            if (place && sort->kind > HS_SEGMENTED_SORT) continue;
            args = arguments(sort, n, place);
            if (some) args.options.end_bit = 7;
            if (counted) count_on_device(&args);
            kinds |= (some ? HS_CALLS_SOME_BITS : HS_CALLS_ALL_BITS) | (place ? HS_CALLS_IN_PLACE : HS_CALLS_OUT_OF_PLACE);
            if (!n) kinds &= HS_CALLS_HOST_COUNT | HS_CALLS_DEVICE_COUNT;
            expected = (kinds & ~calls) || (n && (n < scope->min_n || n > scope->max_n)) ? HS_ERROR_SCOPE : HS_OK;
            if (sort->key_bits <= 7 && some) continue;
            context_n = n;
            event_count = 0;
            check(perform(sort, sorter, &args, NULL) == expected, "the status of a call by its scope");
            check(!expected || !event_count, "a call out of scope is not recorded");
            if (!expected) compare(sort, &args, UINT32_MAX, sort->max_groups < 65535 ? sort->max_groups : 65535);
            object_count = objects_before;
        }
}

/* Sorters for some calls alone. */
static void scopes(const hs_sort *sort, uint32_t width)
{
    const uint64_t bounds[][2] = {{0, 0}, {0, 100}, {101, 5000}, {5001, 1 << 20}, {1 << 20, 0}, {131073, 1 << 20}};
    const uint32_t takes = HS_CALLS_OUT_OF_PLACE | HS_CALLS_ALL_BITS | HS_CALLS_HOST_COUNT |
                           (sort->kind <= HS_SEGMENTED_SORT ? HS_CALLS_IN_PLACE : 0u) |
                           (sort->bit_range ? HS_CALLS_SOME_BITS : 0u) |
                           (sort->device_count ? HS_CALLS_DEVICE_COUNT : 0u);
    uint32_t i, calls, pair;
    memset(&how, 0, sizeof how);
    context = "scopes";
    for (i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        for (calls = 0; calls < 128; calls++) {
            hs_vulkan_device device = fresh(width);
            hs_vulkan *sorter = NULL;
            hs_scope whole;
            hs_status expected = HS_OK, status;
            uint32_t all = calls, most = 0;
            device.features &= ~(uint32_t)HS_VULKAN_ADDRESS;
            how.scope.min_n = bounds[i][0];
            how.scope.max_n = bounds[i][1];
            how.scope.calls = calls;
            whole = how.scope;
            if (!whole.max_n) whole.max_n = sort->max_n;
            for (pair = 3; pair < 64; pair *= 4)
                if (!(all & pair)) all |= pair & takes;
            if (whole.max_n > sort->max_n || whole.min_n > whole.max_n) expected = HS_ERROR_COUNT;
            if (calls & ~takes) expected = HS_ERROR_OPTION;
            context_n = 1000 * i + calls;
            status = hs_vulkan_create_with(sort, &device, &how, &sorter, NULL);
            if (!check(status == expected && !sorter == (expected != HS_OK), "the status of a scope") || status) continue;
            scope_pipelines(sort, sorter, &whole, all);
            scope_calls(sort, sorter, &whole, all);
            check(hs_vulkan_queries(sorter, whole.max_n + 1, &most) == HS_ERROR_SCOPE && most == 0, "queries of no call");
            hs_vulkan_release(sorter);
            check(live == 0, "all is destroyed");
        }
    memset(&how, 0, sizeof how);
}

/* Pipelines with addresses exist where a call of the scope has a buffer beyond the binding limit. */
static void scope_addresses(const hs_sort *sort, uint32_t width)
{
    hs_vulkan_device device = fresh(width);
    hs_vulkan *without = NULL, *few = NULL, *many = NULL;
    context = "scopes and addresses";
    context_n = 0;
    memset(&how, 0, sizeof how);
    how.scope.max_n = 1 << 20;
    properties.limits.maxStorageBufferRange = 1 << 27;
    check(hs_vulkan_create_with(sort, &device, &how, &few, NULL) == HS_OK, "a sorter is made");
    device.binding_limit = 1 << 16;
    check(hs_vulkan_create_with(sort, &device, &how, &many, NULL) == HS_OK, "a sorter is made");
    device.features &= ~(uint32_t)HS_VULKAN_ADDRESS;
    check(hs_vulkan_create_with(sort, &device, &how, &without, NULL) == HS_OK, "a sorter is made");
    check(hs_vulkan_pipeline_count(few) == hs_vulkan_pipeline_count(without), "no addresses where all can be bound");
    check(hs_vulkan_pipeline_count(many) > hs_vulkan_pipeline_count(few), "addresses beyond the binding limit");
    hs_vulkan_release(without);
    hs_vulkan_release(few);
    hs_vulkan_release(many);
    check(live == 0, "all is destroyed");
    memset(&how, 0, sizeof how);
}

/* A deferred sorter takes no call until it is complete, and a failed pipeline can be made again. */
static void deferred(const hs_sort *sort, uint32_t width)
{
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    any_args args = arguments(sort, 1000, 0);
    uint32_t left = 0, i, total;
    VkResult result = VK_SUCCESS;
    memset(&how, 0, sizeof how);
    how.deferred = 1;
    context = "a deferred sorter";
    context_n = 0;
    check(hs_vulkan_create_next(NULL, &left, &result) == HS_ERROR_ARGUMENT && left == 0, "no sorter");
    check(hs_vulkan_create_pipeline(NULL, 0, &result) == HS_ERROR_ARGUMENT && hs_vulkan_pipeline_count(NULL) == 0, "none");
    if (!check(hs_vulkan_create_with(sort, &device, &how, &sorter, &result) == HS_OK, "a sorter is made")) return;
    total = hs_vulkan_pipeline_count(sorter);
    check(total > 1 && hs_vulkan_create_pipeline(sorter, total, NULL) == HS_ERROR_ARGUMENT, "no such pipeline");
    fail_code = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    fail_call = calls + 1;
    check(hs_vulkan_create_next(sorter, &left, &result) == HS_ERROR_DEVICE_MEMORY && left == total && result == fail_code,
          "a failure is reported");
    fail_call = 0;
    for (i = 0; i < total; i++) {
        event_count = 0;
        check(any_sort(sorter, commands(), &args, NULL) == HS_ERROR_SCOPE && !event_count, "is not complete");
        check(hs_vulkan_create_next(sorter, &left, &result) == HS_OK && left == total - i - 1, "one pipeline");
        check(hs_vulkan_create_pipeline(sorter, i, &result) == HS_OK, "is there");
    }
    i = live;
    check(hs_vulkan_create_next(sorter, &left, NULL) == HS_OK && left == 0 && live == i, "nothing is left");
    check(any_sort(sorter, commands(), &args, NULL) == HS_OK && event_count, "is complete");
    hs_vulkan_release(sorter);
    check(live == 0, "all is destroyed");
    memset(&how, 0, sizeof how);
}

/* Sorts that those of the target may lack: with scratch, steps for in-place or out-of-place calls only, kernels for
 * 64-bit counts, which Vulkan does not have, rows of several elements.  Their SPIR-V is the target's; it never runs. */
static hs_kernel made_kernels[4];
static hs_spirv made_spirv[4], made_address[4];
#define SCRATCH(plus, per_n) {HS_SCRATCH, plus, per_n, 0}
#define KEYS(role) {role, 0, 0, 0}
static const hs_step made_steps[] = {
    {0, {0, 100, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1000}, {HS_LITERAL, 1, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_DESTINATION)}},
    {1, {100, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 7}, {HS_LITERAL, 2, 0, 0},
     {KEYS(HS_SOURCE), SCRATCH(0, 0), SCRATCH(4096, 0)}},
    {2, {100, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 1023, 1024, 2, 1 << 30}, {HS_LITERAL, 3, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_DESTINATION), SCRATCH(0, 0), SCRATCH(4096, 0), SCRATCH(8192, 0), SCRATCH(8192, 4)}},
    {2, {100, 1 << 20, HS_IN_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 1023, 1024, 2, 1 << 30}, {HS_LITERAL, 4, 0, 0},
     {SCRATCH(8192, 4), KEYS(HS_DESTINATION), SCRATCH(0, 0), SCRATCH(4096, 0), SCRATCH(8192, 0), SCRATCH(8192, 4)}},
    {1, {5000, 1 << 20, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 7}, {HS_LITERAL, 5, 0, 0},
     {KEYS(HS_DESTINATION), SCRATCH(0, 0), SCRATCH(4096, 0)}},
    {1, {100, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 7}, {HS_LITERAL, 6, 0, 0},
     {KEYS(HS_DESTINATION), SCRATCH(0, 0), SCRATCH(4096, 0)}},
    {3, {1 << 20, 1 << 22, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1 << 30}, {HS_LITERAL, 7, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_DESTINATION)}},
    {0, {1 << 20, 1 << 22, HS_IN_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1 << 30}, {HS_LITERAL, 8, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_DESTINATION)}},
};

static hs_sort made_up(const hs_sort *original, uint64_t max_n, uint32_t columns)
{
    static const uint32_t bindings[4] = {2, 3, 6, 2};
    static const hs_scratch_rule rule = {100, UINT64_MAX, 8192 + 5 * 1024, 32, 64, 4096, 3};
    hs_sort sort = *original;
    uint32_t k;
    for (k = 0; k < 4; k++) {
        const uint32_t from = k % original->kernel_count;
        made_kernels[k] = original->kernels[from];
        made_kernels[k].bindings = bindings[k];
        made_kernels[k].index64 = k == 3;
        memset(&made_spirv[k], 0, sizeof made_spirv[k]);
        memset(&made_address[k], 0, sizeof made_address[k]);
        if (k < 3) made_spirv[k] = original->spirv[from];
        if (k < 3 && original->spirv_address) made_address[k] = original->spirv_address[from];
    }
    sort.kernels = made_kernels;
    sort.kernel_count = 4;
    sort.steps = made_steps;
    sort.step_count = sizeof made_steps / sizeof made_steps[0];
    sort.max_n = max_n;
    sort.scratch = &rule;
    sort.scratch_rule_count = 1;
    sort.spirv = made_spirv;
    if (original->spirv_address) sort.spirv_address = made_address;
    sort.kind = columns > 1 ? HS_SCAN : HS_SORT;
    sort.columns = columns;
    return sort;
}

/* A sorter whose calls use the pipelines of another sort until its own exist and hs_vulkan_create_next has seen them. */
static void first_sorts(const hs_sort *sort, uint32_t width, uint32_t deferred)
{
    static const uint64_t counts[] = {0, 1, 999, 1 << 12, 1 << 16};
    const hs_sort first = made_up(sort, 1 << 16, 1);
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    hs_sort both = *sort;
    any_args args;
    uint64_t bytes = 0, own = scratch_of(sort, 1000), other = scratch_of(&first, 1000);
    uint32_t i, k, left = 0, total, made, sets, more, buffers, queries, most;
    both.first = &first;
    memset(&how, 0, sizeof how);
    how.first = 1;
    how.deferred = deferred;
    context = deferred ? "a deferred sorter with a first sort" : "a sorter with a first sort";
    failures(&both, width);
    device = fresh(width);
    if (!check(hs_vulkan_create_with(&both, &device, &how, &sorter, NULL) == HS_OK, "a sorter is made")) return;
    check(hs_vulkan_sort_of(sorter) == &both && hs_vulkan_scratch(NULL, 1, NULL, &bytes) == HS_ERROR_ARGUMENT, "arguments");
    check(hs_vulkan_scratch(sorter, 1000, NULL, &bytes) == HS_OK && bytes == (own > other ? own : other), "scratch");
    hs_vulkan_descriptors(sorter, &sets, &buffers);
    check(sets >= 1 && buffers >= sets && hs_vulkan_queries(sorter, 1000, &queries) == HS_OK, "the most of both");
    total = hs_vulkan_pipeline_count(sorter);
    made = hs_vulkan_first_count(sorter);
    check(made && made < total && !hs_vulkan_first_count(NULL), "pipelines of both");
    check(hs_vulkan_create_pipeline(sorter, total, NULL) == HS_ERROR_ARGUMENT, "no more than these");
    args = arguments(&first, 1000, 0);
    event_count = 0;
    if (deferred) check(any_sort(sorter, commands(), &args, NULL) == HS_ERROR_SCOPE && !event_count, "none is made");
    for (i = 0; deferred && i < made; i++)
        check(hs_vulkan_create_next(sorter, &left, NULL) == HS_OK && left == total - i - 1, "those of the first come first");
    for (i = made; i <= total; i++) {
        for (k = 0; k < sizeof counts / sizeof *counts; k++) one_sort(&first, sorter, &device, counts[k], (int)(i & 1));
        if (i < total) check(hs_vulkan_create_pipeline(sorter, i, NULL) == HS_OK, "one of its own");
    }
    args = arguments(sort, (1 << 16) + 1, 0);
    event_count = 0;
    if (sort->max_n > 1 << 16) check(any_sort(sorter, commands(), &args, NULL) == HS_ERROR_SCOPE && !event_count, "too many");
    check(hs_vulkan_create_next(sorter, &left, NULL) == HS_OK && left == 0, "all are made");
    for (k = 0; k < sizeof counts / sizeof *counts; k++) one_sort(sort, sorter, &device, counts[k], 0);
    hs_vulkan_release(sorter);
    check(live == 0, "all is destroyed");
    how.scope.min_n = (1 << 16) + 1; /* which the other sort does not take */
    how.deferred = 0;
    if (sort->max_n > 1 << 16 && check(hs_vulkan_create_with(&both, &device, &how, &sorter, NULL) == HS_OK, "no first sort")) {
        one_sort(sort, sorter, &device, how.scope.min_n, 0);
        hs_vulkan_release(sorter);
    }
    memset(&how, 0, sizeof how);
    if (check(hs_vulkan_create_with(&both, &device, &how, &sorter, NULL) == HS_OK, "without the option")) {
        hs_vulkan_descriptors(sorter, &more, NULL);
        check(more <= sets && hs_vulkan_queries(sorter, 1000, &most) == HS_OK && most <= queries, "no more than both");
        one_sort(sort, sorter, &device, 1000, 0);
        hs_vulkan_release(sorter);
    }
    check(live == 0, "all is destroyed");
}

/* Without options, a sorter begins with a first sort that takes all counts, and then makes no pipelines of its own. */
static void begun_sorts(const hs_sort *sort, uint32_t width)
{
    const hs_sort first = made_up(sort, 1 << 16, 1);
    hs_sort both = *sort;
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    uint32_t left = 0, of_first, total;
    context = "a sorter without options";
    if (sort->max_n < first.max_n) return;
    both.first = &first;
    both.max_n = first.max_n;
    for (uint32_t null = 0; null < 2; null++) {
        const hs_status status = null ? hs_vulkan_create_with(&both, &device, NULL, &sorter, NULL)
                                      : hs_vulkan_create(&both, &device, &sorter, NULL);
        if (!check(status == HS_OK, "a sorter is made")) return;
        of_first = hs_vulkan_first_count(sorter);
        total = hs_vulkan_pipeline_count(sorter);
        check(of_first && of_first < total, "pipelines of both");
        one_sort(&first, sorter, &device, 1 << 16, 0);
        check(hs_vulkan_create_next(sorter, &left, NULL) == HS_OK && left == total - of_first - 1, "its own are missing");
        while (left) check(hs_vulkan_create_next(sorter, &left, NULL) == HS_OK, "the next");
        one_sort(&both, sorter, &device, 1000, 0);
        hs_vulkan_release(sorter);
        check(live == 0, "all is destroyed");
    }
    both.max_n++; /* a count that the first sort does not take */
    if (sort->max_n >= both.max_n && check(hs_vulkan_create(&both, &device, &sorter, NULL) == HS_OK, "a sorter is made")) {
        check(!hs_vulkan_first_count(sorter), "without a first sort");
        one_sort(&both, sorter, &device, both.max_n, 0);
        hs_vulkan_release(sorter);
    }
    both.max_n--;
    made_kernels[0].local_bytes = UINT32_MAX; /* which no device has */
    if (check(hs_vulkan_create(&both, &device, &sorter, NULL) == HS_OK, "the device runs the sort")) {
        check(!hs_vulkan_first_count(sorter), "the device does not run the first sort");
        one_sort(&both, sorter, &device, 1000, 0);
        hs_vulkan_release(sorter);
    }
    check(live == 0, "all is destroyed");
}

/* A sort with all options: values or indices, key transform, bit range, device-side count. */
static hs_kernel full_kernels[3];
static hs_spirv full_spirv[3], full_address[3];
static hs_step full_steps[6];
#define WORDS SCRATCH(1024, 0), SCRATCH(9216, 4)
#define ROWS KEYS(HS_VALUES_OUT), KEYS(HS_COUNT)
static const hs_step full_rows[6] = {
    {0, {0, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_INDIRECT_GRIDS, 0, 0, 0},
     {KEYS(HS_COUNT), SCRATCH(0, 0)}},
    {1, {0, 1000, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1000}, {HS_PASS, 0, 8, HS_DIRECT},
     {KEYS(HS_SOURCE), KEYS(HS_DESTINATION), KEYS(HS_VALUES), ROWS}},
    {1, {0, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1 << 30}, {HS_PASS, 3, 8, HS_DIRECT},
     {KEYS(HS_SOURCE), KEYS(HS_DESTINATION), KEYS(HS_VALUES), ROWS}},
    {2, {100, 1 << 20, HS_ANYWHERE, HS_ALL_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 1023, 1024, 2, 1 << 30}, {HS_PASS_COUNT, 0, 8, 0},
     {KEYS(HS_SOURCE), KEYS(HS_DESTINATION), WORDS, KEYS(HS_VALUES), ROWS, WORDS, SCRATCH(1024, 0)}},
    {2, {100, 1 << 20, HS_ANYWHERE, HS_SOME_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 1023, 1024, 2, 1 << 30}, {HS_BIT_RANGE, 0, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_DESTINATION), WORDS, KEYS(HS_VALUES), ROWS, WORDS, SCRATCH(2048, 0)}},
    {1, {5000, 1 << 20, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 7}, {HS_LITERAL, 5, 0, 0},
     {KEYS(HS_DESTINATION), SCRATCH(1024, 0), SCRATCH(2048, 0), ROWS}},
};

/* `value_bytes` 0: an argsort, which has no values to read. */
static hs_sort made_full(const hs_sort *original, uint32_t value_bytes)
{
    static const uint32_t bindings[3] = {2, 5, HS_BINDINGS};
    static const hs_scratch_rule rule = {0, UINT64_MAX, 16384, 4, 1, 0, 0};
    hs_sort sort = *original;
    uint32_t k, b;
    memcpy(full_steps, full_rows, sizeof full_steps);
    for (k = 0; k < 6 && !value_bytes; k++)
        for (b = 0; b < HS_BINDINGS; b++)
            if (full_steps[k].bindings[b].role == HS_VALUES) full_steps[k].bindings[b].role = HS_VALUES_OUT;
    for (k = 0; k < 3; k++) {
        const uint32_t from = k % original->kernel_count;
        full_kernels[k] = original->kernels[from];
        full_kernels[k].bindings = bindings[k];
        full_spirv[k] = original->spirv[from];
        memset(&full_address[k], 0, sizeof full_address[k]);
        if (original->spirv_address) full_address[k] = original->spirv_address[from];
    }
    sort.kernels = full_kernels;
    sort.kernel_count = 3;
    sort.steps = full_steps;
    sort.step_count = 6;
    sort.max_n = 1 << 20;
    sort.scratch = &rule;
    sort.scratch_rule_count = 1;
    sort.spirv = full_spirv;
    if (original->spirv_address) sort.spirv_address = full_address;
    sort.value = value_bytes ? "v8" : "index64";
    sort.value_bytes = value_bytes ? value_bytes : 8;
    sort.index = !value_bytes;
    sort.first_bit = 0;
    sort.key_bits = 32;
    sort.key_transform = sort.bit_range = sort.device_count = 1;
    return sort;
}

/* Segments, a merge, a digest, a sort with a report.  Those with a report write it for n = 0 too. */
static hs_kernel other_kernels[2];
static hs_spirv other_spirv[2], other_address[2];
static const hs_step segments_steps[] = {
    {0, {0, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_CALL_NUMBER, 0, 0, 0},
     {SCRATCH(0, 0)}},
    {1, {0, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_NUMBER, 0, 1, 1, 1 << 30}, {HS_LITERAL, 7, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_OTHER_INPUT), KEYS(HS_DESTINATION), SCRATCH(0, 0)}},
    {1, {100, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 7}, {HS_LITERAL, 8, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_OTHER_INPUT), KEYS(HS_DESTINATION), SCRATCH(1024, 0)}}};
static const hs_step merge_steps[] = {
    {0, {0, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 0, 1, 1, 1}, {HS_CALL_NUMBER, 0, 0, 0},
     {SCRATCH(0, 0)}},
    {1, {0, 1 << 20, HS_OUT_OF_PLACE, HS_ANY_BITS, 0, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 63, 64, 1, 1 << 30}, {HS_LITERAL, 7, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_OTHER_INPUT), KEYS(HS_VALUES), KEYS(HS_OTHER_VALUES), KEYS(HS_DESTINATION),
      KEYS(HS_VALUES_OUT), SCRATCH(0, 0)}}};
static const hs_step report_steps[] = {
    {0, {0, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 1, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_N, 1, 1, 1, 1}, {HS_CALL_NUMBER, 0, 0, 0},
     {KEYS(HS_REPORT)}},
    {1, {0, 1 << 20, HS_ANYWHERE, HS_ANY_BITS, 1, HS_BY_N, HS_ANY_REDUCTION, 0, 0}, {HS_BY_NUMBER, 64, 64, 1, 1 << 30}, {HS_LITERAL, 7, 0, 0},
     {KEYS(HS_SOURCE), KEYS(HS_REPORT)}}};

static hs_sort made_other(const hs_sort *original, hs_kind kind)
{
    static const hs_scratch_rule rule = {0, UINT64_MAX, 2048, 0, 1, 0, 0};
    hs_sort sort = *original;
    uint32_t k;
    for (k = 0; k < 2; k++) {
        const uint32_t from = k % original->kernel_count;
        other_kernels[k] = original->kernels[from];
        other_kernels[k].bindings = k == 0 ? 1 : kind == HS_SEGMENTED_SORT ? 4 : kind == HS_MERGE ? 7 : 2;
        other_spirv[k] = original->spirv[from];
        memset(&other_address[k], 0, sizeof other_address[k]);
        if (original->spirv_address) other_address[k] = original->spirv_address[from];
    }
    sort.kernels = other_kernels;
    sort.kernel_count = 2;
    sort.steps = kind == HS_SEGMENTED_SORT ? segments_steps : kind == HS_MERGE ? merge_steps : report_steps;
    sort.step_count = kind == HS_SEGMENTED_SORT ? 3 : 2;
    sort.max_n = 1 << 20;
    sort.scratch = &rule;
    sort.scratch_rule_count = kind == HS_SEGMENTED_SORT || kind == HS_MERGE;
    sort.spirv = other_spirv;
    if (original->spirv_address) sort.spirv_address = other_address;
    sort.kind = kind;
    sort.report_words = kind == HS_DIGEST ? 8 : kind == HS_SORT;
    sort.report_words_per_key = kind == HS_SORT;
    sort.key_bits = 8 * sort.key_bytes;
    if (kind == HS_MERGE) {
        sort.value = "v8";
        sort.value_bytes = 8;
    }
    return sort;
}

/* Every entry point is for its own kind, and errors in buffers that only this kind has are reported. */
static void other_kinds(const hs_sort *original, uint32_t width)
{
    static const hs_kind kinds[] = {HS_SEGMENTED_SORT, HS_MERGE, HS_DIGEST, HS_SORT};
    uint32_t i, k;
    context = "other kinds";
    for (i = 0; i < 4; i++) {
        const hs_sort sort = made_other(original, kinds[i]);
        const uint64_t n = 1000; /* with offsets, or with both arrays */
        hs_vulkan_device device = fresh(width);
        hs_vulkan *sorter = NULL;
        any_args args = arguments(&sort, n + (kinds[i] == HS_MERGE ? 2 : 0), 0);
        if (!check(hs_vulkan_create(&sort, &device, &sorter, NULL) == HS_OK, "a sorter is made")) return;
        for (k = 0; k < 5; k++)
            if (k != (uint32_t)kinds[i])
                check(any_entries[k](sorter, commands(), &args, NULL) == HS_ERROR_KERNELS, "only its own kind");
        for (k = 0; k < 6; k++) {
            const int asks = kinds[i] == HS_SEGMENTED_SORT || kinds[i] == HS_MERGE;
            any_args bad = args;
            hs_vulkan_buffer *one = asks ? &bad.other : &bad.report;
            hs_status expected = HS_ERROR_ALIGNMENT;
            context_n = 10 * i + k;
            event_count = 0;
            if (k == 0) one->offset += 2;
            if (k == 1) one->address += 2;
            if (k == 2) one->size--, expected = HS_ERROR_COUNT;
            if (k == 3) one->size = VK_WHOLE_SIZE, expected = HS_ERROR_COUNT;
            if (k == 4) *one = args.source, one->size = 1 << 20, expected = asks ? HS_OK : HS_ERROR_OVERLAP;
            if (k == 5) bad.parts = (uint64_t)1 << 40, expected = asks ? HS_ERROR_PARTS : HS_ERROR_COUNT;
            if (k == 5 && kinds[i] == HS_SORT) expected = HS_ERROR_PARTS;
            if (k == 4 && kinds[i] == HS_SEGMENTED_SORT) one->offset = one->offset / 4 * 4;
            check(perform(&sort, sorter, &bad, NULL) == expected, "the status of another kind");
            check((event_count == 0) == (expected != HS_OK), "only a good call is recorded");
        }
        hs_vulkan_release(sorter);
    }
}

/* Every refused call of such a sort, once. */
static void wrong_options(const hs_sort *original, uint32_t width)
{
    const hs_sort sort = made_full(original, 8), index = made_full(original, 0);
    hs_sort bare;
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL, *indexer = NULL, *barer = NULL;
    uint32_t trial;
    context = "wrong options";
    (void)made_full(original, 8); /* the steps of the first repeated */
    bare = sort;
    bare.steps = full_steps + 1; /* no grids */
    bare.step_count = 5;
    check(hs_vulkan_create(&sort, &device, &sorter, NULL) == HS_OK, "a sorter is made");
    check(hs_vulkan_create(&index, &device, &indexer, NULL) == HS_OK, "a sorter is made");
    check(hs_vulkan_create(&bare, &device, &barer, NULL) == HS_OK, "a sorter is made");
    for (trial = 0; sorter && indexer && barer; trial++) {
        any_args args = arguments(trial < 24 ? &sort : &index, 1000, 0);
        const hs_vulkan *s = trial < 24 ? sorter : indexer;
        hs_status expected = HS_ERROR_OPTION;
        context_n = trial;
        event_count = 0;
        switch (trial) {
        case 0: args.options.type = HS_F64; break;
        case 1: args.options.discard_keys = 1; memset(&args.destination, 0, sizeof args.destination); break;
        case 2: args.values.buffer = VK_NULL_HANDLE; break;
        case 3: args.options.begin_bit = 20; args.options.end_bit = 10; expected = HS_ERROR_RANGE; break;
        case 4: args.options.end_bit = 33; expected = HS_ERROR_RANGE; break;
        case 5: args.values_destination.buffer = VK_NULL_HANDLE; expected = HS_ERROR_ARGUMENT; break;
        case 6: args.destination.buffer = VK_NULL_HANDLE; expected = HS_ERROR_ARGUMENT; break;
        case 7: args.values.size--; expected = HS_ERROR_COUNT; break;
        case 8: args.values_destination.size--; expected = HS_ERROR_COUNT; break;
        case 9: args.values.offset += 4; expected = HS_ERROR_ALIGNMENT; break;
        case 10: args.values_destination.address += 4; expected = HS_ERROR_ALIGNMENT; break;
        case 11: count_on_device(&args); args.count.offset += 2; expected = HS_ERROR_ALIGNMENT; break;
        case 12: count_on_device(&args); args.count.size = 3; expected = HS_ERROR_COUNT; break;
        case 13: count_on_device(&args); args.count = args.destination; expected = HS_ERROR_OVERLAP; break;
        case 14: /* its offset and size suit keys of any width */
            args.values_destination = args.source;
            args.values_destination.offset = 0;
            args.values_destination.size = 8000;
            expected = HS_ERROR_OVERLAP;
            break;
        case 15: args.values = args.scratch; expected = HS_ERROR_OVERLAP; break;
        case 16: args.values_destination.buffer = args.values.buffer; expected = HS_ERROR_OVERLAP; break;
        case 17: count_on_device(&args); s = barer; expected = HS_ERROR_KERNELS; break;
        case 18: s = barer; expected = HS_OK; break;
        case 19: /* read-only buffers may be the same */
            count_on_device(&args);
            args.count.buffer = args.source.buffer;
            expected = HS_OK;
            break;
        case 20: args.options.type = HS_I32; args.options.end_bit = 32; expected = HS_OK; break;
        case 21: /* the same part twice: in place, with its values */
            args.destination = args.source;
            args.values_destination = args.values;
            expected = HS_OK;
            break;
        case 22: args.destination = args.source; expected = HS_ERROR_ARGUMENT; break;
        case 23: args.n = 0; args.options.type = HS_F64; break;
        case 24: args.values = args.values_destination; break;
        case 25: args.values_destination.buffer = VK_NULL_HANDLE; break;
        case 26: args.options.discard_keys = 1; expected = HS_ERROR_ARGUMENT; break;
        case 27: /* no room for the keys in scratch */
            args.options.discard_keys = 1;
            memset(&args.destination, 0, sizeof args.destination);
            expected = HS_ERROR_SCRATCH;
            break;
        default:
            hs_vulkan_release(sorter);
            hs_vulkan_release(indexer);
            hs_vulkan_release(barer);
            return;
        }
        check(any_sort(s, commands(), &args, NULL) == expected, "the status of wrong options");
        check((event_count == 0) == (expected != HS_OK), "only a good sort is recorded");
    }
}

/* Sorts of narrow keys need buffers of such elements. */
static void narrow_keys(const hs_sort *original, uint32_t width)
{
    static const uint32_t bits[2] = {HS_VULKAN_STORAGE8, HS_VULKAN_STORAGE16};
    hs_sort sort = *original;
    uint32_t i, trial, needed, useful;
    context = "narrow keys";
    for (i = 0; i < 2; i++)
        for (trial = 0; trial < 3; trial++) {
            hs_vulkan_device device = fresh(width);
            hs_vulkan *sorter = NULL;
            sort.key_bytes = i + 1;
            if (trial == 1) device.features &= ~bits[i];
            if (trial == 2) *(i ? &has_storage16 : &has_storage8) = VK_FALSE;
            check(hs_vulkan_create(&sort, &device, &sorter, NULL) == (trial ? HS_ERROR_DEVICE : HS_OK), "storage");
            hs_vulkan_release(sorter);
            check(hs_vulkan_features(&sort, &device, &needed, &useful) == (trial == 2 ? HS_ERROR_DEVICE : HS_OK),
                  "features agrees with create");
            check(trial == 2 || (needed & (HS_VULKAN_STORAGE8 | HS_VULKAN_STORAGE16)) == bits[i], "what is needed");
        }
}

/* Kernels for 64-bit counts: the sorter is created without them, and only a sort that would launch one is refused. */
static void wide_kernels(const hs_sort *original, uint32_t width)
{
    const hs_sort sort = made_up(original, 1 << 22, 1);
    const uint64_t n = (1 << 20) + 1;
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    any_args args = arguments(&sort, n, 0);
    uint32_t needed, useful;
    context = "kernels for 64-bit counts";
    context_n = n;
    check(hs_vulkan_features(&sort, &device, &needed, &useful) == HS_OK, "the rest of the sort runs");
    if (!check(hs_vulkan_create(&sort, &device, &sorter, NULL) == HS_OK, "a sorter is made")) return;
    check(any_sort(sorter, commands(), &args, NULL) == HS_ERROR_COUNT && event_count == 0, "is refused");
    args.source.buffer = VK_NULL_HANDLE; /* regardless of other errors */
    check(any_sort(sorter, commands(), &args, NULL) == HS_ERROR_COUNT && event_count == 0, "is refused");
    one_sort(&sort, sorter, &device, n - 1, 0);
    one_sort(&sort, sorter, &device, n, 1); /* in place it is not one of those */
    args = arguments(&sort, n, 1);
    args.destination = args.source;
    event_count = 0;
    check(any_sort(sorter, commands(), &args, NULL) == HS_OK && event_count > 0, "in place by its name twice");
    hs_vulkan_release(sorter);
    check(live == 0, "all is destroyed");
}

static void wrong_scratch(const hs_sort *original, uint32_t width)
{
    const hs_sort sort = made_up(original, 1 << 20, 1);
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    uint32_t trial;
    context = "wrong scratch";
    if (!check(hs_vulkan_create(&sort, &device, &sorter, NULL) == HS_OK, "a sorter is made")) return;
    for (trial = 0; trial < 7; trial++) {
        any_args args = arguments(&sort, 1000, 0);
        hs_status expected = HS_ERROR_SCRATCH;
        context_n = trial;
        event_count = 0;
        switch (trial) {
        case 0: args.scratch.buffer = VK_NULL_HANDLE; break;
        case 1: args.scratch.size--; break;
        case 2: args.scratch.offset = 128; expected = HS_ERROR_ALIGNMENT; break;
        case 3: args.scratch.buffer = args.source.buffer; expected = HS_ERROR_OVERLAP; break;
        case 4: args.scratch.buffer = args.destination.buffer; expected = HS_ERROR_OVERLAP; break;
        case 5: args.scratch.size = VK_WHOLE_SIZE; break;
        default: /* few keys need no scratch */
            args.n = 100;
            args.scratch.buffer = VK_NULL_HANDLE;
            expected = HS_OK;
        }
        check(any_sort(sorter, commands(), &args, NULL) == expected, "the status of wrong scratch");
        check((event_count == 0) == (expected != HS_OK), "only a good sort is recorded");
    }
    hs_vulkan_release(sorter);
}

static void scans(const hs_sort *original, uint32_t width)
{
    const hs_sort sort = made_up(original, 1 << 20, 3);
    hs_vulkan_device device = fresh(width);
    hs_vulkan *sorter = NULL;
    any_args args = arguments(&sort, 1000, 0);
    context = "scans";
    if (!check(hs_vulkan_create(&sort, &device, &sorter, NULL) == HS_OK, "a sorter is made")) return;
    check(any_sort(sorter, commands(), &args, NULL) == HS_ERROR_KERNELS && event_count == 0, "is no sort");
    args.source.size--;
    check(any_scan(sorter, commands(), &args, NULL) == HS_ERROR_COUNT && event_count == 0, "all columns count");
    hs_vulkan_release(sorter);
}

int main(int argc, char **argv)
{
    const hs_target *target = NULL;
    size_t i;
    uint32_t k;
    if (argc == 3 && strcmp(argv[1], "drop") == 0) drop = (uint32_t)strtoul(argv[2], NULL, 10);
    if (argc != 1 && !drop) return 2;
    for (i = 0; !target && i < hs_targets_count; i++)
        if (hs_targets[i]->sort_count && hs_targets[i]->sorts[0]->spirv) target = hs_targets[i];
    if (!target) {
        fprintf(stderr, "no target has SPIR-V\n");
        return 2;
    }
    for (i = 0; i < target->sort_count; i++) {
        const hs_sort *sort = target->sorts[i];
        uint32_t width = 1;
        for (k = 0; k < sort->kernel_count; k++)
            if (sort->kernels[k].subgroup > width) width = sort->kernels[k].subgroup;
        sweeps(sort, width);
        if (!drop) other_ways(sort, width);
        if (!drop) scopes(sort, width);
        if (sort->kind != HS_SORT) {
            if (!drop) failures(sort, width);
            continue; /* the structures below start as a sort */
        }
        for (k = 1; k <= 3; k += 2) {
            const hs_sort made = made_up(sort, 1 << 20, k);
            sweeps(&made, width);
            if (!drop) other_ways(&made, width);
            if (!drop) scopes(&made, width);
            if (!drop) failures(&made, width);
        }
        for (k = 0; k <= 8; k += 8) {
            const hs_sort made = made_full(sort, k);
            sweeps(&made, width);
            if (!drop) other_ways(&made, width);
            if (!drop) scopes(&made, width);
            if (!drop) failures(&made, width);
        }
        for (k = 0; k < 4; k++) {
            static const hs_kind kinds[] = {HS_SEGMENTED_SORT, HS_MERGE, HS_DIGEST, HS_SORT};
            const hs_sort made = made_other(sort, kinds[k]);
            sweeps(&made, width);
            if (!drop) other_ways(&made, width);
            if (!drop) scopes(&made, width);
            if (!drop) failures(&made, width);
        }
        if (drop) continue;
        deferred(sort, width);
        first_sorts(sort, width, 0);
        first_sorts(sort, width, 1);
        begun_sorts(sort, width);
        if (sort->spirv_address && sort->max_n > 1 << 20) scope_addresses(sort, width);
        how.binding = HS_VULKAN_BY_PUSH;
        failures(sort, width);
        memset(&how, 0, sizeof how);
        wrong_options(sort, width);
        other_kinds(sort, width);
        narrow_keys(sort, width);
        wide_kernels(sort, width);
        wrong_scratch(sort, width);
        scans(sort, width);
        failures(sort, width);
        absent_functions(sort, width);
        poor_devices(sort, width > 1 ? width : 8);
        wrong_arguments(sort, width);
        too_large(sort, width);
    }
    if (!drop) matching(target, 16);
    if (!drop) failing_matches(target, 16);
    if (drop) {
        printf("target %s: barrier %u forgotten in %u sorts, missed in %u of them\n", target->name, (unsigned)drop,
               (unsigned)had_dropped, (unsigned)(had_dropped - found_dropped));
        return had_dropped > 0 && found_dropped == had_dropped;
    }
    printf("target %s: %u sorts, at most %u barriers, %d checks, %d errors\n", target->name, sorts_done,
           (unsigned)most_barriers, checks, errors);
    return errors ? 1 : 0;
}
