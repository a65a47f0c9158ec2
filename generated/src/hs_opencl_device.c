/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* OpenCL devices: their properties, which sorts run on them, and which of these suits a device best. */
#include "hs_opencl_internal.h"

#include <stdlib.h>
#include <string.h>

/* A constant of an extension, as in cl_ext.h, a header that not every system has. */
#define HS_CL_DEVICE_SUB_GROUP_SIZES_INTEL 0x4108

hs_status hs_opencl_status(cl_int code, hs_opencl_error *error)
{
    if (error) error->code = code;
    switch (code) {
    case CL_SUCCESS: return HS_OK;
    case CL_OUT_OF_HOST_MEMORY: return HS_ERROR_HOST_MEMORY;
    case CL_OUT_OF_RESOURCES:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return HS_ERROR_DEVICE_MEMORY;
    case CL_DEVICE_NOT_AVAILABLE: return HS_ERROR_DEVICE_LOST;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_INVALID_KERNEL_NAME: return HS_ERROR_BUILD;
    default: return HS_ERROR_API;
    }
}

hs_status hs_opencl_text(cl_platform_id platform, cl_device_id device, cl_uint what, char **text,
                                hs_opencl_error *error)
{
    size_t size = 0;
    cl_int code = platform ? clGetPlatformInfo(platform, what, 0, NULL, &size)
                           : clGetDeviceInfo(device, what, 0, NULL, &size);
    *text = NULL;
    if (code != CL_SUCCESS) return hs_opencl_status(code, error);
    *text = (char *)calloc(size + 1, 1);
    if (!*text) return HS_ERROR_HOST_MEMORY;
    if (size)
        code = platform ? clGetPlatformInfo(platform, what, size, *text, NULL)
                        : clGetDeviceInfo(device, what, size, *text, NULL);
    if (code != CL_SUCCESS) {
        free(*text);
        *text = NULL;
    }
    return hs_opencl_status(code, error);
}

static int hs_has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    const char *at = words;
    while ((at = strstr(at, word)) != NULL) {
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return 1;
        at += length;
    }
    return 0;
}

/* HS_ERROR_DEVICE if lanes cannot exchange values or, with `ballot`, cannot vote.  Also HS_ERROR_DEVICE if the device
 * lists its subgroup sizes and `width` is not among them. */
static hs_status hs_exchanges(cl_device_id device, uint32_t width, int ballot, hs_opencl_error *error)
{
    size_t sizes[32], bytes = 0, i;
    char *extensions;
    int found, listed;
    hs_status status = hs_opencl_text(NULL, device, CL_DEVICE_EXTENSIONS, &extensions, error);
    cl_int code;
    if (status != HS_OK) return status;
    found = hs_has_word(extensions, "cl_intel_subgroups") ||
            (hs_has_word(extensions, "cl_khr_subgroups") && hs_has_word(extensions, "cl_khr_subgroup_shuffle"));
    if (ballot && !hs_has_word(extensions, "cl_khr_subgroup_ballot")) found = 0;
    listed = hs_has_word(extensions, "cl_intel_required_subgroup_size");
    free(extensions);
    if (!found || !listed) return found ? HS_OK : HS_ERROR_DEVICE;
    code = clGetDeviceInfo(device, HS_CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes);
    if (code != CL_SUCCESS) return hs_opencl_status(code, error);
    for (i = 0; i < bytes / sizeof sizes[0]; i++)
        if (sizes[i] == width) return HS_OK;
    return HS_ERROR_DEVICE;
}

uint32_t hs_opencl_width(const hs_sort *sort)
{
    hs_info info;
    return hs_describe(sort, &info) == HS_OK ? info.subgroup : 1;
}

hs_status hs_opencl_runs(const hs_sort *sort, cl_device_id device, hs_opencl_error *error)
{
    size_t lanes = 0;
    cl_ulong local = 0;
    uint32_t i;
    int ballot = 0;
    cl_int code = clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof lanes, &lanes, NULL);
    if (code == CL_SUCCESS) code = clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    if (code != CL_SUCCESS) return hs_opencl_status(code, error);
    for (i = 0; i < sort->kernel_count; i++) {
        if (sort->kernels[i].work_group > lanes || sort->kernels[i].local_bytes > local) return HS_ERROR_DEVICE;
        ballot |= sort->kernels[i].ballot != 0;
    }
    return hs_opencl_width(sort) == 1 ? HS_OK : hs_exchanges(device, hs_opencl_width(sort), ballot, error);
}

hs_status hs_opencl_match(const hs_target *const *targets, size_t count, const char *key, const char *value,
                          cl_device_id device, const hs_sort **sort)
{
    return hs_opencl_match_kind(targets, count, HS_SORT, key, value, device, sort);
}

/* A device as hs_suits takes it; the caller frees `texts`, its name and its platform's. */
static hs_status hs_opencl_facts(cl_device_id device, hs_device *facts, char *texts[2])
{
    cl_device_type type = 0;
    cl_uint vendor = 0;
    cl_platform_id platform = NULL;
    hs_status status;
    cl_int code = clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (code == CL_SUCCESS) code = clGetDeviceInfo(device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL);
    if (code == CL_SUCCESS) code = clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (code != CL_SUCCESS) return hs_opencl_status(code, NULL);
    status = hs_opencl_text(NULL, device, CL_DEVICE_NAME, &texts[0], NULL);
    if (status == HS_OK && platform) status = hs_opencl_text(platform, NULL, CL_PLATFORM_NAME, &texts[1], NULL);
    facts->type = type & CL_DEVICE_TYPE_CPU ? HS_CPU : type & CL_DEVICE_TYPE_GPU ? HS_GPU : HS_OTHER;
    facts->vendor = vendor;
    facts->compute = 0;
    facts->name = texts[0];
    facts->platform = texts[1];
    return status;
}

hs_status hs_opencl_match_kind(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                               const char *value, cl_device_id device, const hs_sort **sort)
{
    hs_device facts;
    const hs_sort *found = NULL;
    char *texts[2] = {NULL, NULL};
    hs_status status;
    size_t nth;
    if (sort) *sort = NULL;
    if (!targets || !key || !device || !sort) return HS_ERROR_ARGUMENT;
    status = hs_opencl_facts(device, &facts, texts);
    for (nth = 0; status == HS_OK; nth++) {
        found = hs_candidate_kind(targets, count, kind, key, value, &facts, nth);
        if (!found) break;
        status = found->opencl ? hs_opencl_runs(found, device, NULL) : HS_ERROR_DEVICE;
        if (status == HS_OK) break;
        if (status == HS_ERROR_DEVICE) status = HS_OK; /* another target may run on the device */
    }
    free(texts[0]);
    free(texts[1]);
    if (status == HS_OK) *sort = found;
    return status;
}

hs_status hs_opencl_explain(const hs_target *const *targets, size_t count, hs_kind kind, const char *key,
                            const char *value, cl_device_id device, char *text, size_t room)
{
    hs_device facts;
    char *texts[2] = {NULL, NULL};
    hs_status status;
    size_t i;
    if (!targets || !key || !device || !text || !room) return HS_ERROR_ARGUMENT;
    text[0] = 0;
    status = hs_opencl_facts(device, &facts, texts);
    for (i = 0; status == HS_OK && i < count; i++) hs_reason(targets[i], kind, key, value, &facts, text, room);
    free(texts[0]);
    free(texts[1]);
    return status;
}
