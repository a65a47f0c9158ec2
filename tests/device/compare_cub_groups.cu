/* Compares sums by group with CUB's, a sort of pairs and a reduction by key, on the device; medians of turns.  Rows are
 * printed only if keys, sums and the number of groups equal CUB's.
 *   hsgen generate -t nvidia-hopper --api cuda --key u32 --value v4 --algorithm auto --algorithm reduce_by_key \
 *       --algorithm group_by -o sums
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I CCCL -I sums/include tests/device/compare_cub_groups.cu \
 *       $(cd sums && sed "s|^|$PWD/|" sources/cuda.txt) -o compare_cub_groups
 *   ./compare_cub_groups 9 2^20 2^24
 * Exit code 0 if all were right, else 1. */
#include "compare_cub.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

/* Keys of `groups` values spread over all 32 bits; 0: any.  Floats are 0 and 1, whose sums are exact up to 2^24. */
template <typename T>
__global__ void make(uint32_t *keys, T *values, uint64_t n, uint64_t groups)
{
    EACH(i, n)
    {
        const uint64_t random = mixed(i) >> 32;
        keys[i] = static_cast<uint32_t>(groups ? mixed(random * groups >> 32) : random);
        values[i] = static_cast<T>(sizeof(T) == 4 && T(0.5) != T(0) ? i & 1 : i);
    }
}

struct add {
    template <typename T>
    __host__ __device__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

/* Room for the keys, sums and number of groups. */
template <typename T>
struct result {
    uint32_t *keys, *number;
    T *sums;
    explicit result(uint64_t n) : keys(memory<uint32_t>(n)), number(memory<uint32_t>(1)), sums(memory<T>(n)) {}
    ~result()
    {
        TRY(cudaFree(keys));
        TRY(cudaFree(number));
        TRY(cudaFree(sums));
    }
    uint32_t groups() const
    {
        uint32_t found = 0;
        TRY(cudaMemcpy(&found, number, sizeof found, cudaMemcpyDeviceToHost));
        return found;
    }
};

template <typename T>
static bool measure(uint64_t groups, const char *kind, int rounds, const char *text, uint64_t n)
{
    const hs_type type = T(0.5) != T(0) ? HS_F32 : HS_U32;
    uint32_t *keys = memory<uint32_t>(n), *sorted = memory<uint32_t>(n);
    T *values = memory<T>(n), *moved = memory<T>(n);
    make<<<2048, 256>>>(keys, values, n, groups);
    const sorter sort(HS_SORT, "u32", "v4", n), reduce(HS_REDUCE_BY_KEY, "u32", "v4", n), group(HS_GROUP_BY, "u32", "v4", n);
    const result<T> made(n), expected(n);
    const auto own = [&] {
        hs_cuda_reduce_by_key_args args = {};
        cudaError_t code = cudaSuccess;
        sort.sort(n, keys, sorted, reinterpret_cast<uint32_t *>(values), reinterpret_cast<uint32_t *>(moved));
        args.n = n;
        args.reduction = HS_SUM;
        args.value_type = type;
        args.keys = sorted;
        args.values = moved;
        args.group_count = made.number;
        args.group_keys = made.keys;
        args.group_values = made.sums;
        args.scratch = reduce.scratch;
        args.scratch_bytes = reduce.bytes;
        TRY(hs_cuda_reduce_by_key(reduce.made, nullptr, &args, &code));
    };
    const auto joint = [&] {
        hs_cuda_group_by_args args = {};
        cudaError_t code = cudaSuccess;
        args.n = n;
        args.reduction = HS_SUM;
        args.value_type = type;
        args.keys = keys;
        args.values = values;
        args.group_count = made.number;
        args.group_keys = made.keys;
        args.group_values = made.sums;
        args.scratch = group.scratch;
        args.scratch_bytes = group.bytes;
        TRY(hs_cuda_group_by(group.made, nullptr, &args, &code));
    };
    const auto pairs = [&](void *at, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(at, bytes, keys, sorted, values, moved, n);
    };
    const auto sums = [&](const result<T> &to) {
        return [&, n](void *at, size_t &bytes) {
            return cub::DeviceReduce::ReduceByKey(at, bytes, sorted, to.keys, moved, to.sums, to.number, add(), static_cast<int>(n));
        };
    };
    temporary first(pairs), second(sums(made));
    const auto cub_into = [&](const result<T> &to) {
        TRY(pairs(first.at, first.bytes));
        TRY(sums(to)(second.at, second.bytes));
    };
    cub_into(expected);
    const auto check = [&] {
        const uint32_t number = expected.groups();
        return made.groups() != number ? n : differences(made.keys, expected.keys, number) + differences(made.sums, expected.sums, number);
    };
    const auto clear = [&] {
        void *const written[] = {made.keys, made.sums, sorted, moved};
        for (void *at : written) TRY(cudaMemset(at, 0xa5, n * sizeof(uint32_t)));
    };
    const bool right = race(kind, text, n, rounds, {{"group by", joint, true}, {"sort, reduce by key", own, true},
                            {"SortPairs, ReduceByKey", [&] { cub_into(made); }, false}}, check, clear);
    void *const taken[] = {keys, values, sorted, moved};
    for (void *at : taken) TRY(cudaFree(at));
    return right;
}

int main(int count, char **words)
{
    bool right = count > 2;
    if (!right) std::printf("usage: %s ROUNDS COUNT...\n", words[0]);
    for (int i = 2; i < count; i++) {
        const int rounds = std::atoi(words[1]);
        const uint64_t n = counted(words[i]);
        right &= measure<uint32_t>(1, "groups-1", rounds, words[i], n);
        right &= measure<uint32_t>(8, "groups-8", rounds, words[i], n);
        right &= measure<uint32_t>(1000, "groups-1000", rounds, words[i], n);
        right &= measure<uint32_t>(3000, "groups-3000", rounds, words[i], n);
        right &= measure<uint32_t>(100000, "groups-100000", rounds, words[i], n);
        right &= measure<uint32_t>(n / 16, "groups-n/16", rounds, words[i], n);
        right &= measure<uint32_t>(0, "groups-any", rounds, words[i], n);
        right &= measure<float>(1000, "f32-groups-1000", rounds, words[i], n);
        right &= measure<float>(n / 16, "f32-groups-n/16", rounds, words[i], n);
        right &= measure<float>(0, "f32-groups-any", rounds, words[i], n);
    }
    return right ? 0 : 1;
}
