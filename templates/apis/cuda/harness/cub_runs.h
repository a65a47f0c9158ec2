/* What the baselines of groupings and of reductions by key share: CUB's sums over the runs of n keys, or, without
 * values, its run-length encoding. */
#ifndef HN_CUB_RUNS_H
#define HN_CUB_RUNS_H

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

/* Reduce the runs of keys.  The keys of runs go to the buffer of keys, and their sums or counts to the buffer of
 * values.  The number of runs goes to the report. */
static cudaError_t hn_reduce(void *memory, size_t &temporary, const hn_key *keys, const uint32_t *values, int n)
{
    hn_key *to = hn_at<hn_key>(HN_KEYS_OUT);
    uint32_t *reduced = hn_at<uint32_t>(HN_VALUES_OUT), *groups = hn_at<uint32_t>(HN_REPORT);
#if HN_VALUE_BYTES
    return cub::DeviceReduce::ReduceByKey(memory, temporary, keys, to, values, reduced, groups, hn_add(), n,
                                          hn_state.stream);
#else
    (void)values;
    return cub::DeviceRunLengthEncode::Encode(memory, temporary, keys, to, reduced, groups, n, hn_state.stream);
#endif
}

/* Check a call for `number` runs.  Returns what is wrong, or null. */
static inline const char *hn_unfit_runs(int key_bytes, int value_bytes, uint64_t n, uint64_t number)
{
    if (const char *wrong = hn_unfit(key_bytes, value_bytes, n)) return wrong;
    if (n > INT32_MAX) return hn_wrong("CUB reduces fewer keys");
    if (!hn_holds(HN_KEYS, n, HN_KEY_BYTES) || !hn_holds(HN_KEYS_OUT, number, HN_KEY_BYTES) ||
        (HN_VALUE_BYTES && !hn_holds(HN_VALUES, n, sizeof(uint32_t))) ||
        !hn_holds(HN_VALUES_OUT, number, sizeof(uint32_t)) || !hn_holds(HN_REPORT, 1, sizeof(uint32_t)))
        return hn_wrong("a buffer holds fewer keys or values");
    return NULL;
}

#endif
