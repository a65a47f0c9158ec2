/* An OpenCL that computes nothing: it counts objects, fails at a requested call, and aborts at errors that
 * implementations do not survive: an object used after its release, a kernel enqueued with arguments missing.  As in
 * OpenCL, setting a kernel's argument does not keep a buffer alive. */
#include "fake_opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;

enum kind { CONTEXT = 1, DEVICE, PLATFORM, QUEUE, PROGRAM, KERNEL, EVENT, BUFFER };
enum { ARGUMENTS = FAKE_ARGUMENTS };

typedef struct object {
    enum kind kind;
    int references;
    size_t offset, size;
    struct object *root;
    struct object *arguments[ARGUMENTS]; /* buffers; null for other arguments */
    unsigned set;                        /* a bit per argument that is set */
    char name[64];
    long long numbers[ARGUMENTS]; /* of arguments other than buffers */
} object;

static object platform = {PLATFORM, 1, 0, 0, NULL, {NULL}, 0, "", {0}}, device = {DEVICE, 1, 0, 0, NULL, {NULL}, 0, "", {0}};
static object context = {CONTEXT, 1, 0, 0, NULL, {NULL}, 0, "", {0}}, queue = {QUEUE, 1, 0, 0, NULL, {NULL}, 0, "", {0}};

static void demand(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "fake OpenCL: %s\n", what);
    abort();
}

static object *alive(void *handle, enum kind kind)
{
    object *o = (object *)handle;
    demand(o && o->kind == kind && o->references > 0, "a handle that is null, of another kind, or released");
    return o;
}

/* Whether this call fails. */
static int fails(const char *function)
{
    if (++fake.calls < fake.fail_at || fake.calls > fake.last || fake.fail_at == 0) return 0;
    if (!fake.failed) {
        fake.failed = function;
        fake.asked = fake.what;
    }
    return 1;
}
#define FAILS fails(__func__)

static object *made(enum kind kind)
{
    object *o = (object *)calloc(1, sizeof *o);
    demand(o != NULL, "no memory");
    o->kind = kind;
    o->references = 1;
    fake.alive++;
    return o;
}

static cl_int released(void *handle, enum kind kind)
{
    object *o = alive(handle, kind);
    if (--o->references == 0) {
        fake.alive--;
        free(o);
    }
    return CL_SUCCESS;
}

static cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *needed)
{
    if (needed) *needed = bytes;
    if (to && room < bytes) return CL_INVALID_VALUE;
    if (to) memcpy(to, value, bytes);
    return CL_SUCCESS;
}
#define ANSWER(value) answer(&(value), sizeof(value), room, to, needed)
#define TEXT(value) answer(value, strlen(value) + 1, room, to, needed)

cl_device_id fake_device(void) { return (cl_device_id)&device; }
cl_context fake_context(void) { return (cl_context)&context; }
cl_command_queue fake_queue(void) { return (cl_command_queue)&queue; }

cl_mem fake_buffer(size_t size)
{
    object *o = made(BUFFER);
    o->size = size;
    return (cl_mem)o;
}

/* The allocator of hs_opencl.c; it fails like a call. */
void *fake_calloc(size_t count, size_t size) { return FAILS ? NULL : calloc(count, size); }

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void *to,
                                                  size_t *needed)
{
    alive(p, PLATFORM);
    if (FAILS) return fake.code;
    demand(what == CL_PLATFORM_NAME, "clGetPlatformInfo of something else");
    return TEXT("Fake platform");
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *to,
                                                size_t *needed)
{
    static const size_t widths[] = {8, 16, 32};
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_uint vendor = 0x8086;
    const size_t lanes = 1024;
    const cl_ulong local = 65536;
    cl_platform_id own = (cl_platform_id)&platform;
    alive(d, DEVICE);
    fake.what = what;
    if (FAILS) return fake.code;
    switch (what) {
    case CL_DEVICE_TYPE: return ANSWER(type);
    case CL_DEVICE_VENDOR_ID: return ANSWER(vendor);
    case CL_DEVICE_PLATFORM: return ANSWER(own);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return ANSWER(lanes);
    case CL_DEVICE_LOCAL_MEM_SIZE: return ANSWER(local);
    case CL_DEVICE_NAME: return TEXT("Fake device");
    case CL_DEVICE_VENDOR: return TEXT("Fakes");
    case CL_DEVICE_VERSION: return TEXT("OpenCL 1.2 fake");
    case CL_DRIVER_VERSION: return fake.newer ? TEXT("2") : TEXT("1");
    case CL_DEVICE_OPENCL_C_VERSION: return TEXT("OpenCL C 1.2 ");
    case CL_DEVICE_EXTENSIONS:
        return fake.ballot ? TEXT("cl_intel_subgroups cl_khr_subgroup_ballot cl_intel_required_subgroup_size")
                           : TEXT("cl_khr_fp64 cl_intel_subgroups cl_intel_required_subgroup_size");
    case 0x4108: return ANSWER(widths); /* CL_DEVICE_SUB_GROUP_SIZES_INTEL */
    default: return CL_INVALID_VALUE;   /* an OpenCL before 3.0 lists no versions */
    }
}

