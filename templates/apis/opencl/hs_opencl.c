/* Sorting with OpenCL; see hs_opencl.h. */
#include "hs/hs_opencl.h"

#include <stdlib.h>
#include <string.h>

/* Of extensions, as cl_ext.h has them; not every system comes with that header. */
#define HS_CL_DEVICE_SUB_GROUP_SIZES_INTEL 0x4108
#define HS_CL_DEVICE_OPENCL_C_ALL_VERSIONS 0x1066
#define HS_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE 0x2033

typedef cl_int(CL_API_CALL *hs_sub_group_info)(cl_kernel, cl_device_id, cl_uint, size_t, const void *, size_t, void *,
                                               size_t *);

/* Two calls of one sorter at once would set arguments of the same kernels.  Where the compiler has atomic exchanges that
 * is noticed, unless HS_CHECK_THREADS is defined as 0: the flag is whether a call is under way. */
#if defined(HS_CHECK_THREADS) && !HS_CHECK_THREADS
#define HS_ENTER(flag) ((void)(flag), 1)
#define HS_LEAVE(flag) ((void)(flag))
#elif defined(__ATOMIC_ACQUIRE)
#define HS_ENTER(flag) (__atomic_exchange_n(flag, 1L, __ATOMIC_ACQUIRE) == 0)
#define HS_LEAVE(flag) __atomic_store_n(flag, 0L, __ATOMIC_RELEASE)
#elif defined(_MSC_VER)
#include <intrin.h>
#define HS_ENTER(flag) (_InterlockedExchange(flag, 1L) == 0)
#define HS_LEAVE(flag) ((void)_InterlockedExchange(flag, 0L))
#else
#define HS_ENTER(flag) ((void)(flag), 1)
#define HS_LEAVE(flag) ((void)(flag))
#endif

struct hs_opencl {
    const hs_sort *sort;
    volatile long busy; /* whether a call is under way */
    cl_program program;
    cl_uint kernel_count; /* kernels that exist */
    cl_kernel kernels[1]; /* as many as the sort has */
};

static hs_status hs_opencl_status(cl_int code, hs_opencl_error *error)
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

