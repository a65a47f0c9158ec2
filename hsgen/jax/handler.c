/* A handler of XLA's FFI that launches recorded kernels on XLA's stream.
 *
 * A recipe is the list of launches of one sort or selection on one GPU; hsgen/jax/handler.py prepares it.  A call finds
 * its recipe by the stream's context and by the attribute `work` of the custom call: eight numbers that describe the
 * sort.  The call then adds the addresses of XLA's buffers to the recipe's arguments, and launches.
 *
 * Recipes are never changed or freed, because a compiled program may call the handler at any time.  Calls may come from
 * several threads at once: the table of recipes grows by compare-and-swap, and arguments are on the stack.
 */

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The structures of xla/ffi/api/c_api.h that the handler reads, under short names.  A test compares their layout with
 * the header of jaxlib.  The file does without the header, so one library serves all versions of jaxlib.
 */
enum { STAGE_EXECUTE = 3, EXTENSION_METADATA = 1, ATTRIBUTE_ARRAY = 1, CODE_INTERNAL = 13 };

typedef struct extension {
    size_t size;
    int type;
    struct extension *next;
} extension;

typedef struct {
    size_t size;
    extension *extensions;
    int major, minor;
} version;

typedef struct {
    size_t size;
    version api_version;
    uint32_t traits;
} metadata;

typedef struct {
    extension base;
    metadata *data;
} metadata_extension;

typedef struct {
    size_t size;
    extension *extensions;
    const char *message;
    int code;
} error_args;

typedef struct {
    size_t size;
    extension *extensions;
    void *context, *stream;
} stream_args;

typedef struct {
    size_t size;
    extension *extensions;
    version api_version;
    const void *internal;
    void *(*create_error)(error_args *);
    void *other[3];
    void *(*get_stream)(stream_args *);
} xla_api;

typedef struct {
    size_t size;
    extension *extensions;
    int type;
    void *data;
} buffer;

typedef struct {
    size_t size;
    extension *extensions;
    int64_t count;
    int *types;
    buffer **buffers;
} buffers;

typedef struct {
    const char *text;
    size_t length;
} span;

typedef struct {
    int type;
    size_t count;
    int64_t *data;
} array;

typedef struct {
    size_t size;
    extension *extensions;
    int64_t count;
    int *types;
    span **names;
    void **values;
} attributes;

typedef struct {
    size_t size;
    extension *extensions;
    const xla_api *api;
    void *context;
    int stage;
    buffers arguments, results;
    attributes attributes;
} call_frame;

/* The structures of cuLaunchKernelEx (cuda.h). */
enum { LAUNCH_COOPERATIVE = 2, LAUNCH_EARLY = 6 };

typedef struct {
    int id, padding;
    union {
        int set;
        char size[64];
    } value;
} launch_attribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    launch_attribute *attributes;
    unsigned count;
} launch_config;

/* The functions of the driver, by their names in the library. */
static struct {
    int (*stream_context)(void *stream, void **context);
    int (*current)(void **context);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*launch)(const launch_config *, void *function, void **arguments, void **extra);
    int (*error_name)(int code, const char **name);
} driver;

enum { WORK = 8, MOST_ARGUMENTS = 64, MOST_BUFFERS = 8, TABLE = 1024 };

/* An argument of a kernel.  buffer: 0 if `value` is the argument; otherwise the argument is the address of this buffer
 * of the custom call (1 is the first) plus `value` bytes. */
typedef struct {
    uint64_t buffer, value;
} argument;

/* A launch; its `count` arguments follow it.  name: the offset of the kernel's name in the recipe's text of names. */
typedef struct {
    uint64_t function, width, height, threads, shared, cooperative, early, name, count;
    argument arguments[];
} launch;

typedef struct recipe {
    struct recipe *next;
    int64_t work[WORK];
    void *context;
    uint64_t buffers, words;
    char *names;
    uint64_t launches[];
} recipe;

/* Prepares the recipe for the numbers of `work` and the GPU of a stream.  Returns 0; or 1 after writing a message of up
 * to `size` bytes. */
typedef int prepare_function(const int64_t *work, void *stream, char *message, size_t size);

static recipe *table[TABLE];
static prepare_function *prepare;

static recipe **slot(const int64_t *work) {
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < WORK; i++) {
        hash = (hash ^ (uint64_t)work[i]) * 1099511628211u;
    }
    return &table[(hash >> 32) % TABLE];
}

static const recipe *find(const int64_t *work, const void *context) {
    const recipe *r = __atomic_load_n(slot(work), __ATOMIC_ACQUIRE);
    while (r && (r->context != context || memcmp(r->work, work, sizeof r->work))) {
        r = r->next;
    }
    return r;
}

/* Returns the launch at a position in a recipe, and moves the position to the next launch. */
static const launch *next(const recipe *r, uint64_t *at) {
    const launch *one = (const launch *)(r->launches + *at);
    *at += (sizeof *one + one->count * sizeof(argument)) / sizeof *r->launches;
    return one;
}

/* Loads the driver; returns NULL, or what is missing. */
const char *hs_open(const char *path, prepare_function *prepares) {
    static const char *const names[] = {"cuStreamGetCtx", "cuCtxGetCurrent", "cuCtxPushCurrent_v2",
                                        "cuCtxPopCurrent_v2", "cuLaunchKernelEx", "cuGetErrorName"};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *functions[sizeof names / sizeof *names];
    if (!library) {
        return path;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(functions[i] = dlsym(library, names[i]))) {
            return names[i];
        }
    }
    memcpy(&driver, functions, sizeof driver);
    prepare = prepares;
    return NULL;
}

