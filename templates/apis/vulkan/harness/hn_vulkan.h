/* What the files of the Vulkan harness share: the loader's functions, the open device, and how they report. */
#ifndef HN_VULKAN_H
#define HN_VULKAN_H

#include "hn_options.h"
#include "hs/hs_vulkan.h"

#ifndef HS_HLSL
#define HS_HLSL 0 /* as in the runtime; 1: buffers end with a whole word */
#endif

#define HN_INSTANCE_CALLS(X)                                                                                          \
    X(DestroyInstance) X(EnumeratePhysicalDevices) X(EnumerateDeviceExtensionProperties) X(CreateDevice)              \
    X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceFeatures2) X(GetPhysicalDeviceMemoryProperties)                \
    X(GetPhysicalDeviceQueueFamilyProperties) X(GetDeviceProcAddr)
#define HN_DEVICE_CALLS(X)                                                                                            \
    X(DestroyDevice) X(GetDeviceQueue) X(CreateCommandPool) X(DestroyCommandPool) X(AllocateCommandBuffers)           \
    X(BeginCommandBuffer) X(EndCommandBuffer) X(CreateFence) X(DestroyFence) X(ResetFences) X(WaitForFences)          \
    X(QueueSubmit) X(CreateQueryPool) X(DestroyQueryPool) X(GetQueryPoolResults) X(CmdResetQueryPool)                 \
    X(CmdWriteTimestamp) X(CreateBuffer) X(DestroyBuffer) X(GetBufferMemoryRequirements) X(AllocateMemory)            \
    X(FreeMemory) X(BindBufferMemory) X(MapMemory) X(CmdCopyBuffer) X(CmdFillBuffer) X(CmdPipelineBarrier)            \
    X(CreateDescriptorPool) X(DestroyDescriptorPool) X(ResetDescriptorPool) X(DeviceWaitIdle)
#define HN_MEMBER(name) PFN_vk##name name;

enum { HN_DEVICES = 64, HN_STAGING = 1 << 24 }; /* HN_STAGING: bytes */

typedef struct hn_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceAddress address;
    uint64_t bytes;
    void *mapped;
} hn_memory;

extern struct hn_functions {
    PFN_vkGetInstanceProcAddr get;
    HN_INSTANCE_CALLS(HN_MEMBER)
    HN_DEVICE_CALLS(HN_MEMBER)
    PFN_vkGetBufferDeviceAddress get_address;
} vk;

extern struct hn_state {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice devices[HN_DEVICES];
    uint32_t device_count;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkQueryPool queries;
    VkDescriptorPool sets;
    uint64_t tick_mask;
    double tick_seconds;
    uint32_t features;
    hs_vulkan_binding binding;
    uint32_t first; /* 1: a sorter has only the pipelines of its first sort, which serves all calls.  2: the harness
                       also creates the other pipelines before the calls, so each call uses its usual sort. */
    uint64_t binding_limit, sorted; /* sorted: the last n */
    int poison, unchecked; /* unchecked: 1 if the guard was not checked since the last sort */
    hn_memory buffers[HN_SLOTS], staging, scratch; /* scratch: including the guard */
    hs_vulkan *sorter, *copier;
} hn;

/* A physical device, queried with the structures that it supports. */
typedef struct hn_facts {
    VkPhysicalDeviceProperties2 base;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceSubgroupSizeControlProperties control;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceSubgroupSizeControlFeatures control_feature;
    VkPhysicalDeviceBufferDeviceAddressFeatures address_feature;
    VkPhysicalDevice16BitStorageFeatures storage16_feature;
    VkPhysicalDevice8BitStorageFeatures storage8_feature;
    uint32_t cores, units, threads, registers; /* of a core; 0 if not reported */
    int push;                  /* whether it has push descriptors */
    const char *extensions[4]; /* to be enabled for these features */
    uint32_t extension_count;
} hn_facts;

/* Format an error as printf does, and return the text. */
const char *hn_fail(const char *format, ...);

/* The text of an error: of a Vulkan result, or of a runtime's status with its Vulkan result.  Null means success. */
const char *hn_code(const char *call, VkResult code);
const char *hn_status(const char *call, hs_status status, VkResult code);

/* Make an instance of the highest version up to 1.3, unless there is one. */
const char *hn_instance(int validation);
void hn_close_instance(void);

/* Discard the messages of validation layers. */
void hn_clear_messages(void);

/* Query device `index`. */
const char *hn_ask(int index, hn_facts *facts);

/* Whether a pipeline of the device can ask for a subgroup size. */
int hn_controls(const hn_facts *facts);

static inline int hn_is_slot(int slot) { return slot >= 0 && slot < HN_SLOTS; }

/* hn_drop releases a buffer and its memory; hn_make makes one of `bytes` bytes, mapped if `host` is 1. */
void hn_drop(hn_memory *memory);
const char *hn_make(hn_memory *memory, uint64_t bytes, int host);

/* hn_begin begins the command buffer; hn_finish ends it, submits it and waits. */
const char *hn_begin(void);
const char *hn_finish(void);

/* Record a barrier: these accesses in these stages see the results of all earlier commands. */
void hn_barrier(VkPipelineStageFlags to, VkAccessFlags accesses);

/* Copy through the staging buffer: from the host's `from` to a buffer, or from a buffer to the host's `to`. */
const char *hn_move(const hn_memory *memory, uint64_t offset, const void *from, void *to, uint64_t bytes);

/* Check the guard after scratch, if a sort has run since the last check.  Returns null, or a text if it changed. */
const char *hn_check_guard(void);

/* Stages and accesses of all that the harness records. */
#define HN_STAGES (VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT)
#define HN_ACCESSES                                                                                                    \
    (VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |                            \
     VK_ACCESS_TRANSFER_WRITE_BIT)

/* Record a call for the sorter, with `scratch` bytes of scratch. */
hs_status hn_record(const hn_call *call, uint64_t scratch, VkResult *code);

#endif
