/* The harness for OpenCL; see harness.h. */
#include "harness.h"

#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HN_DEVICES = 64, HN_SUB_GROUP_SIZES = 0x4108 };

static struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue, clocked; /* clocked: a queue whose commands are timed, while they are to be */
    hs_opencl *sorter;
    cl_mem buffers[HN_SLOTS], scratch; /* scratch: with the guard behind it */
    uint64_t bytes[HN_SLOTS], scratch_bytes, sorted;
    size_t align;
    int poison, unchecked; /* unchecked: no guard was looked at since the last sort */
} hn;

static char hn_text[2048];

static const char *hn_failed(const char *what, cl_int code)
{
    if (code == CL_SUCCESS) return NULL;
    snprintf(hn_text, sizeof hn_text, "%s: OpenCL error %d", what, (int)code);
    return hn_text;
}

static const char *hn_status(const char *what, hs_status status, const hs_opencl_error *error)
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

const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value)
{
    hs_opencl_error error;
    const hs_sort *sort = NULL;
    size_t t;
    hs_opencl_release(hn.sorter);
    hn.sorter = NULL;
    hn.sorted = 0;
    for (t = 0; t < hs_targets_count && !sort; t++)
        if (strcmp(hs_targets[t]->name, target) == 0) sort = hs_find(hs_targets[t], algorithm, key, value);
    if (!sort) return "the bundle holds no such sort";
    return hn_status("hs_opencl_create", hs_opencl_create(sort, hn.context, hn.device, &hn.sorter, &error), &error);
}

static const char *hn_allocate(cl_mem *memory, uint64_t bytes)
{
    cl_int code = CL_SUCCESS;
    if (*memory) clReleaseMemObject(*memory);
    *memory = clCreateBuffer(hn.context, CL_MEM_READ_WRITE, bytes ? (size_t)bytes : 1, NULL, &code);
    return *memory ? NULL : hn_failed("clCreateBuffer", code);
}

const char *hn_buffer(int slot, uint64_t bytes)
{
    if (slot < 0 || slot >= HN_SLOTS) return "there is no such buffer";
    hn.bytes[slot] = bytes;
    return hn_allocate(&hn.buffers[slot], bytes);
}

const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes)
{
    if (!bytes) return NULL;
    return hn_failed("clEnqueueWriteBuffer", clEnqueueWriteBuffer(hn.queue, hn.buffers[slot], CL_TRUE, (size_t)offset,
                                                                  (size_t)bytes, data, 0, NULL, NULL));
}

/* Read a part of any buffer; none where it has no bytes. */
static const char *hn_get(cl_mem memory, uint64_t offset, void *data, uint64_t bytes)
{
    if (!bytes) return NULL;
    return hn_failed("clEnqueueReadBuffer", clEnqueueReadBuffer(hn.queue, memory, CL_TRUE, (size_t)offset,
                                                                (size_t)bytes, data, 0, NULL, NULL));
}

static const char *hn_check_guard(void)
{
    static unsigned char guard[HN_GUARD];
    const char *problem;
    if (!hn.unchecked) return NULL;
    hn.unchecked = 0;
    problem = hn_get(hn.scratch, hn.scratch_bytes, guard, sizeof guard);
    return problem || hn_whole(guard) ? problem : HN_OVERWRITTEN;
}

const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes)
{
    const char *problem = hn_check_guard();
    return problem ? problem : hn_get(hn.buffers[slot], offset, data, bytes);
}

const char *hn_outcome(uint32_t *redone)
{
    const hs_sort *sort = hs_opencl_sort_of(hn.sorter);
    uint32_t words[256];
    uint64_t offset = 0, bytes = 0;
    const char *problem = hn_check_guard();
    hs_status status = hs_device_status_at(sort, hn.sorted, &offset, &bytes);
    if (!problem && bytes > sizeof words) problem = "more words of an outcome than there is room for";
    if (!problem) problem = hn_get(hn.scratch, offset, words, bytes);
    if (problem) return problem;
    if (status == HS_OK) status = hs_device_status(sort, words, bytes, redone);
    return status == HS_OK || status == HS_ERROR_SEGMENTS ? NULL : hs_status_text(status);
}

/* Fill a part of scratch, and wait. */
static cl_int hn_fill(unsigned char byte, uint64_t offset, uint64_t bytes)
{
    const cl_int code = clEnqueueFillBuffer(hn.queue, hn.scratch, &byte, sizeof byte, (size_t)offset, (size_t)bytes, 0,
                                            NULL, NULL);
    return code == CL_SUCCESS ? clFinish(hn.queue) : code;
}

