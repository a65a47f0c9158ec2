/* What the files of the OpenCL harness share: the open device, and how they report. */
#ifndef HN_OPENCL_H
#define HN_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include "hn_options.h"
#include "hs/hs_opencl.h"

extern struct hn_state {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue, clocked; /* clocked: a queue with profiling, while the clock is on */
    hs_opencl *sorter;
    cl_mem buffers[HN_SLOTS], scratch; /* scratch: including the guard */
    uint64_t bytes[HN_SLOTS], scratch_bytes, sorted;
    size_t align;
    int poison, unchecked; /* unchecked: 1 if the guard was not checked since the last sort */
} hn;

/* A call with the buffers of its roles, and the event of its end. */
typedef struct hn_record {
    const hn_call *call;
    cl_mem at[HN_ROLES]; /* by hs_role */
    cl_event event;
} hn_record;

/* The text of an error: of OpenCL, or of a status of the runtime.  Null means success. */
const char *hn_failed(const char *what, cl_int code);
const char *hn_status(const char *what, hs_status status, const hs_opencl_error *error);

/* Enqueue a call with the sorter. */
hs_status hn_enqueue(cl_command_queue queue, hn_record *record, hs_opencl_error *error);

#endif
