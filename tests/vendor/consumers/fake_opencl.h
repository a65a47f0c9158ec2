/* The controls of fake_opencl.c. */
#ifndef FAKE_OPENCL_H
#define FAKE_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

struct fake_launch;
struct fake {
    unsigned calls;          /* calls so far */
    unsigned fail_at, last;  /* the first and the last failing call; 0: none */
    cl_int code;             /* their error code */
    const char *failed;      /* the first function that failed */
    cl_uint what, asked;     /* the property of the last query; that of the first failed query */
    int alive;               /* objects created and not released */
    unsigned enqueued;       /* kernels */
    unsigned waited;         /* events in wait lists */
    int ballot;              /* whether the device lists the extension */
    int newer;               /* whether the driver has another version */
    unsigned lines;          /* of the last source */
    size_t width, lanes;     /* reported subgroups and work-groups of kernels */
    cl_command_queue_properties properties;
    unsigned (*buffers)(const char *kernel); /* number of buffer arguments; null: guess */
    void (*launched)(const struct fake_launch *launch); /* receives each launch; may be null */
};

/* The arguments of an enqueued kernel. */
enum { FAKE_ARGUMENTS = 16 };
struct fake_launch {
    const char *kernel;
    size_t size[2], lanes[2];
    cl_mem roots[FAKE_ARGUMENTS]; /* the whole buffers; null for other arguments */
    size_t begins[FAKE_ARGUMENTS], ends[FAKE_ARGUMENTS]; /* the visible parts */
    long long numbers[FAKE_ARGUMENTS];
    unsigned count; /* of arguments */
};
extern struct fake fake;

cl_device_id fake_device(void);
cl_context fake_context(void);
cl_command_queue fake_queue(void);
cl_mem fake_buffer(size_t size);

#endif
