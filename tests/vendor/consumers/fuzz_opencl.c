/* Random calls of OpenCL's runtime, over the fake OpenCL; see fuzz.h. */
#include "fake_opencl.h"

#include "any_opencl.h"

enum { FUZZ_SCRATCH = 4, FUZZ_SAME_HANDLE = 1, FUZZ_LEAST_ROOM = 0, FUZZ_WHOLE = 0, FUZZ_WIDE = 1, FUZZ_GRIDS = 0,
       FUZZ_LIMITED = 0 };
#include "fuzz.h"

static hs_opencl *sorter;
static const hs_sort *sorted;
static cl_mem roots[FUZZ_MEMORIES];
static int before;

/* Sub-buffers lie within buffers of less than 2^60 bytes; the greatest grid is the target's. */
static void fuzz_reshape(fuzz_case *c)
{
    uint32_t i;
    for (i = 0; i < HS_ROLES; i++) {
        c->at[i].offset &= ((uint64_t)1 << 59) - 1;
        c->at[i].room &= ((uint64_t)1 << 59) - 1;
        if (!c->at[i].room) c->at[i].room = 1;
        if (!c->at[i].memory) memset(&c->at[i], 0, sizeof c->at[i]);
    }
    fuzz_members(c);
    c->columns = c->rows = UINT32_MAX;
}

static unsigned buffers(const char *kernel)
{
    uint32_t k;
    for (k = 0; k < sorted->kernel_count; k++)
        if (strcmp(sorted->kernels[k].name, kernel) == 0) return sorted->kernels[k].bindings;
    return 0;
}

static void launched(const struct fake_launch *launch)
{
    fuzz_launch *l = &fuzz_seen[fuzz_count < FUZZ_LAUNCHES ? fuzz_count++ : 0];
    uint32_t i, k;
    memset(l, 0, sizeof *l);
    for (k = 0; k < sorted->kernel_count && strcmp(sorted->kernels[k].name, launch->kernel) != 0;) k++;
    l->kernel = k;
    l->lanes = (uint32_t)launch->lanes[0];
    fuzz_expect(launch->lanes[1] == 1 && launch->size[0] % launch->lanes[0] == 0, NULL, "a strange group");
    l->grid[0] = (uint32_t)(launch->size[0] / launch->lanes[0]);
    l->grid[1] = (uint32_t)launch->size[1];
    for (i = 0; i < launch->count && launch->roots[i]; i++) {
        for (k = 1; k < FUZZ_MEMORIES && roots[k] != launch->roots[i];) k++;
        l->bound[i].memory = k;
        l->bound[i].begin = launch->begins[i];
        l->bound[i].end = launch->ends[i];
    }
    l->bindings = i;
    fuzz_expect(launch->count == i + 2 + (sorted->device_count ? 2u : 0u), NULL, "another number of arguments");
    l->n = (uint64_t)launch->numbers[i];
    l->argument = (int32_t)launch->numbers[i + 1];
}

static int fuzz_create(const hs_sort *sort)
{
    hs_opencl_error error;
    uint32_t k;
    before = fake.alive;
    fake.ballot = 1;
    for (k = 0, fake.width = 1; k < sort->kernel_count; k++)
        if (sort->kernels[k].subgroup > fake.width) fake.width = sort->kernels[k].subgroup;
    sorted = sort;
    fake.fail_at = 0;
    fake.properties = fuzz_one_in(2) ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
    return hs_opencl_create(sort, fake_context(), fake_device(), &sorter, &error) == HS_OK;
}

static void fuzz_release(void)
{
    hs_opencl_release(sorter);
    fuzz_expect(fake.alive == before, NULL, "something is left over");
}

