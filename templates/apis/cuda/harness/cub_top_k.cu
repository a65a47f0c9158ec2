/* The baseline of selections with CUDA: the top-k of CUB 3.2 and later.  The file is compiled only on request.  The
 * harness then has the function hn_baseline_top_k besides the functions of harness.h. */
#include "baseline.h"

#include <string.h>

#if defined(__has_include)
#if __has_include(<cub/device/device_topk.cuh>)
#include <cub/device/device_topk.cuh>
#include <cuda/execution>
#include <cuda/stream_ref>
#define HN_TOP_K 1
#endif
#endif

#define HN_LARGEST (1ull << 40)
#define HN_FLOAT (1ull << 41)

#ifdef HN_TOP_K
#if HN_KEY_BYTES == 8
using hn_float = double;
#else
using hn_float = float;
#endif

template <typename Key>
static cudaError_t hn_cub(void *memory, size_t &temporary, int64_t n, int64_t k, bool largest)
{
    const auto wanted = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                 cuda::execution::output_ordering::unsorted);
    const auto env = cuda::std::execution::env{cuda::stream_ref{hn_state.stream}, wanted};
    const Key *from = hn_at<const Key>(HN_KEYS);
    Key *to = hn_at<Key>(HN_KEYS_OUT);
    return largest ? cub::DeviceTopK::MaxKeys(memory, temporary, from, to, n, k, env)
                   : cub::DeviceTopK::MinKeys(memory, temporary, from, to, n, k, env);
}
#endif

/* Select k of the first n keys to HN_KEYS_OUT with the baseline called `name`, and wait.  `number`: k, plus HN_LARGEST
 * for the greatest keys, plus HN_FLOAT for floats. */
extern "C" const char *hn_baseline_top_k(const char *name, int key_bytes, int value_bytes, uint64_t n, uint64_t number,
                                         double *device_seconds)
{
    const uint64_t k = number % HN_LARGEST;
    *device_seconds = -1;
    if (const char *wrong = hn_unfit(key_bytes, value_bytes, n)) return wrong;
    if (strcmp(name, "cub") != 0) return hn_wrong("no such baseline; of selections the CUDA harness knows cub");
    if (!hn_holds(HN_KEYS, n, HN_KEY_BYTES) || !hn_holds(HN_KEYS_OUT, k, HN_KEY_BYTES))
        return hn_wrong("a buffer holds fewer keys");
#ifdef HN_TOP_K
    return hn_play("cub",
                   [=](void *memory, size_t &temporary) {
                       const int64_t all = static_cast<int64_t>(n), some = static_cast<int64_t>(k);
                       const bool largest = (number & HN_LARGEST) != 0;
                       return number & HN_FLOAT ? hn_cub<hn_float>(memory, temporary, all, some, largest)
                                                : hn_cub<hn_key>(memory, temporary, all, some, largest);
                   },
                   device_seconds);
#else
    return hn_wrong("unavailable: this CUB has no DeviceTopK; install CUB 3.2 or later");
#endif
}
