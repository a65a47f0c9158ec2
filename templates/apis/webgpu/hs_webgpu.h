/* Sorting with WebGPU: records into the caller's command encoder.  For the webgpu.h of wgpu-native and of Dawn. */
#ifndef HS_WEBGPU_H
#define HS_WEBGPU_H

#include "hs/hs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sort with its text in WGSL, line by line, defined by a target's C file. */
typedef struct hs_webgpu_kernels {
    const hs_sort *sort;
    const char *const *lines;
    size_t line_count;
} hs_webgpu_kernels;

typedef struct hs_webgpu_target {
    const hs_target *target;
    const hs_webgpu_kernels *const *sorts; /* in the order of the target's */
} hs_webgpu_target;

#ifdef __cplusplus
}
#endif
#endif
