/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Sorters for OpenCL: programs built from source, and their kernels. */
#include "hs_opencl_internal.h"

#include <stdlib.h>
#include <string.h>

/* Constants of extensions.  They are also in cl_ext.h, but not every system has this header. */
#define HS_CL_DEVICE_OPENCL_C_ALL_VERSIONS 0x1066
#define HS_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE 0x2033

typedef cl_int(CL_API_CALL *hs_sub_group_info)(cl_kernel, cl_device_id, cl_uint, size_t, const void *, size_t, void *,
                                               size_t *);

/* The compiler option for the language: OpenCL C 1.2, or the device's newest version if lanes exchange values.  An
 * OpenCL 3 device may report 1.2 as its version and list newer versions separately.  An entry of this list is a number
 * and a name of 64 bytes.  Older devices have no such list and return CL_INVALID_VALUE. */
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

/* Check that the device can launch a kernel with its work-group size and its subgroup size. The limits of a built
 * kernel may be lower than those of the device. */
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
    if (!ask) return HS_OK;           /* hs_opencl_runs already checked the device's list of subgroup sizes */
    code = ask(kernel, device, HS_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof lanes, &lanes, sizeof width, &width,
               NULL);
    if (code == CL_INVALID_VALUE || code == CL_INVALID_OPERATION) return HS_OK; /* the driver lacks this query */
    if (code != CL_SUCCESS) return hs_opencl_status(code, error);
    return width == facts->subgroup ? HS_OK : HS_ERROR_DEVICE;
}

/* Select the lines of the source that a sorter needs: the declarations, and the parts of its kernels.  Returns their
 * number; `lines` may be null. */
static size_t hs_select(const hs_opencl *made, const char **lines)
{
    const hs_sort *sort = made->sort;
    const uint32_t *starts = sort->opencl_starts;
    size_t i, count = 0, end = sort->opencl_lines;
    uint32_t kernel = 0;
    int wanted = 1;
    for (i = 0; i < end; i++) {
        while (starts && kernel < sort->kernel_count && starts[kernel] == i)
            wanted = hs_scope_has(sort, &made->scope, kernel++, 0);
        if (!wanted) continue;
        if (lines) lines[count] = sort->opencl[i];
        count++;
    }
    return count;
}

/* The source that a sorter needs.  If the scope leaves out kernels, this is the array `selected`, which the caller
 * frees; otherwise it is the source of the sort.  Returns null if out of memory. */
static const char *const *hs_source(const hs_opencl *made, size_t *count, const char ***selected)
{
    *selected = NULL;
    *count = hs_select(made, NULL);
    if (*count == made->sort->opencl_lines) return made->sort->opencl;
    *selected = (const char **)calloc(*count + 1, sizeof **selected);
    if (*selected) (void)hs_select(made, *selected);
    return *selected;
}

static void hs_log(cl_program program, cl_device_id device, hs_opencl_error *error)
{
    char *log = NULL;
    size_t size = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    if (size && (log = (char *)calloc(size + 1, 1)) != NULL) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
        strncpy(error->log, log, sizeof error->log - 1);
    }
    free(log);
}

static hs_status hs_compile(hs_opencl *made, cl_context context, hs_opencl_error *error)
{
    const char **selected, **texts;
    size_t count;
    const char *const *lines = hs_source(made, &count, &selected);
    cl_int code = CL_SUCCESS;
    if (!lines) return HS_ERROR_HOST_MEMORY;
    memcpy(&texts, &lines, sizeof texts); /* the parameter of OpenCL lacks a const */
    made->program = clCreateProgramWithSource(context, (cl_uint)count, texts, NULL, &code);
    free(selected);
    if (!made->program) return hs_opencl_status(code, error);
    code = clBuildProgram(made->program, 1, &made->device, made->language, NULL, NULL);
    if (code != CL_SUCCESS && error) hs_log(made->program, made->device, error);
    return hs_opencl_status(code, error);
}

/* Make the kernels of a built program. */
static hs_status hs_make_kernels(hs_opencl *made, hs_opencl_error *error)
{
    const hs_sort *sort = made->sort;
    cl_int code = CL_SUCCESS;
    uint32_t i;
    for (i = 0; i < sort->kernel_count; i++) {
        hs_status status;
        if (!hs_scope_has(sort, &made->scope, i, 0)) continue;
        made->kernels[i] = clCreateKernel(made->program, sort->kernels[i].name, &code);
        if (!made->kernels[i]) return hs_opencl_status(code, error);
        status = hs_kernel_runs(made->kernels[i], &sort->kernels[i], made->device, error);
        if (status != HS_OK) return status;
    }
    return HS_OK;
}

