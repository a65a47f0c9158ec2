/* A driver that records launches: the functions of libcuda that hsgen/jax/handler.c calls.
 *
 * A stream is 256 times its context, plus a number.  A function is 256 times a number, plus the count of its arguments.
 * Launches of function number 3054 (0xbee) fail.
 */

#include <stdint.h>
#include <stdlib.h>

enum { MOST = 64, ROOM = 1 << 14 };

typedef struct {
    uint64_t function, stream, context, grid[3], block[3], shared, attribute, set, arguments[MOST];
} record;

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct {
        int id, padding, set;
        char rest[60];
    } *attributes;
    unsigned count;
} config;

record fake_records[ROOM];
int fake_count;
static __thread void *contexts[4];
static __thread int depth;

int fake_depth(void) { return depth; }

int cuStreamGetCtx(void *stream, void **context) {
    *context = (void *)((uintptr_t)stream >> 8);
    return 0;
}

int cuCtxGetCurrent(void **context) {
    *context = depth ? contexts[depth - 1] : NULL;
    return 0;
}

int cuCtxPushCurrent_v2(void *context) {
    contexts[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context) {
    *context = contexts[--depth];
    return 0;
}

int cuGetErrorName(int code, const char **name) {
    *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return code != 700;
}

int cuLaunchKernelEx(const config *c, void *function, void **arguments, void **extra) {
    if ((uintptr_t)function >> 8 == 0xbee || extra) {
        return 700;
    }
    int at = __atomic_fetch_add(&fake_count, 1, __ATOMIC_RELAXED);
    if (at >= ROOM) {
        return 1;
    }
    record *r = &fake_records[at];
    void *current;
    cuCtxGetCurrent(&current);
    r->function = (uintptr_t)function, r->stream = (uintptr_t)c->stream, r->context = (uintptr_t)current;
    for (int i = 0; i < 3; i++) {
        r->grid[i] = c->grid[i], r->block[i] = c->block[i];
    }
    r->shared = c->shared;
    r->attribute = c->count ? (uint64_t)c->attributes[0].id : 0;
    r->set = c->count ? (uint64_t)c->attributes[0].set : 0;
    for (unsigned i = 0; i < ((uintptr_t)function & 255); i++) {
        r->arguments[i] = *(uint64_t *)arguments[i];
    }
    return 0;
}
