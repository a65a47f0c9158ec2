/* Declarations that the files of the WebGPU runtime share. */
#ifndef HS_WEBGPU_INTERNAL_H
#define HS_WEBGPU_INTERNAL_H

#include "hs/hs_webgpu.h"
#include "hs_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers of a launch: n, the argument, and two that few kernels read.  Kernels call them hs_call.  Each launch has
 * a row of HS_WEBGPU_ALIGNMENT bytes in a uniform buffer. */
typedef struct hs_webgpu_numbers {
    int32_t n, argument, rows, take;
} hs_webgpu_numbers;

/* The part of a buffer that a kernel binds. */
typedef struct hs_webgpu_range {
    WGPUBuffer buffer;
    uint64_t offset, size;
} hs_webgpu_range;

/* A bind group of a step's buffers, with references to these buffers: otherwise a new buffer could get the address of a
 * released one, and be mistaken for it. */
typedef struct hs_webgpu_group {
    WGPUBindGroup group; /* null: this entry is empty */
    uint32_t count;
    hs_webgpu_range ranges[HS_BINDINGS];
} hs_webgpu_group;

/* The numbers of all launches of a call, in a buffer.  The buffer never changes, because an earlier call may be
 * recorded but not have run yet. */
typedef struct hs_webgpu_table {
    WGPUBuffer buffer; /* null: this entry is empty */
    WGPUBindGroup group;
} hs_webgpu_table;

/* The limits and features of a device, or of an adapter.  `enables` is 1 if modules with subgroups must begin with
 * "enable subgroups;". */
typedef struct hs_webgpu_facts {
    WGPULimits limits;
    int subgroups, enables;
    uint32_t width; /* the fewest lanes of a subgroup; 0: not known */
} hs_webgpu_facts;

struct hs_webgpu_sorter {
    const hs_sort *sort;
    hs_scope scope; /* the scope that the caller requested; kernels run out of place */
    volatile long busy; /* 1 during a call */
    WGPUInstance instance;
    WGPUDevice device;
    WGPUShaderModule module;
    WGPUBindGroupLayout numbers_layout;
    WGPUBindGroupLayout set_layouts[HS_BINDINGS + 1]; /* by the number of bindings */
    WGPUPipelineLayout layouts[HS_BINDINGS + 1];
    WGPUBuffer spare;  /* has a part for each role, which steps bind if the call does not use the role */
    WGPUBuffer grids;  /* the grids of all steps with a device-side count; null if the sort takes none */
    hs_webgpu_facts facts;
    uint32_t max_groups;
    hs_webgpu_group groups[HS_WEBGPU_GROUPS];
    hs_webgpu_table tables[HS_WEBGPU_CALLS];
    uint32_t next_group, next_table; /* the entries to replace next */
    hs_webgpu_numbers *numbers; /* rows of each of `tables`, then the rows of the call */
    WGPUComputePipeline *pipelines; /* for each kernel; null outside the scope */
};

/* A call of any operation.  `number` and `take` are those of hs_call: for example segment_count, capacity or shift. */
typedef struct hs_webgpu_record {
    hs_kind kind;
    uint64_t n, number, take;
    hs_options options;
    hs_webgpu_buffer given[HS_ROLES];
} hs_webgpu_record;

/* Store the text of an error, formatted as printf does, and return `status`. */
HS_INTERNAL hs_status hs_webgpu_wrong(hs_status status, hs_webgpu_error *error, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Query the device or, if there is none, the adapter. */
HS_INTERNAL hs_status hs_webgpu_ask(const hs_webgpu_device *device, hs_webgpu_facts *facts, hs_webgpu_error *error);

/* Whether the limits and features allow the sort; `error` names what is missing. */
HS_INTERNAL hs_status hs_webgpu_runs(const hs_sort *sort, const hs_webgpu_facts *facts, hs_webgpu_error *error);

/* 1 if lanes of the sort's kernels exchange values. */
HS_INTERNAL int hs_webgpu_exchanges(const hs_sort *sort);

/* The number of pipelines that are missing. */
HS_INTERNAL uint32_t hs_webgpu_missing(const hs_webgpu_sorter *sorter);

/* The bind group for these buffers.  The sorter owns it; null if it cannot be made. */
HS_INTERNAL WGPUBindGroup hs_webgpu_bound(hs_webgpu_sorter *sorter, const hs_webgpu_range *ranges, uint32_t count);

/* The part of the sorter's numbers for the call that is recorded: one row for each step of the sort. */
static inline hs_webgpu_numbers *hs_webgpu_rows(const hs_webgpu_sorter *sorter, uint32_t table)
{
    return sorter->numbers + (size_t)table * sorter->sort->step_count;
}

/* The bind group for the numbers of the call.  The sorter owns it; null if it cannot be made. */
HS_INTERNAL WGPUBindGroup hs_webgpu_numbered(hs_webgpu_sorter *sorter);

/* Check a call and record it, while no other thread uses the sorter. */
HS_INTERNAL hs_status hs_webgpu_perform(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_record *record,
                                        hs_webgpu_error *error);

#ifdef __cplusplus
}
#endif
#endif