static cl_int CL_API_CALL sub_group_info(cl_kernel kernel, cl_device_id d, cl_uint what, size_t in_bytes,
                                         const void *in, size_t room, void *to, size_t *needed)
{
    const size_t width = fake.width;
    alive(kernel, KERNEL);
    alive(d, DEVICE);
    if (FAILS) return fake.code;
    demand(what == 0x2033 && in && in_bytes == sizeof(size_t), "clGetKernelSubGroupInfoKHR of something else");
    return ANSWER(width);
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id p, const char *name)
{
    cl_int(CL_API_CALL *const function)(cl_kernel, cl_device_id, cl_uint, size_t, const void *, size_t, void *,
                                        size_t *) = sub_group_info;
    void *found = NULL;
    alive(p, PLATFORM);
    if (FAILS || strcmp(name, "clGetKernelSubGroupInfoKHR") != 0) return NULL;
    memcpy(&found, &function, sizeof found);
    return found;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context c, cl_uint count, const char **texts,
                                                              const size_t *lengths, cl_int *code)
{
    cl_uint i;
    alive(c, CONTEXT);
    for (i = 0; i < count; i++) demand(texts[i] && !lengths, "a source that is null");
    fake.lines = count;
    *code = FAILS ? fake.code : CL_SUCCESS;
    return *code == CL_SUCCESS ? (cl_program)made(PROGRAM) : NULL;
}

static const char binary[] = "compiled";

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(cl_context c, cl_uint count, const cl_device_id *devices,
                                                              const size_t *sizes, const unsigned char **data,
                                                              cl_int *each, cl_int *code)
{
    alive(c, CONTEXT);
    demand(count == 1 && sizes[0] == sizeof binary && memcmp(data[0], binary, sizeof binary) == 0, "another binary");
    alive(devices[0], DEVICE);
    *each = *code = FAILS ? fake.code : CL_SUCCESS;
    return *code == CL_SUCCESS ? (cl_program)made(PROGRAM) : NULL;
}

/* As if the context had another device, for which the program is not built. */
CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *to,
                                                 size_t *needed)
{
    const cl_uint count = 2;
    cl_device_id devices[2];
    const size_t sizes[2] = {0, sizeof binary};
    devices[0] = (cl_device_id)&platform;
    devices[1] = (cl_device_id)&device;
    alive(program, PROGRAM);
    if (FAILS) return fake.code;
    switch (what) {
    case CL_PROGRAM_NUM_DEVICES: return ANSWER(count);
    case CL_PROGRAM_DEVICES: return ANSWER(devices);
    case CL_PROGRAM_BINARY_SIZES: return ANSWER(sizes);
    default:
        demand(what == CL_PROGRAM_BINARIES && room == 2 * sizeof(void *) && !((unsigned char **)to)[0], "binaries");
        memcpy(((unsigned char **)to)[1], binary, sizeof binary);
        return CL_SUCCESS;
    }
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                               const char *options,
                                               void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    alive(program, PROGRAM);
    demand(count == 1 && devices && options && !notify && !data, "clBuildProgram with something else");
    alive(devices[0], DEVICE);
    return FAILS ? fake.code : CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id d, cl_program_build_info what,
                                                      size_t room, void *to, size_t *needed)
{
    static char log[5000];
    alive(program, PROGRAM);
    alive(d, DEVICE);
    if (FAILS) return fake.code;
    demand(what == CL_PROGRAM_BUILD_LOG, "clGetProgramBuildInfo of something else");
    memset(log, 'x', sizeof log - 1);
    return TEXT(log);
}

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    object *o;
    alive(program, PROGRAM);
    *code = FAILS ? fake.code : CL_SUCCESS;
    if (*code != CL_SUCCESS) return NULL;
    o = made(KERNEL);
    strncpy(o->name, name, sizeof o->name - 1);
    return (cl_kernel)o;
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id d,
                                                         cl_kernel_work_group_info what, size_t room, void *to,
                                                         size_t *needed)
{
    const size_t lanes = fake.lanes;
    alive(kernel, KERNEL);
    alive(d, DEVICE);
    if (FAILS) return fake.code;
    demand(what == CL_KERNEL_WORK_GROUP_SIZE, "clGetKernelWorkGroupInfo of something else");
    return ANSWER(lanes);
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    object *o = alive(kernel, KERNEL);
    const int wide = fake.buffers ? bytes == sizeof(cl_long) && index >= fake.buffers(o->name)
                                  : index == 2 && strcmp(o->name, "wide") == 0; /* after the two buffers of a kernel */
    cl_long number = 0;
    cl_int narrow = 0;
    demand(index < ARGUMENTS && value && (bytes == sizeof(cl_mem) || bytes == sizeof(cl_int)), "a strange argument");
    demand(!wide || bytes == sizeof(cl_long), "a count of fewer than 64 bits");
    if (FAILS) return fake.code;
    if (wide) memcpy(&number, value, sizeof number);
    else memcpy(&narrow, value, sizeof narrow);
    o->numbers[index] = wide ? number : narrow;
    o->arguments[index] = NULL;
    if (bytes == sizeof(cl_mem) && !wide) {
        memcpy(&o->arguments[index], value, bytes);
        alive(o->arguments[index], BUFFER);
    }
    o->set |= 1u << index;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t room, void *to,
                                                   size_t *needed)
{
    object *o = alive(memory, BUFFER);
    cl_mem root = (cl_mem)o->root;
    const cl_mem_flags flags = CL_MEM_READ_WRITE;
    if (FAILS) return fake.code;
    switch (what) {
    case CL_MEM_SIZE: return ANSWER(o->size);
    case CL_MEM_OFFSET: return ANSWER(o->offset);
    case CL_MEM_ASSOCIATED_MEMOBJECT: return ANSWER(root);
    case CL_MEM_FLAGS: return ANSWER(flags);
    default: return CL_INVALID_VALUE;
    }
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateSubBuffer(cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type,
                                                  const void *info, cl_int *code)
{
    const cl_buffer_region *region = (const cl_buffer_region *)info;
    object *o, *root = alive(memory, BUFFER);
    (void)flags;
    *code = FAILS ? fake.code : CL_SUCCESS;
    if (*code != CL_SUCCESS) return NULL;
    demand(type == CL_BUFFER_CREATE_TYPE_REGION && !root->root, "a sub-buffer of a sub-buffer");
    demand(region->size > 0 && region->origin + region->size <= root->size, "a sub-buffer beyond its buffer");
    o = made(BUFFER);
    o->root = root;
    o->offset = region->origin;
    o->size = region->size;
    return (cl_mem)o;
}

CL_API_ENTRY cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t room,
                                                      void *to, size_t *needed)
{
    const cl_command_queue_properties properties = fake.properties;
    alive(q, QUEUE);
    if (FAILS) return fake.code;
    demand(what == CL_QUEUE_PROPERTIES, "clGetCommandQueueInfo of something else");
    return ANSWER(properties);
}

