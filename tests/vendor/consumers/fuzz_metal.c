/* Random calls of Metal's runtime, over the fake Metal; see fuzz.h. */
#include "fake_metal.h"

#include "any_metal.h"

enum { FUZZ_SCRATCH = 256, FUZZ_SAME_HANDLE = 0, FUZZ_LEAST_ROOM = 0, FUZZ_WHOLE = 0, FUZZ_WIDE = 1, FUZZ_GRIDS = 0,
       FUZZ_LIMITED = 0 };
#include "fuzz.h"

static hs_metal *sorter;
static hs_metal_kernels kernels;
static char text[1 << 14];
static const char *lines[] = {text};

/* The size of a part is the rest of its memory. */
static void fuzz_reshape(fuzz_case *c)
{
    uint64_t lengths[FUZZ_MEMORIES] = {0};
    uint32_t i;
    for (i = 0; i < HS_ROLES; i++) {
        fuzz_part *part = &c->at[i];
        part->offset &= ((uint64_t)1 << 59) - 1;
        part->room &= ((uint64_t)1 << 59) - 1;
        if (!part->memory) memset(part, 0, sizeof *part);
        if (part->offset + part->room > lengths[part->memory]) lengths[part->memory] = part->offset + part->room;
    }
    for (i = 0; i < HS_ROLES; i++)
        if (c->at[i].memory) c->at[i].room = lengths[c->at[i].memory] - c->at[i].offset;
    fuzz_members(c);
    c->columns = c->rows = UINT32_MAX;
}

static void dispatched(const fake_dispatch *what)
{
    fuzz_launch *l = &fuzz_seen[fuzz_count < FUZZ_LAUNCHES ? fuzz_count++ : 0];
    uint32_t i, k;
    memset(l, 0, sizeof *l);
    for (k = 0; k < kernels.sort->kernel_count && strcmp(kernels.sort->kernels[k].name, what->kernel) != 0;) k++;
    l->kernel = k;
    l->lanes = (uint32_t)what->lanes;
    l->grid[0] = (uint32_t)what->grid[0];
    l->grid[1] = (uint32_t)what->grid[1];
    l->n = (uint64_t)what->n;
    l->argument = what->numbers[0];
    for (i = 0; i < HS_BINDINGS && what->tags[i]; i++) {
        l->bound[i].memory = (uint32_t)(what->tags[i] - 'a');
        l->bound[i].begin = what->at[i];
    }
    l->bindings = i;
}

static int fuzz_create(const hs_sort *sort)
{
    hs_metal_error error;
    uint32_t k;
    size_t used = 0;
    hs_status status;
    fake.pipeline_width = 1;
    for (k = 0; k < sort->kernel_count; k++) {
        used += (size_t)sprintf(text + used, "\nkernel void %s(", sort->kernels[k].name);
        if (sort->kernels[k].subgroup > fake.pipeline_width) fake.pipeline_width = sort->kernels[k].subgroup;
    }
    kernels.sort = sort;
    kernels.lines = lines;
    kernels.line_count = 1;
    fake.calls = 0;
    fake.fail = 1 + (unsigned long)fuzz_below(60); /* a first one fails somewhere, and leaks nothing */
    status = hs_metal_create(&kernels, fake_device(), &sorter, &error);
    fuzz_expect((status == HS_OK) == (fake.calls < fake.fail), NULL, "a driver's failure is not reported");
    if (status == HS_OK) hs_metal_release(sorter);
    fuzz_expect(fake.alive == 0, NULL, "something is left over");
    fake.fail = 0;
    return hs_metal_create(&kernels, fake_device(), &sorter, &error) == HS_OK;
}

static void fuzz_release(void)
{
    hs_metal_release(sorter);
    fuzz_expect(fake.alive == 0 && fake.wrong == 0 && fake.encoders == fake.ended, NULL, "something is left over");
}

static hs_metal_buffer buffer(const fuzz_part *part)
{
    hs_metal_buffer made;
    made.memory = part->memory ? fake_buffer((char)('a' + part->memory), part->offset + part->room) : NULL;
    made.offset = part->offset;
    return made;
}

static hs_status fuzz_perform(const fuzz_case *c, unsigned fail)
{
    any_args args;
    hs_status status;
    memset(&args, 0, sizeof args);
    args.n = c->n;
    args.parts = c->parts;
    args.options = c->options;
    args.source = buffer(&c->at[HS_SOURCE]);
    args.destination = buffer(&c->at[HS_DESTINATION]);
    args.scratch = buffer(&c->at[HS_SCRATCH]);
    args.values = buffer(&c->at[HS_VALUES]);
    args.values_destination = buffer(&c->at[HS_VALUES_OUT]);
    args.count = buffer(&c->at[HS_COUNT]);
    args.other = buffer(&c->at[HS_OTHER_INPUT]);
    args.other_values = buffer(&c->at[HS_OTHER_VALUES]);
    args.report = buffer(&c->at[HS_REPORT]);
    fake.calls = 0;
    fake.fail = fail ? 1 : 0; /* a call requests an encoder once */
    fake.dispatched = dispatched;
    status = any_entries[c->entry](c->nulls & FUZZ_NO_SORTER ? NULL : sorter, c->nulls & FUZZ_NO_QUEUE ? NULL : fake_commands(),
                               c->nulls & FUZZ_NO_ARGS ? NULL : &args);
    fuzz_injected = fake.fail && fake.calls >= fake.fail;
    fuzz_expect(!fuzz_injected || status == HS_ERROR_API, c, "another status than that of no encoder");
    fake.fail = 0;
    return status;
}

static void fuzz_nulls(void)
{
    const hs_metal_kernels none = {NULL, lines, 1}, *found = NULL;
    hs_metal *made = NULL;
    uint32_t i;
    fuzz_expect(fuzz_create(&fuzz_sorts[0]), NULL, "a sorter is made");
    fuzz_release();
    for (i = 0; i < 8; i++) {
        const hs_status status = hs_metal_create(i & 1 ? NULL : &kernels, i & 2 ? NULL : fake_device(), i & 4 ? NULL : &made, NULL);
        fuzz_expect(status == (i ? HS_ERROR_ARGUMENT : HS_OK), NULL, "hs_metal_create");
        if (!i) hs_metal_release(made);
        fuzz_expect((hs_metal_match_kind(NULL, 0, (hs_kind)fuzz_below(5), i & 1 ? NULL : "u32", NULL,
                                         i & 2 ? NULL : fake_device(), i & 4 ? NULL : &found) == HS_OK) == (i == 0),
                    NULL, "hs_metal_match_kind");
    }
    fuzz_expect(hs_metal_create(&none, fake_device(), &made, NULL) == HS_ERROR_ARGUMENT, NULL, "a sort without a sort");
    hs_metal_release(NULL);
    fuzz_expect(hs_metal_sort_of(NULL) == NULL, NULL, "hs_metal_sort_of");
}

int main(int argc, char **argv)
{
    const size_t count = fuzz_collect();
    fake.name = "Apple M2 Max";
    fake.lanes = fake.pipeline_lanes = 1024;
    fake.local_bytes = 65536;
    return fuzz_main(argc, argv, count);
}
