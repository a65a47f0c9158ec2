/* Sorts many counts with every CUDA sort of a bundle, in place and out of place, and checks each: small enough for
 * compute-sanitizer, and reaching every kernel.  Prints one line; exit code 0 if all were right, else 1. */
#include "hs/hs_cuda.h"
#include "hs/hs_targets_cuda.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

template <typename Key>
static bool sorts(const hs_cuda_kernels *kernels, uint64_t n, bool in_place, std::mt19937_64 &random)
{
    std::vector<Key> keys(n), result(n);
    for (Key &key : keys) key = static_cast<Key>(random());
    void *buffers[3] = {nullptr, nullptr, nullptr};
    uint64_t scratch = 0;
    const size_t bytes = std::max<size_t>(n, 1) * sizeof(Key);
    hs_cuda *sorter = nullptr;
    hs_cuda_args args = {};
    args.n = n;
    bool fine = cudaMalloc(&buffers[0], bytes) == cudaSuccess && cudaMalloc(&buffers[1], bytes) == cudaSuccess;
    fine = fine && hs_scratch(kernels->sort, n, &scratch) == HS_OK &&
           cudaMalloc(&buffers[2], std::max<size_t>(scratch, 1)) == cudaSuccess;
    args.scratch = scratch ? buffers[2] : nullptr;
    args.scratch_bytes = scratch;
    args.source = buffers[0];
    args.destination = in_place ? nullptr : buffers[1];
    fine = fine && cudaMemcpy(buffers[0], keys.data(), n * sizeof(Key), cudaMemcpyHostToDevice) == cudaSuccess;
    fine = fine && hs_cuda_create(kernels, &sorter, nullptr) == HS_OK;
    fine = fine && hs_cuda_sort(sorter, nullptr, &args, nullptr) == HS_OK;
    fine = fine && cudaMemcpy(result.data(), buffers[in_place ? 0 : 1], n * sizeof(Key), cudaMemcpyDeviceToHost) == cudaSuccess;
    hs_cuda_release(sorter);
    cudaFree(buffers[0]);
    cudaFree(buffers[1]);
    cudaFree(buffers[2]);
    std::sort(keys.begin(), keys.end());
    return fine && keys == result;
}

int main()
{
    std::mt19937_64 random(1);
    int done = 0, wrong = 0;
    for (size_t t = 0; t < hs_cuda_targets_count; t++)
        for (size_t s = 0; s < hs_cuda_targets[t]->target->sort_count; s++) {
            const hs_cuda_kernels *kernels = hs_cuda_targets[t]->sorts[s];
            const uint64_t block = kernels->sort->block;
            const uint64_t counts[] = {0, 1, 2, 129, block - 1, block, block + 1, 3 * block + 7, 16 * block + 1, 67 * block + 5};
            for (uint64_t n : counts)
                for (int in_place = 0; in_place < 2; in_place++, done++) {
                    const bool fine = kernels->sort->key_bytes == 4 ? sorts<uint32_t>(kernels, n, in_place, random)
                                                                    : sorts<uint64_t>(kernels, n, in_place, random);
                    if (!fine && ++wrong < 10)
                        std::printf("%s %s, %llu keys: wrong\n", kernels->sort->target, kernels->sort->key,
                                    static_cast<unsigned long long>(n));
                }
        }
    std::printf("%d sorts, %d wrong\n", done, wrong);
    return wrong ? 1 : 0;
}
