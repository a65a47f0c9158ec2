/* A Metal that runs nothing: it prints what is encoded, or refuses one call.  See fake_metal.c. */
#ifndef FAKE_METAL_H
#define FAKE_METAL_H

#include <stddef.h>
#include <stdint.h>

/* A dispatch: the pipeline's kernel, offsets of buffers, by their tags, and the numbers. */
typedef struct fake_dispatch {
    const char *kernel;
    char tags[32]; /* 0 after the last buffer */
    uint64_t at[32];
    int64_t n;
    int32_t numbers[3];
    uint64_t grid[2], lanes;
} fake_dispatch;

typedef struct fake_metal {
    const char *name;
    uint64_t lanes, local_bytes;            /* of a threadgroup */
    uint64_t pipeline_lanes, pipeline_width; /* of every pipeline */
    unsigned long calls, fail;              /* calls that can fail, and the failing one; 0: none */
    long alive;                             /* owned objects */
    int shows;                              /* whether to print the encoded commands */
    void (*dispatched)(const fake_dispatch *what); /* receives each dispatch; may be null */
    unsigned long encoders, ended, dispatches, barriers, wrong;
} fake_metal;

extern fake_metal fake;

void *fake_device(void);
void *fake_commands(void);
void *fake_buffer(char tag, uint64_t length); /* one per letter; never freed */
void *fake_calloc(size_t count, size_t size); /* the runtime's allocator */

#endif