/* A text property of a platform, or of a device where that is null, in memory that the caller frees. */
static hs_status hs_text(cl_platform_id platform, cl_device_id device, cl_uint what, char **text,
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

/* Whether kernels may exchange values between lanes, and vote if they do (`ballot`), and whether `width` lanes can be
 * asked for or are not known yet; HS_ERROR_DEVICE: they may not. */
static hs_status hs_exchanges(cl_device_id device, uint32_t width, int ballot, hs_opencl_error *error)
{
    size_t sizes[32], bytes = 0, i;
    char *extensions;
    int found, listed;
    hs_status status = hs_text(NULL, device, CL_DEVICE_EXTENSIONS, &extensions, error);
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

static uint32_t hs_width(const hs_sort *sort)
{
    hs_info info;
    return hs_describe(sort, &info) == HS_OK ? info.subgroup : 1;
}

/* Whether the device's general limits allow the sort; HS_ERROR_DEVICE: they do not, anything else: it cannot be known. */
static hs_status hs_opencl_runs(const hs_sort *sort, cl_device_id device, hs_opencl_error *error)
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
    return hs_width(sort) == 1 ? HS_OK : hs_exchanges(device, hs_width(sort), ballot, error);
}

/* The newest language where lanes exchange values, else OpenCL C 1.2.  A device of OpenCL 3 may name 1.2 as its
 * version and list newer ones apart; an entry of that list is a number and a name of 64 bytes.  A device of an older
 * OpenCL knows no such list, which is CL_INVALID_VALUE. */
static hs_status hs_language(const hs_sort *sort, cl_device_id device, const char **option, hs_opencl_error *error)
{
    struct { cl_uint version; char name[64]; } listed[16];
    size_t bytes = 0, i;
    cl_uint newest = 1;
    char *text;
    cl_int code;
    hs_status status;
    *option = "-cl-std=CL1.2";
    if (hs_width(sort) == 1) return HS_OK;
    status = hs_text(NULL, device, CL_DEVICE_OPENCL_C_VERSION, &text, error);
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

/* A device may run fewer lanes of a kernel than it promises in general, or other subgroups than were asked for. */
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
    memcpy(&ask, &found, sizeof ask); /* ISO C knows no cast from an object's to a function's pointer */
    if (!ask) return HS_OK;           /* then the list of widths that the device offers has been asked */
    code = ask(kernel, device, HS_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof lanes, &lanes, sizeof width, &width,
               NULL);
    if (code == CL_INVALID_VALUE || code == CL_INVALID_OPERATION) return HS_OK; /* a question that it does not know */
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

/* A call of any kind, which the public functions fill in: `number` is what it has besides n. */
typedef struct hs_opencl_record {
    hs_kind kind;
    uint64_t n, number;
    hs_options options;
    cl_mem given[HS_ROLES];
    cl_uint wait_count;
    const cl_event *wait;
    cl_event *event;
} hs_opencl_record;

/* A buffer of a call: where the sort sees it, in bytes of the whole buffer that it was cut from. */
typedef struct hs_part {
    cl_mem memory, root;
    size_t offset, size;
} hs_part;

/* Look at the buffers of a call that are given. */
static hs_status hs_parts(const hs_opencl_record *record, hs_part parts[HS_ROLES], hs_span spans[HS_ROLES],
                          hs_opencl_error *error)
{
    cl_int code = CL_SUCCESS;
    int i;
    for (i = 0; i < HS_ROLES && code == CL_SUCCESS; i++) {
        hs_part *part = &parts[i];
        const cl_mem given = record->given[i];
        if (!given) continue;
        /* a destination that is its source is in place */
        if ((i == HS_DESTINATION || i == HS_VALUES_OUT) && given == record->given[i - 1]) continue;
        code = clGetMemObjectInfo(given, CL_MEM_SIZE, sizeof part->size, &part->size, NULL);
        if (code == CL_SUCCESS)
            code = clGetMemObjectInfo(given, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof part->root, &part->root, NULL);
        if (code == CL_SUCCESS)
            code = clGetMemObjectInfo(given, CL_MEM_OFFSET, sizeof part->offset, &part->offset, NULL);
        part->memory = given;
        if (!part->root) part->root = given;
        spans[i].where = (uint64_t)(uintptr_t)part->root;
        spans[i].begin = part->offset;
        spans[i].room = part->size;
    }
    return hs_opencl_status(code, error);
}

/* Set one buffer argument; a part of scratch that does not begin at its beginning needs a sub-buffer of its own, which
 * the caller releases: a kernel's argument does not keep it, only a kernel that has been enqueued does. */
static cl_int hs_set_buffer(cl_kernel kernel, cl_uint index, const hs_part *part, uint64_t begin, cl_mem *cut)
{
    cl_buffer_region region;
    cl_int code = CL_SUCCESS;
    *cut = NULL;
    if (begin != part->offset) {
        region.origin = (size_t)begin;
        region.size = part->offset + part->size - (size_t)begin;
        *cut = clCreateSubBuffer(part->root, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        if (!*cut) return code;
    }
    return clSetKernelArg(kernel, index, sizeof(cl_mem), *cut ? cut : &part->memory);
}

/* A call that has been checked. */
typedef struct hs_opencl_call {
    hs_call plan;
    hs_part parts[HS_ROLES];
    hs_span spans[HS_ROLES];
} hs_opencl_call;

/* Set what follows the buffers: the count, the argument, and in sorts that take a count on the device the bounds. */
static cl_int hs_set_numbers(cl_kernel kernel, const hs_sort *sort, const hs_step *step, uint64_t n, cl_int argument)
{
    const hs_kernel *facts = &sort->kernels[step->kernel];
    const cl_long wide = (cl_long)n;
    const cl_int narrow = (cl_int)n, low = hs_bound(step->guard.min_n), high = hs_bound(step->guard.max_n);
    const cl_uint i = facts->bindings;
    cl_int code = facts->index64 ? clSetKernelArg(kernel, i, sizeof wide, &wide)
                              : clSetKernelArg(kernel, i, sizeof narrow, &narrow);
    if (code == CL_SUCCESS) code = clSetKernelArg(kernel, i + 1, sizeof argument, &argument);
    if (!sort->device_count) return code;
    if (code == CL_SUCCESS) code = clSetKernelArg(kernel, i + 2, sizeof low, &low);
    return code == CL_SUCCESS ? clSetKernelArg(kernel, i + 3, sizeof high, &high) : code;
}

/* Enqueue one step after `wait`; a kernel that has been enqueued keeps its arguments. */
static cl_int hs_enqueue(hs_opencl *sorter, cl_command_queue queue, const hs_step *step, const uint32_t grid[2],
                         const hs_opencl_call *call, cl_int argument, cl_uint wait_count, const cl_event *wait,
                         cl_event *event)
{
    const hs_kernel *facts = &sorter->sort->kernels[step->kernel];
    cl_kernel kernel = sorter->kernels[step->kernel];
    cl_mem cut[HS_BINDINGS];
    size_t size[2], lanes[2];
    cl_uint bound;
    cl_int code = CL_SUCCESS;
    for (bound = 0; bound < facts->bindings && code == CL_SUCCESS; bound++) {
        const hs_span *span = &call->spans[step->bindings[bound].role];
        const uint64_t begin = span->begin + hs_offset(&step->bindings[bound], call->plan.n);
        code = hs_set_buffer(kernel, bound, &call->parts[span->from], begin, &cut[bound]);
    }
    if (code == CL_SUCCESS) code = hs_set_numbers(kernel, sorter->sort, step, call->plan.n, argument);
    lanes[0] = facts->work_group;
    lanes[1] = 1;
    size[0] = (size_t)grid[0] * lanes[0];
    size[1] = grid[1];
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, size, lanes, wait_count, wait_count ? wait : NULL, event);
    while (bound-- > 0) /* in reverse order: NVIDIA's driver crashes on any other */
        if (cut[bound]) clReleaseMemObject(cut[bound]);
    return code;
}

/* The grid of a step and what its kernel gets; 0: it does not run, -1: it does not fit the device. */
static int hs_step_grid(const hs_sort *sort, const hs_step *step, const hs_call *call, uint32_t grid[2],
                        int32_t *argument)
{
    const uint64_t groups = hs_groups(step, call);
    if (!groups || !hs_argument(sort, step, call, argument)) return 0;
    return hs_grid(groups, sort->max_groups, grid) ? 1 : -1;
}

/* Enqueue the steps of a call that has been checked. */
static cl_int hs_steps(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_record *record,
                       const hs_opencl_call *call)
{
    const hs_sort *sort = sorter->sort;
    cl_command_queue_properties properties = 0;
    cl_event last = NULL, next = NULL;
    const cl_event *wait = record->wait;
    cl_uint wait_count = record->wait_count;
    uint32_t i, grid[2], launched = 0;
    int32_t argument = 0;
    cl_int code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    for (i = 0; i < sort->step_count && code == CL_SUCCESS; i++) {
        if (hs_step_grid(sort, &sort->steps[i], &call->plan, grid, &argument) == 0) continue;
        /* every step reads what the one before wrote: a queue out of order is told by events */
        code = hs_enqueue(sorter, queue, &sort->steps[i], grid, call, argument, wait_count, wait, &next);
        if (last) clReleaseEvent(last);
        last = next;
        next = NULL;
        launched++;
        wait_count = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) ? 1 : 0;
        wait = &last;
    }
    if (code == CL_SUCCESS && launched == 0 && record->event)
        code = clEnqueueMarkerWithWaitList(queue, wait_count, wait_count ? wait : NULL, &last);
    if (code == CL_SUCCESS && record->event)
        *record->event = last;
    else if (last)
        clReleaseEvent(last);
    return code;
}

/* Check a call and enqueue its steps. */
static hs_status hs_opencl_perform(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_record *record,
                                   hs_opencl_error *error)
{
    const hs_sort *sort = sorter->sort;
    hs_opencl_call call;
    hs_status status = HS_OK;
    uint32_t i, grid[2];
    int32_t argument;
    if (record->n > sort->max_n) return HS_ERROR_COUNT;
    memset(&call, 0, sizeof call);
    call.plan.n = record->n;
    call.plan.parts = record->number;
    call.plan.options = &record->options;
    call.spans[HS_COUNT].where = record->given[HS_COUNT] != NULL; /* all that is looked at where the call is idle */
    if (!hs_idle(sort, record->n)) status = hs_parts(record, call.parts, call.spans, error);
    if (status == HS_OK) status = hs_survey(sort, &call.plan, call.spans);
    for (i = 0; i < sort->step_count && status == HS_OK; i++)
        if (hs_step_grid(sort, &sort->steps[i], &call.plan, grid, &argument) < 0) status = HS_ERROR_DEVICE;
    return status == HS_OK ? hs_opencl_status(hs_steps(sorter, queue, record, &call), error) : status;
}

static hs_status hs_opencl_run(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_record *record,
                               hs_opencl_error *error)
{
    hs_status status;
    if (error) memset(error, 0, sizeof *error);
    if (!sorter || !queue || !record || (record->wait_count && !record->wait)) return HS_ERROR_ARGUMENT;
    if (record->event) *record->event = NULL;
    if (sorter->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (!HS_ENTER(&sorter->busy)) return HS_ERROR_BUSY;
    status = hs_opencl_perform(sorter, queue, record, error);
    HS_LEAVE(&sorter->busy);
    return status;
}

static hs_opencl_record hs_opencl_empty(hs_kind kind)
{
    hs_opencl_record record;
    memset(&record, 0, sizeof record);
    record.kind = kind;
    return record;
}

/* What the arguments of all operations have. */
#define HS_OPENCL_SHARED(record, args)        \
    do {                                  \
        record.n = args->n;               \
        record.wait_count = args->wait_count; \
        record.wait = args->wait;       \
        record.event = args->event;     \
    } while (0)

hs_status hs_opencl_sort(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_sort_args *args,
                         hs_opencl_error *error)
{
    hs_opencl_record record = hs_opencl_empty(HS_SORT);
    if (args) {
        HS_OPENCL_SHARED(record, args);
        record.number = args->shift;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_VALUES] = args->values;
        record.given[HS_VALUES_OUT] = args->values_destination;
        record.given[HS_COUNT] = args->count;
        record.given[HS_REPORT] = args->report;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_scan(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_scan_args *args,
                         hs_opencl_error *error)
{
    hs_opencl_record record = hs_opencl_empty(HS_SCAN);
    if (args) {
        HS_OPENCL_SHARED(record, args);
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_segmented_sort(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_segmented_sort_args *args,
                             hs_opencl_error *error)
{
    hs_opencl_record record = hs_opencl_empty(HS_SEGMENTED_SORT);
    if (args) {
        HS_OPENCL_SHARED(record, args);
        record.number = args->segment_count;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_VALUES] = args->values;
        record.given[HS_VALUES_OUT] = args->values_destination;
        record.given[HS_OTHER_INPUT] = args->offsets;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_merge(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_merge_args *args,
                          hs_opencl_error *error)
{
    hs_opencl_record record = hs_opencl_empty(HS_MERGE);
    if (args) {
        HS_OPENCL_SHARED(record, args);
        record.number = args->first_count;
        record.options = args->options;
        record.given[HS_SOURCE] = args->first;
        record.given[HS_OTHER_INPUT] = args->second;
        record.given[HS_DESTINATION] = args->destination;
        record.given[HS_SCRATCH] = args->scratch;
        record.given[HS_VALUES] = args->first_values;
        record.given[HS_OTHER_VALUES] = args->second_values;
        record.given[HS_VALUES_OUT] = args->values_destination;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_digest(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_digest_args *args,
                          hs_opencl_error *error)
{
    hs_opencl_record record = hs_opencl_empty(HS_DIGEST);
    if (args) {
        HS_OPENCL_SHARED(record, args);
        record.number = args->capacity;
        record.options = args->options;
        record.given[HS_SOURCE] = args->source;
        record.given[HS_VALUES] = args->values;
        record.given[HS_REPORT] = args->digest;
    }
    return hs_opencl_run(sorter, queue, args ? &record : NULL, error);
}

hs_status hs_opencl_match(const hs_target *const *targets, size_t count, const char *key, const char *value,
                          cl_device_id device, const hs_sort **sort)
{
    return hs_opencl_match_kind(targets, count, HS_SORT, key, value, device, sort);
}

/* What hs_suits asks of a device; the caller frees `texts`, which keep its name and its platform's. */
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
    status = hs_text(NULL, device, CL_DEVICE_NAME, &texts[0], NULL);
    if (status == HS_OK && platform) status = hs_text(platform, NULL, CL_PLATFORM_NAME, &texts[1], NULL);
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
        if (status == HS_ERROR_DEVICE) status = HS_OK; /* the next one may */
    }
    free(texts[0]);
    free(texts[1]);
    if (status == HS_OK) *sort = found;
    return status;
}
