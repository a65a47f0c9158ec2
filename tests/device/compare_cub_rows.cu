/* Compares sorts of wide keys and of records with CUB's on the device, each in the ways that either library has; medians of
 * turns.  Rows are printed only if every way's result equals that of CUB's sort of whole records by a decomposer.
 *   hsgen generate -t nvidia-hopper --api cuda --key u32 --key u64 --value v4 --value v8 --value v16 --value index \
 *       --algorithm auto --algorithm gather -o rows
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I CCCL -I rows/include tests/device/compare_cub_rows.cu \
 *       $(cd rows && sed "s|^|$PWD/|" sources/cuda.txt) -o compare_cub_rows
 *   ./compare_cub_rows 9 2^20 2^24
 * keys-128 are keys of 128 bits; ties-128 the same of which many share their upper 64 bits; records-16 are records of 16 bytes
 * with a key of 32 bits.  Exit code 0 if all were right, else 1. */
#include "compare_cub.h"

#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/tuple>

struct alignas(16) wide { /* little-endian: a key of 128 bits */
    uint64_t low, high;
    __host__ __device__ bool operator!=(const wide &other) const { return low != other.low || high != other.high; }
};

struct by_wide {
    __host__ __device__ cuda::std::tuple<uint64_t &, uint64_t &> operator()(wide &x) const { return {x.high, x.low}; }
};

struct alignas(16) record {
    uint32_t key, rest[3];
    __host__ __device__ bool operator!=(const record &other) const
    {
        return key != other.key || rest[0] != other.rest[0] || rest[1] != other.rest[1] || rest[2] != other.rest[2];
    }
};

struct by_record {
    __host__ __device__ cuda::std::tuple<uint32_t &> operator()(record &x) const { return {x.key}; }
};

__global__ void make(wide *out, uint64_t n, uint64_t highs)
{
    EACH(i, n)
    {
        const uint64_t random = mixed(i + n);
        out[i] = {mixed(i), highs ? mixed(random % highs) : random};
    }
}

__global__ void make(record *out, uint64_t n, uint64_t)
{
    EACH(i, n) out[i] = {static_cast<uint32_t>(mixed(i)), {static_cast<uint32_t>(i), ~static_cast<uint32_t>(i), 7}};
}

__global__ void split(const wide *in, uint64_t *low, uint64_t *high, uint64_t n)
{
    EACH(i, n)
    {
        const wide x = in[i];
        low[i] = x.low;
        high[i] = x.high;
    }
}

__global__ void join(const uint64_t *low, const uint64_t *high, wide *out, uint64_t n)
{
    EACH(i, n) out[i] = {low[i], high[i]};
}

/* The keys of records, and their indices if `index` is given. */
__global__ void pick(const record *in, uint32_t *keys, uint32_t *index, uint64_t n)
{
    EACH(i, n)
    {
        keys[i] = in[i].key;
        if (index) index[i] = static_cast<uint32_t>(i);
    }
}

template <typename T>
__global__ void taken(const uint32_t *index, const T *in, T *out, uint64_t n)
{
    EACH(i, n) out[i] = in[index[i]];
}

/* Arrays of a task: records before and after, what CUB's sort of whole records makes of them. */
template <typename T, typename By>
struct task {
    T *source, *made, *expected;
    uint64_t n;
    temporary whole;

    static auto sort(const T *from, T *to, uint64_t n)
    {
        return [=](void *at, size_t &bytes) { return cub::DeviceRadixSort::SortKeys(at, bytes, from, to, n, By()); };
    }
    task(uint64_t n, uint64_t kinds)
        : source(memory<T>(n)), made(memory<T>(n)), expected(memory<T>(n)), n(n), whole(sort(source, made, n))
    {
        make<<<2048, 256>>>(source, n, kinds);
        TRY(sort(source, expected, n)(whole.at, whole.bytes));
    }
    ~task()
    {
        for (void *at : {source, made, expected}) TRY(cudaFree(at));
    }
    way decomposed()
    {
        return {"SortKeys with a decomposer", [this] { TRY(sort(source, made, n)(whole.at, whole.bytes)); }, false};
    }
    bool measure(const char *name, const char *text, int rounds, std::vector<way> ways)
    {
        ways.push_back(decomposed());
        return race(name, text, n, rounds, ways, [this] { return differences(made, expected, n); },
                    [this] { TRY(cudaMemset(made, 0xa5, n * sizeof(T))); });
    }
};

