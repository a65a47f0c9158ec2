/* Compares sorts with CUB at counts that are too large for `hsgen bench`, which keeps keys on the host: keys are made and results
 * compared on the device.  Out of place, device time, medians of turns; a row is printed only if both results are equal.
 *   hsgen generate -t nvidia-hopper --api cuda --key u32 --key u64 --value none --value v4 -o sorts
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I CCCL/include -I sorts/include tests/device/compare_cub.cu \
 *       $(cd sorts && sed "s|^|$PWD/|" sources/cuda.txt) -o compare_cub
 *   ./compare_cub u32 none uniform 9 2^28 3*2^29 2^32
 * Keys: u32 or u64; values: none or v4; kinds: uniform, ramps, equal, hot.  Exit code 0 if all were right, else 1. */
#include "hs/hs_cuda.h"
#include "hs/hs_targets_cuda.h"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define TRY(call)                                                                                                     \
    do {                                                                                                              \
        const int code_ = static_cast<int>(call);                                                                     \
        if (code_) std::printf("line %d: %s: %d\n", __LINE__, #call, code_), std::exit(1);                            \
    } while (0)

__device__ uint64_t mixed(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

template <typename Key>
__global__ void make(Key *keys, uint32_t *values, uint64_t n, int kind)
{
    const int bits = 8 * sizeof(Key);
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) {
        const uint64_t random = mixed(i);
        const uint64_t ramp = (i & 4095) << (bits - 12) | (i >> 12);
        const uint64_t hot = random & 1 ? random >> 8 : (random >> 8 & ((uint64_t(1) << bits / 2) - 1));
        keys[i] = static_cast<Key>(kind == 0 ? random : kind == 1 ? ramp : kind == 2 ? 12345 : hot);
        if (values) values[i] = static_cast<uint32_t>(i);
    }
}

template <typename T>
__global__ void differ(const T *a, const T *b, uint64_t n, unsigned long long *count)
{
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x)
        if (a[i] != b[i]) atomicAdd(count, 1ull);
}

template <typename T>
static T *memory(uint64_t count)
{
    void *at = nullptr;
    if (count) TRY(cudaMalloc(&at, count * sizeof(T)));
    return static_cast<T *>(at);
}

