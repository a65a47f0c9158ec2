/* The baselines of reductions by key with CUDA: CUB's sums by key, and without values its run-length encoding.  Compiled
 * only on request; hn_baseline_reduce_by_key then accompanies the functions of harness.h. */
#include "baseline.h"

#if HN_VALUE_BYTES
#include <cub/device/device_reduce.cuh>
#else
#include <cub/device/device_run_length_encode.cuh>
#endif

#include <string.h>

#if HN_VALUE_BYTES
struct hn_add {
    __host__ __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
#endif

static cudaError_t hn_cub(void *memory, size_t &temporary, int n)
{
    const hn_key *from = hn_at<const hn_key>(HN_KEYS);
    hn_key *to = hn_at<hn_key>(HN_KEYS_OUT);
    uint32_t *reduced = hn_at<uint32_t>(HN_VALUES_OUT), *runs = hn_at<uint32_t>(HN_REPORT);
#if HN_VALUE_BYTES
    return cub::DeviceReduce::ReduceByKey(memory, temporary, from, to, hn_at<const uint32_t>(HN_VALUES), reduced, runs,
                                          hn_add(), n, hn_state.stream);
#else
    return cub::DeviceRunLengthEncode::Encode(memory, temporary, from, to, reduced, runs, n, hn_state.stream);
#endif
}

/* Reduce the runs of n keys with the baseline called `name`, and wait.  `number`: the number of runs.  The keys of runs
 * go to HN_KEYS_OUT, their sums or counts to HN_VALUES_OUT. */
extern "C" const char *hn_baseline_reduce_by_key(const char *name, int key_bytes, int value_bytes, uint64_t n,
                                                 uint64_t number, double *device_seconds)
{
    *device_seconds = -1;
    if (const char *wrong = hn_unfit(key_bytes, value_bytes, n)) return wrong;
    if (strcmp(name, "cub") != 0) return hn_wrong("no such baseline; of reductions by key the CUDA harness knows cub");
    if (n > INT32_MAX) return hn_wrong("CUB reduces fewer keys");
    if (!hn_holds(HN_KEYS, n, HN_KEY_BYTES) || !hn_holds(HN_KEYS_OUT, number, HN_KEY_BYTES) ||
        (HN_VALUE_BYTES && !hn_holds(HN_VALUES, n, sizeof(uint32_t))) ||
        !hn_holds(HN_VALUES_OUT, number, sizeof(uint32_t)) || !hn_holds(HN_REPORT, 1, sizeof(uint32_t)))
        return hn_wrong("a buffer holds fewer keys or values");
    return hn_play("cub",
                   [=](void *memory, size_t &temporary) { return hn_cub(memory, temporary, static_cast<int>(n)); },
                   device_seconds);
}
