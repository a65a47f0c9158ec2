/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Declarations that the files of the OpenCL runtime share. */
#ifndef HS_OPENCL_INTERNAL_H
#define HS_OPENCL_INTERNAL_H

#include "hs/hs_opencl.h"
#include "hs_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_opencl {
    const hs_sort *sort;
    volatile long busy; /* 1 during a call */
    hs_scope scope;
    cl_device_id device;
    const char *language; /* the compiler option for it */
    cl_program program;
    int from_binary;
    cl_kernel kernels[1]; /* as many as the sort has; null outside the scope */
};

/* A call of any operation.  `number` and `take` are those of hs_call: for example segment_count, capacity or shift. */
typedef struct hs_opencl_record {
    hs_kind kind;
    uint64_t n, number, take;
    hs_options options;
    cl_mem given[HS_ROLES];
    cl_uint wait_count;
    const cl_event *wait;
    cl_event *event;
} hs_opencl_record;

/* The status for an error code of OpenCL; stores the code in `error`, unless `error` is null. */
HS_INTERNAL hs_status hs_opencl_status(cl_int code, hs_opencl_error *error);

/* A text property of `platform`, or of `device` if `platform` is null.  The caller frees the text. */
HS_INTERNAL hs_status hs_opencl_text(cl_platform_id platform, cl_device_id device, cl_uint what, char **text,
                                     hs_opencl_error *error);

/* The greatest subgroup size of the kernels of a sort; 1 if lanes exchange no values. */
HS_INTERNAL uint32_t hs_opencl_width(const hs_sort *sort);

/* HS_OK if the device's limits allow the sort, else HS_ERROR_DEVICE; any other error means that a query failed. */
HS_INTERNAL hs_status hs_opencl_runs(const hs_sort *sort, cl_device_id device, hs_opencl_error *error);

/* Check a call and enqueue its steps, while no other thread is in a call of the sorter. */
HS_INTERNAL hs_status hs_opencl_perform(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_record *record,
                                        hs_opencl_error *error);

#ifdef __cplusplus
}
#endif
#endif