static double median(std::vector<float> times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template <typename Call>
static float timed(Call call)
{
    static cudaEvent_t begin = nullptr, end = nullptr;
    float ms = 0;
    if (!begin) {
        TRY(cudaEventCreate(&begin));
        TRY(cudaEventCreate(&end));
    }
    TRY(cudaEventRecord(begin));
    call();
    TRY(cudaEventRecord(end));
    TRY(cudaEventSynchronize(end));
    TRY(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

template <typename Key>
static bool measure(const char *name, bool valued, const std::string &kind, int rounds, const char *text, uint64_t n)
{
    const uint64_t held = valued ? n : 0;
    Key *keys = memory<Key>(n), *ours = memory<Key>(n), *theirs = memory<Key>(n);
    uint32_t *values = memory<uint32_t>(held), *our_values = memory<uint32_t>(held), *their_values = memory<uint32_t>(held);
    unsigned long long *count = memory<unsigned long long>(1), wrong = 0;
    make<<<2048, 256>>>(keys, values, n, kind == "ramps" ? 1 : kind == "equal" ? 2 : kind == "hot" ? 3 : 0);

    const hs_cuda_kernels *sort = nullptr;
    hs_cuda *sorter = nullptr;
    cudaError_t code = cudaSuccess;
    uint64_t scratch_bytes = 0;
    TRY(hs_cuda_match(hs_cuda_targets, hs_cuda_targets_count, name, valued ? "v4" : nullptr, &sort));
    TRY(!sort);
    TRY(hs_cuda_create(sort, &sorter, &code));
    TRY(hs_scratch(hs_cuda_sort_of(sorter), n, &scratch_bytes));
    unsigned char *scratch = memory<unsigned char>(scratch_bytes);
    hs_cuda_sort_args args = {};
    args.n = n;
    args.source = keys;
    args.destination = ours;
    args.values = values;
    args.values_destination = our_values;
    args.scratch = scratch;
    args.scratch_bytes = scratch_bytes;
    const auto own = [&] { TRY(hs_cuda_sort(sorter, nullptr, &args, &code)); };

    size_t storage_bytes = 0;
    void *storage = nullptr;
    const auto cub_sort = [&] {
        if (valued) {
            TRY(cub::DeviceRadixSort::SortPairs(storage, storage_bytes, keys, theirs, values, their_values, n));
        } else {
            TRY(cub::DeviceRadixSort::SortKeys(storage, storage_bytes, keys, theirs, n));
        }
    };
    cub_sort();
    storage = memory<unsigned char>(storage_bytes);

    own(), cub_sort();
    TRY(cudaMemset(count, 0, sizeof wrong));
    differ<<<2048, 256>>>(ours, theirs, n, count);
    if (valued) differ<<<2048, 256>>>(our_values, their_values, n, count);
    TRY(cudaMemcpy(&wrong, count, sizeof wrong, cudaMemcpyDeviceToHost));
    std::vector<float> a, b, c;
    for (int i = 0; i < rounds && !wrong; i++) {
        a.push_back(timed(own));
        b.push_back(timed(cub_sort));
        c.push_back(timed([&] { TRY(cudaMemcpyAsync(theirs, keys, n * sizeof(Key), cudaMemcpyDeviceToDevice)); }));
    }
    if (wrong) std::printf("%s %s %s %s: %llu elements differ\n", name, valued ? "v4" : "none", kind.c_str(), text, wrong);
    else
        std::printf("%-4s %-4s %-8s %8s  %9.3f ms  %7.2f G/s  CUB %d.%d.%d %9.3f ms  %7.2f G/s  ratio %5.2f  copy %8.3f ms  scratch %.0f MB, "
                    "CUB %.0f MB\n", name, valued ? "v4" : "none", kind.c_str(), text, median(a), double(n) / median(a) / 1e6,
                    CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION, median(b), double(n) / median(b) / 1e6,
                    median(b) / median(a), median(c), double(scratch_bytes) / 1e6, double(storage_bytes) / 1e6);
    std::fflush(stdout);
    hs_cuda_release(sorter);
    for (void *at : std::vector<void *>{keys, ours, theirs, values, our_values, their_values, count, scratch, storage}) TRY(cudaFree(at));
    return !wrong;
}

/* A count such as 1000, 2^30, 3*2^29 or 2^32-1. */
static uint64_t counted(const std::string &text)
{
    uint64_t factor = 1;
    size_t at = text.find('*'), from = at == std::string::npos ? 0 : at + 1;
    if (at != std::string::npos) factor = std::strtoull(text.c_str(), nullptr, 10);
    const size_t power = text.find('^', from);
    if (power == std::string::npos) return factor * std::strtoull(text.c_str() + from, nullptr, 10);
    char *end = nullptr;
    const uint64_t bits = std::strtoull(text.c_str() + power + 1, &end, 10);
    return (factor << bits) + static_cast<uint64_t>(std::strtoll(end, nullptr, 10));
}

int main(int count, char **words)
{
    bool right = count > 5;
    if (!right) std::printf("usage: %s u32|u64 none|v4 uniform|ramps|equal|hot ROUNDS COUNT...\n", words[0]);
    for (int i = 5; i < count; i++) {
        const std::string key = words[1];
        const bool valued = !std::strcmp(words[2], "v4");
        const int rounds = std::atoi(words[4]);
        const uint64_t n = counted(words[i]);
        right &= key == "u64" ? measure<uint64_t>("u64", valued, words[3], rounds, words[i], n)
                              : measure<uint32_t>("u32", valued, words[3], rounds, words[i], n);
    }
    return right ? 0 : 1;
}
