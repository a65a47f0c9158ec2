/* The objects that a sorter keeps from call to call: bind groups of the caller's buffers, and the numbers of
 * launches. */
#include "hs_webgpu_internal.h"

#include <string.h>

static void hs_webgpu_drop_group(hs_webgpu_group *group)
{
    uint32_t i;
    if (!group->group) return;
    wgpuBindGroupRelease(group->group);
    for (i = 0; i < group->count; i++) wgpuBufferRelease(group->ranges[i].buffer);
    memset(group, 0, sizeof *group);
}

static void hs_webgpu_drop_table(hs_webgpu_table *table)
{
    if (table->group) wgpuBindGroupRelease(table->group);
    if (table->buffer) wgpuBufferRelease(table->buffer);
    memset(table, 0, sizeof *table);
}

void hs_webgpu_forget(hs_webgpu_sorter *sorter)
{
    uint32_t i;
    if (!sorter) return;
    for (i = 0; i < HS_WEBGPU_GROUPS; i++) hs_webgpu_drop_group(&sorter->groups[i]);
    for (i = 0; i < HS_WEBGPU_CALLS; i++) hs_webgpu_drop_table(&sorter->tables[i]);
}

static int hs_webgpu_equal(const hs_webgpu_group *group, const hs_webgpu_range *ranges, uint32_t count)
{
    uint32_t i;
    if (!group->group || group->count != count) return 0;
    for (i = 0; i < count; i++) {
        const hs_webgpu_range *a = &group->ranges[i], *b = &ranges[i];
        if (a->buffer != b->buffer || a->offset != b->offset || a->size != b->size) return 0;
    }
    return 1;
}

WGPUBindGroup hs_webgpu_bound(hs_webgpu_sorter *sorter, const hs_webgpu_range *ranges, uint32_t count)
{
    WGPUBindGroupEntry entries[HS_BINDINGS];
    WGPUBindGroupDescriptor group;
    hs_webgpu_group *place;
    uint32_t i;
    for (i = 0; i < HS_WEBGPU_GROUPS; i++)
        if (hs_webgpu_equal(&sorter->groups[i], ranges, count)) return sorter->groups[i].group;
    memset(entries, 0, sizeof entries);
    for (i = 0; i < count; i++) {
        entries[i].binding = i;
        entries[i].buffer = ranges[i].buffer;
        entries[i].offset = ranges[i].offset;
        entries[i].size = ranges[i].size;
    }
    memset(&group, 0, sizeof group);
    group.layout = sorter->set_layouts[count];
    group.entryCount = count;
    group.entries = entries;
    place = &sorter->groups[sorter->next_group];
    sorter->next_group = (sorter->next_group + 1) % HS_WEBGPU_GROUPS;
    hs_webgpu_drop_group(place);
    place->group = wgpuDeviceCreateBindGroup(sorter->device, &group);
    if (!place->group) return NULL;
    place->count = count;
    for (i = 0; i < count; i++) {
        place->ranges[i] = ranges[i];
        wgpuBufferAddRef(ranges[i].buffer);
    }
    return place->group;
}

/* Make a buffer with one row of numbers for each launch, and its bind group; returns 0 on failure. */
static int hs_webgpu_make_table(hs_webgpu_sorter *sorter, hs_webgpu_table *table, const hs_webgpu_numbers *rows)
{
    WGPUBufferDescriptor buffer;
    WGPUBindGroupEntry entry;
    WGPUBindGroupDescriptor group;
    unsigned char *bytes;
    uint32_t i;
    memset(&buffer, 0, sizeof buffer);
    buffer.usage = WGPUBufferUsage_Uniform;
    buffer.size = (uint64_t)HS_WEBGPU_ALIGNMENT * sorter->sort->step_count;
    buffer.mappedAtCreation = 1;
    table->buffer = wgpuDeviceCreateBuffer(sorter->device, &buffer);
    bytes = table->buffer ? (unsigned char *)wgpuBufferGetMappedRange(table->buffer, 0, (size_t)buffer.size) : NULL;
    if (!bytes) return 0;
    for (i = 0; i < sorter->sort->step_count; i++)
        memcpy(bytes + (size_t)HS_WEBGPU_ALIGNMENT * i, &rows[i], sizeof rows[i]);
    wgpuBufferUnmap(table->buffer);
    memset(&entry, 0, sizeof entry);
    entry.buffer = table->buffer;
    entry.size = sizeof(hs_webgpu_numbers);
    memset(&group, 0, sizeof group);
    group.layout = sorter->numbers_layout;
    group.entryCount = 1;
    group.entries = &entry;
    table->group = wgpuDeviceCreateBindGroup(sorter->device, &group);
    return table->group != NULL;
}

WGPUBindGroup hs_webgpu_numbered(hs_webgpu_sorter *sorter)
{
    const hs_webgpu_numbers *rows = hs_webgpu_rows(sorter, HS_WEBGPU_CALLS);
    const size_t bytes = sorter->sort->step_count * sizeof *rows;
    hs_webgpu_table *place;
    uint32_t i;
    for (i = 0; i < HS_WEBGPU_CALLS; i++)
        if (sorter->tables[i].group && memcmp(hs_webgpu_rows(sorter, i), rows, bytes) == 0)
            return sorter->tables[i].group;
    i = sorter->next_table;
    sorter->next_table = (i + 1) % HS_WEBGPU_CALLS;
    place = &sorter->tables[i];
    hs_webgpu_drop_table(place);
    if (!hs_webgpu_make_table(sorter, place, rows)) {
        hs_webgpu_drop_table(place);
        return NULL;
    }
    memcpy(hs_webgpu_rows(sorter, i), rows, bytes);
    return place->group;
}
