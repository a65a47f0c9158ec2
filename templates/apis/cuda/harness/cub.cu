/* The baselines of sorts with CUDA: the toolkit's CUB sorts.  The file is compiled only if HN_BASELINE_CUB is defined,
 * or, for keys as rows of two columns, HN_BASELINE_CUB_FIELDS or HN_BASELINE_CUB_MERGE.  The harness then has the
 * function hn_baseline_sort besides the functions of harness.h. */
#include "baseline.h"

#if defined HN_BASELINE_CUB || defined HN_BASELINE_CUB_FIELDS
#include <cub/device/device_radix_sort.cuh>
#endif
#ifdef HN_BASELINE_CUB_MERGE
#include <cub/device/device_merge_sort.cuh>
#endif

#include <string.h>

#ifdef HN_BASELINE_CUB
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
#endif

#if defined HN_BASELINE_CUB_FIELDS || defined HN_BASELINE_CUB_MERGE
#include <cuda/std/tuple>

#if HN_KEY_BYTES == 8
using hn_column = uint32_t;
#else
using hn_column = uint16_t;
#endif

/* A key as a row of two columns.  The first is the more significant one, but the second precedes it in memory. */
struct hn_row {
    hn_column second, first;
};
#endif

#ifdef HN_BASELINE_CUB_FIELDS
struct hn_fields {
    __host__ __device__ cuda::std::tuple<hn_column &, hn_column &> operator()(hn_row &row) const
    {
        return {row.first, row.second};
    }
};

static cudaError_t hn_cub_fields(void *memory, size_t &temporary, uint64_t n)
{
    const uint32_t count = static_cast<uint32_t>(n);
#if HN_VALUE_BYTES
    return cub::DeviceRadixSort::SortPairs(memory, temporary, hn_at<const hn_row>(HN_KEYS), hn_at<hn_row>(HN_KEYS_OUT),
                                           hn_at<const hn_value>(HN_VALUES), hn_at<hn_value>(HN_VALUES_OUT), count,
                                           hn_fields{}, hn_state.stream);
#else
    return cub::DeviceRadixSort::SortKeys(memory, temporary, hn_at<const hn_row>(HN_KEYS), hn_at<hn_row>(HN_KEYS_OUT),
                                          count, hn_fields{}, hn_state.stream);
#endif
}
#endif

#ifdef HN_BASELINE_CUB_MERGE
struct hn_before {
    __host__ __device__ bool operator()(const hn_row &a, const hn_row &b) const
    {
        return a.first < b.first || (a.first == b.first && a.second < b.second);
    }
};

static cudaError_t hn_cub_merge(void *memory, size_t &temporary, uint64_t n)
{
    const uint32_t count = static_cast<uint32_t>(n);
#if HN_VALUE_BYTES
    return cub::DeviceMergeSort::SortPairsCopy(memory, temporary, hn_at<const hn_row>(HN_KEYS),
                                               hn_at<const hn_value>(HN_VALUES), hn_at<hn_row>(HN_KEYS_OUT),
                                               hn_at<hn_value>(HN_VALUES_OUT), count, hn_before{}, hn_state.stream);
#else
    return cub::DeviceMergeSort::SortKeysCopy(memory, temporary, hn_at<const hn_row>(HN_KEYS),
                                              hn_at<hn_row>(HN_KEYS_OUT), count, hn_before{}, hn_state.stream);
#endif
}
#endif

/* Sort the first n keys to HN_KEYS_OUT with the baseline called `name`, and wait.  If `value_bytes` is not 0, sort
 * their values, too. */
extern "C" const char *hn_baseline_sort(const char *name, int key_bytes, int value_bytes, uint64_t n, uint64_t,
                                    double *device_seconds)
{
    cudaError_t (*sort)(void *, size_t &, uint64_t) = NULL;
    *device_seconds = -1;
    if (const char *wrong = hn_unfit(key_bytes, value_bytes, n)) return wrong;
#ifdef HN_BASELINE_CUB
    if (strcmp(name, "cub") == 0) sort = hn_cub;
#endif
#ifdef HN_BASELINE_CUB_FIELDS
    if (strcmp(name, "cub-fields") == 0) sort = hn_cub_fields;
#endif
#ifdef HN_BASELINE_CUB_MERGE
    if (strcmp(name, "cub-merge") == 0) sort = hn_cub_merge;
#endif
    if (!sort)
        return hn_wrong("no such baseline; of sorts the CUDA harness knows cub, cub-fields and cub-merge, where it was asked for");
    if (const char *wrong = hn_short(n)) return wrong;
    return hn_play(name, [=](void *memory, size_t &temporary) { return sort(memory, temporary, n); }, device_seconds);
}
