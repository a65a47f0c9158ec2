/* The OpenCL harness: the list of devices, and the open device. */
#include "hn_opencl.h"

#include <stdio.h>
#include <string.h>

enum { HN_DEVICES = 64, HN_SUB_GROUP_SIZES = 0x4108 };

struct hn_state hn;

static char hn_text[2048];

const char *hn_failed(const char *what, cl_int code)
{
    if (code == CL_SUCCESS) return NULL;
    snprintf(hn_text, sizeof hn_text, "%s: OpenCL error %d", what, (int)code);
    return hn_text;
}

const char *hn_status(const char *what, hs_status status, const hs_opencl_error *error)
{
    if (status == HS_OK) return NULL;
    snprintf(hn_text, sizeof hn_text, "%s: %s (OpenCL error %d) %.1000s", what, hs_status_text(status),
             (int)error->code, error->log);
    return hn_text;
}

static const char *hn_devices(cl_device_id found[HN_DEVICES], int *count)
{
    cl_platform_id platforms[16];
    cl_uint platform_count = 0, i;
    const cl_int code = clGetPlatformIDs(16, platforms, &platform_count);
    *count = 0;
    if (code != CL_SUCCESS) return code == -1001 ? NULL : hn_failed("clGetPlatformIDs", code); /* -1001: no platform */
    if (platform_count > 16) platform_count = 16;
    for (i = 0; i < platform_count; i++) {
        const cl_uint room = (cl_uint)(HN_DEVICES - *count);
        cl_uint some = 0;
        if (room && clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, room, found + *count, &some) == CL_SUCCESS)
            *count += (int)(some < room ? some : room);
    }
    return NULL;
}

const char *hn_count(int *count)
{
    cl_device_id found[HN_DEVICES];
    return hn_devices(found, count);
}

/* A text of the device as a JSON string. */
static void hn_string(cl_device_id device, cl_device_info what, char *out, size_t size)
{
    char raw[8192] = "";
    size_t i, o = 0;
    clGetDeviceInfo(device, what, sizeof raw - 1, raw, NULL);
    for (i = 0; raw[i] && o + 2 < size; i++)
        if (raw[i] != '"' && raw[i] != '\\' && (unsigned char)raw[i] >= ' ') out[o++] = raw[i];
    while (o && out[o - 1] == ' ') o--;
    out[o] = 0;
}

const char *hn_describe(int index, char *text, size_t size)
{
    cl_device_id found[HN_DEVICES];
    char name[256], driver[128], extensions[8192], platform[256] = "", widths[256] = "1";
    cl_platform_id of = NULL;
    cl_device_type type = 0;
    cl_uint vendor = 0;
    cl_ulong local = 0;
    size_t lanes = 0, sizes[32], bytes = 0, i, used = 1;
    int count = 0, shuffle, ballot;
    const char *problem = hn_devices(found, &count);
    if (problem) return problem;
    if (index < 0 || index >= count) return "no such device";
    hn_string(found[index], CL_DEVICE_NAME, name, sizeof name);
    hn_string(found[index], CL_DRIVER_VERSION, driver, sizeof driver);
    hn_string(found[index], CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    clGetDeviceInfo(found[index], CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(found[index], CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL);
    clGetDeviceInfo(found[index], CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof lanes, &lanes, NULL);
    clGetDeviceInfo(found[index], CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    if (clGetDeviceInfo(found[index], CL_DEVICE_PLATFORM, sizeof of, &of, NULL) == CL_SUCCESS)
        clGetPlatformInfo(of, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    shuffle = strstr(extensions, "cl_intel_subgroups") != NULL || strstr(extensions, "cl_khr_subgroup_shuffle") != NULL;
    ballot = strstr(extensions, "cl_khr_subgroup_ballot") != NULL;
    if (shuffle && clGetDeviceInfo(found[index], HN_SUB_GROUP_SIZES, sizeof sizes, sizes, &bytes) == CL_SUCCESS)
        for (i = 0; i < bytes / sizeof sizes[0] && used + 24 < sizeof widths; i++)
            used += (size_t)snprintf(widths + used, sizeof widths - used, ", %u", (unsigned)sizes[i]);
    snprintf(text, size,
             "{\"name\": \"%s\", \"platform\": \"%s\", \"driver\": \"%s\", \"type\": \"%s\", \"vendor\": %u, "
             "\"compute\": 0, \"work_group\": %u, \"local_bytes\": %llu, \"subgroups\": [%s], \"shuffle\": %s, "
             "\"ballot\": %s, \"int64\": true}",
             name, platform, driver,
             type & CL_DEVICE_TYPE_CPU ? "cpu" : type & CL_DEVICE_TYPE_GPU ? "gpu" : "other", (unsigned)vendor,
             (unsigned)lanes, (unsigned long long)local, widths, shuffle ? "true" : "false",
             ballot ? "true" : "false");
    return NULL;
}

const char *hn_open(int index, const char *options)
{
    cl_device_id found[HN_DEVICES];
    cl_command_queue_properties properties = 0;
    cl_uint bits = 0;
    cl_int code = CL_SUCCESS;
    int count = 0, poison = 0;
    char words[256] = "", *word;
    const char *problem = hn_devices(found, &count);
    if (problem) return problem;
    if (index < 0 || index >= count) return "no such device";
    strncpy(words, options, sizeof words - 1);
    for (word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "out_of_order=1") == 0) properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        else if (strcmp(word, "poison=1") == 0) poison = 1;
        else return "unknown option; known are out_of_order=1 and poison=1";
    }
    hn_close();
    hn.poison = poison;
    hn.device = found[index];
    clGetDeviceInfo(hn.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    hn.align = bits / 8 ? bits / 8 : 1;
    hn.context = clCreateContext(NULL, 1, &hn.device, NULL, NULL, &code);
    if (!hn.context) return hn_failed("clCreateContext", code);
    hn.queue = clCreateCommandQueue(hn.context, hn.device, properties, &code);
    return hn.queue ? NULL : hn_failed("clCreateCommandQueue", code);
}

const char *hn_clock(int on)
{
    cl_command_queue_properties properties = 0;
    cl_int code = CL_SUCCESS;
    if (!hn.queue) return "no device is open";
    if (hn.clocked) clReleaseCommandQueue(hn.clocked);
    hn.clocked = NULL;
    if (!on) return NULL;
    clGetCommandQueueInfo(hn.queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    hn.clocked = clCreateCommandQueue(hn.context, hn.device, properties | CL_QUEUE_PROFILING_ENABLE, &code);
    return hn_failed("clCreateCommandQueue", code);
}

const char *hn_room(uint64_t *total, uint64_t *largest)
{
    cl_ulong bytes = 0;
    *total = *largest = 0;
    if (!hn.device) return "no device is open";
    if (clGetDeviceInfo(hn.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL) == CL_SUCCESS) *total = bytes;
    bytes = 0;
    if (clGetDeviceInfo(hn.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof bytes, &bytes, NULL) == CL_SUCCESS)
        *largest = bytes;
    return NULL;
}

const char *hn_messages(void) { return ""; }

void hn_close(void)
{
    int slot;
    hs_opencl_release(hn.sorter);
    for (slot = 0; slot < HN_SLOTS; slot++)
        if (hn.buffers[slot]) clReleaseMemObject(hn.buffers[slot]);
    if (hn.scratch) clReleaseMemObject(hn.scratch);
    if (hn.clocked) clReleaseCommandQueue(hn.clocked);
    if (hn.queue) clReleaseCommandQueue(hn.queue);
    if (hn.context) clReleaseContext(hn.context);
    memset(&hn, 0, sizeof hn);
}
