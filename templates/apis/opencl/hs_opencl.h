/* Sorting with OpenCL 1.2 and later.  The includer chooses CL_TARGET_OPENCL_VERSION, 120 or more, or leaves it out. */
#ifndef HS_OPENCL_H
#define HS_OPENCL_H

#include "hs/hs.h"

#if defined(__APPLE__)
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A sort or another operation, built for one device.
 *
 * THREADS: "any thread" means that concurrent calls are allowed, also with the same sorter. Only one thread at a time
 * may enqueue with a sorter, because OpenCL kernels keep their arguments. Make a sorter for each thread, or hold a lock
 * around each call. If the compiler has atomic exchanges, a second concurrent call returns HS_ERROR_BUSY and does
 * nothing; compile hs_opencl.c with HS_CHECK_THREADS defined as 0 to omit the check. */
typedef struct hs_opencl hs_opencl;

/* Details of an error: the code of OpenCL, and the start of the compiler's log. */
typedef struct hs_opencl_error {
    cl_int code;
    char log[1024];
} hs_opencl_error;

/* Options for the creation of a sorter.  All members 0 have the same effect as hs_opencl_create. */
typedef struct hs_opencl_create_options {
    hs_scope scope;      /* the calls for which the sorter is created */
    const void *binary;  /* a result of hs_opencl_binary, possibly from another process; null: the source is compiled */
    size_t binary_bytes;
} hs_opencl_create_options;

/* Build all kernels that any call of a sort may need.  The caller keeps the context and the device alive until
 * hs_opencl_release.  `error` may be null.  Any thread. */
hs_status hs_opencl_create(const hs_sort *sort, cl_context context, cl_device_id device, hs_opencl **sorter,
                           hs_opencl_error *error);

/* hs_opencl_create with options, which may be null.  Only the kernels of the scope are compiled.  A binary that is
 * damaged, or of another sort, scope, device or driver version, is ignored, and the source is compiled instead.  A
 * driver trusts the content of a binary: load it only from a place where no one else can write.  Any thread. */
hs_status hs_opencl_create_with(const hs_sort *sort, cl_context context, cl_device_id device,
                                const hs_opencl_create_options *options, hs_opencl **sorter, hs_opencl_error *error);

/* The compiled program of a sorter, for `binary` of hs_opencl_create_options.  `bytes` gets its size.  `data` is null
 * or a buffer of `room` bytes; HS_ERROR_COUNT if the program does not fit in the buffer.  Any thread. */
hs_status hs_opencl_binary(const hs_opencl *sorter, void *data, size_t room, size_t *bytes, hs_opencl_error *error);

/* 1 if a sorter was created from a binary, 0 if it was compiled.  Any thread. */
int hs_opencl_from_binary(const hs_opencl *sorter);

/* The number of kernels that a sorter has.  Any thread. */
uint32_t hs_opencl_kernel_count(const hs_opencl *sorter);

/* Release a sorter; null does nothing.  Sorts that are running continue.  No other thread may use the sorter at the
 * same time. */
void hs_opencl_release(hs_opencl *sorter);

/* The sort for which a sorter was created, for hs_describe, hs_pad and hs_scratch.  Any thread. */
const hs_sort *hs_opencl_sort_of(const hs_opencl *sorter);

/* Calls.  Set unused members to 0.  All buffers are buffers or sub-buffers; none that is written overlaps
 * another.  `scratch` has at least the bytes of hs_scratch_with, and is null where these are 0.
 *
 * A call is enqueued on an in-order or out-of-order queue, and returns at once. One thread at a time for a sorter, else
 * HS_ERROR_BUSY. After an error nothing more is enqueued, and keys of the destination may be in any order. */

/* HSGEN_CALLS */

/* The sort for `key` ("u32") and `value` (null: "none"), as in hs_serves.  Of the sorts of these targets that the
 * device can run, the result is the one that suits the device best; null if there is none.  A query or an allocation
 * that fails is an error.  Any thread. */
hs_status hs_opencl_match(const hs_target *const *targets, size_t count, const char *key, const char *value,
                          cl_device_id device, const hs_sort **sort);

/* hs_opencl_match for sorts of `kind` instead of HS_SORT. */
hs_status hs_opencl_match_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, cl_device_id device, const hs_sort **sort);

/* Writes the reasons why a match of these arguments returned null to `text`, a buffer of `room` bytes: a line for each
 * target, as from hs_explain.  Any thread. */
hs_status hs_opencl_explain(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                            const char *value, cl_device_id device, char *text, size_t room);

#ifdef __cplusplus
}
#endif
#endif
