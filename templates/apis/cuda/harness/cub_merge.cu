/* The baseline of merges with CUDA: the toolkit's CUB merge.  The file is compiled only on request.  The harness then
 * has the function hn_baseline_merge besides the functions of harness.h. */
#include "baseline.h"

#include <cub/device/device_merge.cuh>

#include <string.h>

static cudaError_t hn_cub(void *memory, size_t &temporary, uint64_t first, uint64_t second)
{
    const int64_t a = static_cast<int64_t>(first), b = static_cast<int64_t>(second);
#if HN_VALUE_BYTES
    return cub::DeviceMerge::MergePairs(memory, temporary, hn_at<const hn_key>(HN_KEYS), hn_at<const hn_value>(HN_VALUES),
                                        a, hn_at<const hn_key>(HN_OTHER), hn_at<const hn_value>(HN_OTHER_VALUES), b,
                                        hn_at<hn_key>(HN_KEYS_OUT), hn_at<hn_value>(HN_VALUES_OUT),
                                        ::cuda::std::less<>(), hn_state.stream);
#else
    return cub::DeviceMerge::MergeKeys(memory, temporary, hn_at<const hn_key>(HN_KEYS), a, hn_at<const hn_key>(HN_OTHER),
                                       b, hn_at<hn_key>(HN_KEYS_OUT), ::cuda::std::less<>(), hn_state.stream);
#endif
}

/* Merge the `first` keys in HN_KEYS and the n - `first` keys in HN_OTHER to HN_KEYS_OUT with the baseline called
 * `name`, and wait.  If `value_bytes` is not 0, merge their values, too. */
extern "C" const char *hn_baseline_merge(const char *name, int key_bytes, int value_bytes, uint64_t n, uint64_t first,
                                     double *device_seconds)
{
    *device_seconds = -1;
    if (const char *wrong = hn_unfit(key_bytes, value_bytes, n)) return wrong;
    if (strcmp(name, "cub") != 0) return hn_wrong("no such baseline; of merges the CUDA harness knows cub");
    const uint64_t second = n - first;
    if (first > n || !hn_holds(HN_KEYS, first, HN_KEY_BYTES) || !hn_holds(HN_OTHER, second, HN_KEY_BYTES) ||
        !hn_holds(HN_KEYS_OUT, n, HN_KEY_BYTES))
        return hn_wrong("a buffer holds fewer keys");
    if (HN_VALUE_BYTES && (!hn_holds(HN_VALUES, first, sizeof(hn_value)) ||
                           !hn_holds(HN_OTHER_VALUES, second, sizeof(hn_value)) ||
                           !hn_holds(HN_VALUES_OUT, n, sizeof(hn_value))))
        return hn_wrong("a buffer holds fewer values");
    return hn_play("cub", [=](void *memory, size_t &temporary) { return hn_cub(memory, temporary, first, second); },
                   device_seconds);
}
