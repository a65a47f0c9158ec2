/* The controls of fake_opencl.c. */
#ifndef FAKE_OPENCL_H
#define FAKE_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

struct fake_launch;
struct fake {
    unsigned calls;          /* calls so far */
    unsigned fail_at, last;  /* the first and the last that fail; 0: none does */
    cl_int code;             /* with which they fail */
    const char *failed;      /* the function that has failed first */
    cl_uint what, asked;     /* the property that the last query was for; that of the query that has failed first */
    int alive;               /* objects that have been made and not released */
    unsigned enqueued;       /* kernels */
    unsigned waited;         /* events that commands waited for */
    int ballot;              /* whether the device lists the extension */
    size_t width, lanes;     /* what kernels say of their subgroups and work-groups */
    cl_command_queue_properties properties;
    unsigned (*buffers)(const char *kernel); /* how many arguments of a kernel are buffers; null: those that look so */
    void (*launched)(const struct fake_launch *launch); /* is handed each launch; may be null */
};

/* What a kernel is enqueued with. */
enum { FAKE_ARGUMENTS = 16 };
struct fake_launch {
    const char *kernel;
    size_t size[2], lanes[2];
    cl_mem roots[FAKE_ARGUMENTS]; /* the whole buffers; null where the argument is none */
    size_t begins[FAKE_ARGUMENTS], ends[FAKE_ARGUMENTS]; /* what is seen of them */
    long long numbers[FAKE_ARGUMENTS];
    unsigned count; /* of arguments */
};
extern struct fake fake;

cl_device_id fake_device(void);
cl_context fake_context(void);
cl_command_queue fake_queue(void);
cl_mem fake_buffer(size_t size);

#endif
