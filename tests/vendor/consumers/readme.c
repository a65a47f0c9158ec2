/* The functions of README.md as a program uses them: a sorter that is made once, many sorts, nothing left at the end.
 * Runs on fake_opencl.c. */
#include "fake_opencl.h"
#include "readme.h"

#include <stdio.h>

int main(void)
{
    const cl_context context = fake_context();
    const cl_device_id device = fake_device();
    const cl_command_queue queue = fake_queue();
    const cl_mem keys = fake_buffer(4 * 100003);
    const int before = fake.alive;
    hs_opencl *sorter = NULL;
    cl_mem scratch = NULL;
    uint64_t bytes = 0;
    int i, made;
    unsigned calls = 0;
    fake.lanes = 1024;
    fake.width = 16;
    if (make_sorter(context, device, &sorter) != HS_OK || !sorter) return 1;
    if (hs_scratch(hs_opencl_sort_of(sorter), 100003, &bytes) != HS_OK) return 2;
    if (bytes) scratch = fake_buffer((size_t)bytes);
    made = fake.alive;
    for (i = 0; i < 3; i++) {
        calls = fake.enqueued;
        if (sort_keys(sorter, queue, keys, 100003, scratch) != HS_OK || fake.enqueued == calls) return 3;
        if (fake.alive != made) return 4; /* a sort makes nothing that lasts */
    }
    hs_opencl_release(sorter);
    if (scratch) clReleaseMemObject(scratch);
    printf("%u kernels, %d objects left\n", fake.enqueued, fake.alive - before);
    return fake.alive != before;
}
