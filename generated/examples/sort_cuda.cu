/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
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
    void *keys = nullptr, *scratch = nullptr, *report = nullptr;
    hs_cuda *sorter = nullptr, *checker = nullptr;

    ~Device()
    {
        hs_cuda_release(sorter);
        hs_cuda_release(checker);
        (void)cudaFree(scratch);
        (void)cudaFree(report);
        (void)cudaFree(keys);
        if (stream) (void)cudaStreamDestroy(stream);
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

/* What the device sees of the keys; where a bundle has no check of such keys, the words stay as they are. */
static bool look(const Device &device, size_t count, uint32_t words[8])
{
    cudaError_t error = cudaSuccess;
    hs_cuda_digest_args args = {};
    if (!device.checker) return true;
    args.n = count;
    args.source = device.keys;
    args.digest = static_cast<uint32_t *>(device.report);
    if (!fine("hs_cuda_digest", hs_cuda_digest(device.checker, device.stream, &args, &error), error)) return false;
    error = cudaMemcpyAsync(words, device.report, 8 * sizeof words[0], cudaMemcpyDeviceToHost, device.stream);
    return fine("report", error);
}

static bool run(Device &device, std::vector<unsigned int> &keys)
{
    const hs_cuda_kernels *sort = nullptr, *check = nullptr;
    uint32_t before[8] = {}, after[8] = {}, faults = 0;
    cudaError_t error = cudaSuccess;
    uint64_t scratch = 0;

    /* Choose the sort that suits the current device best, and make it ready; once, for as many sorts as you like. */
    if (!fine("no usable device", hs_cuda_match(hs_cuda_targets, hs_cuda_targets_count, "u32", NULL, &sort), error))
        return false;
    if (!sort) return std::printf("no target of this bundle runs on this device\n") < 0;
    if (!fine("hs_cuda_create", hs_cuda_create(sort, &device.sorter, &error), error)) return false;
    if (hs_cuda_match_kind(hs_cuda_targets, hs_cuda_targets_count, HS_DIGEST, "u32", NULL, &check) == HS_OK && check &&
        !fine("hs_cuda_create", hs_cuda_create(check, &device.checker, &error), error))
        return false;

    /* Memory is yours to allocate: the keys, and as much scratch as the sort asks for, which may be none. */
    const size_t bytes = keys.size() * sizeof keys[0];
    if (!fine("hs_scratch", hs_scratch(hs_cuda_sort_of(device.sorter), keys.size(), &scratch), error)) return false;
    if (!fine("cudaMalloc", cudaMalloc(&device.keys, bytes))) return false;
    if (scratch && !fine("cudaMalloc", cudaMalloc(&device.scratch, scratch))) return false;
    if (!fine("cudaMalloc", cudaMalloc(&device.report, sizeof before))) return false;
    if (!fine("cudaStreamCreate", cudaStreamCreate(&device.stream))) return false;

    /* The sort is enqueued like a kernel: work that the stream holds already runs before it, later work after it. */
    hs_cuda_sort_args args = {};
    args.n = keys.size();
    args.source = device.keys; /* with no destination, sorted in place */
    args.scratch = device.scratch;
    args.scratch_bytes = scratch;
    args.source_bytes = bytes;
    if (!fine("upload", cudaMemcpyAsync(device.keys, keys.data(), bytes, cudaMemcpyHostToDevice, device.stream)))
        return false;
    if (!look(device, keys.size(), before)) return false;
    const hs_status status = hs_cuda_sort(device.sorter, device.stream, &args, &error);
    if (status == HS_ERROR_OPTION) { /* of the buffers, the source alone is given; add others that you give */
        const char *missing = hs_missing_option(hs_cuda_sort_of(device.sorter), &args.options, 1u << HS_SOURCE);
        if (missing) std::printf("%s\n", missing);
    }
    if (!fine("hs_cuda_sort", status, error)) return false;
    if (!look(device, keys.size(), after)) return false;
    if (!fine("download", cudaMemcpyAsync(keys.data(), device.keys, bytes, cudaMemcpyDeviceToHost, device.stream)))
        return false;
    if (!fine("waiting", cudaStreamSynchronize(device.stream))) return false;
    /* By sums over the keys before and after, the device itself has found out whether it sorted right. */
    if (!fine("hs_digest_compare", hs_digest_compare(before, after, 0, &faults), cudaSuccess)) return false;
    return faults == 0 || std::printf("faults %u\n", faults) < 0;
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
