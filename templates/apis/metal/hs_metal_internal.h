/* Declarations that the files of the Metal runtime share.  They compile with and without automatic reference
 * counting. */
#ifndef HS_METAL_INTERNAL_H
#define HS_METAL_INTERNAL_H

#include "hs/hs_metal.h"
#include "hs_internal.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Objects owned by plain memory, which reference counting does not manage. */
#if __has_feature(objc_arc)
#define HS_OWNED(object) ((__bridge_retained void *)(object))
#define HS_DROP(pointer) ((void)(__bridge_transfer id)(pointer))
#define HS_OBJECT(type, pointer) ((__bridge type)(pointer))
#define HS_POINTER(object) ((__bridge void *)(object))
#else
#define HS_OWNED(object) ((void *)(object))
#define HS_DROP(pointer) [(id)(pointer) release]
#define HS_OBJECT(type, pointer) ((type)(pointer))
#define HS_POINTER(object) ((void *)(object))
#endif

struct hs_metal {
    const hs_sort *sort;
    hs_scope scope;
    void *pipelines[1]; /* as many as the sort has kernels; each an owned id<MTLComputePipelineState>, or null */
};

/* A call of any operation.  `number` and `take` are those of hs_call: for example segment_count, capacity or shift. */
typedef struct hs_metal_record {
    hs_kind kind;
    uint64_t n, number, take;
    hs_options options;
    hs_metal_buffer given[HS_ROLES];
} hs_metal_record;

/* HS_OK if the device's general limits allow the sort. */
HS_INTERNAL int hs_metal_runs(const hs_sort *sort, hs_metal_device device);

/* Check a call and encode it; `record` is null if the caller passed null for the arguments of the call. */
HS_INTERNAL hs_status hs_metal_run(const hs_metal *sorter, hs_metal_commands commands, const hs_metal_record *record);

#ifdef __cplusplus
}
#endif
#endif
