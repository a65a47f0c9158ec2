/* SPDX-License-Identifier: MIT-0
 * Part of a bundle of hsgen 1.0.0; do not edit. */
/* Sorts random keys with CUDA and checks the result.
 *
 * nvcc compiles it together with the files of src/ and targets/; the bundle's README has the command.
 * The program prints one line; its exit code is 0 if the keys are in order, else 1. */
#include "hs/hs_cuda.h"
#include "hs/hs_targets_cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/* The sort of this bundle that the program runs: how many keys, their type, and the values that are sorted with
 * them. */
#define KEY "u32"
#define VALUE NULL
enum { COUNT = 100003, KEY_BYTES = 4, VALUE_BYTES = 0 };
enum { MAKES_INDICES = 0 }; /* 1: an argsort; no values are read, and the written values are the
                                                 indices of keys */

/* Key or value i of an array as a number; for wide values, their first 8 bytes.  The host is little-endian, like
 * devices. */
static uint64_t number_at(const void *array, size_t bytes, size_t i)
{
    uint64_t number = 0;
    memcpy(&number, (const char *)array + bytes * i, bytes < sizeof number ? bytes : sizeof number);
    return number;
}

/* Fill in random keys, the same in each run; and, if there are values, the index of each key. */
static void fill(void *keys, void *values)
{
    uint64_t x = 2463534242u, i;
    for (i = 0; i < COUNT; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy((char *)keys + KEY_BYTES * i, &x, KEY_BYTES);
        if (VALUE_BYTES > 0) memset((char *)values + VALUE_BYTES * i, 0, VALUE_BYTES);
        if (VALUE_BYTES > 0) memcpy((char *)values + VALUE_BYTES * i, &i, VALUE_BYTES < 8 ? 4 : 8);
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = number_at(a, KEY_BYTES, 0), y = number_at(b, KEY_BYTES, 0);
    return (x > y) - (x < y);
}

/* 1 if `keys` are the keys of `before` in order, and the value of each key is its index in `before`; sorts `before`. */
static int is_sorted(void *before, const void *keys, const void *values)
{
    size_t valued = VALUE_BYTES > 0 ? COUNT : 0;
    char *seen = (char *)calloc(COUNT, 1);
    size_t i;
    int right = seen != NULL;
    for (i = 0; right && i < valued; i++) {
        const uint64_t index = number_at(values, VALUE_BYTES, i);
        right = index < COUNT && !seen[index] &&
                number_at(before, KEY_BYTES, (size_t)index) == number_at(keys, KEY_BYTES, i);
        if (right) seen[index] = 1;
    }
    free(seen);
    qsort(before, COUNT, KEY_BYTES, compare);
    return right && memcmp(before, keys, (size_t)COUNT * KEY_BYTES) == 0;
}

/* All objects that a sort needs, so that one destructor releases them. */
struct Device {
    cudaStream_t stream = nullptr;
    void *keys = nullptr, *values = nullptr, *scratch = nullptr, *output = nullptr, *report = nullptr;
    hs_cuda *sorter = nullptr, *checker = nullptr;

    ~Device()
    {
        hs_cuda_release(sorter);
        hs_cuda_release(checker);
        (void)cudaFree(scratch);
        (void)cudaFree(values);
        (void)cudaFree(output);
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

/* Compute sums over the keys on the device; if the bundle has no check of such keys, the words are unchanged. */
static bool look(const Device &device, uint32_t words[8])
{
    cudaError_t error = cudaSuccess;
    hs_cuda_digest_args args = {};
    if (!device.checker) return true;
    args.n = COUNT;
    args.source = device.keys;
    args.digest = static_cast<uint32_t *>(device.report);
    if (!fine("hs_cuda_digest", hs_cuda_digest(device.checker, device.stream, &args, &error), error)) return false;
    error = cudaMemcpyAsync(words, device.report, 8 * sizeof words[0], cudaMemcpyDeviceToHost, device.stream);
    return fine("report", error);
}

static bool run(Device &device, std::vector<unsigned char> &keys, std::vector<unsigned char> &values)
{
    const hs_cuda_kernels *sort = nullptr, *check = nullptr;
    uint32_t before[8] = {}, after[8] = {}, faults = 0;
    cudaError_t error = cudaSuccess;
    uint64_t scratch = 0;

    /* Choose the sort that suits the current device best, and load its kernels; this is done once, for any number of
     * calls. */
    if (!fine("no usable device", hs_cuda_match(hs_cuda_targets, hs_cuda_targets_count, KEY, VALUE, &sort), error))
        return false;
    if (!sort) return std::printf("no target of this bundle runs on this device\n") < 0;
    if (!fine("hs_cuda_create", hs_cuda_create(sort, &device.sorter, &error), error)) return false;
    if (hs_cuda_match_kind(hs_cuda_targets, hs_cuda_targets_count, HS_DIGEST, KEY, NULL, &check) == HS_OK && check &&
        check->sort->key_bytes == KEY_BYTES &&
        !fine("hs_cuda_create", hs_cuda_create(check, &device.checker, &error), error))
        return false;

    /* The program allocates all memory: the keys, and as much scratch as the sort asks for, which may be none. */
    const size_t bytes = keys.size();
    hs_info info;
    if (!fine("hs_scratch", hs_scratch(hs_cuda_sort_of(device.sorter), COUNT, &scratch), error)) return false;
    if (!fine("hs_describe", hs_describe(hs_cuda_sort_of(device.sorter), &info), error)) return false;
    if (!fine("cudaMalloc", cudaMalloc(&device.keys, bytes))) return false;
    if (VALUE_BYTES > 0 && !fine("cudaMalloc", cudaMalloc(&device.values, values.size()))) return false;
    const size_t words = info.reports ? info.report_words + size_t(COUNT) * info.report_words_per_key : 0;
    if (words && !fine("cudaMalloc", cudaMalloc(&device.output, 4 * words))) return false; /* such as ends of runs */
    if (scratch && !fine("cudaMalloc", cudaMalloc(&device.scratch, scratch))) return false;
    if (!fine("cudaMalloc", cudaMalloc(&device.report, sizeof before))) return false;
    if (!fine("cudaStreamCreate", cudaStreamCreate(&device.stream))) return false;

    /* The sort is enqueued like a kernel: work that the stream holds already runs before it, later work after it. */
    hs_cuda_sort_args args = {};
    args.n = COUNT;
    args.source = device.keys; /* without a destination, the sort is in place */
    args.scratch = device.scratch;
    args.scratch_bytes = scratch;
    args.source_bytes = bytes;
    args.report = static_cast<uint32_t *>(device.output);
    if (MAKES_INDICES == 1)
        args.values_destination = device.values;
    else
        args.values = device.values;
    if (!fine("upload", cudaMemcpyAsync(device.keys, keys.data(), bytes, cudaMemcpyHostToDevice, device.stream)))
        return false;
    if (VALUE_BYTES > 0 && !fine("upload", cudaMemcpyAsync(device.values, values.data(), values.size(),
                                                       cudaMemcpyHostToDevice, device.stream)))
        return false;
    if (!look(device, before)) return false;
    const hs_status status = hs_cuda_sort(device.sorter, device.stream, &args, &error);
    if (status == HS_ERROR_OPTION) { /* `missing` names the option or buffer that the sort does not support */
        const uint32_t roles = 1u << HS_SOURCE | (VALUE_BYTES > 0 ? 1u << HS_VALUES : 0);
        const char *missing = hs_missing_option(hs_cuda_sort_of(device.sorter), &args.options, roles);
        if (missing) std::printf("%s\n", missing);
    }
    if (!fine("hs_cuda_sort", status, error)) return false;
    if (!look(device, after)) return false;
    if (!fine("download", cudaMemcpyAsync(keys.data(), device.keys, bytes, cudaMemcpyDeviceToHost, device.stream)))
        return false;
    if (VALUE_BYTES > 0 && !fine("download", cudaMemcpyAsync(values.data(), device.values, values.size(),
                                                         cudaMemcpyDeviceToHost, device.stream)))
        return false;
    if (!fine("waiting", cudaStreamSynchronize(device.stream))) return false;
    /* The sums over the keys before and after the sort verify the result on the device. */
    if (!fine("hs_digest_compare", hs_digest_compare(before, after, 0, &faults), cudaSuccess)) return false;
    return faults == 0 || std::printf("faults %u\n", faults) < 0;
}

int main()
{
    std::vector<unsigned char> keys(size_t(COUNT) * KEY_BYTES), values(size_t(COUNT) * VALUE_BYTES);
    fill(keys.data(), values.data());
    std::vector<unsigned char> before = keys;

    Device device;
    if (!run(device, keys, values)) return 1;
    const bool right = is_sorted(before.data(), keys.data(), values.data());
    std::printf("%s of hsgen %s: %d keys %s\n", hs_cuda_sort_of(device.sorter)->target, hs_version(), int(COUNT),
                right ? "sorted" : "WRONG");
    return right ? 0 : 1;
}
