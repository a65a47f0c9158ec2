/* Sorting with OpenCL 1.2 and later. */
#ifndef HS_OPENCL_H
#define HS_OPENCL_H

#include "hs/hs.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#if defined(__APPLE__)
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A sort or scan built for one device.
 *
 * THREADS: a sorter is for one thread at a time, since OpenCL kernels keep their arguments.  Make one for each thread,
 * or hold a lock around each call.  Where the compiler has atomic exchanges, a call while another thread is in one gets
 * HS_ERROR_BUSY and does nothing; compile hs_opencl.c with HS_CHECK_THREADS defined as 0 to leave that out. */
typedef struct hs_opencl hs_opencl;

/* What went wrong beyond the status: the API's own code, and the first lines of a compiler's log.  Optional. */
typedef struct hs_opencl_error {
    cl_int code;
    char log[1024];
} hs_opencl_error;

/* Build a sort, in any thread; the caller keeps context and device alive until hs_opencl_release.  `error` may be
 * null. */
hs_status hs_opencl_create(const hs_sort *sort, cl_context context, cl_device_id device, hs_opencl **sorter,
                           hs_opencl_error *error);

/* Release a sorter, which no thread may use any more; null does nothing.  Sorts that are still running go on. */
void hs_opencl_release(hs_opencl *sorter);

/* The sort that a sorter was made of, for hs_describe, hs_pad and hs_scratch. */
const hs_sort *hs_opencl_sort_of(const hs_opencl *sorter);

/* One sort, or whatever else its kind does.  Set what is not needed to 0. */
typedef struct hs_opencl_args {
    uint64_t n;             /* keys, or rows; with `count` the most that there can be, below 2^30 */
    hs_options options;     /* type, order, bits; a scan has none */
    cl_mem source;          /* never written unless it is the destination too */
    cl_mem destination;     /* null: sort in place, or the keys are discarded */
    cl_mem scratch;         /* at least hs_scratch_with bytes; null where that is 0 */
    cl_mem values;          /* the value of each key, for sorts that have such */
    cl_mem values_destination; /* null: in place as the keys are; always given where indices are made */
    cl_mem count;           /* the count as a 32-bit number, at most n counts; null: n keys */
    cl_uint wait_count;     /* events to wait for */
    const cl_event *wait;
    cl_event *event;        /* if not null: the event of the end, also for n = 0, which the caller releases */
    cl_mem other;           /* offsets of segments (null: they are of equal length), or the second array of a merge */
    cl_mem other_values;    /* the values of its keys */
    cl_mem report;          /* what a check says, or where sorted keys change */
    uint64_t parts;         /* of segments, of keys of the first array, of keys to look at; or a shift of keys */
} hs_opencl_args;

/* Enqueue a sort on a queue of either order; returns at once.  One thread at a time for a sorter, else HS_ERROR_BUSY.
 * On an error nothing more is enqueued, and keys of the destination may be in any order.  All are buffers or
 * sub-buffers; none that is written overlaps another. */
hs_status hs_opencl_sort(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_args *args, hs_opencl_error *error);

/* The same for a scan (HS_SCAN): the prefix sums of each column of a table of n rows. */
hs_status hs_opencl_scan(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_args *args, hs_opencl_error *error);

/* The same for HS_SEGMENTS: each of `parts` segments of n keys is sorted by itself.  Segment i begins at other[i] and
 * ends at other[i + 1].  Where offsets decrease or run past n nothing is written, and hs_outcome says so. */
hs_status hs_opencl_segments(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_args *args,
                             hs_opencl_error *error);

/* The same for HS_MERGE: `parts` keys of source and n - parts of other, both in order, go to destination in order. */
hs_status hs_opencl_merge(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_args *args,
                          hs_opencl_error *error);

/* The same for HS_CHECK: 8 words about n keys of source, and about those from n to `parts`, go to report. */
hs_status hs_opencl_check(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_args *args,
                          hs_opencl_error *error);

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves, among these targets that suits the device
 * best and that it can run; null if none.  Any thread.  A query or an allocation that fails is an error. */
hs_status hs_opencl_match(const hs_target *const *targets, size_t count, const char *key, const char *value,
                          cl_device_id device, const hs_sort **sort);

/* The same for any kind. */
hs_status hs_opencl_match_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, cl_device_id device, const hs_sort **sort);

#ifdef __cplusplus
}
#endif
#endif