/* Scratch of just so many bytes with a guard behind; `part` gets the memory without the guard. */
static const char *hn_prepare(uint64_t bytes, cl_mem *part)
{
    const cl_buffer_region region = {0, (size_t)bytes};
    const int fresh = !hn.scratch || bytes != hn.scratch_bytes;
    const char *problem = fresh ? hn_check_guard() : NULL;
    cl_int code = CL_SUCCESS;
    if (!problem && fresh) problem = hn_allocate(&hn.scratch, bytes + HN_GUARD);
    if (problem) return problem;
    hn.scratch_bytes = bytes;
    if (fresh) code = hn_fill(HN_GUARD_BYTE, bytes, HN_GUARD);
    if (code == CL_SUCCESS && (fresh || hn.poison)) code = hn_fill(HN_POISON_BYTE, 0, bytes);
    if (code != CL_SUCCESS) return hn_failed("clEnqueueFillBuffer", code);
    hn.unchecked = 1;
    *part = clCreateSubBuffer(hn.scratch, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    return *part ? NULL : hn_failed("clCreateSubBuffer", code);
}

/* The part of a buffer from the place of a role to its end; null where the role is not played. */
static cl_mem hn_part(const hn_call *call, int role, cl_int *code)
{
    cl_buffer_region region;
    cl_mem whole;
    if (!hn_plays(call, role) || *code != CL_SUCCESS) return NULL;
    whole = hn.buffers[call->slots[role]];
    region.origin = (size_t)call->offsets[role];
    region.size = (size_t)(hn.bytes[call->slots[role]] - call->offsets[role]);
    if (region.origin == 0) {
        *code = clRetainMemObject(whole);
        return whole;
    }
    return clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, code);
}

/* The seconds from an event's `from` (CL_PROFILING_COMMAND_START or _END) to the end of another. */
static const char *hn_span(cl_event first, cl_profiling_info from, cl_event last, double *seconds)
{
    cl_ulong begin = 0, end = 0;
    cl_int code = clGetEventProfilingInfo(first, from, sizeof begin, &begin, NULL);
    if (code == CL_SUCCESS) code = clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (code == CL_SUCCESS) *seconds = (double)(end - begin) * 1e-9;
    return hn_failed("clGetEventProfilingInfo", code);
}

/* With the clock on, a barrier waits for the gate until all is enqueued, so that the device waits for nobody in
 * between; the sort begins where the barrier ends. */
/* A call of any kind: what its arguments are filled in from. */
typedef struct hn_record {
    uint64_t n, number;
    hs_options options;
    cl_mem at[HN_ROLES]; /* by hs_role */
    cl_event event;
} hn_record;

#define HN_FILL(args) (memset(&(args), 0, sizeof(args)), (args).n = record->n, (args).event = &record->event)

static hs_status hn_call_sort(hs_opencl *sorter, cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_sort_args args;
    HN_FILL(args);
    args.options = record->options;
    args.source = record->at[HS_SOURCE];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    args.values = record->at[HS_VALUES];
    args.values_destination = record->at[HS_VALUES_OUT];
    args.count = record->at[HS_COUNT];
    args.report = record->at[HS_REPORT];
    args.shift = record->number;
    return hs_opencl_sort(sorter, queue, &args, error);
}

static hs_status hn_call_scan(hs_opencl *sorter, cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_scan_args args;
    HN_FILL(args);
    args.source = record->at[HS_SOURCE];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    return hs_opencl_scan(sorter, queue, &args, error);
}

static hs_status hn_call_segments(hs_opencl *sorter, cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_segmented_sort_args args;
    HN_FILL(args);
    args.segment_count = record->number;
    args.options = record->options;
    args.source = record->at[HS_SOURCE];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    args.offsets = record->at[HS_OTHER_INPUT];
    args.values = record->at[HS_VALUES];
    args.values_destination = record->at[HS_VALUES_OUT];
    return hs_opencl_segmented_sort(sorter, queue, &args, error);
}

static hs_status hn_call_merge(hs_opencl *sorter, cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_merge_args args;
    HN_FILL(args);
    args.first_count = record->number;
    args.options = record->options;
    args.first = record->at[HS_SOURCE];
    args.second = record->at[HS_OTHER_INPUT];
    args.destination = record->at[HS_DESTINATION];
    args.scratch = record->at[HS_SCRATCH];
    args.first_values = record->at[HS_VALUES];
    args.second_values = record->at[HS_OTHER_VALUES];
    args.values_destination = record->at[HS_VALUES_OUT];
    return hs_opencl_merge(sorter, queue, &args, error);
}

