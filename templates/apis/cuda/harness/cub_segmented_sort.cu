/* The baselines of segmented sorts with CUDA: the toolkit's CUB sorts.  The file is compiled only if HN_BASELINE_CUB or
 * HN_BASELINE_CUB_RADIX is defined.  The harness then has the function hn_baseline_segmented_sort besides the functions
 * of harness.h. */
#include "baseline.h"

#ifdef HN_BASELINE_CUB
#include <cub/device/device_segmented_sort.cuh>
#endif
#ifdef HN_BASELINE_CUB_RADIX
#include <cub/device/device_segmented_radix_sort.cuh>
#endif

#include <string.h>

#ifdef HN_BASELINE_CUB
/* Without values, stable and unstable sorts have equal results. */
static cudaError_t hn_cub(void *memory, size_t &temporary, uint64_t n, uint64_t segments)
{
    const uint32_t *const begin = hn_at<const uint32_t>(HN_OTHER);
    const int64_t count = static_cast<int64_t>(n), parts = static_cast<int64_t>(segments);
#if HN_VALUE_BYTES
    return cub::DeviceSegmentedSort::StableSortPairs(memory, temporary, hn_at<const hn_key>(HN_KEYS),
                                                     hn_at<hn_key>(HN_KEYS_OUT), hn_at<const hn_value>(HN_VALUES),
                                                     hn_at<hn_value>(HN_VALUES_OUT), count, parts, begin, begin + 1,
                                                     hn_state.stream);
#else
    return cub::DeviceSegmentedSort::SortKeys(memory, temporary, hn_at<const hn_key>(HN_KEYS),
                                              hn_at<hn_key>(HN_KEYS_OUT), count, parts, begin, begin + 1,
                                              hn_state.stream);
#endif
}
#endif

#ifdef HN_BASELINE_CUB_RADIX
static cudaError_t hn_cub_radix(void *memory, size_t &temporary, uint64_t n, uint64_t segments)
{
    const uint32_t *const begin = hn_at<const uint32_t>(HN_OTHER);
    const int count = static_cast<int>(n), parts = static_cast<int>(segments), bits = 8 * HN_KEY_BYTES;
#if HN_VALUE_BYTES
    return cub::DeviceSegmentedRadixSort::SortPairs(memory, temporary, hn_at<const hn_key>(HN_KEYS),
                                                    hn_at<hn_key>(HN_KEYS_OUT), hn_at<const hn_value>(HN_VALUES),
                                                    hn_at<hn_value>(HN_VALUES_OUT), count, parts, begin, begin + 1, 0,
                                                    bits, hn_state.stream);
#else
    return cub::DeviceSegmentedRadixSort::SortKeys(memory, temporary, hn_at<const hn_key>(HN_KEYS),
                                                   hn_at<hn_key>(HN_KEYS_OUT), count, parts, begin, begin + 1, 0, bits,
                                                   hn_state.stream);
#endif
}
#endif

/* Sort n keys in `segments` segments to HN_KEYS_OUT with the baseline called `name`, and wait.  The offsets of segments
 * are in HN_OTHER. If `value_bytes` is not 0, sort their values, too. */
extern "C" const char *hn_baseline_segmented_sort(const char *name, int key_bytes, int value_bytes, uint64_t n, uint64_t segments,
                                        double *device_seconds)
{
    *device_seconds = -1;
    if (const char *wrong = hn_unfit(key_bytes, value_bytes, n)) return wrong;
    if (n > INT32_MAX || segments > INT32_MAX) return hn_wrong("cub counts keys and segments in 31 bits");
    if (const char *wrong = hn_short(n)) return wrong;
    if (!hn_holds(HN_OTHER, segments + 1, 4)) return hn_wrong("there are fewer offsets than segments and one");
#ifdef HN_BASELINE_CUB
    const auto by_length = [=](void *memory, size_t &temporary) { return hn_cub(memory, temporary, n, segments); };
    if (strcmp(name, "cub") == 0) return hn_play(name, by_length, device_seconds);
#endif
#ifdef HN_BASELINE_CUB_RADIX
    const auto by_digits = [=](void *memory, size_t &temporary) { return hn_cub_radix(memory, temporary, n, segments); };
    if (strcmp(name, "cub-radix") == 0) return hn_play(name, by_digits, device_seconds);
#endif
    return hn_wrong("no such baseline; of segmented sorts the CUDA harness knows cub and cub-radix, where it was asked for");
}