/* The object of a part: the same for the same part. */
static cl_mem object(const fuzz_case *c, cl_mem made[HS_ROLES], uint32_t role)
{
    const fuzz_part *part = &c->at[role];
    const cl_buffer_region region = {(size_t)part->offset, (size_t)part->room};
    cl_int code;
    uint32_t i;
    if (!part->memory) return NULL;
    for (i = 0; i < role; i++)
        if (c->at[i].memory && fuzz_same(&c->at[i], part)) return made[i];
    return clCreateSubBuffer(roots[part->memory], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
}

static hs_status fuzz_perform(const fuzz_case *c, unsigned fail)
{
    static const cl_int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, CL_DEVICE_NOT_AVAILABLE, -9999};
    any_args args;
    hs_opencl_error error;
    hs_status status;
    cl_mem made[HS_ROLES];
    cl_event event = (cl_event)&args;
    uint32_t i;
    memset(&args, 0, sizeof args);
    fake.fail_at = 0;
    for (i = 1; i < FUZZ_MEMORIES; i++) roots[i] = fake_buffer((size_t)1 << 60);
    for (i = 0; i < HS_ROLES; i++) made[i] = object(c, made, i);
    args.n = c->n;
    args.parts = c->parts;
    args.options = c->options;
    args.source = made[HS_SOURCE];
    args.destination = made[HS_DESTINATION];
    args.scratch = made[HS_SCRATCH];
    args.values = made[HS_VALUES];
    args.values_destination = made[HS_VALUES_OUT];
    args.count = made[HS_COUNT];
    args.other = made[HS_OTHER_INPUT];
    args.other_values = made[HS_OTHER_VALUES];
    args.report = made[HS_REPORT];
    args.wait_count = (cl_uint)fuzz_any() | 1;
    status = any_entries[c->entry](sorter, fake_queue(), &args, &error);
    fuzz_expect(status == HS_ERROR_ARGUMENT && error.code == 0, c, "events are counted that are not there");
    args.wait_count = 0;
    if (c->n % 3) args.event = &event;
    fake.calls = 0;
    fake.fail_at = fake.last = fail;
    fake.code = codes[fail % 4];
    fake.failed = NULL;
    fake.launched = launched;
    status = any_entries[c->entry](c->nulls & FUZZ_NO_SORTER ? NULL : sorter,
                               c->nulls & FUZZ_NO_QUEUE ? NULL : fake_queue(), c->nulls & FUZZ_NO_ARGS ? NULL : &args,
                               c->nulls & FUZZ_NO_ERROR ? NULL : &error);
    fuzz_injected = fake.failed != NULL;
    fake.launched = NULL;
    fake.fail_at = 0;
    if (!(c->nulls & FUZZ_NO_ERROR))
        fuzz_expect(error.code == (fuzz_injected ? codes[fail % 4] : 0), c, "another code than the driver's");
    if (args.event && !(c->nulls & (FUZZ_NO_SORTER | FUZZ_NO_QUEUE | FUZZ_NO_ARGS))) {
        fuzz_expect((event != NULL) == (status == HS_OK), c, "an event after an error, or none after success");
        if (event) clReleaseEvent(event);
    }
    for (i = 0; i < HS_ROLES; i++) {
        uint32_t k;
        for (k = 0; k < i && made[k] != made[i];) k++;
        if (made[i] && k == i) clReleaseMemObject(made[i]);
    }
    for (i = 1; i < FUZZ_MEMORIES; i++) clReleaseMemObject(roots[i]);
    return status;
}

static void fuzz_nulls(void)
{
    const hs_sort *sort = hs_targets[0]->sorts[0], *found = sort;
    hs_opencl *made = NULL;
    uint32_t i;
    for (i = 0; i < 16; i++) {
        const hs_status status = hs_opencl_create(i & 1 ? NULL : sort, i & 2 ? NULL : fake_context(),
                                                  i & 4 ? NULL : fake_device(), i & 8 ? NULL : &made, NULL);
        fuzz_expect(status == (i ? HS_ERROR_ARGUMENT : sort->opencl ? HS_OK : HS_ERROR_KERNELS), NULL, "hs_opencl_create");
        if (!(i & 8)) hs_opencl_release(made);
    }
    for (i = 0; i < 16; i++)
        fuzz_expect((hs_opencl_match_kind(i & 1 ? NULL : hs_targets, hs_targets_count, (hs_kind)fuzz_below(7),
                                          i & 2 ? NULL : "u32", i % 3 ? NULL : "v4", i & 4 ? NULL : fake_device(),
                                          i & 8 ? NULL : &found) == HS_OK) == (i == 0), NULL, "hs_opencl_match_kind");
    hs_opencl_release(NULL);
    fuzz_expect(hs_opencl_sort_of(NULL) == NULL, NULL, "hs_opencl_sort_of");
}

int main(int argc, char **argv)
{
    static const char *const text[] = {"nothing\n"};
    const size_t count = fuzz_collect();
    size_t i;
    for (i = 0; i < count; i++) {
        fuzz_sorts[i].opencl = text;
        fuzz_sorts[i].opencl_lines = 1;
    }
    fake.lanes = 1024;
    fake.buffers = buffers;
    return fuzz_main(argc, argv, count);
}