static void look_at_events(cl_uint count, const cl_event *events)
{
    cl_uint i;
    demand((count == 0) == (events == NULL), "a list of events without a count or a count without");
    for (i = 0; i < count; i++) alive(events[i], EVENT);
}

static void report_launch(const object *o, const size_t *size, const size_t *lanes)
{
    struct fake_launch launch;
    unsigned i;
    memset(&launch, 0, sizeof launch);
    launch.kernel = o->name;
    for (i = 0; i < 2; i++) {
        launch.size[i] = size[i];
        launch.lanes[i] = lanes[i];
    }
    for (i = 0; i < ARGUMENTS && (o->set >> i & 1); i++, launch.count++) {
        object *b = o->arguments[i];
        launch.numbers[i] = o->numbers[i];
        if (!b) continue;
        launch.roots[i] = (cl_mem)(b->root ? b->root : b);
        launch.begins[i] = b->offset;
        launch.ends[i] = b->offset + b->size;
    }
    fake.launched(&launch);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel kernel, cl_uint dimensions,
                                                       const size_t *offset, const size_t *size, const size_t *lanes,
                                                       cl_uint count, const cl_event *events, cl_event *event)
{
    object *o = alive(kernel, KERNEL);
    unsigned i;
    alive(q, QUEUE);
    look_at_events(count, events);
    demand(!offset && size && lanes && dimensions >= 1 && dimensions <= 2, "a strange grid");
    demand(o->set > 0 && (o->set & (o->set + 1)) == 0, "a kernel without all of its arguments");
    for (i = 0; i < ARGUMENTS; i++)
        if (o->arguments[i]) alive(o->arguments[i], BUFFER);
    if (FAILS) return fake.code;
    fake.waited += count;
    fake.enqueued++;
    if (fake.launched) report_launch(o, size, lanes);
    if (event) *event = (cl_event)made(EVENT);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint count, const cl_event *events,
                                                            cl_event *event)
{
    alive(q, QUEUE);
    look_at_events(count, events);
    if (FAILS) return fake.code;
    fake.waited += count;
    if (event) *event = (cl_event)made(EVENT);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseKernel(cl_kernel o) { return released(o, KERNEL); }
CL_API_ENTRY cl_int CL_API_CALL clReleaseProgram(cl_program o) { return released(o, PROGRAM); }
CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem o) { return released(o, BUFFER); }
CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event o) { return released(o, EVENT); }
