// vulkan_radix_sort (https://github.com/jaesung-cs/vulkan_radix_sort), in place, on a Vulkan device object of its own.
// Its header, vk_radix_sort.h, is in a folder that the user names.  Functions return null, or an error message.
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#ifndef VK_VERSION_1_4 // older headers have these names of Vulkan 1.4 only with the suffix of VK_KHR_push_descriptor
#define VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR
typedef PFN_vkCmdPushDescriptorSetKHR PFN_vkCmdPushDescriptorSet;
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#define INSTANCE_CALLS(X)                                                                                              \
    X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties) X(GetPhysicalDeviceProperties2)                         \
    X(GetPhysicalDeviceFeatures2)                                                                                      \
    X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceQueueFamilyProperties) X(CreateDevice) X(GetDeviceProcAddr) \
    X(EnumerateDeviceExtensionProperties)
#define DEVICE_CALLS(X)                                                                                                \
    X(GetDeviceQueue) X(CreateCommandPool) X(AllocateCommandBuffers) X(BeginCommandBuffer) X(EndCommandBuffer)         \
    X(QueueSubmit) X(QueueWaitIdle) X(CreateQueryPool) X(GetQueryPoolResults) X(CmdResetQueryPool)                     \
    X(CmdWriteTimestamp) X(CreateBuffer) X(DestroyBuffer) X(GetBufferMemoryRequirements) X(AllocateMemory)             \
    X(FreeMemory) X(BindBufferMemory) X(MapMemory) X(CmdCopyBuffer) X(CmdFillBuffer) X(CmdUpdateBuffer)                \
    X(CmdPipelineBarrier2) X(CreateShaderModule) X(DestroyShaderModule) X(CreateComputePipelines) X(DestroyPipeline)   \
    X(CreatePipelineLayout) X(DestroyPipelineLayout) X(CreateDescriptorSetLayout) X(DestroyDescriptorSetLayout)        \
    X(CmdBindPipeline) X(CmdPushConstants) X(CmdDispatch)
#define DECLARE(name) static PFN_vk##name vk##name;
static PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
static PFN_vkCmdPushDescriptorSet vkCmdPushDescriptorSet;
INSTANCE_CALLS(DECLARE)
DEVICE_CALLS(DECLARE)

#define VOLK_H_ // the header then includes no volk.h, and calls the functions declared here
#define VRDX_IMPLEMENTATION
#include "vk_radix_sort.h"

namespace {

struct Memory {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    void *mapped = nullptr;
};

VkInstance instance;
VkPhysicalDevice physical;
VkDevice device;
VkQueue queue;
VkCommandBuffer commands;
VkQueryPool queries;
double tick;
VrdxSorter sorter;
std::uint32_t count;
bool valued;
Memory staging, given[2], work[2], storage; // given, work: the input and the sorted copy, of keys [0] and values [1]
std::string said;

void check(VkResult code, const char *call)
{
    if (code < 0) throw std::runtime_error(std::string(call) + " returns " + std::to_string(code));
}
#define TRY(call) check(call, #call)

template <typename Work> const char *guarded(Work &&work)
{
    try {
        work();
        return nullptr;
    } catch (const std::exception &e) {
        said = e.what();
    }
    return said.c_str();
}

void start()
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader) throw std::runtime_error("Vulkan's loader is not installed");
    vkGetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(vkGetInstanceProcAddr(nullptr, "vkCreateInstance"));
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    TRY(create(&info, nullptr, &instance));
#define LOAD(name) vk##name = reinterpret_cast<PFN_vk##name>(vkGetInstanceProcAddr(instance, "vk" #name));
    INSTANCE_CALLS(LOAD)
#undef LOAD
}

std::uint32_t family()
{
    std::uint32_t families = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, nullptr);
    std::vector<VkQueueFamilyProperties> all(families);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, all.data());
    for (std::uint32_t i = 0; i < families; i++)
        if (all[i].queueFlags & VK_QUEUE_COMPUTE_BIT && all[i].timestampValidBits) return i;
    throw std::runtime_error("the device has no queue for compute with timestamps");
}