static bool keys(const char *name, uint64_t highs, int rounds, const char *text, uint64_t n)
{
    task<wide, by_wide> of(n, highs);
    uint64_t *low = memory<uint64_t>(n), *high = memory<uint64_t>(n), *lows = memory<uint64_t>(n), *highest = memory<uint64_t>(n);
    uint32_t *order = memory<uint32_t>(n), *next = memory<uint32_t>(n);
    const sorter argsort(HS_SORT, "u64", "index", n, true), ordered(HS_SORT, "u64", "v4", n), both(HS_SORT, "u64", "v8", n);
    const sorter words(HS_GATHER, "u32", "v8", n), items(HS_GATHER, "u32", "v16", n);
    const auto cubs = [&](void *at, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(at, bytes, low, lows, high, highest, n);
    };
    temporary room(cubs);
    const bool right = of.measure(name, text, rounds, {
        {"argsort, gather, sort, gather", [&] {
            split<<<2048, 256>>>(of.source, low, high, n);
            argsort.sort(n, low, nullptr, nullptr, order);
            words.gather(n, 8, order, high, highest);
            ordered.sort(n, highest, low, order, next);
            items.gather(n, 16, next, of.source, of.made);
        }, true},
        {"sorts by either half", [&] {
            split<<<2048, 256>>>(of.source, low, high, n);
            both.sort(n, low, lows, high, highest);
            both.sort(n, highest, high, lows, low);
            join<<<2048, 256>>>(low, high, of.made, n);
        }, true},
        {"SortPairs by either half", [&] {
            split<<<2048, 256>>>(of.source, low, high, n);
            TRY(cubs(room.at, room.bytes));
            TRY(cub::DeviceRadixSort::SortPairs(room.at, room.bytes, highest, high, lows, low, n));
            join<<<2048, 256>>>(low, high, of.made, n);
        }, false}});
    for (void *at : std::vector<void *>{low, high, lows, highest, order, next}) TRY(cudaFree(at));
    return right;
}

static bool records(int rounds, const char *text, uint64_t n)
{
    task<record, by_record> of(n, 0);
    uint32_t *keys = memory<uint32_t>(n), *sorted = memory<uint32_t>(n), *index = memory<uint32_t>(n), *order = memory<uint32_t>(n);
    const sorter argsort(HS_SORT, "u32", "index", n, true), whole(HS_SORT, "u32", "v16", n), items(HS_GATHER, "u32", "v16", n);
    const auto pairs = [&](void *at, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(at, bytes, keys, sorted, index, order, n);
    };
    const auto values = [&](void *at, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(at, bytes, keys, sorted, of.source, of.made, n);
    };
    temporary of_pairs(pairs), of_values(values);
    const bool right = of.measure("records-16", text, rounds, {
        {"argsort, gather", [&] {
            pick<<<2048, 256>>>(of.source, keys, nullptr, n);
            argsort.sort(n, keys, nullptr, nullptr, order);
            items.gather(n, 16, order, of.source, of.made);
        }, true},
        {"sort with values of 16 bytes", [&] {
            pick<<<2048, 256>>>(of.source, keys, nullptr, n);
            whole.sort(n, keys, sorted, of.source, of.made);
        }, true},
        {"SortPairs with indices, gather", [&] {
            pick<<<2048, 256>>>(of.source, keys, index, n);
            TRY(pairs(of_pairs.at, of_pairs.bytes));
            taken<<<2048, 256>>>(order, of.source, of.made, n);
        }, false},
        {"SortPairs with values of 16 bytes", [&] {
            pick<<<2048, 256>>>(of.source, keys, nullptr, n);
            TRY(values(of_values.at, of_values.bytes));
        }, false}});
    for (void *at : {keys, sorted, index, order}) TRY(cudaFree(at));
    return right;
}

int main(int count, char **words)
{
    bool right = count > 2;
    if (!right) std::printf("usage: %s ROUNDS COUNT...\n", words[0]);
    for (int i = 2; i < count; i++) {
        const int rounds = std::atoi(words[1]);
        const uint64_t n = counted(words[i]);
        right &= keys("keys-128", 0, rounds, words[i], n);
        right &= keys("ties-128", n / 16, rounds, words[i], n);
        right &= records(rounds, words[i], n);
    }
    return right ? 0 : 1;
}
