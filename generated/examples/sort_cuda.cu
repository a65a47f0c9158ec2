/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 0.4.0; do not edit. */
/* Sorts a million random keys with CUDA and checks the result.
 *
 * Built by nvcc together with what is in src/ and targets/; the bundle's README has the line.
 * Prints one line; exit code 0 if the keys are in order, else 1. */
#include "hs/hs_cuda.h"
#include "hs/hs_targets_cuda.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

/* All that a sort needs, so that one place can give it back. */
struct Device {
    cudaStream_t stream = nullptr;
    void *keys = nullptr, *scratch = nullptr;
    hs_cuda *sorter = nullptr;

    ~Device()
    {
        hs_cuda_release(sorter);
        cudaFree(scratch);
        cudaFree(keys);
        if (stream) cudaStreamDestroy(stream);
    }
};

static bool fine(const char *what, hs_status status, cudaError_t error)
{
    if (status != HS_OK)
        std::printf("%s: %s%s%s\n", what, hs_status_text(status), error == cudaSuccess ? "" : ": ",
                    error == cudaSuccess ? "" : cudaGetErrorString(error));
    return status == HS_OK;
}

static bool fine(const char *what, cudaError_t error)
{
    if (error != cudaSuccess) std::printf("%s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

static bool run(Device &device, std::vector<unsigned int> &keys)
{
    const hs_cuda_kernels *sort = nullptr;
    cudaError_t error = cudaSuccess;
    uint64_t scratch = 0;

    /* Choose the sort that suits the current device best, and make it ready; once, for as many sorts as you like. */
    if (!fine("no usable device", hs_cuda_match(hs_cuda_targets, hs_cuda_targets_count, "u32", NULL, &sort), error))
        return false;
    if (!sort) return std::printf("no target of this bundle runs on this device\n") < 0;
    if (!fine("hs_cuda_create", hs_cuda_create(sort, &device.sorter, &error), error)) return false;

    /* Memory is yours to allocate: the keys, and as much scratch as the sort asks for, which may be none. */
    const size_t bytes = keys.size() * sizeof keys[0];
    if (!fine("hs_scratch", hs_scratch(hs_cuda_sort_of(device.sorter), keys.size(), &scratch), error)) return false;
    if (!fine("cudaMalloc", cudaMalloc(&device.keys, bytes))) return false;
    if (scratch && !fine("cudaMalloc", cudaMalloc(&device.scratch, scratch))) return false;
    if (!fine("cudaStreamCreate", cudaStreamCreate(&device.stream))) return false;

    /* The sort is enqueued like a kernel: work that the stream holds already runs before it, later work after it. */
    hs_cuda_args args = {};
    args.n = keys.size();
    args.source = device.keys; /* with no destination, sorted in place */
    args.scratch = device.scratch;
    args.scratch_bytes = scratch;
    args.source_bytes = bytes;
    if (!fine("upload", cudaMemcpyAsync(device.keys, keys.data(), bytes, cudaMemcpyHostToDevice, device.stream)))
        return false;
    if (!fine("hs_cuda_sort", hs_cuda_sort(device.sorter, device.stream, &args, &error), error)) return false;
    if (!fine("download", cudaMemcpyAsync(keys.data(), device.keys, bytes, cudaMemcpyDeviceToHost, device.stream)))
        return false;
    return fine("waiting", cudaStreamSynchronize(device.stream));
}

int main()
{
    std::vector<unsigned int> keys(1000003);
    std::mt19937 random(1);
    for (unsigned int &key : keys) key = static_cast<unsigned int>(random());
    std::vector<unsigned int> expected = keys;
    std::sort(expected.begin(), expected.end());

    Device device;
    if (!run(device, keys)) return 1;
    const bool right = keys == expected;
    std::printf("%s of hsgen %s: %zu keys %s\n", hs_cuda_sort_of(device.sorter)->target, hs_version(), keys.size(),
                right ? "sorted" : "WRONG");
    return right ? 0 : 1;
}
