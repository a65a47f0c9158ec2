/* The part of CUB that baselines of the CUDA harness call, on the host: the signatures of CUB 3.0, by the standard
 * library. */
#ifndef FAKE_CUB
#define FAKE_CUB

#include "cuda_runtime.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

namespace cuda { namespace std {
using ::std::tuple;
template <typename T = void> struct less;
template <> struct less<void> {
    template <typename T> bool operator()(const T &a, const T &b) const { return a < b; }
};
}} // namespace cuda::std

namespace fake {
const size_t NEED = 1000;
struct none {};

/* Return the required memory (true), or check that it is there. */
inline bool asked(void *memory, size_t &bytes, cudaStream_t stream)
{
    if (!memory) bytes = NEED;
    else if (bytes < NEED || stream != fake_stream) abort();
    return !memory;
}

template <typename K, typename V, typename L>
void sorted_by(const K *in, K *out, const V *from, V *to, int64_t begin, int64_t end, L less)
{
    std::vector<int64_t> order(static_cast<size_t>(end - begin));
    std::iota(order.begin(), order.end(), begin);
    std::stable_sort(order.begin(), order.end(), [=](int64_t a, int64_t b) { return less(in[a], in[b]); });
    for (int64_t i = begin; i < end; i++) {
        out[i] = in[order[static_cast<size_t>(i - begin)]];
        if (from) to[i] = from[order[static_cast<size_t>(i - begin)]];
    }
}

template <typename K, typename V> void sorted(const K *in, K *out, const V *from, V *to, int64_t begin, int64_t end)
{
    sorted_by(in, out, from, to, begin, end, [](const K &a, const K &b) { return a < b; });
}
} // namespace fake