static hs_status hn_call_digest(hs_opencl *sorter, cl_command_queue queue, hn_record *record, hs_opencl_error *error)
{
    hs_opencl_digest_args args;
    HN_FILL(args);
    args.capacity = record->number;
    args.options = record->options;
    args.source = record->at[HS_SOURCE];
    args.values = record->at[HS_VALUES];
    args.digest = record->at[HS_REPORT];
    return hs_opencl_digest(sorter, queue, &args, error);
}

static const char *hn_run(const hs_sort *sort, hn_record *record, double *seconds)
{
    static hs_status (*const by_kind[])(hs_opencl *, cl_command_queue, hn_record *, hs_opencl_error *) = {
        hn_call_sort, hn_call_scan, hn_call_segments, hn_call_merge, hn_call_digest};
    static const char *const names[] = HN_NAMES("opencl", "");
    hs_opencl_error error;
    cl_event gate = NULL, begun = NULL;
    cl_command_queue queue = hn.clocked ? hn.clocked : hn.queue;
    cl_int code = CL_SUCCESS;
    const char *problem;
    memset(&error, 0, sizeof error);
    record->event = NULL;
    if (hn.clocked) gate = clCreateUserEvent(hn.context, &code);
    if (gate) code = clEnqueueBarrierWithWaitList(queue, 1, &gate, &begun);
    problem = hn_failed("clEnqueueBarrierWithWaitList", code);
    if (!problem)
        problem = hn_status(names[sort->kind], by_kind[sort->kind](hn.sorter, queue, record, &error), &error);
    if (gate) clSetUserEventStatus(gate, CL_COMPLETE);
    if (!problem) problem = hn_failed("clWaitForEvents", clWaitForEvents(1, &record->event));
    if (!problem && begun) problem = hn_span(begun, CL_PROFILING_COMMAND_END, record->event, seconds);
    if (record->event) clReleaseEvent(record->event);
    if (begun) clReleaseEvent(begun);
    if (gate) clReleaseEvent(gate);
    return problem;
}

const char *hn_sort(const hn_call *call, double *device_seconds)
{
    hn_record record;
    cl_int code = CL_SUCCESS;
    const char *problem = NULL;
    const hs_sort *sort = hs_opencl_sort_of(hn.sorter);
    uint64_t scratch = 0;
    int role;
    hs_status status;
    *device_seconds = -1;
    memset(&record, 0, sizeof record);
    record.n = call->n;
    record.number = call->parts;
    record.options.type = (hs_type)call->type;
    record.options.descending = call->descending;
    record.options.begin_bit = call->begin_bit;
    record.options.end_bit = call->end_bit;
    record.options.discard_keys = call->discard_keys;
    status = hs_scratch_with(sort, call->n, &record.options, &scratch);
    if (status != HS_OK) return hs_status_text(status);
    if (scratch && (problem = hn_prepare(scratch, &record.at[HS_SCRATCH])) != NULL) return problem;
    hn.sorted = call->n;
    for (role = 0; role < HN_ROLES; role++)
        if (role != HS_SCRATCH) record.at[role] = hn_part(call, role, &code);
    problem = code == CL_SUCCESS ? hn_run(sort, &record, device_seconds) : hn_failed("clCreateSubBuffer", code);
    for (role = HN_ROLES - 1; role >= 0; role--) /* in reverse order, as NVIDIA's driver wants it */
        if (role != HS_SCRATCH && record.at[role]) clReleaseMemObject(record.at[role]);
    if (record.at[HS_SCRATCH]) clReleaseMemObject(record.at[HS_SCRATCH]);
    return problem;
}

const char *hn_copy(uint64_t bytes, double *device_seconds)
{
    cl_event event = NULL;
    cl_int code = clEnqueueCopyBuffer(hn.clocked ? hn.clocked : hn.queue, hn.buffers[0], hn.buffers[1], 0, 0,
                                      (size_t)bytes, 0, NULL, &event);
    const char *problem;
    *device_seconds = -1;
    if (code == CL_SUCCESS) code = clWaitForEvents(1, &event);
    problem = hn_failed("clEnqueueCopyBuffer", code);
    if (!problem && hn.clocked) problem = hn_span(event, CL_PROFILING_COMMAND_START, event, device_seconds);
    if (event) clReleaseEvent(event);
    return problem;
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
