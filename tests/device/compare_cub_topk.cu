/* Compares selections of rows with CUB's DeviceBatchedTopK: device time, medians of turns, u32 keys without values.
 *
 * hsgen generate -t nvidia-hopper --api cuda --key u32 --algorithm radix_select -o s
 *
 * nvcc -std=c++17 -arch=sm_90 -DCASE_ROWS=64 -DCASE_LENGTH=4096 -DCASE_TAKE=64 -I s/include -I CUB FILES
 *
 * FILES: this file, and those that s/sources/cuda.txt lists. CUB: the headers of CCCL.
 *
 * ./a.out uniform 25
 *
 * Kinds: uniform, equal, hot (every other key has a low upper half). CUB's rows are sorted on the host before they are
 * compared. With -DNO_BATCHED, CUB selects by DeviceTopK, from one row. Exit code 0 if all were right, else 1. */
#include "compare_cub.h"

#include <cub/device/device_topk.cuh>
#ifndef NO_BATCHED
#include <cub/device/device_batched_topk.cuh>
#include <cuda/argument>
#include <cuda/iterator>
#endif

#include <cuda/execution>

#include <cstring>

#include <cuda/stream_ref>

constexpr int ROWS = CASE_ROWS, LENGTH = CASE_LENGTH, TAKE = CASE_TAKE;
constexpr uint64_t N = uint64_t(ROWS) * LENGTH, OUT = uint64_t(ROWS) * TAKE;

__global__ void make(uint32_t *keys, int kind)
{
    EACH(i, N)
    {
        const uint32_t random = static_cast<uint32_t>(mixed(i) >> 11);
        keys[i] = kind == 0 ? random : kind == 1 ? 12345 : i & 1 ? random : random & 0xffff;
    }
}

/* The result of all rows, on the host; each row is sorted if `sorts`. */
static std::vector<uint32_t> read(const uint32_t *from, bool sorts)
{
    std::vector<uint32_t> keys(OUT);
    TRY(cudaMemcpy(keys.data(), from, OUT * 4, cudaMemcpyDeviceToHost));
    for (uint64_t row = 0; sorts && row < ROWS; row++) std::sort(keys.begin() + row * TAKE, keys.begin() + (row + 1) * TAKE);
    return keys;
}

/* CUB's selection of the least keys of each row. */
static cudaError_t select(void *at, size_t &bytes, const uint32_t *keys, uint32_t *to)
{
#ifdef NO_BATCHED
    const auto loose = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                cuda::execution::output_ordering::unsorted);
    const auto env = cuda::std::execution::env{cuda::stream_ref{cudaStream_t{}}, loose};
    return cub::DeviceTopK::MinKeys(at, bytes, keys, to, int64_t(LENGTH), int64_t(TAKE), env);
#else
    const auto loose = cuda::execution::require(cuda::execution::determinism::not_guaranteed, cuda::execution::tie_break::unspecified,
                                                cuda::execution::output_ordering::unsorted);
    const auto env = cuda::std::execution::env{loose};
    const auto from = cuda::make_strided_iterator(cuda::make_counting_iterator(keys), LENGTH);
    const auto into = cuda::make_strided_iterator(cuda::make_counting_iterator(to), TAKE);
    return cub::DeviceBatchedTopK::MinKeys(at, bytes, from, into, cuda::args::constant<LENGTH>{}, cuda::args::constant<TAKE>{},
                                           cuda::args::immediate{cuda::std::int64_t{ROWS}}, env);
#endif
}

int main(int count, char **words)
{
    const char *const kinds[] = {"uniform", "equal", "hot"};
    int kind = 0;
    while (count == 3 && kind < 3 && std::strcmp(words[1], kinds[kind])) kind++;
    if (count != 3 || kind == 3) return std::printf("usage: %s uniform|equal|hot ROUNDS\n", words[0]), 2;
    uint32_t *keys = memory<uint32_t>(N), *ours = memory<uint32_t>(OUT), *theirs = memory<uint32_t>(OUT);
    make<<<2048, 256>>>(keys, kind);
    const sorter sort(HS_TOP_K, "u32", nullptr, N);
    const auto own = [&] {
        hs_cuda_top_k_args args = {};
        cudaError_t code = cudaSuccess;
        args.n = N, args.row_count = ROWS, args.k = TAKE;
        args.source = keys, args.destination = ours;
        args.scratch = sort.scratch, args.scratch_bytes = sort.bytes;
        TRY(hs_cuda_top_k(sort.made, nullptr, &args, &code));
    };
    const auto call = [&](void *at, size_t &bytes) { return select(at, bytes, keys, theirs); };
    temporary storage(call);
    const auto cub_select = [&] { TRY(call(storage.at, storage.bytes)); };
    own(), cub_select();
    if (read(ours, false) != read(theirs, true)) return std::printf("%d x %d, %d: results differ\n", ROWS, LENGTH, TAKE), 1;
    std::vector<float> a, b;
    for (int i = 0; i < std::atoi(words[2]); i++) a.push_back(timed(own)), b.push_back(timed(cub_select));
    std::printf("%-8s %7d x %-8d k %-5d hsgen %9.1f us  CUB %d.%d.%d %9.1f us  ratio %5.2f\n", words[1], ROWS, LENGTH, TAKE,
                1e3 * median(a), CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION, 1e3 * median(b), median(b) / median(a));
    return 0;
}
