/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 0.4.0; do not edit. */
/* Sorters for OpenCL: programs built from source, and their kernels. */
#include "hs_opencl_internal.h"

#include <stdlib.h>
#include <string.h>

/* Of extensions, as in cl_ext.h, which not every system has. */
#define HS_CL_DEVICE_OPENCL_C_ALL_VERSIONS 0x1066
#define HS_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE 0x2033

typedef cl_int(CL_API_CALL *hs_sub_group_info)(cl_kernel, cl_device_id, cl_uint, size_t, const void *, size_t, void *,
                                               size_t *);

/* The compiler option for OpenCL C 1.2, or for the newest version if lanes exchange values.  An OpenCL 3 device may
 * report 1.2 as its version and list newer ones separately; an entry of that list is a number and a name of 64 bytes.
 * Devices of older versions have no such list and return CL_INVALID_VALUE. */
static hs_status hs_language(const hs_sort *sort, cl_device_id device, const char **option, hs_opencl_error *error)
{
    struct { cl_uint version; char name[64]; } listed[16];
    size_t bytes = 0, i;
    cl_uint newest = 1;
    char *text;
    cl_int code;
    hs_status status;
    *option = "-cl-std=CL1.2";
    if (hs_opencl_width(sort) == 1) return HS_OK;
    status = hs_opencl_text(NULL, device, CL_DEVICE_OPENCL_C_VERSION, &text, error);
    if (status != HS_OK) return status;
    if (strlen(text) > 9 && text[9] >= '1' && text[9] <= '9') newest = (cl_uint)(text[9] - '0');
    free(text);
    code = clGetDeviceInfo(device, HS_CL_DEVICE_OPENCL_C_ALL_VERSIONS, sizeof listed, listed, &bytes);
    if (code != CL_SUCCESS && code != CL_INVALID_VALUE) return hs_opencl_status(code, error);
    for (i = 0; code == CL_SUCCESS && i < bytes / sizeof listed[0]; i++)
        if (listed[i].version >> 22 > newest) newest = listed[i].version >> 22;
    if (newest >= 2) *option = newest >= 3 ? "-cl-std=CL3.0" : "-cl-std=CL2.0";
    return HS_OK;
}

/* Whether the device runs the work-group and subgroup size of a kernel, which may be below its general limits. */
static hs_status hs_kernel_runs(cl_kernel kernel, const hs_kernel *facts, cl_device_id device, hs_opencl_error *error)
{
    size_t lanes = 0, width = 0;
    cl_platform_id platform = NULL;
    hs_sub_group_info ask = NULL;
    void *found;
    cl_int code = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof lanes, &lanes, NULL);
    if (code != CL_SUCCESS) return hs_opencl_status(code, error);
    if (lanes < facts->work_group) return HS_ERROR_DEVICE;
    if (facts->subgroup == 1) return HS_OK;
    lanes = facts->work_group;
    code = clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (code != CL_SUCCESS) return hs_opencl_status(code, error);
    found = clGetExtensionFunctionAddressForPlatform(platform, "clGetKernelSubGroupInfoKHR");
    memcpy(&ask, &found, sizeof ask); /* ISO C has no cast from an object to a function pointer */
    if (!ask) return HS_OK;           /* then the device's list of subgroup sizes was checked before */
    code = ask(kernel, device, HS_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof lanes, &lanes, sizeof width, &width,
               NULL);
    if (code == CL_INVALID_VALUE || code == CL_INVALID_OPERATION) return HS_OK; /* an unknown query */
    if (code != CL_SUCCESS) return hs_opencl_status(code, error);
    return width == facts->subgroup ? HS_OK : HS_ERROR_DEVICE;
}

static hs_status hs_build(hs_opencl *made, cl_context context, cl_device_id device, hs_opencl_error *error)
{
    const hs_sort *sort = made->sort;
    const char *language;
    cl_int code = CL_SUCCESS;
    cl_uint i;
    hs_status status = hs_language(sort, device, &language, error);
    if (status != HS_OK) return status;
    made->program =
        clCreateProgramWithSource(context, (cl_uint)sort->opencl_lines, (const char **)sort->opencl, NULL, &code);
    if (!made->program) return hs_opencl_status(code, error);
    code = clBuildProgram(made->program, 1, &device, language, NULL, NULL);
    if (code != CL_SUCCESS) {
        if (error) {
            char *log = NULL;
            size_t size = 0;
            clGetProgramBuildInfo(made->program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
            if (size && (log = (char *)calloc(size + 1, 1)) != NULL) {
                clGetProgramBuildInfo(made->program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
                strncpy(error->log, log, sizeof error->log - 1);
            }
            free(log);
        }
        return hs_opencl_status(code, error);
    }
    for (i = 0; i < sort->kernel_count; i++) {
        made->kernels[i] = clCreateKernel(made->program, sort->kernels[i].name, &code);
        if (!made->kernels[i]) return hs_opencl_status(code, error);
        made->kernel_count = i + 1;
        status = hs_kernel_runs(made->kernels[i], &sort->kernels[i], device, error);
        if (status != HS_OK) return status;
    }
    return HS_OK;
}

hs_status hs_opencl_create(const hs_sort *sort, cl_context context, cl_device_id device, hs_opencl **sorter,
                           hs_opencl_error *error)
{
    hs_opencl *made;
    hs_status status;
    if (error) memset(error, 0, sizeof *error);
    if (sorter) *sorter = NULL;
    if (!sort || !context || !device || !sorter) return HS_ERROR_ARGUMENT;
    if (!sort->opencl) return HS_ERROR_KERNELS;
    status = hs_opencl_runs(sort, device, error);
    if (status != HS_OK) return status;
    made = (hs_opencl *)calloc(1, sizeof *made + sort->kernel_count * sizeof made->kernels[0]);
    if (!made) return HS_ERROR_HOST_MEMORY;
    made->sort = sort;
    status = hs_build(made, context, device, error);
    if (status != HS_OK)
        hs_opencl_release(made);
    else
        *sorter = made;
    return status;
}

void hs_opencl_release(hs_opencl *sorter)
{
    cl_uint i;
    if (!sorter) return;
    for (i = 0; i < sorter->kernel_count; i++) clReleaseKernel(sorter->kernels[i]);
    if (sorter->program) clReleaseProgram(sorter->program);
    free(sorter);
}

const hs_sort *hs_opencl_sort_of(const hs_opencl *sorter) { return sorter ? sorter->sort : NULL; }