namespace cub {
struct DeviceRadixSort {
    template <typename K, typename N>
    static cudaError_t SortKeys(void *m, size_t &bytes, const K *in, K *out, N n, int begin, int end, cudaStream_t s)
    {
        return SortPairs(m, bytes, in, out, static_cast<const fake::none *>(NULL), static_cast<fake::none *>(NULL), n,
                         begin, end, s);
    }
    template <typename K, typename V, typename N>
    static cudaError_t SortPairs(void *m, size_t &bytes, const K *in, K *out, const V *from, V *to, N n, int begin,
                                 int end, cudaStream_t s)
    {
        if (begin != 0 || end != 8 * static_cast<int>(sizeof(K))) abort();
        if (!fake::asked(m, bytes, s)) fake::sorted(in, out, from, to, 0, n);
        return cudaSuccess;
    }
    template <typename K, typename N, typename F>
    static cudaError_t SortKeys(void *m, size_t &bytes, const K *in, K *out, N n, F fields, cudaStream_t s)
    {
        return SortPairs(m, bytes, in, out, static_cast<const fake::none *>(NULL), static_cast<fake::none *>(NULL), n,
                         fields, s);
    }
    template <typename K, typename V, typename N, typename F>
    static cudaError_t SortPairs(void *m, size_t &bytes, const K *in, K *out, const V *from, V *to, N n, F fields,
                                 cudaStream_t s)
    {
        const auto less = [=](K a, K b) { return fields(a) < fields(b); };
        if (!fake::asked(m, bytes, s)) fake::sorted_by(in, out, from, to, 0, n, less);
        return cudaSuccess;
    }
};

struct DeviceMergeSort {
    template <typename K, typename N, typename L>
    static cudaError_t SortKeysCopy(void *m, size_t &bytes, const K *in, K *out, N n, L less, cudaStream_t s)
    {
        return SortPairsCopy(m, bytes, in, static_cast<const fake::none *>(NULL), out, static_cast<fake::none *>(NULL),
                             n, less, s);
    }
    template <typename K, typename V, typename N, typename L>
    static cudaError_t SortPairsCopy(void *m, size_t &bytes, const K *in, const V *from, K *out, V *to, N n, L less,
                                     cudaStream_t s)
    {
        if (!fake::asked(m, bytes, s)) fake::sorted_by(in, out, from, to, 0, n, less);
        return cudaSuccess;
    }
};

struct DeviceSegmentedSort {
    template <typename K, typename O>
    static cudaError_t SortKeys(void *m, size_t &bytes, const K *in, K *out, int64_t n, int64_t parts, O begin, O end,
                                cudaStream_t s)
    {
        return StableSortPairs(m, bytes, in, out, static_cast<const fake::none *>(NULL),
                               static_cast<fake::none *>(NULL), n, parts, begin, end, s);
    }
    template <typename K, typename V, typename O>
    static cudaError_t StableSortPairs(void *m, size_t &bytes, const K *in, K *out, const V *from, V *to, int64_t n,
                                       int64_t parts, O begin, O end, cudaStream_t s)
    {
        if (fake::asked(m, bytes, s)) return cudaSuccess;
        for (int64_t i = 0; i < parts; i++) {
            if (end[i] > n) abort();
            fake::sorted(in, out, from, to, begin[i], end[i]);
        }
        return cudaSuccess;
    }
};

struct DeviceSegmentedRadixSort {
    template <typename K, typename O>
    static cudaError_t SortKeys(void *m, size_t &bytes, const K *in, K *out, int n, int parts, O begin, O end, int low,
                                int high, cudaStream_t s)
    {
        return SortPairs(m, bytes, in, out, static_cast<const fake::none *>(NULL), static_cast<fake::none *>(NULL), n,
                         parts, begin, end, low, high, s);
    }
    template <typename K, typename V, typename O>
    static cudaError_t SortPairs(void *m, size_t &bytes, const K *in, K *out, const V *from, V *to, int n, int parts,
                                 O begin, O end, int low, int high, cudaStream_t s)
    {
        if (low != 0 || high != 8 * static_cast<int>(sizeof(K))) abort();
        return DeviceSegmentedSort::StableSortPairs(m, bytes, in, out, from, to, n, parts, begin, end, s);
    }
};

/* Equal keys of the second array come first: CUB guarantees no order. */
struct DeviceMerge {
    template <typename K, typename L>
    static cudaError_t MergeKeys(void *m, size_t &bytes, const K *a, int64_t n, const K *b, int64_t more, K *out, L less,
                                 cudaStream_t s)
    {
        if (!fake::asked(m, bytes, s)) std::merge(b, b + more, a, a + n, out, less);
        return cudaSuccess;
    }
    template <typename K, typename V, typename L>
    static cudaError_t MergePairs(void *m, size_t &bytes, const K *a, const V *from_a, int64_t n, const K *b,
                                  const V *from_b, int64_t more, K *out, V *to, L less, cudaStream_t s)
    {
        if (fake::asked(m, bytes, s)) return cudaSuccess;
        for (int64_t i = 0, j = 0; i + j < n + more;) {
            const bool first = j == more || (i < n && less(a[i], b[j]));
            out[i + j] = first ? a[i] : b[j];
            to[i + j] = first ? from_a[i] : from_b[j];
            first ? i++ : j++;
        }
        return cudaSuccess;
    }
};

struct DeviceReduce {
    template <typename K, typename V, typename R, typename A>
    static cudaError_t ReduceByKey(void *m, size_t &bytes, const K *in, K *out, const V *from, V *to, R *runs, A add,
                                   int n, cudaStream_t s)
    {
        if (fake::asked(m, bytes, s)) return cudaSuccess;
        *runs = 0;
        for (int i = 0; i < n; i++) {
            const bool same = i > 0 && in[i] == in[i - 1];
            if (!same) out[(*runs)++] = in[i];
            to[*runs - 1] = same ? add(to[*runs - 1], from[i]) : from[i];
        }
        return cudaSuccess;
    }
};

struct DeviceRunLengthEncode {
    template <typename K, typename C, typename R>
    static cudaError_t Encode(void *m, size_t &bytes, const K *in, K *out, C *counts, R *runs, int n, cudaStream_t s)
    {
        if (fake::asked(m, bytes, s)) return cudaSuccess;
        *runs = 0;
        for (int i = 0; i < n; i++) {
            if (i == 0 || in[i] != in[i - 1]) {
                out[*runs] = in[i];
                counts[(*runs)++] = 0;
            }
            counts[*runs - 1]++;
        }
        return cudaSuccess;
    }
};
} // namespace cub
#endif
