/* The Vulkan harness: buffers, and commands that move their content. */
#include "hn_vulkan.h"

#include <string.h>

void hn_drop(hn_memory *memory)
{
    if (memory->buffer) vk.DestroyBuffer(hn.device, memory->buffer, NULL);
    if (memory->memory) vk.FreeMemory(hn.device, memory->memory, NULL); /* unmaps it */
    memset(memory, 0, sizeof *memory);
}

const char *hn_make(hn_memory *memory, uint64_t bytes, int host)
{
    const VkMemoryPropertyFlags device_local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                cached = visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    VkBufferCreateInfo info;
    VkMemoryRequirements needs;
    VkMemoryAllocateInfo allocate;
    VkMemoryAllocateFlagsInfo flags;
    VkPhysicalDeviceMemoryProperties types;
    VkBufferDeviceAddressInfo whose;
    VkResult code;
    uint32_t i, best = 0;
    hn_drop(memory);
    memset(&info, 0, sizeof info);
    memset(&allocate, 0, sizeof allocate);
    memset(&flags, 0, sizeof flags);
    memset(&whose, 0, sizeof whose);
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = HS_HLSL ? (bytes + 4) / 4 * 4 : bytes ? bytes : 1;
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (!host) info.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
    if (!host && (hn.features & HS_VULKAN_ADDRESS)) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    code = vk.CreateBuffer(hn.device, &info, NULL, &memory->buffer);
    if (code) {
        memory->buffer = VK_NULL_HANDLE;
        return hn_code("vkCreateBuffer", code);
    }
    vk.GetBufferMemoryRequirements(hn.device, memory->buffer, &needs);
    vk.GetPhysicalDeviceMemoryProperties(hn.physical, &types);
    allocate.memoryTypeIndex = UINT32_MAX;
    for (i = 0; i < types.memoryTypeCount; i++) {
        const VkMemoryPropertyFlags has = types.memoryTypes[i].propertyFlags;
        uint32_t rank = 1;
        if (!(needs.memoryTypeBits >> i & 1) || (host && (has & visible) != visible)) continue;
        if (host ? (has & cached) == cached : (has & device_local) != 0) rank = 2;
        if (rank > best) allocate.memoryTypeIndex = i;
        if (rank > best) best = rank;
    }
    if (!best) return "no memory type suits";
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    if (info.usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) allocate.pNext = &flags;
    allocate.allocationSize = needs.size;
    code = vk.AllocateMemory(hn.device, &allocate, NULL, &memory->memory);
    if (code) memory->memory = VK_NULL_HANDLE;
    else code = vk.BindBufferMemory(hn.device, memory->buffer, memory->memory, 0);
    if (!code && host) code = vk.MapMemory(hn.device, memory->memory, 0, VK_WHOLE_SIZE, 0, &memory->mapped);
    if (code) {
        hn_drop(memory);
        return hn_fail("%llu bytes of memory: VkResult %d", (unsigned long long)bytes, (int)code);
    }
    whose.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    whose.buffer = memory->buffer;
    if (allocate.pNext) memory->address = vk.get_address(hn.device, &whose);
    memory->bytes = bytes;
    return NULL;
}

const char *hn_buffer(int slot, uint64_t bytes)
{
    if (!hn.device) return "no device is open";
    return hn_is_slot(slot) ? hn_make(&hn.buffers[slot], bytes, 0) : "there is no such buffer";
}

void hn_barrier(VkPipelineStageFlags to, VkAccessFlags accesses)
{
    VkMemoryBarrier barrier;
    memset(&barrier, 0, sizeof barrier);
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = HN_ACCESSES;
    barrier.dstAccessMask = accesses;
    vk.CmdPipelineBarrier(hn.commands, HN_STAGES, to, 0, 1, &barrier, 0, NULL, 0, NULL);
}

const char *hn_begin(void)
{
    VkCommandBufferBeginInfo begin;
    memset(&begin, 0, sizeof begin);
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    return hn_code("vkBeginCommandBuffer", vk.BeginCommandBuffer(hn.commands, &begin));
}

const char *hn_finish(void)
{
    VkSubmitInfo submit;
    VkResult code;
    memset(&submit, 0, sizeof submit);
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &hn.commands;
    code = vk.EndCommandBuffer(hn.commands);
    if (!code) code = vk.ResetFences(hn.device, 1, &hn.fence);
    if (!code) code = vk.QueueSubmit(hn.queue, 1, &submit, hn.fence);
    if (!code) code = vk.WaitForFences(hn.device, 1, &hn.fence, VK_TRUE, UINT64_MAX);
    return hn_code("running commands", code);
}

const char *hn_move(const hn_memory *memory, uint64_t offset, const void *from, void *to, uint64_t bytes)
{
    const char *error = NULL;
    uint64_t done, part;
    if (!memory->buffer) return "there is no such buffer";
    if (offset > memory->bytes || bytes > memory->bytes - offset) return "beyond the end of the buffer";
    for (done = 0; !error && done < bytes; done += part) {
        VkBufferCopy copy = {0, 0, 0};
        part = bytes - done < HN_STAGING ? bytes - done : HN_STAGING;
        copy.size = part;
        error = hn_begin();
        if (error) return error;
        hn_barrier(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
        if (from) {
            memcpy(hn.staging.mapped, (const char *)from + done, (size_t)part);
            copy.dstOffset = offset + done;
            vk.CmdCopyBuffer(hn.commands, hn.staging.buffer, memory->buffer, 1, &copy);
        } else {
            copy.srcOffset = offset + done;
            vk.CmdCopyBuffer(hn.commands, memory->buffer, hn.staging.buffer, 1, &copy);
            hn_barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        }
        error = hn_finish();
        if (!error && to) memcpy((char *)to + done, hn.staging.mapped, (size_t)part);
    }
    return error;
}

const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes)
{
    return hn_is_slot(slot) ? hn_move(&hn.buffers[slot], offset, data, NULL, bytes) : "there is no such buffer";
}
