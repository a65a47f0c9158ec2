/* The CUDA harness: what a device reports, and functions that CUDA has but HIP lacks. */
#include "hn_cuda.h"

#include <stdio.h>
#include <string.h>

cudaError_t hn_upload(cudaGraphExec_t graph) { return cudaGraphUpload(graph, hn_state.stream); }

/* The driver's version, from the system, because CUDA does not report it; "" if the system does not know it. */
static void hn_driver(char *version, size_t size)
{
    char line[256] = "";
    FILE *const file = fopen("/proc/driver/nvidia/version", "r");
    version[0] = '\0';
    if (!file) return;
    if (fgets(line, sizeof line, file))
        for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n"))
            if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
                snprintf(version, size, "%s, ", word);
                break;
            }
    fclose(file);
}

extern "C" const char *hn_describe(int index, char *text, size_t size)
{
    struct cudaDeviceProp p;
    char driver[64];
    int can = 0, made = 0;
    cudaError_t code = cudaGetDeviceProperties(&p, index);
    if (code == cudaSuccess) code = cudaDriverGetVersion(&can);
    if (code == cudaSuccess) code = cudaRuntimeGetVersion(&made);
    if (code != cudaSuccess) return hn_said("describing a device", code);
    hn_driver(driver, sizeof driver);
    const int length = snprintf(
        text, size,
        "{\"name\": \"%s\", \"platform\": \"NVIDIA CUDA\", \"driver\": \"%sCUDA %d.%d, runtime %d.%d\", "
        "\"type\": \"gpu\", \"vendor\": %d, \"compute\": %d, \"work_group\": %d, \"local_bytes\": %zu, "
        "\"subgroups\": [1, 2, 4, 8, 16, 32], \"shuffle\": true, \"ballot\": true, \"int64\": true, \"groups\": %d, "
        "\"cores\": %d, \"threads\": %d, \"registers\": %d, \"shared_bytes\": %zu, \"memory_bytes\": %zu}",
        p.name, driver, can / 1000, can % 1000 / 10, made / 1000, made % 1000 / 10, 0x10de, 10 * p.major + p.minor,
        p.maxThreadsPerBlock, p.sharedMemPerBlockOptin, p.maxGridSize[0], p.multiProcessorCount,
        p.maxThreadsPerMultiProcessor / p.warpSize, p.regsPerMultiprocessor, p.sharedMemPerBlock, p.totalGlobalMem);
    return length < 0 || static_cast<size_t>(length) >= size ? hn_wrong("the description does not fit") : NULL;
}