// Open a device with push descriptors, synchronization2, and all its features of Vulkan 1.1 to 1.3.
void open(int index)
{
    std::uint32_t devices = 64;
    VkPhysicalDevice all[64];
    TRY(vkEnumeratePhysicalDevices(instance, &devices, all));
    if (index < 0 || static_cast<std::uint32_t>(index) >= devices) throw std::runtime_error("there is no such device");
    physical = all[index];
    std::uint32_t extensions = 0;
    TRY(vkEnumerateDeviceExtensionProperties(physical, nullptr, &extensions, nullptr));
    std::vector<VkExtensionProperties> have(extensions);
    TRY(vkEnumerateDeviceExtensionProperties(physical, nullptr, &extensions, have.data()));
    bool push = false;
    for (const auto &x : have) push |= !std::strcmp(x.extensionName, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    VkPhysicalDeviceVulkan11Features v11 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
    VkPhysicalDeviceVulkan12Features v12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &v11};
    VkPhysicalDeviceVulkan13Features v13 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &v12};
    VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v13};
    vkGetPhysicalDeviceFeatures2(physical, &features);
    VkPhysicalDeviceSubgroupProperties lanes = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 facts = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &lanes, {}};
    vkGetPhysicalDeviceProperties2(physical, &facts);
    if (lanes.subgroupSize < 32) throw std::runtime_error("the device has subgroups of fewer than 32 lanes, for which it is not made");
    if (!push || !v13.synchronization2) throw std::runtime_error("the device lacks VK_KHR_push_descriptor or synchronization2");
    const float priority = 1;
    const char *names[] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};
    VkDeviceQueueCreateInfo queue_info = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue_info.queueFamilyIndex = family();
    queue_info.queueCount = 1;
    queue_info.pQueuePriorities = &priority;
    VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
    info.queueCreateInfoCount = info.enabledExtensionCount = 1;
    info.pQueueCreateInfos = &queue_info;
    info.ppEnabledExtensionNames = names;
    TRY(vkCreateDevice(physical, &info, nullptr, &device));
#define LOAD(name) vk##name = reinterpret_cast<PFN_vk##name>(vkGetDeviceProcAddr(device, "vk" #name));
    DEVICE_CALLS(LOAD)
#undef LOAD
    vkCmdPushDescriptorSet =
        reinterpret_cast<PFN_vkCmdPushDescriptorSet>(vkGetDeviceProcAddr(device, "vkCmdPushDescriptorSetKHR"));
    vkGetDeviceQueue(device, queue_info.queueFamilyIndex, 0, &queue);
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                         VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, queue_info.queueFamilyIndex};
    VkCommandPool pool;
    TRY(vkCreateCommandPool(device, &pool_info, nullptr, &pool));
    VkCommandBufferAllocateInfo allocate = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool,
                                            VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    TRY(vkAllocateCommandBuffers(device, &allocate, &commands));
    VkQueryPoolCreateInfo query_info = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_TIMESTAMP, 2};
    TRY(vkCreateQueryPool(device, &query_info, nullptr, &queries));
    tick = facts.properties.limits.timestampPeriod * 1e-9;
    VrdxSorterCreateInfo sorter_info = {physical, device, VK_NULL_HANDLE};
    TRY(vrdxCreateSorter(&sorter_info, &sorter));
}

void drop(Memory &m)
{
    vkDestroyBuffer(device, m.buffer, nullptr);
    vkFreeMemory(device, m.memory, nullptr);
    m = Memory();
}

// Make a buffer in device memory or, with `host`, in memory that the host can access.
void make(Memory &m, VkDeviceSize bytes, bool host)
{
    const VkMemoryPropertyFlags wanted = host ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                                              : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    TRY(vkCreateBuffer(device, &info, nullptr, &m.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, m.buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(physical, &types);
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, 0};
    for (; allocate.memoryTypeIndex < types.memoryTypeCount; allocate.memoryTypeIndex++)
        if (needs.memoryTypeBits >> allocate.memoryTypeIndex & 1 &&
            (types.memoryTypes[allocate.memoryTypeIndex].propertyFlags & wanted) == wanted)
            break;
    TRY(vkAllocateMemory(device, &allocate, nullptr, &m.memory));
    TRY(vkBindBufferMemory(device, m.buffer, m.memory, 0));
    if (host) TRY(vkMapMemory(device, m.memory, 0, VK_WHOLE_SIZE, 0, &m.mapped));
}

void barrier()
{
    VkMemoryBarrier2 all = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, nullptr, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                            VK_ACCESS_2_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                            VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT};
    VkDependencyInfo info = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    info.memoryBarrierCount = 1;
    info.pMemoryBarriers = &all;
    vkCmdPipelineBarrier2(commands, &info);
}

