/* Compares prefix sums, reductions by key and selections with CUB's on the device; medians of turns.  Rows are printed only
 * if every way's result equals CUB's; a selection's must equal the sorted greatest keys.
 *   hsgen generate -t nvidia-hopper --api cuda --key u32 --key f32 --value none --value v4 --algorithm scan-x1 \
 *       --algorithm scan-x2 --algorithm scan-x3 --algorithm scan-x4 --algorithm reduce_by_key --algorithm radix_select -o ops
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I CCCL -I ops/include tests/device/compare_cub_operations.cu \
 *       $(cd ops && sed "s|^|$PWD/|" sources/cuda.txt) -o compare_cub_operations
 *   ./compare_cub_operations 9 scan 2^26
 *   ./compare_cub_operations 9 reduce 2^20 2^24
 *   ./compare_cub_operations 9 top-k 2^20 2^24 2^28
 * scan-x1 to scan-x4 are of rows of u32; a copy of the rows is measured with them.  Keys to reduce are sorted, each of
 * n groups, n / 16 or 1000, with values.  top-8, top-256 and top-4096 are of f32 keys in (-1, 1), bits-8 and so on of any.  Exit code 0 if all were right, else 1. */
#include "compare_cub.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_topk.cuh>
#include <cuda/execution>
#include <cuda/stream_ref>

template <int N> struct row {
    uint32_t x[N];
};