static void hs_release_program(hs_opencl *made)
{
    uint32_t i;
    for (i = 0; i < made->sort->kernel_count; i++) {
        if (made->kernels[i]) clReleaseKernel(made->kernels[i]);
        made->kernels[i] = NULL;
    }
    if (made->program) clReleaseProgram(made->program);
    made->program = NULL;
}

/* The header before the driver's binary: its numbers show whether the binary fits this sorter and is complete. */
typedef struct hs_binary_head {
    uint64_t magic, origin, bytes, digest;
} hs_binary_head;
#define HS_BINARY_MAGIC UINT64_C(0x31306e6962676873)

/* Continue the FNV-1a hash `hash` with some bytes. */
static uint64_t hs_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)data;
    size_t i;
    for (i = 0; i < bytes; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}
#define HS_HASH_SEED UINT64_C(0xcbf29ce484222325)

/* A hash of all that a binary depends on: the source, the compiler option, the device and its driver. */
static hs_status hs_origin(const hs_opencl *made, uint64_t *hash, hs_opencl_error *error)
{
    static const cl_uint facts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION};
    const char **selected;
    size_t i, count;
    const char *const *lines = hs_source(made, &count, &selected);
    if (!lines) return HS_ERROR_HOST_MEMORY;
    *hash = hs_hash(HS_HASH_SEED, made->language, strlen(made->language) + 1);
    for (i = 0; i < count; i++) *hash = hs_hash(*hash, lines[i], strlen(lines[i]));
    free(selected);
    for (i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        char *text;
        const hs_status status = hs_opencl_text(NULL, made->device, facts[i], &text, error);
        if (status != HS_OK) return status;
        *hash = hs_hash(*hash, text, strlen(text) + 1);
        free(text);
    }
    return HS_OK;
}

/* Build a program from a binary; returns 0, and releases everything, if the binary is for another sorter or the driver
 * refuses it. */
static int hs_load(hs_opencl *made, cl_context context, const void *binary, size_t bytes)
{
    hs_binary_head head;
    const unsigned char *data;
    size_t size;
    uint64_t origin = 0;
    cl_int code = CL_SUCCESS, loaded = CL_SUCCESS;
    if (!binary || bytes <= sizeof head) return 0;
    memcpy(&head, binary, sizeof head);
    data = (const unsigned char *)binary + sizeof head;
    size = bytes - sizeof head;
    if (head.magic != HS_BINARY_MAGIC || head.bytes != size || head.digest != hs_hash(HS_HASH_SEED, data, size))
        return 0;
    if (hs_origin(made, &origin, NULL) != HS_OK || head.origin != origin) return 0;
    made->program = clCreateProgramWithBinary(context, 1, &made->device, &size, &data, &loaded, &code);
    if (made->program && loaded == CL_SUCCESS &&
        clBuildProgram(made->program, 1, &made->device, made->language, NULL, NULL) == CL_SUCCESS &&
        hs_make_kernels(made, NULL) == HS_OK)
        return 1;
    hs_release_program(made);
    return 0;
}

hs_status hs_opencl_create(const hs_sort *sort, cl_context context, cl_device_id device, hs_opencl **sorter,
                           hs_opencl_error *error)
{
    return hs_opencl_create_with(sort, context, device, NULL, sorter, error);
}

hs_status hs_opencl_create_with(const hs_sort *sort, cl_context context, cl_device_id device,
                                const hs_opencl_create_options *options, hs_opencl **sorter, hs_opencl_error *error)
{
    hs_opencl *made;
    hs_scope scope;
    hs_status status;
    if (error) memset(error, 0, sizeof *error);
    if (sorter) *sorter = NULL;
    if (!sort || !context || !device || !sorter) return HS_ERROR_ARGUMENT;
    if (!sort->opencl) return HS_ERROR_KERNELS;
    status = hs_scope_of(sort, options ? &options->scope : NULL, &scope);
    if (status == HS_OK) status = hs_opencl_runs(sort, device, error);
    if (status != HS_OK) return status;
    made = (hs_opencl *)calloc(1, sizeof *made + sort->kernel_count * sizeof made->kernels[0]);
    if (!made) return HS_ERROR_HOST_MEMORY;
    made->sort = sort;
    made->scope = scope;
    made->device = device;
    status = hs_language(sort, device, &made->language, error);
    if (status == HS_OK && options) made->from_binary = hs_load(made, context, options->binary, options->binary_bytes);
    if (status == HS_OK && !made->from_binary) {
        status = hs_compile(made, context, error);
        if (status == HS_OK) status = hs_make_kernels(made, error);
    }
    if (status != HS_OK)
        hs_opencl_release(made);
    else
        *sorter = made;
    return status;
}