/* Adds a recipe, of which everything is copied; returns 0, or 1 if there is no memory or the launches are malformed. */
int hs_add(const int64_t *work, void *context, uint64_t buffers, const uint64_t *words, uint64_t count,
           const char *names, size_t names_size) {
    recipe *r = malloc(sizeof *r + count * sizeof *words + names_size);
    if (!r || buffers > MOST_BUFFERS) {
        free(r);
        return 1;
    }
    memcpy(r->work, work, sizeof r->work);
    memcpy(r->launches, words, count * sizeof *words);
    r->context = context, r->buffers = buffers, r->words = count;
    r->names = memcpy((char *)(r->launches + count), names, names_size);
    for (uint64_t at = 0; at < count;) {
        const launch *one = next(r, &at);
        int valid = at <= count && one->count <= MOST_ARGUMENTS && one->name < names_size;
        for (uint64_t i = 0; valid && i < one->count; i++) {
            valid = one->arguments[i].buffer <= buffers;
        }
        if (!valid) {
            free(r);
            return 1;
        }
    }
    recipe **first = slot(work);
    r->next = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(first, &r->next, r, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return 0;
}

static void *failed(const xla_api *api, const char *first, const char *second) {
    char text[400];
    snprintf(text, sizeof text, "hsgen: %s%s", first, second);
    error_args arguments = {sizeof arguments, NULL, text, CODE_INTERNAL};
    return api->create_error(&arguments);
}

static void *refused(const xla_api *api, const char *name, int code) {
    const char *reason = NULL;
    char text[200];
    driver.error_name(code, &reason);
    snprintf(text, sizeof text, " says %s", reason ? reason : "an unknown error");
    return failed(api, name, text);
}

static const int64_t *work_of(const attributes *every) {
    for (int64_t i = 0; i < every->count; i++) {
        const array *numbers = every->values[i];
        int named = every->names[i]->length == 4 && !memcmp(every->names[i]->text, "work", 4);
        if (named && every->types[i] == ATTRIBUTE_ARRAY && numbers->count == WORK) {
            return numbers->data;
        }
    }
    return NULL;
}

/* Launches a recipe in the current context; `base` has the addresses of the buffers from index 1 on, and base[0] is 0. */
static void *enqueue(const xla_api *api, const recipe *r, const uint64_t *base, void *stream) {
    for (uint64_t at = 0; at < r->words;) {
        const launch *one = next(r, &at);
        uint64_t values[MOST_ARGUMENTS];
        void *pointers[MOST_ARGUMENTS];
        for (uint64_t i = 0; i < one->count; i++) {
            values[i] = base[one->arguments[i].buffer] + one->arguments[i].value;
            pointers[i] = &values[i];
        }
        launch_attribute attribute = {.id = one->cooperative ? LAUNCH_COOPERATIVE : LAUNCH_EARLY, .value.set = 1};
        launch_config config = {.grid = {(unsigned)one->width, (unsigned)one->height, 1},
                                .block = {(unsigned)one->threads, 1, 1},
                                .shared = (unsigned)one->shared,
                                .stream = stream,
                                .attributes = &attribute,
                                .count = one->cooperative || one->early};
        int code = driver.launch(&config, (void *)(uintptr_t)one->function, pointers, NULL);
        if (code) {
            char kernel[120];
            snprintf(kernel, sizeof kernel, "kernel %s", r->names + one->name);
            return refused(api, kernel, code);
        }
    }
    return NULL;
}

static void *run(const call_frame *frame) {
    const xla_api *api = frame->api;
    const int64_t *work = work_of(&frame->attributes);
    if (!work) {
        return failed(api, "the custom call has no numbers of work of this version", "");
    }
    stream_args request = {sizeof request, NULL, frame->context, NULL};
    void *error = api->get_stream(&request), *context = NULL, *current = NULL;
    if (error) {
        return error;
    }
    int code = driver.stream_context(request.stream, &context);
    if (code || (code = driver.current(&current))) {
        return refused(api, "the driver", code);
    }
    const recipe *r = find(work, context);
    if (!r) {
        char message[300] = "";
        if (prepare(work, request.stream, message, sizeof message)) {
            return failed(api, message, "");
        }
        if (!(r = find(work, context))) {
            return failed(api, "the stream is not of a GPU's primary context", "");
        }
    }
    uint64_t base[MOST_BUFFERS + 1] = {0}, count = 0;
    const buffers *both[] = {&frame->arguments, &frame->results};
    if ((uint64_t)(both[0]->count + both[1]->count) != r->buffers) {
        return failed(api, "the custom call has another number of buffers than its work", "");
    }
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < both[side]->count; i++) {
            base[++count] = (uint64_t)(uintptr_t)both[side]->buffers[i]->data;
        }
    }
    if (current != context && (code = driver.push(context))) {
        return refused(api, "the driver", code);
    }
    error = enqueue(api, r, base, request.stream);
    if (current != context) {
        driver.pop(&current);
    }
    return error;
}

/* The handler: returns NULL, or an error of XLA. */
void *hs_handler(call_frame *frame) {
    if (frame->extensions && frame->extensions->type == EXTENSION_METADATA) {
        metadata *data = ((metadata_extension *)frame->extensions)->data;
        data->api_version.major = frame->api->api_version.major;
        data->api_version.minor = frame->api->api_version.minor;
        data->traits = 0;
        return NULL;
    }
    return frame->stage == STAGE_EXECUTE ? run(frame) : NULL;
}
