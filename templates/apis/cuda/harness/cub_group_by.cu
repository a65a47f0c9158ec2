/* The baselines of groupings with CUDA: CUB's radix sort to temporary memory, then CUB's sums by key, or, without
 * values, its run-length encoding.  The file is compiled only on request.  The harness then has the function
 * hn_baseline_group_by besides the functions of harness.h. */
#include "cub_runs.h"

#include <cub/device/device_radix_sort.cuh>

/* The bytes of n items in temporary memory, rounded up to 256, the alignment that CUB wants for each part. */
static size_t hn_part(int n, size_t bytes) { return (static_cast<size_t>(n) * bytes + 255) / 256 * 256; }

static cudaError_t hn_sort(void *memory, size_t &temporary, hn_key *keys, uint32_t *values, int n)
{
    const hn_key *from = hn_at<const hn_key>(HN_KEYS);
#if HN_VALUE_BYTES
    return cub::DeviceRadixSort::SortPairs(memory, temporary, from, keys, hn_at<const uint32_t>(HN_VALUES), values, n, 0,
                                           8 * HN_KEY_BYTES, hn_state.stream);
#else
    (void)values;
    return cub::DeviceRadixSort::SortKeys(memory, temporary, from, keys, n, 0, 8 * HN_KEY_BYTES, hn_state.stream);
#endif
}

static cudaError_t hn_cub(void *memory, size_t &temporary, int n)
{
    const size_t keys_size = hn_part(n, HN_KEY_BYTES), sorted = keys_size + hn_part(n, HN_VALUE_BYTES);
    unsigned char *own = static_cast<unsigned char *>(memory);
    hn_key *keys = static_cast<hn_key *>(memory);
    uint32_t *values = memory ? reinterpret_cast<uint32_t *>(own + keys_size) : NULL;
    void *rest = memory ? own + sorted : NULL;
    size_t first = memory ? temporary - sorted : 0, second = first; /* without memory, both only return their sizes */
    cudaError_t code = hn_sort(rest, first, keys, values, n);
    if (code == cudaSuccess) code = hn_reduce(rest, second, keys, values, n);
    if (!memory) temporary = sorted + (first > second ? first : second);
    return code;
}

/* Reduce the groups of n keys with the baseline called `name`, and wait.  `number`: the number of groups.  The keys of
 * groups go to HN_KEYS_OUT, their sums or counts to HN_VALUES_OUT. */
extern "C" const char *hn_baseline_group_by(const char *name, int key_bytes, int value_bytes, uint64_t n, uint64_t number,
                                            double *device_seconds)
{
    *device_seconds = -1;
    if (strcmp(name, "cub") != 0) return hn_wrong("no such baseline; of groupings the CUDA harness knows cub");
    if (const char *wrong = hn_unfit_runs(key_bytes, value_bytes, n, number)) return wrong;
    return hn_play("cub",
                   [=](void *memory, size_t &temporary) { return hn_cub(memory, temporary, static_cast<int>(n)); },
                   device_seconds);
}
