/* A Metal that runs nothing, in C, and the part of an Objective-C runtime that messages to it need.
 *
 * It is for clang's -fobjc-runtime=gcc without reference counting: there a message is a call of the result of
 * objc_msg_lookup, and an unregistered selector still starts with its name. */
#include "fake_metal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct object {
    const char *kind;
    long owned;
    char *text; /* of strings, and the names of functions and pipelines */
    uint64_t length;
    char tag;
} object;

typedef struct selector {
    const char *name, *types;
} selector;

typedef struct size {
    unsigned long width, height, depth;
} size;

typedef void (*method)(void);

fake_metal fake;

static object device = {"device", 1, NULL, 0, 0}, commands = {"commands", 1, NULL, 0, 0};
static object encoder = {"encoder", 1, NULL, 0, 0}, problem = {"error", 1, NULL, 0, 0};
static object named = {"string", 1, NULL, 0, 0}, said = {"string", 1, NULL, 0, 0}, buffers[26];
static object classes[] = {{"NSString", 1, NULL, 0, 0}, {"NSAutoreleasePool", 1, NULL, 0, 0}};
static const object *bound; /* the pipeline of the next dispatch */
static int open_encoder;
static fake_dispatch next;

/* The compiler's data in a program for the runtime. */
char __objc_class_name_NSString, __objc_class_name_NSAutoreleasePool;
void __objc_exec_class(void *module);
void *objc_lookup_class(const char *name);
method objc_msg_lookup(object *receiver, const selector *which);
void __objc_exec_class(void *module) { (void)module; }

void *objc_lookup_class(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strcmp(classes[i].kind, name) == 0) return &classes[i];
    abort();
}

/* Whether the current call is the one that fails. */
static int fails(void) { return ++fake.calls == fake.fail; }

static object *made(const char *kind, const char *text)
{
    object *one = (object *)calloc(1, sizeof *one);
    if (!one) abort();
    one->kind = kind;
    one->owned = 1;
    if (text) {
        one->length = strlen(text);
        one->text = (char *)malloc(one->length + 1);
        if (!one->text) abort();
        memcpy(one->text, text, one->length + 1);
    }
    fake.alive++;
    return one;
}

void *fake_calloc(size_t count, size_t bytes) { return fails() ? NULL : calloc(count, bytes); }
void *fake_device(void) { return &device; }
void *fake_commands(void) { return &commands; }
void *fake_buffer(char tag, uint64_t length)
{
    object *one = &buffers[tag - 'a'];
    one->kind = "buffer";
    one->owned = 1;
    one->tag = tag;
    one->length = length;
    return one;
}

static void *nothing(void) { return NULL; }

/* All objects. */
static void released(object *self, const selector *which)
{
    (void)which;
    if (--self->owned < 0) abort();
    if (self->owned) return;
    fake.alive--;
    free(self->text);
    free(self);
}
static object *alloced(object *self, const selector *which)
{
    (void)which;
    if (strcmp(self->kind, "NSAutoreleasePool") == 0) return made("pool", NULL);
    return fails() ? NULL : made("empty string", NULL);
}
static object *inited(object *self, const selector *which)
{
    (void)which;
    return self;
}

/* Strings: replaced ones are no longer owned. */
static object *of_text(object *self, const selector *which, const char *text)
{
    released(self, which);
    return fails() ? NULL : made("string", text);
}
static const char *utf8(object *self, const selector *which)
{
    (void)which;
    return self->text;
}
static long code(object *self, const selector *which)
{
    (void)self;
    (void)which;
    return 17;
}
static object *description(object *self, const selector *which)
{
    (void)self;
    (void)which;
    said.text = (char *)"refused, as asked for";
    return &said;
}

/* Devices. */
static object *name(object *self, const selector *which)
{
    (void)self;
    (void)which;
    if (fails()) return NULL;
    named.text = (char *)(uintptr_t)fake.name;
    return &named;
}
static size most_lanes(object *self, const selector *which)
{
    size all = {0, 0, 0};
    (void)self;
    (void)which;
    all.width = all.height = all.depth = (unsigned long)fake.lanes;
    return all;
}
static unsigned long local_bytes(object *self, const selector *which)
{
    (void)self;
    (void)which;
    return (unsigned long)fake.local_bytes;
}
static object *library(object *self, const selector *which, object *source, object *options, object **error)
{
    (void)self;
    (void)which;
    (void)options;
    if (fails()) {
        *error = &problem;
        return NULL;
    }
    return made("library", source->text);
}
static object *pipeline(object *self, const selector *which, object *function, object **error)
{
    (void)self;
    (void)which;
    if (fails()) {
        *error = &problem;
        return NULL;
    }
    return made("pipeline", function->text);
}
/* The functions of a library are the kernels in its text. */
static object *function(object *self, const selector *which, object *wanted)
{
    const char *at = self->text;
    (void)which;
    if (fails()) return NULL;
    while ((at = strstr(at, "\nkernel void ")) != NULL) {
        at += strlen("\nkernel void ");
        if (strncmp(at, wanted->text, wanted->length) == 0 && at[wanted->length] == '(')
            return made("function", wanted->text);
    }
    return NULL;
}
static unsigned long most_total(object *self, const selector *which)
{
    (void)self;
    (void)which;
    return (unsigned long)fake.pipeline_lanes;
}
static unsigned long width(object *self, const selector *which)
{
    (void)self;
    (void)which;
    return (unsigned long)fake.pipeline_width;
}
static unsigned long length(object *self, const selector *which)
{
    (void)which;
    return (unsigned long)self->length;
}

