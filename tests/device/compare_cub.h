/* What the programs share that compare sorts with CUB's on one device: memory, times, keys, and hsgen's sorters. */
#ifndef COMPARE_CUB_H
#define COMPARE_CUB_H

#include "hs/hs_cuda.h"
#include "hs/hs_targets_cuda.h"

#include <cub/version.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define TRY(call)                                                                                                     \
    do {                                                                                                              \
        const int code_ = static_cast<int>(call);                                                                     \
        if (code_) std::printf("line %d: %s: %d\n", __LINE__, #call, code_), std::exit(1);                            \
    } while (0)

static inline __device__ uint64_t mixed(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The indices of a grid-stride loop below n. */
#define EACH(i, n)                                                                                                    \
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < (n); i += uint64_t(gridDim.x) * blockDim.x)

template <typename T>
__global__ void differ(const T *a, const T *b, uint64_t n, unsigned long long *count)
{
    EACH(i, n) if (a[i] != b[i]) atomicAdd(count, 1ull);
}

template <typename T>
static T *memory(uint64_t count)
{
    void *at = nullptr;
    if (count) TRY(cudaMalloc(&at, count * sizeof(T)));
    return static_cast<T *>(at);
}

/* The elements of n in which two arrays differ. */
template <typename T>
static unsigned long long differences(const T *a, const T *b, uint64_t n)
{
    unsigned long long *count = memory<unsigned long long>(1), wrong = 0;
    TRY(cudaMemset(count, 0, sizeof wrong));
    differ<<<2048, 256>>>(a, b, n, count);
    TRY(cudaMemcpy(&wrong, count, sizeof wrong, cudaMemcpyDeviceToHost));
    TRY(cudaFree(count));
    return wrong;
}

static inline double median(std::vector<float> times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

/* Keeps the stream busy while the host enqueues what is timed, so that launches do not wait for the host. */
static __global__ void busy(long long cycles)
{
    for (const long long begin = clock64(); clock64() - begin < cycles;) {}
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
    busy<<<1, 1>>>(600000);
    TRY(cudaEventRecord(begin));
    call();
    TRY(cudaEventRecord(end));
    TRY(cudaEventSynchronize(end));
    TRY(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

/* A count such as 1000, 2^30, 3*2^29 or 2^32-1. */
static inline uint64_t counted(const std::string &text)
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

/* hsgen's sorter of a kind, for keys and values, with scratch for n keys. */
struct sorter {
    hs_cuda *made = nullptr;
    unsigned char *scratch = nullptr;
    uint64_t bytes = 0;

    sorter(hs_kind kind, const char *key, const char *value, uint64_t n, bool discard = false)
    {
        const hs_cuda_kernels *sort = nullptr;
        hs_options options = {};
        options.discard_keys = discard;
        TRY(hs_cuda_match_kind(hs_cuda_targets, hs_cuda_targets_count, kind, key, value, &sort));
        TRY(!sort);
        create(sort, n, options);
    }
    sorter(const hs_cuda_kernels &sort, uint64_t n) { create(&sort, n, {}); }
    sorter(const sorter &) = delete;
    ~sorter()
    {
        hs_cuda_release(made);
        TRY(cudaFree(scratch));
    }
    void create(const hs_cuda_kernels *sort, uint64_t n, const hs_options &options)
    {
        cudaError_t code = cudaSuccess;
        TRY(hs_cuda_create(sort, &made, &code));
        TRY(hs_scratch_with(hs_cuda_sort_of(made), n, &options, &bytes));
        scratch = memory<unsigned char>(bytes);
    }
    void sort(uint64_t n, const void *source, void *destination, const void *values, void *values_destination) const
    {
        hs_cuda_sort_args args = {};
        cudaError_t code = cudaSuccess;
        args.n = n;
        args.options.discard_keys = !destination && !values && values_destination;
        args.source = source;
        args.destination = destination;
        args.values = values;
        args.values_destination = values_destination;
        args.scratch = scratch;
        args.scratch_bytes = bytes;
        TRY(hs_cuda_sort(made, nullptr, &args, &code));
    }
    void gather(uint64_t n, uint64_t item_bytes, const uint32_t *index, const void *source, void *destination) const
    {
        hs_cuda_gather_args args = {};
        cudaError_t code = cudaSuccess;
        args.n = args.source_count = n;
        args.item_bytes = item_bytes;
        args.index = index;
        args.source = source;
        args.destination = destination;
        TRY(hs_cuda_gather(made, nullptr, &args, &code));
    }
};

/* Temporary memory of a call of CUB, which asks for it in a call of its own. */
struct temporary {
    void *at = nullptr;
    size_t bytes = 0;

    template <typename Call> explicit temporary(Call call)
    {
        TRY(call(at, bytes));
        at = memory<unsigned char>(bytes);
    }
    temporary(const temporary &) = delete;
    ~temporary() { TRY(cudaFree(at)); }
};

/* One way to do a task; `check` returns the elements that are wrong after `call`. */
struct way {
    const char *name;
    std::function<void()> call;
    bool own;
};

/* Times ways in turns, once each is right; prints medians, and how the best of hsgen's compares to CUB's best. */
static inline bool race(const char *task, const char *text, uint64_t n, int rounds, const std::vector<way> &ways,
                        const std::function<unsigned long long()> &check, const std::function<void()> &clear)
{
    bool right = true;
    std::vector<std::vector<float>> times(ways.size());
    for (const way &x : ways) {
        clear();
        x.call();
        if (const unsigned long long wrong = check()) {
            std::printf("%s %s %s: %llu elements differ\n", task, text, x.name, wrong);
            right = false;
        }
    }
    for (int round = 0; right && round < rounds; round++)
        for (size_t i = 0; i < ways.size(); i++) {
            const size_t turn = round % 2 ? ways.size() - 1 - i : i;
            times[turn].push_back(timed(ways[turn].call));
        }
    if (!right) return false;
    double best[2] = {1e30, 1e30};
    for (size_t i = 0; i < ways.size(); i++) {
        const double ms = median(times[i]);
        best[ways[i].own] = std::min(best[ways[i].own], ms);
        std::printf("%-12s %-9s %-6s %-38s %9.3f ms  %7.2f G/s\n", task, text, ways[i].own ? "hsgen" : "CUB", ways[i].name, ms,
                    double(n) / ms / 1e6);
    }
    std::printf("%-12s %-9s ratio of the best ways %.2f, CUB %d.%d.%d\n", task, text, best[0] / best[1], CUB_MAJOR_VERSION,
                CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    std::fflush(stdout);
    return true;
}

#endif