void hs_opencl_release(hs_opencl *sorter)
{
    if (!sorter) return;
    hs_release_program(sorter);
    free(sorter);
}

/* The sizes of a program's binaries, one for each device of its context, and the index `own` of the sorter's device.
 * The caller frees `sizes`. */
static hs_status hs_binary_sizes(const hs_opencl *sorter, size_t **sizes, cl_uint *count, cl_uint *own,
                                 hs_opencl_error *error)
{
    cl_device_id *devices = NULL;
    cl_int code = clGetProgramInfo(sorter->program, CL_PROGRAM_NUM_DEVICES, sizeof *count, count, NULL);
    if (code != CL_SUCCESS) return hs_opencl_status(code, error);
    *sizes = (size_t *)calloc(*count + 1u, sizeof **sizes);
    devices = (cl_device_id *)calloc(*count + 1u, sizeof *devices);
    if (!*sizes || !devices) {
        free(devices);
        return HS_ERROR_HOST_MEMORY;
    }
    code = clGetProgramInfo(sorter->program, CL_PROGRAM_DEVICES, *count * sizeof *devices, devices, NULL);
    if (code == CL_SUCCESS)
        code = clGetProgramInfo(sorter->program, CL_PROGRAM_BINARY_SIZES, *count * sizeof **sizes, *sizes, NULL);
    for (*own = 0; *own < *count && devices[*own] != sorter->device;) ++*own;
    free(devices);
    if (code == CL_SUCCESS && (*own == *count || !(*sizes)[*own])) return HS_ERROR_API; /* the driver keeps no binary */
    return hs_opencl_status(code, error);
}

hs_status hs_opencl_binary(const hs_opencl *sorter, void *data, size_t room, size_t *bytes, hs_opencl_error *error)
{
    hs_binary_head head;
    size_t *sizes = NULL;
    unsigned char **places = NULL;
    cl_uint count = 0, own = 0;
    hs_status status;
    if (error) memset(error, 0, sizeof *error);
    if (bytes) *bytes = 0;
    if (!sorter || !bytes) return HS_ERROR_ARGUMENT;
    status = hs_binary_sizes(sorter, &sizes, &count, &own, error);
    if (status == HS_OK) *bytes = sizeof head + sizes[own];
    if (status == HS_OK && data && room < *bytes) status = HS_ERROR_COUNT;
    if (status == HS_OK && data) {
        head.magic = HS_BINARY_MAGIC;
        head.bytes = sizes[own];
        status = hs_origin(sorter, &head.origin, error);
        places = (unsigned char **)calloc(count, sizeof *places); /* null: the binary of another device, which is not
                                                                     read */
        if (status == HS_OK && !places) status = HS_ERROR_HOST_MEMORY;
        if (status == HS_OK) {
            places[own] = (unsigned char *)data + sizeof head;
            status = hs_opencl_status(
                clGetProgramInfo(sorter->program, CL_PROGRAM_BINARIES, count * sizeof *places, places, NULL), error);
            head.digest = hs_hash(HS_HASH_SEED, places[own], sizes[own]);
            memcpy(data, &head, sizeof head);
        }
    }
    free(places);
    free(sizes);
    return status;
}

int hs_opencl_from_binary(const hs_opencl *sorter) { return sorter && sorter->from_binary; }

uint32_t hs_opencl_kernel_count(const hs_opencl *sorter)
{
    uint32_t i, count = 0;
    for (i = 0; sorter && i < sorter->sort->kernel_count; i++) count += sorter->kernels[i] != NULL;
    return count;
}

const hs_sort *hs_opencl_sort_of(const hs_opencl *sorter) { return sorter ? sorter->sort : NULL; }
