/* The baselines of reductions by key with CUDA: CUB's sums by key, or, without values, its run-length encoding.  The
 * file is compiled only on request.  The harness then has the function hn_baseline_reduce_by_key besides the functions
 * of harness.h. */
#include "cub_runs.h"

/* Reduce the runs of n keys with the baseline called `name`, and wait.  `number`: the number of runs.  The keys of runs
 * go to HN_KEYS_OUT, their sums or counts to HN_VALUES_OUT. */
extern "C" const char *hn_baseline_reduce_by_key(const char *name, int key_bytes, int value_bytes, uint64_t n,
                                                 uint64_t number, double *device_seconds)
{
    *device_seconds = -1;
    if (strcmp(name, "cub") != 0) return hn_wrong("no such baseline; of reductions by key the CUDA harness knows cub");
    if (const char *wrong = hn_unfit_runs(key_bytes, value_bytes, n, number)) return wrong;
    return hn_play("cub",
                   [=](void *memory, size_t &temporary) {
                       return hn_reduce(memory, temporary, hn_at<const hn_key>(HN_KEYS),
                                        hn_at<const uint32_t>(HN_VALUES), static_cast<int>(n));
                   },
                   device_seconds);
}
