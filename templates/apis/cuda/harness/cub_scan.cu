/* The baseline of prefix sums with CUDA: the toolkit's CUB scan.  The file is compiled only on request.  The harness
 * then has the function hn_baseline_scan besides the functions of harness.h. */
#include "baseline.h"

#include <cub/device/device_scan.cuh>

#include <string.h>

enum { HN_COLUMNS = 4, HN_EXCLUSIVE = 1 << 8 };

/* A row, and the sums of its columns. */
template <int N> struct hn_row {
    hn_key x[N];
};

struct hn_add {
    template <int N> __host__ __device__ hn_row<N> operator()(const hn_row<N> &a, const hn_row<N> &b) const
    {
        hn_row<N> sum;
        for (int i = 0; i < N; i++) sum.x[i] = a.x[i] + b.x[i];
        return sum;
    }
};

template <int N> static cudaError_t hn_cub(void *memory, size_t &temporary, int64_t n, bool exclusive)
{
    const hn_row<N> *from = hn_at<const hn_row<N>>(HN_KEYS);
    hn_row<N> *to = hn_at<hn_row<N>>(HN_KEYS_OUT);
    if (exclusive)
        return cub::DeviceScan::ExclusiveScan(memory, temporary, from, to, hn_add(), hn_row<N>(), n, hn_state.stream);
    return cub::DeviceScan::InclusiveScan(memory, temporary, from, to, hn_add(), n, hn_state.stream);
}

/* Store the prefix sums of the columns of n rows in HN_KEYS_OUT with the baseline called `name`, and wait.  `number` is
 * the number of columns, plus HN_EXCLUSIVE for exclusive sums. */
extern "C" const char *hn_baseline_scan(const char *name, int key_bytes, int value_bytes, uint64_t n, uint64_t number,
                                        double *device_seconds)
{
    static cudaError_t (*const by_columns[])(void *, size_t &, int64_t, bool) = {hn_cub<1>, hn_cub<2>, hn_cub<3>,
                                                                                 hn_cub<4>};
    const uint64_t columns = number % HN_EXCLUSIVE;
    *device_seconds = -1;
    if (const char *wrong = hn_unfit(key_bytes, value_bytes, n)) return wrong;
    if (strcmp(name, "cub") != 0) return hn_wrong("no such baseline; of scans the CUDA harness knows cub");
    if (columns < 1 || columns > HN_COLUMNS) return hn_wrong("rows have 1 to 4 columns here");
    if (!hn_holds(HN_KEYS, columns * n, HN_KEY_BYTES) || !hn_holds(HN_KEYS_OUT, columns * n, HN_KEY_BYTES))
        return hn_wrong("a buffer holds fewer rows");
    return hn_play("cub",
                   [=](void *memory, size_t &temporary) {
                       return by_columns[columns - 1](memory, temporary, static_cast<int64_t>(n), number >= HN_EXCLUSIVE);
                   },
                   device_seconds);
}