/* Command buffers and encoders. */
static object *begun(object *self, const selector *which)
{
    (void)self;
    (void)which;
    if (open_encoder) fake.wrong++;
    if (fails()) return NULL;
    open_encoder = 1;
    bound = NULL;
    fake.encoders++;
    return &encoder;
}
static void ended(object *self, const selector *which)
{
    (void)self;
    (void)which;
    if (!open_encoder) fake.wrong++;
    open_encoder = 0;
    fake.ended++;
    if (fake.shows) puts("end");
}
static void set_pipeline(object *self, const selector *which, const object *state)
{
    (void)self;
    (void)which;
    bound = state;
    memset(&next, 0, sizeof next);
    next.kernel = state->text;
    if (fake.shows) printf("%s", state->text);
}
static void set_buffer(object *self, const selector *which, const object *buffer, unsigned long at, unsigned long index)
{
    (void)self;
    (void)which;
    if (fake.shows) printf(" %lu=%c+%lu", index, buffer->tag, at);
    if (index > 30 || at >= buffer->length) fake.wrong++;
    next.tags[index & 31] = buffer->tag;
    next.at[index & 31] = at;
}
static void set_bytes(object *self, const selector *which, const void *bytes, unsigned long count, unsigned long index)
{
    int64_t n;
    int32_t rest[3];
    (void)self;
    (void)which;
    if (count != 24) fake.wrong++;
    memcpy(&n, bytes, sizeof n);
    memcpy(rest, (const char *)bytes + sizeof n, sizeof rest);
    next.n = n;
    memcpy(next.numbers, rest, sizeof rest);
    if (fake.shows)
        printf(" %lu=%" PRId64 ",%" PRId32 ",%" PRId32 ",%" PRId32, index, n, rest[0], rest[1], rest[2]);
}
static void dispatch(object *self, const selector *which, size grid, size lanes)
{
    (void)self;
    (void)which;
    if (!bound || !open_encoder || grid.depth != 1 || lanes.height != 1 || lanes.depth != 1) fake.wrong++;
    fake.dispatches++;
    next.grid[0] = grid.width;
    next.grid[1] = grid.height;
    next.lanes = lanes.width;
    if (fake.dispatched) fake.dispatched(&next);
    if (fake.shows) printf(" %lux%lu/%lu\n", grid.width, grid.height, lanes.width);
}
static void barrier(object *self, const selector *which, unsigned long scope)
{
    (void)self;
    (void)which;
    if (scope != 1) fake.wrong++;
    fake.barriers++;
    if (fake.shows) puts("barrier");
}

static const struct {
    const char *kind, *name; /* kind "": any */
    method does;
} methods[] = {
    {"", "alloc", (method)alloced},
    {"", "init", (method)inited},
    {"", "release", (method)released},
    {"pool", "drain", (method)released},
    {"empty string", "initWithUTF8String:", (method)of_text},
    {"string", "UTF8String", (method)utf8},
    {"error", "code", (method)code},
    {"error", "localizedDescription", (method)description},
    {"device", "name", (method)name},
    {"device", "maxThreadsPerThreadgroup", (method)most_lanes},
    {"device", "maxThreadgroupMemoryLength", (method)local_bytes},
    {"device", "newLibraryWithSource:options:error:", (method)library},
    {"device", "newComputePipelineStateWithFunction:error:", (method)pipeline},
    {"library", "newFunctionWithName:", (method)function},
    {"pipeline", "maxTotalThreadsPerThreadgroup", (method)most_total},
    {"pipeline", "threadExecutionWidth", (method)width},
    {"buffer", "length", (method)length},
    {"commands", "computeCommandEncoder", (method)begun},
    {"encoder", "endEncoding", (method)ended},
    {"encoder", "setComputePipelineState:", (method)set_pipeline},
    {"encoder", "setBuffer:offset:atIndex:", (method)set_buffer},
    {"encoder", "setBytes:length:atIndex:", (method)set_bytes},
    {"encoder", "dispatchThreadgroups:threadsPerThreadgroup:", (method)dispatch},
    {"encoder", "memoryBarrierWithScope:", (method)barrier},
};

method objc_msg_lookup(object *receiver, const selector *which)
{
    size_t i;
    if (!receiver) return (method)nothing;
    for (i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].name, which->name) == 0 &&
            (!methods[i].kind[0] || strcmp(methods[i].kind, receiver->kind) == 0))
            return methods[i].does;
    fprintf(stderr, "a %s has no %s\n", receiver->kind, which->name);
    abort();
}