// Run the commands that `record` records, and wait.
template <typename Record> void run(Record &&record)
{
    VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    TRY(vkBeginCommandBuffer(commands, &begin));
    barrier();
    record();
    barrier();
    TRY(vkEndCommandBuffer(commands));
    VkSubmitInfo submit = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    TRY(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    TRY(vkQueueWaitIdle(queue));
}

void move(const Memory &from, const Memory &to)
{
    const VkBufferCopy whole = {0, 0, VkDeviceSize(count) * 4};
    vkCmdCopyBuffer(commands, from.buffer, to.buffer, 1, &whole);
}

void close()
{
    if (!device) return;
    vkQueueWaitIdle(queue);
    for (Memory *m : {&staging, &given[0], &given[1], &work[0], &work[1], &storage}) drop(*m);
}

} // namespace

extern "C" const char *baseline_version(void)
{
    static const std::string text = std::to_string(VRDX_VERSION_MAJOR) + "." + std::to_string(VRDX_VERSION_MINOR) + "." +
                                    std::to_string(VRDX_VERSION_PATCH);
    return text.c_str();
}

// Open the device number `index` in Vulkan's list; copy n keys and, if not null, n values of 4 bytes to the device.
extern "C" const char *baseline_open(int index, const void *keys, const void *values, std::size_t n)
{
    return guarded([=] {
        if (!instance) start();
        if (!device) open(index);
        count = static_cast<std::uint32_t>(n);
        valued = values != nullptr;
        VrdxSorterStorageRequirements needs;
        (valued ? vrdxGetSorterKeyValueStorageRequirements : vrdxGetSorterStorageRequirements)(sorter, count, &needs);
        make(staging, n * 4, true);
        make(storage, needs.size, false);
        for (int i = 0; i <= int(valued); i++) {
            make(given[i], n * 4, false);
            make(work[i], n * 4, false);
            std::memcpy(staging.mapped, i ? values : keys, n * 4);
            run([=] { move(staging, given[i]); });
        }
    });
}

extern "C" const char *baseline_prepare(void)
{
    return guarded([] {
        run([] {
            for (int i = 0; i <= int(valued); i++) move(given[i], work[i]);
        });
    });
}

// Sort; store the seconds by the device's clock.  The caller measures the wall time, which includes the time for
// recording commands, as it does for hsgen's sorts.
extern "C" const char *baseline_sort(double *by_device)
{
    return guarded([=] {
        run([] {
            vkCmdResetQueryPool(commands, queries, 0, 2);
            vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 0);
            if (valued)
                vrdxCmdSortKeyValue(commands, sorter, count, work[0].buffer, 0, work[1].buffer, 0, storage.buffer, 0,
                                    VK_NULL_HANDLE, 0);
            else vrdxCmdSort(commands, sorter, count, work[0].buffer, 0, storage.buffer, 0, VK_NULL_HANDLE, 0);
            vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 1);
        });
        std::uint64_t ticks[2];
        TRY(vkGetQueryPoolResults(device, queries, 0, 2, sizeof ticks, ticks, sizeof ticks[0],
                                  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
        *by_device = double(ticks[1] - ticks[0]) * tick;
    });
}

// Fetch the sorted keys or, if `values` is not 0, the values.
extern "C" const char *baseline_result(void *out, int values)
{
    return guarded([=] {
        run([=] { move(work[values != 0], staging); });
        std::memcpy(out, staging.mapped, std::size_t(count) * 4);
    });
}

extern "C" void baseline_close(void) { close(); }