struct add {
    template <int N> __host__ __device__ row<N> operator()(const row<N> &a, const row<N> &b) const
    {
        row<N> sum;
        for (int i = 0; i < N; i++) sum.x[i] = a.x[i] + b.x[i];
        return sum;
    }
    __host__ __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

__global__ void numbers(uint32_t *out, uint64_t n)
{
    EACH(i, n) out[i] = static_cast<uint32_t>(mixed(i));
}

/* Sorted keys of `groups` groups of various sizes, with values. */
__global__ void runs(uint32_t *keys, uint32_t *values, uint64_t n, uint64_t groups)
{
    EACH(i, n)
    {
        const uint64_t size = n / groups;
        keys[i] = static_cast<uint32_t>((i + (size > 1 ? mixed(i / size) % size : 0)) / size);
        values[i] = static_cast<uint32_t>(mixed(i));
    }
}

template <int N> static bool scan(const hs_cuda_kernels &kernels, int rounds, const char *text, uint64_t n)
{
    const uint64_t elements = n * N;
    uint32_t *source = memory<uint32_t>(elements), *made = memory<uint32_t>(elements), *expected = memory<uint32_t>(elements);
    numbers<<<2048, 256>>>(source, elements);
    const sorter sums(kernels, n);
    const auto cubs = [=](uint32_t *to) {
        return [=](void *at, size_t &bytes) {
            return cub::DeviceScan::InclusiveScan(at, bytes, reinterpret_cast<const row<N> *>(source), reinterpret_cast<row<N> *>(to),
                                                  add(), static_cast<int64_t>(n));
        };
    };
    temporary room(cubs(made));
    TRY(cubs(expected)(room.at, room.bytes));
    const std::string name = "scan-x" + std::to_string(N);
    std::vector<float> copies;
    for (int i = 0; i < rounds; i++)
        copies.push_back(timed([&] { TRY(cudaMemcpyAsync(made, source, elements * 4, cudaMemcpyDeviceToDevice)); }));
    std::printf("%-12s %-9s copy   %48.3f ms  %7.2f TB/s\n", name.c_str(), text, median(copies), elements * 8 / median(copies) / 1e9);
    const bool right = race(name.c_str(), text, n, rounds, {{"scan", [&] {
                                hs_cuda_scan_args args = {};
                                cudaError_t code = cudaSuccess;
                                args.n = n;
                                args.source = source;
                                args.destination = made;
                                args.scratch = sums.scratch;
                                args.scratch_bytes = sums.bytes;
                                TRY(hs_cuda_scan(sums.made, nullptr, &args, &code));
                            }, true},
                            {"InclusiveScan", [&] { TRY(cubs(made)(room.at, room.bytes)); }, false}},
                            [&] { return differences(made, expected, elements); }, [&] { TRY(cudaMemset(made, 0xa5, elements * 4)); });
    for (void *at : {source, made, expected}) TRY(cudaFree(at));
    return right;
}

static bool reduce(uint64_t groups, const char *kind, int rounds, const char *text, uint64_t n)
{
    uint32_t *keys = memory<uint32_t>(n), *values = memory<uint32_t>(n), *made[3], *expected[3];
    for (uint32_t **x : {made, expected})
        for (int i = 0; i < 3; i++) x[i] = memory<uint32_t>(i < 2 ? n : 1);
    runs<<<2048, 256>>>(keys, values, n, groups);
    const sorter sums(HS_REDUCE_BY_KEY, "u32", "v4", n);
    const auto cubs = [&](uint32_t **to) {
        return [=](void *at, size_t &bytes) {
            return cub::DeviceReduce::ReduceByKey(at, bytes, keys, to[0], values, to[1], to[2], add(), static_cast<int>(n));
        };
    };
    temporary room(cubs(made));
    TRY(cubs(expected)(room.at, room.bytes));
    const auto check = [&] {
        uint32_t found[2];
        TRY(cudaMemcpy(&found[0], made[2], 4, cudaMemcpyDeviceToHost));
        TRY(cudaMemcpy(&found[1], expected[2], 4, cudaMemcpyDeviceToHost));
        return found[0] != found[1] ? n : differences(made[0], expected[0], found[1]) + differences(made[1], expected[1], found[1]);
    };
    const bool right = race(kind, text, n, rounds, {{"reduce by key", [&] {
                                hs_cuda_reduce_by_key_args args = {};
                                cudaError_t code = cudaSuccess;
                                args.n = n;
                                args.reduction = HS_SUM;
                                args.keys = keys;
                                args.values = values;
                                args.group_keys = made[0];
                                args.group_values = made[1];
                                args.group_count = made[2];
                                args.scratch = sums.scratch;
                                args.scratch_bytes = sums.bytes;
                                TRY(hs_cuda_reduce_by_key(sums.made, nullptr, &args, &code));
                            }, true},
                            {"ReduceByKey", [&] { TRY(cubs(made)(room.at, room.bytes)); }, false}}, check, [&] {
                                for (int i = 0; i < 2; i++) TRY(cudaMemset(made[i], 0xa5, n * 4));
                            });
    for (void *at : {keys, values, made[0], made[1], made[2], expected[0], expected[1], expected[2]}) TRY(cudaFree(at));
    return right;
}

/* Keys in (-1, 1); or any positive or negative numbers but NaN. */
__global__ void floats(float *out, uint64_t n, bool any)
{
    EACH(i, n)
    {
        const int bits = static_cast<int>(mixed(i));
        const float x = __int_as_float(bits);
        out[i] = any ? (x == x ? x : 0.f) : static_cast<float>(bits) * (1.f / 2147483648.f);
    }
}

static bool top(uint64_t k, bool any, int rounds, const char *text, uint64_t n)
{
    float *keys = memory<float>(n), *made = memory<float>(k), *sorted = memory<float>(n), *ordered = memory<float>(k);
    floats<<<2048, 256>>>(keys, n, any);
    const sorter first(HS_TOP_K, "f32", "none", n);
    const auto all = [=](void *at, size_t &bytes) { return cub::DeviceRadixSort::SortKeysDescending(at, bytes, keys, sorted, n); };
    const auto some = [=](void *at, size_t &bytes) { return cub::DeviceRadixSort::SortKeysDescending(at, bytes, made, ordered, k); };
    const auto cubs = [=](void *at, size_t &bytes) {
        const auto wanted = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                     cuda::execution::output_ordering::unsorted);
        const auto env = cuda::std::execution::env{cuda::stream_ref{cudaStream_t{}}, wanted};
        return cub::DeviceTopK::MaxKeys(at, bytes, keys, made, static_cast<int64_t>(n), static_cast<int64_t>(k), env);
    };
    {
        temporary whole(all);
        TRY(all(whole.at, whole.bytes));
    }
    temporary room(cubs), part(some);
    bool own = true;
    const std::string name = (any ? "bits-" : "top-") + std::to_string(k);
    const bool right = race(name.c_str(), text, n, rounds, {{"sorted, deterministic", [&] {
                                hs_cuda_top_k_args args = {};
                                cudaError_t code = cudaSuccess;
                                own = true;
                                args.n = n;
                                args.row_count = 1;
                                args.k = k;
                                args.options.type = HS_F32;
                                args.options.descending = true;
                                args.source = keys;
                                args.destination = made;
                                args.scratch = first.scratch;
                                args.scratch_bytes = first.bytes;
                                TRY(hs_cuda_top_k(first.made, nullptr, &args, &code));
                            }, true},
                            {"DeviceTopK", [&] {
                                own = false;
                                TRY(cubs(room.at, room.bytes));
                            }, false}}, [&] {
                                if (!own) TRY(some(part.at, part.bytes));
                                return differences(own ? made : ordered, sorted, k);
                            }, [&] { TRY(cudaMemset(made, 0xa5, k * 4)); });
    for (void *at : {keys, made, sorted, ordered}) TRY(cudaFree(at));
    return right;
}

int main(int count, char **words)
{
    bool right = count > 3;
    if (!right) std::printf("usage: %s ROUNDS scan|reduce|top-k COUNT...\n", words[0]);
    for (int i = 3; i < count; i++) {
        const int rounds = std::atoi(words[1]);
        const std::string what = words[2];
        const uint64_t n = counted(words[i]);
        if (what == "scan") {
            right &= scan<1>(hs_nvidia_hopper_scan_x1_u32_cuda, rounds, words[i], n);
            right &= scan<2>(hs_nvidia_hopper_scan_x2_u32_cuda, rounds, words[i], n);
            right &= scan<3>(hs_nvidia_hopper_scan_x3_u32_cuda, rounds, words[i], n);
            right &= scan<4>(hs_nvidia_hopper_scan_x4_u32_cuda, rounds, words[i], n);
        } else if (what == "reduce") {
            right &= reduce(n, "groups-n", rounds, words[i], n);
            right &= reduce(n / 16, "groups-n/16", rounds, words[i], n);
            right &= reduce(1000, "groups-1000", rounds, words[i], n);
        } else {
            for (const bool any : {false, true})
                for (const uint64_t k : {8, 256, 4096}) right &= top(k, any, rounds, words[i], n);
        }
    }
    return right ? 0 : 1;
}
