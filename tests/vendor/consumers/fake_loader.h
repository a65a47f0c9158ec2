/* A loader of Vulkan's functions, as volk is one: no function is declared, each is a variable, which fake_loader.c
 * fills.  For the functions of examples/sort_vulkan.c. */
#ifndef FAKE_LOADER_H
#define FAKE_LOADER_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#define LOADED(X)                                                                                                     \
    X(AllocateCommandBuffers) X(AllocateMemory) X(BeginCommandBuffer) X(BindBufferMemory) X(CmdPipelineBarrier)       \
    X(CreateBuffer) X(CreateCommandPool) X(CreateDescriptorPool) X(CreateDevice) X(CreateInstance)                    \
    X(CreatePipelineCache) X(DestroyBuffer) X(DestroyCommandPool) X(DestroyDescriptorPool) X(DestroyDevice)           \
    X(DestroyInstance) X(DestroyPipelineCache) X(EndCommandBuffer) X(EnumeratePhysicalDevices) X(FreeMemory)          \
    X(GetBufferMemoryRequirements) X(GetDeviceQueue) X(GetInstanceProcAddr) X(GetPipelineCacheData)                   \
    X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceProperties)                                        \
    X(GetPhysicalDeviceQueueFamilyProperties) X(MapMemory) X(QueueSubmit) X(QueueWaitIdle)
#define DECLARED(name) extern PFN_vk##name vk##name;
LOADED(DECLARED)

#endif
