/* Prints for every device: platform, name, and the target that hs_opencl_match selects, also with the list reversed. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>

static const char *picked(const hs_target *const *targets, const char *key, cl_device_id device)
{
    const hs_sort *sort = NULL;
    if (hs_opencl_match(targets, hs_targets_count, key, NULL, device, &sort) != HS_OK) return "error";
    return sort ? sort->target : "none";
}

int main(void)
{
    enum { MOST = 16 };
    const hs_target *reversed[MOST];
    cl_platform_id platforms[MOST];
    cl_device_id devices[MOST];
    cl_uint p, d, platform_count = 0, device_count;
    size_t i;
    if (hs_targets_count > MOST) return 1;
    for (i = 0; i < hs_targets_count; i++) reversed[i] = hs_targets[hs_targets_count - 1 - i];
    if (clGetPlatformIDs(MOST, platforms, &platform_count) != CL_SUCCESS) return 1;
    for (p = 0; p < platform_count && p < MOST; p++) {
        char platform[256] = "", name[256] = "";
        device_count = 0;
        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
        clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, devices, &device_count);
        for (d = 0; d < device_count && d < MOST; d++) {
            clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
            printf("%s|%s|%s|%s|%s\n", platform, name, picked(hs_targets, "u32", devices[d]),
                   picked(reversed, "u32", devices[d]), picked(hs_targets, "f16", devices[d]));
        }
    }
    return 0;
}
