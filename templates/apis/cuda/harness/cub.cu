/* The baseline of sorts with CUDA: the toolkit's CUB radix sort.  Compiled only on request;
 * hn_baseline_sort then accompanies the functions of harness.h. */
#include "baseline.h"

#include <cub/device/device_radix_sort.cuh>

#include <string.h>

static cudaError_t hn_cub(void *memory, size_t &temporary, uint64_t n)
{
    const int bits = 8 * HN_KEY_BYTES;
    const uint32_t count = static_cast<uint32_t>(n);
#if HN_VALUE_BYTES
    return cub::DeviceRadixSort::SortPairs(memory, temporary, hn_at<const hn_key>(HN_KEYS), hn_at<hn_key>(HN_KEYS_OUT),
                                           hn_at<const hn_value>(HN_VALUES), hn_at<hn_value>(HN_VALUES_OUT), count, 0,
                                           bits, hn_state.stream);
#else
    return cub::DeviceRadixSort::SortKeys(memory, temporary, hn_at<const hn_key>(HN_KEYS), hn_at<hn_key>(HN_KEYS_OUT),
                                          count, 0, bits, hn_state.stream);
#endif
}

/* Sort the first n keys to where keys go with the baseline called `name`, and wait; with values, if these have a size. */
extern "C" const char *hn_baseline_sort(const char *name, int key_bytes, int value_bytes, uint64_t n, uint64_t,
                                    double *device_seconds)
{
    *device_seconds = -1;
    if (const char *wrong = hn_unfit(key_bytes, value_bytes, n)) return wrong;
    if (strcmp(name, "cub") != 0) return hn_wrong("no such baseline; of sorts the CUDA harness knows cub");
    if (const char *wrong = hn_short(n)) return wrong;
    return hn_play("cub", [=](void *memory, size_t &temporary) { return hn_cub(memory, temporary, n); }, device_seconds);
}
